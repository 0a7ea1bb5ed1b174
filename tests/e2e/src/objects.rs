//! Objects of one namespace, as a user sees them with kubectl.

use std::time::{Duration, Instant};

use armature_controlplane::waiting::until_ok;
use armature_runtime::kind::KindInfo;
use kube::Client;
use kube::api::{Api, ApiResource, DynamicObject, Patch, PatchParams};
use kube::core::GroupVersionKind;
use serde_json::Value;

/// Objects of one namespace.
#[derive(Clone)]
pub struct Objects {
    client: Client,
    namespace: String,
}

impl Objects {
    /// Objects of this namespace.
    pub fn new(client: Client, namespace: &str) -> Self {
        Self {
            client,
            namespace: namespace.to_owned(),
        }
    }

    /// The namespace.
    pub fn namespace(&self) -> &str {
        &self.namespace
    }

    /// Access to a kind at a version; the group comes from the kind.
    pub fn api(&self, kind: &str, version: &str) -> Api<DynamicObject> {
        let info = kind_info(kind);
        let gvk = GroupVersionKind::gvk(info.group, version, info.kind);
        let resource = ApiResource::from_gvk_with_plural(&gvk, info.plural);
        Api::namespaced_with(self.client.clone(), &self.namespace, &resource)
    }

    /// Applies a manifest in YAML, as `kubectl apply --server-side` does.
    pub async fn apply(&self, manifest: &str) -> kube::Result<DynamicObject> {
        let manifest = serde_saphyr::from_str(manifest).expect("the manifest is YAML");
        self.apply_value(&manifest).await
    }

    /// Applies a manifest, as `kubectl apply --server-side` does.
    pub async fn apply_value(&self, manifest: &Value) -> kube::Result<DynamicObject> {
        let text = |pointer: &str| {
            manifest
                .pointer(pointer)
                .and_then(Value::as_str)
                .expect(pointer)
        };
        let (group, version) = text("/apiVersion").split_once('/').expect("group/version");
        let group = group.split('.').next().unwrap_or_default();
        let api = self.api(&format!("{group}/{}", text("/kind")), version);
        let parameters = PatchParams::apply("test").force();
        api.patch(
            text("/metadata/name"),
            &parameters,
            &Patch::Apply(&manifest),
        )
        .await
    }

    /// Merges into the stored status of an object, as the operator would write it.
    pub async fn patch_stored_status(
        &self,
        kind: &str,
        object: &DynamicObject,
        status: Value,
    ) -> kube::Result<()> {
        let api = self.api(kind, kind_info(kind).hub.storage_version);
        let name = object.metadata.name.as_deref().unwrap_or_default();
        let patch = Patch::Merge(serde_json::json!({ "status": status }));
        api.patch_status(name, &PatchParams::default(), &patch)
            .await
            .map(drop)
    }

    /// Reads an object at a version.
    pub async fn get(&self, kind: &str, version: &str, name: &str) -> kube::Result<Value> {
        let object = self.api(kind, version).get(name).await?;
        Ok(serde_json::to_value(object).expect("an object is JSON"))
    }

    /// Begins the deletion of an object.
    pub async fn delete(&self, kind: &str, name: &str) -> kube::Result<()> {
        let api = self.api(kind, newest(kind));
        api.delete(name, &Default::default()).await.map(drop)
    }

    /// Waits until the object's `Ready` condition satisfies the predicate; returns the condition and how long it
    /// took. Panics with the last state when it never does.
    pub async fn wait_ready(
        &self,
        kind: &str,
        name: &str,
        predicate: impl Fn(&Value) -> bool,
    ) -> (Value, Duration) {
        let started = Instant::now();
        let what = format!("{kind} {name} to be as expected");
        let ready = until_ok(&what, async || {
            let object = self.get(kind, newest(kind), name).await;
            let object = object.map_err(|error| error.to_string())?;
            let ready = condition(&object, "Ready");
            match predicate(&ready) {
                true => Ok(ready),
                false => Err(format!("{object:#}")),
            }
        });
        (ready.await, started.elapsed())
    }

    /// Waits until the object does not exist; how long it took.
    pub async fn wait_gone(&self, kind: &str, name: &str) -> Duration {
        let started = Instant::now();
        until_ok(&format!("the end of {kind} {name}"), async || {
            match self.get(kind, newest(kind), name).await {
                Err(kube::Error::Api(status)) if status.is_not_found() => Ok(()),
                Err(error) => Err(error.to_string()),
                Ok(object) => Err(format!("{object:#}")),
            }
        })
        .await;
        started.elapsed()
    }
}

/// A condition of an object by its type; null when there is none.
pub fn condition(object: &Value, condition_type: &str) -> Value {
    object
        .pointer("/status/conditions")
        .and_then(Value::as_array)
        .and_then(|conditions| {
            conditions
                .iter()
                .find(|condition| condition["type"] == condition_type)
        })
        .cloned()
        .unwrap_or_default()
}

/// The descriptor of a kind: `StorageAccount`, or `kusto/Database` and `kusto.azure.com/Database` where several groups
/// have one of the name.
pub fn kind_info(kind: &str) -> &'static KindInfo {
    let (group, kind) = match kind.split_once('/') {
        Some((group, kind)) => (Some(group), kind),
        None => (None, kind),
    };
    let is_wanted = |info: &&&KindInfo| {
        info.kind == kind && group.is_none_or(|group| [info.category, info.group].contains(&group))
    };
    let found: Vec<_> = armature_generated::KINDS.iter().filter(is_wanted).collect();
    match found[..] {
        [info] => info,
        [] => panic!("there is no kind {kind}"),
        _ => panic!("several groups have a kind {kind}: say which, as in `kusto/{kind}`"),
    }
}

fn newest(kind: &str) -> &'static str {
    let info = kind_info(kind);
    info.served_unasked()
        .next_back()
        .expect("a kind has versions")
        .name
}
