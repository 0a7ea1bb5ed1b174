//! What people see of a namespace: objects, their conditions and annotations, events, ConfigMaps.

use armature_generated::KINDS;
use futures::future::join_all;
use k8s_openapi::api::core::v1::{ConfigMap, Event, Secret};
use kube::Client;
use kube::api::{Api, ApiResource, DynamicObject, ListParams};
use kube::core::GroupVersionKind;
use serde_json::{Value, json};

use crate::leaks::Place;

/// Everything in the namespace that the operator writes, but for the values of Secrets.
///
/// # Errors
/// When something cannot be listed.
pub async fn of_namespace(client: &Client, namespace: &str) -> kube::Result<Vec<Place>> {
    let all = ListParams::default();
    let mut places = Vec::new();
    let lists = KINDS.iter().map(|kind| {
        let version = kind.hub.storage_version;
        let gvk = GroupVersionKind::gvk(kind.group, version, kind.kind);
        let resource = ApiResource::from_gvk_with_plural(&gvk, kind.plural);
        let api: Api<DynamicObject> = Api::namespaced_with(client.clone(), namespace, &resource);
        let all = &all;
        async move { (kind.kind, api.list(all).await) }
    });
    for (kind, list) in join_all(lists).await {
        let list = match list {
            Ok(list) => list,
            // A test may take CRDs away.
            Err(kube::Error::Api(status)) if status.code == 404 => continue,
            Err(error) => return Err(error),
        };
        for object in list {
            places.push(place(kind, &object.metadata.name, json!(object)));
        }
    }
    let events: Api<Event> = Api::namespaced(client.clone(), namespace);
    for event in events.list(&all).await? {
        places.push(place("Event", &event.metadata.name, json!(event)));
    }
    let maps: Api<ConfigMap> = Api::namespaced(client.clone(), namespace);
    for map in maps.list(&all).await? {
        places.push(place("ConfigMap", &map.metadata.name, json!(map)));
    }
    let secrets: Api<Secret> = Api::namespaced(client.clone(), namespace);
    for secret in secrets.list(&all).await? {
        let metadata = json!(secret.metadata);
        places.push(place("metadata of Secret", &secret.metadata.name, metadata));
    }
    Ok(places)
}

fn place(kind: &str, name: &Option<String>, value: Value) -> Place {
    let name = name.as_deref().unwrap_or_default();
    Place::new(format!("{kind} {name}"), value.to_string())
}
