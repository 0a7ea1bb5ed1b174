//! The samples of every kind, each folder in a namespace and a subscription of its own, and what Azure Service Operator makes of
//! their objects.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use armature::render::manifest;
use armature_controlplane::waiting::until_ok;
use armature_runtime::engine::collect;
use armature_runtime::kind::KindInfo;
use armature_simulator::{ConnectionDecision, Settings, Simulator};
use futures::{StreamExt, TryStreamExt};
use kube::Client;
use kube::api::{Api, ApiResource, DynamicObject, ListParams, Patch, PatchParams, PostParams};
use kube::core::GroupVersionKind;
use serde_json::{Map, Value, json};

use super::NAMESPACE;

/// Requests to the API server at a time.
const AT_ONCE: usize = 8;
/// Subscription that samples name where the reader's own belongs.
const PLACEHOLDER: &str = "/subscriptions/00000000-0000-0000-0000-000000000000";
/// What a Secret or ConfigMap that samples take for granted has: most are ids of identities, tenants and clients.
const ID: &str = "00000000-0000-0000-0000-000000000002";
/// What it writes about its release.
const RELEASE: &str = "v2.20.0";

/// The samples of a folder.
pub struct Folder {
    name: String,
    namespace: String,
    subscription: String,
    samples: Vec<Value>,
}

/// All samples.
pub fn folders() -> Vec<Folder> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../samples");
    let entries = std::fs::read_dir(root).unwrap();
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    // Tutorials have objects that are not Azure's.
    let is_tutorial = |path: &PathBuf| path.to_string_lossy().contains("/tutorial-");
    paths.retain(|path| path.is_dir() && !is_tutorial(path));
    paths.sort();
    let folders = paths.into_iter().enumerate();
    folders
        .map(|(number, path)| folder(number, &path))
        .collect()
}

fn folder(number: usize, path: &Path) -> Folder {
    let (documents, errors) = manifest::read(&[path.to_owned()]);
    assert!(errors.is_empty(), "{errors:?}");
    let folder = path.file_name().unwrap().to_str().unwrap();
    // Names of namespaces have no dots.
    let namespace = folder.replace('.', "-");
    let subscription = format!("5a3d1e50-0000-4000-8000-{number:012x}");
    let samples = documents.into_iter().map(|document| {
        let text = document.value.to_string();
        let text = text.replace(PLACEHOLDER, &format!("/subscriptions/{subscription}"));
        let mut value: Value = serde_json::from_str(&text).unwrap();
        value["metadata"]["namespace"] = namespace.clone().into();
        value
    });
    Folder {
        samples: samples.collect(),
        name: folder.to_owned(),
        namespace,
        subscription,
    }
}

/// Group, version and kind.
fn type_of(object: &Value) -> (&str, &str, &str) {
    let version = object["apiVersion"].as_str().unwrap();
    let (group, version) = version.split_once('/').unwrap_or(("", version));
    (group, version, object["kind"].as_str().unwrap())
}

fn info_of(object: &Value) -> Option<&'static KindInfo> {
    let (group, _, kind) = type_of(object);
    super::kind(group, kind)
}

fn name_of(object: &Value) -> &str {
    object["metadata"]["name"].as_str().unwrap()
}

impl Folder {
    /// Name of the folder.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Group, kind and version of what stands for something in Azure.
    pub fn versions(&self) -> impl Iterator<Item = (&str, &str, &str)> {
        let samples = self
            .samples
            .iter()
            .filter(|sample| info_of(sample).is_some());
        samples.map(|sample| {
            let (group, version, kind) = type_of(sample);
            (group, kind, version)
        })
    }

    /// Applies everything, with a namespace, a credential, and what the samples take for granted.
    pub async fn apply(&self, client: &Client, azure: &Simulator) {
        azure.add_subscription(&self.subscription);
        let namespace = json!({"metadata": {"name": self.namespace}});
        super::create(client, "", "v1", "Namespace", None, &namespace).await;
        let mut credential = data("Secret", "aso-credential");
        credential["stringData"] = json!({
            "AZURE_SUBSCRIPTION_ID": self.subscription,
            "AZURE_TENANT_ID": Settings::default().tenant,
            "AZURE_CLIENT_ID": "00000000-0000-0000-0000-00000000000a",
            "AZURE_CLIENT_SECRET": "for the simulator",
        });
        for object in [credential]
            .iter()
            .chain(&self.inputs())
            .chain(&self.samples)
        {
            self.apply_one(client, object).await;
        }
    }

    async fn apply_one(&self, client: &Client, object: &Value) {
        let (group, version, kind) = type_of(object);
        let gvk = GroupVersionKind::gvk(group, version, kind);
        let resource = match info_of(object) {
            Some(info) => ApiResource::from_gvk_with_plural(&gvk, info.plural),
            None => ApiResource::from_gvk(&gvk),
        };
        let api: Api<DynamicObject> =
            Api::namespaced_with(client.clone(), &self.namespace, &resource);
        let parameters = PatchParams::apply("test").force();
        // The API server may not serve it yet, or nothing converts it.
        until_ok(&format!("the API server to take {object}"), async || {
            let patch = Patch::Apply(object);
            api.patch(name_of(object), &parameters, &patch).await
        })
        .await;
    }

    /// Secrets and ConfigMaps that samples read and that neither a manifest has nor a sample writes.
    fn inputs(&self) -> Vec<Value> {
        let mut there = BTreeSet::new();
        let mut needed: BTreeMap<(&str, String), BTreeSet<String>> = BTreeMap::new();
        for sample in &self.samples {
            let Some(info) = info_of(sample) else {
                there.insert(name_of(sample).to_owned());
                continue;
            };
            names_in(&sample["spec"]["operatorSpec"], &mut there);
            let version = info.version(type_of(sample).1).unwrap();
            let inputs = collect::inputs(version.spec, &sample["spec"]);
            for (kind, keys) in [
                ("Secret", &inputs.secrets),
                ("ConfigMap", &inputs.config_maps),
            ] {
                for used in keys {
                    let entry = needed.entry((kind, used.target.name.clone()));
                    entry.or_default().insert(used.target.key.clone());
                }
            }
            for used in &inputs.secret_maps {
                needed.entry(("Secret", used.target.clone())).or_default();
            }
        }
        needed.retain(|(_, name), _| !there.contains(name));
        let missing = needed.into_iter().map(|((kind, name), keys)| {
            let mut object = data(kind, &name);
            let member = if kind == "Secret" {
                "stringData"
            } else {
                "data"
            };
            object[member] = keys.into_iter().map(|key| (key, json!(ID))).collect();
            object
        });
        missing.collect()
    }
}

fn data(kind: &str, name: &str) -> Value {
    json!({"apiVersion": "v1", "kind": kind, "metadata": {"name": name}})
}

fn names_in(value: &Value, names: &mut BTreeSet<String>) {
    match value {
        Value::Array(items) => items.iter().for_each(|item| names_in(item, names)),
        Value::Object(members) => {
            let name = members.get("name").and_then(Value::as_str);
            names.extend(name.map(str::to_owned));
            members.values().for_each(|member| names_in(member, names));
        }
        _ => {}
    }
}

/// Does what the owners of private link services do.
pub fn approve(azure: &Simulator) {
    let is_pending = |id: &String| {
        let is_endpoint = id.to_lowercase().contains("/privateendpoints/");
        let body = azure.resource(id).filter(|_| is_endpoint);
        body.is_some_and(|body| body.to_string().contains("\"Pending\""))
    };
    for endpoint in azure.ids().into_iter().filter(is_pending) {
        let decision = ConnectionDecision {
            endpoint,
            connection: None,
            status: "Approved".to_owned(),
            description: None,
        };
        azure.decide_connections(&decision).unwrap();
    }
}

fn stored(client: &Client, info: &KindInfo, namespace: Option<&str>) -> Api<DynamicObject> {
    let gvk = GroupVersionKind::gvk(info.group, info.hub.storage_version, info.kind);
    let resource = ApiResource::from_gvk_with_plural(&gvk, info.plural);
    match namespace {
        Some(namespace) => Api::namespaced_with(client.clone(), namespace, &resource),
        None => Api::all_with(client.clone(), &resource),
    }
}

/// Every object of these kinds as it is stored, by group, kind, namespace and name.
pub async fn objects(client: &Client, kinds: &[&'static KindInfo]) -> BTreeMap<String, Value> {
    let lists = kinds.iter().map(|info| async move {
        let list = stored(client, info, None)
            .list(&ListParams::default())
            .await?;
        let objects = list.items.into_iter().map(|object| {
            let mut object = serde_json::to_value(object).unwrap();
            object["apiVersion"] = json!(format!("{}/{}", info.group, info.hub.storage_version));
            object["kind"] = json!(info.kind);
            let metadata = &object["metadata"];
            let (namespace, name) = (metadata["namespace"].as_str(), name_of(&object));
            let key = format!("{}/{} {}/{name}", info.group, info.kind, namespace.unwrap());
            (key, object)
        });
        Ok::<_, kube::Error>(objects.collect::<Vec<_>>())
    });
    let lists = futures::stream::iter(lists).buffer_unordered(AT_ONCE);
    let lists: Vec<_> = lists.try_collect().await.unwrap();
    lists.into_iter().flatten().collect()
}

/// The `Ready` condition of an object.
pub fn ready(object: &Value) -> &Value {
    let conditions = object["status"]["conditions"]
        .as_array()
        .into_iter()
        .flatten();
    conditions
        .into_iter()
        .find(|condition| condition["type"] == "Ready")
        .unwrap_or(&Value::Null)
}

/// Whether it is what Azure Service Operator wrote that says so.
pub fn is_untouched(object: &Value) -> bool {
    object["metadata"]["labels"]["serviceoperator.azure.com/last-reconciled-version"] == RELEASE
}

/// Makes the objects what they are under Azure Service Operator: its annotations alone, its one condition, and its release.
pub async fn rewrite(client: &Client, kinds: &[&'static KindInfo]) {
    let objects = objects(client, kinds).await;
    let rewritten = objects.values().map(|object| async move {
        let info = info_of(object).unwrap();
        let api = stored(client, info, object["metadata"]["namespace"].as_str());
        let mut former = object.clone();
        as_former(&mut former);
        let (name, parameters) = (name_of(object), PostParams::default());
        let object = super::dynamic(&former);
        let replaced = api.replace(name, &parameters, &object).await?;
        former["metadata"]["resourceVersion"] = json!(replaced.metadata.resource_version);
        let object = super::dynamic(&former);
        api.replace_status(name, &parameters, &object).await?;
        Ok::<(), kube::Error>(())
    });
    let rewritten = futures::stream::iter(rewritten).buffer_unordered(AT_ONCE);
    rewritten.try_collect::<Vec<()>>().await.unwrap();
}

fn as_former(object: &mut Value) {
    let ready = ready(object).clone();
    let generation = object["metadata"]["generation"].clone();
    let metadata = object["metadata"].as_object_mut().unwrap();
    metadata.remove("managedFields");
    let labels = metadata.entry("labels").or_insert_with(|| json!({}));
    labels["serviceoperator.azure.com/last-reconciled-version"] = json!(RELEASE);
    let annotations = metadata
        .get_mut("annotations")
        .and_then(Value::as_object_mut);
    let annotations = annotations.unwrap();
    annotations.retain(|name, _| !name.starts_with("armature.azure.com/"));
    let generation_of = "serviceoperator.azure.com/latest-reconciled-generation";
    annotations.insert(generation_of.to_owned(), json!(generation.to_string()));
    let status = object["status"].as_object_mut().unwrap();
    status.remove("observedGeneration");
    status.insert("conditions".to_owned(), json!([ready]));
}

/// What of an object is the user's, Azure's or of both operators, and so is the same after any change of operators.
pub fn lasting(object: &Value) -> Value {
    let metadata = &object["metadata"];
    let annotations = metadata["annotations"].as_object().unwrap().iter();
    let annotations = annotations.filter(|(name, _)| !name.starts_with("armature.azure.com/"));
    let annotations: Map<_, _> = annotations
        .map(|(name, value)| (name.clone(), value.clone()))
        .collect();
    let mut status = object["status"].clone();
    let members = status.as_object_mut().unwrap();
    members.retain(|name, _| name != "conditions" && name != "observedGeneration");
    json!({
        "spec": object["spec"], "status": status, "annotations": annotations, "uid": metadata["uid"],
        "finalizers": metadata["finalizers"], "ownerReferences": metadata["ownerReferences"],
        "generation": metadata["generation"],
    })
}

/// Waits until all objects are ready and say so by themselves.
pub async fn wait_ready(
    client: &Client,
    kinds: &[&'static KindInfo],
    azure: &Simulator,
    first: bool,
) {
    until_ok("all objects to be ready", async || {
        if first {
            approve(azure);
        }
        let all = objects(client, kinds).await;
        let left = all.iter().filter(|(_, object)| {
            let is_done = first || !is_untouched(object);
            !is_done || ready(object)["status"] != "True"
        });
        let left: Vec<String> = left
            .map(|(name, object)| format!("{name}: {}", ready(object)))
            .collect();
        match left.is_empty() {
            true => Ok(()),
            false => Err(format!("{left:#?}")),
        }
    })
    .await;
}

/// Removes what the first operator has left of itself.
pub async fn forget_first_operator(client: &Client) {
    for (group, version, kind) in [("", "v1", "Secret"), ("coordination.k8s.io", "v1", "Lease")] {
        let api = super::resource(client, group, version, kind, Some(NAMESPACE));
        let parameters = (Default::default(), ListParams::default());
        api.delete_collection(&parameters.0, &parameters.1)
            .await
            .unwrap();
    }
}
