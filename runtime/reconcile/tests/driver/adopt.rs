//! Objects that name a resource which exists in Azure.

use armature_azure::Method;
use armature_reconcile::port::DataKind;

use super::*;

const SPEC: fn() -> Value = || json!({"location": "westus", "capacity": 5});

/// A store that somebody has made, and an object that names it.
async fn existing(capacity: i64, adopt: Option<&str>) -> (World, ObjectKey) {
    let world = World::with_group().await;
    let azure = json!({"id": STORE, "location": "westus", "properties": {"capacity": capacity}});
    world.azure.set(STORE, azure);
    let store = world.store(SPEC());
    world.cluster.annotate(&store, names::ADOPT, adopt);
    (world, store)
}

fn writes(world: &World) -> Vec<String> {
    let mut requests = world.requests();
    requests.retain(|line| !line.starts_with("GET"));
    requests
}

fn adoptions(world: &World) -> usize {
    let events = world.cluster.take_events();
    let told = events.iter().filter(|(reason, _)| reason == "Adopted");
    told.count()
}

fn is_left(world: &World, store: &ObjectKey) -> bool {
    world.cluster.object(store).is_none() && world.azure.get(STORE).is_some()
}

#[tokio::test]
async fn taking_over_is_told_once() {
    for (adopt, capacity, expected) in [
        (None, 5, vec![]),
        (None, 7, vec![format!("PUT {STORE}")]),
        (Some("always"), 7, vec![format!("PUT {STORE}")]),
        (Some("if-equal"), 5, vec![]),
    ] {
        let (world, store) = existing(capacity, adopt).await;
        assert_eq!(world.pass(&store).await, Requeue::Sync, "{adopt:?}");
        assert_eq!(adoptions(&world), 1, "{adopt:?}");
        assert_eq!(writes(&world), expected, "{adopt:?}");
        assert_eq!(world.pass(&store).await, Requeue::Sync, "{adopt:?}");
        assert_eq!(adoptions(&world), 0, "{adopt:?}: told already");
        world.cluster.delete(&store);
        world.pass(&store).await;
        assert!(world.azure.get(STORE).is_none(), "{adopt:?}: it is its own");
    }
}

/// What a GET cannot prove is sent once, for the spec is what Azure has from then on.
#[tokio::test]
async fn what_azure_does_not_show_is_sent_once() {
    for (spec, adopt) in [
        (
            json!({"password": {"name": "secret", "key": "password"}}),
            None,
        ),
        (
            json!({"password": {"name": "secret", "key": "password"}}),
            Some("if-equal"),
        ),
        (json!({"zones": ["2", "1"]}), None),
    ] {
        let world = World::with_group().await;
        let data = [("password", "hunter2")];
        world.cluster.put_data(DataKind::Secret, "secret", &data);
        let azure = json!({"id": STORE, "zones": ["1", "2"], "properties": {}});
        world.azure.set(STORE, azure);
        let store = world.store(spec.clone());
        world.cluster.annotate(&store, names::ADOPT, adopt);
        assert_eq!(world.pass(&store).await, Requeue::Sync, "{spec}");
        assert_eq!(writes(&world), [format!("PUT {STORE}")], "{spec}");
        assert_eq!(world.pass(&store).await, Requeue::Sync, "{spec}");
        assert_eq!(writes(&world), [""; 0], "{spec}");
    }
}

#[tokio::test]
async fn what_the_object_makes_is_not_taken_over() {
    for adopt in [None, Some("if-equal"), Some("never")] {
        let world = World::with_group().await;
        let store = world.store(SPEC());
        world.cluster.annotate(&store, names::ADOPT, adopt);
        assert_eq!(world.pass(&store).await, Requeue::Sync, "{adopt:?}");
        let edited = json!({"location": "westus", "capacity": 6});
        world.store(edited);
        assert_eq!(world.pass(&store).await, Requeue::Sync, "{adopt:?}");
        assert_eq!(adoptions(&world), 0, "{adopt:?}");
        world.cluster.delete(&store);
        world.pass(&store).await;
        assert!(world.azure.get(STORE).is_none(), "{adopt:?}");
    }
}

#[tokio::test]
async fn what_is_not_equal_is_left_alone_and_the_differences_are_named() {
    let (world, store) = existing(7, Some("if-equal")).await;
    let very_slow = Requeue::Backoff(RetryClass::VerySlow);
    for _ in 0..2 {
        assert_eq!(world.pass(&store).await, very_slow);
        assert_eq!(world.ready(&store), "False/Warning/AdoptionRefused");
        let message = world.cluster.message(&store);
        assert!(message.contains("properties.capacity"), "{message}");
        assert!(message.contains("armature.azure.com/adopt"), "{message}");
    }
    assert_eq!((adoptions(&world), writes(&world).len()), (0, 0));

    // Equal by now: taken over.
    let azure = json!({"id": STORE, "location": "westus", "properties": {"capacity": 5}});
    world.azure.set(STORE, azure);
    assert_eq!(world.pass(&store).await, Requeue::Sync);
    assert_eq!((adoptions(&world), writes(&world).len()), (1, 0));
}

#[tokio::test]
async fn what_was_refused_is_never_deleted() {
    for (adopt, later) in [
        ("never", Some("never")),
        ("never", None),
        ("never", Some("always")),
        ("if-equal", None),
    ] {
        let (world, store) = existing(7, Some(adopt)).await;
        world.pass(&store).await;
        assert_eq!(world.ready(&store), "False/Warning/AdoptionRefused");
        // Whoever removes the annotation along with the object has not had it taken over.
        world.cluster.annotate(&store, names::ADOPT, later);
        world.cluster.delete(&store);
        assert_eq!(
            world.pass(&store).await,
            Requeue::Never,
            "{adopt} {later:?}"
        );
        assert!(is_left(&world, &store), "{adopt} {later:?}");
        assert_eq!(writes(&world), [""; 0], "{adopt} {later:?}");
    }
}

#[tokio::test]
async fn what_was_refused_and_is_allowed_later_is_taken_over() {
    let (world, store) = existing(7, Some("never")).await;
    world.pass(&store).await;
    world.cluster.annotate(&store, names::ADOPT, None);
    assert_eq!(world.pass(&store).await, Requeue::Sync);
    assert_eq!(adoptions(&world), 1);
    assert_eq!(writes(&world), [format!("PUT {STORE}")]);
    world.cluster.delete(&store);
    world.pass(&store).await;
    assert!(world.azure.get(STORE).is_none());
}

/// Azure may show what a PUT has made that nobody heard of again: it is the object's own.
#[tokio::test(start_paused = true)]
async fn a_put_without_an_answer_is_known_again() {
    let world = World::with_group().await;
    let store = world.store(SPEC());
    world.cluster.annotate(&store, names::ADOPT, Some("never"));
    world.azure.fall_silent(Method::Put, STORE);
    let killed = tokio::time::timeout(Duration::from_millis(200), world.pass(&store)).await;
    assert!(killed.is_err(), "the process ends in the middle of the PUT");
    let azure = json!({"id": STORE, "location": "westus", "properties": {"capacity": 5}});
    world.azure.set(STORE, azure);
    assert_eq!(world.pass(&store).await, Requeue::Sync);
    assert_eq!(adoptions(&world), 0);
    world.cluster.delete(&store);
    world.pass(&store).await;
    assert!(world.azure.get(STORE).is_none(), "nothing is left behind");
}

#[tokio::test]
async fn what_another_operator_managed_is_no_adoption() {
    let (world, store) = existing(5, Some("never")).await;
    for (name, value) in [
        (names::RESOURCE_ID, STORE),
        (names::LATEST_RECONCILED_GENERATION, "1"),
    ] {
        world.cluster.annotate(&store, name, Some(value));
    }
    world.cluster.add_finalizer(&store, names::FINALIZER);
    assert_eq!(world.pass(&store).await, Requeue::Sync);
    assert_eq!((adoptions(&world), writes(&world).len()), (0, 0));
}

/// What the operator noted in the original says nothing of a copy.
#[tokio::test]
async fn a_copied_manifest_is_asked_like_any_other() {
    for adopt in [None, Some("never")] {
        let (world, store) = existing(7, adopt).await;
        for (name, value) in [
            (names::ADOPTION, "made"),
            (names::CLAIMED_WITH, "namespace"),
            (names::LATEST_RECONCILED_GENERATION, "1"),
            (names::BASELINE, "x"),
        ] {
            world.cluster.annotate(&store, name, Some(value));
        }
        let requeue = world.pass(&store).await;
        let again = Requeue::Backoff(RetryClass::VerySlow);
        let expected = adopt.map_or(Requeue::Sync, |_| again);
        assert_eq!(requeue, expected, "{adopt:?}");
        let (told, sent) = adopt.map_or((1, 1), |_| (0, 0));
        assert_eq!((adoptions(&world), writes(&world).len()), (told, sent));
        let claimed = world.cluster.annotation(&store, names::CLAIMED_WITH);
        assert_eq!(claimed.as_deref(), Some("operator"));
    }
}

#[tokio::test]
async fn the_namespaces_word_holds_where_the_object_has_none() {
    let (world, store) = existing(7, None).await;
    let never = [(names::ADOPT.to_owned(), "never".to_owned())];
    world.cluster.annotate_namespace("default", never.into());
    world.pass(&store).await;
    assert_eq!(world.ready(&store), "False/Warning/AdoptionRefused");
    world.cluster.annotate(&store, names::ADOPT, Some("always"));
    assert_eq!(world.pass(&store).await, Requeue::Sync);
}
