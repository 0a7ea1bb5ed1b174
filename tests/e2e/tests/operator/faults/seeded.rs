//! Faults drawn from a seed, against a group of objects that depend on each other: they become ready, are changed and
//! deleted, and nothing is written twice or left behind.
//!
//! `ARMATURE_FAULT_SEED` chooses the seed; a failure prints it. The n-th request of a method for a resource meets the
//! same fault in each run.

use std::time::{Duration, Instant};

use armature::{Operator, OperatorConfig};
use armature_e2e::{Objects, World};
use armature_runtime::azure::Cloud;
use armature_runtime::reconcile::time::Time;
use armature_simulator::{
    Chaos, LoggedRequest, OperationRule, Options, Query, Running, Settings, Simulator, Style,
};
use serde_json::{Value, json};

use crate::SUBSCRIPTION;

const NAMESPACE: &str = "seeded";
const SEED: &str = "ARMATURE_FAULT_SEED";

/// Share of requests to Azure that are hit.
const RATE: f64 = 0.3;

/// By how much faster the operator's time passes: several faults in a row make long waits.
const SPEED: u32 = 200;

/// An object of the group.
struct Part {
    kind: &'static str,
    version: &'static str,
    name: &'static str,
    /// Path in Azure below the resource group; empty for the group itself.
    path: &'static str,
    /// At the creation (`false`) and after the change.
    spec: fn(bool) -> Value,
}

fn stage(is_changed: bool) -> Value {
    json!({"stage": if is_changed { "two" } else { "one" }})
}

static PARTS: [Part; 7] = [
    Part {
        kind: "ResourceGroup",
        version: "v1api20200601",
        name: "seeded",
        path: "",
        spec: |is_changed| json!({"location": "westeurope", "tags": stage(is_changed)}),
    },
    Part {
        kind: "StorageAccount",
        version: "v1api20230101",
        name: "seededaccount",
        path: "/providers/Microsoft.Storage/storageAccounts/seededaccount",
        spec: |is_changed| {
            json!({
                "owner": {"name": "seeded"},
                "location": "westeurope",
                "kind": "StorageV2",
                "sku": {"name": "Standard_LRS"},
                "tags": stage(is_changed),
            })
        },
    },
    Part {
        kind: "StorageAccountsBlobService",
        version: "v1api20230101",
        name: "seeded-blobs",
        path: "/providers/Microsoft.Storage/storageAccounts/seededaccount/blobServices/default",
        spec: |is_changed| {
            json!({
                "owner": {"name": "seededaccount"},
                "deleteRetentionPolicy": {"enabled": true, "days": if is_changed { 8 } else { 7 }},
            })
        },
    },
    Part {
        kind: "StorageAccountsBlobServicesContainer",
        version: "v1api20230101",
        name: "seeded-container",
        path: "/providers/Microsoft.Storage/storageAccounts/seededaccount/blobServices/default/containers/seeded-container",
        spec: |is_changed| json!({"owner": {"name": "seeded-blobs"}, "metadata": stage(is_changed)}),
    },
    Part {
        kind: "VirtualNetwork",
        version: "v1api20201101",
        name: "seeded-network",
        path: "/providers/Microsoft.Network/virtualNetworks/seeded-network",
        spec: |is_changed| {
            json!({
                "owner": {"name": "seeded"},
                "location": "westeurope",
                "addressSpace": {"addressPrefixes": ["10.0.0.0/16"]},
                "tags": stage(is_changed),
            })
        },
    },
    Part {
        kind: "VirtualNetworksSubnet",
        version: "v1api20201101",
        name: "seeded-subnet",
        path: "/providers/Microsoft.Network/virtualNetworks/seeded-network/subnets/seeded-subnet",
        spec: |is_changed| {
            json!({
                "owner": {"name": "seeded-network"},
                "addressPrefix": if is_changed { "10.0.0.0/25" } else { "10.0.0.0/24" },
            })
        },
    },
    Part {
        kind: "Vault",
        version: "v1api20230701",
        name: "seeded-vault",
        path: "/providers/Microsoft.KeyVault/vaults/seeded-vault",
        spec: |is_changed| {
            json!({
                "owner": {"name": "seeded"},
                "location": "westeurope",
                "tags": stage(is_changed),
                "properties": {
                    "tenantId": "00000000-0000-0000-0000-000000000002",
                    "sku": {"family": "A", "name": "standard"},
                    "accessPolicies": [],
                },
            })
        },
    },
];

impl Part {
    fn id(&self) -> String {
        format!("{SUBSCRIPTION}/resourceGroups/seeded{}", self.path)
    }

    fn manifest(&self, is_changed: bool) -> Value {
        let group = armature_e2e::kind_info(self.kind).group;
        let mut manifest = json!({
            "apiVersion": format!("{group}/{}", self.version),
            "kind": self.kind,
            "metadata": {
                "name": self.name,
                "namespace": NAMESPACE,
                "annotations": {"serviceoperator.azure.com/operator-namespace": NAMESPACE},
            },
            "spec": (self.spec)(is_changed),
        });
        // Azure has no DELETE for the services of an account: they go with it.
        if self.kind == "StorageAccountsBlobService" {
            manifest["metadata"]["annotations"]["serviceoperator.azure.com/reconcile-policy"] =
                json!("detach-on-delete");
        }
        manifest
    }
}

/// Applies all at once and waits until all are ready as they are then.
async fn apply(objects: &Objects, is_changed: bool) {
    let mut generations = Vec::new();
    for part in &PARTS {
        let applied = objects.apply_value(&part.manifest(is_changed)).await;
        generations.push(applied.unwrap().metadata.generation);
    }
    for (part, generation) in PARTS.iter().zip(generations) {
        let is_ready = |ready: &Value| {
            ready["status"] == "True" && ready["observedGeneration"].as_i64() == generation
        };
        objects.wait_ready(part.kind, part.name, is_ready).await;
    }
}

async fn delete(objects: &Objects) {
    for part in &PARTS {
        objects.delete(part.kind, part.name).await.unwrap();
    }
    for part in &PARTS {
        objects.wait_gone(part.kind, part.name).await;
    }
}

/// Resources of which Azure took more than one write of this method.
fn taken_twice(log: &[LoggedRequest], method: &str) -> Vec<String> {
    let count = |part: &&Part| {
        let of = log.iter().filter(|one| one.method == method);
        let of = of.filter(|one| one.path.eq_ignore_ascii_case(&part.id()));
        // Where the answer was spoiled nobody knows that it was taken.
        let of = of.filter(|one| one.fault.is_none());
        // 204: there was nothing to delete.
        of.filter(|one| (200..204).contains(&one.status)).count()
    };
    let twice = PARTS.iter().filter(|part| count(part) > 1);
    twice.map(Part::id).collect()
}

/// A new Azure in which faults are drawn from a seed. One of its resources shows at the end of its PUT only.
async fn azure(seed: u64) -> Running {
    let settings = Settings {
        chaos: Some(Chaos { seed, rate: RATE }),
        ..Settings::default()
    };
    let options = Options {
        settings,
        ..Options::new(armature_generated::KINDS)
    };
    let azure = Simulator::start(options).await.unwrap();
    // By time: who lost the operation's URL cannot poll.
    let unseen = OperationRule {
        put: Some(Style::Location),
        latency: Some(Duration::from_millis(500)),
        ..OperationRule::default()
    };
    let of = Some("Microsoft.Storage/storageAccounts");
    azure.simulator().set_operation_rule(of, unseen);
    azure
}

/// Seeds are numbers; without one, the same in each run.
fn seed() -> u64 {
    let text = std::env::var(SEED);
    text.map_or(1, |text| text.parse().expect("the seed is a number"))
}

#[test]
fn faults_from_a_seed_end_well() {
    let seed = seed();
    // Shown when the test fails.
    println!("to repeat: {SEED}={seed}");
    World::shared().run(NAMESPACE, async |world, objects| {
        let azure = azure(seed).await;
        let folder = tempfile::tempdir().unwrap();
        let ca_file = folder.path().join("azure-ca.pem");
        std::fs::write(&ca_file, azure.ca_pem()).unwrap();
        let mut config = OperatorConfig {
            time: Time::times(SPEED),
            longest_hold_before_put: super::FOREVER,
            longest_hold_before_delete: super::FOREVER,
            ..world.operator_config(NAMESPACE)
        };
        let endpoint = azure.endpoint();
        config.arm.cloud = Cloud::new(endpoint, endpoint, "https://management.azure.com").unwrap();
        config.arm.ca_file = Some(ca_file);
        let operator = Operator::start(config).await.unwrap();

        let started = Instant::now();
        let mut from = 0;
        let mut hits = 0;
        for phase in ["create", "update", "delete"] {
            match phase {
                "create" => apply(&objects, false).await,
                "update" => apply(&objects, true).await,
                _ => delete(&objects).await,
            }
            let query = Query {
                after: Some(from),
                ..Query::default()
            };
            let log = azure.simulator().requests(&query);
            from = log.last().map_or(from, |one| one.sequence);
            hits += log.iter().filter(|one| one.fault.is_some()).count();
            for method in ["PUT", "DELETE"] {
                let twice = taken_twice(&log, method);
                assert!(
                    twice.is_empty(),
                    "{phase}, {SEED}={seed}: {method} twice: {twice:?}"
                );
            }
            for part in &PARTS {
                let is_there = azure.simulator().resource(&part.id()).is_some();
                assert_eq!(
                    is_there,
                    phase != "delete",
                    "{phase}, {SEED}={seed}: {}",
                    part.id()
                );
            }
        }
        println!(
            "faults from seed {seed}: {hits} in {from} requests, ended well after {:.1?}",
            started.elapsed()
        );
        assert!(hits >= 10, "only {hits} faults, {SEED}={seed}");
        operator.stop().await;
        azure.stop().await;
    });
}
