//! Rules that contradict themselves or each other, or say nothing: told from the file alone.

use std::collections::BTreeSet;

use toml::Spanned;

use super::GroupConfig;
use super::aspect::Aspect;
use super::config::{KindRules, NamedSource, PropertyRule, Side, Treatment, VersionSource};
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
    check_sources(config, &mut report);
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

/// Sources of api-versions that say nothing or the same twice.
fn check_sources(config: &GroupConfig, report: &mut impl FnMut(&Spanned<String>, String)) {
    let rules = &config.rules;
    repeated(&rules.files, "files", report);
    repeated(&rules.inherit_from, "inherit-from", report);
    let uses_files = |source: &VersionSource| *source == NamedSource::OpenApi.into();
    let sources = || rules.versions.values().map(Spanned::get_ref);
    let has_bicep = sources().any(|it| *it == NamedSource::Bicep.into());
    for (version, source) in &rules.versions {
        if uses_files(source.get_ref()) && rules.files.is_empty() {
            let message = format!(
                "`{}` is read from `files`, and there are none; list them, for example `files = [\"storage.json\"]`",
                version.get_ref()
            );
            report(version, message);
        }
    }
    let is_used = sources().any(uses_files) || !rules.inherit_from.is_empty();
    if let Some(file) = rules.files.first().filter(|_| !is_used) {
        let message = "`files` has no effect: every api-version lists its own; remove it";
        report(file, message.to_owned());
    }
    for version in &rules.inherit_from {
        let named = version.get_ref();
        if rules.versions.keys().any(|known| known.get_ref() == named) {
            let message =
                format!("`{named}` is in `versions`, and inherited from anyway; remove it here");
            report(version, message);
        } else if !has_bicep {
            let message = format!(
                "`{named}` has no effect: no api-version is read from Bicep types; remove it"
            );
            report(version, message);
        }
    }
}

fn check_kind(kind: &KindRules, report: &mut impl FnMut(&Spanned<String>, String)) {
    let versions = kind.versions.as_deref().unwrap_or_default();
    repeated(versions, "versions", report);
    for (from, key, is_empty) in [
        (&kind.secrets_from, "secrets", kind.secrets.is_empty()),
        (
            &kind.config_maps_from,
            "config-maps",
            kind.config_maps.is_empty(),
        ),
    ] {
        if let Some(from) = from.as_ref().filter(|_| is_empty) {
            let message =
                format!("`{key}-from` has no effect without `{key}`; remove it, or list some");
            report(from, message);
        }
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
        let removes = matches!(
            treatment,
            Treatment::Remove | Treatment::ChildKind | Treatment::Flatten
        );
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
