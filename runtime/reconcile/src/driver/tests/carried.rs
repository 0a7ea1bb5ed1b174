//! A PUT that repeats what Azure said holds only for what was read, and is not sent long after it was.

use armature_azure::Method;
use armature_shapes::resource::TypedObject;
use armature_shapes::testing::kinds::HubStore;
use async_trait::async_trait;

use super::*;
use crate::extension::{
    Context, ExtensionError, Next, PreCheck, PreReconciliationChecker, Registry,
};

/// A check that takes its time.
#[derive(Clone)]
struct Slow(Arc<ManualClock>, i64);

#[async_trait]
impl PreReconciliationChecker for Slow {
    type Hub = HubStore;
    async fn check(
        &self,
        _: &Context,
        _: &TypedObject<HubStore>,
        next: Next<'_, PreCheck>,
    ) -> Result<PreCheck, ExtensionError> {
        self.0.advance(self.1);
        next.call().await
    }
}

/// Both ways in which a value is Azure's.
const RULES: [&str; 2] = ["properties.capacity", "properties.capacity from 1 to 10"];

/// A store whose capacity is Azure's, and stands at 9 there. Its next pass has something to send.
async fn with_an_edit(rule: &str, etag: Option<&str>) -> (World, ObjectKey) {
    let spec = |zones: Value| json!({"capacity": 5, "location": "westus", "zones": zones});
    let (world, store) = owned::store(rule, spec(json!(["1"]))).await;
    world.azure.set(STORE, moved_to(&world, 9, etag));
    world.store(spec(json!(["1", "2"])));
    world.journal.take();
    world.azure.take_bodies();
    (world, store)
}

fn moved_to(world: &World, capacity: i64, etag: Option<&str>) -> Value {
    let mut azure = world.azure.get(STORE).unwrap();
    azure["properties"]["capacity"] = json!(capacity);
    if let Some(etag) = etag {
        azure["etag"] = json!(etag);
    }
    azure
}

/// How many requests of each of these methods a pass sends, and the capacity of its last PUT.
async fn sent(world: &World, store: &ObjectKey) -> ([usize; 2], Value) {
    assert_eq!(world.pass(store).await, Requeue::Sync);
    let lines = world.journal.take();
    let of = |method: &str| {
        let line = format!("{method} {STORE}");
        lines.iter().filter(|it| **it == line).count()
    };
    let last = world.azure.take_bodies().pop().expect("a body");
    (
        [of("GET"), of("PUT")],
        last["properties"]["capacity"].clone(),
    )
}

#[tokio::test]
async fn where_there_are_etags_a_value_that_moved_meanwhile_is_read_again() {
    for rule in RULES {
        let (world, store) = with_an_edit(rule, Some("2")).await;
        let stale = moved_to(&world, 7, Some("1"));
        world
            .azure
            .script(Method::Get, STORE, response(200, &[], Some(stale)));
        assert_eq!(sent(&world, &store).await, ([3, 2], json!(9)), "{rule}");
    }
}

#[tokio::test]
async fn where_there_are_none_what_was_read_long_ago_is_read_again() {
    // One of them is after the PUT.
    for (seconds, etag, gets) in [(5, None, 2), (6, None, 5), (6, Some("1"), 2)] {
        let (mut world, store) = with_an_edit(RULES[1], etag).await;
        let slow = Slow(world.clock.clone(), seconds);
        world.extensions = Registry::builder()
            .register_pre_checker(slow)
            .build()
            .unwrap();
        let found = sent(&world, &store).await;
        assert_eq!(found, ([gets, 1], json!(9)), "{seconds} {etag:?}");
    }
}

/// A service that changes its ETag at each look gets the PUT all the same.
#[tokio::test]
async fn an_etag_that_never_holds_keeps_no_edit_back() {
    let (world, store) = with_an_edit(RULES[1], Some("1")).await;
    world
        .azure
        .answer_in(|body, reads| body["etag"] = json!(format!("{reads}-x")));
    assert_eq!(sent(&world, &store).await, ([5, 4], json!(9)));
}
