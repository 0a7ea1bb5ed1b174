//! What people see of a cluster: objects, their conditions and annotations, events, ConfigMaps.

use std::fmt::Debug;

use armature_generated::KINDS;
use futures::future::join_all;
use k8s_openapi::NamespaceResourceScope;
use k8s_openapi::api::core::v1::{ConfigMap, Event, Secret};
use kube::api::{Api, ApiResource, DynamicObject, ListParams, ObjectList};
use kube::core::{GroupVersionKind, ObjectMeta};
use kube::{Client, Resource};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use crate::Place;

/// Everything in a namespace, or in all, that the operator writes, but for the values of Secrets.
///
/// # Errors
/// When something cannot be listed.
pub async fn shown_in(client: &Client, namespace: Option<&str>) -> kube::Result<Vec<Place>> {
    let all = ListParams::default();
    let mut places = Vec::new();
    let lists = KINDS.iter().map(|kind| {
        let version = kind.hub.storage_version;
        let gvk = GroupVersionKind::gvk(kind.group, version, kind.kind);
        let resource = ApiResource::from_gvk_with_plural(&gvk, kind.plural);
        let api: Api<DynamicObject> = match namespace {
            Some(namespace) => Api::namespaced_with(client.clone(), namespace, &resource),
            None => Api::all_with(client.clone(), &resource),
        };
        let all = &all;
        async move { (kind.kind, read(&api, all).await) }
    });
    for (kind, list) in join_all(lists).await {
        let list = match list {
            Ok(list) => list,
            // A test may take CRDs away, or install some only.
            Err(kube::Error::Api(status)) if status.code == 404 => continue,
            Err(error) => return Err(error),
        };
        for object in list {
            places.push(place(kind, &object.metadata, json!(object)));
        }
    }
    for event in list::<Event>(client, namespace).await? {
        places.push(place("Event", &event.metadata, json!(event)));
    }
    for map in list::<ConfigMap>(client, namespace).await? {
        places.push(place("ConfigMap", &map.metadata, json!(map)));
    }
    for secret in list::<Secret>(client, namespace).await? {
        let metadata = json!(secret.metadata);
        places.push(place("metadata of Secret", &secret.metadata, metadata));
    }
    Ok(places)
}

/// Reads a list, once more when the server closed the connection, which lay idle, just as it was used.
async fn read<K>(api: &Api<K>, parameters: &ListParams) -> kube::Result<ObjectList<K>>
where
    K: Clone + Debug + DeserializeOwned,
{
    match api.list(parameters).await {
        Err(kube::Error::Service(_)) => api.list(parameters).await,
        answer => answer,
    }
}

async fn list<K>(client: &Client, namespace: Option<&str>) -> kube::Result<Vec<K>>
where
    K: Resource<DynamicType = (), Scope = NamespaceResourceScope>
        + Clone
        + Debug
        + DeserializeOwned,
{
    let api: Api<K> = match namespace {
        Some(namespace) => Api::namespaced(client.clone(), namespace),
        None => Api::all(client.clone()),
    };
    Ok(read(&api, &ListParams::default()).await?.items)
}

fn place(kind: &str, metadata: &ObjectMeta, value: Value) -> Place {
    let name = metadata.name.as_deref().unwrap_or_default();
    Place::new(format!("{kind} {name}"), value.to_string())
}
