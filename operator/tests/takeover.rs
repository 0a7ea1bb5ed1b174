//! `armature takeover` on a cluster as Azure Service Operator leaves it, and back, as the page in `docs/` shows it;
//! `ARMATURE_WRITE_DOCS=1` writes it.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test that cannot go on fails"
)]

mod aso;
mod commands;

use armature_runtime::names::PENDING;
use armature_simulator::Query;
use aso::unseen::Unseen;
use aso::{DEPLOYMENT, NAMESPACE, RESOURCES, STORED};
use commands::World;
use serde_json::{Value, json};

/// Writes that Azure was sent.
fn writes(world: &World) -> Vec<String> {
    let requests = world.azure().requests(&Query::default());
    let writes = requests
        .iter()
        .filter(|request| request.method != "GET" && !request.path.contains("/oauth2/"));
    writes
        .map(|request| format!("{} {}", request.method, request.path))
        .collect()
}

async fn conversion(world: &World, name: &str) -> Value {
    let crd = aso::crd(world.client(), name).await;
    json!([
        crd.pointer("/spec/conversion/webhook/clientConfig/service/name"),
        crd.pointer("/metadata/annotations/cert-manager.io~1inject-ca-from"),
    ])
}

#[tokio::test(flavor = "multi_thread")]
async fn a_cluster_is_taken_over_and_given_back() {
    let Some(shapes) = aso::shapes() else {
        eprintln!("skipped: there are no CRD shapes in ../shared/azure or $ARMATURE_AZURE_DATA");
        return;
    };
    let mut world = World::start_without_operator("takeover.md").await;
    let client = world.client().clone();
    for (id, body) in RESOURCES.iter().zip(aso::bodies()) {
        world.azure().place(id, body).unwrap();
    }
    aso::leave(&client, &shapes, NAMESPACE).await;
    let before = aso::objects(&client).await;

    // A part of a cluster cannot be taken over, so nobody is told that nothing stands against it.
    for command in ["check", "run --yes", "undo --yes"] {
        let line = format!("armature takeover {command} -n elsewhere");
        let told = world.errors(&line, 1).await;
        assert!(told.contains("--aso-namespace"), "{told}");
    }
    let deployment = aso::deployment(&client, DEPLOYMENT).await;
    assert_eq!(deployment["spec"]["replicas"], 2);

    world.shows("armature takeover check", 0).await;
    world.shows("armature takeover run", 1).await;
    world.shows("armature takeover run --yes", 1).await;
    assert!(aso::admission(&client).await.is_empty());

    aso::deploy(
        &client,
        "armature",
        &json!({"app.kubernetes.io/name": "armature"}),
        "armature:1",
    )
    .await;
    let ahead = "storage.azure.com/*;storage.azure.com/v20260401/StorageAccount";
    world.start_operator(NAMESPACE, ahead);
    world
        .shows("armature takeover run --yes --timeout 120", 0)
        .await;
    for name in STORED {
        assert_eq!(
            conversion(&world, name).await,
            json!([null, null]),
            "{name}"
        );
    }
    for (kind, group, name) in aso::KINDS {
        world.wait_ready(group, kind, name).await;
    }
    world.run("armature takeover check", 0).await;
    assert_eq!(writes(&world), Vec::<String>::new());

    // An object in a version that Azure Service Operator does not have keeps the way back closed, until it is written in another.
    for (version, is_closed) in [("v20260401", true), ("v20230101", false)] {
        aso::touch(&client, version).await;
        let shown = world.run("armature takeover undo", 1).await;
        let told = "StorageAccount shop/takendata is in v20260401, apply it in v20250601.";
        assert_eq!(shown.contains(told), is_closed, "{shown}");
    }

    world.shows("armature takeover undo", 1).await;
    world.stop_operator().await;
    let mut unseen = Unseen::new(&client);
    unseen.make("before", Some(PENDING)).await;
    let undo = world.shows("armature takeover undo --yes", 0);
    unseen.make_during(undo).await;
    for name in STORED {
        let injected = format!("{NAMESPACE}/azureserviceoperator-serving-cert");
        let former = json!([aso::SERVICE, injected]);
        assert_eq!(conversion(&world, name).await, former, "{name}");
    }
    assert_eq!(
        aso::admission(&client).await,
        ["azureserviceoperator-validating-webhook-configuration"]
    );
    let deployment = aso::deployment(&client, DEPLOYMENT).await;
    assert_eq!(deployment["spec"]["replicas"], 2);
    assert_eq!(writes(&world), Vec::<String>::new());
    // What it finds of objects that nobody has looked at: a condition that it overwrites, or none.
    unseen.make("after", None).await;
    unseen.check().await;
    // What Azure Service Operator reads is as it left it.
    for (before, after) in before.iter().zip(aso::objects(&client).await) {
        assert_eq!(before["spec"], after["spec"]);
        assert_eq!(before["status"]["id"], after["status"]["id"]);
        assert_eq!(
            before["metadata"]["finalizers"],
            after["metadata"]["finalizers"]
        );
    }
    world.finish_page();
    world.run("armature takeover undo --yes", 1).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_no_ordinary_takeover_is_named() {
    let Some(shapes) = aso::shapes() else {
        eprintln!("skipped: there are no CRD shapes in ../shared/azure or $ARMATURE_AZURE_DATA");
        return;
    };
    let world = World::start_without_operator("takeover.md").await;
    let client = world.client().clone();
    for (id, body) in RESOURCES.iter().zip(aso::bodies()) {
        world.azure().place(id, body).unwrap();
    }
    aso::leave(&client, &shapes, "elsewhere").await;
    let drifted = json!({"properties": {"minimumTlsVersion": "TLS1_0"}});
    world.drift(RESOURCES[1], &drifted);
    let shown = world.run("armature takeover check", 1).await;
    for part in [
        "StorageAccount shop/takendata: the first pass would change it in Azure: properties.minimumTlsVersion",
        "objects of the operator in namespace elsewhere: there is no such operator",
    ] {
        assert!(shown.contains(part), "{shown}");
    }
    let check = world.run("armature takeover check -o json", 1).await;
    let check: Value = serde_json::from_str(&check).unwrap();
    assert_eq!(check["objects"][1]["action"], "update");
    assert_eq!(check["objects"][1]["version"], "v20230101");
    // Nothing begins.
    let shown = world.run("armature takeover run --yes", 1).await;
    assert!(shown.contains("Nothing was changed"), "{shown}");
    assert_eq!(
        aso::deployment(&client, DEPLOYMENT).await["spec"]["replicas"],
        2
    );
    assert_eq!(writes(&world), Vec::<String>::new());
}
