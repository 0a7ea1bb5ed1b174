//! Rules for values that Azure moves by itself: whether their paths are there, and one that every kind has.
//!
//! The engine reads them when it runs and knows what each means; here stand only the words, since generated crates and what
//! writes them know no engine.

use std::collections::BTreeSet;

use super::arm_path;
use crate::curation::{GroupConfig, Problem, hint};
use crate::model::{Group, Resource, TypeDef, Version};

/// What may follow a path.
const RIGHTS: [&str; 10] = [
    "added",
    "autoscaled",
    "exchanged",
    "from",
    "in",
    "or",
    "read-only",
    "told",
    "unsent",
    "while",
];

/// Azure's own in every resource, also where a spec does not say so.
const ETAG: &str = "etag";

/// An etag is another one after each write: where a manifest can name it, it is neither compared nor sent.
pub(super) fn own_etags(group: &mut Group) {
    let mut kinds = BTreeSet::new();
    for version in group.versions.values() {
        let resources = version.resources.iter();
        let with_etag = resources.filter(|resource| names_etag(version, resource));
        kinds.extend(with_etag.map(|resource| resource.kind.clone()));
    }
    for kind in kinds {
        let rules = &mut group.values.entry(kind).or_default().azure_owned;
        rules.push(format!("{ETAG} read-only"));
    }
}

fn names_etag(version: &Version, resource: &Resource) -> bool {
    let Some(TypeDef::Object(object)) = version.types.get(&resource.spec) else {
        return false;
    };
    let mut properties = object.properties.iter();
    properties.any(|property| matches!(property.place.path(), [name] if name == ETAG))
}

/// Checks the rules of every kind. `group` is curated.
pub(super) fn problems(group: &Group, config: &GroupConfig) -> Vec<Problem> {
    let mut problems = Vec::new();
    for (kind, rules) in &config.rules.kinds {
        for rule in &rules.azure_owned {
            let fault = fault(group, kind.get_ref(), rule.get_ref());
            let fault =
                fault.map(|fault| format!("`azure-owned` of `{}`: {fault}", kind.get_ref()));
            problems.extend(fault.map(|fault| config.problem(rule, fault)));
        }
    }
    problems
}

fn fault(group: &Group, kind: &str, rule: &str) -> Option<String> {
    let mut words = rule.split_whitespace();
    let own = words.next().unwrap_or_default();
    let right = words.clone().next();
    if let Some(right) = right.filter(|right| !RIGHTS.contains(right)) {
        return Some(format!("no word `{right}`; {}", hint(right, RIGHTS)));
    }
    let of_spec =
        |version: &Version, resource: &Resource| arm_path::check(version, &resource.spec, own);
    if let Some(end) = missing(group, kind, &of_spec) {
        return Some(format!("no api-version has `{own}`; {end}"));
    }
    words.filter(|word| is_path(word)).find_map(|path| {
        // Azure may have what a condition looks at to itself.
        let of_either = |version: &Version, resource: &Resource| {
            arm_path::check(version, &resource.spec, path)
                .or_else(|_| arm_path::check(version, &resource.status, path))
        };
        let end = missing(group, kind, &of_either)?;
        Some(format!("no api-version has `{path}`; {end}"))
    })
}

/// Whether a word is a path and no pattern or value.
fn is_path(word: &str) -> bool {
    let begins = word.starts_with(|first: char| first.is_ascii_lowercase());
    begins && word.contains('.') && !word.contains(['*', '/'])
}

/// Why no api-version of the kind has what is asked for.
pub(super) fn missing(
    group: &Group,
    kind: &str,
    has: &dyn Fn(&Version, &Resource) -> Result<(), String>,
) -> Option<String> {
    let mut end = None;
    for version in group.versions.values() {
        for resource in version.resources.iter().filter(|it| it.kind == kind) {
            match has(version, resource) {
                Ok(()) => return None,
                Err(fault) => end = Some(fault),
            }
        }
    }
    end
}
