//! Beside pass 2, for Bicep types only: what they do not say is taken from OpenAPI.
//!
//! Bicep's types leave out which envelopes are flattened, formats of strings (ARM ids among them), which properties can
//! only be set on creation, fractions, verbs beside GET and PUT, and which of them take long. Specs say these things
//! alike in all api-versions of a type, so the nearest OpenAPI version of the same ARM type tells.
//!
//! Here: finding that version, pairing its schemas with ours ([`pair`]), and what these learn of each other ([`facts`]),
//! and what holds for a resource without such a version ([`envelope`]).
//! Nothing that Bicep says is overruled, but for `write_only` where OpenAPI's answer has the property, `read_only` where
//! its body has it, and integers that OpenAPI knows to be fractions. What comes of it lies beside the documents
//! ([`crate::overlay`]).

mod envelope;
mod facts;
mod pair;

use std::collections::BTreeMap;

use crate::discover::DiscoveredResource;
use crate::load::SpecSet;
use crate::model::{ApiVersion, NameRule};
use crate::overlay::{Overlay, PathAddition};
use pair::{Paired, Pairing};

/// A set, and the resources in it.
#[derive(Clone, Copy, Debug)]
pub struct Known<'a> {
    /// The files.
    pub set: &'a SpecSet,
    /// What discovery found in them.
    pub resources: &'a [DiscoveredResource<'a>],
}

/// What the OpenAPI sets in `openapi` add to a set of `api_version`. Where several sets of one api-version have a
/// resource, the first tells. A resource that none of them has only gets ARM's own envelope, `properties`, flattened, and that of
/// its parts.
pub fn inherit(
    ours: Known<'_>,
    api_version: &ApiVersion,
    openapi: &BTreeMap<ApiVersion, Vec<Known<'_>>>,
) -> Overlay {
    let mut paired = Paired::default();
    let mut overlay = Overlay::default();
    let mut alone = Vec::new();
    for resource in ours.resources {
        let having = openapi.iter().filter_map(|(version, known)| {
            let mut known = known.iter();
            let found = known.find_map(|it| Some((it.set, same(resource, it.resources)?)));
            found.map(|(set, theirs)| (version, (version, set, theirs)))
        });
        match nearest(api_version, having) {
            Some((version, set, theirs)) => {
                let mut pairing = Pairing::new(ours.set, (version, set), &mut paired);
                if let (Some(left), Some(right)) = (resource.body, theirs.body) {
                    pairing.body(left, right);
                }
                pairing.answer(resource.item, theirs.item);
                let path = path(version, theirs);
                overlay.paths.insert(resource.source.clone(), path);
            }
            None => alone.push(resource),
        }
    }
    for resource in alone {
        envelope::flatten(ours.set, resource.item, &mut paired);
    }
    overlay.schemas = paired.additions();
    overlay
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

/// What an OpenAPI resource tells about the path.
fn path(version: &ApiVersion, theirs: &DiscoveredResource<'_>) -> PathAddition {
    PathAddition {
        from: version.clone(),
        source: theirs.source.clone(),
        verbs: theirs.verbs,
        name: match &theirs.name {
            NameRule::Free(rules) => Some(rules.clone()),
            NameRule::Uuid { .. } | NameRule::OneOf(_) | NameRule::Fixed(_) => None,
        },
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
