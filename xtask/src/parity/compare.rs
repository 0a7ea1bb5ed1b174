//! Compares kinds, versions and paths. Pure.

use std::collections::BTreeMap;

use serde::Serialize;

use super::{
    schema::{Facts, Paths, Versions},
    target,
};

/// One kind that we have.
#[derive(Debug, PartialEq, Eq, Serialize)]
pub struct Kind {
    /// API group.
    pub group: String,
    /// Name.
    pub kind: String,
    /// Versions that both have.
    pub versions: BTreeMap<String, Version>,
    /// Versions of this kind that only the target has.
    pub missing_versions: Vec<String>,
    /// Versions that only we have.
    pub extra_versions: Vec<String>,
}

/// One version that both have.
#[derive(Debug, Default, PartialEq, Eq, Serialize)]
pub struct Version {
    /// Paths below `spec`.
    pub spec: Side,
    /// Paths below `status`.
    pub status: Side,
}

/// Spec or status.
#[derive(Debug, Default, PartialEq, Eq, Serialize)]
pub struct Side {
    /// Paths of the target that we have with the same facts.
    pub matched: usize,
    /// Paths of the target.
    pub total: usize,
    /// Paths that only the target has.
    pub missing: Vec<String>,
    /// Paths that both have with different facts.
    pub different: Vec<Difference>,
    /// Paths that only we have.
    pub extra: Vec<String>,
}

/// A path with different facts.
#[derive(Debug, PartialEq, Eq, Serialize)]
pub struct Difference {
    /// The path.
    pub path: String,
    /// What differs: ours against the target's.
    pub what: String,
}

/// Compares our kinds of a group with the target's.
pub fn group(name: &str, ours: &BTreeMap<String, Versions>, target: &target::Group) -> Vec<Kind> {
    let none = Versions::new();
    ours.iter()
        .map(|(kind, ours)| {
            let theirs = target.get(kind).unwrap_or(&none);
            let both = ours.iter().filter_map(|(version, ours)| {
                let theirs = theirs.get(version)?;
                Some((version.clone(), compare(ours, theirs)))
            });
            Kind {
                group: name.to_owned(),
                kind: kind.clone(),
                versions: both.collect(),
                missing_versions: only_in(theirs, ours),
                extra_versions: only_in(ours, theirs),
            }
        })
        .collect()
}

fn only_in(these: &Versions, those: &Versions) -> Vec<String> {
    let missing = these.keys().filter(|name| !those.contains_key(*name));
    missing.cloned().collect()
}

fn compare(ours: &Paths, theirs: &Paths) -> Version {
    let mut version = Version::default();
    for (path, target) in theirs {
        let side = version.side(path);
        side.total += 1;
        match ours.get(path).map(|facts| differences(facts, target)) {
            None => side.missing.push(path.clone()),
            Some(what) if what.is_empty() => side.matched += 1,
            Some(what) => side.different.push(Difference {
                path: path.clone(),
                what,
            }),
        }
    }
    for path in ours.keys().filter(|path| !theirs.contains_key(*path)) {
        version.side(path).extra.push(path.clone());
    }
    version
}

impl Version {
    fn side(&mut self, path: &str) -> &mut Side {
        if path == "status" || path.starts_with("status.") {
            &mut self.status
        } else {
            &mut self.spec
        }
    }
}

/// What differs, in words; empty if nothing does.
fn differences(ours: &Facts, target: &Facts) -> String {
    let mut found = Vec::new();
    if ours.value_type != target.value_type {
        let name = |facts: &Facts| {
            facts
                .value_type
                .clone()
                .unwrap_or_else(|| "anything".into())
        };
        found.push(format!("type {}, expected {}", name(ours), name(target)));
    }
    if ours.allowed != target.allowed {
        let missing: Vec<_> = target.allowed.difference(&ours.allowed).cloned().collect();
        let extra: Vec<_> = ours.allowed.difference(&target.allowed).cloned().collect();
        found.push(match (ours.allowed.is_empty(), target.allowed.is_empty()) {
            (true, _) => "no enum, expected one".to_owned(),
            (_, true) => "an enum, expected none".to_owned(),
            _ => format!(
                "enum lacks [{}], has beyond [{}]",
                missing.join(", "),
                extra.join(", ")
            ),
        });
    }
    if ours.required != target.required {
        let name = |facts: &Facts| {
            if facts.required {
                "required"
            } else {
                "optional"
            }
        };
        found.push(format!("{}, expected {}", name(ours), name(target)));
    }
    found.join("; ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn facts(value_type: &str, allowed: &[&str], required: bool) -> Facts {
        Facts {
            value_type: (!value_type.is_empty()).then(|| value_type.to_owned()),
            allowed: allowed.iter().map(|value| (*value).to_owned()).collect(),
            required,
        }
    }

    #[test]
    fn says_what_differs() {
        let string = facts("string", &[], false);
        let table = [
            (facts("string", &[], false), string.clone(), ""),
            (
                facts("integer", &[], true),
                string.clone(),
                "type integer, expected string; required, expected optional",
            ),
            (
                facts("", &[], false),
                string.clone(),
                "type anything, expected string",
            ),
            (
                facts("string", &["a"], false),
                string.clone(),
                "an enum, expected none",
            ),
            (
                string,
                facts("string", &["a"], false),
                "no enum, expected one",
            ),
            (
                facts("string", &["a", "c"], false),
                facts("string", &["a", "b"], false),
                "enum lacks [b], has beyond [c]",
            ),
        ];
        for (ours, target, expected) in table {
            assert_eq!(differences(&ours, &target), expected);
        }
    }

    #[test]
    fn counts_by_side_and_lists_versions() {
        let paths = |names: &[&str]| -> Paths {
            let path = |name: &&str| ((*name).to_owned(), facts("string", &[], false));
            names.iter().map(path).collect()
        };
        let ours = BTreeMap::from([(
            "Thing".to_owned(),
            Versions::from([
                ("v1".to_owned(), paths(&["spec.a", "spec.ours", "status.x"])),
                ("v9".to_owned(), paths(&[])),
            ]),
        )]);
        let target = target::Group::from([(
            "Thing".to_owned(),
            Versions::from([
                (
                    "v1".to_owned(),
                    paths(&["spec.a", "spec.theirs", "status.x"]),
                ),
                ("v2".to_owned(), paths(&[])),
            ]),
        )]);
        let kinds = group("a.azure.com", &ours, &target);
        let version = &kinds[0].versions["v1"];
        assert_eq!((version.spec.matched, version.spec.total), (1, 2));
        assert_eq!((version.status.matched, version.status.total), (1, 1));
        assert_eq!(version.spec.missing, ["spec.theirs"]);
        assert_eq!(version.spec.extra, ["spec.ours"]);
        assert_eq!(kinds[0].missing_versions, ["v2"]);
        assert_eq!(kinds[0].extra_versions, ["v9"]);
    }
}
