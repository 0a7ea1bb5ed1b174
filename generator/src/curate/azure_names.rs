//! Rules of names in Azure: what a file says of them fits, and a name can keep all of them.

use toml::Spanned;

use super::lengths::lengths;
use super::pattern::is_re2;
use crate::curation::{GroupConfig, KindRules, Problem};
use crate::model::{Group, NameRule, Rules};

/// Checks `name-pattern` and `name-slash`. `group` has all resources of the specs.
pub(super) fn check(group: &Group, config: &GroupConfig) -> Vec<Problem> {
    let mut problems = Vec::new();
    for (kind, rules) in &config.rules.kinds {
        let names: Vec<&NameRule> = names(group, config, rules).collect();
        for (key, given, why) in [
            ("name-pattern", &rules.name_pattern, wrong_pattern as Wrong),
            ("name-slash", &rules.name_slash, wrong_slash as Wrong),
        ] {
            let Some(given) = given else { continue };
            if let Some(why) = why(given.get_ref(), &names) {
                let message = format!("`{key}` of `{}` {why}", kind.get_ref());
                problems.push(config.problem(given, message));
            }
        }
    }
    problems
}

/// Why a word does not fit the names of a kind.
type Wrong = fn(&str, &[&NameRule]) -> Option<&'static str>;

fn wrong_pattern(pattern: &str, names: &[&NameRule]) -> Option<&'static str> {
    let is_so = |name: &&NameRule| {
        constraints(name).is_none_or(|rules| rules.pattern.as_deref() == Some(pattern))
    };
    if !is_re2(pattern) {
        return Some("is no regular expression that the API server can read; correct it");
    }
    let has_no_effect = names.iter().all(is_so);
    has_no_effect.then_some("has no effect: names are so without it; remove it")
}

fn wrong_slash(slash: &str, names: &[&NameRule]) -> Option<&'static str> {
    if slash.is_empty() || slash.contains('/') {
        return Some("cannot be in an ARM id; expected what ARM writes for a slash");
    }
    let is_given = names.iter().all(|name| constraints(name).is_none());
    is_given.then_some("has no effect: Azure takes only some names; remove it")
}

/// How the kind's name is chosen in each api-version that exports it.
fn names<'g>(
    group: &'g Group,
    config: &GroupConfig,
    rules: &KindRules,
) -> impl Iterator<Item = &'g NameRule> {
    let versions = group.versions.iter();
    let exported = versions.filter(|(version, _)| config.exports(rules, version));
    exported
        .flat_map(|(_, version)| &version.resources)
        .filter(|it| rules.is_among(std::slice::from_ref(&it.arm_type)))
        .map(|it| &it.name)
}

fn constraints(name: &NameRule) -> Option<&Rules> {
    match name {
        NameRule::Free(rules) | NameRule::Uuid { rules, .. } => Some(rules),
        NameRule::OneOf(_) | NameRule::Fixed(_) => None,
    }
}

/// Length and pattern of a name must not exclude each other. `group` is curated.
pub(super) fn check_lengths(group: &Group, config: &GroupConfig) -> Vec<Problem> {
    let mut problems = Vec::new();
    for version in group.versions.values() {
        for resource in &version.resources {
            let excluded = constraints(&resource.name).and_then(excluded);
            let kind = config.rules.kinds.get_key_value(resource.kind.as_str());
            let (Some(excluded), Some((kind, rules))) = (excluded, kind) else {
                continue;
            };
            let place: &Spanned<String> = rules.name_pattern.as_ref().unwrap_or(kind);
            let message = format!(
                "names of `{}` in api-version `{}` {excluded}; say by `name-pattern` which names Azure takes",
                kind.get_ref(),
                version.api_version
            );
            problems.push(config.problem(place, message));
        }
    }
    problems
}

/// The lengths that the bounds allow and the pattern does not.
fn excluded(rules: &Rules) -> Option<String> {
    let (pattern, longest) = (rules.pattern.as_ref()?, rules.max_length);
    let shortest = usize::try_from(rules.min_length.unwrap_or(1)).ok()?;
    let longest = usize::try_from(longest.unwrap_or_default())
        .ok()?
        .max(shortest);
    // Where only the pattern bounds the length, nothing contradicts it.
    if rules.min_length.is_none() && rules.max_length.is_none() {
        return None;
    }
    let reached = lengths(pattern, longest)?;
    let missing: Vec<String> = (shortest..=longest)
        .filter(|length| !reached.contains(length))
        .map(|length| length.to_string())
        .collect();
    (!missing.is_empty()).then(|| {
        format!(
            "may have {} characters by their length, and not by the pattern {pattern}",
            missing.join(", ")
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_that_the_pattern_takes_away() {
        let rules = |pattern: &str, shortest, longest| Rules {
            pattern: Some(pattern.to_owned()),
            min_length: shortest,
            max_length: longest,
            ..Rules::default()
        };
        for (rules, expected) in [
            (
                rules("^[a-z][a-z-]{6,8}[a-z]$", Some(6), Some(11)),
                Some("6, 7, 11"),
            ),
            (rules("^[a-z][a-z-]{4,9}[a-z]$", Some(6), Some(11)), None),
            // A pattern may be wider than the length, and alone.
            (rules("^[a-z]+$", Some(6), Some(11)), None),
            (rules("^[a-z]{3}$", None, None), None),
            (
                rules("^(.{8}|.{12})$", Some(8), Some(12)),
                Some("9, 10, 11"),
            ),
            (rules("^[a-z]{3}$", None, Some(3)), Some("1, 2")),
            (rules("^[a-z]{3}$", Some(3), None), None),
        ] {
            let found = excluded(&rules);
            let expected = expected.map(|lengths| format!("may have {lengths} characters "));
            match (&found, &expected) {
                (Some(found), Some(expected)) => assert!(found.starts_with(expected), "{found}"),
                _ => assert_eq!(found, expected, "{rules:?}"),
            }
        }
    }

    #[test]
    fn words_that_do_not_fit() {
        let free = |pattern: Option<&str>| {
            NameRule::Free(Rules {
                pattern: pattern.map(str::to_owned),
                ..Rules::default()
            })
        };
        let (some, fixed) = (free(Some("^a$")), NameRule::Fixed("default".to_owned()));
        assert_eq!(wrong_pattern("^b$", &[&some]), None);
        assert_eq!(wrong_pattern("^a$", &[&some, &free(None)]), None);
        assert!(wrong_pattern("^a$", &[&some, &fixed]).is_some_and(|it| it.contains("effect")));
        assert!(wrong_pattern("(?!a)", &[&some]).is_some_and(|it| it.contains("no regular")));
        assert_eq!(wrong_slash("~", &[&some, &fixed]), None);
        assert!(wrong_slash("~", &[&fixed]).is_some());
        assert!(wrong_slash("/", &[&some]).is_some());
    }
}
