//! One odd object in one namespace: the operator serves the others as before, and shows nothing of them.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test that cannot go on fails"
)]

mod commands;

use armature_controlplane::waiting::{until, until_ok};
use commands::World;
use kube::api::{Api, ApiResource, DeleteParams, DynamicObject, PostParams};
use kube::core::GroupVersionKind;
use serde_json::{Value, json};

const OPERATOR: &str = "armature-system";
const CRDS: &str = "resources.azure.com/*";
/// Where the odd objects are, and where the others are.
const NAMESPACES: [&str; 2] = ["team", "other"];
/// A value of another team, as `kubectl apply` leaves it in metadata.
const VALUE: &str = "c29tZWJvZHkgZWxzZSdzIHBhc3N3b3Jk";

fn api(
    world: &World,
    group: &str,
    version: &str,
    kind: &str,
    namespace: &str,
) -> Api<DynamicObject> {
    let kind = GroupVersionKind::gvk(group, version, kind);
    let resource = ApiResource::from_gvk(&kind);
    match namespace {
        "" => Api::all_with(world.client().clone(), &resource),
        _ => Api::namespaced_with(world.client().clone(), namespace, &resource),
    }
}

fn groups(world: &World, namespace: &str) -> Api<DynamicObject> {
    api(
        world,
        "resources.azure.com",
        "v1api20200601",
        "ResourceGroup",
        namespace,
    )
}

/// Creates an object as the API server takes it, without a word of kube's types.
async fn create(api: &Api<DynamicObject>, (api_version, kind): (&str, &str), mut object: Value) {
    object["apiVersion"] = json!(api_version);
    object["kind"] = json!(kind);
    let object: DynamicObject = serde_json::from_value(object).unwrap();
    // The answer may be one that kube cannot read.
    if let Err(error @ kube::Error::Api(_)) = api.create(&PostParams::default(), &object).await {
        panic!("{error}");
    }
}

async fn create_group(world: &World, namespace: &str, name: &str, metadata: Value) {
    let mut object = json!({"metadata": metadata, "spec": {"location": "westeurope"}});
    object["metadata"]["name"] = json!(name);
    let kind = ("resources.azure.com/v1api20200601", "ResourceGroup");
    create(&groups(world, namespace), kind, object).await;
}

/// `managedFields` of somebody, nested as deep as the API server keeps them.
fn deep() -> Value {
    let mut fields = json!({});
    for _ in 0..120 {
        fields = json!({"f:a": fields});
    }
    json!([{
        "manager": "x", "operation": "Update", "apiVersion": "v1", "time": "2026-01-01T00:00:00Z",
        "fieldsType": "FieldsV1", "fieldsV1": {"f:data": fields},
    }])
}

/// Waits until groups are converted.
async fn wait_served(world: &World) {
    let groups = groups(world, "other");
    let dry_run = PostParams {
        dry_run: true,
        ..PostParams::default()
    };
    let object = json!({
        "apiVersion": "resources.azure.com/v1api20200601",
        "kind": "ResourceGroup",
        "metadata": {"name": "served"},
        "spec": {"location": "westeurope"},
    });
    let object: DynamicObject = serde_json::from_value(object).unwrap();
    until_ok("groups are converted", async || {
        groups.create(&dry_run, &object).await
    })
    .await;
}

async fn wait_ready(world: &World, namespace: &str, name: &str) {
    let groups = groups(world, namespace);
    until(&format!("{namespace}/{name} is ready"), async || {
        let found = groups.get(name).await;
        let conditions = found.map(|found| found.data["status"]["conditions"].clone());
        let conditions = conditions.unwrap_or_default();
        let mut conditions = conditions.as_array().into_iter().flatten();
        conditions.any(|one| one["type"] == "Ready" && one["status"] == "True")
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn metadata_of_any_depth_hide_nothing_and_bring_nothing_into_the_log() {
    let mut world = World::start_without_operator("render.md").await;
    for namespace in NAMESPACES {
        let object = json!({"metadata": {"name": namespace}});
        create(
            &api(&world, "", "v1", "Namespace", ""),
            ("v1", "Namespace"),
            object,
        )
        .await;
    }
    world.start_operator(OPERATOR, CRDS);
    wait_served(&world).await;
    let victim = json!({
        "metadata": {"name": "victim", "annotations": {
            "kubectl.kubernetes.io/last-applied-configuration": format!("{{\"data\":{{\"a\":\"{VALUE}\"}}}}"),
        }},
        "data": {"a": VALUE},
    });
    create(
        &api(&world, "", "v1", "Secret", "other"),
        ("v1", "Secret"),
        victim,
    )
    .await;
    for kind in ["Secret", "ConfigMap"] {
        let object =
            json!({"metadata": {"name": "deep", "managedFields": deep()}, "data": {"a": "YQ=="}});
        create(&api(&world, "", "v1", kind, "team"), ("v1", kind), object).await;
    }
    create_group(&world, "team", "deep", json!({"managedFields": deep()})).await;
    create_group(&world, "other", "before", json!({})).await;
    wait_ready(&world, "other", "before").await;
    let mut logs = world.log();

    // From now on everything comes from lists.
    world.stop_operator().await;
    world.start_operator(OPERATOR, CRDS);
    wait_served(&world).await;
    create_group(&world, "other", "after", json!({})).await;
    wait_ready(&world, "other", "after").await;
    let others = groups(&world, "other");
    for name in ["before", "after"] {
        others.delete(name, &DeleteParams::default()).await.unwrap();
        until(&format!("{name} is gone"), async || {
            others.get_opt(name).await.unwrap().is_none()
        })
        .await;
    }
    // The odd one is managed as any other.
    until("the odd group is in Azure", async || {
        let requests = world.azure().requests(&Default::default());
        let mut puts = requests.iter().filter(|request| request.method == "PUT");
        puts.any(|request| request.path.ends_with("/resourceGroups/deep"))
    })
    .await;
    logs.push_str(&world.log());
    assert!(!logs.contains(VALUE), "{logs}");
    assert!(!logs.contains("cannot be read"), "{logs}");
}
