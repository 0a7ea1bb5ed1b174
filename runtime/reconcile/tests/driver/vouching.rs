//! Notes for which nobody vouches: what is read because of them, what is left alone, and what two operators make of each other's.

use armature_engine::compare::DigestKey;
use armature_reconcile::signature::SIGNATURE;

use super::signatures::{ELSEWHERE, TWIN, before_all, followed_at};
use super::*;

const BELOW: &str = "/subscriptions/s-1/resourceGroups/g/providers/Microsoft.Toys/stores/other";

fn body(capacity: u64) -> Value {
    json!({"id": STORE, "properties": {"capacity": capacity}})
}

impl World {
    /// A store that somebody has claimed in the operator's name, with these notes beside the id.
    async fn forged(notes: &[(&str, &str)]) -> (Self, ObjectKey) {
        let world = Self::with_group().await;
        world.cluster.demand_signatures_since(before_all());
        let store = world.store(json!({"capacity": 9}));
        world.cluster.add_finalizer(&store, names::FINALIZER);
        world.forge(&store, &[(names::RESOURCE_ID, STORE)]);
        world.forge(&store, notes);
        (world, store)
    }

    /// The object of its owner is gone, and the resource is not.
    fn forget_group(&self) {
        let group = self.group();
        self.cluster.forget(&group);
    }

    fn is_there(&self, key: &ObjectKey) -> bool {
        self.cluster.object(key).is_some()
    }
}

/// Another operator was killed, or handed the object over, while its PUT ran, at a place that is not ours to follow.
#[tokio::test]
async fn what_a_put_of_another_operator_makes_is_deleted_with_its_object() {
    for shows in [true, false] {
        let token = followed_at(ELSEWHERE);
        let (world, store) = World::forged(&[
            (names::LATEST_RECONCILED_GENERATION, "1"),
            (names::POLLER_RESUME_ID, TWIN),
            (names::POLLER_RESUME_TOKEN, &token),
        ])
        .await;
        world.cluster.delete(&store);
        world.pass(&store).await;
        assert!(world.is_there(&store), "Azure may be making it");
        assert_eq!(
            world.cluster.annotation(&store, names::POLLER_RESUME_ID),
            None
        );
        if shows {
            world.azure.set(STORE, body(9));
        } else {
            world.pass(&store).await;
            assert!(world.is_there(&store));
            world.clock.advance(121);
        }
        world.pass(&store).await;
        assert!(!world.is_there(&store), "shows: {shows}");
        assert!(world.azure.get(STORE).is_none());
    }
}

/// What ran was a DELETE: nothing appears after it.
#[tokio::test]
async fn after_a_delete_of_another_operator_nothing_is_waited_for() {
    let token = followed_at(ELSEWHERE);
    let (world, store) = World::forged(&[
        (names::LATEST_RECONCILED_GENERATION, "1"),
        (names::POLLER_RESUME_ID, "GenericClient.DeleteByID"),
        (names::POLLER_RESUME_TOKEN, &token),
    ])
    .await;
    world.cluster.delete(&store);
    world.pass(&store).await;
    assert!(!world.is_there(&store));
}

/// The id is whoever's word: without the owner nobody can tell whether it is the one of the spec.
#[tokio::test]
async fn to_an_id_that_nobody_vouches_for_nothing_is_sent_without_its_owner() {
    for notes in [
        &[][..],
        &[
            (names::LATEST_RECONCILED_GENERATION, "1"),
            (names::BASELINE, "9:x"),
        ],
    ] {
        let (world, store) = World::forged(notes).await;
        world.azure.set(STORE, body(5));
        world.forget_group();
        world.forget();
        for _ in 0..3 {
            world.pass(&store).await;
            world.clock.advance(3600);
        }
        assert_eq!(world.ready(&store), "False/Warning/WaitingForOwner");
        let message = world.cluster.message(&store);
        assert!(message.contains("sign-notes --vouch"), "{message}");
        assert_eq!(world.requests(), Vec::<String>::new());
        // A takeover is told once of what another operator cannot have written.
        assert_eq!(world.told(), usize::from(notes.len() > 1));

        world.cluster.delete(&store);
        for _ in 0..3 {
            world.pass(&store).await;
        }
        assert!(world.is_there(&store));
        assert!(world.azure.get(STORE).is_some(), "no DELETE either");
        let requests = world.requests();
        assert!(requests.iter().all(|line| *line == format!("GET {STORE}")));
        assert!(!world.is_signed(&store).await);
        let detach = Some("detach-on-delete");
        let policy = names::RECONCILE_POLICY;
        world.cluster.annotate(&store, policy, detach);
        world.pass(&store).await;
        assert!(!world.is_there(&store), "it may go");
        assert!(world.azure.get(STORE).is_some());
    }
}

/// A namespace that is deleted takes owners and what they own along, in any order.
#[tokio::test]
async fn what_went_with_its_owner_goes_without_anybody_vouching() {
    let (world, store) = World::forged(&[(names::LATEST_RECONCILED_GENERATION, "1")]).await;
    world.forget_group();
    world.cluster.delete(&store);
    world.pass(&store).await;
    assert!(!world.is_there(&store));
}

/// The owner comes back, and all goes on as at a takeover.
#[tokio::test]
async fn with_the_owner_the_id_is_proven_and_the_notes_are_signed() {
    let (world, store) = World::forged(&[]).await;
    world.azure.set(STORE, body(9));
    world.forget_group();
    world.pass(&store).await;
    assert!(!world.is_signed(&store).await);
    let group = world.group();
    assert_eq!(world.pass(&group).await, Requeue::Sync);
    world.azure.take_bodies();
    assert_eq!(world.pass(&store).await, Requeue::Sync);
    assert!(world.azure.take_bodies().is_empty());
    assert!(world.is_signed(&store).await);
}

/// Whoever only reads needs no proof, and what cannot be signed is not written again and again.
#[tokio::test]
async fn without_its_owner_an_object_that_is_not_believed_is_written_once() {
    for annotation in [
        None,
        Some((names::OBSERVE, "true")),
        Some((names::RECONCILE_POLICY, "skip")),
    ] {
        let (world, store) = World::with_store().await;
        world.cluster.demand_signatures_since(before_all());
        world.unsign(&store);
        if let Some((name, value)) = annotation {
            world.cluster.annotate(&store, name, Some(value));
        }
        world.forget_group();
        world.forget();
        world.pass(&store).await;
        let first = world.writes();
        let metadata = first.iter().filter(|line| line.starts_with("metadata"));
        assert!(metadata.count() <= 1, "{annotation:?}: {first:?}");
        for _ in 0..3 {
            world.pass(&store).await;
            assert_eq!(world.writes(), Vec::<String>::new(), "{annotation:?}");
        }
        assert_eq!(
            world.ready(&store) == "True//Succeeded",
            annotation.is_some()
        );
    }
}

/// Where what is owned goes is not the user's to write, and nobody gets his own word signed.
#[tokio::test]
async fn where_children_go_is_not_signed_unless_an_extension_says_it() {
    let (world, store) = World::with_store().await;
    world.cluster.demand_signatures_since(before_all());
    let name = names::CHILD_RESOURCE_ID_OVERRIDE;
    world.forge(&store, &[(name, BELOW)]);
    assert!(!world.is_signed(&store).await);
    assert_eq!(world.pass(&store).await, Requeue::Sync);
    assert!(world.is_signed(&store).await);
    assert_eq!(world.cluster.annotation(&store, name), None);
}

/// A young object that another operator hands over.
#[tokio::test]
async fn a_hand_over_is_one_write() {
    for is_young in [true, false] {
        let (world, store) = World::with_store().await;
        if is_young {
            world.cluster.demand_signatures_since(before_all());
        }
        world.cluster.lose_digest_key();
        world
            .cluster
            .annotate(&store, names::OPERATOR_NAMESPACE, None);
        world.forget();
        assert_eq!(world.pass(&store).await, Requeue::Sync);
        assert_eq!(world.writes(), ["metadata Store default/s"]);
        let manager = world.cluster.annotation(&store, names::OPERATOR_NAMESPACE);
        assert!(manager.is_some() && world.is_signed(&store).await);
        world.forget();
        world.pass(&store).await;
        assert_eq!(world.writes(), Vec::<String>::new());
    }
}

/// Two operators that find an object nobody's: the one whose write is refused sends nothing.
#[tokio::test]
async fn who_takes_an_object_says_so_before_anything_is_sent() {
    let (world, store) = World::with_store().await;
    world
        .cluster
        .annotate(&store, names::OPERATOR_NAMESPACE, None);
    world.store(json!({"capacity": 6}));
    world.forget();
    world.cluster.interfere(1);
    world.pass(&store).await;
    assert!(world.azure.take_bodies().is_empty());
    world.pass(&store).await;
    let lines = world.journal.take();
    let at = |begin: &str| lines.iter().position(|line| line.starts_with(begin));
    assert!(
        at("metadata") < at("PUT") && at("PUT").is_some(),
        "{lines:?}"
    );
}

impl World {
    /// A pass of an operator in another namespace, with a key of its own.
    async fn pass_of_other(&self, key: &ObjectKey, theirs: &DigestKey) -> Requeue {
        let ours = self.cluster.exchange_digest_key(theirs.clone());
        let mut reconciler = self.reconciler();
        reconciler.settings.operator_namespace = "others".to_owned();
        let requeue = reconciler.reconcile(key).await;
        self.cluster.exchange_digest_key(ours);
        requeue
    }
}

/// Each has written the resource and cannot check the other's word for it.
#[tokio::test]
async fn two_operators_with_different_keys_send_nothing_to_and_fro() {
    let (world, store) = World::with_store().await;
    world.cluster.demand_signatures_since(before_all());
    let skips = |value| {
        let name = names::RECONCILE_POLICY;
        world.cluster.annotate(&store, name, value);
    };
    skips(Some("skip"));
    let spec = json!({"owner": {"name": "g"}, "azureName": "s", "capacity": 9});
    let theirs = world.cluster.apply(&kinds::STORE, "z", &spec);
    let their_key = DigestKey::random();
    world.pass_of_other(&theirs, &their_key).await;
    assert_eq!(world.azure.get(STORE).unwrap()["properties"]["capacity"], 9);
    skips(None);
    world.forget();
    for _ in 0..3 {
        world.pass(&store).await;
        world.pass_of_other(&theirs, &their_key).await;
    }
    assert_eq!(world.azure.take_bodies(), Vec::<Value>::new());
    assert_eq!(world.ready(&store), "False/Warning/Drifted");
    let message = world.cluster.message(&store);
    assert!(
        message.contains("Store default/z") && message.contains("one key"),
        "{message}"
    );
    assert_eq!(world.ready(&theirs), "True//Succeeded");

    // What a user asks for is sent, and the other one leaves it.
    world.store(json!({"capacity": 6}));
    for _ in 0..3 {
        world.pass(&store).await;
        world.pass_of_other(&theirs, &their_key).await;
    }
    assert_eq!(world.azure.take_bodies().len(), 1);
    assert_eq!(world.azure.get(STORE).unwrap()["properties"]["capacity"], 6);
    assert_eq!(world.ready(&theirs), "False/Warning/Drifted");
}

/// What the spec drops from a list goes, and what is disputed beside it stays.
#[tokio::test]
async fn the_removal_of_an_item_settles_no_dispute() {
    let (world, store) = World::with_store().await;
    world.cluster.demand_signatures_since(before_all());
    let shelves = |names: &[&str]| {
        let shelves = names.iter().map(|name| json!({"name": name, "width": 1}));
        json!({"capacity": 5, "shelves": shelves.collect::<Vec<_>>()})
    };
    world.store(shelves(&["a", "b"]));
    world.pass(&store).await;
    world.store(shelves(&["a"]));
    world.pass(&store).await;
    let skips = |value| {
        let name = names::RECONCILE_POLICY;
        world.cluster.annotate(&store, name, value);
    };
    skips(Some("skip"));
    let spec = json!({"owner": {"name": "g"}, "azureName": "s", "capacity": 9});
    let theirs = world.cluster.apply(&kinds::STORE, "z", &spec);
    world.pass_of_other(&theirs, &DigestKey::random()).await;
    skips(None);
    world.azure.take_bodies();
    world.clock.advance(120);
    for _ in 0..3 {
        world.pass(&store).await;
    }
    let bodies = world.azure.take_bodies();
    assert_eq!(bodies.len(), 1, "{bodies:?}");
    let properties = &bodies[0]["properties"];
    assert_eq!(properties["capacity"], 9);
    let shelves = properties
        .pointer("/interior/shelves")
        .and_then(Value::as_array);
    assert_eq!(shelves.map(Vec::len), Some(1));
    assert_eq!(world.ready(&store), "False/Warning/Drifted");
}

/// Only what another operator may have written is doubtful: who forges a record of this one holds up nothing.
#[tokio::test]
async fn drift_is_corrected_unless_another_operator_may_be_at_it() {
    for (manager, has_record, expected) in [
        ("others", true, 7),
        ("others", false, 5),
        ("armature", true, 5),
        ("", true, 5),
    ] {
        let (world, store) = World::with_store().await;
        world.cluster.demand_signatures_since(before_all());
        let spec = json!({"owner": {"name": "g"}, "azureName": "s", "capacity": 9});
        let rival = world.cluster.apply(&kinds::STORE, "z-rival", &spec);
        world.cluster.add_finalizer(&rival, names::FINALIZER);
        world.forge(&rival, &[(names::RESOURCE_ID, STORE), (SIGNATURE, "v1.x")]);
        let ours = world.reconciler().settings.operator_namespace;
        let manager = match manager {
            "armature" => ours.as_str(),
            other => other,
        };
        world.forge(&rival, &[(names::OPERATOR_NAMESPACE, manager)]);
        if has_record {
            world.forge(&rival, &[(names::BASELINE, "9:x")]);
        }
        world.azure.set(STORE, body(7));
        world.pass(&store).await;
        let found = world.azure.get(STORE).unwrap()["properties"]["capacity"].clone();
        assert_eq!(found, expected, "{manager} {has_record}");
    }
}
