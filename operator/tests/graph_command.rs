//! `armature graph` of manifests, and of a real API server with the real operator, as the page in `docs/` shows it;
//! `ARMATURE_WRITE_DOCS=1` writes it.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test that cannot go on fails"
)]

mod commands;

use commands::World;

#[tokio::test(flavor = "multi_thread")]
async fn the_page_shows_what_is_printed() {
    let world = World::start("graph.md").await;
    world.shows("armature graph -f shop", 0).await;
    world.apply_page("shop").await;
    world.apply_page("lost").await;
    let storage = "storage.azure.com";
    world
        .wait_ready(storage, "StorageAccountsBlobService", "shopblobs")
        .await;
    world
        .wait_for(storage, "StorageAccount", "lostdata", "WaitingForOwner")
        .await;
    world
        .shows("armature graph --cluster -n shop -o mermaid", 0)
        .await;
    world.finish_page();

    let drawing = world.run("armature graph --cluster -o svg", 0).await;
    for shown in [
        "shop/shopblobs",
        "not ready (WaitingForOwner)",
        "does not exist",
    ] {
        assert!(drawing.contains(shown), "{shown}: {drawing}");
    }
    world.write("broken.yaml", "kind: [");
    let drawing = world
        .run("armature graph -f broken.yaml shop -n other", 1)
        .await;
    assert!(drawing.contains("other/shopdata"), "{drawing}");
}
