//! Secrets that a spec refers to: waited for, sent, and sent again when they change.

use std::collections::BTreeMap;
use std::time::Instant;

use armature_e2e::World;
use armature_exposure::random_value;
use k8s_openapi::api::core::v1::Secret;
use kube::api::{Api, ObjectMeta, Patch, PatchParams, PostParams};
use serde_json::json;

use crate::{SUBSCRIPTION, has_reason, is_ready, resource_group, sent, wait_until};

const CLUSTER: &str = "
apiVersion: kusto.azure.com/v1api20230815
kind: Cluster
metadata: {name: inputscluster, namespace: inputs}
spec:
  location: westeurope
  owner: {name: inputs-rg}
  sku: {name: Standard_D13_v2, tier: Standard, capacity: 2}
  virtualClusterGraduationProperties: {name: graduation, key: text}
";

#[test]
fn a_changed_secret_is_one_put_within_seconds() {
    World::shared().run("inputs", async |world, objects| {
        let group = resource_group("inputs-rg", "inputs");
        objects.apply(&group).await.unwrap();
        objects.apply(CLUSTER).await.unwrap();
        let cluster = ("kusto/Cluster", "inputscluster");
        let (waiting, _) = objects
            .wait_ready(cluster.0, cluster.1, has_reason("SecretNotFound"))
            .await;
        let message = waiting["message"].as_str().unwrap();
        assert!(message.contains("graduation"), "{message}");

        let [first, second, third] = std::array::from_fn(|_| random_value());
        let secrets: Api<Secret> = Api::namespaced(world.client().clone(), "inputs");
        let secret = Secret {
            metadata: ObjectMeta {
                name: Some("graduation".to_owned()),
                ..ObjectMeta::default()
            },
            string_data: Some(BTreeMap::from([("text".to_owned(), first.clone())])),
            ..Secret::default()
        };
        let created = secrets.create(&PostParams::default(), &secret).await;
        created.unwrap();
        objects
            .wait_ready(cluster.0, cluster.1, is_ready)
            .await;
        let id = format!(
            "{SUBSCRIPTION}/resourceGroups/inputs-rg/providers/Microsoft.Kusto/clusters/inputscluster"
        );
        let in_azure = || {
            let desired = world.azure().desired(&id).unwrap();
            desired["properties"]["virtualClusterGraduationProperties"].clone()
        };
        assert_eq!((sent(world, "PUT", &id), in_azure()), (1, json!(first)));

        let patch = |data: serde_json::Value| Patch::Merge(json!({ "stringData": data }));
        let parameters = PatchParams::default();
        let started = Instant::now();
        let changed = patch(json!({"text": second}));
        let patched = secrets.patch("graduation", &parameters, &changed).await;
        patched.unwrap();
        wait_until("the PUT", async || sent(world, "PUT", &id) == 2).await;
        println!("a changed Secret: {:.3} s to its PUT", started.elapsed().as_secs_f64());
        objects
            .wait_ready(cluster.0, cluster.1, is_ready)
            .await;
        assert_eq!(in_azure(), json!(second));

        // The same again changes no version of the Secret: nobody is woken. What comes after it is one more PUT.
        let patched = secrets.patch("graduation", &parameters, &changed).await;
        patched.unwrap();
        let changed = patch(json!({"text": third}));
        let patched = secrets.patch("graduation", &parameters, &changed).await;
        patched.unwrap();
        wait_until("the third value", async || in_azure() == json!(third)).await;
        objects
            .wait_ready(cluster.0, cluster.1, is_ready)
            .await;
        assert_eq!(sent(world, "PUT", &id), 3);
    });
}
