//! Claims that foretell what Azure answers: what need not be written then, and what must be all the same.

use armature_azure::Method;
use armature_reconcile::claim::came_true;
use armature_reconcile::port::DataKind;

use super::edits::full_store;
use super::*;

impl World {
    fn is_foretold(&self, key: &ObjectKey) -> bool {
        self.cluster
            .object(key)
            .is_some_and(|object| came_true(&object))
    }
}

/// What Azure made something else of has to be remembered, or it would be taken for drift.
#[tokio::test]
async fn what_was_not_foretold_is_recorded() {
    let world = World::with_group().await;
    let rewritten =
        json!({"id": STORE, "properties": {"capacity": 6, "provisioningState": "Succeeded"}});
    world
        .azure
        .script(Method::Get, STORE, error(404, "ResourceNotFound"));
    world.azure.set(STORE, rewritten.clone());
    world
        .azure
        .script(Method::Put, STORE, response(200, &[], Some(rewritten)));
    let store = world.store(json!({"capacity": 5}));
    assert_eq!(world.pass(&store).await, Requeue::Sync);
    assert!(world.cluster.annotation(&store, names::BASELINE).is_some());
    assert!(!world.is_foretold(&store));
    world.forget();
    assert_eq!(world.pass(&store).await, Requeue::Sync);
    assert_eq!(world.requests(), [format!("GET {STORE}")]);
}

/// A status that is not `Ready` anymore tells nothing of the PUT: the record is written before it, and the password, which
/// Azure does not show, is not sent again.
#[tokio::test]
async fn trouble_leaves_a_record() {
    let (world, store) = full_store().await;
    assert!(world.is_foretold(&store));
    world
        .azure
        .script(Method::Get, STORE, error(403, "AuthorizationFailed"));
    world.pass(&store).await;
    assert!(
        world.ready(&store).starts_with("False/"),
        "{}",
        world.ready(&store)
    );
    assert!(world.cluster.annotation(&store, names::BASELINE).is_some());
    assert_eq!(world.cluster.annotation(&store, names::CLAIMED_SPEC), None);
    world.azure.clear_script();
    world.forget();
    assert_eq!(world.pass(&store).await, Requeue::Sync);
    assert_eq!(world.requests(), [format!("GET {STORE}")]);
}

/// Somebody labels the object while Azure answers: the status is not written, and what was sent is known nevertheless.
#[tokio::test]
async fn a_conflict_of_the_status_leaves_a_record() {
    let world = World::with_group().await;
    world
        .cluster
        .put_data(DataKind::Secret, "secret", &[("password", "hunter22")]);
    let spec = json!({"capacity": 5, "password": {"name": "secret", "key": "password"}});
    let store = world.store(spec);
    world
        .azure
        .script(Method::Put, STORE, error(409, "Conflict"));
    world.pass(&store).await;
    world.azure.clear_script();
    world.cluster.interfere(1);
    world.pass(&store).await;
    assert!(world.cluster.annotation(&store, names::BASELINE).is_some());
    world.forget();
    assert_eq!(world.pass(&store).await, Requeue::Sync);
    assert_eq!(world.requests(), [format!("GET {STORE}")]);
}

/// An object that is `Ready` because it may not be written says nothing of a PUT.
#[tokio::test]
async fn ready_without_a_put_vouches_for_nothing() {
    let world = World::with_group().await;
    world
        .cluster
        .put_data(DataKind::Secret, "secret", &[("password", "hunter22")]);
    let spec = json!({"capacity": 5, "password": {"name": "secret", "key": "password"}});
    let store = world.store(spec);
    world
        .azure
        .script(Method::Put, STORE, error(409, "Conflict"));
    world.pass(&store).await;
    world.azure.clear_script();
    world
        .azure
        .set(STORE, json!({"id": STORE, "properties": {"capacity": 5}}));
    world
        .cluster
        .annotate(&store, names::RECONCILE_POLICY, Some("skip"));
    assert_eq!(world.pass(&store).await, Requeue::Sync);
    assert_eq!(world.ready(&store), "True//Succeeded");
    assert!(!world.is_foretold(&store));
    world
        .cluster
        .annotate(&store, names::RECONCILE_POLICY, None);
    world.forget();
    assert_eq!(world.pass(&store).await, Requeue::Sync);
    let sent = world.azure.take_bodies();
    assert_eq!(sent.len(), 1, "the password was never sent before");
}
