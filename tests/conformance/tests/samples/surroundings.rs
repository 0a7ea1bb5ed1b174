//! What a folder needs that no sample is: the credential of its subscription, and the Secrets and ConfigMaps that samples
//! of Azure Service Operator take for granted.

use std::collections::{BTreeMap, BTreeSet};

use armature_e2e::World;
use armature_exposure::random_value;
use armature_runtime::engine::collect;
use armature_runtime::names::NAMESPACE_CREDENTIAL;
use armature_simulator::Settings;
use serde_json::{Value, json};

use crate::folder::{Folder, Sample};

/// Value of every key of a ConfigMap: most are ids of identities, tenants and clients.
const ID: &str = "00000000-0000-0000-0000-000000000002";

/// The namespace's credential in the simulated Azure.
pub fn credential(folder: &Folder) -> Value {
    let mut secret = object("Secret", NAMESPACE_CREDENTIAL);
    secret["stringData"] = json!({
        "AZURE_SUBSCRIPTION_ID": folder.subscription,
        "AZURE_TENANT_ID": Settings::default().tenant,
        "AZURE_CLIENT_ID": "00000000-0000-0000-0000-00000000005a",
        "AZURE_CLIENT_SECRET": random_value(),
    });
    secret
}

/// Secrets and ConfigMaps that samples read and that neither a manifest has nor a sample writes.
pub fn inputs(folder: &Folder) -> Vec<Value> {
    let there = given(&folder.samples);
    let mut needed: BTreeMap<(&str, String), BTreeSet<String>> = BTreeMap::new();
    for sample in &folder.samples {
        let Some(version) = sample
            .kind
            .and_then(|kind| kind.version(sample.api_version().1))
        else {
            continue;
        };
        let inputs = collect::inputs(version.spec, &sample.value["spec"]);
        for (kind, keys) in [
            ("Secret", &inputs.secrets),
            ("ConfigMap", &inputs.config_maps),
        ] {
            for used in keys {
                let entry = needed.entry((kind, used.target.name.clone())).or_default();
                entry.insert(used.target.key.clone());
            }
        }
        for used in &inputs.secret_maps {
            needed.entry(("Secret", used.target.clone())).or_default();
        }
    }
    let missing = needed
        .into_iter()
        .filter(|((_, name), _)| !there.contains(name));
    missing
        .map(|((kind, name), keys)| filled(kind, &name, keys))
        .collect()
}

fn filled(kind: &str, name: &str, keys: BTreeSet<String>) -> Value {
    let mut object = object(kind, name);
    let (member, value) = match kind {
        "Secret" => ("stringData", random_value()),
        _ => ("data", ID.to_owned()),
    };
    let keys = keys
        .into_iter()
        .map(|key| (key, Value::from(value.clone())));
    object[member] = Value::Object(keys.collect());
    object
}

fn object(kind: &str, name: &str) -> Value {
    json!({"apiVersion": "v1", "kind": kind, "metadata": {"name": name}})
}

/// Names of Secrets and ConfigMaps that are among the manifests, or that a sample writes.
fn given(samples: &[Sample]) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    for sample in samples {
        match sample.kind {
            None => drop(names.insert(sample.name().to_owned())),
            Some(_) => names_in(&sample.value["spec"]["operatorSpec"], &mut names),
        }
    }
    names
}

fn names_in(value: &Value, names: &mut BTreeSet<String>) {
    match value {
        Value::Array(items) => items.iter().for_each(|item| names_in(item, names)),
        Value::Object(members) => {
            names.extend(
                members
                    .get("name")
                    .and_then(Value::as_str)
                    .map(str::to_owned),
            );
            members.values().for_each(|member| names_in(member, names));
        }
        _ => {}
    }
}

/// Applies a Secret or ConfigMap.
pub async fn apply(world: &World, folder: &Folder, object: &Value) -> kube::Result<()> {
    let kind = object["kind"].as_str().unwrap_or_default();
    let name = object["metadata"]["name"].as_str().unwrap_or_default();
    crate::course::apply_object(world, &folder.namespace, ("", "v1"), kind, name, object).await
}
