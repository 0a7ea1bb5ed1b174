//! Annotations by which users steer what the operator does: a pause, a pass at once, a period, and words that mean nothing.

use super::*;

fn namespace(world: &World, name: &str, value: &str) {
    let annotations = [(name.to_owned(), value.to_owned())];
    world
        .cluster
        .annotate_namespace("default", annotations.into());
}

fn message(world: &World, key: &ObjectKey, condition: &str) -> String {
    let status = world.cluster.status(key);
    let mut conditions = status["conditions"].as_array().into_iter().flatten();
    let found = conditions.find(|item| item["type"] == condition);
    let message = found.and_then(|item| item["message"].as_str());
    message.unwrap_or_default().to_owned()
}

#[tokio::test]
async fn while_an_object_is_paused_nothing_is_sent_and_ready_says_what_azure_said() {
    let (world, store) = World::with_store().await;
    world.cluster.annotate(&store, names::PAUSED, Some("true"));
    world.store(json!({"capacity": 6}));
    let before = world.cluster.status(&store);
    assert_eq!(world.pass(&store).await, Requeue::Never);
    assert_eq!(world.requests(), [""; 0]);
    let status = world.cluster.status(&store);
    assert_eq!(status["conditions"][0], before["conditions"][0]);
    assert_eq!(
        status["observedGeneration"], before["observedGeneration"],
        "kstatus sees that the edit has not been served"
    );
    assert_eq!(world.cluster.condition(&store, "Paused"), "True//Paused");

    world.cluster.annotate(&store, names::PAUSED, None);
    assert_eq!(world.pass(&store).await, Requeue::Sync);
    assert_eq!(world.cluster.condition(&store, "Paused"), "");
    assert_eq!(world.azure.take_bodies().len(), 1, "the edit is sent");
}

#[tokio::test]
async fn a_pause_ends_by_itself() {
    let (world, store) = World::with_store().await;
    let end = Some("1970-01-01T00:10:00Z");
    world.cluster.annotate(&store, names::PAUSED, end);
    assert_eq!(world.pass(&store).await, seconds(600));
    let told = message(&world, &store, "Paused");
    assert!(told.contains("1970-01-01T00:10:00Z"), "{told}");
    world.clock.advance(599);
    assert_eq!(world.pass(&store).await, seconds(1));
    assert_eq!(world.requests(), [""; 0]);
    world.clock.advance(1);
    assert_eq!(world.pass(&store).await, Requeue::Sync);
    assert_eq!(world.cluster.condition(&store, "Paused"), "");
}

#[tokio::test]
async fn a_paused_object_that_is_new_is_not_ready_and_not_claimed() {
    let world = World::with_group().await;
    let store = world.store(json!({}));
    namespace(&world, names::PAUSED, "true");
    assert_eq!(world.pass(&store).await, Requeue::Never);
    assert_eq!(world.ready(&store), "False/Info/Paused");
    assert_eq!(world.requests(), [""; 0]);
    world.cluster.delete(&store);
    assert!(world.cluster.object(&store).is_none(), "nothing holds it");
}

#[tokio::test]
async fn a_paused_object_is_not_deleted_in_azure() {
    let (world, store) = World::with_store().await;
    world.cluster.annotate(&store, names::PAUSED, Some("true"));
    world.cluster.delete(&store);
    assert_eq!(world.pass(&store).await, Requeue::Never);
    assert_eq!(world.requests(), [""; 0]);
    assert!(world.cluster.object(&store).is_some());
    world.cluster.annotate(&store, names::PAUSED, Some("false"));
    assert_eq!(world.pass(&store).await, Requeue::Never);
    assert!(world.azure.get(STORE).is_none());
}

#[tokio::test]
async fn a_word_that_means_nothing_is_named_and_sends_nothing() {
    for (name, on_namespace) in [
        (names::RECONCILE_POLICY, false),
        (names::RECONCILE_POLICY, true),
        (names::OBSERVE, false),
        (names::ALWAYS_PUT, false),
        (names::PAUSED, true),
        (names::SYNC_PERIOD, false),
        (names::ADOPT, true),
        (names::PROTECT, false),
    ] {
        for is_deleted in [false, true] {
            let (world, store) = World::with_store().await;
            world.store(json!({"capacity": 6}));
            match on_namespace {
                true => namespace(&world, name, "perhaps"),
                false => world.cluster.annotate(&store, name, Some("perhaps")),
            }
            if is_deleted {
                world.cluster.delete(&store);
            }
            assert_eq!(world.pass(&store).await, Requeue::Never, "{name}");
            assert_eq!(world.requests(), [""; 0], "{name}");
            assert_eq!(world.ready(&store), "False/Error/InvalidAnnotation");
            let message = world.cluster.message(&store);
            let place = if on_namespace {
                " of namespace default"
            } else {
                ""
            };
            let start = format!("annotation {name}{place}: 'perhaps' is unknown, expected ");
            assert!(message.starts_with(&start), "{message}");
        }
    }
}

#[tokio::test]
async fn an_object_has_the_period_that_it_asks_for() {
    let minutes = |count: u64| Requeue::SyncAfter(Duration::from_secs(60 * count));
    let (world, store) = World::with_store().await;
    namespace(&world, names::SYNC_PERIOD, "2h");
    assert_eq!(world.pass(&store).await, minutes(120));
    world
        .cluster
        .annotate(&store, names::SYNC_PERIOD, Some("15m"));
    assert_eq!(world.pass(&store).await, minutes(15));
    assert_eq!(world.cluster.condition(&store, "SyncPeriod"), "True//Set");
    assert_eq!(
        message(&world, &store, "SyncPeriod"),
        "Azure is looked at every 900 s"
    );
    world
        .cluster
        .annotate(&store, names::SYNC_PERIOD, Some("never"));
    assert_eq!(world.pass(&store).await, Requeue::Never);
    let annotate = |name: &str, value| world.cluster.annotate(&store, name, value);
    annotate(names::SYNC_PERIOD, Some("10s"));
    assert_eq!(
        world.pass(&store).await,
        Requeue::SyncAfter(Duration::from_secs(10))
    );
    annotate(names::ALWAYS_PUT, Some("true"));
    assert_eq!(world.pass(&store).await, minutes(10), "each is a write");
    annotate(names::ALWAYS_PUT, None);

    // What is only observed is looked at as often, drifted or not.
    world.cluster.annotate(&store, names::OBSERVE, Some("true"));
    world
        .cluster
        .annotate(&store, names::SYNC_PERIOD, Some("15m"));
    world
        .azure
        .set(STORE, json!({"id": STORE, "properties": {"capacity": 9}}));
    let again = Requeue::RetryAfter(Duration::from_secs(900));
    assert_eq!(world.pass(&store).await, again);
}

/// A pass that somebody asked for is not put off like one that only looks, and is served once.
#[tokio::test]
async fn a_request_goes_before_looks_and_is_served_once() {
    for on_namespace in [false, true] {
        let (world, store) = World::with_store().await;
        let ask = |value: &str| match on_namespace {
            true => namespace(&world, names::RECONCILE_NOW, value),
            false => world
                .cluster
                .annotate(&store, names::RECONCILE_NOW, Some(value)),
        };
        ask("1");
        let requested = |world: &World| {
            let object = world.cluster.object(&store).unwrap();
            let status = world.cluster.status(&store);
            let namespace = world.cluster.namespace("default");
            armature_reconcile::driver::is_requested(&object, &status["conditions"], &namespace)
        };
        assert!(requested(&world));
        assert_eq!(world.pass(&store).await, Requeue::Sync);
        assert_eq!(world.requests(), [format!("GET {STORE}")]);
        assert_eq!(
            world.cluster.condition(&store, "ReconcileNow"),
            "True//Served"
        );
        assert!(!requested(&world), "a restart does not serve it again");
        ask("2");
        assert!(requested(&world));
    }
}
