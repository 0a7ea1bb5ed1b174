//! What must not be deleted, and whose word counts before a DELETE; whose credential is used.

use armature_reconcile::annotations::CREDENTIAL;
use armature_reconcile::port::DataKind;
use armature_reconcile::signature::SIGNATURE;

use super::*;

const SLOW: Requeue = Requeue::Backoff(RetryClass::Slow);

fn said(name: &str, value: &str) -> std::collections::BTreeMap<String, String> {
    [(name.to_owned(), value.to_owned())].into()
}

/// A group with a store with a box.
async fn with_box() -> (World, ObjectKey, ObjectKey) {
    let (world, store) = World::with_store().await;
    let boxed = world.boxed();
    assert_eq!(world.pass(&boxed).await, Requeue::Sync);
    world.forget();
    (world, store, boxed)
}

fn deletes(world: &World) -> usize {
    let requests = world.requests();
    let found = requests.iter().filter(|line| line.starts_with("DELETE"));
    found.count()
}

#[tokio::test]
async fn what_a_protected_resource_is_in_is_not_deleted() {
    let (world, store, boxed) = with_box().await;
    world
        .cluster
        .annotate(&boxed, names::PROTECT, Some("delete"));
    let group = world.group();
    for above in [&store, &group] {
        world.cluster.delete(above);
        assert_eq!(world.pass(above).await, SLOW);
        assert_eq!(world.ready(above), "False/Warning/Protected");
        let message = world.cluster.message(above);
        assert!(message.contains("StoresBox default/b"), "{message}");
    }
    assert_eq!(deletes(&world), 0);

    world.cluster.annotate(&boxed, names::PROTECT, None);
    assert_eq!(world.pass(&store).await, Requeue::Never);
    assert!(world.azure.get(STORE).is_none());
}

#[tokio::test]
async fn a_protected_object_keeps_its_resource() {
    for on_namespace in [false, true] {
        let (world, store) = World::with_store().await;
        match on_namespace {
            true => {
                let annotations = said(names::PROTECT, "delete");
                world.cluster.annotate_namespace("default", annotations);
            }
            false => world
                .cluster
                .annotate(&store, names::PROTECT, Some("delete")),
        }
        assert_eq!(world.pass(&store).await, Requeue::Sync);
        assert_eq!(world.cluster.condition(&store, "Protected"), "True//Delete");
        world.cluster.delete(&store);
        assert_eq!(world.pass(&store).await, SLOW);
        assert_eq!(world.ready(&store), "False/Warning/Protected");
        assert_eq!(deletes(&world), 0);
        world.cluster.annotate(&store, names::PROTECT, Some("none"));
        assert_eq!(world.pass(&store).await, Requeue::Never);
        assert!(world.azure.get(STORE).is_none());
    }
}

/// A namespace that is annotated and deleted at once: the watch has not told of the annotation yet.
#[tokio::test]
async fn the_namespaces_word_is_read_from_the_server_before_a_delete() {
    for (name, value, is_gone) in [
        (names::RECONCILE_POLICY, "skip", true),
        (names::RECONCILE_POLICY, "detach-on-delete", true),
        (names::RECONCILE_POLICY, "keep", false),
        (names::PROTECT, "delete", false),
        (names::PAUSED, "true", false),
        (CREDENTIAL, "own", false),
    ] {
        let (world, store) = World::with_store().await;
        let annotations = said(name, value);
        world
            .cluster
            .annotate_namespace_unseen("default", annotations);
        world.cluster.delete(&store);
        world.pass(&store).await;
        assert_eq!(deletes(&world), 0, "{name}: {value}");
        assert!(world.azure.get(STORE).is_some(), "{name}: {value}");
        let object = world.cluster.object(&store);
        assert_eq!(object.is_none(), is_gone, "{name}: {value}");
    }
}

fn claimed_with(world: &World, key: &ObjectKey) -> String {
    let annotation = world.cluster.annotation(key, names::CLAIMED_WITH);
    annotation.unwrap_or_default()
}

fn add_credential(world: &World, name: &str) {
    let keys = [("AZURE_CLIENT_ID", "c")];
    world.cluster.put_data(DataKind::Secret, name, &keys);
}

#[tokio::test]
async fn the_operators_credential_never_takes_the_place_of_the_namespaces() {
    for is_deleted in [false, true] {
        let world = World::with_group().await;
        add_credential(&world, names::NAMESPACE_CREDENTIAL);
        let store = world.store(json!({"capacity": 5}));
        assert_eq!(world.pass(&store).await, Requeue::Sync);
        assert_eq!(claimed_with(&world, &store), "namespace");
        world.forget();

        world
            .cluster
            .remove_data(DataKind::Secret, names::NAMESPACE_CREDENTIAL);
        world.store(json!({"capacity": 6}));
        if is_deleted {
            world.cluster.delete(&store);
        }
        assert_eq!(world.pass(&store).await, SLOW);
        assert_eq!(world.requests(), [""; 0]);
        assert_eq!(world.ready(&store), "False/Warning/CredentialNotFound");
        let message = world.cluster.message(&store);
        for part in [
            "Secret default/aso-credential is gone",
            names::CREDENTIAL_FROM,
            names::CLAIMED_WITH,
        ] {
            assert!(message.contains(part), "{message}");
        }

        // Whoever removes the record means it.
        world.cluster.annotate(&store, names::CLAIMED_WITH, None);
        let requeue = world.pass(&store).await;
        let expected = if is_deleted {
            Requeue::Never
        } else {
            Requeue::Sync
        };
        assert_eq!(requeue, expected);
    }
}

#[tokio::test]
async fn whose_credential_it_is_is_recorded_with_the_claim_or_the_next_write() {
    let world = World::with_group().await;
    let store = world.store(json!({"capacity": 5}));
    assert_eq!(world.pass(&store).await, Requeue::Sync);
    assert_eq!(claimed_with(&world, &store), "operator");

    // Claimed by a release that recorded nothing: no write for that alone.
    for name in [names::CLAIMED_WITH, SIGNATURE] {
        world.cluster.annotate(&store, name, None);
    }
    assert_eq!(world.pass(&store).await, Requeue::Sync);
    assert_eq!(claimed_with(&world, &store), "");
    add_credential(&world, names::NAMESPACE_CREDENTIAL);
    world.store(json!({"capacity": 6}));
    assert_eq!(world.pass(&store).await, Requeue::Sync);
    assert_eq!(claimed_with(&world, &store), "namespace");

    add_credential(&world, "own");
    let named = world.boxed();
    world
        .cluster
        .annotate(&named, names::CREDENTIAL_FROM, Some("own"));
    assert_eq!(world.pass(&named).await, Requeue::Sync);
    assert_eq!(claimed_with(&world, &named), "object");
}
