//! Between passes 1 and 2, for Bicep types only: what they do not say is taken from OpenAPI.
//!
//! Bicep's types leave out which envelopes are flattened, formats of strings (ARM ids among them), which properties can
//! only be set on creation, fractions, verbs beside GET and PUT, and which of them take long. Specs say these things
//! alike in all api-versions of a type, so the nearest OpenAPI version of the same ARM type tells.
//!
//! Here: finding that version, and pairing its schemas with ours ([`pair`]). Nothing that Bicep says is overruled, but
//! for `write_only` where OpenAPI's answer has the property, `read_only` where its body has it, and integers that
//! OpenAPI knows to be fractions.

mod news;
mod pair;

use std::collections::BTreeMap;

use crate::discover::{DiscoverError, DiscoveredResource, discover};
use crate::load::{Operation, Path, Schema, Source, SpecSet, Verb};
use crate::model::{ApiVersion, NameRule, Rules, Verbs};
use news::Said;
use pair::{Facts, Pairing};

/// `set` (of `api_version`) with what the OpenAPI sets in `openapi` add to it. Where several sets of one api-version have
/// a resource, the first tells. A resource that none of them has only gets ARM's own envelope, `properties`, flattened.
///
/// # Errors
/// When the resources of a set cannot be told apart.
pub fn inherit(
    set: &SpecSet,
    api_version: &ApiVersion,
    openapi: &BTreeMap<ApiVersion, Vec<&SpecSet>>,
) -> Result<SpecSet, DiscoverError> {
    let mut known = BTreeMap::new();
    for (version, sets) in openapi {
        let found = sets.iter().map(|set| Ok((*set, discover(set)?)));
        known.insert(version, found.collect::<Result<Vec<_>, DiscoverError>>()?);
    }
    let mut schemas: BTreeMap<Source, Facts> = BTreeMap::new();
    let mut paths: BTreeMap<Source, PathFacts> = BTreeMap::new();
    for ours in discover(set)? {
        let having = known.iter().filter_map(|(version, sets)| {
            let mut found = sets.iter();
            let found = found.find_map(|(set, found)| Some((*set, same(&ours, found)?)));
            let (set, theirs) = found?;
            Some((*version, (*version, set, theirs)))
        });
        match nearest(api_version, having) {
            Some((version, theirs_set, theirs)) => {
                let mut pairing = Pairing::new(set, (version, theirs_set), &mut schemas);
                if let (Some(left), Some(right)) = (ours.body, theirs.body) {
                    pairing.body(left, right);
                }
                pairing.answer(ours.item, theirs.item);
                paths.insert(ours.source.clone(), PathFacts::of(version, theirs));
            }
            None => flatten_envelope(set, ours.item, &mut schemas),
        }
    }
    Ok(set.edited(|document| {
        for schema in document.schemas.values_mut() {
            each(schema, &mut |schema| {
                if let Some(facts) = schemas.get(&schema.source) {
                    let before = Said::by(schema);
                    facts.apply(schema);
                    schema.inherited = before.news(&Said::by(schema));
                    schema.inherited_from.clone_from(&facts.from);
                }
            });
        }
        for path in &mut document.paths {
            if let Some(facts) = paths.get(&path.source) {
                facts.apply(path);
            }
        }
    }))
}

/// The resource of the same ARM type, of the same kind where one type has several.
fn same<'f, 'a>(
    ours: &DiscoveredResource<'_>,
    found: &'f [DiscoveredResource<'a>],
) -> Option<&'f DiscoveredResource<'a>> {
    let candidates: Vec<&DiscoveredResource<'a>> = found
        .iter()
        .filter(|theirs| theirs.arm_type.eq_ignore_ascii_case(&ours.arm_type))
        .collect();
    match candidates.as_slice() {
        [] => None,
        [one] => Some(one),
        several => several
            .iter()
            .copied()
            .find(|theirs| theirs.kind.eq_ignore_ascii_case(&ours.kind)),
    }
}

/// The newest version that is not newer than `wanted`, else the oldest that is.
fn nearest<'v, T>(
    wanted: &ApiVersion,
    versions: impl Iterator<Item = (&'v ApiVersion, T)>,
) -> Option<T> {
    let mut older = None;
    for (version, value) in versions {
        if version <= wanted {
            older = Some(value);
        } else {
            return older.or(Some(value));
        }
    }
    older
}

fn flatten_envelope(set: &SpecSet, item: &Schema, schemas: &mut BTreeMap<Source, Facts>) {
    if let Some(envelope) = set.resolve(item).properties.get("properties") {
        let facts = schemas.entry(envelope.source.clone()).or_default();
        facts.flatten = true;
    }
}

/// A schema and all that stand within it.
fn each(schema: &mut Schema, visit: &mut impl FnMut(&mut Schema)) {
    visit(schema);
    for inner in schema.inner_mut() {
        each(inner, visit);
    }
}

/// What an OpenAPI resource tells about the path.
struct PathFacts {
    origin: (ApiVersion, Source),
    verbs: Verbs,
    /// Rules of the name, where they are free of fixed values.
    name: Option<Rules>,
}

impl PathFacts {
    fn of(version: &ApiVersion, theirs: &DiscoveredResource<'_>) -> Self {
        Self {
            origin: (version.clone(), theirs.source.clone()),
            verbs: theirs.verbs,
            name: match &theirs.name {
                NameRule::Free(rules) => Some(rules.clone()),
                NameRule::OneOf(_) | NameRule::Fixed(_) => None,
            },
        }
    }

    fn apply(&self, path: &mut Path) {
        path.origin = Some(self.origin.clone());
        let verbs = [
            (Verb::Head, self.verbs.head),
            (Verb::Patch, self.verbs.patch),
            (Verb::Delete, self.verbs.delete),
        ];
        for (verb, offered) in verbs {
            path.operations
                .retain(|operation| operation.verb != verb || offered);
            if offered && path.operation(verb).is_none() {
                path.operations.push(Operation {
                    verb,
                    parameters: Vec::new(),
                    responses: Vec::new(),
                    long_running: false,
                });
            }
        }
        for operation in &mut path.operations {
            operation.long_running |= match operation.verb {
                Verb::Put => self.verbs.put_long_running,
                Verb::Delete => self.verbs.delete_long_running,
                Verb::Get | Verb::Head | Verb::Patch => false,
            };
        }
        for parameter in &mut path.parameters {
            if let Some(rules) = &self.name
                && parameter.schema.rules == Rules::default()
            {
                parameter.schema.rules = rules.clone();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::nearest;
    use crate::model::ApiVersion;

    #[test]
    fn the_nearest_version_is_the_newest_older_one_else_the_oldest_newer_one() {
        let table: [(&str, &[&str], Option<&str>); 5] = [
            ("2024-01-01", &[], None),
            (
                "2024-01-01",
                &["2022-01-01", "2023-01-01", "2024-06-01"],
                Some("2023-01-01"),
            ),
            (
                "2024-01-01",
                &["2023-01-01", "2024-01-01"],
                Some("2024-01-01"),
            ),
            (
                "2024-01-01",
                &["2025-01-01", "2026-01-01"],
                Some("2025-01-01"),
            ),
            (
                "2024-01-01",
                &["2024-01-01-preview"],
                Some("2024-01-01-preview"),
            ),
        ];
        for (wanted, versions, expected) in table {
            let versions: Vec<ApiVersion> =
                versions.iter().map(|it| ApiVersion::new(*it)).collect();
            let having = versions.iter().map(|version| (version, version.as_str()));
            assert_eq!(
                nearest(&ApiVersion::new(wanted), having),
                expected,
                "{versions:?}"
            );
        }
    }
}
