//! Which ARM type a kind stands for: CRDs do not say, so names tell, and where several types could be meant, how many of
//! the kind's api-versions and members each has.

use std::cmp::Reverse;
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
/// own is not taken for another one's; of types that are alike, one whose parent is a kind, too, then a short one, and then
/// one whose parent's name begins like the kind's. `known` are kinds of which it is said what they stand for.
pub(in crate::propose) fn matched(
    kinds: &BTreeMap<&str, Unmatched<'_>>,
    candidates: &[Candidate],
    known: BTreeMap<String, usize>,
) -> BTreeMap<String, usize> {
    let mut found = known;
    for (way, is_alike) in WAYS {
        // A kind may have its parent from another one of the same way, so what is above comes first.
        loop {
            let best = best(way, is_alike, kinds, candidates, &found);
            let depth = |index: usize| candidates[index].arm_type.split('/').count();
            let Some(least) = best.iter().map(|(_, index)| depth(*index)).min() else {
                break;
            };
            for (kind, index) in best {
                if depth(index) == least && !found.values().any(|taken| *taken == index) {
                    found.insert(kind, index);
                }
            }
        }
    }
    found
}

/// What a kind of a group would stand for, had the candidate the api-versions that are asked for, and whether it has that name.
pub(in crate::propose) fn elsewhere(
    group: &str,
    kind: &str,
    candidates: &[Candidate],
    found: &BTreeMap<String, usize>,
) -> Option<(usize, bool)> {
    // The last word of a group may be in the name: `network.frontdoor`.
    let of_group = group.rsplit_once('.').map(|(_, word)| word);
    let whole = of_group.map(|word| format!("{word}{}", singulars(kind)));
    let is_it = |it: &Candidate| segments(it).last() == whole.as_ref();
    if let Some(index) = candidates.iter().position(is_it) {
        return Some((index, true));
    }
    let versions = candidates.iter().flat_map(|it| it.versions.clone());
    let anywhere = Unmatched {
        versions: versions.collect(),
        ..Unmatched::default()
    };
    let kinds = [(kind, anywhere)].into();
    let mut ways = WAYS.into_iter();
    ways.find_map(|(way, is_alike)| {
        let best = best(way, is_alike, &kinds, candidates, found);
        let (_, index) = best.into_iter().next()?;
        Some((index, way == Way::Whole))
    })
}

/// The kinds that have a candidate, each with its best one.
fn best(
    way: Way,
    is_alike: IsAlike,
    kinds: &BTreeMap<&str, Unmatched<'_>>,
    candidates: &[Candidate],
    found: &BTreeMap<String, usize>,
) -> Vec<(String, usize)> {
    let open = kinds.iter().filter(|(kind, _)| !found.contains_key(**kind));
    let matches = open.filter_map(|(kind, wanted)| {
        let free = candidates.iter().enumerate().filter(|(index, candidate)| {
            !found.values().any(|taken| taken == index)
                && !candidate.versions.is_disjoint(&wanted.versions)
                && is_alike(kind, candidate)
        });
        let free = free.map(|(index, it)| (has_parent(it, candidates, found), index, it));
        let free = free.filter(|(has_parent, ..)| *has_parent || way == Way::Whole);
        let best = free.max_by_key(|(has_parent, _, it)| {
            let parent = parent_kind(it, candidates, found);
            (*has_parent, rank((kind, wanted), it, parent))
        });
        best.map(|(_, index, _)| ((*kind).to_owned(), index))
    });
    matches.collect()
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

/// The kind that the type above stands for.
fn parent_kind<'f>(
    candidate: &Candidate,
    candidates: &[Candidate],
    found: &'f BTreeMap<String, usize>,
) -> Option<&'f str> {
    let (parent, _) = candidate.arm_type.rsplit_once('/')?;
    let is_it = |index: usize| candidates[index].arm_type.eq_ignore_ascii_case(parent);
    let mut kinds = found.iter();
    kinds.find_map(|(kind, index)| is_it(*index).then_some(kind.as_str()))
}

/// How well a candidate is what a kind wants, beyond its name: in api-versions, in length, in words that the kind shares with
/// that of its parent, in members.
fn rank(
    (kind, wanted): (&str, &Unmatched<'_>),
    candidate: &Candidate,
    parent: Option<&str>,
) -> (usize, Reverse<usize>, usize, usize) {
    let members = candidate.members.iter();
    let shared = members.filter(|name| wanted.members.contains(name.as_str()));
    let versions = candidate.versions.intersection(&wanted.versions);
    let segments = candidate.arm_type.split('/').count();
    let (own, above) = (words(kind), parent.map(words).unwrap_or_default());
    let alike = own.iter().zip(&above).take_while(|(own, it)| own == it);
    (
        versions.count(),
        Reverse(segments),
        alike.count(),
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
    // What is no plural may lose a letter; it does on both sides.
    let words = words(name);
    let singulars = words.iter().map(|word| singular(word));
    singulars
        .map(|word| word.trim_end_matches('s').to_owned())
        .collect()
}

/// The words of a name in camel case, in lower case.
fn words(name: &str) -> Vec<String> {
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
    words
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
        let found = matched(&kinds.into(), &candidates, BTreeMap::new());
        for (kind, index) in expected {
            assert_eq!(found.get(kind).copied(), index, "{kind}");
        }
    }

    #[test]
    fn the_type_of_another_api_version_is_the_one_of_that_name() {
        let candidates = [
            candidate("P.N/firewallPolicies", "FirewallPolicy", "2022-01-01", &[]),
            candidate(
                "P.N/FrontDoorWebFirewallPolicies",
                "FrontDoorWebFirewallPolicy",
                "2020-01-01",
                &[],
            ),
            candidate("P.N/locks", "Lock", "2020-01-01", &[]),
        ];
        let elsewhere =
            |group: &str, kind: &str| super::elsewhere(group, kind, &candidates, &BTreeMap::new());
        let kind = "WebFirewallPolicy";
        assert_eq!(elsewhere("network.frontdoor", kind), Some((1, true)));
        assert_eq!(elsewhere("network", "Lock"), Some((2, true)));
        let (_, is_it) = elsewhere("network", kind).unwrap();
        assert!(!is_it, "a name that only ends so");
    }

    #[test]
    fn a_child_is_below_the_kind_whose_name_begins_like_its_own() {
        let v = "2023-01-01";
        let both = &["hostName", "weight"];
        let candidates = [
            candidate("P.N/profiles", "Profile", v, &[]),
            candidate("P.N/profiles/endpoints", "ProfilesEndpoint", v, &[]),
            candidate("P.N/profiles/endpoints/origins", "Origin1", v, both),
            candidate("P.N/profiles/originGroups", "OriginGroup", v, &[]),
            candidate("P.N/profiles/originGroups/origins", "Origin2", v, &[]),
            candidate("P.N/profiles/waypoints", "Waypoint", v, &[]),
            candidate("P.N/profiles/waypoints/secrets", "Secret1", v, &[]),
        ];
        let kinds = ["AfdOrigin", "AfdOriginGroup", "Profile", "ProfilesEndpoint"];
        let unmatched = || Unmatched {
            versions: [ApiVersion::new(v)].into(),
            members: both.iter().copied().collect(),
        };
        let kinds = kinds.into_iter().chain(["Lock"]);
        let kinds: BTreeMap<&str, Unmatched<'_>> = kinds.map(|kind| (kind, unmatched())).collect();
        let found = matched(&kinds, &candidates, BTreeMap::new());
        assert_eq!(found["AfdOriginGroup"], 3);
        assert_eq!(found["AfdOrigin"], 4);
        // A file says what no name tells.
        let said = BTreeMap::from([("Lock".to_owned(), 3)]);
        let found = matched(&kinds, &candidates, said);
        assert_eq!(found["Lock"], 3);
        assert_eq!(found.get("AfdOriginGroup"), None);
    }
}
