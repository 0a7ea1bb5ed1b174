//! Which ARM type a kind stands for: CRDs do not say, so names tell, and where several types could be meant, how many of
//! the kind's api-versions and members each has.

use std::collections::{BTreeMap, BTreeSet};

use crate::model::ApiVersion;
use crate::naming::{pascal, singular};

/// An ARM type that a kind may stand for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(in crate::propose) struct Candidate {
    pub arm_type: String,
    /// Kinds that are proposed for it; they may differ by file.
    pub kinds: BTreeSet<String>,
    /// api-versions that have it.
    pub versions: BTreeSet<ApiVersion>,
    /// Names at its root.
    pub members: BTreeSet<String>,
}

/// A kind that stands for an ARM type.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(in crate::propose) struct Unmatched<'k> {
    /// api-versions that are asked for.
    pub versions: BTreeSet<ApiVersion>,
    /// Names at its root.
    pub members: BTreeSet<&'k str>,
}

/// The candidate of each kind, by index. Better ways to match come first, for all kinds, so that a kind with a name of its
/// own is not taken for another one's; of types that are alike, one whose parent is a kind, too, and then a short one.
pub(in crate::propose) fn matched(
    kinds: &BTreeMap<&str, Unmatched<'_>>,
    candidates: &[Candidate],
) -> BTreeMap<String, usize> {
    let mut found = BTreeMap::<String, usize>::new();
    for (way, is_alike) in WAYS {
        // A kind may have its parent from another one of the same way.
        while let Some((kind, index)) = next(way, is_alike, kinds, candidates, &found) {
            found.insert(kind, index);
        }
    }
    found
}

/// What a kind would stand for, had the candidate the api-versions that are asked for.
pub(in crate::propose) fn elsewhere(
    kind: &str,
    candidates: &[Candidate],
    found: &BTreeMap<String, usize>,
) -> Option<usize> {
    let versions = candidates.iter().flat_map(|it| it.versions.clone());
    let anywhere = Unmatched {
        versions: versions.collect(),
        ..Unmatched::default()
    };
    let kinds = [(kind, anywhere)].into();
    let mut ways = WAYS.into_iter();
    let best = ways.find_map(|(way, is_alike)| next(way, is_alike, &kinds, candidates, found));
    best.map(|(_, index)| index)
}

/// The next kind that has a candidate, with its best one.
fn next(
    way: Way,
    is_alike: IsAlike,
    kinds: &BTreeMap<&str, Unmatched<'_>>,
    candidates: &[Candidate],
    found: &BTreeMap<String, usize>,
) -> Option<(String, usize)> {
    let open = kinds.iter().filter(|(kind, _)| !found.contains_key(**kind));
    let mut matches = open.filter_map(|(kind, wanted)| {
        let free = candidates.iter().enumerate().filter(|(index, candidate)| {
            !found.values().any(|taken| taken == index)
                && !candidate.versions.is_disjoint(&wanted.versions)
                && is_alike(kind, candidate)
        });
        let free = free.map(|(index, it)| (has_parent(it, candidates, found), index, it));
        let free = free.filter(|(has_parent, ..)| *has_parent || way == Way::Whole);
        let best = free.max_by_key(|(has_parent, _, it)| (*has_parent, rank(wanted, it)));
        best.map(|(_, index, _)| ((*kind).to_owned(), index))
    });
    matches.next()
}

/// Whether a type is one at the top, or the type above it stands for a kind.
fn has_parent(
    candidate: &Candidate,
    candidates: &[Candidate],
    found: &BTreeMap<String, usize>,
) -> bool {
    let parent = candidate.arm_type.rsplit_once('/');
    let parent = parent.map_or("", |(parent, _)| parent);
    let mut taken = found.values().map(|index| &candidates[*index].arm_type);
    !parent.contains('/') || taken.any(|it| it.eq_ignore_ascii_case(parent))
}

/// How well a candidate is what a kind wants, beyond its name.
fn rank(wanted: &Unmatched<'_>, candidate: &Candidate) -> (usize, std::cmp::Reverse<usize>, usize) {
    let members = candidate.members.iter();
    let shared = members.filter(|name| wanted.members.contains(name.as_str()));
    let versions = candidate.versions.intersection(&wanted.versions);
    let segments = candidate.arm_type.split('/').count();
    (
        versions.count(),
        std::cmp::Reverse(segments),
        shared.count(),
    )
}

/// What of a type a name is compared with.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Way {
    /// All of it.
    Whole,
    /// Its last segments: only below another kind, or there would be too many.
    End,
}

/// Whether a kind is named like a type.
type IsAlike = fn(&str, &Candidate) -> bool;

/// Ways to match, the best first.
const WAYS: [(Way, IsAlike); 5] = [
    (Way::Whole, |kind, candidate| {
        let mut kinds = candidate.kinds.iter();
        kinds.any(|proposed| proposed.eq_ignore_ascii_case(kind))
    }),
    (Way::Whole, |kind, candidate| {
        // The types of DNS records are no plurals: `NS`.
        let segments = candidate.arm_type.split('/').skip(1);
        let name: String = segments.map(pascal).collect();
        format!("{name}Record").eq_ignore_ascii_case(kind)
    }),
    (Way::Whole, |kind, candidate| {
        singulars(kind) == segments(candidate).concat()
    }),
    (Way::End, |kind, candidate| {
        let (kind, segments) = (singulars(kind), segments(candidate));
        (1..segments.len()).any(|from| segments[from..].concat() == kind)
    }),
    (Way::End, |kind, candidate| {
        let (kind, segments) = (singulars(kind), segments(candidate));
        let last = segments.last();
        last.is_some_and(|last| {
            last.ends_with(&kind) || last.starts_with(&kind) || kind.ends_with(last.as_str())
        })
    }),
];

/// The segments of a type, each of its words in the singular and in lower case.
fn segments(candidate: &Candidate) -> Vec<String> {
    let segments = candidate.arm_type.split('/').skip(1);
    segments
        .map(|segment| singulars(&pascal(segment)))
        .collect()
}

/// The words of a name in camel case, each in the singular, together and in lower case.
fn singulars(name: &str) -> String {
    let mut words: Vec<String> = Vec::new();
    let mut was_upper = true;
    for letter in name.chars() {
        if letter.is_ascii_uppercase() && !was_upper {
            words.push(String::new());
        }
        was_upper = letter.is_ascii_uppercase();
        match words.last_mut() {
            Some(word) => word.push(letter.to_ascii_lowercase()),
            None => words.push(letter.to_ascii_lowercase().to_string()),
        }
    }
    // What is no plural may lose a letter; it does on both sides.
    let singulars = words.iter().map(|word| singular(word));
    singulars
        .map(|word| word.trim_end_matches('s').to_owned())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn candidate(arm_type: &str, kind: &str, version: &str, members: &[&str]) -> Candidate {
        Candidate {
            arm_type: arm_type.to_owned(),
            kinds: [kind.to_owned()].into(),
            versions: [ApiVersion::new(version)].into(),
            members: members.iter().map(|name| (*name).to_owned()).collect(),
        }
    }

    #[test]
    fn names_tell_types_and_members_tell_those_apart_that_are_alike() {
        let v = "2023-01-01";
        let both = &["hostName", "weight"];
        let candidates = [
            candidate("P.N/dnsZones", "DnsZone", v, &[]),
            candidate("P.N/dnsZones/NS", "DnsZonesN", v, &[]),
            candidate("P.N/servers", "Server", v, &[]),
            candidate("P.N/servers/apis", "ServersApi", v, &[]),
            candidate("P.N/servers/apis/policies", "ServersApisPolicy", v, &[]),
            candidate("P.N/servers/policies", "ServersPolicy", v, &[]),
            candidate("P.N/other/policies", "OtherPolicy", v, &[]),
            candidate("P.N/ruleSets/links", "RuleSetsLink", v, &[]),
            candidate("P.N/servers/origins", "ServersOrigin", v, &["hostName"]),
            candidate("P.N/dnsZones/origins", "DnsZonesOrigin", v, both),
            candidate("P.N/appFirewallPolicies", "AppFirewallPolicy", v, &[]),
            candidate("P.N/old", "Old", "2019-01-01", &[]),
        ];
        let expected = [
            ("DnsZone", Some(0)),
            ("DNSZonesNSRecord", Some(1)),
            ("Server", Some(2)),
            ("ServerApi", Some(3)),
            ("ApiPolicy", Some(4)),
            ("Policy", Some(5)),
            ("RulesetsLink", Some(7)),
            ("AfdOrigin", Some(9)),
            ("FirewallPolicy", Some(10)),
            ("Old", None),
        ];
        let kinds = expected.map(|(kind, _)| {
            let versions = [ApiVersion::new(v)].into();
            let members = both.iter().copied().collect();
            (kind, Unmatched { versions, members })
        });
        let found = matched(&kinds.into(), &candidates);
        for (kind, index) in expected {
            assert_eq!(found.get(kind).copied(), index, "{kind}");
        }
    }
}
