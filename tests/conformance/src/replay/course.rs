//! The course of one recording: apply its manifests, wait for Ready, delete the objects.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::{Context, Result};
use armature::render::manifest::Document;
use armature_e2e::{Objects, condition};
use armature_exposure::random_value;
use armature_generated::KINDS;
use armature_runtime::engine::collect;
use armature_runtime::id::ResourceId;
use armature_runtime::kind::KindInfo;
use armature_runtime::names::RESOURCE_ID;
use futures::future::try_join_all;
use kube::api::DeleteParams;
use serde_json::Value;

use super::azure::Counts;
use super::world::{ObjectName, World};
use crate::data::{Exchange, Recording};
use crate::{renaming, run};

/// What became of a recording.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outcome {
    /// Recording.
    pub recording: String,
    /// Objects that were applied.
    pub objects: usize,
    /// Samples that the recorded test did not apply, as `Kind name`.
    pub not_recorded: Vec<String>,
    /// Writes that Azure had taken from the peer.
    pub recorded: Counts,
    /// Writes that it took from the operator.
    pub sent: Counts,
    /// What did not go as it should.
    pub problems: Vec<String>,
}

/// How an object ended.
enum End {
    Ready,
    /// It will never be ready by itself.
    Stuck(String),
}

/// What the problem of an object ends with that is not applied.
pub const LEFT_OUT: &str = ": left out";

/// Brings everything that the recorded test applied to Ready, step by step, and deletes it in the recorded order.
///
/// Objects of `left_out`, as `Kind name`, are not applied, and told as a problem: what was recorded of them cannot be
/// answered to an operator that asks otherwise.
///
/// # Errors
/// When the API server refuses what no test should have sent it.
pub async fn run(
    world: &World,
    index: usize,
    recording: &Recording,
    left_out: &[String],
) -> Result<Outcome> {
    let objects = world.namespace(index, recording).await?;
    let mut applied: Vec<Document> = Vec::new();
    let is_left_out = |document: &Document| {
        let name = name(&document.value);
        left_out.contains(&format!("{} {}", name.kind, name.name))
    };
    let mut problems: Vec<String> = left_out
        .iter()
        .map(|object| format!("{object}{LEFT_OUT}"))
        .collect();
    let mut is_stuck = false;
    let mut not_recorded = BTreeSet::new();
    let mut secrets = BTreeSet::new();
    for mut documents in run::manifests(recording)? {
        not_recorded.append(&mut drop_not_recorded(&mut documents, &recording.exchanges));
        documents.retain(|document| !is_left_out(document));
        give_secrets(world, objects.namespace(), &documents, &mut secrets).await?;
        let changed = apply(&objects, &applied, &documents).await?;
        for (name, generation) in &changed {
            match end(world, name, *generation).await {
                Ok(End::Ready) => {}
                Ok(End::Stuck(why)) => {
                    is_stuck = true;
                    problems.push(why);
                }
                Err(error) => problems.push(format!("{} {}: {error:#}", name.kind, name.name)),
            }
        }
        applied = documents;
    }
    world.keep(objects.namespace());
    if let Err(error) = delete(world, &objects, &applied, &recording.exchanges).await {
        problems.push(format!("{error:#}"));
    }
    let mut found = world.azure().problems(index);
    // What is stuck may be tried once more before it is deleted, and of that nothing was recorded. Twice is a loop.
    if let Some(again) = found.iter().position(|it| is_stuck && is_another_try(it)) {
        found.remove(again);
    }
    problems.append(&mut found);
    problems.dedup();
    let (recorded, sent) = world.azure().writes(index);
    Ok(Outcome {
        recording: recording.name.clone(),
        objects: applied.len(),
        not_recorded: not_recorded.into_iter().collect(),
        recorded,
        sent,
        problems,
    })
}

/// Kind of a manifest.
fn kind(manifest: &Value) -> Option<&'static KindInfo> {
    let name = name(manifest);
    let mut kinds = KINDS.iter();
    let kind = kinds.find(|kind| (kind.group, kind.kind) == (&name.group, &name.kind))?;
    Some(kind)
}

/// Drops the manifests of types of which nothing was recorded; their names.
fn drop_not_recorded(documents: &mut Vec<Document>, exchanges: &[Exchange]) -> BTreeSet<String> {
    let dropped = documents.extract_if(.., |document| !is_recorded(&document.value, exchanges));
    dropped
        .map(|document| name(&document.value))
        .map(|name| format!("{} {}", name.kind, name.name))
        .collect()
}

/// Whether anything was asked about any resource of an object's type. Folders have samples that the recorded test did not
/// apply; what Azure would have answered to them nobody knows.
fn is_recorded(manifest: &Value, exchanges: &[Exchange]) -> bool {
    let Some(kind) = kind(manifest) else {
        return false;
    };
    exchanges.iter().any(|exchange| {
        let id = ResourceId::parse(renaming::path(&exchange.url));
        id.is_ok_and(|id| id.has_type(kind.remote_type()))
    })
}

/// Creates the Secrets that the objects take something from, each once.
async fn give_secrets(
    world: &World,
    namespace: &str,
    documents: &[Document],
    given: &mut BTreeSet<String>,
) -> Result<()> {
    for (name, keys) in missing_secrets(documents) {
        if given.insert(name.clone()) {
            world.give(namespace, &name, keys).await?;
        }
    }
    Ok(())
}

/// Secrets that the objects take something from and that none of them writes, with their keys and values. Recordings have
/// no secrets: each value is a mark that stands for any text, made long enough to be searched for.
fn missing_secrets(documents: &[Document]) -> BTreeMap<String, BTreeMap<String, String>> {
    let mut missing: BTreeMap<String, BTreeMap<String, String>> = BTreeMap::new();
    for document in documents {
        let api_version = document.value["apiVersion"].as_str().unwrap_or_default();
        let version = api_version.rsplit('/').next().unwrap_or_default();
        let Some(version) = kind(&document.value).and_then(|kind| kind.version(version)) else {
            continue;
        };
        let inputs = collect::inputs(version.spec, &document.value["spec"]);
        let keys = inputs.secrets.into_iter().map(|used| used.target);
        let keys = keys.map(|target| (target.name, target.key));
        let whole = inputs.secret_maps.into_iter().map(|used| used.target);
        for (name, key) in keys.chain(whole.map(|name| (name, "key".to_owned()))) {
            let mark = format!("${{secret:{name}/{key}}}{}", random_value());
            missing.entry(name).or_default().insert(key, mark);
        }
    }
    for document in documents {
        let written = document.value.pointer("/spec/operatorSpec/secrets");
        for target in written.and_then(Value::as_object).into_iter().flatten() {
            missing.remove(target.1["name"].as_str().unwrap_or_default());
        }
    }
    missing
}

fn is_another_try(problem: &str) -> bool {
    problem.starts_with("PUT ") && problem.ends_with(": nothing more was recorded")
}

/// Applies what is new; names and generations.
async fn apply(
    objects: &Objects,
    applied: &[Document],
    documents: &[Document],
) -> Result<Vec<(ObjectName, i64)>> {
    let is_new = |document: &&Document| !applied.iter().any(|old| old.value == document.value);
    let mut changed = Vec::new();
    for document in documents.iter().filter(is_new) {
        let mut manifest = document.value.clone();
        manifest["metadata"]["namespace"] = objects.namespace().into();
        drop_public_secrets(&mut manifest);
        let name = name(&manifest);
        let applying = objects.apply_value(&manifest).await;
        let object = applying.with_context(|| format!("applying {name:?}"))?;
        changed.push((name, object.metadata.generation.unwrap_or_default()));
    }
    Ok(changed)
}

/// Drops expressions that write a value of the object into a Secret: everybody reads it there, so the search for secrets
/// would find it.
fn drop_public_secrets(manifest: &mut Value) {
    let expressions = manifest.pointer_mut("/spec/operatorSpec/secretExpressions");
    if let Some(expressions) = expressions.and_then(Value::as_array_mut) {
        let is_public = |value: &str| value.starts_with("self.");
        expressions.retain(|expression| !expression["value"].as_str().is_some_and(is_public));
    }
}

fn name(object: &Value) -> ObjectName {
    let text = |pointer: &str| {
        let text = object.pointer(pointer).and_then(Value::as_str);
        text.unwrap_or_default().to_owned()
    };
    let api_version = text("/apiVersion");
    let (group, _) = api_version.split_once('/').unwrap_or_default();
    ObjectName {
        namespace: text("/metadata/namespace"),
        group: group.to_owned(),
        kind: text("/kind"),
        name: text("/metadata/name"),
    }
}

/// Waits until an object is ready, or the operator has given up on it.
async fn end(world: &World, name: &ObjectName, generation: i64) -> Result<End> {
    let mut last = Value::Null;
    let waited = world.wait(|states| {
        last = condition(states.get(name)?, "Ready");
        if last["observedGeneration"].as_i64()? < generation {
            return None;
        }
        let reason = last["reason"].as_str().unwrap_or_default();
        match (last["status"].as_str()?, last["severity"].as_str()) {
            ("True", _) => Some(End::Ready),
            (_, Some("Error")) => {
                Some(End::Stuck(format!("{} {}: {reason}", name.kind, name.name)))
            }
            _ => None,
        }
    });
    let ended = waited.await;
    ended.with_context(|| format!("not ready: {last}"))
}

/// Deletes what was applied: one after the other the objects whose deletion Azure took when it was recorded, in that
/// order, and then together those that were gone by then.
async fn delete(
    world: &World,
    objects: &Objects,
    applied: &[Document],
    exchanges: &[Exchange],
) -> Result<()> {
    let mut all = Vec::new();
    for document in applied {
        let name = ObjectName {
            namespace: objects.namespace().to_owned(),
            ..name(&document.value)
        };
        let object = world.wait(|states| states.get(&name).cloned()).await?;
        all.push((deletion(&object, exchanges), name, document));
    }
    all.sort_by_key(|(at, ..)| *at);
    let (rest, deleted): (Vec<_>, Vec<_>) = all.into_iter().partition(|(at, ..)| at.is_none());
    for (_, name, document) in deleted {
        delete_one(world, objects, &name, document).await?;
    }
    let rest = rest.iter();
    try_join_all(rest.map(|(_, name, document)| delete_one(world, objects, name, document)))
        .await?;
    Ok(())
}

/// Where in the recording Azure took the deletion of an object.
fn deletion(object: &Value, exchanges: &[Exchange]) -> Option<usize> {
    let id = object["metadata"]["annotations"][RESOURCE_ID].as_str()?;
    let id = ResourceId::parse(id).ok()?;
    exchanges.iter().position(|exchange| {
        exchange.method == "DELETE"
            && exchange.status < 300
            && renaming::path(&exchange.url).eq_ignore_ascii_case(id.as_str())
    })
}

/// Deletes an object in the version of its manifest, as `kubectl delete -f` does, and waits until it is gone.
async fn delete_one(
    world: &World,
    objects: &Objects,
    name: &ObjectName,
    document: &Document,
) -> Result<()> {
    let api_version = document.value["apiVersion"].as_str().unwrap_or_default();
    let version = api_version.rsplit('/').next().unwrap_or_default();
    let group = name.group.split('.').next().unwrap_or_default();
    let api = objects.api(&format!("{group}/{}", name.kind), version);
    api.delete(&name.name, &DeleteParams::default()).await?;
    let mut last = Value::Null;
    let gone = world.wait(|states| match states.get(name) {
        Some(object) => {
            last = condition(object, "Ready");
            None
        }
        None => Some(()),
    });
    let gone = gone.await;
    gone.with_context(|| format!("{} {} is not deleted: {last}", name.kind, name.name))
}
