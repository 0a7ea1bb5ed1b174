//! Identities without a secret of their own: workload identities, which prove themselves with a token of the cluster,
//! and managed identities, whose tokens the machine's metadata service gives out.
//!
//! | module | what lives here |
//! |---|---|
//! | `cluster` | tokens of service accounts |
//! | `machine` | the metadata service of a machine |

mod cluster;
mod machine;

use armature::{Operator, OperatorConfig};
use armature_e2e::{Objects, World};
use armature_runtime::azure::credential::operator_identity;
use serde_json::{Value, json};

use self::cluster::Accounts;
use self::machine::Machine;
use crate::credentials::{credential, expire_token, put, wait_told, writers};
use crate::{SUBSCRIPTION, is_ready};

const GLOBAL: &str = "00000000-0000-0000-0000-0000000001d1";
const OF_NAMESPACE: &str = "00000000-0000-0000-0000-0000000001d2";
const OF_OBJECT: &str = "00000000-0000-0000-0000-0000000001d3";
const ROTATED: &str = "00000000-0000-0000-0000-0000000001d4";
const ASSIGNED: [&str; 2] = [
    "00000000-0000-0000-0000-0000000001d5",
    "00000000-0000-0000-0000-0000000001d6",
];

/// An operator of a namespace, whose own identity is in these variables.
fn config(world: &World, namespace: &str, variables: &[(&str, &str)]) -> OperatorConfig {
    let common = [("AZURE_SUBSCRIPTION_ID", SUBSCRIPTION.rsplit('/').next())];
    let variable = |name: &str| {
        let more = variables.iter().map(|(key, value)| (*key, Some(*value)));
        let mut all = common.into_iter().chain(more);
        let (_, value) = all.find(|(key, _)| *key == name)?;
        value.map(str::to_owned)
    };
    let mut config = world.operator_config(namespace);
    config.arm.identity = operator_identity(variable).unwrap().into();
    config.arm.token_file = variable("AZURE_FEDERATED_TOKEN_FILE");
    config
}

/// A resource group of the operator of its namespace, with the credential of a Secret of this name, if there is one.
fn group(namespace: &str, name: &str, secret: Option<&str>) -> Value {
    let mut group = json!({
        "apiVersion": "resources.azure.com/v1api20200601",
        "kind": "ResourceGroup",
        "metadata": {
            "name": name,
            "namespace": namespace,
            "annotations": {"serviceoperator.azure.com/operator-namespace": namespace},
        },
        "spec": {"location": "westeurope"},
    });
    if let Some(secret) = secret {
        group["metadata"]["annotations"]["serviceoperator.azure.com/credential-from"] =
            json!(secret);
    }
    group
}

/// Applies a group and waits until it is as it says; who has written it by then.
async fn written(world: &World, objects: &Objects, manifest: &Value) -> Vec<String> {
    let applied = objects.apply_value(manifest).await.unwrap();
    let generation = json!(applied.metadata.generation);
    let name = applied.metadata.name.unwrap();
    let is_done =
        |condition: &Value| is_ready(condition) && condition["observedGeneration"] == generation;
    objects.wait_ready("ResourceGroup", &name, is_done).await;
    writers(world, &name)
}

#[test]
fn workload_identities_of_operator_object_and_namespace_sign_in() {
    World::shared().run("workload", async |world, objects| {
        let accounts = Accounts::create(world, "workload", &["operator"]).await;
        for client in [GLOBAL, OF_OBJECT, OF_NAMESPACE] {
            accounts.trust(client, "operator");
        }
        accounts.mount("operator").await;
        let variables = [
            ("USE_WORKLOAD_IDENTITY_AUTH", "true"),
            ("AZURE_TENANT_ID", "00000000-0000-0000-0000-000000000002"),
            ("AZURE_CLIENT_ID", GLOBAL),
            (
                "AZURE_FEDERATED_TOKEN_FILE",
                accounts.file().to_str().unwrap(),
            ),
        ];
        let operator = Operator::start(config(world, "workload", &variables));
        let operator = operator.await.unwrap();
        let by_operator = group("workload", "workload-operator", None);
        assert_eq!(written(world, &objects, &by_operator).await, [GLOBAL]);

        let mut keys = credential(OF_OBJECT, None);
        keys["AUTH_MODE"] = json!("workloadidentity");
        put(world, "workload", "own", &keys).await;
        let by_object = group("workload", "workload-object", Some("own"));
        assert_eq!(written(world, &objects, &by_object).await, [OF_OBJECT]);

        let keys = credential(OF_NAMESPACE, None);
        put(world, "workload", "aso-credential", &keys).await;
        let by_namespace = group("workload", "workload-namespace", None);
        let writers = written(world, &objects, &by_namespace).await;
        assert_eq!(writers, [OF_NAMESPACE]);
        operator.stop().await;
    });
}

/// The kubelet replaces the mounted token. What is wrong with it is told with the Secret, and the operator goes on with
/// the next one.
#[test]
fn a_replaced_service_account_token_counts_without_a_restart() {
    World::shared().run("federated", async |world, objects| {
        let accounts = Accounts::create(world, "federated", &["first", "second"]).await;
        accounts.trust(ROTATED, "first");
        let file = accounts.file().to_str().unwrap();
        let variables = [("AZURE_FEDERATED_TOKEN_FILE", file)];
        let operator = Operator::start(config(world, "federated", &variables));
        let operator = operator.await.unwrap();
        put(
            world,
            "federated",
            "aso-credential",
            &credential(ROTATED, None),
        )
        .await;

        let manifest = |stage: &str| {
            let mut manifest = group("federated", "federated-rg", None);
            manifest["spec"]["tags"] = json!({"stage": stage});
            manifest
        };
        let apply = async |stage: &str| {
            objects.apply_value(&manifest(stage)).await.unwrap();
        };
        accounts.mount("second").await;
        apply("refused").await;
        let told = [
            "no token for Secret federated/aso-credential, look at its key AZURE_CLIENT_ID",
            "AADSTS700213",
            "system:serviceaccount:federated:second",
        ];
        wait_told(&objects, "federated-rg", &told).await;

        accounts.mount("first").await;
        // The refused change may be written before the one that replaces it.
        written(world, &objects, &manifest("first")).await;
        let before = writers(world, "federated-rg").len();

        accounts.trust(ROTATED, "second");
        accounts.mount("second").await;
        expire_token(world, "federated-rg");
        let writers = written(world, &objects, &manifest("second")).await;
        assert_eq!(writers[before..], [ROTATED]);

        std::fs::write(file, "").unwrap();
        expire_token(world, "federated-rg");
        apply("empty").await;
        let told = [
            "workload identity in Secret federated/aso-credential cannot be used: the file is empty",
            file,
        ];
        wait_told(&objects, "federated-rg", &told).await;
        accounts.mount("second").await;
        let writers = written(world, &objects, &manifest("third")).await;
        assert!(writers.len() > before + 1);
        assert!(writers.iter().all(|writer| writer == ROTATED), "{writers:?}");
        operator.stop().await;
    });
}

#[test]
fn managed_identities_of_operator_object_and_namespace_get_tokens_from_the_machine() {
    World::shared().run("managed", async |world, objects| {
        let (machine, url) = Machine::start(world.azure(), &ASSIGNED).await;
        let mut config = config(world, "managed", &[]);
        config.arm.metadata_endpoint = Some(url.clone());
        let operator = Operator::start(config).await.unwrap();
        let by_machine = group("managed", "managed-machine", None);
        let writers = written(world, &objects, &by_machine).await;
        assert_eq!(writers.len(), 1);

        let of_node = |client: &str| {
            let mut keys = credential(client, None);
            keys["AUTH_MODE"] = json!("podidentity");
            keys
        };
        put(world, "managed", "own", &of_node(ASSIGNED[0])).await;
        let by_object = group("managed", "managed-object", Some("own"));
        let writers = written(world, &objects, &by_object).await;
        assert_eq!(writers, [ASSIGNED[0]]);

        // An identity that the machine does not have.
        put(world, "managed", "aso-credential", &of_node(GLOBAL)).await;
        let by_namespace = group("managed", "managed-namespace", None);
        objects.apply_value(&by_namespace).await.unwrap();
        let told = [
            "no token for the managed identity in Secret managed/aso-credential: ",
            url.as_str().trim_end_matches('/'),
            "answers HTTP 400",
            "correct AZURE_CLIENT_ID",
        ];
        wait_told(&objects, "managed-namespace", &told).await;
        put(world, "managed", "aso-credential", &of_node(ASSIGNED[1])).await;
        let writers = written(world, &objects, &by_namespace).await;
        assert_eq!(writers, [ASSIGNED[1]]);

        let asked = machine.asked();
        let clients = asked.iter().map(|asked| asked.get("client_id"));
        let clients: Vec<_> = clients.map(|id| id.map(String::as_str)).collect();
        assert_eq!(clients, [None, Some(ASSIGNED[0]), Some(ASSIGNED[1])]);
        for asked in asked {
            assert_eq!(asked["resource"], "https://management.azure.com");
        }
        operator.stop().await;
    });
}
