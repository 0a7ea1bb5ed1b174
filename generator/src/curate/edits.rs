//! What becomes of an edit: whether the paths of the rules are there, and their words known.
//!
//! Only `armature plan` reads them, from the file beside the descriptions: no crate of a kind changes with them.

use super::{arm_path, owned};
use crate::curation::{GroupConfig, Problem, hint};
use crate::model::{Group, Resource, Version};

/// What Azure makes of an edit.
const FATES: [&str; 2] = ["refused", "replaced"];

/// What a condition begins with.
const WHEN: [&str; 2] = ["unless", "when"];

/// What an edit may be, and whether words follow.
const EDITS: [(&str, bool); 9] = [
    ("among", true),
    ("from", true),
    ("larger", false),
    ("later", false),
    ("removed", false),
    ("rising", true),
    ("smaller", false),
    ("to", true),
    ("unset", false),
];

/// Checks the rules of every kind. `group` is curated.
pub(super) fn problems(group: &Group, config: &GroupConfig) -> Vec<Problem> {
    let mut problems = Vec::new();
    for (kind, rules) in &config.rules.kinds {
        for rule in &rules.edits {
            let fault = fault(group, kind.get_ref(), rule.get_ref());
            let fault = fault.map(|fault| format!("`edits` of `{}`: {fault}", kind.get_ref()));
            problems.extend(fault.map(|fault| config.problem(rule, fault)));
        }
    }
    problems
}

fn fault(group: &Group, kind: &str, rule: &str) -> Option<String> {
    let words: Vec<&str> = rule.split_whitespace().collect();
    let (path, rest) = words.split_first()?;
    let of_spec =
        |version: &Version, resource: &Resource| arm_path::check(version, &resource.spec, path);
    if let Some(end) = owned::missing(group, kind, &of_spec) {
        return Some(format!("no api-version has `{path}`; {end}"));
    }
    unreadable(rest)
}

/// Why nobody can read what stands behind the path.
fn unreadable(words: &[&str]) -> Option<String> {
    let (fate, condition) = words.split_first().unwrap_or((&"", &[]));
    if !FATES.contains(fate) {
        return Some(format!("no word `{fate}`; {}", hint(fate, FATES)));
    }
    let (when, edit) = condition.split_first()?;
    if !WHEN.contains(when) {
        return Some(format!("no word `{when}`; {}", hint(when, WHEN)));
    }
    let (edit, values) = edit.split_first().unwrap_or((&"", &[]));
    let names = EDITS.map(|(name, _)| name);
    match EDITS.iter().find(|(name, _)| name == edit) {
        None => Some(format!("no word `{edit}`; {}", hint(edit, names))),
        Some((_, true)) if values.is_empty() => Some(format!("no values after `{edit}`")),
        Some((_, false)) if !values.is_empty() => Some(format!("words after `{edit}`")),
        Some(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::unreadable;

    #[test]
    fn what_cannot_be_read_is_told() {
        let table = [
            ("refused unless larger", ""),
            ("replaced", ""),
            ("replaced when to Premium", ""),
            ("replaced unless among A B or C D", ""),
            ("", "no word ``"),
            ("fixed", "no word `fixed`"),
            ("refused if larger", "no word `if`"),
            ("refused unless", "no word ``"),
            ("refused unless bigger", "no word `bigger`"),
            ("replaced when to", "no values after `to`"),
            ("refused unless larger 5", "words after `larger`"),
        ];
        for (text, expected) in table {
            let words: Vec<&str> = text.split_whitespace().collect();
            let found = unreadable(&words).unwrap_or_default();
            assert!(found.starts_with(expected), "{text}: {found}");
            assert_eq!(found.is_empty(), expected.is_empty(), "{text}: {found}");
        }
    }
}
