//! Whether what a file says of resources within resources did something: `parts`, of the file and of kinds, `id-only`, and
//! `envelope`.
//! It is the types pass that heeds them, and leaves a word about it at each property.

use std::collections::BTreeSet;

use super::rules::{known_properties, no_match, rule_names};
use crate::curation::{GroupConfig, Problem, Side};
use crate::model::{DecidedBy, Group, Property, TypeDef, TypeTable, reachable};
use crate::naming::endings::STATUS;

/// What became of resources within resources because of the file.
#[derive(Default)]
struct Found<'g> {
    /// Kinds with the names of types that stay whole in them.
    whole: BTreeSet<(&'g str, &'g str)>,
    /// Names of types of which only the id stays.
    id_only: BTreeSet<&'g str>,
    /// Kinds with an envelope that stays.
    envelopes: BTreeSet<&'g str>,
}

/// Everything that is wrong with these lists. `before` is the group as it was before curation.
pub(super) fn problems(before: &Group, config: &GroupConfig) -> Vec<Problem> {
    let found = found(before);
    let known = known_properties(before);
    let mut problems = Vec::new();
    let is_whole = |part: &str| found.whole.iter().any(|(_, name)| *name == part);
    for part in &config.rules.parts {
        let name = part.get_ref();
        if is_whole(name) {
            continue;
        }
        let message = if known.contains_key(name) {
            format!("`{name}` stays whole anyway; remove it")
        } else {
            no_match("type", name, known.keys())
        };
        problems.push(config.problem(part, message));
    }
    let words = words(before);
    let is_known = |name: &String| known.contains_key(name) || words.contains(name);
    for (kind, rules) in &config.rules.kinds {
        let kind = kind.get_ref().as_str();
        if let Some(envelope) = &rules.envelope
            && !found.envelopes.contains(kind)
        {
            let message = format!(
                "`envelope = \"{}\"` has no effect: nothing in `{kind}` is flattened without it; remove it",
                envelope.get_ref().word()
            );
            problems.push(config.problem(envelope, message));
        }
        for part in &rules.parts {
            let name = part.get_ref();
            if found.whole.contains(&(kind, name.as_str())) {
                continue;
            }
            let message = if is_known(name) {
                format!("`{name}` is not in `{kind}`, or stays whole in it anyway; remove it")
            } else {
                no_match("type", name, known.keys().chain(&words))
            };
            problems.push(config.problem(part, message));
        }
    }
    for reduced in &config.rules.id_only {
        let name = reduced.get_ref();
        if found.id_only.contains(name.as_str()) {
            continue;
        }
        let of_side = name.strip_suffix(STATUS).map(str::to_owned);
        let message = if is_known(name) || of_side.is_some_and(|name| is_known(&name)) {
            format!("`{name}` has no `id`, or only the id stays of it anyway; remove it")
        } else {
            no_match("type", name, known.keys().chain(&words))
        };
        problems.push(config.problem(reduced, message));
    }
    problems
}

/// Words of all api-versions: also of types of which nothing is left.
fn words(group: &Group) -> BTreeSet<String> {
    let versions = group.versions.values();
    versions
        .flat_map(|version| version.words.iter().cloned())
        .collect()
}

fn found(group: &Group) -> Found<'_> {
    let mut found = Found::default();
    for version in group.versions.values() {
        for resource in &version.resources {
            let ids = reachable(&version.types, [&resource.spec, &resource.status]);
            let objects = ids.iter().filter_map(|id| match version.types.get(id)? {
                TypeDef::Object(object) => Some(object),
                TypeDef::Enum(_) => None,
            });
            for property in objects.flat_map(|object| &object.properties) {
                note(&mut found, &version.types, &resource.kind, property);
            }
        }
    }
    found
}

/// Notes what the file made of the type of a property.
fn note<'g>(found: &mut Found<'g>, types: &'g TypeTable, kind: &'g str, property: &'g Property) {
    for decision in &property.origin.decisions {
        match &decision.by {
            DecidedBy::IdOnly(name) => {
                found.id_only.insert(name);
            }
            DecidedBy::Envelope => {
                found.envelopes.insert(kind);
            }
            DecidedBy::Part => {
                let inner = property.ty.named().and_then(|id| types.get_key_value(id));
                if let Some((id, TypeDef::Object(object))) = inner {
                    let names = rule_names(id, object, Side::Status, None);
                    found
                        .whole
                        .extend(names.into_iter().map(|name| (kind, name)));
                }
            }
            DecidedBy::Spec | DecidedBy::Inherited | DecidedBy::Heuristic | DecidedBy::Rule(_) => {}
        }
    }
}
