//! A cluster as Azure Service Operator leaves it: its Deployment, its webhook for admission, CRDs with the versions and
//! schemas that it serves, and objects that it has brought to an end.
//!
//! | module | what lives here |
//! |---|---|
//! | [`crds`] | its CRDs, made of what is known of their schemas |
//! | [`every_kind`] | the samples of every kind, and what it makes of their objects |
//! | [`unseen`] | objects that no operator has looked at |

#![allow(dead_code, reason = "each test program uses what it needs")]

pub mod crds;
pub mod every_kind;
pub mod unseen;

use std::collections::BTreeMap;

use armature_controlplane::waiting::until_ok;
use armature_runtime::kind::KindInfo;
use kube::Client;
use kube::api::{Api, ApiResource, DynamicObject, Patch, PatchParams, PostParams};
use kube::core::GroupVersionKind;
use serde_json::{Value, json};

/// Its namespace.
pub const NAMESPACE: &str = "azureserviceoperator-system";
/// Its Deployment.
pub const DEPLOYMENT: &str = "azureserviceoperator-controller-manager";
/// Its Service.
pub const SERVICE: &str = "azureserviceoperator-webhook-service";

/// Kinds, groups and names of the objects.
pub const KINDS: [(&str, &str, &str); 2] = [
    ("ResourceGroup", "resources.azure.com", "taken"),
    ("StorageAccount", "storage.azure.com", "takendata"),
];

/// Names of their CRDs.
pub const STORED: [&str; 2] = [
    "resourcegroups.resources.azure.com",
    "storageaccounts.storage.azure.com",
];

/// What Azure calls them.
pub const RESOURCES: [&str; 2] = [
    "/subscriptions/00000000-0000-0000-0000-000000000001/resourceGroups/taken",
    "/subscriptions/00000000-0000-0000-0000-000000000001/resourceGroups/taken/providers/Microsoft.Storage/storageAccounts/takendata",
];

/// What Azure has.
pub fn bodies() -> [Value; 2] {
    [
        json!({
            "id": RESOURCES[0], "name": "taken", "type": "Microsoft.Resources/resourceGroups", "location": "westeurope",
            "tags": {"team": "shop"}, "properties": {"provisioningState": "Succeeded"},
        }),
        json!({
            "id": RESOURCES[1], "name": "takendata", "type": "Microsoft.Storage/storageAccounts",
            "location": "westeurope", "kind": "StorageV2", "sku": {"name": "Standard_LRS", "tier": "Standard"},
            "properties": {
                "accessTier": "Hot", "minimumTlsVersion": "TLS1_2", "supportsHttpsTrafficOnly": true,
                "provisioningState": "Succeeded", "creationTime": "2026-01-01T00:00:00Z",
            },
        }),
    ]
}

/// The objects as they are stored.
fn stored() -> [Value; 2] {
    let ready = json!([{
        "type": "Ready", "status": "True", "reason": "Succeeded", "observedGeneration": 1,
        "lastTransitionTime": "2026-01-01T00:00:00Z",
    }]);
    [
        json!({
            "metadata": {"name": "taken"},
            "spec": {
                "azureName": "taken", "location": "westeurope", "originalVersion": "v1api20200601", "tags": {"team": "shop"},
            },
            "status": {
                "conditions": ready, "id": RESOURCES[0], "location": "westeurope", "name": "taken",
                "properties": {"provisioningState": "Succeeded"}, "tags": {"team": "shop"},
                "type": "Microsoft.Resources/resourceGroups",
            },
        }),
        json!({
            "metadata": {"name": "takendata"},
            "spec": {
                "azureName": "takendata", "kind": "StorageV2", "location": "westeurope", "minimumTlsVersion": "TLS1_2",
                "originalVersion": "v20230101", "owner": {"name": "taken"}, "sku": {"name": "Standard_LRS"},
                "supportsHttpsTrafficOnly": true,
            },
            "status": {
                "accessTier": "Hot", "conditions": ready, "creationTime": "2026-01-01T00:00:00Z", "id": RESOURCES[1],
                "kind": "StorageV2", "location": "westeurope", "minimumTlsVersion": "TLS1_2", "name": "takendata",
                "provisioningState": "Succeeded", "sku": {"name": "Standard_LRS", "tier": "Standard"},
                "supportsHttpsTrafficOnly": true, "type": "Microsoft.Storage/storageAccounts",
            },
        }),
    ]
}

/// The schemas of what it serves, by kind, where they are on this machine.
pub fn shapes() -> Option<BTreeMap<String, Value>> {
    let mut all = crds::shapes()?;
    let kinds = KINDS.into_iter().map(|(kind, group, _)| {
        let shape = all.remove(&(group.to_owned(), kind.to_owned()));
        (kind.to_owned(), shape.unwrap())
    });
    Some(kinds.collect())
}

/// The kind of that name, where Armature has it.
pub fn kind(group: &str, kind: &str) -> Option<&'static KindInfo> {
    let mut kinds = armature_generated::KINDS.iter().copied();
    kinds.find(|it| it.group == group && it.kind == kind)
}

fn info(index: usize) -> &'static KindInfo {
    let (name, group, _) = KINDS[index];
    kind(group, name).unwrap()
}

/// Leaves all of it in a cluster. The first object is of the operator in this namespace.
pub async fn leave(client: &Client, shapes: &BTreeMap<String, Value>, operator: &str) {
    let namespace = json!({"metadata": {"name": NAMESPACE}});
    create(client, "", "v1", "Namespace", None, &namespace).await;
    for (kind, group, _) in KINDS {
        crds::install(client, group, &shapes[kind], None).await;
    }
    let mut owner = Value::Null;
    for (index, mut object) in stored().into_iter().enumerate() {
        finish(&mut object, index, &owner, operator);
        let api = api(client, index);
        // The API server may not serve it yet.
        let created = until_ok("the API server to take an object", async || {
            api.create(&PostParams::default(), &dynamic(&object)).await
        })
        .await;
        let status = Patch::Merge(json!({"status": object["status"]}));
        let name = object["metadata"]["name"].as_str().unwrap();
        api.patch_status(name, &PatchParams::default(), &status)
            .await
            .unwrap();
        owner = serde_json::to_value(created).unwrap();
    }
    leave_operator(client).await;
}

/// Leaves what it is made of itself in its namespace, which exists. From then on nobody can write a resource group: its webhook
/// is not there to admit it.
pub async fn leave_operator(client: &Client) {
    let credential = json!({"metadata": {"name": "aso-controller-settings"}});
    create(client, "", "v1", "Secret", Some(NAMESPACE), &credential).await;
    let labels = json!({"control-plane": "controller-manager"});
    let image = "mcr.microsoft.com/k8s/azureserviceoperator:v2.20.0";
    deploy(client, DEPLOYMENT, &labels, image).await;
    let webhook = json!({
        "metadata": {"name": "azureserviceoperator-validating-webhook-configuration"},
        "webhooks": [{
            "name": "validate.v1api20200601.resourcegroups.resources.azure.com", "admissionReviewVersions": ["v1"],
            "sideEffects": "None", "failurePolicy": "Fail",
            "clientConfig": {"service": {"name": SERVICE, "namespace": NAMESPACE, "path": "/validate"}},
            "rules": [{
                "apiGroups": ["resources.azure.com"], "apiVersions": ["v1api20200601"],
                "operations": ["CREATE", "UPDATE"], "resources": ["resourcegroups"],
            }],
        }],
    });
    let group = "admissionregistration.k8s.io";
    create(
        client,
        group,
        "v1",
        "ValidatingWebhookConfiguration",
        None,
        &webhook,
    )
    .await;
}

/// What it writes beside spec and status.
fn finish(object: &mut Value, index: usize, owner: &Value, operator: &str) {
    let info = info(index);
    object["kind"] = json!(info.kind);
    object["apiVersion"] = json!(format!("{}/{}", info.group, info.hub.storage_version));
    let metadata = &mut object["metadata"];
    metadata["namespace"] = json!("shop");
    metadata["finalizers"] = json!(["serviceoperator.azure.com/finalizer"]);
    metadata["annotations"] = json!({
        "serviceoperator.azure.com/operator-namespace": if index == 0 { operator } else { NAMESPACE },
        "serviceoperator.azure.com/resource-id": RESOURCES[index],
        "serviceoperator.azure.com/latest-reconciled-generation": "1",
    });
    metadata["labels"] = json!({"serviceoperator.azure.com/last-reconciled-version": "v2.20.0"});
    if index > 0 {
        let (name, uid) = (&owner["metadata"]["name"], &owner["metadata"]["uid"]);
        let labels = &mut metadata["labels"];
        labels["serviceoperator.azure.com/owner-name"] = name.clone();
        labels["serviceoperator.azure.com/owner-uid"] = uid.clone();
        labels["serviceoperator.azure.com/owner-group-kind"] =
            json!("ResourceGroup.resources.azure.com");
        metadata["ownerReferences"] = json!([{
            "apiVersion": owner["apiVersion"], "kind": "ResourceGroup", "name": name, "uid": uid,
        }]);
    }
}

/// A Deployment with two pods, which are ready because nobody here starts any.
pub async fn deploy(client: &Client, name: &str, labels: &Value, image: &str) {
    let deployment = json!({
        "metadata": {"name": name, "labels": labels},
        "spec": {
            "replicas": 2, "selector": {"matchLabels": labels},
            "template": {"metadata": {"labels": labels}, "spec": {
                "serviceAccountName": "azureserviceoperator-default",
                "containers": [{"name": "manager", "image": image}],
            }},
        },
    });
    create(
        client,
        "apps",
        "v1",
        "Deployment",
        Some(NAMESPACE),
        &deployment,
    )
    .await;
    let status = Patch::Merge(json!({"status": {"replicas": 2, "readyReplicas": 2}}));
    let api = resource(client, "apps", "v1", "Deployment", Some(NAMESPACE));
    api.patch_status(name, &PatchParams::default(), &status)
        .await
        .unwrap();
}

/// The way to the objects of a type.
pub fn resource(
    client: &Client,
    group: &str,
    version: &str,
    kind: &str,
    namespace: Option<&str>,
) -> Api<DynamicObject> {
    let resource = ApiResource::from_gvk(&GroupVersionKind::gvk(group, version, kind));
    match namespace {
        Some(namespace) => Api::namespaced_with(client.clone(), namespace, &resource),
        None => Api::all_with(client.clone(), &resource),
    }
}

/// Writes the storage account in a version, and changes nothing of it.
pub async fn touch(client: &Client, version: &str) {
    let (kind, group, name) = KINDS[1];
    let api = resource(client, group, version, kind, Some("shop"));
    let patch = json!({"metadata": {"annotations": {"touched-in": version}}});
    let patched = api
        .patch(name, &PatchParams::default(), &Patch::Merge(&patch))
        .await;
    patched.unwrap();
}

/// An object of any type.
pub fn dynamic(object: &Value) -> DynamicObject {
    serde_json::from_value(object.clone()).unwrap()
}

/// Creates an object.
pub async fn create(
    client: &Client,
    group: &str,
    version: &str,
    kind: &str,
    namespace: Option<&str>,
    object: &Value,
) {
    let api = resource(client, group, version, kind, namespace);
    api.create(&PostParams::default(), &dynamic(object))
        .await
        .unwrap();
}

/// The way to the objects of a kind as they are stored.
pub fn api(client: &Client, index: usize) -> Api<DynamicObject> {
    let info = info(index);
    let kind = GroupVersionKind::gvk(info.group, info.hub.storage_version, info.kind);
    let resource = ApiResource::from_gvk_with_plural(&kind, info.plural);
    Api::namespaced_with(client.clone(), "shop", &resource)
}

/// The objects as they are stored now.
pub async fn objects(client: &Client) -> Vec<Value> {
    let mut objects = Vec::new();
    for (index, (_, _, name)) in KINDS.into_iter().enumerate() {
        let object = api(client, index).get(name).await.unwrap();
        objects.push(serde_json::to_value(object).unwrap());
    }
    objects
}

/// A CRD.
pub async fn crd(client: &Client, name: &str) -> Value {
    let api = resource(
        client,
        "apiextensions.k8s.io",
        "v1",
        "CustomResourceDefinition",
        None,
    );
    serde_json::to_value(api.get(name).await.unwrap()).unwrap()
}

/// A Deployment.
pub async fn deployment(client: &Client, name: &str) -> Value {
    let api = resource(client, "apps", "v1", "Deployment", Some(NAMESPACE));
    serde_json::to_value(api.get(name).await.unwrap()).unwrap()
}

/// Names of the webhooks for admission.
pub async fn admission(client: &Client) -> Vec<String> {
    let group = "admissionregistration.k8s.io";
    let api = resource(client, group, "v1", "ValidatingWebhookConfiguration", None);
    let listed = api.list(&Default::default()).await.unwrap();
    listed
        .into_iter()
        .filter_map(|webhook| webhook.metadata.name)
        .collect()
}
