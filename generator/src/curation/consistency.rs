//! Rules that contradict themselves or each other, or say nothing: told from the file alone.

use std::collections::{BTreeMap, BTreeSet};

use toml::Spanned;

use super::error::{Problem, hint};
use super::group::{GroupRules, KindRules};
use super::property::{Aspect, PropertyRule};
use super::source::{ReadFrom, SourceRules};
use super::text::Text;
use super::words::{Side, SpecFormat, Treatment};

/// Everything of that sort in a file.
pub(super) fn check(rules: &GroupRules, text: &Text) -> Vec<Problem> {
    let mut problems = Vec::new();
    let mut report = |place: &Spanned<String>, message: String| {
        problems.push(text.problem(place.span(), message));
    };
    for kind in rules.kinds.values() {
        check_kind(kind, &mut report);
    }
    check_parts(rules, &mut report);
    check_sources(rules, &mut report);
    for (type_name, properties) in &rules.types {
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

/// Lists of parts that say a thing twice, or the opposite.
fn check_parts(rules: &GroupRules, report: &mut impl FnMut(&Spanned<String>, String)) {
    repeated(&rules.parts, "parts", report);
    repeated(&rules.id_only, "id-only", report);
    let has = |list: &[Spanned<String>], name: &str| list.iter().any(|it| it.get_ref() == name);
    for name in &rules.id_only {
        if has(&rules.parts, name.get_ref()) {
            let message = format!(
                "`{}` is among `parts`, too, which keeps it whole; remove one of the two",
                name.get_ref()
            );
            report(name, message);
        }
    }
    for (kind, own) in &rules.kinds {
        repeated(&own.parts, "parts", report);
        for name in own
            .parts
            .iter()
            .filter(|it| has(&rules.parts, it.get_ref()))
        {
            let message = format!(
                "`{}` is among the `parts` of the file and stays whole in `{}` by that; remove one of the two",
                name.get_ref(),
                kind.get_ref()
            );
            report(name, message);
        }
    }
}

/// Sources that say nothing or the same as others.
fn check_sources(rules: &GroupRules, report: &mut impl FnMut(&Spanned<String>, String)) {
    let mut folders = BTreeMap::<&str, &str>::new();
    for (name, source) in &rules.sources {
        let folder = source.folder.trim_end_matches('/');
        if let Some(other) = folders.insert(folder, name.get_ref()) {
            let message = format!(
                "source `{other}` reads the folder `{folder}`, too; list the files and api-versions of both in one"
            );
            report(name, message);
        }
        if source.versions.is_empty() && source.on_request.is_empty() {
            let message = format!(
                "`versions` of source `{}` lists none; add one, for example `versions = {{ \"2023-01-01\" = \"openapi\" }}`",
                name.get_ref()
            );
            report(name, message);
        }
        check_source(source, report);
        check_retirements(source, report);
        for version in source.on_request.keys() {
            let mut others = rules.sources.iter();
            let has = |it: &SourceRules| it.versions.contains_key(version.get_ref().as_str());
            if let Some((other, _)) = others.find(|(_, it)| has(it)) {
                let message = format!(
                    "`{}` is in `versions` of source `{}`, so it is served anyway; remove it in one of the two places",
                    version.get_ref(),
                    other.get_ref()
                );
                report(version, message);
            }
        }
    }
    for kind in rules.kinds.values() {
        let names = || rules.sources.keys().map(|it| it.get_ref().as_str());
        if let Some(source) = &kind.source
            && !names().any(|name| name == source.get_ref())
        {
            let message = format!(
                "no source is named `{}`; {}",
                source.get_ref(),
                hint(source.get_ref(), names())
            );
            report(source, message);
        }
    }
}

/// api-versions that retire: those that the source has, on a day, by a page.
fn check_retirements(source: &SourceRules, report: &mut impl FnMut(&Spanned<String>, String)) {
    let listed: Vec<&str> = source
        .listed()
        .map(|(version, _)| version.get_ref().as_str())
        .collect();
    for (version, rules) in &source.retires {
        let named = version.get_ref().as_str();
        if !listed.contains(&named) {
            let hint = hint(named, listed.iter().copied());
            let message = format!("`{named}` retires, and no kind is served from it; {hint}");
            report(version, message);
        }
        for (place, message) in rules.faults() {
            report(place, message);
        }
    }
}

/// What of one source says nothing.
fn check_source(source: &SourceRules, report: &mut impl FnMut(&Spanned<String>, String)) {
    repeated(&source.files, "files", report);
    repeated(&source.inherit_from, "inherit-from", report);
    let uses_files = |from: &ReadFrom| *from == SpecFormat::OpenApi.into();
    let read_from = || source.listed().map(|(_, from)| from.get_ref());
    let has_bicep = read_from().any(|it| *it == SpecFormat::Bicep.into());
    for (version, from) in source.listed() {
        if uses_files(from.get_ref()) && source.files.is_empty() {
            let message = format!(
                "`{}` is read from `files`, and there are none; list them, for example `files = [\"storage.json\"]`",
                version.get_ref()
            );
            report(version, message);
        }
    }
    let is_used = read_from().any(uses_files) || !source.inherit_from.is_empty();
    if let Some(file) = source.files.first().filter(|_| !is_used) {
        let message = "`files` has no effect: every api-version lists its own; remove it";
        report(file, message.to_owned());
    }
    for version in &source.inherit_from {
        let named = version.get_ref();
        if source.listed().any(|(it, _)| it.get_ref() == named) {
            let message =
                format!("`{named}` is in `versions`, and inherited from anyway; remove it here");
            report(version, message);
        } else if !has_bicep {
            let message = format!(
                "`{named}` has no effect: no api-version is read from Bicep types; remove it"
            );
            report(version, message);
        } else if source.files.is_empty() {
            let message = format!(
                "`{named}` is read from `files`, and there are none; list them, for example `files = [\"storage.json\"]`"
            );
            report(version, message);
        }
    }
}

fn check_kind(kind: &KindRules, report: &mut impl FnMut(&Spanned<String>, String)) {
    let versions = kind.versions.as_deref().unwrap_or_default();
    repeated(versions, "versions", report);
    let (secrets, config_maps) = (kind.secrets.is_empty(), kind.config_maps.is_empty());
    for (bound, key, end, is_empty) in [
        (&kind.secrets_from, "secrets", "from", secrets),
        (&kind.secrets_until, "secrets", "until", secrets),
        (&kind.config_maps_from, "config-maps", "from", config_maps),
        (&kind.config_maps_until, "config-maps", "until", config_maps),
    ] {
        if let Some(bound) = bound.as_ref().filter(|_| is_empty) {
            let message =
                format!("`{key}-{end}` has no effect without `{key}`; remove it, or list some");
            report(bound, message);
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
    let has = |aspect| stated.contains(&aspect);
    let mut pairs = disagreements(rule).into_iter();
    if let Some((left, right, why)) = pairs.find(|(left, right, _)| has(*left) && has(*right)) {
        let (left, right) = (written(left), written(right));
        return Some(format!(
            "`{left}` and `{right}` disagree for `{name}`: {why}; keep one of the two"
        ));
    }
    if rule.was.as_deref() == Some(rule.rename.as_deref().unwrap_or(name)) {
        return Some(format!(
            "`{}` is the name that `{name}` has anyway; remove it",
            written(Aspect::Was)
        ));
    }
    None
}

/// Statements that cannot stand beside each other in this rule, and why.
fn disagreements(rule: &PropertyRule) -> Vec<(Aspect, Aspect, &'static str)> {
    use Aspect::{
        Absent, Items, Rename, Required, Side as OfSide, Treatment as As, Type, Values, Was,
    };
    let mut pairs = Vec::new();
    let removes = [Treatment::Remove, Treatment::ChildKind, Treatment::Flatten];
    if rule.treatment.is_some_and(|it| removes.contains(&it)) {
        let stays = [Type, Items, Values, Required, Absent, Rename, Was];
        pairs.extend(stays.map(|it| (As, it, "the property is left out")));
    }
    let another_type = "each gives another type";
    let keeps = [
        Treatment::Plain,
        Treatment::ReferenceOrPlain,
        Treatment::ConfigMap,
        Treatment::SecretOrPlain,
    ];
    if rule.treatment.is_some_and(|it| !keeps.contains(&it)) {
        pairs.extend([Type, Items, Values].map(|it| (As, it, another_type)));
    }
    let types = [(Type, Values), (Type, Items), (Items, Values)];
    pairs.extend(types.map(|(one, other)| (one, other, another_type)));
    if rule.side == Some(Side::Status) {
        pairs.push((Required, OfSide, "a status is never checked"));
        pairs.push((Absent, OfSide, "a status is never sent"));
    }
    pairs
}
