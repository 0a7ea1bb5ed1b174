//! Credentials of objects and namespaces: what is missing is told, what changes counts.

use armature_e2e::{Objects, World};
use armature_exposure::random_value;
use armature_simulator::{Client, FaultRule, Query};
use k8s_openapi::api::core::v1::Secret;
use kube::api::{Api, Patch, PatchParams};
use serde_json::{Value, json};

use crate::{SUBSCRIPTION, is_ready, resource_group};

const OWN: &str = "00000000-0000-0000-0000-00000000000b";
const ROTATED: &str = "00000000-0000-0000-0000-00000000000c";
const CERTIFIED: &str = "00000000-0000-0000-0000-00000000000d";
const WRONG: &str = "00000000-0000-0000-0000-00000000000e";

/// The keys of a client in the simulated Azure.
pub(crate) fn credential(client: &str, secret: Option<&str>) -> Value {
    json!({
        "AZURE_SUBSCRIPTION_ID": SUBSCRIPTION.rsplit('/').next(),
        "AZURE_TENANT_ID": "00000000-0000-0000-0000-000000000002",
        "AZURE_CLIENT_ID": client,
        "AZURE_CLIENT_SECRET": secret,
    })
}

pub(crate) async fn put(world: &World, namespace: &str, name: &str, keys: &Value) {
    let secret = json!({
        "apiVersion": "v1",
        "kind": "Secret",
        "metadata": {"name": name, "namespace": namespace},
        "stringData": keys,
    });
    let secrets: Api<Secret> = Api::namespaced(world.client().clone(), namespace);
    let how = PatchParams::apply("tests").force();
    let applied = secrets.patch(name, &how, &Patch::Apply(&secret)).await;
    applied.unwrap();
}

#[test]
fn an_object_goes_on_when_its_credential_appears() {
    World::shared().run("credential", async |world, objects| {
        let manifest = "
apiVersion: resources.azure.com/v1api20200601
kind: ResourceGroup
metadata:
  name: credential-rg
  namespace: credential
  annotations: {serviceoperator.azure.com/credential-from: own}
spec: {location: westeurope}
";
        objects.apply(manifest).await.unwrap();
        wait_told(
            &objects,
            "credential-rg",
            &["Secret credential/own with the Azure credential does not exist"],
        )
        .await;

        let keys = credential(OWN, Some(&random_value()));
        put(world, "credential", "own", &keys).await;
        let (_, took) = objects
            .wait_ready("ResourceGroup", "credential-rg", is_ready)
            .await;
        println!(
            "ResourceGroup with a late credential: {:.3} s to Ready",
            took.as_secs_f64()
        );
    });
}

/// Clients that wrote a resource group, in order.
pub(crate) fn writers(world: &World, group: &str) -> Vec<String> {
    let writes = world.azure().requests(&Query {
        path: Some(format!("/resourceGroups/{group}$")),
        method: Some("PUT".into()),
        ..Query::default()
    });
    writes
        .into_iter()
        .map(|request| request.principal)
        .collect()
}

/// Lets Azure refuse the next request for a group: whoever has an access token could go on with it for an hour.
pub(crate) fn expire_token(world: &World, group: &str) {
    world.azure().add_fault(FaultRule {
        path: Some(format!("/resourceGroups/{group}$")),
        count: Some(1),
        status: Some(401),
        code: Some("ExpiredAuthenticationToken".into()),
        ..FaultRule::default()
    });
}

/// Waits until a group's condition says why it cannot go on, in these words among others.
pub(crate) async fn wait_told(objects: &Objects, name: &str, parts: &[&str]) {
    let is_told = |condition: &Value| {
        let message = condition["message"].as_str().unwrap_or_default();
        condition["status"] == "False" && parts.iter().all(|part| message.contains(part))
    };
    objects.wait_ready("ResourceGroup", name, is_told).await;
}

/// A certificate and its key, each in PEM.
fn certificate() -> [String; 2] {
    let key = rcgen::KeyPair::generate_rsa_for(&rcgen::PKCS_RSA_SHA256, rcgen::RsaKeySize::_2048);
    let key = key.unwrap();
    let certificate = rcgen::CertificateParams::new(Vec::new()).unwrap();
    let certificate = certificate.self_signed(&key).unwrap();
    [certificate.pem(), key.serialize_pem()]
}

/// The certificate that Azure knows is the only one that signs in; the next one counts without a restart.
#[test]
fn a_client_certificate_signs_in_and_is_replaced() {
    World::shared().run("certified", async |world, objects| {
        let know = |certificate: &str| {
            world.azure().set_client(Client {
                id: CERTIFIED.into(),
                certificate: Some(certificate.to_owned()),
                ..Client::default()
            });
        };
        let mount = async |[public, private]: [String; 2]| {
            let mut keys = credential(CERTIFIED, None);
            keys["AZURE_CLIENT_CERTIFICATE"] = json!(public + &private);
            put(world, "certified", "aso-credential", &keys).await;
        };
        let first = certificate();
        know(&first[0]);
        mount(first).await;
        objects.apply(&certified("first")).await.unwrap();
        objects
            .wait_ready("ResourceGroup", "certified-rg", is_ready)
            .await;

        let second = certificate();
        know(&second[0]);
        expire_token(world, "certified-rg");
        objects.apply(&certified("second")).await.unwrap();
        let told = [
            "no token for Secret certified/aso-credential, look at its key AZURE_CLIENT_CERTIFICATE: ",
            "AADSTS700027",
        ];
        wait_told(&objects, "certified-rg", &told).await;
        mount(second).await;
        objects
            .wait_ready("ResourceGroup", "certified-rg", is_ready)
            .await;
        assert_eq!(writers(world, "certified-rg"), [CERTIFIED; 2]);
    });
}

fn certified(stage: &str) -> String {
    format!(
        "
apiVersion: resources.azure.com/v1api20200601
kind: ResourceGroup
metadata: {{name: certified-rg, namespace: certified}}
spec: {{location: westeurope, tags: {{stage: {stage}}}}}
"
    )
}

/// Every state of the Secret is told by its key, and each change of it wakes the object.
#[test]
fn a_wrong_key_is_named_with_its_secret() {
    World::shared().run("wrong", async |world, objects| {
        let good = random_value();
        world.azure().set_client(Client {
            id: WRONG.into(),
            secret: Some(good.clone()),
            ..Client::default()
        });
        let with = |key: &str, value: Value| {
            let mut keys = credential(WRONG, None);
            keys[key] = value;
            keys
        };
        let group = resource_group("wrong-rg", "wrong");
        let rows = [
            (
                with("AZURE_TENANT_ID", Value::Null),
                "key AZURE_TENANT_ID is missing in Secret wrong/aso-credential: ",
            ),
            (
                with("AZURE_CLIENT_ID", Value::Null),
                "key AZURE_CLIENT_ID is missing in Secret wrong/aso-credential: ",
            ),
            (
                with("AUTH_MODE", json!("passwordless")),
                "key AUTH_MODE of Secret wrong/aso-credential cannot be used: ",
            ),
            (
                with("AZURE_CLIENT_CERTIFICATE", json!(random_value())),
                "key AZURE_CLIENT_CERTIFICATE of Secret wrong/aso-credential cannot be used: ",
            ),
            (
                with("AZURE_CLIENT_SECRET", json!(random_value())),
                "no token for Secret wrong/aso-credential, look at its key AZURE_CLIENT_SECRET: ",
            ),
        ];
        put(world, "wrong", "aso-credential", &rows[0].0).await;
        objects.apply(&group).await.unwrap();
        for (keys, expected) in rows {
            put(world, "wrong", "aso-credential", &keys).await;
            wait_told(&objects, "wrong-rg", &[expected]).await;
        }
        let good = with("AZURE_CLIENT_SECRET", json!(good));
        put(world, "wrong", "aso-credential", &good).await;
        objects
            .wait_ready("ResourceGroup", "wrong-rg", is_ready)
            .await;
        assert_eq!(writers(world, "wrong-rg"), [WRONG]);
    });
}

/// A key that is missing is named; the key wakes the object; another client takes over with the next write.
#[test]
fn the_credential_of_a_namespace_is_named_mended_and_rotated() {
    World::shared().run("rotation", async |world, objects| {
        put(
            world,
            "rotation",
            "aso-credential",
            &json!({"AZURE_TENANT_ID": "t"}),
        )
        .await;
        let manifest = |team: &str| {
            format!(
                "
apiVersion: resources.azure.com/v1api20200601
kind: ResourceGroup
metadata: {{name: rotation-rg, namespace: rotation}}
spec: {{location: westeurope, tags: {{team: {team}}}}}
"
            )
        };
        objects.apply(&manifest("first")).await.unwrap();
        let told = ["key AZURE_SUBSCRIPTION_ID is missing in Secret rotation/aso-credential"];
        wait_told(&objects, "rotation-rg", &told).await;

        // A credential that Entra ID refuses.
        let first = random_value();
        let mut wrong = credential(OWN, Some(&first));
        wrong["AZURE_TENANT_ID"] = json!("00000000-0000-0000-0000-00000000000f");
        put(world, "rotation", "aso-credential", &wrong).await;
        let told = [
            "no token for Secret rotation/aso-credential, look at its key AZURE_TENANT_ID: ",
            "AADSTS90002",
        ];
        wait_told(&objects, "rotation-rg", &told).await;

        put(
            world,
            "rotation",
            "aso-credential",
            &credential(OWN, Some(&first)),
        )
        .await;
        let (_, took) = objects
            .wait_ready("ResourceGroup", "rotation-rg", is_ready)
            .await;
        println!(
            "ResourceGroup with a mended credential: {:.3} s to Ready",
            took.as_secs_f64()
        );

        put(
            world,
            "rotation",
            "aso-credential",
            &credential(ROTATED, Some(&random_value())),
        )
        .await;
        objects.apply(&manifest("second")).await.unwrap();
        let writes = || writers(world, "rotation-rg");
        let second = |_: &Value| writes().len() > 1;
        objects
            .wait_ready("ResourceGroup", "rotation-rg", second)
            .await;
        assert_eq!(writes(), [OWN, ROTATED]);
    });
}
