//! Every recorded answer to a GET of one of our kinds, imported, and what is wrong with the manifest.
//!
//! An import must not change Azure, and an empty manifest would not. So there are three questions: would the operator change
//! anything, does the API server take the manifest, and does its PUT say whatever Azure's answer says and a PUT can say? The
//! last is asked by a walk of its own over the answer, which shares nothing with the import but the tables.
//!
//! | module | what lives here |
//! |---|---|
//! | [`defaults`] | what Azure's spec files say to be the default of a property |
//! | [`writable`] | what an answer says that a PUT could say as well, and a body does not |
//! | [`planned`] | `armature plan` over the manifests, with the recorded answers for Azure |
//! | [`strict`] | a real API server with the CRDs, and strict validation |
//! | [`page`] | the result as a page of the book |

pub mod defaults;
pub mod page;
pub mod planned;
pub mod strict;
pub mod writable;

use std::collections::{BTreeMap, BTreeSet};

use armature::descriptions::Descriptions;
use armature::import::defaults::leave_out;
use armature::import::{self, Draft, Imported, Resource, Wanted};
use armature_generated::KINDS;
use armature_runtime::engine::collect::{ReferenceTarget, inputs};
use armature_runtime::engine::compare::Comparison;
use armature_runtime::engine::payload::{Resolved, arm_body};
use armature_runtime::id::ResourceId;
use armature_runtime::kind::{KindInfo, VersionInfo};
use percent_encoding::percent_decode_str;
use serde_json::Value;

use self::defaults::SpecDefaults;
use self::writable::missing;
use crate::data::Recording;
use crate::run;

/// Namespace of all manifests.
pub const NAMESPACE: &str = "import";

/// A resource that was recorded, and what is wrong with its import.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// Recording.
    pub recording: String,
    /// Short name of the kind's group.
    pub group: String,
    /// Kind.
    pub kind: &'static str,
    /// The version that it was asked for in.
    pub version: &'static str,
    /// Its id.
    pub id: String,
    /// What is wrong, each as `what: where`, without values.
    pub problems: BTreeSet<String>,
    /// Places of values that the manifest does not have, and that Azure's spec says to be the default there.
    pub defaults: BTreeSet<String>,
}

/// One recording, imported as a whole.
#[derive(Debug)]
pub struct Import {
    /// Recording.
    pub recording: String,
    /// What became of each resource.
    pub outcomes: Vec<Outcome>,
    /// The manifests.
    pub imported: Vec<Imported>,
    /// Answers by path and api-version, for whoever asks again.
    pub answers: BTreeMap<(String, String), Value>,
}

/// Imports what a recording shows: of each resource the last good answer, in the api-version that it was asked for in.
pub fn import(recording: &Recording, defaults: &SpecDefaults) -> Import {
    let answers = answers(recording);
    let mut outcomes = BTreeMap::new();
    let mut drafts: Vec<Draft> = Vec::new();
    for ((path, api_version), body) in &answers {
        let Some((id, kind, version)) = of(path, api_version) else {
            continue;
        };
        let mut outcome = Outcome {
            recording: recording.name.clone(),
            group: run::short(kind.group).to_owned(),
            kind: kind.kind,
            version: version.name,
            id: id.as_str().to_owned(),
            problems: BTreeSet::new(),
            defaults: BTreeSet::new(),
        };
        let resource = Resource {
            id: id.clone(),
            kind,
            version,
            body: body.clone(),
        };
        match import::draft(resource) {
            Ok(mut draft) => {
                leave_out(&mut draft, &Descriptions::shared(kind.group));
                drafts.push(draft);
            }
            Err(why) => {
                outcome.problems.insert(format!("not imported: {why}"));
            }
        }
        outcomes.insert(id.as_str().to_lowercase(), outcome);
    }
    let bodies = bodies(&drafts);
    let wanted = Wanted {
        namespace: Some(NAMESPACE.to_owned()),
        ..Wanted::default()
    };
    let imported = import::manifests(drafts, &wanted);
    for one in &imported {
        let key = one.id.as_str().to_lowercase();
        if let (Some(outcome), Some(answer)) = (outcomes.get_mut(&key), bodies.get(&key)) {
            let found = problems(one, answer, &imported);
            judge(outcome, one, found, answer.version, defaults);
        }
    }
    Import {
        recording: recording.name.clone(),
        outcomes: outcomes.into_values().collect(),
        imported,
        answers,
    }
}

/// The answers that drafts were made of, by id in lower case.
fn bodies(drafts: &[Draft]) -> BTreeMap<String, Answer> {
    let resources = drafts.iter().map(|draft| &draft.resource);
    resources
        .map(|resource| {
            let id = resource.id.as_str().to_lowercase();
            let answer = Answer {
                kind: resource.kind,
                version: resource.version,
                body: resource.body.clone(),
            };
            (id, answer)
        })
        .collect()
}

/// What is missing in the PUT is a problem, unless Azure would set it by itself.
fn judge(
    outcome: &mut Outcome,
    imported: &Imported,
    found: Found,
    version: &VersionInfo,
    defaults: &SpecDefaults,
) {
    outcome.problems.extend(found.problems);
    let arm_type = imported.id.arm_type();
    for (place, values) in found.missing {
        match defaults.are(&place, &values, &arm_type, version.sources) {
            true => outcome.defaults.insert(place),
            false => outcome.problems.insert(format!("not in the PUT: {place}")),
        };
    }
}

/// The last good answer to a GET of each URL.
fn answers(recording: &Recording) -> BTreeMap<(String, String), Value> {
    let mut answers = BTreeMap::new();
    for exchange in &recording.exchanges {
        if exchange.method != "GET" || exchange.status != 200 || !exchange.response.is_object() {
            continue;
        }
        let Some((path, query)) = exchange.url.split_once('?') else {
            continue;
        };
        let mut parameters = query.split('&');
        let version = parameters.find_map(|part| part.strip_prefix("api-version="));
        if let Some(version) = version {
            let path = percent_decode_str(path).decode_utf8_lossy();
            let key = (path.to_lowercase(), version.to_owned());
            answers.insert(key, exchange.response.clone());
        }
    }
    answers
}

/// What a URL is of.
fn of(
    path: &str,
    api_version: &str,
) -> Option<(ResourceId, &'static KindInfo, &'static VersionInfo)> {
    let id = ResourceId::parse(path).ok()?;
    let kind = KINDS.iter().find(|kind| id.has_type(kind.remote_type()))?;
    let mut versions = kind.versions.iter();
    let version = versions.find(|version| version.api_version == api_version)?;
    Some((id, kind, version))
}

/// What one manifest came to.
#[derive(Default)]
struct Found {
    problems: BTreeSet<String>,
    /// What the PUT does not have, by place.
    missing: BTreeMap<String, Vec<Value>>,
}

/// What Azure answered of a resource.
struct Answer {
    kind: &'static KindInfo,
    version: &'static VersionInfo,
    body: Value,
}

fn problems(imported: &Imported, answer: &Answer, all: &[Imported]) -> Found {
    let version = answer.version;
    let mut found = Found::default();
    let spec = &imported.manifest["spec"];
    let resolved = resolved(version, spec, all);
    let body = match arm_body(version, imported.id.name(), spec, &resolved) {
        Ok(body) => body,
        Err(error) => {
            found.problems.insert(format!("no PUT: {error}"));
            return found;
        }
    };
    let comparison = Comparison {
        equal_values: answer.kind.equal_values,
        ..Comparison::new(version.spec, &body, &answer.body)
    };
    for difference in comparison.differences() {
        let problem = format!("would change: {}", difference.schema_path);
        found.problems.insert(problem);
    }
    found.missing = missing(version, &answer.body, &body);
    found
}

/// What the operator would find for all that a spec names.
fn resolved(version: &VersionInfo, spec: &Value, all: &[Imported]) -> Resolved {
    let mut resolved = Resolved::default();
    let used = inputs(version.spec, spec);
    for used in used.references {
        if let ReferenceTarget::Named { group, kind, name } = &used.target {
            let target = all.iter().find(|one| {
                (one.name.group, one.name.kind) == (group, kind) && one.name.name == *name
            });
            if let Some(target) = target {
                let id = target.id.as_str().to_owned();
                resolved.references.insert(used.target, id);
            }
        }
    }
    for used in used.secrets {
        resolved.secrets.insert(used.target, "secret".to_owned());
    }
    for used in used.secret_maps {
        let values = [("key".to_owned(), "secret".to_owned())].into();
        resolved.secret_maps.insert(used.target, values);
    }
    resolved
}
