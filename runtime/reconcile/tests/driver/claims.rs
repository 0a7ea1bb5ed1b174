//! Whose resource it is: copied manifests, corrected names, and several objects for one ARM id.

use armature_azure::Method;

use super::*;

const OTHER: &str = "/subscriptions/s-1/resourceGroups/g/providers/Microsoft.Toys/stores/other";

impl World {
    /// Another object, with annotations as somebody copied them.
    fn copy(&self, name: &str, spec: Value, annotations: &[(&str, &str)]) -> ObjectKey {
        let key = self.cluster.apply(&kinds::STORE, name, &spec);
        for (name, value) in annotations {
            self.cluster.annotate(&key, name, Some(value));
        }
        key
    }

    fn annotation(&self, key: &ObjectKey, name: &str) -> Option<String> {
        self.cluster.annotation(key, name)
    }
}

fn in_group(azure_name: Option<&str>) -> Value {
    let mut spec = json!({"owner": {"name": "g"}, "capacity": 5});
    if let Some(name) = azure_name {
        spec["azureName"] = json!(name);
    }
    spec
}

/// Whoever copies a manifest gets a resource of its own, and deleting the copy leaves the original alone.
#[tokio::test]
async fn annotations_of_a_copied_manifest_are_not_believed() {
    let (world, store) = World::with_store().await;
    let token = r#"{"type":"GenericResource","token":{"type":"body","pollURL":"/elsewhere"}}"#;
    let record = world.annotation(&store, names::CLAIMED_SPEC).unwrap();
    let copied = [
        (names::RESOURCE_ID, STORE),
        (names::BASELINE, record.as_str()),
        (names::CLAIMED_SPEC, record.as_str()),
        (names::LATEST_RECONCILED_GENERATION, "1"),
        (names::POLLER_RESUME_ID, "GenericClient.CreateOrUpdateByID"),
        (names::POLLER_RESUME_TOKEN, token),
    ];
    let copy = world.copy("other", in_group(None), &copied);
    assert_eq!(world.pass(&copy).await, Requeue::Sync);
    assert_eq!(
        world.annotation(&copy, names::RESOURCE_ID).as_deref(),
        Some(OTHER)
    );
    let requests = world.requests();
    assert!(
        requests.iter().all(|line| line.ends_with(OTHER)),
        "{requests:?}"
    );
    world.cluster.delete(&copy);
    world.pass(&copy).await;
    assert!(world.azure.get(STORE).is_some() && world.azure.get(OTHER).is_none());
}

/// A reference to an object that nobody claimed leads nowhere, whatever its annotation says.
#[tokio::test]
async fn nobody_builds_on_an_id_that_no_claim_vouches_for() {
    let world = World::with_group().await;
    let copied = [(names::RESOURCE_ID, STORE)];
    world.copy("other", in_group(None), &copied);
    let reference = json!({"group": "toys.azure.com", "kind": "Store", "name": "other"});
    let store = world.store(json!({"capacity": 5, "peerReference": reference}));
    world.pass(&store).await;
    assert_eq!(world.ready(&store), "False/Warning/ReferenceNotFound");
}

#[tokio::test]
async fn an_id_of_another_place_is_an_error_and_not_one_request() {
    let rows = [
        (
            "/subscriptions/s-1/resourceGroups/g",
            "expected a Microsoft.Toys/stores",
        ),
        (OTHER, "Put azureName and owner back"),
        (BOX, "expected a Microsoft.Toys/stores"),
    ];
    for deleted in [false, true] {
        for (id, message) in rows {
            let (world, store) = World::with_store().await;
            world.cluster.annotate(&store, names::RESOURCE_ID, Some(id));
            if deleted {
                world.cluster.delete(&store);
            }
            world.pass(&store).await;
            assert!(
                world.cluster.message(&store).contains(message),
                "{id}: {}",
                world.cluster.message(&store)
            );
            assert_eq!(world.requests(), Vec::<String>::new(), "{id}");
            assert!(world.azure.get(STORE).is_some());
            let severity = if deleted { "Warning" } else { "Error" };
            assert_eq!(
                world.ready(&store),
                format!("False/{severity}/Failed"),
                "{id}"
            );
        }
    }
}

/// The owner's id decides only while the owner is there: an object can be deleted after it.
#[tokio::test]
async fn without_its_owner_an_object_is_deleted_by_its_recorded_id() {
    let (world, store) = World::with_store().await;
    let group = world
        .cluster
        .apply(&kinds::GROUP, "g", &json!({"location": "westus"}));
    world.cluster.forget(&group);
    world.cluster.delete(&store);
    world.pass(&store).await;
    assert!(world.azure.get(STORE).is_none() && world.cluster.object(&store).is_none());
}

/// Names are taken by strangers, and owners are mistyped: as long as Azure never had the resource, both are corrected by
/// an edit.
#[tokio::test]
async fn a_corrected_name_or_owner_counts_until_azure_has_the_resource() {
    let world = World::with_group().await;
    let spec = json!({"location": "westus"});
    let other_group = world.cluster.apply(&kinds::GROUP, "g2", &spec);
    world.pass(&other_group).await;
    let taken = error(409, "StorageAccountAlreadyTaken");
    world.azure.script(Method::Put, STORE, taken);
    let store = world.store(json!({"capacity": 5}));
    world.pass(&store).await;
    assert_eq!(
        world.ready(&store),
        "False/Warning/StorageAccountAlreadyTaken"
    );
    let mut corrected = in_group(Some("other"));
    corrected["owner"]["name"] = json!("g2");
    world.cluster.apply(&kinds::STORE, "s", &corrected);
    assert_eq!(world.pass(&store).await, Requeue::Sync);
    let moved = OTHER.replace("/g/", "/g2/");
    assert_eq!(
        world.annotation(&store, names::RESOURCE_ID),
        Some(moved.clone())
    );
    assert!(world.azure.get(&moved).is_some() && world.azure.get(STORE).is_none());
    let object = world.cluster.object(&store).unwrap();
    let owners = object.metadata.owner_references.unwrap();
    let owners: Vec<_> = owners.iter().map(|owner| owner.name.as_str()).collect();
    assert_eq!(owners, ["g2"]);
    let finalizers = object.metadata.finalizers.unwrap();
    assert_eq!(finalizers.len(), 1, "{finalizers:?}");
    // From now on it is refused.
    world.forget();
    world
        .cluster
        .apply(&kinds::STORE, "s", &in_group(Some("third")));
    assert_eq!(world.pass(&store).await, Requeue::Never);
    assert_eq!(world.requests(), Vec::<String>::new());
    assert!(
        world
            .cluster
            .message(&store)
            .contains("Put azureName and owner back")
    );
}

#[tokio::test]
async fn what_azure_never_had_is_let_go_after_a_correction() {
    let world = World::with_group().await;
    world
        .azure
        .script(Method::Put, STORE, error(409, "StorageAccountAlreadyTaken"));
    let store = world.store(json!({"capacity": 5}));
    world.pass(&store).await;
    world.azure.set(OTHER, json!({"id": OTHER}));
    world
        .cluster
        .apply(&kinds::STORE, "s", &in_group(Some("other")));
    world.cluster.delete(&store);
    world.pass(&store).await;
    assert!(world.cluster.object(&store).is_none());
    assert!(world.azure.get(OTHER).is_some(), "somebody else's");
}

/// Where the user names nothing, expressions see the name that the resource has in Azure.
#[tokio::test]
async fn the_name_in_azure_is_in_the_spec_wherever_it_is_read() {
    let world = World::with_group().await;
    let expression = json!({"name": "facts", "key": "name", "value": "self.spec.azureName"});
    let operator_spec = json!({"configMapExpressions": [expression]});
    let store = world.store(json!({"capacity": 5, "operatorSpec": operator_spec}));
    assert_eq!(world.pass(&store).await, Requeue::Sync);
    let kind = armature_reconcile::port::DataKind::ConfigMap;
    assert_eq!(
        world.cluster.data(kind, "facts", "name").as_deref(),
        Some("s")
    );
}

/// Two objects that stand for the store `s`: the second in time, by another name.
async fn twins() -> (World, ObjectKey, ObjectKey) {
    let (world, first) = World::with_store().await;
    world.clock.advance(60);
    let mut spec = in_group(Some("s"));
    spec["capacity"] = json!(9);
    let second = world.copy("twin", spec, &[]);
    (world, first, second)
}

async fn both(world: &World, keys: [&ObjectKey; 2]) -> Vec<Requeue> {
    let mut requeues = Vec::new();
    for key in keys {
        requeues.push(world.pass(key).await);
    }
    requeues
}

#[tokio::test]
async fn of_several_objects_for_one_id_one_writes_and_all_are_ready() {
    let (world, first, second) = twins().await;
    for _ in 0..2 {
        assert_eq!(both(&world, [&first, &second]).await, [Requeue::Sync; 2]);
    }
    assert_eq!(world.azure.take_bodies(), Vec::<Value>::new());
    assert_eq!(world.ready(&second), "True//Succeeded");
    // An event is gone after an hour, and the operator that writes the other one may be, too.
    let told = world.message(&second);
    assert!(
        told.starts_with("Store default/s stands for the same resource and writes it"),
        "{told}"
    );
    assert_eq!(world.message(&first), "");
    let events = world.cluster.take_events();
    let (_, message) = events
        .iter()
        .find(|(reason, _)| reason == "HeldByAnotherObject")
        .unwrap();
    assert!(
        message.starts_with("Store default/s stands for the same resource"),
        "{message}"
    );
    // Deleting the one that only reads deletes nothing.
    world.cluster.delete(&second);
    world.pass(&second).await;
    assert!(world.cluster.object(&second).is_none() && world.azure.get(STORE).is_some());
}

#[tokio::test]
async fn when_the_holder_goes_without_deleting_another_takes_over() {
    let (world, first, second) = twins().await;
    both(&world, [&first, &second]).await;
    world
        .cluster
        .annotate(&first, names::RECONCILE_POLICY, Some("detach-on-delete"));
    world.cluster.delete(&first);
    both(&world, [&first, &second]).await;
    assert!(world.cluster.object(&first).is_none());
    assert_eq!(world.azure.get(STORE).unwrap()["properties"]["capacity"], 9);
    world.cluster.delete(&second);
    world.pass(&second).await;
    assert!(world.azure.get(STORE).is_none());
}

/// Somebody may make the resource anew while the holder's DELETE runs; then it is the other one's.
#[tokio::test]
async fn of_two_that_are_deleted_the_holder_goes_first() {
    let (world, first, second) = twins().await;
    both(&world, [&first, &second]).await;
    world.cluster.delete(&first);
    world.cluster.delete(&second);
    world.pass(&second).await;
    assert!(world.cluster.object(&second).is_some());
    world.pass(&first).await;
    assert!(world.cluster.object(&first).is_none() && world.azure.get(STORE).is_none());
    world.azure.set(STORE, json!({"id": STORE}));
    world.pass(&second).await;
    assert!(world.cluster.object(&second).is_none() && world.azure.get(STORE).is_none());
}

#[tokio::test]
async fn objects_that_only_read_do_not_hold() {
    for (name, value) in [(names::RECONCILE_POLICY, "skip"), (names::OBSERVE, "true")] {
        let (world, first, second) = twins().await;
        world.cluster.annotate(&first, name, Some(value));
        both(&world, [&first, &second]).await;
        assert_eq!(
            world.azure.get(STORE).unwrap()["properties"]["capacity"],
            9,
            "{name}"
        );
    }
}
