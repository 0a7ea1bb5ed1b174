//! `docs/tutorial-postgresql.md` and `samples/tutorial-postgresql`: what the operator makes is what the application reads.

use armature_controlplane::waiting::until;
use armature_simulator::Query;
use k8s_openapi::api::apps::v1::Deployment;
use k8s_openapi::api::core::v1::{ConfigMap, Secret};

use super::rights;
use super::stage::{OPERATOR, SUBSCRIPTION, Stage};

const NAMESPACE: &str = "orders";

/// Everything that the application's containers read is there.
async fn finds_what_it_reads(stage: &Stage) {
    let deployment: Deployment = stage.cluster.api(NAMESPACE).get("orders").await.unwrap();
    let pod = deployment.spec.unwrap().template.spec.unwrap();
    let variables = pod.containers.into_iter().filter_map(|it| it.env).flatten();
    let mut read = 0;
    for source in variables.filter_map(|variable| variable.value_from) {
        if let Some(from) = source.config_map_key_ref {
            let map: ConfigMap = stage.cluster.api(NAMESPACE).get(&from.name).await.unwrap();
            let data = map.data.unwrap();
            assert!(!data[&from.key].is_empty(), "{from:?}");
            read += 1;
        }
        if let Some(from) = source.secret_key_ref {
            let secret: Secret = stage.cluster.api(NAMESPACE).get(&from.name).await.unwrap();
            assert!(secret.data.unwrap().contains_key(&from.key), "{from:?}");
            read += 1;
        }
    }
    assert_eq!(read, 3, "host, port and password");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_tutorial_for_postgresql_goes_as_the_page_says() {
    let groups = "resources.azure.com/*;dbforpostgresql.azure.com/*";
    let mut stage = Stage::with_operator("tutorial-postgresql.md", groups).await;
    stage.run("plan").await;
    stage.run("apply").await;
    stage.run("wait").await;
    stage.run("address").await;
    finds_what_it_reads(&stage).await;

    let server = format!(
        "/subscriptions/{SUBSCRIPTION}/resourceGroups/orders/providers/Microsoft.DBforPostgreSQL/flexibleServers/orders-tutorial"
    );
    let password = |stage: &Stage| {
        let sent = stage.azure().desired(&server).unwrap();
        sent["properties"]["administratorLoginPassword"].clone()
    };
    assert_eq!(password(&stage), "Change-me-1");
    stage.run("rotate").await;
    until("Azure to have the new password", async || {
        password(&stage) == "Changed-2"
    })
    .await;

    stage.run("refused").await;
    assert!(stage.azure().resource(&server).is_some());
    // One by one first: what is in the server goes along with it otherwise, and the role is for either.
    let parts = "flexibleserversdatabase/orders flexibleserversfirewallrule/orders-from-azure";
    stage
        .prepare(&format!(
            "kubectl -n {NAMESPACE} delete {parts} --timeout=300s"
        ))
        .await;
    stage.run("delete").await;
    assert_eq!(stage.resources(), [""; 0], "all is gone in Azure");
    let requests = stage.azure().requests(&Query::default()).into_iter();
    let requests: Vec<_> = requests.filter(|one| one.principal == OPERATOR).collect();
    rights::assert_role_fits(&requests);
    stage.stop_operator().await;
    stage.finish();
}
