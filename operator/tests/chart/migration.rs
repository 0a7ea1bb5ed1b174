//! What an older release stored is stored anew, without a write to Azure, and the CRD forgets the older version.

use std::time::Duration;

use armature::{Operator, OperatorConfig};
use armature_runtime::kubernetes::{Migrated, StorageMigration};
use armature_runtime::resource::Kind;
use armature_simulator::Query;
use futures::future::join_all;
use k8s_openapi::api::admissionregistration::v1::{
    ValidatingAdmissionPolicy, ValidatingAdmissionPolicyBinding,
};
use kube::api::{Api, DynamicObject, Patch, PatchParams, PostParams};
use kube::core::{ApiResource, GroupVersionKind};
use serde_json::{Value, json};

use crate::chart::NAMESPACE;
use crate::cluster::{Cluster, namespace};
use crate::versions::{ACCOUNT, config, crd, manifest, older, storage_account};

const OLD: &str = "v1api20230101storage";
const NEW: &str = "v20250601storage";

/// Version that users write. It is neither of the two.
const VERSION: &str = "v1api20210401";

/// Objects of another operator: more than one page of a list.
const THEIRS: usize = 105;

/// One of them, which nobody may change for a while.
const FROZEN: &str = "account7";

const GROUP: &str = "
apiVersion: resources.azure.com/v1api20200601
kind: ResourceGroup
metadata: {name: shop, namespace: team}
spec: {location: westeurope}
";

const OURS: &str = "/subscriptions/00000000-0000-0000-0000-000000000001/resourceGroups/shop/providers\
    /Microsoft.Storage/storageAccounts/shop";

fn accounts(cluster: &Cluster, namespace: &str) -> Api<DynamicObject> {
    let group = storage_account().group;
    let kind = GroupVersionKind::gvk(group, VERSION, "StorageAccount");
    let kind = ApiResource::from_gvk(&kind);
    Api::namespaced_with(cluster.client.clone(), namespace, &kind)
}

/// An object that belongs to an operator in the namespace `web-system`.
fn theirs(number: usize) -> Value {
    let mut account = manifest(ACCOUNT);
    account["metadata"] = json!({
        "name": format!("account{number}"),
        "namespace": "web",
        "annotations": {"serviceoperator.azure.com/operator-namespace": "web-system"},
        "labels": {"serviceoperator.azure.com/last-reconciled-version": "v2.20.0"},
    });
    account
}

/// Objects of two operators, one of them in Azure.
async fn store(cluster: &Cluster) {
    for text in [GROUP, ACCOUNT] {
        cluster.apply(&manifest(text)).await;
    }
    join_all((0..THEIRS).map(async |number| cluster.apply(&theirs(number)).await)).await;
    cluster
        .until("our object is ready", async |cluster| {
            let ours = objects(cluster, "team").await;
            let conditions = ours[0]["status"]["conditions"].as_array().cloned();
            let mut conditions = conditions.into_iter().flatten();
            conditions.any(|it| it["type"] == "Ready" && it["status"] == "True")
        })
        .await;
    assert!(cluster.azure.simulator().resource(OURS).is_some());
}

/// All accounts of a namespace, without what every write changes.
async fn objects(cluster: &Cluster, namespace: &str) -> Vec<Value> {
    let accounts = accounts(cluster, namespace);
    let objects = accounts.list(&Default::default()).await.unwrap();
    let without_version = objects.items.into_iter().map(|mut object| {
        object.metadata.resource_version = None;
        serde_json::to_value(object).unwrap()
    });
    without_version.collect()
}

/// How often Azure was asked to change something.
fn writes(cluster: &Cluster) -> usize {
    let resources = Query {
        path: Some("/subscriptions/**".to_owned()),
        ..Query::default()
    };
    let requests = cluster.azure.simulator().requests(&resources);
    let writes = requests.iter().filter(|request| request.method != "GET");
    writes.count()
}

async fn stored_versions(cluster: &Cluster) -> Vec<String> {
    crd(cluster).await.status.stored_versions
}

/// Lets the API server refuse changes of one object.
async fn freeze(cluster: &Cluster) {
    let policy = json!({
        "metadata": {"name": "frozen"},
        "spec": {
            "matchConstraints": {"resourceRules": [{
                "apiGroups": ["storage.azure.com"],
                "apiVersions": ["*"],
                "operations": ["UPDATE"],
                "resources": ["*"],
            }]},
            "validations": [{
                "expression": format!("object.metadata.name != '{FROZEN}'"),
                "message": "frozen by its owner",
            }],
        },
    });
    let binding = json!({
        "metadata": {"name": "frozen"},
        "spec": {"policyName": "frozen", "validationActions": ["Deny"]},
    });
    let policies: Api<ValidatingAdmissionPolicy> = Api::all(cluster.client.clone());
    let bindings: Api<ValidatingAdmissionPolicyBinding> = Api::all(cluster.client.clone());
    let parameters = PostParams::default();
    let policy = serde_json::from_value(policy).unwrap();
    policies.create(&parameters, &policy).await.unwrap();
    let binding = serde_json::from_value(binding).unwrap();
    bindings.create(&parameters, &binding).await.unwrap();
    cluster
        .until("the policy counts", async |cluster| {
            !may_change(cluster).await
        })
        .await;
}

async fn thaw(cluster: &Cluster) {
    let bindings: Api<ValidatingAdmissionPolicyBinding> = Api::all(cluster.client.clone());
    bindings
        .delete("frozen", &Default::default())
        .await
        .unwrap();
    cluster
        .until("the policy no longer counts", may_change)
        .await;
}

/// Whether the frozen object could be changed.
async fn may_change(cluster: &Cluster) -> bool {
    let check = PatchParams {
        dry_run: true,
        ..PatchParams::default()
    };
    let label = Patch::Merge(json!({"metadata": {"labels": {"changed": "true"}}}));
    let accounts = accounts(cluster, "web");
    accounts.patch(FROZEN, &check, &label).await.is_ok()
}

/// A client that may read CRDs and nothing else.
async fn visitor(cluster: &Cluster) -> kube::Client {
    let roles = [
        json!({
            "apiVersion": "rbac.authorization.k8s.io/v1",
            "kind": "ClusterRole",
            "metadata": {"name": "visitor"},
            "rules": [{
                "apiGroups": ["apiextensions.k8s.io"],
                "resources": ["customresourcedefinitions"],
                "verbs": ["get"],
            }],
        }),
        json!({
            "apiVersion": "rbac.authorization.k8s.io/v1",
            "kind": "ClusterRoleBinding",
            "metadata": {"name": "visitor"},
            "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "visitor"},
            "subjects": [{"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": "visitor"}],
        }),
    ];
    for role in &roles {
        cluster.apply(role).await;
    }
    let mut config = cluster.plane.client_config().await.unwrap();
    config.auth_info.impersonate = Some("visitor".to_owned());
    kube::Client::try_from(config).unwrap()
}

/// Older versions stay while an object cannot be written, and where somebody cannot see all objects.
async fn older_versions_stay_while_they_are_needed(cluster: &Cluster) {
    let kind = Kind(storage_account());
    let both = [OLD, NEW];
    let migration = StorageMigration::new(visitor(cluster).await);
    cluster
        .until("the rights of the visitor count", async |_| {
            migration.migrate(kind).await.is_ok()
        })
        .await;
    let migrated = migration.migrate(kind).await.unwrap();
    assert_eq!(migrated, Migrated::NotAllowed);

    freeze(cluster).await;
    let migration = StorageMigration::new(cluster.client.clone());
    let error = migration.migrate(kind).await.unwrap_err().to_string();
    let named = format!("StorageAccount web/{FROZEN}: ");
    assert!(
        error.contains(&named) && error.contains("frozen by its owner"),
        "{error}"
    );
    assert_eq!(error.matches("StorageAccount ").count(), 1, "{error}");
    assert_eq!(stored_versions(cluster).await, both);
    thaw(cluster).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn older_versions_leave_a_crd_when_no_object_is_stored_at_them() {
    let cluster = Cluster::start().await;
    for name in [NAMESPACE, "team", "web"] {
        cluster.apply(&namespace(name)).await;
    }
    let base = OperatorConfig {
        crd_pattern: "resources.azure.com/*;storage.azure.com/StorageAccount"
            .parse()
            .unwrap(),
        shutdown_delay: Duration::ZERO,
        ..config(&cluster).await
    };
    let old = OperatorConfig {
        kinds: older(),
        ..base.clone()
    };
    let old = Operator::start(old).await.unwrap();
    store(&cluster).await;
    assert_eq!(stored_versions(&cluster).await, [OLD]);
    old.stop().await;

    let writes_before = writes(&cluster);
    assert_eq!(writes_before, 2, "a PUT for each of our objects");
    let newer = Operator::start(base.clone()).await.unwrap();
    cluster
        .until("the CRD is the newer operator's", async |cluster| {
            stored_versions(cluster).await == [OLD, NEW]
        })
        .await;
    let theirs_before = objects(&cluster, "web").await;
    assert_eq!(theirs_before.len(), THEIRS);
    older_versions_stay_while_they_are_needed(&cluster).await;
    newer.stop().await;

    let at_once = OperatorConfig {
        storage_migration_delay: Duration::from_secs(2),
        ..base.clone()
    };
    let newer = Operator::start(at_once).await.unwrap();
    cluster
        .until("the older version is forgotten", async |cluster| {
            stored_versions(cluster).await == [NEW]
        })
        .await;
    newer.stop().await;

    // The next update takes it out of the CRD: what were still stored at it could not be read.
    let newer = Operator::start(base).await.unwrap();
    cluster
        .until("the older version leaves the CRD", async |cluster| {
            let versions = crd(cluster).await.spec.versions;
            versions.iter().all(|version| version.name != OLD)
        })
        .await;
    assert_eq!(objects(&cluster, "web").await, theirs_before);
    let ours = objects(&cluster, "team").await;
    assert_eq!(ours[0]["spec"]["accessTier"], "Hot");
    assert_eq!(ours[0]["metadata"]["generation"], 1);
    assert_eq!(writes(&cluster), writes_before, "writes to Azure");
    newer.stop().await;
}
