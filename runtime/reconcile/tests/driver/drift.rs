//! PUT only on drift, and what a baseline keeps quiet.

use armature_arm::testing::Manner;
use armature_azure::Method;
use armature_reconcile::port::DataKind;

use super::*;

#[tokio::test]
async fn drift_is_named_and_put_right_once() {
    let (world, store) = World::with_store().await;
    let mut drifted = world.azure.get(STORE).unwrap();
    drifted["properties"]["capacity"] = json!(9);
    world.azure.set(STORE, drifted);
    assert_eq!(world.pass(&store).await, Requeue::Sync);
    let expected = [
        format!("GET {STORE}"),
        format!("PUT {STORE}"),
        format!("GET {STORE}"),
    ];
    assert_eq!(world.requests(), expected);
    let (reason, message) = world.cluster.take_events().remove(0);
    assert_eq!(reason, "Drifted");
    assert!(message.contains("properties.capacity"), "{message}");
    assert!(message.contains('5') && message.contains('9'), "{message}");
    assert_eq!(world.pass(&store).await, Requeue::Sync);
    assert_eq!(world.requests(), [format!("GET {STORE}")]);
}

/// A service that rewrites what it is given can never cause a loop of PUTs.
#[tokio::test]
async fn what_azure_rewrote_at_the_put_is_no_drift() {
    let world = World::with_group().await;
    let store = world.store(json!({"capacity": 5, "tier": "standard"}));
    let rewritten = json!({
        "id": STORE,
        "properties": {"capacity": 5, "tier": "Std_v2", "provisioningState": "Succeeded"},
    });
    world
        .azure
        .script(Method::Get, STORE, error(404, "ResourceNotFound"));
    world.azure.script(
        Method::Put,
        STORE,
        response(200, &[], Some(rewritten.clone())),
    );
    world.azure.set(STORE, rewritten.clone());
    assert_eq!(world.pass(&store).await, Requeue::Sync);
    world.forget();
    for _ in 0..3 {
        assert_eq!(world.pass(&store).await, Requeue::Sync);
        assert_eq!(world.journal.take(), [format!("GET {STORE}")]);
    }
    let mut drifted = rewritten;
    drifted["properties"]["tier"] = json!("Std_v3");
    world.azure.set(STORE, drifted);
    world.pass(&store).await;
    assert_eq!(world.azure.take_bodies().len(), 1);
}

/// Taking over what exists and is equal writes nothing to Azure.
#[tokio::test]
async fn adopting_an_equal_resource_sends_no_put() {
    let world = World::with_group().await;
    let store = world.store(json!({"capacity": 5}));
    let azure = json!({"id": STORE, "properties": {"capacity": 5, "extra": true}});
    world.azure.set(STORE, azure);
    assert_eq!(world.pass(&store).await, Requeue::Sync);
    assert_eq!(world.requests(), [format!("GET {STORE}")]);
    assert_eq!(world.ready(&store), "True//Succeeded");
}

#[tokio::test]
async fn a_changed_secret_is_sent_again_and_never_shown() {
    let world = World::with_group().await;
    world
        .cluster
        .put_data(DataKind::Secret, "secret", &[("password", "hunter2")]);
    let store = world.store(json!({"password": {"name": "secret", "key": "password"}}));
    assert_eq!(world.pass(&store).await, Requeue::Sync);
    let mut azure = world.azure.get(STORE).unwrap();
    azure["properties"]
        .as_object_mut()
        .unwrap()
        .remove("password");
    world.azure.set(STORE, azure);
    assert_eq!(world.pass(&store).await, Requeue::Sync);
    world.forget();
    world
        .cluster
        .put_data(DataKind::Secret, "secret", &[("password", "hunter3")]);
    assert_eq!(world.pass(&store).await, Requeue::Sync);
    assert_eq!(
        world.azure.take_bodies()[0]["properties"]["password"],
        "hunter3"
    );
    let shown = format!(
        "{:?} {}",
        world.cluster.take_events(),
        world.cluster.status(&store)
    );
    assert!(!shown.contains("hunter"), "{shown}");
}

#[tokio::test]
async fn observe_reports_drift_and_leaves_it() {
    let (world, store) = World::with_store().await;
    world.cluster.annotate(&store, names::OBSERVE, Some("true"));
    let mut drifted = world.azure.get(STORE).unwrap();
    drifted["properties"]["capacity"] = json!(9);
    world.azure.set(STORE, drifted);
    assert_eq!(
        world.pass(&store).await,
        Requeue::Backoff(RetryClass::VerySlow)
    );
    assert_eq!(world.ready(&store), "False/Warning/Drifted");
    assert!(
        world
            .cluster
            .message(&store)
            .contains("properties.capacity")
    );
    assert_eq!(world.azure.take_bodies(), Vec::<Value>::new());
}

#[tokio::test]
async fn always_put_sends_every_time_and_ignored_paths_never_count() {
    let (world, store) = World::with_store().await;
    world
        .cluster
        .annotate(&store, names::ALWAYS_PUT, Some("true"));
    world.pass(&store).await;
    world.pass(&store).await;
    assert_eq!(world.azure.take_bodies().len(), 2);

    world.cluster.annotate(&store, names::ALWAYS_PUT, None);
    world.cluster.annotate(
        &store,
        names::IGNORE_PATHS,
        Some("properties.tier, properties.capacity"),
    );
    let mut drifted = world.azure.get(STORE).unwrap();
    drifted["properties"]["capacity"] = json!(9);
    world.azure.set(STORE, drifted);
    assert_eq!(world.pass(&store).await, Requeue::Sync);
    assert_eq!(world.azure.take_bodies(), Vec::<Value>::new());
}

/// Services have their own way with what they are given. None of it is drift, and what somebody really changes is found
/// all the same and repaired once.
#[tokio::test]
async fn the_manners_of_services_cause_no_second_put() {
    let rows: [(&str, Manner); 5] = [
        ("spells a location its own way", |body, _| {
            body["location"] = json!("West US");
        }),
        ("reorders a list", |body, _| {
            body["zones"] = json!(["3", "1", "2"]);
        }),
        ("adds defaults", |body, _| {
            body["tags"] = json!({"by": "policy"});
            body["properties"]["tls"] = json!({"minimum": "1.2"});
        }),
        ("rewrites a value", |body, _| {
            body["properties"]["tier"] = json!("Std_v2");
        }),
        ("rewrites a value anew on every GET", |body, read| {
            body["properties"]["tier"] = json!(format!("Std-{read}"));
        }),
    ];
    for (name, manner) in rows {
        let world = World::with_group().await;
        let store = world.store(json!({
            "location": "westus", "zones": ["1", "2", "3"], "capacity": 5, "tier": "standard",
        }));
        world.azure.answer_in(manner);
        assert_eq!(world.pass(&store).await, Requeue::Sync, "{name}");
        assert_eq!(world.azure.take_bodies().len(), 1, "{name}: created");
        world.forget();
        for _ in 0..4 {
            assert_eq!(world.pass(&store).await, Requeue::Sync, "{name}");
            assert_eq!(world.journal.take(), [format!("GET {STORE}")], "{name}");
        }
        let mut drifted = world.azure.get(STORE).unwrap();
        drifted["properties"]["capacity"] = json!(9);
        world.azure.set(STORE, drifted);
        for _ in 0..3 {
            assert_eq!(world.pass(&store).await, Requeue::Sync, "{name}");
        }
        assert_eq!(world.azure.take_bodies().len(), 1, "{name}: repaired once");
        let [(reason, message)] = &world.cluster.take_events()[..] else {
            panic!("{name}: one event");
        };
        assert_eq!(reason, "Drifted", "{name}");
        let expected = "properties.capacity: desired 5, Azure has 9";
        assert_eq!(message, expected, "{name}: nothing else is drift");
    }
}

/// A value that the service changes now and then costs one PUT; after that it is known to be its own.
#[tokio::test]
async fn a_value_that_changes_by_itself_is_sent_again_once() {
    let world = World::with_group().await;
    let store = world.store(json!({"capacity": 5, "tier": "standard"}));
    let manners: [Manner; 4] = [
        |body, _| body["properties"]["tier"] = json!("Std_1"),
        |body, _| body["properties"]["tier"] = json!("Std_2"),
        |body, _| body["properties"]["tier"] = json!("Std_3"),
        |body, _| body["properties"]["tier"] = json!("Std_4"),
    ];
    let mut puts = Vec::new();
    for manner in manners {
        world.azure.answer_in(manner);
        for _ in 0..2 {
            assert_eq!(world.pass(&store).await, Requeue::Sync);
        }
        puts.push(world.azure.take_bodies().len());
    }
    assert_eq!(puts, [1, 1, 0, 0]);
    // An edit of the value is sent all the same.
    world.store(json!({"capacity": 5, "tier": "premium"}));
    assert_eq!(world.pass(&store).await, Requeue::Sync);
    let bodies = world.azure.take_bodies();
    assert_eq!(bodies[0]["properties"]["tier"], "premium");
}
