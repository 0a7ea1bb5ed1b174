//! `armature why`, `armature tree` and `armature status` against a real API server with the real operator, as the page in
//! `docs/` shows them; `ARMATURE_WRITE_DOCS=1` writes it.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test that cannot go on fails"
)]

mod commands;

use armature_controlplane::waiting::until_ended;
use commands::World;
use kube::api::DeleteParams;
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, BufReader};

#[tokio::test(flavor = "multi_thread")]
async fn the_page_shows_what_is_printed() {
    let mut world = World::start("why.md").await;
    world.apply_page("lost").await;
    let storage = "storage.azure.com";
    for (kind, name) in [
        ("StorageAccount", "lostdata"),
        ("StorageAccountsBlobService", "lostblobs"),
    ] {
        world.wait_for(storage, kind, name, "WaitingForOwner").await;
    }
    world
        .shows(
            "armature why StorageAccountsBlobService/lostblobs -n shop",
            1,
        )
        .await;
    world.finish_page();
    world.turn_to("status.md");
    world.shows("armature status -n shop", 1).await;
    world.finish_page();
    world.turn_to("tree.md");
    world.apply_page("lost").await;
    world
        .wait_ready(storage, "StorageAccount", "shopdata")
        .await;
    for line in ["tree -n shop", "tree StorageAccount/lostdata -n shop"] {
        world.shows(&format!("armature {line}"), 0).await;
    }
    world.finish_page();

    let group = json!({
        "apiVersion": "resources.azure.com/v1api20200601", "kind": "ResourceGroup",
        "metadata": {"name": "lost"}, "spec": {"location": "westeurope"},
    });
    world.apply(&group).await;
    world
        .wait_ready(storage, "StorageAccountsBlobService", "lostblobs")
        .await;
    let why = world
        .run("armature why storageaccounts/lostdata -n shop -o json", 0)
        .await;
    let why: Value = serde_json::from_str(&why).unwrap();
    assert_eq!(why["cause"], Value::Null);
    assert_eq!(why["chain"][0]["of"]["name"], "lost");
    let status = world.run("armature status -o json", 0).await;
    let status: Value = serde_json::from_str(&status).unwrap();
    assert_eq!(status.as_array().unwrap().len(), 5);
    let below = world
        .run("armature tree StorageAccount/lostdata -n shop", 0)
        .await;
    assert_eq!(below.lines().count(), 2, "{below}");
    world
        .run("armature why StorageAccount/nobody -n shop", 1)
        .await;

    // Who may read nothing is told so once, and not that there is nothing.
    for command in ["status", "tree", "graph --cluster"] {
        let told = world
            .errors(&format!("armature {command} --as eve"), 1)
            .await;
        assert_eq!(told.lines().count(), 1, "{command}: {told}");
        for part in ["\"eve\" cannot list", "--namespace"] {
            assert!(told.contains(part), "{command}: {told}");
        }
    }
    let line = "armature why StorageAccount/lostdata -n shop --as eve";
    let told = world.errors(line, 1).await;
    assert!(told.contains("may be there all the same"), "{told}");
    assert!(!told.contains("there is no StorageAccount"), "{told}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_watch_tells_each_change_when_it_happens() {
    let world = World::start("why.md").await;
    world.apply_page("lost").await;
    let storage = "storage.azure.com";
    world
        .wait_for(
            storage,
            "StorageAccountsBlobService",
            "lostblobs",
            "WaitingForOwner",
        )
        .await;
    let mut watch = world.spawn("armature status -n shop --watch");
    let mut lines = BufReader::new(watch.stdout.take().unwrap()).lines();
    let mut told = Vec::new();
    let mut until = async |wanted: &str| {
        let words: Vec<&str> = wanted.split(' ').collect();
        loop {
            let what = format!("the line {wanted} after {told:#?}");
            let line = until_ended(&what, lines.next_line()).await;
            let line = line.unwrap().unwrap();
            let is_it = line.split_whitespace().eq(words.iter().copied());
            told.push(line);
            if is_it {
                break;
            }
        }
    };
    until("NAMESPACE KIND NAME READY REASON").await;
    until("shop StorageAccountsBlobService lostblobs False WaitingForOwner").await;
    until("0 of 2 ready").await;
    let group = json!({
        "apiVersion": "resources.azure.com/v1api20200601", "kind": "ResourceGroup",
        "metadata": {"name": "lost"}, "spec": {"location": "westeurope"},
    });
    world.apply(&group).await;
    until("shop StorageAccountsBlobService lostblobs True Succeeded").await;
    let accounts = world.objects(storage, "StorageAccount");
    let parameters = DeleteParams::default();
    accounts.delete("lostdata", &parameters).await.unwrap();
    until("shop StorageAccount lostdata - deleted").await;
    let heads = told.iter().filter(|line| line.starts_with("NAMESPACE"));
    assert_eq!(heads.count(), 1, "after the table only lines: {told:#?}");
}
