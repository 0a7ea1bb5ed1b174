//! A PUT that repeats what Azure said holds only for what was read, and is not sent long after it was.

use armature_azure::Method;
use armature_reconcile::extension::{
    Context, ExtensionError, Next, PreCheck, PreReconciliationChecker, Registry,
};
use armature_shapes::resource::TypedObject;
use armature_shapes::testing::kinds::HubStore;
use async_trait::async_trait;

use super::*;

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

/// A check that takes its time while somebody changes the store, and none afterwards.
#[derive(Clone)]
struct Moving(Arc<ManualClock>, Arc<MemoryAzure>, Value);

#[async_trait]
impl PreReconciliationChecker for Moving {
    type Hub = HubStore;
    async fn check(
        &self,
        _: &Context,
        _: &TypedObject<HubStore>,
        next: Next<'_, PreCheck>,
    ) -> Result<PreCheck, ExtensionError> {
        if self.1.get(STORE).as_ref() != Some(&self.2) {
            self.0.advance(6);
            self.1.set(STORE, self.2.clone());
        }
        next.call().await
    }
}

impl World {
    /// From now on checks take so many seconds.
    fn slow(&mut self, seconds: i64) {
        let slow = Slow(self.clock.clone(), seconds);
        self.extensions = Registry::builder()
            .register_pre_checker(slow)
            .build()
            .unwrap();
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
async fn where_none_is_looked_at_what_was_read_long_ago_is_read_again() {
    // One of them is after the PUT. An ETag that is shown may mean nothing.
    for (seconds, etag, gets) in [
        (5, None, 2),
        (6, None, 5),
        (5, Some("1"), 2),
        (6, Some("1"), 5),
    ] {
        let (mut world, store) = with_an_edit(RULES[1], etag).await;
        world.slow(seconds);
        let found = sent(&world, &store).await;
        assert_eq!(found, ([gets, 1], json!(9)), "{seconds} {etag:?}");
    }
}

/// Once Azure has refused a PUT for its ETag, that is enough for all of the type.
#[tokio::test]
async fn where_etags_are_known_to_be_looked_at_nothing_is_read_again() {
    let (mut world, store) = with_an_edit(RULES[1], Some("2")).await;
    let stale = moved_to(&world, 7, Some("1"));
    world
        .azure
        .script(Method::Get, STORE, response(200, &[], Some(stale)));
    let first = world.reconciler();
    assert_eq!(first.reconcile(&store).await, Requeue::Sync);
    world.azure.set(STORE, moved_to(&world, 8, Some("3")));
    world.store(json!({"capacity": 5, "location": "westus", "zones": ["1"]}));
    world.forget();
    world.slow(6);
    let second = Reconciler {
        written: first.written.clone(),
        ..world.reconciler()
    };
    assert_eq!(second.reconcile(&store).await, Requeue::Sync);
    let requests = ["GET", "PUT", "GET"].map(|method| format!("{method} {STORE}"));
    assert_eq!(world.requests(), requests);
}

/// What moves while a check takes its time is not lost where a service shows ETags and does not look at them.
#[tokio::test]
async fn an_etag_that_nobody_looks_at_protects_nothing() {
    let (mut world, store) = with_an_edit(RULES[1], Some("2")).await;
    world.azure.ignore_etags();
    let moved = moved_to(&world, 8, Some("3"));
    let moving = Moving(world.clock.clone(), world.azure.clone(), moved);
    world.extensions = Registry::builder()
        .register_pre_checker(moving)
        .build()
        .unwrap();
    assert_eq!(sent(&world, &store).await, ([3, 1], json!(8)));
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
