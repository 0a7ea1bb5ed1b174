//! Compares our kinds with the target's, version by version and path by path. Pure.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::AddAssign;

use serde::Serialize;

use super::schema::{Definition, Facts, Group, Paths, Version, Versions};

/// One version of a kind that we have, compared.
#[derive(Clone, Debug, Serialize)]
pub struct Compared {
    /// API group.
    pub group: String,
    /// Kind.
    pub kind: String,
    /// Version.
    pub version: String,
    /// Who has the version.
    pub presence: Presence,
    /// Paths below `spec`.
    pub spec: Counts,
    /// Paths below `status`.
    pub status: Counts,
    /// Everything that is not equal.
    pub findings: Vec<Finding>,
}

/// Who has a version.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Presence {
    /// Both.
    Both,
    /// The target alone: all of its paths count as missing.
    OnlyTarget,
    /// We alone: there is nothing to compare with.
    OnlyOurs,
}

/// How many paths agree.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Counts {
    /// Paths of the target.
    pub total: usize,
    /// Of these, those that we have.
    pub present: usize,
    /// Of these, those with the target's type.
    pub same_type: usize,
    /// Of those we have, those with the target's enum values, allowed or known.
    pub same_enum: usize,
    /// Of those we have, those with the target's required flag.
    pub same_required: usize,
    /// Those that agree in all three: parity.
    pub matched: usize,
    /// Of those we have, those with the target's pattern, format, bounds and lengths. Not part of `matched`.
    pub same_limits: usize,
    /// Paths that only we have.
    pub extra: usize,
}

impl AddAssign for Counts {
    fn add_assign(&mut self, other: Self) {
        self.total += other.total;
        self.present += other.present;
        self.same_type += other.same_type;
        self.same_enum += other.same_enum;
        self.same_required += other.same_required;
        self.matched += other.matched;
        self.same_limits += other.same_limits;
        self.extra += other.extra;
    }
}

/// Something that is not equal.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// Which of its sides differs.
    pub aspect: Aspect,
    /// The path; empty for a whole version.
    pub path: String,
    /// What differs: ours against the target's.
    pub what: String,
}

/// What can differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Aspect {
    /// Only one side has the version.
    Version,
    /// Names and printer columns.
    Definition,
    /// Only the target has the path.
    Missing,
    /// The type.
    Type,
    /// The enum values.
    Enum,
    /// The required flag.
    Required,
    /// Pattern, format, bounds and lengths.
    Limits,
    /// Only we have the path.
    Extra,
}

/// Compares our kinds of a group with the target's. Kinds that we do not have are not looked at.
pub fn group(name: &str, ours: &Group, target: &Group) -> Vec<Compared> {
    let none = Versions::new();
    let mut compared = Vec::new();
    for (kind, ours) in ours {
        let theirs = target.get(kind).unwrap_or(&none);
        let names: BTreeSet<&String> = ours.keys().chain(theirs.keys()).collect();
        for version in names {
            let (presence, counts, findings) = sides(ours.get(version), theirs.get(version));
            compared.push(Compared {
                group: name.to_owned(),
                kind: kind.clone(),
                version: version.clone(),
                presence,
                spec: counts[0],
                status: counts[1],
                findings,
            });
        }
    }
    compared
}

/// Compares one version, as far as there are two of it; counts of spec and status.
fn sides(
    ours: Option<&Version>,
    target: Option<&Version>,
) -> (Presence, [Counts; 2], Vec<Finding>) {
    let finding = |what: String| Finding {
        aspect: Aspect::Version,
        path: String::new(),
        what,
    };
    match (ours, target) {
        (Some(ours), Some(target)) => {
            let mut findings = definition(&ours.definition, &target.definition);
            let counts = paths(&ours.paths, &target.paths, &mut findings);
            (Presence::Both, counts, findings)
        }
        (Some(ours), None) => {
            let what = format!("only ours, with {} paths", ours.paths.len());
            let findings = vec![finding(what)];
            (Presence::OnlyOurs, Default::default(), findings)
        }
        (None, target) => {
            let none = Paths::new();
            let target = target.map_or(&none, |version| &version.paths);
            // One finding for the version, not one for each of its paths.
            let counts = paths(&none, target, &mut Vec::new());
            let what = format!("not ours, {} paths missing", target.len());
            (Presence::OnlyTarget, counts, vec![finding(what)])
        }
    }
}

fn definition(ours: &Definition, target: &Definition) -> Vec<Finding> {
    let names: BTreeSet<&String> = ours.keys().chain(target.keys()).collect();
    let shown = |side: &Definition, name: &str| {
        side.get(name)
            .map_or_else(|| "nothing".into(), ToString::to_string)
    };
    names
        .into_iter()
        .filter(|name| ours.get(*name) != target.get(*name))
        .map(|name| Finding {
            aspect: Aspect::Definition,
            path: name.clone(),
            what: format!("{}, expected {}", shown(ours, name), shown(target, name)),
        })
        .collect()
}

/// Compares the paths of one version; counts of spec and status.
fn paths(ours: &Paths, target: &Paths, findings: &mut Vec<Finding>) -> [Counts; 2] {
    let mut counts = [Counts::default(); 2];
    for (path, expected) in target {
        let counts = &mut counts[side(path)];
        counts.total += 1;
        let Some(facts) = ours.get(path) else {
            findings.push(Finding {
                aspect: Aspect::Missing,
                path: path.clone(),
                what: "missing".to_owned(),
            });
            continue;
        };
        let differences = differences(facts, expected);
        let same = |aspect| usize::from(!differences.contains_key(&aspect));
        let [same_type, same_enum, same_required] =
            [Aspect::Type, Aspect::Enum, Aspect::Required].map(same);
        counts.present += 1;
        counts.same_type += same_type;
        counts.same_enum += same_enum;
        counts.same_required += same_required;
        counts.matched += same_type * same_enum * same_required;
        counts.same_limits += same(Aspect::Limits);
        findings.extend(differences.into_iter().map(|(aspect, what)| Finding {
            aspect,
            path: path.clone(),
            what,
        }));
    }
    for path in ours.keys().filter(|path| !target.contains_key(*path)) {
        counts[side(path)].extra += 1;
        findings.push(Finding {
            aspect: Aspect::Extra,
            path: path.clone(),
            what: "only ours".to_owned(),
        });
    }
    counts
}

/// Index of the counts that a path belongs to: 0 for spec, 1 for status.
fn side(path: &str) -> usize {
    usize::from(path == "status" || path.starts_with("status."))
}

/// What differs, in words.
fn differences(ours: &Facts, target: &Facts) -> BTreeMap<Aspect, String> {
    let mut found = BTreeMap::new();
    if ours.value_type != target.value_type {
        let name = |facts: &Facts| {
            let name = facts.value_type.clone();
            name.unwrap_or_else(|| "anything".to_owned())
        };
        let what = format!("type {}, expected {}", name(ours), name(target));
        found.insert(Aspect::Type, what);
    }
    if ours.told() != &target.allowed {
        found.insert(Aspect::Enum, enum_difference(ours, target));
    }
    if ours.required != target.required {
        let what = match ours.required {
            true => "required, expected optional",
            false => "optional, expected required",
        };
        found.insert(Aspect::Required, what.to_owned());
    }
    if ours.limits != target.limits {
        found.insert(Aspect::Limits, limits_difference(ours, target));
    }
    found
}

fn enum_difference(ours: &Facts, target: &Facts) -> String {
    let beyond = |these: &Facts, those: &Facts| {
        let values: Vec<_> = these.told().difference(those.told()).cloned().collect();
        values.join(", ")
    };
    match (ours.told().is_empty(), target.allowed.is_empty()) {
        (true, _) => "no enum, expected one".to_owned(),
        (_, true) => "an enum, expected none".to_owned(),
        _ => format!(
            "enum lacks [{}], has beyond [{}]",
            beyond(target, ours),
            beyond(ours, target)
        ),
    }
}

impl Facts {
    /// The values that a schema names. The target closes every list; ours are closed where the spec closes them, and the same
    /// list is meant all the same.
    fn told(&self) -> &BTreeSet<String> {
        match self.allowed.is_empty() {
            true => &self.known,
            false => &self.allowed,
        }
    }
}

fn limits_difference(ours: &Facts, target: &Facts) -> String {
    let keywords: BTreeSet<_> = ours.limits.keys().chain(target.limits.keys()).collect();
    let shown = |facts: &Facts, keyword: &str| {
        let value = facts.limits.get(keyword);
        value.map_or_else(|| "none".to_owned(), ToString::to_string)
    };
    let differences: Vec<String> = keywords
        .into_iter()
        .filter(|keyword| ours.limits.get(*keyword) != target.limits.get(*keyword))
        .map(|keyword| {
            let (ours, target) = (shown(ours, keyword), shown(target, keyword));
            format!("{keyword} {ours}, expected {target}")
        })
        .collect();
    differences.join("; ")
}

#[cfg(test)]
mod tests;
