//! What a young object says, and what it costs the API server.

use armature_azure::Method;
use armature_reconcile::queue::Look;
use armature_reconcile::young::Silence;

use super::*;

const OPERATION: &str = "/subscriptions/s-1/providers/Microsoft.Toys/locations/westus/operations/1";

/// The next request like this is answered by an operation that runs.
fn begins(world: &World, method: Method, retry_after: &str) {
    let headers = [("location", OPERATION), ("retry-after", retry_after)];
    let url = if method == Method::Get {
        OPERATION
    } else {
        STORE
    };
    world
        .azure
        .script(method, url, response(202, &headers, None));
}

/// The next poll finds the store made.
fn ends(world: &World, capacity: u64) {
    let body = json!({"id": STORE, "properties": {"capacity": capacity}});
    world.azure.set(STORE, body.clone());
    let done = response(200, &[], Some(body));
    world.azure.script(Method::Get, OPERATION, done);
}

/// One pass of an operator whose young objects may be silent, and how often it wrote.
async fn pass(world: &World, key: &ObjectKey) -> (Requeue, usize) {
    // As old as the object, so that its age decides.
    look(world, key, 3600).await
}

/// The same, where the first look was this many seconds ago.
async fn look(world: &World, key: &ObjectKey, since_first: u64) -> (Requeue, usize) {
    world.journal.take();
    let mut reconciler = world.reconciler();
    reconciler.settings.silence = Silence::LONGEST;
    reconciler.deferred = world.deferred.clone();
    reconciler.since = jiff::Timestamp::UNIX_EPOCH;
    let look = Look {
        key: key.clone(),
        since_first: Duration::from_secs(since_first),
        waited: Duration::ZERO,
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
    assert_eq!(pass(&world, &store).await, (seconds(2), 1), "claim");
    world.clock.advance(1);
    world.azure.script(Method::Get, OPERATION, running());
    assert_eq!(pass(&world, &store).await, (seconds(2), 0));
    world.clock.advance(2);
    let body = json!({"id": STORE, "properties": {"capacity": 5}});
    world.azure.set(STORE, body.clone());
    let done = response(200, &[], Some(body));
    world.azure.script(Method::Get, OPERATION, done);
    assert_eq!(pass(&world, &store).await, (Requeue::Sync, 1), "Ready");
    assert_eq!(world.ready(&store), "True//Succeeded");
    let written = world.cluster.annotation(&store, names::CLAIMED_SPEC);
    assert!(written.is_some(), "the claim tells what was sent");
    // An edit afterwards is told from it.
    world.forget();
    world.store(json!({"capacity": 6}));
    pass(&world, &store).await;
    assert_eq!(
        world.azure.take_bodies()[0]["properties"],
        json!({"capacity": 6})
    );
}

/// A store that is claimed and whose PUT runs on, of which nothing is written.
async fn begun() -> (World, ObjectKey) {
    let world = World::with_group().await;
    let store = world.store(json!({"capacity": 5}));
    begins(&world, Method::Put, "2");
    assert_eq!(pass(&world, &store).await, (seconds(2), 1), "claim");
    (world, store)
}

/// The process that sent the PUT is gone, and with it all that was not written.
#[tokio::test]
async fn what_was_not_written_of_an_operation_is_found_out_again() {
    let (world, store) = begun().await;
    let next = World {
        deferred: Arc::default(),
        absences: Arc::default(),
        departures: Arc::default(),
        ..world
    };
    next.clock.advance(2);
    ends(&next, 5);
    next.azure.take_bodies();
    let (requeue, _) = pass(&next, &store).await;
    assert_eq!(requeue, Requeue::Sync);
    assert_eq!(next.ready(&store), "True//Succeeded");
    assert!(next.azure.take_bodies().is_empty(), "Azure has all of it");
}

/// A process that ends properly leaves nothing to be found out.
#[tokio::test]
async fn what_was_not_written_of_an_operation_is_when_the_process_stops() {
    let (world, store) = begun().await;
    let mut reconciler = world.reconciler();
    reconciler.deferred = world.deferred.clone();
    reconciler.write_deferred().await;
    let operation = world.cluster.annotation(&store, names::POLLER_RESUME_TOKEN);
    assert!(operation.is_some());
    world.forget();
    reconciler.write_deferred().await;
    assert!(world.journal.take().is_empty(), "once");
}

/// What is known of an operation is written before the object says that it runs.
#[tokio::test]
async fn an_operation_is_written_down_once_the_object_speaks() {
    let (world, store) = begun().await;
    let operation = || world.cluster.annotation(&store, names::POLLER_RESUME_TOKEN);
    assert_eq!(operation(), None);
    world.clock.advance(4);
    begins(&world, Method::Get, "2");
    let spoken = pass(&world, &store).await;
    assert_eq!(spoken, (seconds(2), 2), "operation, status");
    assert!(operation().is_some());
    world.clock.advance(2);
    ends(&world, 5);
    let done = pass(&world, &store).await;
    assert_eq!(done, (Requeue::Sync, 2), "baseline, Ready");
    assert_eq!(operation(), None);
}

/// Another object of the name has nothing to do with the operation.
#[tokio::test]
async fn what_was_not_written_ends_with_its_object() {
    let (world, store) = begun().await;
    world.cluster.forget(&store);
    let store = world.store(json!({"capacity": 6}));
    world.forget();
    pass(&world, &store).await;
    assert_eq!(
        world.azure.take_bodies()[0]["properties"],
        json!({"capacity": 6})
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
    assert_eq!(pass(&world, &store).await, (fast, 1), "status");
    assert_eq!(world.ready(&store), "False/Warning/WaitingForOwner");
    assert_eq!(world.cluster.status(&store)["observedGeneration"], 1);
}

/// Under load a worker comes late to the object: it says so at the first look, and what it says then is the one write more.
#[tokio::test]
async fn what_waited_for_its_turn_says_so_once() {
    let world = World::new();
    let store = world.store(json!({"capacity": 5}));
    world.clock.advance(20);
    let fast = Requeue::Backoff(RetryClass::Fast);
    assert_eq!(look(&world, &store, 0).await, (fast, 1), "status");
    assert_eq!(world.ready(&store), "False/Warning/WaitingForOwner");
    assert_eq!(world.cluster.status(&store)["observedGeneration"], 1);
    pass(&world, &world.group()).await;

    begins(&world, Method::Put, "2");
    assert_eq!(pass(&world, &store).await, (seconds(2), 1), "claim");
    assert_eq!(world.ready(&store), "False/Warning/WaitingForOwner");
    world.clock.advance(2);
    ends(&world, 5);
    assert_eq!(pass(&world, &store).await, (Requeue::Sync, 1), "Ready");
    assert_eq!(world.ready(&store), "True//Succeeded");
}

/// Whose an object is that waits for long is told, too.
#[tokio::test]
async fn what_waits_for_half_a_minute_says_whose_it_is() {
    let world = World::new();
    let store = world.store(json!({"capacity": 5}));
    let manager = || world.cluster.annotation(&store, names::OPERATOR_NAMESPACE);
    world.clock.advance(29);
    pass(&world, &store).await;
    assert_eq!(manager(), None);
    world.clock.advance(1);
    pass(&world, &store).await;
    assert_eq!(manager().as_deref(), Some("armature-system"));
}

/// The generation tells that the edit is not done.
#[tokio::test]
async fn an_edit_says_that_azure_is_at_work_when_the_first_poll_finds_it_so() {
    for polls in [0, 1] {
        let (world, store) = World::with_store().await;
        world.clock.advance(3600);
        world.store(json!({"capacity": 6}));
        begins(&world, Method::Put, "2");
        assert_eq!(pass(&world, &store).await, (seconds(2), 1), "operation");
        assert_eq!(world.ready(&store), "True//Succeeded");
        assert_eq!(world.cluster.status(&store)["observedGeneration"], 1);
        for _ in 0..polls {
            world.clock.advance(2);
            begins(&world, Method::Get, "2");
            assert_eq!(pass(&world, &store).await, (seconds(2), 1), "status");
            assert_eq!(world.ready(&store), "False/Info/Reconciling");
        }
        world.clock.advance(2);
        ends(&world, 6);
        let done = pass(&world, &store).await;
        assert_eq!(done, (Requeue::Sync, 2), "baseline, Ready");
        assert_eq!(world.cluster.status(&store)["observedGeneration"], 2);
    }
}

/// A condition that says that all is well must not outlive that.
#[tokio::test]
async fn the_repair_of_drift_is_told_at_once() {
    let (world, store) = World::with_store().await;
    world.clock.advance(3600);
    world
        .azure
        .set(STORE, json!({"id": STORE, "properties": {"capacity": 9}}));
    begins(&world, Method::Put, "2");
    assert_eq!(
        pass(&world, &store).await,
        (seconds(2), 2),
        "operation, status"
    );
    let reconciling = world.cluster.condition(&store, "Reconciling");
    assert_eq!(reconciling, "True//Reconciling");
}

/// kstatus takes no object for done while Azure has not got what has changed; nothing is said where nothing has.
#[tokio::test]
async fn what_has_changed_without_an_edit_is_said_before_the_put() {
    type Change = fn(&World, &ObjectKey);
    let rows: [(&str, bool, Change); 2] = [
        ("a drift", true, |world, _| {
            let drifted = json!({"id": STORE, "properties": {"capacity": 9}});
            world.azure.set(STORE, drifted);
        }),
        ("always-put", false, |world, store| {
            world
                .cluster
                .annotate(store, names::ALWAYS_PUT, Some("true"));
        }),
    ];
    for (what, is_said, change) in rows {
        let (world, store) = World::with_store().await;
        world.clock.advance(3600);
        change(&world, &store);
        world.journal.take();
        world.pass(&store).await;
        let lines = world.journal.take();
        let at = |start: &str| lines.iter().position(|line| line.starts_with(start));
        let put = at("PUT").expect("there is a PUT");
        let said = at("status").is_some_and(|status| status < put);
        assert_eq!(said, is_said, "{what}: {lines:?}");
        assert_eq!(world.ready(&store), "True//Succeeded");
        assert_eq!(world.cluster.condition(&store, "Reconciling"), "", "{what}");
    }
}

/// A rule of the cluster that keeps the status from being written keeps nothing from being repaired.
#[tokio::test]
async fn a_status_that_is_refused_keeps_no_put_back() {
    let (world, store) = World::with_store().await;
    world.clock.advance(3600);
    let drifted = json!({"id": STORE, "properties": {"capacity": 9}});
    world.azure.set(STORE, drifted);
    world.cluster.limit_status(10);
    world.pass(&store).await;
    assert_eq!(world.azure.take_bodies().len(), 1);
}

/// What nobody knows of but Azure is looked at every second while it is young.
#[tokio::test]
async fn a_young_operation_that_wants_to_be_asked_at_once_is() {
    for (retry_after, age, wait) in [("0", 0, 1), ("1", 0, 1), ("2", 0, 2), ("0", 5, 2)] {
        let world = World::with_group().await;
        let store = world.store(json!({"capacity": 5}));
        world.clock.advance(age);
        begins(&world, Method::Put, retry_after);
        let (requeue, _) = pass(&world, &store).await;
        assert_eq!(requeue, seconds(wait), "{retry_after} after {age} s");
    }
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
    assert_eq!(pass(&world, &store).await, (seconds(2), 0));
    for _ in 0..14 {
        world.azure.script(Method::Get, OPERATION, running());
        world.clock.advance(2);
        assert_eq!(pass(&world, &store).await, (seconds(2), 0));
    }
    world.azure.script(Method::Get, OPERATION, running());
    world.clock.advance(2);
    let spoken = pass(&world, &store).await;
    assert_eq!(spoken, (seconds(2), 2), "operation, status");
    assert_eq!(world.ready(&store), "False/Info/Deleting");
    world.azure.remove(STORE);
    let done = response(204, &[], None);
    world.azure.script(Method::Get, OPERATION, done);
    assert_eq!(pass(&world, &store).await, (Requeue::Never, 1), "the end");
    assert!(world.cluster.object(&store).is_none());
}

/// Kubernetes says that it is being deleted, not why it stays.
#[tokio::test]
async fn a_refused_deletion_is_told_at_once() {
    let (world, store) = World::with_store().await;
    world.cluster.delete(&store);
    let refused = error(409, "ScopeLocked");
    world.azure.script(Method::Delete, STORE, refused);
    assert_eq!(pass(&world, &store).await.1, 2, "record, status");
    assert_eq!(world.ready(&store), "False/Warning/ScopeLocked");
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
