//! Notes that the operator has signed, and those that somebody else wrote.

use armature_azure::Method;
use armature_reconcile::port::KubernetesPort;
use armature_reconcile::signature::{NOT_BELIEVED, SIGNATURE, Verdict};

use super::edits::full_store;
use super::*;

pub(super) const TWIN: &str = "GenericClient.CreateOrUpdateByID";
pub(super) const ELSEWHERE: &str = "/subscriptions/s-1/resourceGroups/after";

/// Every object is younger than the key.
pub(super) fn before_all() -> Timestamp {
    Timestamp::from_second(-1).unwrap()
}

/// The note of an operation that is followed at this URL.
pub(super) fn followed_at(url: &str) -> String {
    let url = format!("{url}?api-version=2024-01-01");
    json!({"type": "x", "token": {"type": "loc", "pollURL": url, "state": "InProgress"}})
        .to_string()
}

impl World {
    /// Writes into an object as whoever may edit it does.
    pub(super) fn forge(&self, key: &ObjectKey, annotations: &[(&str, &str)]) {
        for (name, value) in annotations {
            self.cluster.annotate(key, name, Some(value));
        }
    }

    pub(super) async fn is_signed(&self, key: &ObjectKey) -> bool {
        let object = self.cluster.object(key).unwrap();
        let keys = self.cluster.note_keys().await.unwrap();
        let uid = object.metadata.uid.unwrap();
        let annotations = object.metadata.annotations.unwrap_or_default();
        keys.verify(&uid, &annotations) == Verdict::Fits(0)
    }

    /// The object as a release before signatures left it.
    pub(super) fn unsign(&self, key: &ObjectKey) {
        self.cluster.annotate(key, SIGNATURE, None);
    }

    /// Writes of objects so far, which are forgotten here with all else.
    pub(super) fn writes(&self) -> Vec<String> {
        let mut lines = self.journal.take();
        lines.retain(|line| line.starts_with("metadata") || line.starts_with("status"));
        lines
    }

    pub(super) fn told(&self) -> usize {
        let events = self.cluster.take_events();
        events
            .iter()
            .filter(|(reason, _)| reason == NOT_BELIEVED)
            .count()
    }
}

/// The signature is in writes that are made anyway: one for the claim, and what follows is a status.
#[tokio::test]
async fn every_write_of_notes_signs_them_and_none_is_made_for_it() {
    let world = World::with_group().await;
    world.cluster.demand_signatures_since(before_all());
    let store = world.store(json!({"capacity": 5}));
    assert_eq!(world.pass(&store).await, Requeue::Sync);
    assert_eq!(
        world.writes(),
        ["metadata Store default/s", "status Store default/s"]
    );
    assert!(world.is_signed(&store).await);

    // An edit that Azure works on, and its end.
    world.store(json!({"capacity": 6}));
    let operation = "/subscriptions/s-1/providers/Microsoft.Toys/locations/westus/operations/1";
    let headers = [("azure-asyncoperation", operation), ("retry-after", "15")];
    world
        .azure
        .script(Method::Put, STORE, response(202, &headers, None));
    assert_eq!(world.pass(&store).await, seconds(15));
    assert!(
        world
            .cluster
            .annotation(&store, names::POLLER_RESUME_ID)
            .is_some()
    );
    assert!(world.is_signed(&store).await);
    world
        .azure
        .set(STORE, json!({"id": STORE, "properties": {"capacity": 6}}));
    world.azure.script(
        Method::Get,
        operation,
        response(200, &[], Some(json!({"status": "Succeeded"}))),
    );
    assert_eq!(world.pass(&store).await, Requeue::Sync);
    assert!(world.is_signed(&store).await);
    world.forget();
    assert_eq!(world.pass(&store).await, Requeue::Sync);
    assert_eq!(
        world.journal.take(),
        [format!("GET {STORE}")],
        "all is well"
    );
}

/// An upgrade writes nothing, and a rollback finds what it knows.
#[tokio::test]
async fn older_objects_are_believed_without_a_signature_until_their_next_write() {
    let (world, store) = full_store().await;
    world.cluster.demand_signatures_since(Timestamp::UNIX_EPOCH);
    world.unsign(&store);
    assert_eq!(world.pass(&store).await, Requeue::Sync);
    assert_eq!(world.journal.take(), [format!("GET {STORE}")]);
    assert!(!world.is_signed(&store).await);

    world
        .azure
        .script(Method::Get, STORE, error(403, "AuthorizationFailed"));
    world.pass(&store).await;
    assert!(world.cluster.annotation(&store, names::BASELINE).is_some());
    assert!(world.is_signed(&store).await, "that write was made anyway");
    world.azure.clear_script();
    assert_eq!(world.settled_without_put(&store).await, 0);
    assert_eq!(world.told(), 0);
}

impl World {
    /// How many PUTs two passes send.
    async fn settled_without_put(&self, key: &ObjectKey) -> usize {
        self.azure.take_bodies();
        for _ in 0..2 {
            assert_eq!(self.pass(key).await, Requeue::Sync);
            assert_eq!(self.ready(key), "True//Succeeded");
        }
        self.azure.take_bodies().len()
    }
}

/// Each of them is as a takeover: nothing is sent, it is told once, and the object is signed from then on.
#[tokio::test]
async fn what_does_not_fit_is_as_a_takeover() {
    type Change = fn(&World, &ObjectKey);
    let rows: [(&str, Change); 6] = [
        ("the key is lost", |world, _| {
            world.cluster.lose_digest_key()
        }),
        ("an older release wrote in between", |world, key| {
            world.forge(key, &[(names::LATEST_RECONCILED_GENERATION, "1")]);
        }),
        ("an older release claimed it", |world, key| {
            world.unsign(key)
        }),
        ("a record of somebody", |world, key| {
            world.forge(key, &[(names::BASELINE, "9:x")])
        }),
        ("a signature of somebody", |world, key| {
            world.forge(key, &[(SIGNATURE, "v1.AAAA")])
        }),
        ("an operation of somebody", |world, key| {
            let token = followed_at(ELSEWHERE);
            world.forge(
                key,
                &[
                    (names::POLLER_RESUME_ID, TWIN),
                    (names::POLLER_RESUME_TOKEN, &token),
                ],
            );
        }),
    ];
    for (case, change) in rows {
        for annotation in [
            None,
            Some((names::OBSERVE, "true")),
            Some((names::RECONCILE_POLICY, "skip")),
        ] {
            let (world, store) = full_store().await;
            world.cluster.demand_signatures_since(before_all());
            change(&world, &store);
            if let Some((name, value)) = annotation {
                world.cluster.annotate(&store, name, Some(value));
            }
            let case = format!("{case}, {annotation:?}");
            assert_eq!(world.settled_without_put(&store).await, 0, "{case}");
            let requests = world.requests();
            assert!(
                requests.iter().all(|line| *line == format!("GET {STORE}")),
                "{case}: {requests:?}"
            );
            assert_eq!(world.told(), 1, "{case}");
            assert!(world.is_signed(&store).await, "{case}");
            assert_eq!(
                world.cluster.annotation(&store, names::POLLER_RESUME_ID),
                None,
                "{case}"
            );
            // And from then on it costs nothing.
            world.forget();
            world.pass(&store).await;
            assert_eq!(world.journal.take(), [format!("GET {STORE}")], "{case}");
        }
    }
}

/// A difference is sent as after a takeover, and an edit meanwhile is one.
#[tokio::test]
async fn what_differs_is_sent_whatever_the_signature() {
    let (world, store) = World::with_store().await;
    world.cluster.demand_signatures_since(before_all());
    world.cluster.lose_digest_key();
    world.store(json!({"capacity": 6}));
    assert_eq!(world.pass(&store).await, Requeue::Sync);
    assert_eq!(world.azure.get(STORE).unwrap()["properties"]["capacity"], 6);
    assert!(world.is_signed(&store).await);
}

/// Whoever may create objects writes finalizer, id and notes himself; without its owner nobody can tell whether the id is right.
#[tokio::test]
async fn forged_notes_of_a_new_object_ask_for_nothing_and_are_never_signed() {
    let (world, store) = World::with_store().await;
    let copied = world
        .cluster
        .object(&store)
        .unwrap()
        .metadata
        .annotations
        .unwrap();
    world.cluster.demand_signatures_since(before_all());
    for owner in ["does-not-exist", "g"] {
        let spec = json!({"owner": {"name": owner}, "capacity": 5, "azureName": "s2"});
        let forged = world
            .cluster
            .apply(&kinds::STORE, &format!("forged-{owner}"), &spec);
        world.cluster.add_finalizer(&forged, names::FINALIZER);
        let token = followed_at(ELSEWHERE);
        for (name, value) in &copied {
            world.forge(&forged, &[(name, value)]);
        }
        world.forge(
            &forged,
            &[
                (names::POLLER_RESUME_ID, TWIN),
                (names::POLLER_RESUME_TOKEN, &token),
                (names::BASELINE, &copied[names::CLAIMED_SPEC]),
            ],
        );
        // Which would have it written at once.
        world
            .cluster
            .annotate(&forged, names::OPERATOR_NAMESPACE, None);
        world.journal.take();
        for _ in 0..3 {
            world.pass(&forged).await;
        }
        let requests = world.requests();
        // What stands at the id may be read, as with an owner that is named by it.
        assert!(
            requests.iter().all(|line| *line == format!("GET {STORE}")),
            "{owner}: {requests:?}"
        );
        assert!(
            !world
                .cluster
                .take_events()
                .iter()
                .any(|(reason, _)| reason.starts_with("Begin"))
        );
        assert!(!world.is_signed(&forged).await, "{owner}");
    }
}

/// Who has written a resource goes on writing it; who says so of himself is the last.
#[tokio::test]
async fn a_forged_record_takes_nobodys_place() {
    for (is_forged, expected) in [(true, 5), (false, 9)] {
        let world = World::with_group().await;
        world.cluster.demand_signatures_since(before_all());
        // A PUT that runs for long: nothing is recorded of it.
        let store = world.store(json!({"capacity": 5}));
        world
            .azure
            .script(Method::Put, STORE, error(409, "Conflict"));
        world.pass(&store).await;
        let spec = json!({"owner": {"name": "g"}, "azureName": "s", "capacity": 9});
        let rival = world.cluster.apply(&kinds::STORE, "z-rival", &spec);
        world.pass(&rival).await;
        world.forge(&rival, &[(names::BASELINE, "9:x")]);
        if !is_forged {
            let keys = world.cluster.note_keys().await.unwrap();
            let metadata = world.cluster.object(&rival).unwrap().metadata;
            let signature = keys.sign(&metadata.uid.unwrap(), &metadata.annotations.unwrap());
            world.forge(&rival, &[(SIGNATURE, &signature.unwrap())]);
        }
        world.azure.clear_script();
        world.clock.advance(3600);
        world.pass(&store).await;
        world.pass(&rival).await;
        let found = world.azure.get(STORE).unwrap()["properties"]["capacity"].clone();
        assert_eq!(found, expected, "forged: {is_forged}");
    }
}

/// The key is lost, and two objects stand for one resource: the one that has written it stays the one that writes.
#[tokio::test]
async fn a_lost_key_changes_no_holder() {
    let world = World::with_group().await;
    let store = world.store(json!({"capacity": 5}));
    let spec = json!({"owner": {"name": "g"}, "azureName": "s", "capacity": 9});
    let older = world.cluster.apply(&kinds::STORE, "a-older", &spec);
    world.pass(&store).await;
    world.pass(&older).await;
    world.cluster.demand_signatures_since(Timestamp::UNIX_EPOCH);
    world.cluster.lose_digest_key();
    world.azure.take_bodies();
    for _ in 0..2 {
        world.pass(&older).await;
        world.pass(&store).await;
    }
    assert_eq!(world.azure.take_bodies(), Vec::<Value>::new());
}

/// Somebody writes notes between the pass's look and its write, which must not be lost: they are not signed along.
#[tokio::test]
async fn notes_that_appear_during_a_pass_are_not_signed() {
    for is_signed in [true, false] {
        let (world, store) = World::with_store().await;
        let since = match is_signed {
            true => before_all(),
            false => Timestamp::UNIX_EPOCH,
        };
        world.cluster.demand_signatures_since(since);
        world.store(json!({"capacity": 6}));
        let operation = format!("{STORE}/operations/1");
        let headers = [("azure-asyncoperation", operation.as_str())];
        let accepted = response(202, &headers, None);
        world.azure.script(Method::Put, STORE, accepted);
        world.pass(&store).await;
        if !is_signed {
            world.unsign(&store);
        }
        world.cluster.lag(&store);
        world.forge(&store, &[(names::RESOURCE_ID, ELSEWHERE)]);
        let body = json!({"id": STORE, "properties": {"capacity": 6}});
        world.azure.set(STORE, body);
        let done = response(200, &[], Some(json!({"status": "Succeeded"})));
        world.azure.script(Method::Get, &operation, done);
        world.forget();
        world.pass(&store).await;
        assert!(!world.writes().is_empty(), "what was sent is noted");
        assert!(!world.is_signed(&store).await);
        world.azure.take_bodies();
        world.pass(&store).await;
        assert_eq!(world.requests(), Vec::<String>::new());
        assert!(!world.is_signed(&store).await);
    }
}

/// A status is no note: of an object whose claim is not signed it vouches for nothing.
#[tokio::test]
async fn a_status_vouches_for_a_signed_claim_only() {
    let (world, store) = World::with_store().await;
    world.cluster.demand_signatures_since(before_all());
    let object = world.cluster.object(&store).unwrap();
    assert!(claim::came_true(&object));
    world.unsign(&store);
    let book = |world: &World, belief| {
        let object = world.cluster.object(&store).unwrap();
        armature_reconcile::bookkeeping::Bookkeeping::of(&object, Default::default(), belief)
            .claim_holds()
    };
    use armature_reconcile::signature::Belief;
    assert!(book(&world, Belief::Signed));
    assert!(!book(&world, Belief::Foreign));
}

/// Where `adopt` would ask, notes that nobody vouches for neither take a resource over nor leave it behind, until somebody says so.
#[tokio::test]
async fn forged_notes_neither_adopt_nor_leave_behind() {
    for (all, word) in [(true, "never"), (false, "never"), (false, "if-equal")] {
        let world = World::with_group().await;
        world.cluster.demand_signatures_since(before_all());
        if all {
            world.pass(&world.group()).await;
            world.cluster.demand_signatures();
        }
        world
            .azure
            .set(STORE, json!({"id": STORE, "properties": {"capacity": 5}}));
        let store = world.store(json!({"capacity": 9}));
        world.cluster.add_finalizer(&store, names::FINALIZER);
        world.forge(
            &store,
            &[
                (names::RESOURCE_ID, STORE),
                (names::ADOPT, word),
                (names::ADOPTION, "made"),
                (names::LATEST_RECONCILED_GENERATION, "1"),
            ],
        );
        world.azure.take_bodies();
        for _ in 0..3 {
            world.pass(&store).await;
        }
        assert_eq!(world.ready(&store), "False/Warning/AdoptionRefused");
        assert!(world.cluster.message(&store).contains("sign-notes"));
        assert!(!world.is_signed(&store).await);
        world.cluster.delete(&store);
        world.pass(&store).await;
        assert!(world.cluster.object(&store).is_some(), "it waits");
        assert!(world.azure.get(STORE).is_some());
        assert!(world.azure.take_bodies().is_empty(), "nothing was sent");
        let detach = Some("detach-on-delete");
        world
            .cluster
            .annotate(&store, names::RECONCILE_POLICY, detach);
        world.pass(&store).await;
        assert!(world.cluster.object(&store).is_none(), "it may go");
        assert!(world.azure.get(STORE).is_some());
    }
}

/// The ConfigMap with a name may change while the object waits to be gone, and so may its spec.
#[tokio::test]
async fn an_object_that_goes_takes_what_it_has_made_whatever_its_spec_has_come_to_say() {
    for is_signed in [true, false] {
        let world = World::with_group().await;
        let store = world.store(json!({"capacity": 5}));
        assert_eq!(world.pass(&store).await, Requeue::Sync);
        world.store(json!({"capacity": 5, "azureName": "other"}));
        if !is_signed {
            world.unsign(&store);
        }
        world.cluster.delete(&store);
        world.pass(&store).await;
        assert_eq!(world.azure.get(STORE).is_none(), is_signed);
        assert_eq!(world.cluster.object(&store).is_none(), is_signed);
    }
}
