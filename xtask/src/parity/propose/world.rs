//! A group with the lines that its curation file has, or would have, and what differs then from the target.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::Context;
use armature_generator::{
    crd::definitions,
    curate::curate_anyway,
    curation::{GroupConfig, Problem},
    load::SpecRoot,
    model::{ApiVersion, Group, ObjectType, TypeDef, TypeId, Version, reachable},
    naming::endings::STATUS,
    pipeline,
};

use crate::parity::compare::{self, Aspect, Compared};
use crate::parity::reasons::{self, Reason};
use crate::parity::schema::{self, Facts, Versions};

/// A path that differs.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Key {
    /// Kind.
    pub kind: String,
    /// Served version.
    pub version: String,
    /// The path, or the member of a definition.
    pub path: String,
}

/// Paths that differ.
pub type Differing = BTreeSet<Key>;

/// Where a line may change something.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Reach {
    /// These kinds.
    pub kinds: BTreeSet<String>,
    /// These api-versions; all when there are none.
    pub versions: BTreeSet<ApiVersion>,
    /// Served versions of kinds; all of the kinds when there are none.
    served: BTreeSet<(String, String)>,
}

impl Reach {
    /// Everything about a kind.
    pub fn of_kind(kind: &str) -> Self {
        Self {
            kinds: BTreeSet::from([kind.to_owned()]),
            ..Self::default()
        }
    }

    /// Whether it has a served version of a kind.
    pub fn has(&self, kind: &str, version: &str) -> bool {
        let pair = || (kind.to_owned(), version.to_owned());
        self.kinds.contains(kind) && (self.served.is_empty() || self.served.contains(&pair()))
    }
}

/// What a group comes to.
pub struct Seen {
    /// The curated group.
    pub group: Group,
    /// Its CRDs.
    pub ours: schema::Group,
    /// What differs.
    pub differing: Differing,
    /// What is wrong with the file.
    pub problems: Vec<Problem>,
}

/// What lines are tried on.
pub struct World<'w> {
    specs: &'w SpecRoot,
    /// The curation file, for messages.
    pub path: String,
    /// The group before curation. Without api-versions that are served on request: the target never has them, and no line
    /// is to be narrowed for their sake.
    pub described: Group,
    /// What to come to.
    pub target: schema::Group,
    /// Why some of it is otherwise, and is to stay so.
    reasons: &'w [Reason],
    reaches: BTreeMap<String, Reach>,
}

impl<'w> World<'w> {
    /// The world of a curation file.
    pub fn new(
        specs: &'w SpecRoot,
        path: &str,
        text: &str,
        (target, reasons): (schema::Group, &'w [Reason]),
    ) -> anyhow::Result<Self> {
        let (described, reaches) = read(specs, path, text)?;
        Ok(Self {
            specs,
            path: path.to_owned(),
            described,
            target,
            reasons,
            reaches,
        })
    }

    /// Reads the specs anew, for a file that says otherwise how they are to be read.
    pub fn reread(&mut self, text: &str) -> anyhow::Result<()> {
        (self.described, self.reaches) = read(self.specs, &self.path, text)?;
        Ok(())
    }

    /// The group with this file. With a `reach`, only that part of it, by the specs as they were read last.
    pub fn look(&self, text: &str, reach: Option<&Reach>) -> anyhow::Result<Seen> {
        let config = GroupConfig::parse(self.path.as_str(), text)?;
        let described = match reach {
            Some(reach) => self.part(reach),
            None => pipeline::described_group(self.specs, &config)?,
        };
        let (group, problems) = curate_anyway(described, &config);
        let is_wanted = |kind: &str| reach.is_none_or(|reach| reach.kinds.contains(kind));
        let crds = definitions(&group, |resource| is_wanted(&resource.kind))?;
        let mut ours = schema::read_crds(&crds)?;
        let ours = ours.remove(&group.api_group).unwrap_or_default();
        Ok(Seen {
            differing: self.differing(&ours, reach),
            group,
            ours,
            problems,
        })
    }

    /// What differs for a reason.
    pub fn explained(&self, seen: &Seen) -> Differing {
        let compared = compare::group(&seen.group.api_group, &seen.ours, &self.target);
        let explanation = reasons::explain(self.reasons, &compared);
        let open = explanation.unexplained.iter();
        let open = open.flat_map(|(version, finding)| {
            keys_of(version, finding.aspect, &finding.path, &seen.differing)
        });
        let open: Differing = open.collect();
        seen.differing.difference(&open).cloned().collect()
    }

    /// Whether the generator takes the file.
    pub fn check(&self, text: &str) -> anyhow::Result<()> {
        let config = GroupConfig::parse(self.path.as_str(), text)?;
        pipeline::curated_group(self.specs, &config)
            .map(|_| ())
            .with_context(|| format!("{} cannot be applied", self.path))
    }

    /// Where rules under this name of a type may change something.
    pub fn reach(&self, type_name: &str) -> Option<&Reach> {
        self.reaches.get(type_name)
    }

    /// Whether a kind is exported from an api-version, written without dashes.
    pub fn has(&self, kind: &str, date: &str) -> bool {
        let reach = self.reaches.get(kind);
        reach.is_some_and(|reach| {
            reach
                .versions
                .iter()
                .any(|version| version.compact() == date)
        })
    }

    fn part(&self, reach: &Reach) -> Group {
        let versions = self.described.versions.iter();
        let versions = versions
            .filter(|(version, _)| reach.versions.is_empty() || reach.versions.contains(version));
        Group {
            name: self.described.name.clone(),
            api_group: self.described.api_group.clone(),
            versions: versions
                .map(|(name, it)| (name.clone(), it.clone()))
                .collect(),
            errors: Vec::new(),
            values: std::collections::BTreeMap::new(),
        }
    }

    fn differing(&self, ours: &schema::Group, reach: Option<&Reach>) -> Differing {
        let none = Versions::new();
        let mut differing = Differing::new();
        for (kind, ours) in ours {
            let theirs = self.target.get(kind).unwrap_or(&none);
            let names: BTreeSet<&String> = ours.keys().chain(theirs.keys()).collect();
            let names = names.into_iter();
            for name in names.filter(|name| reach.is_none_or(|reach| reach.has(kind, name))) {
                let key = |path: &str| Key {
                    kind: kind.clone(),
                    version: name.clone(),
                    path: path.to_owned(),
                };
                let paths = sides(ours.get(name), theirs.get(name));
                differing.extend(paths.into_iter().map(key));
            }
        }
        differing
    }
}

/// The paths of a version that differ.
fn sides<'a>(
    ours: Option<&'a schema::Version>,
    theirs: Option<&'a schema::Version>,
) -> Vec<&'a str> {
    let paths = |version: Option<&'a schema::Version>| version.map(|version| &version.paths);
    let (Some(left), Some(right)) = (paths(ours), paths(theirs)) else {
        let only = paths(ours).or(paths(theirs));
        return only.map_or_else(Vec::new, |only| only.keys().map(String::as_str).collect());
    };
    let mut differing: Vec<&str> = left
        .iter()
        .filter(|(path, facts)| right.get(*path).is_none_or(|other| !agree(facts, other)))
        .map(|(path, _)| path.as_str())
        .collect();
    let missing = right.keys().filter(|path| !left.contains_key(*path));
    differing.extend(missing.map(String::as_str));
    let plural = |version: Option<&'a schema::Version>| {
        version.and_then(|version| version.definition.get(PLURAL))
    };
    if plural(ours) != plural(theirs) {
        differing.push(PLURAL);
    }
    differing
}

/// The member of a definition that a line can change.
pub const PLURAL: &str = "names.plural";

fn agree(ours: &Facts, theirs: &Facts) -> bool {
    let facts = |it: &Facts| (it.value_type.clone(), it.required);
    facts(ours) == facts(theirs) && ours.allowed == theirs.allowed
}

/// The paths that a finding stands for.
fn keys_of(compared: &Compared, aspect: Aspect, path: &str, seen: &Differing) -> Vec<Key> {
    let key = |path: &str| Key {
        kind: compared.kind.clone(),
        version: compared.version.clone(),
        path: path.to_owned(),
    };
    match aspect {
        Aspect::Limits => Vec::new(),
        Aspect::Version => {
            let is_own = |it: &&Key| (&it.kind, &it.version) == (&compared.kind, &compared.version);
            seen.iter().filter(is_own).cloned().collect()
        }
        _ => vec![key(path)],
    }
}

/// The group before curation, and where rules may change something.
fn read(
    specs: &SpecRoot,
    path: &str,
    text: &str,
) -> anyhow::Result<(Group, BTreeMap<String, Reach>)> {
    let config = GroupConfig::parse(path, text)?;
    let mut described = pipeline::described_group(specs, &config)?;
    // What is wrong with the file may be what lines are lacking.
    let (group, _) = curate_anyway(described.clone(), &config);
    let versions = &mut described.versions;
    versions.retain(|version, _| !config.is_only_on_request(version));
    let reaches = reaches(&described, &group);
    Ok((described, reaches))
}

/// By each name that rules may use for a type, the kinds and versions that reach it.
fn reaches(described: &Group, curated: &Group) -> BTreeMap<String, Reach> {
    let mut reaches = BTreeMap::<String, Reach>::new();
    for (api_version, version) in &described.versions {
        let Some(known) = curated.versions.get(api_version) else {
            continue;
        };
        for resource in &version.resources {
            let mut exported = known.resources.iter();
            let Some(exported) = exported.find(|it| it.arm_type == resource.arm_type) else {
                continue;
            };
            let mut names = BTreeSet::from([exported.kind.clone()]);
            for id in reachable(&version.types, [&resource.spec, &resource.status]) {
                names.extend(type_names(version, &id));
            }
            for name in names {
                let reach = reaches.entry(name).or_default();
                reach.kinds.insert(exported.kind.clone());
                reach.versions.insert(api_version.clone());
                let served = exported.version_names.iter();
                let served = served.map(|name| (exported.kind.clone(), name.clone()));
                reach.served.extend(served);
            }
        }
    }
    reaches
}

/// The object behind an id.
pub fn object<'v>(version: &'v Version, id: &TypeId) -> Option<&'v ObjectType> {
    match version.types.get(id)? {
        TypeDef::Object(object) => Some(object),
        TypeDef::Enum(_) => None,
    }
}

/// The names that rules may use for a type that is no root, the widest first.
pub fn type_names(version: &Version, id: &TypeId) -> Vec<String> {
    let definition = object(version, id).and_then(|object| object.definition.clone());
    let word = id.word().strip_suffix(STATUS).unwrap_or(id.word());
    let mut names: Vec<String> = definition.into_iter().collect();
    for name in [word, id.word()] {
        if !names.iter().any(|known| known == name) {
            names.push(name.to_owned());
        }
    }
    names
}
