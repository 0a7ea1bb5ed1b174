//! What may settle differences of a kind as a whole: its exports, its names and its versions.

use std::collections::{BTreeMap, BTreeSet};

use armature_generator::curation::{EnvelopeWord, Naming, Side};
use armature_generator::model::ApiVersion;
use toml::{Table, Value};

use super::candidate::{Candidate, statement};
use super::member::members;
use super::site::served;
use super::world::{Differing, PLURAL, Seen, World};
use crate::parity::schema::Versions;

/// `operatorSpec` of any spec.
pub const OPERATOR_SPEC: &str = "spec.operatorSpec";
/// What is exported: member of `operatorSpec`, key of a curation file.
const EXPORTS: [(&str, &str); 2] = [("secrets", "secrets"), ("configMaps", "config-maps")];

/// What to try for kinds, of those that something is open of.
pub fn candidates(world: &World<'_>, seen: &Seen, open: &Differing) -> Vec<Candidate> {
    let kinds: BTreeSet<&String> = open.iter().map(|key| &key.kind).collect();
    let mut found = Vec::new();
    for kind in kinds {
        let (Some(ours), Some(target)) = (seen.ours.get(kind), world.target.get(kind)) else {
            continue;
        };
        let kind = Kind {
            name: kind,
            seen,
            ours,
            target,
        };
        found.extend(
            EXPORTS
                .iter()
                .filter_map(|(member, key)| kind.exports(member, key)),
        );
        found.extend(kind.plural());
        found.extend(kind.naming());
        found.extend(kind.versions());
        found.extend(kind.envelope());
    }
    found
}

struct Kind<'a> {
    name: &'a str,
    seen: &'a Seen,
    ours: &'a Versions,
    target: &'a Versions,
}

impl Kind<'_> {
    fn candidate(&self, options: Vec<Vec<(String, Value)>>) -> Option<Candidate> {
        (!options.is_empty()).then(|| Candidate {
            tables: vec![format!("kinds.{}", self.name)],
            options,
            places: BTreeSet::new(),
            part: None,
            is_deep: false,
        })
    }

    /// Keys of exports that are lacking, and the api-versions that have them.
    fn exports(&self, member: &str, key: &str) -> Option<Candidate> {
        let path = format!("{OPERATOR_SPEC}.{member}");
        let mut lacking = BTreeMap::<&str, BTreeSet<&ApiVersion>>::new();
        let mut all = BTreeSet::new();
        for (version, target) in self.target {
            let Some((api_version, _, _)) = served(self.seen, self.name, version) else {
                continue;
            };
            all.insert(api_version);
            let ours = self
                .ours
                .get(version)
                .map(|ours| members(&ours.paths, &path));
            let ours = ours.unwrap_or_default();
            for name in members(&target.paths, &path).difference(&ours) {
                lacking.entry(name).or_default().insert(api_version);
            }
        }
        let having: BTreeSet<&ApiVersion> = lacking.values().flatten().copied().collect();
        let table = lacking
            .keys()
            .map(|name| ((*name).to_owned(), self.source(name, key)));
        let places: Table = table.collect();
        if places.is_empty() {
            return None;
        }
        let mut option = vec![(key.to_owned(), Value::Table(places))];
        let mut options = vec![option.clone()];
        if having.first() != all.first() {
            let first = having.first().map(|first| Value::from(first.as_str()))?;
            option.push((format!("{key}-from"), first));
            options.push(option.clone());
        }
        if having.last() != all.last() {
            let last = having.last().map(|last| Value::from(last.as_str()))?;
            option.push((format!("{key}-until"), last));
            options.push(option);
        }
        self.candidate(options)
    }

    /// Where the value of an export may be: in the status, if that has something of its name, else nobody knows.
    fn source(&self, name: &str, key: &str) -> Value {
        let mut paths = self.ours.values().flat_map(|version| version.paths.keys());
        let found = paths.find_map(|path| {
            let path = path.strip_prefix("status.")?;
            (path.replace('.', "").eq_ignore_ascii_case(name)).then_some(path)
        });
        match (found, key) {
            (Some(path), "secrets") => Value::Table(statement("status", path)),
            (None, "secrets") => Value::Table(Table::new()),
            (found, _) => Value::from(found.unwrap_or_default()),
        }
    }

    fn plural(&self) -> Option<Candidate> {
        let plural = |versions: &Versions| {
            let mut versions = versions.values();
            versions.find_map(|it| it.definition.get(PLURAL)?.as_str().map(str::to_owned))
        };
        let target =
            plural(self.target).filter(|target| Some(target) != plural(self.ours).as_ref())?;
        self.candidate(vec![vec![("plural".to_owned(), Value::from(target))]])
    }

    /// Other names for the same api-versions.
    fn naming(&self) -> Option<Candidate> {
        let is_other = |name: &&String| !self.ours.contains_key(*name);
        let dates =
            |versions: &Versions| versions.keys().map(|name| date(name).to_owned()).collect();
        let ours: BTreeSet<String> = dates(self.ours);
        let mut others = self.target.keys().filter(is_other);
        others.find(|name| ours.contains(date(name)))?;
        let option = |word: &&str| vec![("naming".to_owned(), Value::from(*word))];
        self.candidate(Naming::WORDS.iter().map(option).collect())
    }

    /// `properties` that stays, where the target has it and here its members stand around it.
    fn envelope(&self) -> Option<Candidate> {
        let is_kept = self.target.iter().any(|(version, target)| {
            let ours = self.ours.get(version);
            let mut paths = target.paths.keys();
            paths.any(|path| {
                path.ends_with(".properties")
                    && ours.is_some_and(|ours| !ours.paths.contains_key(path))
            })
        });
        if !is_kept {
            return None;
        }
        let words = EnvelopeWord::WORDS.iter();
        let option = |word: &&str| vec![("envelope".to_owned(), Value::from(*word))];
        let mut candidate = self.candidate(words.map(option).collect())?;
        candidate.is_deep = true;
        Some(candidate)
    }

    /// Fewer api-versions.
    fn versions(&self) -> Option<Candidate> {
        let dates: BTreeSet<&str> = self.target.keys().map(|name| date(name)).collect();
        let is_wanted = |version: &&ApiVersion| dates.contains(version.compact().as_str());
        let exported = self.seen.group.versions.iter().filter(|(_, version)| {
            let mut resources = version.resources.iter();
            resources.any(|it| it.kind == self.name && !it.is_on_request)
        });
        let exported: Vec<&ApiVersion> = exported.map(|(version, _)| version).collect();
        let wanted: Vec<&ApiVersion> = exported
            .iter()
            .copied()
            .filter(|it| is_wanted(it))
            .collect();
        if wanted.len() == exported.len() || wanted.is_empty() {
            return None;
        }
        let list: Vec<Value> = wanted
            .iter()
            .map(|version| Value::from(version.as_str()))
            .collect();
        let mut candidate =
            self.candidate(vec![vec![("versions".to_owned(), Value::Array(list))]])?;
        candidate.places = wanted
            .into_iter()
            .map(|version| (Side::Spec, version.clone()))
            .collect();
        candidate.is_deep = true;
        Some(candidate)
    }
}

/// The api-version in the name of a served version, without dashes.
pub fn date(name: &str) -> &str {
    let name = name.strip_prefix('v').unwrap_or(name);
    name.strip_prefix("1api").unwrap_or(name)
}
