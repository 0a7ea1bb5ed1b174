//! Rules for values that Azure answers in other words: whether each can be read, and its paths are there.
//!
//! The engine reads them when it runs and knows what each means; here stand only the words, since generated crates and what
//! writes them know no engine.

use super::arm_path;
use crate::curation::{GroupConfig, Problem, hint};
use crate::model::{Group, Resource, Version};

/// Words after `as`.
const WORDS: [&str; 12] = [
    "any-case",
    "location",
    "id-in-any-scope",
    "id-in-text",
    "address",
    "xml",
    "json",
    "words",
    "joined",
    "lines",
    "version",
    "masked",
];

/// What a rule may say of a path, and what follows it.
const SAYS: [(&str, After); 7] = [
    ("unset as ", After::Values),
    ("also as ", After::Path),
    ("also in ", After::Path),
    ("same ", After::Values),
    ("unless ", After::Values),
    ("as ", After::Word),
    ("counts", After::Nothing),
];

#[derive(Clone, Copy, PartialEq, Eq)]
enum After {
    Word,
    Values,
    Path,
    Nothing,
}

/// The paths of a rule.
struct Paths<'r> {
    /// Of the value.
    own: &'r str,
    /// Of others that it looks at.
    others: Vec<&'r str>,
}

/// Checks the rules of every kind. `group` is curated.
pub(super) fn problems(group: &Group, config: &GroupConfig) -> Vec<Problem> {
    let mut problems = Vec::new();
    for (kind, rules) in &config.rules.kinds {
        for rule in &rules.equal {
            let fault = match paths(rule.get_ref()) {
                Ok(paths) => missing(group, kind.get_ref(), &paths),
                Err(fault) => Some(format!("`equal` of `{}`: {fault}", kind.get_ref())),
            };
            problems.extend(fault.map(|fault| config.problem(rule, fault)));
        }
    }
    problems
}

fn paths(rule: &str) -> Result<Paths<'_>, String> {
    let mut others = Vec::new();
    let (rule, condition) = match rule.split_once(" while ") {
        Some((rule, condition)) => (rule, Some(condition)),
        None => (rule, None),
    };
    if let Some(condition) = condition {
        let (path, values) = condition
            .split_once(" is ")
            .ok_or_else(|| format!("`{condition}` is no condition; write `while PATH is VALUE`"))?;
        check_values(values)?;
        others.push(path);
    }
    let (own, says) = rule
        .split_once(' ')
        .ok_or_else(|| format!("`{rule}` says nothing of the path; write `PATH as WORD`"))?;
    let mut known = SAYS.iter();
    let found = known.find_map(|(begin, after)| Some((says.strip_prefix(begin)?, *after)));
    match found {
        Some((word, After::Word)) if !WORDS.contains(&word) => {
            return Err(format!("no word `{word}`; {}", hint(word, WORDS)));
        }
        Some((_, After::Word)) => {}
        Some((values, After::Values)) => check_values(values)?,
        Some((path, After::Path)) => others.push(path),
        Some(("", After::Nothing)) if condition.is_some() => {}
        Some((_, After::Nothing)) => {
            return Err("`counts` needs a condition; write `while PATH is VALUE`".to_owned());
        }
        None => {
            let known = SAYS.map(|(begin, _)| begin.trim_end());
            return Err(format!("`{says}` begins with none of {}", known.join(", ")));
        }
    }
    Ok(Paths { own, others })
}

fn check_values(values: &str) -> Result<(), String> {
    let mut values = values.split(" or ");
    match values.find(|value| value.is_empty() || value.contains(' ')) {
        Some(value) => Err(format!(
            "`{value}` is no value; several have ` or ` between them, and the empty text is `\"\"`"
        )),
        None => Ok(()),
    }
}

/// Which path no api-version of the kind has.
fn missing(group: &Group, kind: &str, paths: &Paths<'_>) -> Option<String> {
    let resources = || {
        group.versions.values().flat_map(|version| {
            let resources = version.resources.iter();
            resources
                .filter(|resource| resource.kind == kind)
                .map(move |resource| (version, resource))
        })
    };
    let fault = |path: &str, of: &dyn Fn(&Version, &Resource) -> Result<(), String>| {
        let mut fault = None;
        for (version, resource) in resources() {
            match of(version, resource) {
                Ok(()) => return None,
                Err(end) => fault = Some(end),
            }
        }
        let end = fault?;
        Some(format!(
            "`equal` of `{kind}`: no api-version has `{path}`; {end}"
        ))
    };
    let own = fault(paths.own, &|version, resource| {
        arm_path::check(version, &resource.spec, paths.own)
    });
    own.or_else(|| {
        // Azure may have the other value to itself.
        let mut others = paths.others.iter();
        others.find_map(|path| {
            fault(path, &|version, resource| {
                arm_path::check(version, &resource.spec, path)
                    .or_else(|_| arm_path::check(version, &resource.status, path))
            })
        })
    })
}
