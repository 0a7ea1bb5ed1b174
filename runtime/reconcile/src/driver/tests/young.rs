//! What a young object says, and what it costs the API server.

use armature_azure::Method;

use super::*;
use crate::queue::Look;
use crate::young::LONGEST_SILENCE;

const OPERATION: &str = "/subscriptions/s-1/providers/Microsoft.Toys/locations/westus/operations/1";

/// One pass of an operator whose young objects may be silent, and how often it wrote.
async fn pass(world: &World, key: &ObjectKey) -> (Requeue, usize) {
    // As old as the object, so that its age decides.
    look(world, key, 3600).await
}

/// The same, where the first look was this many seconds ago.
async fn look(world: &World, key: &ObjectKey, since_first: u64) -> (Requeue, usize) {
    world.journal.take();
    let mut reconciler = world.reconciler();
    reconciler.settings.longest_silence = LONGEST_SILENCE;
    let look = Look {
        key: key.clone(),
        since_first: Duration::from_secs(since_first),
    };
    let requeue = reconciler.look(&look).await;
    let lines = world.journal.take();
    let is_write = |line: &&String| line.starts_with("metadata") || line.starts_with("status");
    (requeue, lines.iter().filter(is_write).count())
}

/// A store below a group that is not ready yet, created by an operation that two looks find running.
#[tokio::test]
async fn a_set_that_is_ready_soon_is_written_for_nothing_but_what_must_not_be_lost() {
    let world = World::new();
    let store = world.store(json!({"capacity": 5}));
    assert_eq!(pass(&world, &store).await, (seconds(5), 0));
    let group = world.group();
    world.clock.advance(1);
    assert_eq!(pass(&world, &store).await, (seconds(4), 0));
    assert_eq!(pass(&world, &group).await, (Requeue::Sync, 2));

    let headers = [("location", OPERATION), ("retry-after", "2")];
    let running = || response(202, &headers, None);
    world.azure.script(Method::Put, STORE, running());
    assert_eq!(
        pass(&world, &store).await,
        (seconds(2), 2),
        "claim, operation"
    );
    world.clock.advance(1);
    world.azure.script(Method::Get, OPERATION, running());
    assert_eq!(pass(&world, &store).await, (seconds(2), 0));
    world.clock.advance(2);
    let body = json!({"id": STORE, "properties": {"capacity": 5}});
    world.azure.set(STORE, body.clone());
    let done = response(200, &[], Some(body));
    world.azure.script(Method::Get, OPERATION, done);
    assert_eq!(
        pass(&world, &store).await,
        (Requeue::Sync, 2),
        "baseline, Ready"
    );
    assert_eq!(world.ready(&store), "True//Succeeded");
}

#[tokio::test]
async fn what_is_not_ready_after_five_seconds_says_so() {
    let world = World::new();
    let store = world.store(json!({"capacity": 5}));
    assert_eq!(pass(&world, &store).await, (seconds(5), 0));
    world.clock.advance(5);
    let fast = Requeue::Backoff(RetryClass::Fast);
    assert_eq!(pass(&world, &store).await, (fast, 2), "ownership, status");
    assert_eq!(world.ready(&store), "False/Warning/WaitingForOwner");
    assert_eq!(world.cluster.status(&store)["observedGeneration"], 1);
}

/// Under load an object waits for its turn, and there is nothing to be said of it that is not over soon.
#[tokio::test]
async fn what_waited_for_its_turn_is_young_at_the_first_look() {
    let world = World::new();
    let store = world.store(json!({"capacity": 5}));
    world.clock.advance(60);
    assert_eq!(look(&world, &store, 0).await, (seconds(5), 0));
    world.clock.advance(2);
    assert_eq!(look(&world, &store, 2).await, (seconds(3), 0));
    world.clock.advance(3);
    let fast = Requeue::Backoff(RetryClass::Fast);
    assert_eq!(look(&world, &store, 5).await, (fast, 2));
    assert_eq!(world.ready(&store), "False/Warning/WaitingForOwner");
}

/// Azure asks for a longer time than the object may be silent.
#[tokio::test]
async fn a_long_operation_is_told_at_once() {
    let world = World::with_group().await;
    let store = world.store(json!({"capacity": 5}));
    let headers = [("location", OPERATION), ("retry-after", "10")];
    let running = response(202, &headers, None);
    world.azure.script(Method::Put, STORE, running);
    assert_eq!(pass(&world, &store).await, (seconds(10), 3));
    assert_eq!(world.ready(&store), "False/Info/Reconciling");
}

/// Deleting is as short of words: the operation, and the end.
#[tokio::test]
async fn a_deletion_that_ends_soon_is_written_for_nothing_but_what_must_not_be_lost() {
    let (world, store) = World::with_store().await;
    world.cluster.delete(&store);
    let headers = [("location", OPERATION), ("retry-after", "2")];
    let running = || response(202, &headers, None);
    world.azure.script(Method::Delete, STORE, running());
    assert_eq!(pass(&world, &store).await, (seconds(2), 1), "operation");
    world.azure.script(Method::Get, OPERATION, running());
    world.clock.advance(2);
    assert_eq!(pass(&world, &store).await, (seconds(2), 0));
    world.azure.script(Method::Get, OPERATION, running());
    world.clock.advance(2);
    assert_eq!(pass(&world, &store).await, (seconds(2), 1), "status");
    assert_eq!(world.ready(&store), "False/Info/Deleting");
    world.azure.remove(STORE);
    let done = response(204, &[], None);
    world.azure.script(Method::Get, OPERATION, done);
    assert_eq!(pass(&world, &store).await, (Requeue::Never, 1), "the end");
    assert!(world.cluster.object(&store).is_none());
}

/// What somebody has to mend is told at once.
#[tokio::test]
async fn failures_are_told_at_once() {
    let world = World::with_group().await;
    let store = world.store(json!({"capacity": 5}));
    let refused = error(400, "InvalidParameter");
    world.azure.script(Method::Put, STORE, refused);
    pass(&world, &store).await;
    let ready = world.ready(&store);
    assert!(ready.ends_with("/InvalidParameter"), "{ready}");
}
