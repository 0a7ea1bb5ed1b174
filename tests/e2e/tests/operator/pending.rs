//! What objects say while nobody has looked at them, or has not done yet what they ask for: Flux's own kstatus reads each state
//! that the API server tells of.

use armature_controlplane::Flux;
use armature_controlplane::waiting::until;
use armature_e2e::{Objects, World, condition};
use armature_exposure::random_value;
use armature_runtime::names::PENDING;
use futures::{Stream, StreamExt};
use k8s_openapi::api::core::v1::{ConfigMap, Secret};
use kube::api::{Api, DynamicObject, Patch, PatchParams, WatchEvent, WatchParams};
use serde_json::{Value, json};

use crate::applies::leave_alone;
use crate::{SUBSCRIPTION, is_ready, resource_group, sent};

const ACCOUNT: &str = "storage/StorageAccount";
const VERSION: &str = "v1api20230101";
const CLUSTER: &str = "kusto/Cluster";

fn account(name: &str, namespace: &str, tier: &str) -> Value {
    json!({
        "apiVersion": format!("storage.azure.com/{VERSION}"), "kind": "StorageAccount",
        "metadata": {"name": name, "namespace": namespace},
        "spec": {
            "location": "westeurope", "kind": "StorageV2", "sku": {"name": "Standard_LRS"},
            "owner": {"name": format!("{namespace}-rg")}, "accessTier": tier,
        },
    })
}

async fn flux(world: &World) -> Flux {
    Flux::start(world.plane().kubeconfig(), &Default::default())
        .await
        .unwrap()
}

/// Looks at each state from now on, of which none was there before something changed that the object depends on, until it is
/// served: nothing is done before.
async fn is_served_before_it_is_done(
    flux: &mut Flux,
    states: &mut (impl Stream<Item = Value> + Unpin),
    generation: Option<i64>,
    is_served: impl Fn() -> bool,
) {
    let mut seen = Vec::new();
    loop {
        let state = states.next().await.expect("the watch goes on");
        // As it was before the edit.
        if state["metadata"]["generation"].as_i64() < generation {
            continue;
        }
        let served = is_served();
        let status = flux.status(&state).await.unwrap();
        if status == "Current" {
            assert!(served, "after {seen:?}: {state:#}");
            return;
        }
        seen.push(status);
    }
}

/// Every state of an object that the API server tells of from now on, at a served version.
async fn states(
    objects: &Objects,
    kind: &str,
    version: &str,
    name: &str,
) -> impl Stream<Item = Value> + Unpin + use<> {
    let api = objects.api(kind, version);
    let parameters = WatchParams::default().fields(&format!("metadata.name={name}"));
    let events = api.watch(&parameters, "0").await.unwrap();
    let object = |event: kube::Result<WatchEvent<DynamicObject>>| async move {
        match event.unwrap() {
            WatchEvent::Added(object) | WatchEvent::Modified(object) => {
                Some(serde_json::to_value(object).unwrap())
            }
            WatchEvent::Bookmark(_) => None,
            other => panic!("{other:?}"),
        }
    };
    Box::pin(events.filter_map(object))
}

#[test]
fn an_object_says_that_nobody_has_looked_from_the_first_moment() {
    const NAMESPACE: &str = "pending-unseen";
    World::shared().run(NAMESPACE, async |world, objects| {
        let mut flux = flux(world).await;
        let mut object = account("unseen", NAMESPACE, "Hot");
        leave_alone(&mut object);
        let applied = objects.apply_value(&object).await.unwrap();
        let check = async |flux: &mut Flux| {
            let read = objects.get(ACCOUNT, VERSION, "unseen").await.unwrap();
            let ready = condition(&read, "Ready");
            assert_eq!(ready["status"], "Unknown", "{read:#}");
            assert_eq!(ready["reason"], PENDING);
            assert_eq!(ready["lastTransitionTime"], "1970-01-01T00:00:00Z");
            let message = ready["message"].as_str().unwrap();
            assert!(message.contains("Armature runs"), "{message}");
            assert_eq!(flux.status(&read).await.unwrap(), "InProgress");
            read
        };
        check(&mut flux).await;
        // A status that somebody stores without conditions says so, too.
        let id = json!({"id": "/subscriptions/s"});
        let stored = objects.patch_stored_status(ACCOUNT, &applied, id).await;
        stored.unwrap();
        let read = check(&mut flux).await;
        assert_eq!(read["status"]["id"], "/subscriptions/s");
    });
}

#[test]
fn flux_takes_no_edit_for_done_that_azure_has_not_got() {
    const NAMESPACE: &str = "pending-edits";
    World::shared().run(NAMESPACE, async |world, objects| {
        let mut flux = flux(world).await;
        let group = resource_group(&format!("{NAMESPACE}-rg"), NAMESPACE);
        let id = format!(
            "{SUBSCRIPTION}/resourceGroups/{NAMESPACE}-rg/providers/Microsoft.Storage/storageAccounts/pendingedits"
        );
        for tier in ["Hot", "Cool"] {
            let object = account("pendingedits", NAMESPACE, tier);
            let applied = objects.apply_value(&object).await.unwrap();
            let generation = applied.metadata.generation;
            if tier == "Hot" {
                // Its owner comes later, so it waits for a while.
                objects.apply(&group).await.unwrap();
            }
            let mut states = states(&objects, ACCOUNT, VERSION, "pendingedits").await;
            loop {
                let state = states.next().await.expect("the watch goes on");
                if flux.status(&state).await.unwrap() != "Current" {
                    continue;
                }
                assert_eq!(state["metadata"]["generation"], json!(generation));
                let desired = world.azure().desired(&id).unwrap_or_default();
                assert_eq!(desired["properties"]["accessTier"], tier, "{state:#}");
                break;
            }
        }
    });
}

/// A ConfigMap that the spec reads changes, and a reference in the spec: neither is done before Azure has it.
#[test]
fn a_changed_config_map_and_a_changed_reference_are_served_before_they_are_done() {
    const NAMESPACE: &str = "pending-inputs";
    const IDENTITY: &str = "managedidentity/UserAssignedIdentity";
    const CREDENTIAL: &str = "managedidentity/FederatedIdentityCredential";
    const VERSION: &str = "v1api20230131";
    World::shared().run(NAMESPACE, async |world, objects| {
        let mut flux = flux(world).await;
        let group = resource_group(&format!("{NAMESPACE}-rg"), NAMESPACE);
        objects.apply(&group).await.unwrap();
        let api_version = format!("managedidentity.azure.com/{VERSION}");
        let identity = |name: &str| json!({
            "apiVersion": api_version, "kind": "UserAssignedIdentity",
            "metadata": {"name": name, "namespace": NAMESPACE},
            "spec": {"location": "westeurope", "owner": {"name": format!("{NAMESPACE}-rg")}},
        });
        for name in ["pendingone", "pendingtwo"] {
            objects.apply_value(&identity(name)).await.unwrap();
        }
        let maps: Api<ConfigMap> = Api::namespaced(world.client().clone(), NAMESPACE);
        let put_issuer = async |issuer: &str| {
            let map = json!({
                "apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "cluster"}, "data": {"issuer": issuer},
            });
            let (parameters, patch) = (PatchParams::apply("test"), Patch::Apply(&map));
            maps.patch("cluster", &parameters, &patch).await.unwrap();
        };
        let [before, after] = ["https://before.test/", "https://after.test/"];
        put_issuer(before).await;
        let credential = json!({
            "apiVersion": api_version, "kind": "FederatedIdentityCredential",
            "metadata": {"name": "pendingcredential", "namespace": NAMESPACE},
            "spec": {
                "owner": {"name": "pendingone"}, "subject": "s", "audiences": ["a"],
                "issuerFromConfig": {"name": "cluster", "key": "issuer"},
            },
        });
        objects.apply_value(&credential).await.unwrap();
        objects.wait_ready(CREDENTIAL, "pendingcredential", is_ready).await;
        let providers = format!("{SUBSCRIPTION}/resourceGroups/{NAMESPACE}-rg/providers");
        let identities = format!("{providers}/Microsoft.ManagedIdentity/userAssignedIdentities");
        let id = format!("{identities}/pendingone/federatedIdentityCredentials/pendingcredential");
        let mut all = states(&objects, CREDENTIAL, VERSION, "pendingcredential").await;
        let state = all.next().await.expect("the watch goes on");
        assert_eq!(flux.status(&state).await.unwrap(), "Current", "{state:#}");
        put_issuer(after).await;
        is_served_before_it_is_done(&mut flux, &mut all, None, || {
            let desired = world.azure().desired(&id).unwrap_or_default();
            desired["properties"]["issuer"] == after
        })
        .await;

        let mut object = account("pendinginputs", NAMESPACE, "Hot");
        let id = format!("{providers}/Microsoft.Storage/storageAccounts/pendinginputs");
        for name in ["pendingone", "pendingtwo"] {
            objects.wait_ready(IDENTITY, name, is_ready).await;
            let reference = json!({"group": "managedidentity.azure.com", "kind": "UserAssignedIdentity", "name": name});
            object["spec"]["identity"] = json!({
                "type": "UserAssigned", "userAssignedIdentities": [{"reference": reference}],
            });
            let applied = objects.apply_value(&object).await.unwrap();
            let generation = applied.metadata.generation;
            let mut all = states(&objects, ACCOUNT, "v1api20230101", "pendinginputs").await;
            is_served_before_it_is_done(&mut flux, &mut all, generation, || {
                let desired = world.azure().desired(&id).unwrap_or_default();
                let used = &desired["identity"]["userAssignedIdentities"];
                used.get(format!("{identities}/{name}")).is_some()
            })
            .await;
        }
    });
}

#[test]
fn a_drift_and_a_changed_secret_are_said_before_they_are_served() {
    const NAMESPACE: &str = "pending-drift";
    World::shared().run(NAMESPACE, async |world, objects| {
        let mut flux = flux(world).await;
        let group = resource_group(&format!("{NAMESPACE}-rg"), NAMESPACE);
        objects.apply(&group).await.unwrap();
        let secrets: Api<Secret> = Api::namespaced(world.client().clone(), NAMESPACE);
        let put_secret = async || {
            let text = random_value();
            let secret = json!({
                "apiVersion": "v1", "kind": "Secret", "metadata": {"name": "graduation"}, "stringData": {"text": text},
            });
            let (parameters, patch) = (PatchParams::apply("test"), Patch::Apply(&secret));
            secrets.patch("graduation", &parameters, &patch).await.unwrap();
        };
        put_secret().await;
        let object = json!({
            "apiVersion": "kusto.azure.com/v1api20230815", "kind": "Cluster",
            "metadata": {"name": "pendingcluster", "namespace": NAMESPACE},
            "spec": {
                "location": "westeurope", "owner": {"name": format!("{NAMESPACE}-rg")},
                "sku": {"name": "Standard_D13_v2", "tier": "Standard", "capacity": 2},
                "virtualClusterGraduationProperties": {"name": "graduation", "key": "text"},
            },
        });
        objects.apply_value(&object).await.unwrap();
        objects.wait_ready(CLUSTER, "pendingcluster", is_ready).await;
        let id = format!(
            "{SUBSCRIPTION}/resourceGroups/{NAMESPACE}-rg/providers/Microsoft.Kusto/clusters/pendingcluster"
        );
        for (round, is_drift) in [true, false].into_iter().enumerate() {
            until("a PUT", async || sent(world, "PUT", &id) == round + 1).await;
            let mut states = states(&objects, CLUSTER, "v1api20230815", "pendingcluster").await;
            // As it is now.
            let state = states.next().await.expect("the watch goes on");
            assert_eq!(flux.status(&state).await.unwrap(), "Current", "{state:#}");
            if is_drift {
                let other = json!({"sku": {"name": "Standard_D13_v2", "tier": "Standard", "capacity": 3}});
                world.azure().drift(&id, &other).unwrap();
                let now = json!({"metadata": {"annotations": {"armature.azure.com/reconcile-now": "1"}}});
                let api = objects.api(CLUSTER, "v1api20230815");
                let patch = Patch::Merge(&now);
                api.patch("pendingcluster", &PatchParams::default(), &patch).await.unwrap();
            } else {
                put_secret().await;
            }
            let (mut seen, mut was_unready) = (Vec::new(), false);
            loop {
                let state = states.next().await.expect("the watch goes on");
                let status = flux.status(&state).await.unwrap();
                seen.push(status.clone());
                if status != "Current" {
                    let why = condition(&state, "Reconciling")["message"].to_string();
                    assert!(why.contains(if is_drift { "capacity" } else { "has changed" }), "{state:#}");
                    was_unready = true;
                } else if was_unready {
                    break;
                }
            }
            assert_eq!(sent(world, "PUT", &id), round + 2, "{seen:?}");
        }
    });
}
