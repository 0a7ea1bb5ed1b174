//! Edits that the policy keeps from Azure.

use armature_reconcile::port::DataKind;

use super::edits::{full, full_store};
use super::*;

/// `Ready` in the newest generation reads as if Azure had it.
#[tokio::test]
async fn an_edit_that_the_policy_keeps_from_azure_is_told() {
    let (world, store) = World::with_store().await;
    let policy = |value| {
        world
            .cluster
            .annotate(&store, names::RECONCILE_POLICY, value)
    };
    policy(Some("skip"));
    world.pass(&store).await;
    assert_eq!(world.message(&store), "", "Azure has this generation");
    world.store(json!({"capacity": 9}));
    let told = "this generation of the spec is not sent: serviceoperator.azure.com/reconcile-policy lets the object only read the \
                resource";
    for _ in 0..2 {
        assert_eq!(world.pass(&store).await, Requeue::Sync);
        assert_eq!(world.ready(&store), "True//Succeeded");
        assert_eq!(world.message(&store), told);
    }
    policy(None);
    world.pass(&store).await;
    assert_eq!(world.message(&store), "");
    assert_eq!(world.azure.get(STORE).unwrap()["properties"]["capacity"], 9);
}

/// What is not sent is told where Azure lacks something of it, and where nobody can tell.
#[tokio::test]
async fn an_edit_of_which_azure_has_all_is_nothing_to_tell() {
    let skip = Some("skip");
    let is_told = |world: &World, store: &ObjectKey| {
        let message = world.message(store);
        assert!(
            message.is_empty() || message.contains("is not sent"),
            "{message}"
        );
        !message.is_empty()
    };
    for (capacity, expected) in [(9, false), (8, true)] {
        let (world, store) = World::with_store().await;
        world
            .cluster
            .annotate(&store, names::RECONCILE_POLICY, skip);
        let mut there = world.azure.get(STORE).unwrap();
        there["properties"]["capacity"] = json!(capacity);
        world.azure.set(STORE, there);
        world.store(json!({"capacity": 9}));
        for _ in 0..2 {
            assert_eq!(world.pass(&store).await, Requeue::Sync);
            assert_eq!(is_told(&world, &store), expected, "{capacity}");
        }
        assert_eq!(world.azure.take_bodies().len(), 0);
    }
    // Nobody sees passwords, and without the Secret there is nothing to compare.
    for is_there in [true, false] {
        let (world, store) = full_store().await;
        world
            .cluster
            .annotate(&store, names::RECONCILE_POLICY, skip);
        world.pass(&store).await;
        if is_there {
            world.secret("hunter23");
        } else {
            world.cluster.remove_data(DataKind::Secret, "secret");
        }
        let mut spec = full();
        spec["capacity"] = json!(6);
        let mut there = world.azure.get(STORE).unwrap();
        there["properties"]["capacity"] = json!(6);
        world.azure.set(STORE, there);
        world.store(spec);
        assert_eq!(world.pass(&store).await, Requeue::Sync);
        assert!(is_told(&world, &store));
        assert_eq!(world.ready(&store), "True//Succeeded");
    }
}

/// An item that the spec has dropped and that stays is one that Azure has and the spec has not.
#[tokio::test]
async fn a_dropped_item_that_the_policy_keeps_is_told() {
    let (world, store) = World::with_store().await;
    world.store(json!({"capacity": 5, "shelves": [{"name": "a", "width": 1}]}));
    world.pass(&store).await;
    world
        .cluster
        .annotate(&store, names::RECONCILE_POLICY, Some("skip"));
    world.store(json!({"capacity": 5}));
    assert_eq!(world.pass(&store).await, Requeue::Sync);
    assert!(world.message(&store).contains("is not sent"));
}

/// An object that another release, or another operator, left well without a word costs no write.
#[tokio::test]
async fn what_was_left_without_a_word_stays() {
    let (world, store) = World::with_store().await;
    for name in [names::LATEST_RECONCILED_GENERATION, names::CLAIMED_SPEC] {
        world.cluster.annotate(&store, name, None);
    }
    world
        .cluster
        .annotate(&store, names::RECONCILE_POLICY, Some("skip"));
    world.pass(&store).await;
    world.journal.take();
    world.pass(&store).await;
    assert_eq!(world.message(&store), "");
    let lines = world.journal.take();
    assert!(
        lines.iter().all(|line| line.starts_with("GET")),
        "{lines:?}"
    );
}

/// Without a record of what was sent last, nobody knows what an edit has taken out.
#[tokio::test]
async fn an_edit_of_which_nothing_is_known_is_told() {
    type Apply = fn(&World, bool) -> ObjectKey;
    fn store(world: &World, mut spec: Value, name: &str, more: Option<Value>) -> ObjectKey {
        if let Some(more) = more {
            spec[name] = more;
        }
        world.store(spec)
    }
    let table: [(&str, Apply); 3] = [
        ("a value", |world, whole| {
            let tier = whole.then(|| json!("Hot"));
            store(world, json!({"capacity": 5}), "tier", tier)
        }),
        ("an item", |world, whole| {
            let shelves = whole.then(|| json!([{"name": "a", "width": 1}]));
            store(world, json!({"capacity": 5}), "shelves", shelves)
        }),
        ("an entry of a map", |world, whole| {
            let mut spec = json!({"location": "westus", "tags": {"a": "1"}});
            if whole {
                spec["tags"]["b"] = json!("2");
            }
            world.cluster.apply(&kinds::GROUP, "g", &spec)
        }),
    ];
    for (what, apply) in table {
        for is_recorded in [true, false] {
            let world = World::with_group().await;
            let object = apply(&world, true);
            world.pass(&object).await;
            assert_eq!(world.ready(&object), "True//Succeeded");
            if !is_recorded {
                for name in [
                    names::LATEST_RECONCILED_GENERATION,
                    names::CLAIMED_SPEC,
                    names::BASELINE,
                ] {
                    world.cluster.annotate(&object, name, None);
                }
            }
            let skip = Some("skip");
            world
                .cluster
                .annotate(&object, names::RECONCILE_POLICY, skip);
            world.pass(&object).await;
            assert_eq!(world.message(&object), "", "{what}: it is well");
            apply(&world, false);
            world.azure.take_bodies();
            assert_eq!(world.pass(&object).await, Requeue::Sync);
            let told = world.message(&object);
            assert!(
                told.contains("is not sent"),
                "{what}, {is_recorded}: {told}"
            );
            assert_eq!(world.azure.take_bodies().len(), 0);
        }
    }
}
