//! What the user edits reaches Azure once, and nothing else does.

use armature_azure::Method;
use armature_reconcile::extension::*;
use armature_reconcile::port::DataKind;
use armature_shapes::resource::TypedObject;
use armature_shapes::testing::kinds::HubStore;
use async_trait::async_trait;

use super::*;

const OPERATION: &str = "/subscriptions/s-1/providers/Microsoft.Toys/locations/westus/operations/1";

/// A store with all that can be taken out of it again, ready.
pub(super) fn full() -> Value {
    json!({
        "capacity": 5, "tier": "standard", "location": "westus", "zones": ["1", "2"],
        "password": {"name": "secret", "key": "password"},
        "peerReference": {"armId": "/subscriptions/s-1/resourceGroups/other"},
    })
}

pub(super) async fn full_store() -> (World, ObjectKey) {
    let world = World::with_group().await;
    world.secret("hunter22");
    let store = world.store(full());
    assert_eq!(world.pass(&store).await, Requeue::Sync);
    world.forget();
    (world, store)
}

impl World {
    pub(super) fn secret(&self, password: &str) {
        let data = [("password", password), ("other", "of no use")];
        self.cluster.put_data(DataKind::Secret, "secret", &data);
    }

    /// How many PUTs two passes send, and what Azure has after them.
    async fn settled(&self, store: &ObjectKey) -> (usize, Value) {
        for _ in 0..2 {
            assert_eq!(self.pass(store).await, Requeue::Sync);
            assert_eq!(self.ready(store), "True//Succeeded");
        }
        (
            self.azure.take_bodies().len(),
            self.azure.get(STORE).unwrap(),
        )
    }
}

/// What Azure has after any edit is what it would have, had there never been another manifest.
#[tokio::test]
async fn an_edit_leaves_azure_as_the_last_manifest_alone_would() {
    type Change = fn(&mut Value);
    let rows: [(&str, usize, Change); 7] = [
        ("a value is taken out", 1, |spec| remove(spec, "tier")),
        ("a list is taken out", 1, |spec| remove(spec, "zones")),
        ("a reference is taken out", 1, |spec| {
            remove(spec, "peerReference")
        }),
        ("a secret is taken out", 1, |spec| remove(spec, "password")),
        ("a list is reordered", 1, |spec| {
            spec["zones"] = json!(["2", "1"])
        }),
        ("a value is changed", 1, |spec| spec["capacity"] = json!(6)),
        ("what is no part of the body is changed", 0, |spec| {
            spec["operatorSpec"] = json!({"configMapExpressions": []});
        }),
    ];
    for adopted in [false, true] {
        for (what, puts, change) in rows {
            let world = World::with_group().await;
            world.secret("hunter22");
            if adopted {
                let other = World::with_group().await;
                other.secret("hunter22");
                other.pass(&other.store(full())).await;
                world.azure.set(STORE, other.azure.get(STORE).unwrap());
            }
            let store = world.store(full());
            let (sent, _) = world.settled(&store).await;
            // After an adoption, too: nothing shows that the password is the desired one.
            assert_eq!(sent, 1, "{what}");
            let mut edited = full();
            change(&mut edited);
            world.store(edited.clone());
            let (sent, azure) = world.settled(&store).await;
            assert_eq!(sent, puts, "{what}, adopted: {adopted}");

            let fresh = World::with_group().await;
            fresh.secret("hunter22");
            let store = fresh.store(edited);
            assert_eq!(
                azure,
                fresh.settled(&store).await.1,
                "{what}, adopted: {adopted}"
            );
        }
    }
}

fn remove(spec: &mut Value, name: &str) {
    spec.as_object_mut().unwrap().shift_remove(name);
}

#[tokio::test]
async fn a_secret_counts_by_the_content_of_the_keys_that_are_used() {
    let (world, store) = full_store().await;
    let rows = [
        ("hunter22", 0),
        ("hunter33", 1),
        ("hunter33", 0),
        ("hunter22", 1),
    ];
    for (password, puts) in rows {
        // Each time it is written anew, with another resourceVersion.
        world.secret(password);
        assert_eq!(world.settled(&store).await.0, puts, "{password}");
    }
    let data = [("password", "hunter22"), ("other", "something else")];
    world.cluster.put_data(DataKind::Secret, "secret", &data);
    assert_eq!(world.settled(&store).await.0, 0, "a key that is not used");
}

/// The spec is again what the record says, and the PUT in between may have arrived.
#[tokio::test]
async fn what_is_changed_back_after_a_put_without_an_answer_is_sent() {
    for is_secret in [true, false] {
        let (world, store) = full_store().await;
        let change = |is_back: bool| {
            let mut spec = full();
            match (is_secret, is_back) {
                (true, false) => world.secret("hunter33"),
                (true, true) => world.secret("hunter22"),
                (false, is_back) => {
                    if !is_back {
                        remove(&mut spec, "tier");
                    }
                    world.store(spec);
                }
            }
        };
        change(false);
        world.azure.lose_answer(Method::Put, STORE);
        world.pass(&store).await;
        change(true);
        assert_eq!(world.settled(&store).await.0, 1, "{is_secret}");
    }
}

/// Nobody saw the generation in between, and a process that was killed may have sent it.
#[tokio::test]
async fn what_is_changed_back_between_two_looks_is_sent_once() {
    let (world, store) = full_store().await;
    let mut edited = full();
    remove(&mut edited, "tier");
    world.store(edited);
    world.store(full());
    assert_eq!(world.settled(&store).await.0, 1);
}

/// An edit of which nobody knows whether it arrived is sent again, although Azure shows all that it names.
#[tokio::test]
async fn an_edit_whose_operation_fails_is_sent_again() {
    let (world, store) = full_store().await;
    let mut edited = full();
    remove(&mut edited, "tier");
    world.store(edited);
    let running = response(202, &[("azure-asyncoperation", OPERATION)], None);
    world.azure.script(Method::Put, STORE, running);
    world.pass(&store).await;
    let failed = json!({"status": "Failed", "error": {"code": "Internal", "message": "no"}});
    let failed = response(200, &[], Some(failed));
    world.azure.script(Method::Get, OPERATION, failed);
    world.pass(&store).await;
    world.clock.advance(1);
    world.forget();
    assert_eq!(world.settled(&store).await.0, 1);
    assert_eq!(
        world.azure.get(STORE).unwrap()["properties"].get("tier"),
        None
    );
}

/// Azure took the PUT, and could not be asked what it made of it: that is read later, and not sent again.
#[tokio::test]
async fn an_edit_that_arrived_is_not_sent_again_because_it_could_not_be_read() {
    for is_long in [false, true] {
        let (world, store) = full_store().await;
        let mut edited = full();
        remove(&mut edited, "tier");
        world.store(edited);
        let azure = world.azure.get(STORE).unwrap();
        world
            .azure
            .script(Method::Get, STORE, response(200, &[], Some(azure.clone())));
        if is_long {
            let running = response(202, &[("azure-asyncoperation", OPERATION)], None);
            world.azure.script(Method::Put, STORE, running);
            world.pass(&store).await;
            let done = response(200, &[], Some(json!({"status": "Succeeded"})));
            world.azure.script(Method::Get, OPERATION, done);
        }
        world
            .azure
            .script(Method::Get, STORE, error(503, "ServiceUnavailable"));
        world.pass(&store).await;
        assert_eq!(world.ready(&store), "False/Warning/ServiceUnavailable");
        assert_eq!(world.azure.take_bodies().len(), 1, "{is_long}");
        assert_eq!(world.settled(&store).await.0, 0, "{is_long}");
    }
}

/// A process that is killed right after its first PUT leaves no record of it. What the claim noted tells an edit since.
#[tokio::test]
async fn an_edit_after_a_first_put_that_a_kill_cut_is_sent() {
    // What a GET shows does not prove that a password arrived.
    for (edited, hidden, puts) in [
        (true, true, 1),
        (true, false, 1),
        (false, true, 1),
        (false, false, 0),
    ] {
        let world = World::with_group().await;
        world.secret("hunter22");
        let mut spec = full();
        if !hidden {
            remove(&mut spec, "password");
        }
        let store = world.store(spec.clone());
        world
            .azure
            .script(Method::Get, STORE, error(503, "ServiceUnavailable"));
        world.pass(&store).await;
        // The PUT of the killed process.
        let other = World::with_group().await;
        other.secret("hunter22");
        other.pass(&other.store(spec.clone())).await;
        world.azure.set(STORE, other.azure.get(STORE).unwrap());
        if edited {
            remove(&mut spec, "tier");
            world.store(spec);
        }
        assert_eq!(world.settled(&store).await.0, puts, "{edited} {hidden}");
        assert_eq!(
            world.azure.get(STORE).unwrap()["properties"]
                .get("tier")
                .is_some(),
            !edited
        );
        assert_eq!(world.cluster.annotation(&store, names::CLAIMED_SPEC), None);
    }
}

#[tokio::test]
async fn what_azure_keeps_is_told_once() {
    let (world, store) = full_store().await;
    let mut edited = full();
    remove(&mut edited, "tier");
    world.store(edited.clone());
    world
        .azure
        .answer_in(|body, _| body["properties"]["tier"] = json!("standard"));
    assert_eq!(world.settled(&store).await.0, 1);
    let kept = |events: Vec<(String, String)>| {
        let mut messages = events
            .into_iter()
            .filter(|(reason, _)| reason == "KeptByAzure");
        (
            messages.next().map(|(_, message)| message),
            messages.count(),
        )
    };
    let message = "Azure keeps properties.tier, which the spec no longer names";
    assert_eq!(
        kept(world.cluster.take_events()),
        (Some(message.to_owned()), 0)
    );
    edited["capacity"] = json!(7);
    world.store(edited);
    assert_eq!(world.settled(&store).await.0, 1);
    assert_eq!(kept(world.cluster.take_events()), (None, 0));
}

/// What was taken out is the spec's business as what is in it.
#[tokio::test]
async fn what_was_taken_out_and_comes_back_is_drift() {
    let (world, store) = full_store().await;
    let mut edited = full();
    remove(&mut edited, "tier");
    world.store(edited);
    assert_eq!(world.settled(&store).await.0, 1);
    world.cluster.take_events();
    let mut azure = world.azure.get(STORE).unwrap();
    azure["properties"]["tier"] = json!("standard");
    azure["properties"]["colour"] = json!("of somebody else");
    world.azure.set(STORE, azure);
    let (puts, azure) = world.settled(&store).await;
    assert_eq!((puts, azure["properties"].get("tier")), (1, None));
    let (reason, message) = world.cluster.take_events().remove(0);
    let expected = "properties.tier: desired nothing, Azure has \"standard\"";
    assert_eq!((reason.as_str(), message.as_str()), ("Drifted", expected));
}

/// As Azure Service Operator leaves an object: claimed, sent, and without a record.
#[tokio::test]
async fn a_takeover_writes_nothing_unless_the_spec_was_edited_since() {
    for (since, puts) in [(0, 0), (1, 1)] {
        let (world, store) = full_store().await;
        let annotate = |name, text| world.cluster.annotate(&store, name, text);
        annotate(names::CLAIMED_SPEC, None);
        annotate(names::LATEST_RECONCILED_GENERATION, Some("1"));
        for _ in 0..since {
            let mut edited = full();
            remove(&mut edited, "tier");
            world.store(edited);
        }
        assert_eq!(world.settled(&store).await.0, puts);
        let record = world.cluster.annotation(&store, names::BASELINE);
        assert!(record.unwrap().starts_with("3:"), "recorded");
        let mut edited = full();
        remove(&mut edited, "zones");
        world.store(edited);
        assert_eq!(world.settled(&store).await.0, 1, "an edit after it");
    }
}

#[tokio::test]
async fn another_key_another_release_and_another_operator_send_nothing() {
    let (world, store) = full_store().await;
    world.cluster.lose_digest_key();
    assert_eq!(world.settled(&store).await.0, 0, "another key");
    let mut reconciler = world.reconciler();
    reconciler.settings.operator_version = "v2".to_owned();
    assert_eq!(reconciler.reconcile(&store).await, Requeue::Sync);
    assert_eq!(world.azure.take_bodies().len(), 0, "another release");
    world
        .cluster
        .annotate(&store, names::BASELINE, Some("9:of the future"));
    assert_eq!(
        world.settled(&store).await.0,
        0,
        "a form of another release"
    );
}

#[tokio::test]
async fn digests_do_not_give_a_short_secret_away() {
    let (world, store) = full_store().await;
    let mut records = Vec::new();
    for _ in 0..2 {
        world.cluster.lose_digest_key();
        world.settled(&store).await;
        records.push(world.cluster.annotation(&store, names::BASELINE).unwrap());
    }
    assert_ne!(records[0], records[1], "the key is no part of the object");
}

#[tokio::test]
async fn under_observe_an_edit_waits() {
    let (world, store) = full_store().await;
    world.cluster.annotate(&store, names::OBSERVE, Some("true"));
    let mut edited = full();
    remove(&mut edited, "tier");
    world.store(edited);
    let requeue = Requeue::Backoff(RetryClass::VerySlow);
    assert_eq!(world.pass(&store).await, requeue);
    let message = world.cluster.message(&store);
    assert!(
        message.contains("properties.tier: desired nothing"),
        "{message}"
    );
    assert_eq!(world.azure.take_bodies().len(), 0);
    world.cluster.annotate(&store, names::OBSERVE, None);
    assert_eq!(world.settled(&store).await.0, 1);
}

#[tokio::test]
async fn azures_value_is_sent_at_ignored_paths() {
    let (world, store) = full_store().await;
    let paths = "properties.tier, tags";
    world
        .cluster
        .annotate(&store, names::IGNORE_PATHS, Some(paths));
    let mut azure = world.azure.get(STORE).unwrap();
    azure["properties"]["tier"] = json!("premium");
    azure["tags"] = json!({"team": "b"});
    world.azure.set(STORE, azure);
    assert_eq!(world.settled(&store).await.0, 0);
    let mut edited = full();
    edited["capacity"] = json!(6);
    world.store(edited.clone());
    let (puts, azure) = world.settled(&store).await;
    assert_eq!(puts, 1);
    let found = (
        &azure["properties"]["tier"],
        &azure["tags"]["team"],
        &azure["properties"]["capacity"],
    );
    assert_eq!(found, (&json!("premium"), &json!("b"), &json!(6)));
    edited["tier"] = json!("basic");
    world.store(edited);
    assert_eq!(
        world.settled(&store).await.0,
        0,
        "an edit of what is ignored"
    );
}

#[tokio::test]
async fn tags_of_others_stay_where_the_user_says_so() {
    let world = World::with_group().await;
    let group = |tags: Value| {
        let spec = json!({"location": "westus", "tags": tags});
        world.cluster.apply(&kinds::GROUP, "g", &spec)
    };
    let key = group(json!({"ours": "1", "old": "2"}));
    world
        .cluster
        .annotate(&key, names::KEEP_UNKNOWN, Some("tags"));
    world.pass(&key).await;
    let mut azure = world.azure.get(GROUP).unwrap();
    azure["tags"]["policy"] = json!("p");
    world.azure.set(GROUP, azure);
    world.forget();
    world.pass(&key).await;
    assert_eq!(world.azure.take_bodies().len(), 0, "not compared");
    group(json!({"ours": "1"}));
    world.pass(&key).await;
    let tags = world.azure.get(GROUP).unwrap()["tags"].clone();
    assert_eq!(tags, json!({"ours": "1", "policy": "p"}));
    world.cluster.annotate(&key, names::KEEP_UNKNOWN, None);
    group(json!({"ours": "2"}));
    world.pass(&key).await;
    assert_eq!(
        world.azure.get(GROUP).unwrap()["tags"],
        json!({"ours": "2"})
    );
}

/// What another release builds.
#[derive(Clone)]
struct Builds(&'static str, Value);

#[async_trait]
impl ArmResourceModifier for Builds {
    type Hub = HubStore;

    async fn modify(
        &self,
        _: &Context,
        _: &TypedObject<HubStore>,
        mut body: Value,
        next: Next<'_, Value, Value>,
    ) -> Result<Value, ExtensionError> {
        body["properties"][self.0] = self.1.clone();
        next.call_with(body).await
    }
}

/// What a release builds otherwise waits for an edit; what somebody changed in Azure since the last look does not.
#[tokio::test]
async fn drift_that_is_there_at_an_upgrade_is_repaired() {
    let elsewhere = json!("/subscriptions/s-1/resourceGroups/elsewhere");
    for (builds, drifts, repaired) in [
        // A new member, and a known one with another value.
        (("further", json!("x")), false, false),
        (("capacity", json!(6)), false, false),
        (("further", json!("x")), true, true),
        (("capacity", json!(6)), true, true),
    ] {
        let (mut world, store) = full_store().await;
        let peer = full()["peerReference"]["armId"].clone();
        let what = format!("{builds:?} {drifts}");
        if drifts {
            let mut there = world.azure.get(STORE).unwrap();
            there["properties"]["peerId"] = elsewhere.clone();
            world.azure.set(STORE, there);
        }
        world.extensions = Registry::builder()
            .register_modifier(Builds(builds.0, builds.1))
            .build()
            .unwrap();
        let mut reconciler = world.reconciler();
        reconciler.settings.operator_version = "v2".to_owned();
        for _ in 0..2 {
            assert_eq!(reconciler.reconcile(&store).await, Requeue::Sync, "{what}");
        }
        let events = world.cluster.take_events();
        let has = |reason: &str| events.iter().any(|(found, _)| found == reason);
        assert_eq!(has("Drifted"), repaired, "{what}: {events:?}");
        assert_eq!(has("WaitsForEdit"), !repaired, "{what}: {events:?}");
        assert_eq!(
            world.azure.take_bodies().len(),
            usize::from(repaired),
            "{what}"
        );
        let there = world.azure.get(STORE).unwrap();
        assert_eq!(there["properties"]["peerId"], peer, "{what}");
    }
}
