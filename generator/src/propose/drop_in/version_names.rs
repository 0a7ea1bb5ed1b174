//! Names of served versions: which api-version one stands for, and how a curation file says all of a group's.

use std::collections::{BTreeMap, BTreeSet};

use crate::curation::Naming;
use crate::model::ApiVersion;

/// What a served name stands for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::propose) struct Served {
    pub version: ApiVersion,
    /// Whether it begins with `v1api`.
    pub is_legacy: bool,
}

/// The api-version of a served name; none where it has no date in it.
pub(in crate::propose) fn served(name: &str) -> Option<Served> {
    const DATE: usize = "20230501".len();
    let legacy = name.strip_prefix("v1api");
    let compact = legacy.or_else(|| name.strip_prefix('v'))?;
    let (date, rest) = compact.split_at_checked(DATE)?;
    if !date.bytes().all(|digit| digit.is_ascii_digit()) {
        return None;
    }
    let dash = if rest.is_empty() { "" } else { "-" };
    let (year, month, day) = (&date[..4], &date[4..6], &date[6..]);
    Some(Served {
        version: ApiVersion::new(format!("{year}-{month}-{day}{dash}{rest}")),
        is_legacy: legacy.is_some(),
    })
}

/// How a file says how versions are named.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::propose) struct VersionNames {
    /// For the group.
    pub naming: Naming,
    /// First api-version that is named as in new groups.
    pub new_from: Option<ApiVersion>,
    /// For kinds that differ.
    pub own: BTreeMap<String, Naming>,
    /// Kinds of which the names cannot be said.
    pub unfit: Vec<String>,
}

/// Chooses what is said for the group so that the fewest kinds need to say it for themselves.
pub(in crate::propose) fn choose(
    kinds: &BTreeMap<String, BTreeMap<ApiVersion, Naming>>,
) -> VersionNames {
    let versions: BTreeSet<&ApiVersion> = kinds.values().flat_map(BTreeMap::keys).collect();
    let bounds = std::iter::once(None).chain(versions.into_iter().map(Some));
    let all = bounds.flat_map(|from| {
        [Naming::New, Naming::Hybrid, Naming::Legacy].map(|naming| with(kinds, naming, from))
    });
    let none = VersionNames {
        naming: Naming::New,
        new_from: None,
        own: BTreeMap::new(),
        unfit: Vec::new(),
    };
    all.min_by_key(|it| (it.unfit.len(), it.own.len(), it.new_from.is_some()))
        .unwrap_or(none)
}

fn with(
    kinds: &BTreeMap<String, BTreeMap<ApiVersion, Naming>>,
    naming: Naming,
    from: Option<&ApiVersion>,
) -> VersionNames {
    let mut names = VersionNames {
        naming,
        new_from: from.cloned(),
        own: BTreeMap::new(),
        unfit: Vec::new(),
    };
    for (kind, versions) in kinds {
        let said = |version: &ApiVersion| match from {
            Some(from) if version >= from => Naming::New,
            _ => naming,
        };
        if versions
            .iter()
            .all(|(version, named)| said(version) == *named)
        {
            continue;
        }
        let ways: BTreeSet<&Naming> = versions.values().collect();
        match ways.first() {
            Some(way) if ways.len() == 1 => drop(names.own.insert(kind.clone(), **way)),
            _ => names.unfit.push(kind.clone()),
        }
    }
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn served_names_stand_for_api_versions() {
        for (name, expected) in [
            ("v1api20230501", Some(("2023-05-01", true))),
            ("v20230501", Some(("2023-05-01", false))),
            ("v1api20230501preview", Some(("2023-05-01-preview", true))),
            ("v1", None),
            ("v1beta1", None),
            ("storage", None),
        ] {
            let found = served(name);
            let found = found.as_ref().map(|it| (it.version.as_str(), it.is_legacy));
            assert_eq!(found, expected, "{name}");
        }
    }

    #[test]
    fn the_group_says_what_fits_most_kinds() {
        use Naming::{Hybrid, Legacy, New};
        type Kinds<'k> = &'k [(&'k str, &'k [(&'k str, Naming)])];
        type Row<'r> = (
            Kinds<'r>,
            Naming,
            Option<&'r str>,
            &'r [(&'r str, Naming)],
            &'r [&'r str],
        );
        let table: [Row<'_>; 5] = [
            (&[], New, None, &[], &[]),
            (&[("A", &[("2020-01-01", Legacy)])], Legacy, None, &[], &[]),
            (
                &[("A", &[("2020-01-01", Legacy), ("2024-01-01", New)])],
                Legacy,
                Some("2024-01-01"),
                &[],
                &[],
            ),
            (
                &[
                    ("A", &[("2020-01-01", Hybrid)]),
                    ("B", &[("2020-01-01", Hybrid)]),
                    ("C", &[("2020-01-01", New)]),
                ],
                Hybrid,
                None,
                &[("C", New)],
                &[],
            ),
            (
                &[("A", &[("2020-01-01", New), ("2024-01-01", Legacy)])],
                New,
                None,
                &[],
                &["A"],
            ),
        ];
        for (kinds, naming, from, own, unfit) in table {
            let kinds = kinds.iter().map(|(kind, versions)| {
                let versions = versions.iter();
                let versions = versions.map(|(version, way)| (ApiVersion::new(*version), *way));
                ((*kind).to_owned(), versions.collect())
            });
            let found = choose(&kinds.collect());
            let own = own.iter().map(|(kind, way)| ((*kind).to_owned(), *way));
            let expected = VersionNames {
                naming,
                new_from: from.map(ApiVersion::new),
                own: own.collect(),
                unfit: unfit.iter().map(|kind| (*kind).to_owned()).collect(),
            };
            assert_eq!(found, expected);
        }
    }
}
