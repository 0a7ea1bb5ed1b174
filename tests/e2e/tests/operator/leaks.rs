//! Secrets and where they must not be shown. Every test of the world ends with a search for every secret of all tests
//! ([`World::run`]); here are secrets that others quote, and proof that the search finds what is shown.

use std::collections::BTreeSet;

use armature_e2e::World;
use armature_exposure::{Secrets, random_value};
use armature_simulator::FaultRule;
use k8s_openapi::api::core::v1::{ConfigMap, Event, Secret};
use kube::api::{Api, PostParams};
use serde_json::{Value, json};

use crate::{is_ready, resource_group};

const CLUSTER: &str = "
apiVersion: kusto.azure.com/v1api20230815
kind: Cluster
metadata: {name: quotedcluster, namespace: quoted}
spec:
  location: westeurope
  owner: {name: quoted-rg}
  sku: {name: Standard_D13_v2, tier: Standard, capacity: 2}
  virtualClusterGraduationProperties: {name: graduation, key: token}
";

#[test]
fn a_secret_that_azure_quotes_is_covered() {
    World::shared().run("quoted", async |world, objects| {
        let graduation = random_value();
        let secrets: Api<Secret> = Api::namespaced(world.client().clone(), "quoted");
        let secret = json!({
            "metadata": {"name": "graduation"},
            "stringData": {"token": graduation},
        });
        let secret = serde_json::from_value(secret).unwrap();
        secrets
            .create(&PostParams::default(), &secret)
            .await
            .unwrap();
        let refusal = FaultRule {
            method: Some("PUT".into()),
            path: Some("/clusters/quotedcluster$".into()),
            count: Some(1),
            status: Some(400),
            code: Some("InvalidToken".into()),
            message: Some(format!("The token '{graduation}' has expired.")),
            ..FaultRule::default()
        };
        world.azure().add_fault(refusal);
        let group = resource_group("quoted-rg", "quoted");
        objects.apply(&group).await.unwrap();
        objects.apply(CLUSTER).await.unwrap();
        let is_refused = |condition: &Value| condition["reason"] == "InvalidToken";
        let (condition, _) = objects
            .wait_ready("kusto/Cluster", "quotedcluster", is_refused)
            .await;
        let message = condition["message"].as_str().unwrap();
        assert!(
            message.starts_with("The token '(secret)' has expired."),
            "{message}"
        );

        // The secret arrives all the same.
        objects
            .apply(&CLUSTER.replace("capacity: 2", "capacity: 3"))
            .await
            .unwrap();
        objects
            .wait_ready("kusto/Cluster", "quotedcluster", is_ready)
            .await;
        let id = format!(
            "{}/resourceGroups/quoted-rg/providers/Microsoft.Kusto/clusters/quotedcluster",
            crate::SUBSCRIPTION
        );
        let sent = world.azure().desired(&id).unwrap();
        assert_eq!(
            sent["properties"]["virtualClusterGraduationProperties"],
            graduation
        );
    });
}

/// Known to this test alone, so that the others do not fail over it.
const SHOWN: &str = "shown on purpose, everywhere";

#[test]
fn the_search_finds_what_is_shown() {
    World::shared().run("leaks", async |world, objects| {
        let group = resource_group("leaks-rg", "leaks");
        let annotated = group.replace(
            "namespace: leaks",
            &format!("namespace: leaks, annotations: {{note: \"{SHOWN}\"}}"),
        );
        objects.apply(&annotated).await.unwrap();
        objects
            .wait_ready("ResourceGroup", "leaks-rg", is_ready)
            .await;
        create::<ConfigMap>(
            world,
            json!({"metadata": {"name": "leak"}, "data": {"a": SHOWN}}),
        )
        .await;
        create::<Event>(
            world,
            json!({
                "metadata": {"name": "leak"},
                "involvedObject": {"namespace": "leaks"},
                "message": SHOWN,
            }),
        )
        .await;
        create::<Secret>(
            world,
            json!({"metadata": {"name": "leak", "annotations": {"a": SHOWN}}}),
        )
        .await;
        tracing::debug!(target: "armature_runtime", "{SHOWN}");
        drop(tracing::info_span!(target: "armature_runtime", "reconcile", name = SHOWN));

        let mut secrets = Secrets::default();
        secrets.add("mine", SHOWN);
        let mut places = world.exposed("leaks").await;
        places.extend(world.shown().everything().await);
        let expected = [
            "ConfigMap leak: mine",
            "Event leak: mine",
            "ResourceGroup leaks-rg: mine",
            "log: mine",
            "metadata of Secret leak: mine",
            "traces: mine",
        ];
        let expected: BTreeSet<String> = expected.map(str::to_owned).into();
        assert_eq!(secrets.search(&places), expected);

        let metrics = places.iter_mut().find(|place| place.name == "metrics");
        let metrics = metrics.unwrap();
        assert!(metrics.text.ends_with(b"# EOF\n"), "metrics are read");
        metrics.text.extend_from_slice(SHOWN.as_bytes());
        assert!(secrets.search(&places).contains("metrics: mine"));
    });
}

async fn create<K>(world: &World, value: Value)
where
    K: kube::Resource<DynamicType = (), Scope = k8s_openapi::NamespaceResourceScope>
        + Clone
        + std::fmt::Debug
        + serde::de::DeserializeOwned
        + serde::Serialize,
{
    let api: Api<K> = Api::namespaced(world.client().clone(), "leaks");
    let object = serde_json::from_value(value).unwrap();
    api.create(&PostParams::default(), &object).await.unwrap();
}
