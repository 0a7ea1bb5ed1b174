//! What Azure makes for a resource, written to Secrets that the user names.

use std::collections::BTreeMap;

use armature_e2e::World;
use armature_simulator::Query;
use k8s_openapi::ByteString;
use k8s_openapi::api::core::v1::Secret;
use kube::api::Api;

use crate::{SUBSCRIPTION, is_ready, resource_group};

const ACCOUNT: &str = "
apiVersion: storage.azure.com/v1api20230101
kind: StorageAccount
metadata: {name: secretssa, namespace: secrets}
spec:
  location: westeurope
  kind: StorageV2
  sku: {name: Standard_LRS}
  owner: {name: secrets-rg}
  operatorSpec:
    secrets:
      key1: {name: account, key: first}
      key2: {name: account, key: second}
      blobEndpoint: {name: account, key: blob}
      dfsEndpoint: {name: account, key: dfs}
      fileEndpoint: {name: account, key: file}
      queueEndpoint: {name: account, key: queue}
      tableEndpoint: {name: account, key: table}
      webEndpoint: {name: account, key: web}
";

const WITHOUT_KEYS: &str = "
apiVersion: storage.azure.com/v1api20230101
kind: StorageAccount
metadata: {name: secretskeyless, namespace: secrets}
spec:
  location: westeurope
  kind: StorageV2
  sku: {name: Standard_LRS}
  owner: {name: secrets-rg}
  operatorSpec:
    secrets:
      queueEndpoint: {name: keyless, key: queue}
";

const IDENTITY: &str = "
apiVersion: managedidentity.azure.com/v1api20230131
kind: UserAssignedIdentity
metadata: {name: secrets-identity, namespace: secrets}
spec:
  location: westeurope
  owner: {name: secrets-rg}
  operatorSpec:
    secrets:
      clientId: {name: identity, key: client}
      principalId: {name: identity, key: principal}
      tenantId: {name: identity, key: tenant}
      subscriptionId: {name: identity, key: subscription}
";

async fn data(world: &World, name: &str) -> BTreeMap<String, String> {
    data_in(world, "secrets", name).await
}

/// Entries of a Secret as text.
async fn data_in(world: &World, namespace: &str, name: &str) -> BTreeMap<String, String> {
    let secrets: Api<Secret> = Api::namespaced(world.client().clone(), namespace);
    let secret = secrets.get(name).await.unwrap();
    let data = secret.data.unwrap_or_default().into_iter();
    data.map(|(key, value)| (key, String::from_utf8(value.0).unwrap()))
        .collect()
}

fn posts(world: &World, account: &str) -> Vec<String> {
    let requests = world.azure().requests(&Query {
        method: Some("POST".into()),
        ..Query::default()
    });
    let paths = requests.into_iter().map(|request| request.path);
    paths.filter(|path| path.contains(account)).collect()
}

#[test]
fn keys_endpoints_and_ids_are_exported() {
    World::shared().run("secrets", async |world, objects| {
        let group = resource_group("secrets-rg", "secrets");
        for manifest in [group.as_str(), ACCOUNT, WITHOUT_KEYS, IDENTITY] {
            objects.apply(manifest).await.unwrap();
        }
        for (kind, name) in [
            ("StorageAccount", "secretssa"),
            ("StorageAccount", "secretskeyless"),
            ("UserAssignedIdentity", "secrets-identity"),
        ] {
            objects.wait_ready(kind, name, is_ready).await;
        }

        let account = data(world, "account").await;
        for service in ["blob", "dfs", "file", "queue", "table", "web"] {
            let endpoint = format!("https://secretssa.{service}.core.windows.net/");
            assert_eq!(account[service], endpoint);
        }
        // 64 bytes in base64.
        assert_eq!(account["first"].len(), 88, "length of key1");
        assert_eq!(account["second"].len(), 88, "length of key2");
        assert_ne!(account["first"], account["second"]);

        let keyless = data(world, "keyless").await;
        assert_eq!(
            keyless["queue"],
            "https://secretskeyless.queue.core.windows.net/"
        );
        assert_eq!(posts(world, "secretskeyless"), [""; 0]);
        let calls = posts(world, "secretssa");
        assert!(
            !calls.is_empty()
                && calls
                    .iter()
                    .all(|path| path.ends_with("secretssa/listKeys")),
            "{calls:?}"
        );

        let identity = data(world, "identity").await;
        let object = objects
            .get("UserAssignedIdentity", "v1api20230131", "secrets-identity")
            .await
            .unwrap();
        for (key, field) in [
            ("client", "clientId"),
            ("principal", "principalId"),
            ("tenant", "tenantId"),
        ] {
            assert_eq!(identity[key], object["status"][field], "{key}");
        }
        assert!(SUBSCRIPTION.ends_with(&identity["subscription"]));
        assert_eq!(identity["subscription"].len(), 36);
    });
}

const OPENSHIFT: &str = "
apiVersion: redhatopenshift.azure.com/v1api20231122
kind: OpenShiftCluster
metadata: {name: secrets-openshift, namespace: openshift}
spec:
  location: westeurope
  owner: {name: openshift-rg}
  clusterProfile: {domain: shops}
  apiserverProfile: {visibility: Public}
  operatorSpec:
    secrets:
      adminCredentials: {name: admin, key: kubeconfig}
      password: {name: admin, key: password}
";

/// The kubeconfig comes in Base64, and Azure Service Operator writes it so: who read it there decodes it.
#[test]
fn credentials_of_openshift_are_those_that_azure_answers() {
    World::shared().run("openshift", async |world, objects| {
        let group = resource_group("openshift-rg", "openshift");
        for manifest in [group.as_str(), OPENSHIFT] {
            objects.apply(manifest).await.unwrap();
        }
        objects
            .wait_ready("OpenShiftCluster", "secrets-openshift", is_ready)
            .await;
        let admin = data_in(world, "openshift", "admin").await;
        assert!(!admin["password"].is_empty());
        let text = serde_json::Value::from(admin["kubeconfig"].clone());
        let decoded: ByteString = serde_json::from_value(text).expect("Base64");
        let config: serde_json::Value = serde_json::from_slice(&decoded.0).expect("a kubeconfig");
        assert_eq!(
            config["clusters"][0]["cluster"]["server"],
            "https://api.shops.westeurope.aroapp.io:6443/"
        );
    });
}
