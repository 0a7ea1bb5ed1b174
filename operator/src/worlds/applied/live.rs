//! What runs in a cluster. Only reads are sent.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use armature_runtime::conversion;
use armature_runtime::engine::compare::DigestKey;
use armature_runtime::kind::KindInfo;
use armature_runtime::kubernetes::{ConfigMapData, SecretData, StoredObject, read_digest_key};
use armature_runtime::reconcile::annotations::Annotations;
use armature_runtime::reconcile::port::{DataKind, KubernetesError};
use armature_runtime::resource::{Kind, Object};
use futures::{Stream, StreamExt, stream};
use k8s_openapi::api::core::v1::Namespace;
use kube::Client;
use kube::api::{Api, ListParams};
use kube::core::{ObjectList, Request};
use kube::runtime::WatchStreamExt;
use kube::runtime::watcher::{self, Event, watcher};
use serde_json::value::{RawValue, to_raw_value};
use serde_json::{Value, json};

/// Lists that are read at a time.
const AT_A_TIME: usize = 16;

/// Kinds that a sentence lists.
const SHOWN: usize = 3;

/// Objects on one page of a list.
const PAGE: u32 = 500;

/// How long the API server may take until it serves a group that it lists already: CRDs are being installed, or deleted.
const SETTLING: [Duration; 6] = [
    Duration::from_millis(200),
    Duration::from_millis(500),
    Duration::from_secs(1),
    Duration::from_secs(2),
    Duration::from_secs(3),
    Duration::from_secs(3),
];

/// Values of a Secret or ConfigMap with what tells one state of it from another.
#[derive(Clone)]
pub struct LiveData {
    /// `metadata.uid`.
    pub uid: String,
    /// `metadata.resourceVersion`.
    pub resource_version: String,
    /// Decoded. Never printed.
    pub values: BTreeMap<String, Vec<u8>>,
}

/// A cluster that is only read.
#[derive(Clone)]
pub struct Live {
    client: Client,
    /// The namespace to look at; all where there is none.
    namespace: Option<String>,
}

impl Live {
    /// A cluster, or one namespace of it.
    pub fn new(client: Client, namespace: Option<String>) -> Self {
        Self { client, namespace }
    }

    /// The client that asks it.
    pub fn client(&self) -> &Client {
        &self.client
    }

    /// The objects of all kinds that are installed, and sentences about those that cannot be listed.
    ///
    /// # Errors
    /// When the API server does not tell what is installed.
    pub async fn objects(
        &self,
        kinds: &[&'static KindInfo],
    ) -> Result<(Vec<Object>, Vec<String>), KubernetesError> {
        // Who may not list a kind is told so before it shows whether there is one.
        let installed = self.installed(kinds).await?;
        let lists = installed.into_iter().map(|kind| async move {
            let listed = self.list(kind).await;
            listed.map_err(|error| (kind, error))
        });
        let mut lists = stream::iter(lists).buffered(AT_A_TIME);
        let (mut objects, mut problems, mut forbidden) = (Vec::new(), Vec::new(), Vec::new());
        while let Some(listed) = lists.next().await {
            match listed {
                Ok(more) => objects.extend(more),
                Err((kind, kube::Error::Api(status))) if status.code == 403 => {
                    forbidden.push((kind, status.message.clone()));
                }
                Err((kind, error)) => problems.push(other("list", kind.kind, &error).to_string()),
            }
        }
        problems.extend(self.forbidden(&forbidden));
        Ok((objects, problems))
    }

    /// One sentence about all kinds that may not be listed: it is one right that is missing.
    fn forbidden(&self, kinds: &[(Kind, String)]) -> Option<String> {
        let (_, first) = kinds.first()?;
        let names = kinds.iter().take(SHOWN).map(|(kind, _)| kind.kind);
        let mut names: Vec<String> = names.map(str::to_owned).collect();
        if kinds.len() > SHOWN {
            names.push(format!("{} more kinds", kinds.len() - SHOWN));
        }
        let advice = match &self.namespace {
            None => {
                "name a namespace that you may read with --namespace, or somebody else with --as or --context"
            }
            Some(_) => "name another namespace, or somebody who may read it with --as or --context",
        };
        Some(format!(
            "the Kubernetes API refused to list {}: {first}; {advice}",
            names.join(", ")
        ))
    }

    /// The kinds that are installed in the version that objects are stored in.
    ///
    /// # Errors
    /// When the API server does not tell what is installed.
    pub async fn installed(
        &self,
        kinds: &[&'static KindInfo],
    ) -> Result<Vec<Kind>, KubernetesError> {
        let mut pauses = SETTLING.into_iter();
        loop {
            match (self.served(kinds).await, pauses.next()) {
                (Err(kube::Error::Api(status)), Some(pause)) if status.code == 404 => {
                    tokio::time::sleep(pause).await;
                }
                (found, _) => {
                    return found.map_err(|error| other("list", "the installed kinds", &error));
                }
            }
        }
    }

    /// The kinds that are served in the version that objects are stored in. What is listed among the groups and not found is about to be
    /// served, or about to go: that is neither here nor there, and an error.
    async fn served(&self, kinds: &[&'static KindInfo]) -> kube::Result<Vec<Kind>> {
        let groups = self.client.list_api_groups().await?;
        let versions = groups.groups.into_iter().flat_map(|group| group.versions);
        let served: BTreeSet<String> = versions.map(|version| version.group_version).collect();
        let stored = |kind: &KindInfo| format!("{}/{}", kind.group, kind.hub.storage_version);
        let wanted = kinds.iter().map(|kind| stored(kind));
        let wanted: BTreeSet<String> = wanted.filter(|it| served.contains(it)).collect();
        let lists = wanted.into_iter().map(|version| async {
            let list = self.client.list_api_group_resources(&version).await;
            list.map(|list| (version, list.resources))
        });
        let mut lists = stream::iter(lists).buffer_unordered(AT_A_TIME);
        let mut plurals = BTreeSet::new();
        while let Some(listed) = lists.next().await {
            let (version, resources) = listed?;
            plurals.extend(resources.into_iter().map(|one| (version.clone(), one.name)));
        }
        let is_there =
            |kind: &&&'static KindInfo| plurals.contains(&(stored(kind), kind.plural.to_owned()));
        let there = kinds.iter().filter(is_there);
        Ok(there.map(|kind| Kind(kind)).collect())
    }

    /// The objects of a kind from now on, through a client for watches.
    pub fn follow(
        &self,
        client: &Client,
        kind: Kind,
    ) -> impl Stream<Item = watcher::Result<Event<StoredObject>>> + Send + use<> {
        let api: Api<StoredObject> = match &self.namespace {
            Some(namespace) => Api::namespaced_with(client.clone(), namespace, &kind),
            None => Api::all_with(client.clone(), &kind),
        };
        let config = watcher::Config::default().page_size(PAGE);
        watcher(api, config).default_backoff()
    }

    async fn list(&self, kind: Kind) -> kube::Result<Vec<Object>> {
        let client = self.client.clone();
        let api: Api<StoredObject> = match &self.namespace {
            Some(namespace) => Api::namespaced_with(client, namespace, &kind),
            None => Api::all_with(client, &kind),
        };
        let mut found = Vec::new();
        let mut page = ListParams::default().limit(PAGE);
        loop {
            let list = match api.list(&page).await {
                Ok(list) => list,
                // The group has other kinds.
                Err(kube::Error::Api(status)) if status.code == 404 => return Ok(found),
                Err(error) => return Err(error),
            };
            found.extend(
                list.items
                    .into_iter()
                    .map(|object| object.into_object(kind)),
            );
            match list.metadata.continue_.filter(|token| !token.is_empty()) {
                Some(token) => page = page.continue_token(&token),
                None => return Ok(found),
            }
        }
    }

    /// The objects of a kind at another version than the one in which this release stores them, as it would store them.
    ///
    /// # Errors
    /// When they cannot be listed, or one of them cannot be read at that version.
    pub async fn objects_at(
        &self,
        kind: Kind,
        version: &str,
    ) -> Result<Vec<Object>, KubernetesError> {
        let failed = |error| other("list", kind.0.kind, &error);
        let (group, plural) = (kind.0.group, kind.0.plural);
        let within = self.namespace.as_ref();
        let within = within.map_or(String::new(), |name| format!("namespaces/{name}/"));
        let requests = Request::new(format!("/apis/{group}/{version}/{within}{plural}"));
        let mut found = Vec::new();
        let mut page = ListParams::default().limit(PAGE);
        loop {
            let request = requests.list(&page);
            let request = request.map_err(|error| failed(kube::Error::BuildRequest(error)))?;
            let list: ObjectList<StoredObject> =
                self.client.request(request).await.map_err(failed)?;
            for object in list.items {
                found.push(as_stored(kind, version, object)?);
            }
            match list.metadata.continue_.filter(|token| !token.is_empty()) {
                Some(token) => page = page.continue_token(&token),
                None => return Ok(found),
            }
        }
    }

    /// A Secret or ConfigMap.
    ///
    /// # Errors
    /// When it cannot be read.
    pub async fn data(
        &self,
        kind: DataKind,
        namespace: &str,
        name: &str,
    ) -> Result<Option<LiveData>, KubernetesError> {
        let client = self.client.clone();
        let failed = |error| other("read", &format!("{kind:?} {namespace}/{name}"), &error);
        let found = match kind {
            DataKind::Secret => {
                let api: Api<SecretData> = Api::namespaced(client, namespace);
                let found = api.get_opt(name).await.map_err(failed)?;
                found.map(|secret| {
                    let (metadata, values) = secret.into_parts();
                    (metadata, values.collect())
                })
            }
            DataKind::ConfigMap => {
                let api: Api<ConfigMapData> = Api::namespaced(client, namespace);
                let found = api.get_opt(name).await.map_err(failed)?;
                found.map(|map| {
                    let (metadata, values) = map.into_parts();
                    (metadata, values.collect())
                })
            }
        };
        Ok(found.map(|(metadata, values)| LiveData {
            uid: metadata.uid.unwrap_or_default(),
            resource_version: metadata.resource_version.unwrap_or_default(),
            values,
        }))
    }

    /// Annotations of a namespace; none where it does not exist yet.
    ///
    /// # Errors
    /// When it cannot be read.
    pub async fn namespace(&self, name: &str) -> Result<Annotations, KubernetesError> {
        let api: Api<Namespace> = Api::all(self.client.clone());
        let found = api.get_metadata_opt(name).await;
        let found = found.map_err(|error| other("read", &format!("Namespace {name}"), &error))?;
        let annotations = found.and_then(|namespace| namespace.metadata.annotations);
        Ok(annotations.unwrap_or_default())
    }

    /// The key of the digests that the operator keeps in objects.
    ///
    /// # Errors
    /// When it cannot be read.
    pub async fn digest_key(&self, operator: &str) -> Result<Option<DigestKey>, KubernetesError> {
        read_digest_key(&self.client, operator).await
    }
}

/// An object of another version, as this release would store it.
fn as_stored(kind: Kind, version: &str, object: StoredObject) -> Result<Object, KubernetesError> {
    let mut object = object.into_object(kind);
    let part = |part: &Option<Box<RawValue>>| {
        let part = part.as_ref().map(|text| serde_json::from_str(text.get()));
        part.and_then(Result::ok).unwrap_or(Value::Null)
    };
    let mut text = json!({
        "apiVersion": format!("{}/{version}", kind.0.group),
        "metadata": {"annotations": object.metadata.annotations},
        "spec": part(&object.spec),
    });
    if object.status.is_some() {
        text["status"] = part(&object.status);
    }
    let stored = conversion::to_hub(kind.0, version, text);
    let mut stored = stored.map_err(|error| KubernetesError::Other {
        operation: "read",
        object: object.key().to_string(),
        message: error.to_string(),
    })?;
    object.spec = to_raw_value(&stored["spec"]).ok();
    object.status = stored.get("status").and_then(|it| to_raw_value(it).ok());
    let annotations = stored["metadata"]["annotations"].take();
    object.metadata.annotations = serde_json::from_value(annotations).ok();
    Ok(object)
}

fn other(operation: &'static str, object: &str, error: &kube::Error) -> KubernetesError {
    let message = match error {
        kube::Error::Api(status) => status.message.clone(),
        // What it holds is a sentence of its own: nobody was reached who could refuse anything.
        kube::Error::Service(error) => {
            return KubernetesError::Unreachable {
                message: error.to_string(),
            };
        }
        other => other.to_string(),
    };
    KubernetesError::Other {
        operation,
        object: object.to_owned(),
        message,
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use super::*;
    use crate::fake_api;

    fn group() -> &'static KindInfo {
        let mut kinds = armature_generated::KINDS.iter().copied();
        kinds.find(|kind| kind.kind == "ResourceGroup").unwrap()
    }

    /// An API server that lists the group, and does not find its resources so often.
    fn cluster(missing: usize) -> Live {
        let kind = group();
        let version = kind.hub.storage_version;
        let served = format!("{}/{version}", kind.group);
        let left = Mutex::new(missing);
        let client = fake_api::client(move |path| {
            if path == "/apis" {
                let version = json!({"groupVersion": served, "version": version});
                return Ok(
                    json!({"groups": [{"name": kind.group, "versions": [version], "preferredVersion": version}]}),
                );
            }
            let mut left = left.lock().unwrap();
            if *left > 0 {
                *left -= 1;
                return Err(404);
            }
            Ok(json!({"groupVersion": served, "resources": [{
                "name": kind.plural, "singularName": "", "kind": kind.kind, "namespaced": true, "verbs": ["list"],
            }]}))
        });
        Live::new(client, None)
    }

    #[tokio::test(start_paused = true)]
    async fn a_group_that_is_about_to_be_served_is_waited_for() {
        for missing in [0, 1, SETTLING.len()] {
            let found = cluster(missing).installed(&[group()]).await.unwrap();
            assert_eq!(found.len(), 1, "{missing}");
        }
        let error = cluster(100).installed(&[group()]).await.unwrap_err();
        assert!(
            error.to_string().contains("list the installed kinds"),
            "{error}"
        );
    }
}
