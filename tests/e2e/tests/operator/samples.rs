//! `armature render` promises what the operator sends: one PUT per sample, compared.

use std::collections::BTreeMap;
use std::path::Path;

use armature::render::{self, RenderedRequest, manifest};
use armature_e2e::World;
use armature_simulator::{ConnectionDecision, Query};
use k8s_openapi::api::core::v1::ConfigMap;
use kube::api::{Api, ListParams};
use serde_json::Value;

use crate::{SUBSCRIPTION, is_ready, wait_until};

const NAMESPACE: &str = "samples";

/// The subscription in ids of the samples, for which users put in their own.
const OF_NOBODY: &str = "/subscriptions/00000000-0000-0000-0000-000000000000";

#[test]
fn the_operator_sends_what_render_prints_for_every_sample() {
    World::shared().run(NAMESPACE, async |world, objects| {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../samples/quick-start");
        let (mut documents, errors) = manifest::read(&[folder]);
        assert!(errors.is_empty(), "{errors:?}");
        for document in &mut documents {
            let own = document.value.to_string();
            let own = own.replace(OF_NOBODY, SUBSCRIPTION);
            document.value = serde_json::from_str(&own).unwrap();
            document.value["metadata"]["namespace"] = NAMESPACE.into();
            objects.apply_value(&document.value).await.unwrap();
        }
        let subscription = SUBSCRIPTION.rsplit('/').next().unwrap();
        let rendering = render::render(documents, armature_generated::KINDS, subscription);
        assert!(rendering.errors.is_empty(), "{:?}", rendering.errors);
        assert!(!rendering.requests.is_empty());
        wait_until("a connection to approve", async || approve(world)).await;
        for request in &rendering.requests {
            let kind = format!("{}/{}", request.group, request.kind);
            objects.wait_ready(&kind, &request.name, is_ready).await;
        }
        let values = config_values(world).await;
        for request in &rendering.requests {
            match first_put(world, request) {
                Some(sent) => {
                    assert_eq!(sent, with_values(&request.body, &values), "{}", request.url);
                }
                None => assert!(came_with_its_parent(request), "no PUT to {}", request.url),
            }
        }
    });
}

/// Whether Azure makes the resource together with its parent: then there may be nothing to change.
fn came_with_its_parent(request: &RenderedRequest) -> bool {
    request.kind.starts_with("StorageAccounts") && request.url.contains("Services/default?")
}

/// Body of the first PUT to the URL.
fn first_put(world: &World, request: &RenderedRequest) -> Option<Value> {
    let (path, version) = request.url.split_once("?api-version=").unwrap();
    let query = Query {
        method: Some("PUT".to_owned()),
        path: Some(path.to_owned()),
        ..Query::default()
    };
    let mut found = world.azure().requests(&query).into_iter();
    found
        .find(|sent| sent.path == path && sent.api_version.as_deref() == Some(version))
        .map(|sent| sent.body.unwrap_or_default())
}

/// Approves the connection that one sample waits for; false while it is not there.
fn approve(world: &World) -> bool {
    let approved = ConnectionDecision {
        endpoint: "shop-to-partner".into(),
        connection: None,
        status: "Approved".into(),
        description: None,
    };
    world.azure().decide_connections(&approved).is_ok()
}

/// What stands in rendered bodies for values of ConfigMaps, and the values.
async fn config_values(world: &World) -> BTreeMap<String, String> {
    let maps: Api<ConfigMap> = Api::namespaced(world.client().clone(), NAMESPACE);
    let maps = maps.list(&ListParams::default()).await.unwrap();
    maps.into_iter()
        .flat_map(|map| {
            let name = map.metadata.name.unwrap();
            map.data
                .unwrap_or_default()
                .into_iter()
                .map(move |(key, value)| (format!("${{configmap:{name}/{key}}}"), value))
        })
        .collect()
}

fn with_values(body: &Value, values: &BTreeMap<String, String>) -> Value {
    match body {
        Value::String(text) => values
            .get(text)
            .cloned()
            .map_or_else(|| body.clone(), Value::from),
        Value::Array(items) => items.iter().map(|item| with_values(item, values)).collect(),
        Value::Object(members) => members
            .iter()
            .map(|(name, value)| (name.clone(), with_values(value, values)))
            .collect(),
        other => other.clone(),
    }
}
