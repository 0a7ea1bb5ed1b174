//! The name in Azure that a ConfigMap has.

use armature_reconcile::port::DataKind;
use armature_shapes::testing::kinds::NAMED;

use super::*;

const FIRST: &str = "/subscriptions/s-1/providers/Microsoft.Toys/named/first";

/// An object whose name is in the ConfigMap `names`, which is not there.
fn world() -> (World, ObjectKey) {
    let mut world = World::new();
    let journal = world.journal.clone();
    world.cluster = Arc::new(MemoryCluster::with_kinds(journal, &[&NAMED]));
    let spec = json!({"azureNameFromConfig": {"name": "names", "key": "store"}});
    let named = world.cluster.apply(&NAMED, "n", &spec);
    (world, named)
}

fn name(world: &World, key: &str, name: &str) {
    let cluster = &world.cluster;
    cluster.put_data(DataKind::ConfigMap, "names", &[(key, name)]);
}

#[tokio::test]
async fn the_name_is_that_of_the_config_map() {
    let (world, named) = world();
    name(&world, "store", "first");
    assert_eq!(world.pass(&named).await, Requeue::Sync);
    assert!(world.azure.get(FIRST).is_some());
    assert_eq!(world.azure.take_bodies(), [json!({"name": "first"})]);
    assert_eq!(world.pass(&named).await, Requeue::Sync);
}

#[tokio::test]
async fn without_the_name_nothing_is_claimed() {
    let (world, named) = world();
    for what in ["does not exist", "has no key store"] {
        let requeue = world.pass(&named).await;
        assert_eq!(requeue, Requeue::Backoff(RetryClass::Fast), "{what}");
        assert_eq!(world.ready(&named), "False/Warning/ConfigMapNotFound");
        let message = world.cluster.message(&named);
        let path = message.starts_with("spec.azureNameFromConfig: ");
        assert!(path && message.ends_with(what), "{message}");
        assert_eq!(world.requests(), [""; 0], "{what}");
        name(&world, "other", "first");
    }
    name(&world, "store", "..");
    assert_eq!(world.pass(&named).await, Requeue::Never);
    assert!(
        world
            .cluster
            .message(&named)
            .contains("lead to another resource")
    );
}

/// ASO behaviour §1.3 step 4b.
#[tokio::test]
async fn another_name_later_is_an_error_and_a_lost_one_keeps_the_resource() {
    let (world, named) = world();
    name(&world, "store", "first");
    world.pass(&named).await;
    world.forget();

    name(&world, "store", "second");
    assert_eq!(world.pass(&named).await, Requeue::Never);
    assert_eq!(world.ready(&named), "False/Error/Failed");
    assert!(world.cluster.message(&named).contains("named/second"));
    assert_eq!(world.requests(), [""; 0]);

    world.cluster.remove_data(DataKind::ConfigMap, "names");
    world.cluster.delete(&named);
    world.pass(&named).await;
    assert!(world.azure.get(FIRST).is_none());
    assert!(world.cluster.object(&named).is_none());
}

/// A place is told before anything is claimed, in whatever subscription it is.
#[tokio::test]
async fn a_place_is_told_without_a_request() {
    let (world, named) = world();
    let reconciler = world.reconciler();
    let place = reconciler.place(&named).await.unwrap();
    assert_eq!(place.unwrap_err().reason, "ConfigMapNotFound");
    name(&world, "store", "first");
    let place = reconciler.place(&named).await.unwrap();
    assert_eq!(place.unwrap().as_str(), FIRST);

    let elsewhere = "/subscriptions/s-2/resourceGroups/g";
    let world = World::new();
    let spec = json!({"owner": {"armId": elsewhere}});
    let store = world.cluster.apply(&kinds::STORE, "s", &spec);
    let place = world.reconciler().place(&store).await.unwrap();
    let expected = format!("{elsewhere}/providers/Microsoft.Toys/stores/s");
    assert_eq!(place.unwrap().as_str(), expected);
    assert_eq!(world.journal.take(), [""; 0]);
}
