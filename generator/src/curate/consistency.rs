//! Rules that contradict themselves or each other, or say nothing: told from the file alone.

use std::collections::BTreeSet;

use toml::Spanned;

use super::GroupConfig;
use super::aspect::Aspect;
use super::config::{KindRules, PropertyRule, Side, Treatment};
use super::error::Problem;

/// Everything of that sort in a file.
pub(super) fn check(config: &GroupConfig) -> Vec<Problem> {
    let mut problems = Vec::new();
    let mut report = |place: &Spanned<String>, message: String| {
        problems.push(config.problem(place, message));
    };
    for kind in config.rules.kinds.values() {
        check_kind(kind, &mut report);
    }
    repeated(&config.rules.parts, "parts", &mut report);
    for (type_name, properties) in &config.rules.types {
        if properties.is_empty() {
            let message = format!("`{}` has no rule; remove the line", type_name.get_ref());
            report(type_name, message);
        }
        for (name, rule) in properties {
            if let Some(message) = contradiction(name.get_ref(), rule) {
                report(name, message);
            }
            let versions = rule.versions.as_deref().unwrap_or_default();
            repeated(versions, "versions", &mut report);
        }
    }
    problems
}

fn check_kind(kind: &KindRules, report: &mut impl FnMut(&Spanned<String>, String)) {
    let versions = kind.versions.as_deref().unwrap_or_default();
    repeated(versions, "versions", report);
    if let Some(from) = &kind.secrets_from
        && kind.secrets.is_empty()
    {
        let message =
            "`secrets-from` has no effect without `secrets`; remove it, or list the secrets";
        report(from, message.to_owned());
    }
    let mut seen = BTreeSet::new();
    for key in kind.secrets.keys() {
        if !seen.insert(key.get_ref().to_lowercase()) {
            let message = format!(
                "another secret has the key `{}`, too, but for its capitals; rename one of the two",
                key.get_ref()
            );
            report(key, message);
        }
    }
}

/// Tells of items that a list has twice, and of nothing in a list that restricts.
fn repeated(
    items: &[Spanned<String>],
    key: &str,
    report: &mut impl FnMut(&Spanned<String>, String),
) {
    let mut seen = BTreeSet::new();
    for item in items {
        if !seen.insert(item.get_ref()) {
            let message = format!("`{key}` lists `{}` twice; remove one", item.get_ref());
            report(item, message);
        }
    }
}

/// What is wrong with a rule in itself.
fn contradiction(name: &str, rule: &PropertyRule) -> Option<String> {
    let stated: Vec<Aspect> = rule.aspects().collect();
    if stated.iter().all(|aspect| aspect.is_restriction()) {
        return Some(format!(
            "the rule for `{name}` does nothing; add what to do, such as `as = \"reference\"`, or remove it"
        ));
    }
    let written = |aspect| rule.written(aspect).unwrap_or_default();
    let disagree = |left, right, why: &str| {
        let (left, right) = (written(left), written(right));
        Some(format!(
            "`{left}` and `{right}` disagree for `{name}`: {why}; keep one of the two"
        ))
    };
    let has = |aspect| stated.contains(&aspect);
    if let Some(treatment) = rule.treatment {
        let removes = matches!(treatment, Treatment::Remove | Treatment::ChildKind);
        let types = !matches!(treatment, Treatment::Plain | Treatment::ConfigMap);
        for aspect in [
            Aspect::Type,
            Aspect::Values,
            Aspect::Required,
            Aspect::Rename,
            Aspect::Was,
        ] {
            if has(aspect) && removes {
                return disagree(Aspect::Treatment, aspect, "the property is left out");
            }
        }
        for aspect in [Aspect::Type, Aspect::Values] {
            if has(aspect) && types {
                return disagree(Aspect::Treatment, aspect, "each gives another type");
            }
        }
    }
    if has(Aspect::Type) && has(Aspect::Values) {
        return disagree(Aspect::Type, Aspect::Values, "each gives another type");
    }
    if has(Aspect::Required) && rule.side == Some(Side::Status) {
        return disagree(Aspect::Required, Aspect::Side, "a status is never checked");
    }
    if rule.was.as_deref() == Some(rule.rename.as_deref().unwrap_or(name)) {
        return Some(format!(
            "`{}` is the name that `{name}` has anyway; remove it",
            written(Aspect::Was)
        ));
    }
    None
}
