//! Values that Azure moves by itself are left alone while a condition holds, and an edit of them is sent once.

use super::edits::full_store;
use super::*;

const RULE: &str = "properties.capacity from 1 to 10 while properties.tier is auto";

fn spec(capacity: i64, tier: &str) -> Value {
    json!({"capacity": capacity, "tier": tier, "location": "westus", "zones": ["1"]})
}

pub(super) async fn store(rule: &str, spec: Value) -> (World, ObjectKey) {
    let world = World::with_group().await;
    let store = world.store(spec);
    world
        .cluster
        .annotate(&store, names::IGNORE_PATHS, Some(rule));
    for _ in 0..2 {
        assert_eq!(world.pass(&store).await, Requeue::Sync);
    }
    world.forget();
    (world, store)
}

impl World {
    fn move_capacity(&self, capacity: i64) {
        let mut azure = self.azure.get(STORE).unwrap();
        azure["properties"]["capacity"] = json!(capacity);
        self.azure.set(STORE, azure);
    }

    /// Capacities of the PUTs that passes send until nothing is left to do.
    async fn sent(&self, store: &ObjectKey) -> Vec<Value> {
        for _ in 0..3 {
            assert_eq!(
                self.pass(store).await,
                Requeue::Sync,
                "{}",
                self.cluster.message(store)
            );
        }
        let bodies = self.azure.take_bodies();
        bodies
            .iter()
            .map(|body| body["properties"]["capacity"].clone())
            .collect()
    }

    /// How often it was told since that was asked last.
    fn told_of_owned(&self) -> usize {
        let events = self.cluster.take_events();
        events
            .iter()
            .filter(|(reason, _)| reason == names::event::OWNED)
            .count()
    }
}

#[tokio::test]
async fn azure_keeps_what_is_its_own_and_an_edit_is_sent_once() {
    let (world, store) = store(RULE, spec(5, "auto")).await;
    world.move_capacity(9);
    assert_eq!(
        world.sent(&store).await,
        [Value::Null; 0],
        "moved between the bounds"
    );
    let mut other = spec(5, "auto");
    other["zones"] = json!(["1", "2"]);
    world.store(other.clone());
    assert_eq!(world.sent(&store).await, [9], "a PUT for another reason");
    other["capacity"] = json!(6);
    world.store(other.clone());
    assert_eq!(world.sent(&store).await, [6], "an edit of that very value");
    world.move_capacity(3);
    assert_eq!(world.sent(&store).await, [Value::Null; 0]);
    world.move_capacity(40);
    assert_eq!(world.sent(&store).await, [10], "beyond the bound");
    world.move_capacity(8);
    other["tier"] = json!("by hand");
    world.store(other);
    assert_eq!(
        world.sent(&store).await,
        [6],
        "the condition ended by an edit"
    );
    world.move_capacity(8);
    assert_eq!(world.sent(&store).await, [6], "drift");
    assert_eq!(world.told_of_owned(), 0);
}

#[tokio::test]
async fn what_is_not_remembered_is_left_alone_and_told_once() {
    let (world, store) = store("tags", spec(5, "auto")).await;
    world.move_capacity(9);
    world
        .cluster
        .annotate(&store, names::IGNORE_PATHS, Some(RULE));
    assert_eq!(world.sent(&store).await, [Value::Null; 0]);
    assert_eq!(world.told_of_owned(), 1);
    world.store(spec(7, "auto"));
    assert_eq!(world.sent(&store).await, [7]);
    assert_eq!(world.told_of_owned(), 0);
}

#[tokio::test]
async fn what_somebody_did_on_purpose_is_told_once_for_each_value() {
    let (world, store) = store("properties.capacity told", spec(5, "auto")).await;
    assert_eq!(
        (world.sent(&store).await.len(), world.told_of_owned()),
        (0, 0)
    );
    world.move_capacity(9);
    assert_eq!(
        (world.sent(&store).await.len(), world.told_of_owned()),
        (0, 1)
    );
    world.move_capacity(11);
    assert_eq!(
        (world.sent(&store).await.len(), world.told_of_owned()),
        (0, 1)
    );
    world.store(spec(6, "auto"));
    assert_eq!(world.sent(&store).await, [6]);
}

#[tokio::test]
async fn what_only_azure_says_is_neither_sent_nor_an_edit() {
    let (world, store) = store("properties.capacity read-only", spec(5, "auto")).await;
    world.move_capacity(9);
    world.store(spec(6, "auto"));
    assert_eq!(world.sent(&store).await, [Value::Null; 0]);
    world.store(spec(6, "other"));
    assert_eq!(world.sent(&store).await, [Value::Null]);
}

/// Azure alone says that it chooses the number: ours is left alone, an edit is sent once, and no PUT is without it.
#[tokio::test]
async fn what_is_unsent_by_azures_answer_alone_is_sent_once_when_it_is_edited() {
    let by_hand =
        |capacity: i64| json!({"capacity": capacity, "location": "westus", "zones": ["1"]});
    let rule = "properties.capacity unsent while properties.tier is auto";
    let (world, store) = store(rule, by_hand(5)).await;
    let mut azure = world.azure.get(STORE).unwrap();
    azure["properties"] = json!({"tier": "auto", "capacity": 9});
    world.azure.set(STORE, azure.clone());
    assert_eq!(world.sent(&store).await, [Value::Null; 0]);
    world.store(by_hand(6));
    assert_eq!(world.sent(&store).await, [6]);
    world.azure.set(STORE, azure.clone());
    assert_eq!(world.sent(&store).await, [Value::Null; 0]);
    let mut other = by_hand(6);
    other["zones"] = json!(["1", "2"]);
    world.store(other);
    assert_eq!(world.sent(&store).await, [6], "a PUT for another reason");
}

#[tokio::test]
async fn a_condition_that_cannot_be_read_leaves_nothing_alone_and_is_told() {
    let (world, store) = full_store().await;
    let table = [
        (
            "properties.capacity told when auto",
            "`when` is not known here",
        ),
        (
            "properties.nothing while properties.tier",
            "has no properties.nothing",
        ),
        (
            "properties.capacity while properties.teir",
            "have properties.teir",
        ),
        (
            "properties.capacity added like a*",
            "properties.capacity is neither",
        ),
    ];
    for (rule, expected) in table {
        world
            .cluster
            .annotate(&store, names::IGNORE_PATHS, Some(rule));
        world.pass(&store).await;
        let message = world.cluster.message(&store);
        assert!(message.contains(expected), "{message}");
        assert!(world.ready(&store).contains("InvalidAnnotation"));
    }
    world.cluster.annotate(&store, names::IGNORE_PATHS, None);
    assert_eq!(world.sent(&store).await, [Value::Null; 0]);
}

#[tokio::test]
async fn a_rule_that_is_new_overwrites_nothing() {
    let (world, store) = store("properties.tier told", spec(5, "auto")).await;
    world.move_capacity(9);
    let rules = format!("properties.tier told, {RULE}");
    world
        .cluster
        .annotate(&store, names::IGNORE_PATHS, Some(&rules));
    assert_eq!(world.sent(&store).await, [Value::Null; 0]);
    world.store(spec(7, "auto"));
    assert_eq!(world.sent(&store).await, [7]);
}

/// For metrics: how many values are left alone, until Azure has the spec's again or the object is gone.
#[tokio::test]
async fn what_is_left_alone_is_counted_by_its_right() {
    let (world, store) = store(RULE, spec(5, "auto")).await;
    let reconciler = world.reconciler();
    let counts = async || {
        reconciler.reconcile(&store).await;
        let counts = reconciler.left_alone.counts().into_iter();
        let counts = counts.map(|(kind, right, count)| (kind.0.kind, right, count));
        counts.collect::<Vec<_>>()
    };
    assert_eq!(counts().await, []);
    world.move_capacity(9);
    assert_eq!(counts().await, [("Store", "within", 1)]);
    assert_eq!(counts().await, [("Store", "within", 1)]);
    world.move_capacity(5);
    assert_eq!(counts().await, []);
    world.move_capacity(9);
    assert_eq!(counts().await.len(), 1);
    world.cluster.forget(&store);
    assert_eq!(counts().await, []);
}

/// A list of texts to which Azure adds some, and to which others may too, where the spec does not name it.
#[tokio::test]
async fn of_a_list_of_texts_only_what_the_spec_named_goes() {
    let spec = |zones: Option<&[&str]>| match zones {
        Some(zones) => json!({"capacity": 5, "location": "westus", "zones": zones}),
        None => json!({"capacity": 5, "location": "westus"}),
    };
    let rests = async |world: &World, store: &ObjectKey, zones: Value| {
        assert_eq!(world.sent(store).await.len(), 0, "{zones}");
        assert_eq!(world.azure.get(STORE).unwrap()["zones"], zones);
        assert_eq!(world.cluster.take_events(), [], "{zones}");
    };
    let (world, store) = store("zones added like az*", spec(None)).await;
    let add = |zone: &str| {
        let mut azure = world.azure.get(STORE).unwrap();
        let zones = azure["zones"].as_array().cloned().unwrap_or_default();
        azure["zones"] = zones.into_iter().chain([json!(zone)]).collect();
        world.azure.set(STORE, azure);
    };
    add("theirs");
    rests(&world, &store, json!(["theirs"])).await;
    add("az1");
    rests(&world, &store, json!(["theirs", "az1"])).await;
    world.store(spec(Some(&["1", "az2"])));
    assert_eq!(world.sent(&store).await.len(), 1);
    add("theirs");
    assert_eq!(
        world.sent(&store).await.len(),
        1,
        "a list that is named is compared"
    );
    world.forget();
    world.cluster.take_events();
    rests(&world, &store, json!(["1", "az2", "az1"])).await;
    // What was named goes, whether or not it looks like Azure's, and nothing is said to be kept.
    world.store(spec(None));
    assert_eq!(world.sent(&store).await.len(), 1);
    world.cluster.take_events();
    rests(&world, &store, json!(["az1"])).await;
    add("theirs");
    rests(&world, &store, json!(["az1", "theirs"])).await;
}

/// An object takes over what others have made, with another value where Azure's counts: that one stays, which is told, also where
/// the PUT ends what made it Azure's.
#[tokio::test]
async fn what_the_first_put_of_an_object_leaves_as_others_made_it_is_told() {
    const OPERATION: &str = "/subscriptions/s-1/providers/P/locations/l/operations/1";
    let accepted = [("azure-asyncoperation", OPERATION), ("retry-after", "15")];
    let table = [
        (Some("auto"), "at once"),
        (None, "at once"),
        (Some("auto"), "an operation"),
        (None, "an operation"),
        (Some("auto"), "lost"),
        (None, "lost"),
    ];
    for (tier, answer) in table {
        let world = World::with_group().await;
        let made = json!({"id": STORE, "location": "westus", "properties": {"capacity": 9, "tier": "auto"}});
        world.azure.set(STORE, made);
        let mut spec = json!({"capacity": 5, "location": "westus", "zones": ["1"]});
        if let Some(tier) = tier {
            spec["tier"] = json!(tier);
        }
        let store = world.store(spec);
        let rule = "properties.capacity while properties.tier is auto";
        world
            .cluster
            .annotate(&store, names::IGNORE_PATHS, Some(rule));
        if answer == "lost" {
            world.azure.lose_answer(armature_azure::Method::Put, STORE);
        }
        if answer == "an operation" {
            let put = response(202, &accepted, None);
            world.azure.script(armature_azure::Method::Put, STORE, put);
            let done = response(200, &[], Some(json!({"status": "Succeeded"})));
            world
                .azure
                .script(armature_azure::Method::Get, OPERATION, done);
        }
        for _ in 0..4 {
            world.pass(&store).await;
            world.clock.advance(600);
        }
        assert_eq!(world.ready(&store), "True//Succeeded");
        let bodies = world.azure.take_bodies();
        assert_eq!(bodies[0]["properties"]["capacity"], 9, "{tier:?} {answer}");
        assert_eq!(world.told_of_owned(), 1, "{tier:?} {answer}");
    }
}
