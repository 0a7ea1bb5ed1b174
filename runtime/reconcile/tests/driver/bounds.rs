//! What a namespace says that its objects cannot lift: never the operator's credential, and words that bind.

use armature_reconcile::annotations::{BINDING, CREDENTIAL};
use armature_reconcile::port::DataKind;

use super::*;

const SLOW: Requeue = Requeue::Backoff(RetryClass::Slow);

fn namespace(world: &World, said: &[(&str, &str)]) {
    let said = said
        .iter()
        .map(|(name, text)| ((*name).to_owned(), (*text).to_owned()));
    world.cluster.annotate_namespace("default", said.collect());
}

fn overruled(world: &World, key: &ObjectKey) -> String {
    let status = world.cluster.status(key);
    let mut conditions = status["conditions"].as_array().into_iter().flatten();
    let found = conditions.find(|item| item["type"] == "Overruled");
    let message = found.and_then(|item| item["message"].as_str());
    message.unwrap_or_default().to_owned()
}

#[tokio::test]
async fn objects_of_a_namespace_with_credentials_of_its_own_never_use_the_operators() {
    for (word, is_deleted) in [("own", false), ("own", true)] {
        // One that the operator's credential has made, and a new one.
        for is_new in [false, true] {
            let (world, store) = match is_new {
                true => {
                    let world = World::with_group().await;
                    let store = world.store(json!({"capacity": 5}));
                    world.forget();
                    (world, store)
                }
                false => World::with_store().await,
            };
            namespace(&world, &[(CREDENTIAL, word)]);
            world.store(json!({"capacity": 6}));
            if is_deleted && !is_new {
                world.cluster.delete(&store);
            }
            assert_eq!(world.pass(&store).await, SLOW);
            assert_eq!(world.requests(), [""; 0]);
            assert_eq!(world.ready(&store), "False/Warning/CredentialNotFound");
            let message = world.cluster.message(&store);
            for part in [
                "namespace default may not use the operator's own",
                CREDENTIAL,
                names::NAMESPACE_CREDENTIAL,
                names::CREDENTIAL_FROM,
            ] {
                assert!(message.contains(part), "{message}");
            }

            let keys = [("AZURE_CLIENT_ID", "c")];
            let secret = names::NAMESPACE_CREDENTIAL;
            world.cluster.put_data(DataKind::Secret, secret, &keys);
            world.pass(&store).await;
            assert!(!world.requests().is_empty(), "with its own it goes on");
        }
    }
}

/// The object's record of whose credential it was claimed with is its editor's to write.
#[tokio::test]
async fn no_annotation_of_an_object_lifts_it() {
    let (world, store) = World::with_store().await;
    namespace(&world, &[(CREDENTIAL, "own")]);
    world.store(json!({"capacity": 6}));
    for (name, text) in [
        (names::CLAIMED_WITH, Some("operator")),
        (names::CLAIMED_WITH, None),
        (CREDENTIAL, Some("operator")),
    ] {
        world.cluster.annotate(&store, name, text);
        assert_eq!(world.pass(&store).await, SLOW, "{name}: {text:?}");
        assert_eq!(world.requests(), [""; 0], "{name}: {text:?}");
    }
}

#[tokio::test]
async fn words_of_the_namespace_that_mean_nothing_send_nothing() {
    for (name, text) in [(CREDENTIAL, "mine"), (BINDING, "protection")] {
        let (world, store) = World::with_store().await;
        namespace(&world, &[(name, text)]);
        world.store(json!({"capacity": 6}));
        assert_eq!(world.pass(&store).await, Requeue::Never, "{name}");
        assert_eq!(world.requests(), [""; 0], "{name}");
        assert_eq!(world.ready(&store), "False/Error/InvalidAnnotation");
        let message = world.cluster.message(&store);
        let start =
            format!("annotation {name} of namespace default: '{text}' is unknown, expected ");
        assert!(message.starts_with(&start), "{message}");
    }
}

#[tokio::test]
async fn a_bound_word_holds_against_the_objects_and_the_object_is_told() {
    for (word, name, theirs, mine) in [
        ("protect", names::PROTECT, "delete", "none"),
        ("policy", names::RECONCILE_POLICY, "skip", "manage"),
        ("paused", names::PAUSED, "true", "false"),
    ] {
        let (world, store) = World::with_store().await;
        namespace(&world, &[(BINDING, word), (name, theirs)]);
        world.cluster.annotate(&store, name, Some(mine));
        world.pass(&store).await;
        assert_eq!(
            world.cluster.condition(&store, "Overruled"),
            "True//BoundByNamespace",
            "{word}"
        );
        let told = overruled(&world, &store);
        let start = format!("annotation {name}: '{mine}' does not count, '{theirs}' holds");
        assert!(told.starts_with(&start), "{told}");
        world.cluster.delete(&store);
        world.pass(&store).await;
        assert!(world.azure.get(STORE).is_some(), "{word}: not deleted");
    }
    // It goes with the word.
    let (world, store) = World::with_store().await;
    namespace(&world, &[(BINDING, "protect"), (names::PROTECT, "delete")]);
    world.cluster.annotate(&store, names::PROTECT, Some("none"));
    world.pass(&store).await;
    world.cluster.annotate(&store, names::PROTECT, None);
    world.pass(&store).await;
    assert_eq!(world.cluster.condition(&store, "Overruled"), "");
}

#[tokio::test]
async fn what_exists_is_not_taken_over_where_the_namespace_forbids_it() {
    let world = World::with_group().await;
    let there = json!({"id": STORE, "location": "westus", "properties": {"capacity": 5}});
    world.azure.set(STORE, there);
    namespace(&world, &[(BINDING, "adopt"), (names::ADOPT, "never")]);
    let store = world.store(json!({"location": "westus", "capacity": 7}));
    world.cluster.annotate(&store, names::ADOPT, Some("always"));
    world.pass(&store).await;
    assert_eq!(world.ready(&store), "False/Warning/AdoptionRefused");
    assert_eq!(world.requests(), [format!("GET {STORE}")]);
    let told = overruled(&world, &store);
    assert!(
        told.contains("'always' does not count, 'never' holds"),
        "{told}"
    );
}

/// The resource of a protected namespace goes along with nothing, whatever its object says.
#[tokio::test]
async fn what_is_above_a_bound_protection_is_not_deleted() {
    let (world, store) = World::with_store().await;
    namespace(&world, &[(BINDING, "protect"), (names::PROTECT, "delete")]);
    for key in [&store, &world.group()] {
        world.cluster.annotate(key, names::PROTECT, Some("none"));
    }
    let group = world.group();
    world.cluster.delete(&group);
    assert_eq!(world.pass(&group).await, SLOW);
    assert_eq!(world.ready(&group), "False/Warning/Protected");
    assert!(
        world
            .requests()
            .iter()
            .all(|line| !line.starts_with("DELETE"))
    );
}
