//! CRDs over several releases: an older operator is replaced by a newer one, and CRDs come and go.

use std::collections::BTreeSet;
use std::net::{Ipv4Addr, SocketAddr};
use std::time::Duration;

use armature::{
    CONVERSION_MEMORY, CrdManagement, Operator, OperatorConfig, OperatorMode, VersionChoice,
    WebhookReach,
};
use armature_runtime::azure::budget::Limits;
use armature_runtime::azure::credential::operator_identity;
use armature_runtime::azure::{ClientSettings, Cloud};
use armature_runtime::engine::crd::{CrdOptions, custom_resource_definition};
use armature_runtime::kind::{HubInfo, KindInfo};
use armature_runtime::kubernetes::{InstalledCrd, today};
use armature_runtime::reconcile::policy::Policy;
use armature_runtime::reconcile::queue::WORKERS;
use armature_simulator::Settings;
use kube::api::{Api, DeleteParams, DynamicObject};
use serde_json::Value;

use crate::chart::NAMESPACE;
use crate::cluster::{Cluster, namespace};
use crate::pod::Ports;
use crate::service::Service;
use crate::upgrade::{Load, objects};

const GROUP: &str = "storage.azure.com";
const CRD: &str = "storageaccounts.storage.azure.com";

pub const ACCOUNT: &str = "
apiVersion: storage.azure.com/v1api20210401
kind: StorageAccount
metadata: {name: shop, namespace: team}
spec:
  location: westeurope
  owner: {name: shop}
  kind: StorageV2
  sku: {name: Standard_LRS}
  accessTier: Hot
";

/// The kind.
pub fn storage_account() -> &'static KindInfo {
    let mut kinds = armature_generated::KINDS.iter();
    kinds.find(|kind| kind.kind == "StorageAccount").unwrap()
}

/// Kinds of a release that had no version of storage accounts after 2023-01-01.
pub fn older() -> &'static [&'static KindInfo] {
    let kind = storage_account();
    let last = "v1api20230101";
    let count = kind
        .versions
        .iter()
        .position(|version| version.name == last);
    let older = KindInfo {
        versions: &kind.versions[..=count.unwrap()],
        hub: HubInfo {
            storage_version: "v1api20230101storage",
            ..kind.hub
        },
        ..*kind
    };
    let mut kinds = armature_generated::KINDS.iter().copied();
    let group = kinds.find(|kind| kind.kind == "ResourceGroup");
    Box::leak(Box::new([group.unwrap(), &*Box::leak(Box::new(older))]))
}

/// Configuration of an operator that keeps the CRD of storage accounts and manages them, in [`NAMESPACE`].
pub async fn config(cluster: &Cluster) -> OperatorConfig {
    let settings = Settings::default();
    let identity = operator_identity(|name: &str| match name {
        "AZURE_SUBSCRIPTION_ID" => settings.subscriptions.first().cloned(),
        "AZURE_TENANT_ID" => Some(settings.tenant.clone()),
        "AZURE_CLIENT_ID" => Some("00000000-0000-0000-0000-00000000000a".to_owned()),
        "AZURE_CLIENT_SECRET" => Some("a secret of the tests".to_owned()),
        _ => None,
    });
    let azure = cluster.azure.endpoint();
    OperatorConfig {
        kubernetes: cluster.plane.client_config().await.unwrap(),
        kinds: armature_generated::KINDS,
        arm: ClientSettings {
            cloud: Cloud::new(azure, azure, "https://management.azure.com").unwrap(),
            identity: identity.unwrap().into(),
            ca_file: Some(cluster.path("azure-ca.pem")),
            user_agent_suffix: None,
            token_file: None,
            other_clouds: false,
            identity_folders: Vec::new(),
            secret_bounds: Default::default(),
            metadata_endpoint: None,
        },
        mode: OperatorMode::WatchersAndWebhooks,
        namespace: NAMESPACE.to_owned(),
        target_namespaces: Vec::new(),
        crd_management: CrdManagement::Auto,
        crd_pattern: "storage.azure.com/StorageAccount".parse().unwrap(),
        crd_versions: VersionChoice::All,
        crd_labels: "".parse().unwrap(),
        crd_descriptions: false,
        crd_deprecations: false,
        webhook_listen: SocketAddr::new(Ipv4Addr::LOCALHOST.into(), 0),
        webhook_reach: WebhookReach::Loopback,
        webhook_secret: "webhook".to_owned(),
        certificate_check: Duration::from_secs(600),
        storage_migration_delay: Duration::from_secs(3600),
        shutdown_delay: Duration::from_secs(2),
        time: Default::default(),
        today,
        leader_election: None,
        health_listen: None,
        metrics_listen: None,
        metrics_readers: Default::default(),
        default_policy: Policy::Manage,
        allowed_scopes: None,
        allowed_scopes_mode: Default::default(),
        sync_period: None,
        longest_rest: None,
        graph_period: None,
        max_concurrent_reconciles: None,
        export_bounds: Default::default(),
        metrics_service: None,
        profiling: false,
        tls_min_version: Default::default(),
        longest_hold_before_put: Duration::from_secs(60 * 60),
        longest_hold_before_delete: Duration::from_secs(5 * 60),
        workers: WORKERS,
        arm_budget: Limits::default(),
        conversion_memory: CONVERSION_MEMORY,
    }
}

/// The same operator, behind a Service.
fn behind(service: &Service, config: &OperatorConfig) -> (OperatorConfig, Ports) {
    let ports = Ports::free();
    service.select(ports);
    let address = |port| SocketAddr::new(Ipv4Addr::LOCALHOST.into(), port);
    let config = OperatorConfig {
        webhook_listen: address(ports.webhook),
        webhook_reach: WebhookReach::Url(service.url()),
        health_listen: Some(address(ports.health)),
        ..config.clone()
    };
    (config, ports)
}

/// The CRD of storage accounts.
pub async fn crd(cluster: &Cluster) -> InstalledCrd {
    let crds: Api<InstalledCrd> = Api::all(cluster.client.clone());
    crds.get(CRD).await.unwrap()
}

async fn served(cluster: &Cluster) -> BTreeSet<String> {
    crd(cluster).await.served().cloned().collect()
}

fn accounts(cluster: &Cluster, version: &str) -> Api<DynamicObject> {
    objects(cluster, GROUP, version, "StorageAccount")
}

/// A manifest in YAML.
pub fn manifest(text: &str) -> Value {
    serde_saphyr::from_str(text).unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn objects_outlive_the_releases_of_the_operator() {
    let cluster = Cluster::start().await;
    for name in [NAMESPACE, "team"] {
        cluster.apply(&namespace(name)).await;
    }
    let service = Service::start().await;
    let base = OperatorConfig {
        mode: OperatorMode::Webhooks,
        ..config(&cluster).await
    };
    let (old_config, ports) = behind(&service, &base);
    let old_config = OperatorConfig {
        kinds: older(),
        // Until a Service of a busy machine, too, has learnt that it goes.
        shutdown_delay: Duration::from_secs(10),
        ..old_config
    };
    let old = Operator::start(old_config.clone()).await.unwrap();
    service.wait_ready(ports).await;
    cluster.apply(&manifest(ACCOUNT)).await;
    let load = Load::start(&accounts(&cluster, "v1api20210401"), "shop");

    let (new_config, ports) = behind(&service, &base);
    let new = Operator::start(new_config).await.unwrap();
    service.wait_ready(ports).await;
    // The old operator, which knows no newer version, is still sent objects.
    tokio::time::sleep(Duration::from_secs(3)).await;
    assert_eq!(
        crd(&cluster).await.status.stored_versions,
        ["v1api20230101storage"]
    );
    old.stop().await;
    let newest = accounts(&cluster, "v20250601");
    cluster
        .until("the object can be read at the newest version", async |_| {
            let read = newest.get("shop").await;
            read.is_ok_and(|read| read.data["spec"]["accessTier"] == "Hot")
        })
        .await;
    println!("{} requests, none failed", load.end().await);
    let stored = crd(&cluster).await.status.stored_versions;
    assert_eq!(stored, ["v1api20230101storage", "v20250601storage"]);
    new.stop().await;

    let error = Operator::start(old_config).await.err().unwrap().to_string();
    assert!(
        error.contains(CRD) && error.contains("v20250601storage"),
        "{error}"
    );
    assert!(
        served(&cluster).await.contains("v20250601"),
        "nothing is changed"
    );

    serves_what_is_needed(&cluster, &base).await;
}

/// With `latest`, versions that nothing names are no longer served.
async fn serves_what_is_needed(cluster: &Cluster, base: &OperatorConfig) {
    assert!(served(cluster).await.contains("v1api20220901"));
    let mut latest = OperatorConfig {
        crd_versions: VersionChoice::Latest,
        shutdown_delay: Duration::ZERO,
        ..base.clone()
    };
    let rows = [
        (
            "storage.azure.com/StorageAccount",
            &["v1api20210401", "v20250601", "v20250601storage"][..],
        ),
        (
            "storage.azure.com/v1api20220901/StorageAccount",
            &[
                "v1api20210401",
                "v1api20220901",
                "v20250601",
                "v20250601storage",
            ],
        ),
    ];
    for (pattern, expected) in rows {
        latest.crd_pattern = pattern.parse().unwrap();
        let operator = Operator::start(latest.clone()).await.unwrap();
        let expected: BTreeSet<String> = expected.iter().map(|&name| name.into()).collect();
        cluster
            .until("these versions are served", async |cluster| {
                served(cluster).await == expected
            })
            .await;
        // The API server sees the new URL of the webhook a moment after it has answered that it is written.
        let oldest = accounts(cluster, "v1api20210401");
        cluster
            .until("the object can be read at the oldest version", async |_| {
                oldest.get("shop").await.is_ok()
            })
            .await;
        operator.stop().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn watches_and_conversion_follow_crds() {
    let cluster = Cluster::start().await;
    for name in [NAMESPACE, "team"] {
        cluster.apply(&namespace(name)).await;
    }
    // CRDs are the user's, and there are none yet.
    let config = OperatorConfig {
        crd_management: CrdManagement::None,
        shutdown_delay: Duration::ZERO,
        ..config(&cluster).await
    };
    let operator = Operator::start(config).await.unwrap();
    let group = "apiVersion: resources.azure.com/v1api20200601\nkind: ResourceGroup\n\
                 metadata: {name: shop, namespace: team}\nspec: {location: westeurope}";
    let id = "/subscriptions/00000000-0000-0000-0000-000000000001/resourceGroups/shop";
    let kinds = armature_generated::KINDS.iter();
    let kind = kinds.clone().find(|kind| kind.kind == "ResourceGroup");
    let crd = custom_resource_definition(kind.unwrap(), &CrdOptions::default());
    let crds: Api<InstalledCrd> = Api::all(cluster.client.clone());
    for _ in 0..2 {
        cluster.apply(&crd).await;
        cluster
            .until("the new CRD converts", async |cluster| {
                cluster
                    .request(&manifest(group), &kube::api::PatchParams::apply("test"))
                    .await
                    .is_ok()
            })
            .await;
        cluster
            .until("the object is in Azure", async |cluster| {
                cluster.azure.simulator().resource(id).is_some()
            })
            .await;
        // The CRD takes its objects with it; the operator deletes them in Azure first.
        crds.delete(
            "resourcegroups.resources.azure.com",
            &DeleteParams::default(),
        )
        .await
        .unwrap();
        cluster
            .until("the CRD is gone, and its objects", async |cluster| {
                let crd = crds.get_opt("resourcegroups.resources.azure.com").await;
                crd.unwrap().is_none() && cluster.azure.simulator().resource(id).is_none()
            })
            .await;
    }
    operator.stop().await;
}
