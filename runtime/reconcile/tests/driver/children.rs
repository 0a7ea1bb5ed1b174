//! What a parent's PUT carries of children that are kinds of their own.

use armature_azure::Method;

use super::*;

/// The store in Azure with these boxes in it, in this revision.
fn with_boxes(capacity: i64, boxes: Value, etag: &str) -> Value {
    json!({"id": STORE, "etag": etag, "properties": {"capacity": capacity, "boxes": boxes}})
}

#[tokio::test]
async fn a_put_that_carries_children_holds_only_for_what_was_read() {
    let (world, store) = World::with_store().await;
    let boxes = json!([{"name": "b"}]);
    world
        .azure
        .set(STORE, with_boxes(5, boxes.clone(), "W/\"1\""));
    // Between our GET and our PUT somebody adds a box, twice; the third look is up to date.
    for _ in 0..2 {
        let stale = response(
            200,
            &[],
            Some(with_boxes(5, json!([{"name": "a"}]), "W/\"0\"")),
        );
        world.azure.script(Method::Get, STORE, stale);
    }
    world.store(json!({"capacity": 6}));
    assert_eq!(world.pass(&store).await, Requeue::Sync);
    let azure = world.azure.get(STORE).unwrap();
    assert_eq!(
        (
            &azure["properties"]["capacity"],
            &azure["properties"]["boxes"]
        ),
        (&json!(6), &boxes)
    );
    let lines = world.journal.take();
    let puts = lines.iter().filter(|line| line.starts_with("PUT")).count();
    assert_eq!(puts, 3, "{lines:?}");
    assert!(
        lines.contains(&format!("wake dependents of {store}")),
        "{lines:?}"
    );
}

/// A service may say for a moment that a resource is not there, and a PUT would take out of it what others have made.
#[tokio::test]
async fn a_resource_with_children_is_looked_for_twice_before_it_is_created_again() {
    let (world, store) = World::with_store().await;
    let there = with_boxes(5, json!([{"name": "b"}]), "W/\"1\"");
    world.azure.set(STORE, there.clone());
    assert_eq!(world.pass(&store).await, Requeue::Sync);
    world.forget();
    for (is_back, is_edited) in [(true, false), (false, false), (true, true), (false, true)] {
        world.azure.remove(STORE);
        if is_edited {
            world.store(json!({"capacity": if is_back { 6 } else { 7 }}));
        }
        // A second look that comes too early tells no more than the first.
        for _ in 0..2 {
            assert_eq!(
                world.pass(&store).await,
                Requeue::After(Duration::from_secs(5))
            );
            let reconciling = world.cluster.condition(&store, "Reconciling");
            assert_eq!(reconciling, "True//AzureResourceNotFound");
            assert!(world.azure.take_bodies().is_empty());
            world.clock.advance(3);
        }
        if is_back {
            world.azure.set(STORE, there.clone());
        }
        assert_eq!(world.pass(&store).await, Requeue::Sync);
        let puts = usize::from(!is_back || is_edited);
        assert_eq!(world.azure.take_bodies().len(), puts);
        assert_eq!(world.ready(&store), "True//Succeeded");
        assert_eq!(world.cluster.condition(&store, "Reconciling"), "");
    }
}

#[tokio::test]
async fn a_resource_that_never_holds_still_is_tried_again_later() {
    let (world, store) = World::with_store().await;
    world
        .azure
        .set(STORE, with_boxes(5, json!([{"name": "b"}]), "new"));
    let stale = || response(200, &[], Some(with_boxes(5, json!([{"name": "b"}]), "old")));
    for _ in 0..9 {
        world.azure.script(Method::Get, STORE, stale());
    }
    world.store(json!({"capacity": 6}));
    assert_eq!(world.pass(&store).await, Requeue::Backoff(RetryClass::Slow));
    assert_eq!(world.ready(&store), "False/Warning/PreconditionFailed");
    assert_eq!(world.azure.take_bodies().len(), 4);
}

fn shelf(name: &str) -> Value {
    json!({"name": name, "properties": {"width": 1}})
}

fn of_user(name: &str) -> Value {
    json!({"name": name, "width": 1})
}

/// Names of the shelves that the store has in Azure.
fn shelves(world: &World) -> Vec<String> {
    let store = world.azure.get(STORE).expect("a store");
    let shelves = store.pointer("/properties/interior/shelves");
    let shelves = shelves.and_then(Value::as_array);
    let names = shelves.into_iter().flatten().map(|it| it["name"].as_str());
    names.flatten().map(str::to_owned).collect()
}

#[tokio::test]
async fn what_others_add_to_a_list_stays_and_what_was_ours_goes() {
    let (world, store) = World::with_store().await;
    world.store(json!({"capacity": 5, "shelves": [of_user("ours"), of_user("old")]}));
    world.pass(&store).await;
    assert_eq!(shelves(&world), ["ours", "old"]);
    let mut azure = world.azure.get(STORE).expect("a store");
    let there = &mut azure["properties"]["interior"]["shelves"];
    there.as_array_mut().expect("a list").push(shelf("theirs"));
    world.azure.set(STORE, azure);
    world.forget();
    world.pass(&store).await;
    assert_eq!(world.azure.take_bodies().len(), 0, "not compared");
    world.store(json!({"capacity": 6, "shelves": [of_user("ours")]}));
    wait_for_objects(&world, &store).await;
    assert_eq!(shelves(&world), ["ours", "theirs"]);
    // A spec that names none leaves those of others.
    world.store(json!({"capacity": 7}));
    wait_for_objects(&world, &store).await;
    assert_eq!(shelves(&world), ["theirs"]);
}

/// What was ours goes once it is clear that no object comes to stand for it.
async fn wait_for_objects(world: &World, store: &ObjectKey) {
    let wait = Duration::from_secs(120);
    assert_eq!(world.pass(store).await, Requeue::After(wait));
    assert_eq!(world.ready(store), "True//Succeeded");
    assert_ne!(world.cluster.message(store), "");
    world.clock.advance(120);
    assert_eq!(world.pass(store).await, Requeue::Sync);
    assert_eq!(world.ready(store), "True//Succeeded");
}

/// The store has two shelves, and its spec drops the second.
async fn with_a_dropped_shelf() -> (World, ObjectKey) {
    let (world, store) = World::with_store().await;
    world.store(json!({"capacity": 5, "shelves": [of_user("a"), of_user("b")]}));
    world.pass(&store).await;
    world.azure.take_bodies();
    world.store(json!({"capacity": 5, "shelves": [of_user("a")]}));
    (world, store)
}

#[tokio::test]
async fn a_dropped_item_waits_for_two_minutes_across_a_restart() {
    let (world, store) = with_a_dropped_shelf().await;
    assert_eq!(
        world.pass(&store).await,
        Requeue::After(Duration::from_secs(120))
    );
    let told = world.cluster.message(&store);
    assert!(told.contains("properties.interior.shelves.b at "), "{told}");
    world.azure.take_bodies();
    world.clock.advance(50);
    world.forget();
    assert_eq!(
        world.pass(&store).await,
        Requeue::After(Duration::from_secs(70))
    );
    assert_eq!(world.azure.take_bodies().len(), 0, "nothing new");
    assert_eq!(shelves(&world), ["a", "b"]);
    // Another edit meanwhile is sent at once, and carries it.
    world.store(json!({"capacity": 8, "shelves": [of_user("a")]}));
    assert_eq!(
        world.pass(&store).await,
        Requeue::After(Duration::from_secs(70))
    );
    assert_eq!(world.azure.take_bodies().len(), 1);
    assert_eq!(shelves(&world), ["a", "b"]);
    world.clock.advance(70);
    world.forget();
    assert_eq!(world.pass(&store).await, Requeue::Sync);
    assert_eq!(shelves(&world), ["a"]);
    let events = world.cluster.take_events();
    assert!(
        !events.iter().any(|(reason, _)| reason == "Drifted"),
        "{events:?}"
    );
}

#[tokio::test]
async fn a_dropped_item_for_which_an_object_stands_has_moved() {
    let (world, store) = with_a_dropped_shelf().await;
    world.pass(&store).await;
    world.clock.advance(60);
    let object = world.boxed();
    world.cluster.add_finalizer(&object, names::FINALIZER);
    let id = format!("{STORE}/shelves/B");
    world
        .cluster
        .annotate(&object, names::RESOURCE_ID, Some(&id));
    assert_eq!(world.pass(&store).await, Requeue::Sync);
    assert_eq!(world.ready(&store), "True//Succeeded");
    let events = world.cluster.take_events();
    let told = "properties.interior.shelves.b stays";
    assert!(
        events.iter().any(|(_, text)| text.starts_with(told)),
        "{events:?}"
    );
    // It is the object's from then on, whatever becomes of that.
    world.cluster.forget(&object);
    world.clock.advance(86_400);
    world.forget();
    assert_eq!(world.pass(&store).await, Requeue::Sync);
    assert_eq!(shelves(&world), ["a", "b"]);
    assert_eq!(world.cluster.take_events(), []);
}

#[tokio::test]
async fn a_list_that_the_spec_never_named_is_carried_over() {
    let (world, store) = World::with_store().await;
    let mut azure = with_boxes(5, json!([]), "1");
    azure["properties"]["interior"]["shelves"] = json!([shelf("theirs")]);
    world.azure.set(STORE, azure);
    world.store(json!({"capacity": 6}));
    assert_eq!(world.pass(&store).await, Requeue::Sync);
    assert_eq!(shelves(&world), ["theirs"]);
    let put = world.azure.take_bodies().pop().expect("a body");
    assert_eq!(put["properties"]["capacity"], 6);
}

#[tokio::test]
async fn without_children_or_etag_a_put_has_no_condition() {
    for azure in [
        with_boxes(5, json!([]), "1"),
        json!({"id": STORE, "properties": {"boxes": [1]}}),
    ] {
        let (world, store) = World::with_store().await;
        world.azure.set(STORE, azure);
        world.store(json!({"capacity": 6}));
        assert_eq!(world.pass(&store).await, Requeue::Sync);
        assert_eq!(world.azure.take_bodies().len(), 1);
    }
}

#[tokio::test]
async fn an_object_that_may_not_write_a_dropped_item_keeps_nothing() {
    let (world, store) = with_a_dropped_shelf().await;
    let object = world.boxed();
    world.cluster.add_finalizer(&object, names::FINALIZER);
    let id = format!("{STORE}/shelves/b");
    for (name, value) in [
        (names::RESOURCE_ID, id.as_str()),
        (names::RECONCILE_POLICY, "skip"),
    ] {
        world.cluster.annotate(&object, name, Some(value));
    }
    wait_for_objects(&world, &store).await;
    assert_eq!(shelves(&world), ["a"]);
}

/// The PUT that carries the item runs on for longer than the item waits: it goes with the next one.
#[tokio::test]
async fn a_dropped_item_is_not_forgotten_by_an_operation_that_takes_longer_than_the_wait() {
    const OPERATION: &str = "/subscriptions/s-1/providers/P/locations/l/operations/1";
    let (world, store) = with_a_dropped_shelf().await;
    let accepted = [("azure-asyncoperation", OPERATION), ("retry-after", "15")];
    world
        .azure
        .script(Method::Put, STORE, response(202, &accepted, None));
    assert_eq!(world.pass(&store).await, seconds(15));
    world.clock.advance(300);
    let done = response(200, &[], Some(json!({"status": "Succeeded"})));
    world.azure.script(Method::Get, OPERATION, done);
    assert_eq!(world.pass(&store).await, seconds(1));
    assert_eq!(shelves(&world), ["a", "b"]);
    let events = world.cluster.take_events();
    let kept = events.iter().any(|(reason, _)| reason == "KeptByAzure");
    assert!(!kept, "{events:?}");
    world.azure.take_bodies();
    world.clock.advance(1);
    assert_eq!(world.pass(&store).await, Requeue::Sync);
    assert_eq!(shelves(&world), ["a"]);
    assert_eq!(world.azure.take_bodies().len(), 1);
    assert_eq!(world.ready(&store), "True//Succeeded");
    assert_eq!(world.cluster.message(&store), "");
}

/// Of two that are dropped one after the other, each has its own two minutes.
#[tokio::test]
async fn each_dropped_item_has_its_own_time() {
    let (world, store) = World::with_store().await;
    let spec = |names: &[&str]| {
        let shelves: Vec<Value> = names.iter().map(|name| of_user(name)).collect();
        json!({"capacity": 5, "shelves": shelves})
    };
    world.store(spec(&["a", "b", "c"]));
    world.pass(&store).await;
    world.store(spec(&["a", "b"]));
    assert_eq!(world.pass(&store).await, seconds(120));
    world.clock.advance(60);
    world.store(spec(&["a"]));
    assert_eq!(world.pass(&store).await, seconds(60));
    world.clock.advance(60);
    assert_eq!(world.pass(&store).await, seconds(60));
    assert_eq!(shelves(&world), ["a", "b"]);
    world.clock.advance(60);
    assert_eq!(world.pass(&store).await, Requeue::Sync);
    assert_eq!(shelves(&world), ["a"]);
}

/// Somebody else adds an item of the name of one that was ours and has gone.
#[tokio::test]
async fn an_item_that_others_call_as_one_that_has_gone_stays() {
    let (world, store) = with_a_dropped_shelf().await;
    wait_for_objects(&world, &store).await;
    assert_eq!(shelves(&world), ["a"]);
    let mut azure = world.azure.get(STORE).expect("a store");
    let there = &mut azure["properties"]["interior"]["shelves"];
    there.as_array_mut().expect("a list").push(shelf("b"));
    world.azure.set(STORE, azure);
    world.forget();
    assert_eq!(world.pass(&store).await, Requeue::Sync);
    assert_eq!(world.azure.take_bodies().len(), 0, "not compared");
    world.store(json!({"capacity": 6, "shelves": [of_user("a")]}));
    assert_eq!(world.pass(&store).await, Requeue::Sync);
    assert_eq!(shelves(&world), ["a", "b"]);
    assert_eq!(world.cluster.message(&store), "");
}

/// One that waits for something has no id yet; whose it is to be is in its spec, by name or by ARM id.
#[tokio::test]
async fn an_item_stays_for_an_object_that_is_not_claimed_yet() {
    let other = STORE.replace("/s", "/other");
    let owners = [
        (json!({"name": "s"}), true),
        (json!({"armId": STORE}), true),
        (json!({"armId": STORE.to_uppercase()}), true),
        (json!({"armId": other}), false),
    ];
    for (owner, stays) in owners {
        let (world, store) = with_a_dropped_shelf().await;
        let spec = json!({"owner": owner, "size": 3});
        world.cluster.apply(&kinds::SHELF, "b", &spec);
        world.pass(&store).await;
        world.clock.advance(121);
        world.pass(&store).await;
        let expected: &[&str] = if stays { &["a", "b"] } else { &["a"] };
        assert_eq!(shelves(&world), expected, "{owner}");
    }
}

/// A gateway or a provider that fails may answer 200 with anything. What such an answer lacks is not what Azure lacks.
#[tokio::test]
async fn an_answer_that_is_not_the_resource_shows_nothing_and_nothing_is_sent() {
    let other = "/subscriptions/s-1/resourceGroups/g/providers/Toys.Azure/stores/victim";
    for body in [
        Value::Null,
        json!({}),
        json!([]),
        json!("x"),
        json!({"message": "ok"}),
        json!({"id": other, "properties": {"capacity": 5, "boxes": []}}),
        json!({"id": STORE}),
        json!({"id": STORE, "properties": null}),
    ] {
        let (world, store) = World::with_store().await;
        let with_box =
            json!({"id": STORE, "properties": {"capacity": 5, "boxes": [{"name": "b"}]}});
        world.azure.set(STORE, with_box.clone());
        assert_eq!(world.pass(&store).await, Requeue::Sync, "{body}");
        world.forget();
        world.store(json!({"capacity": 6}));
        for _ in 0..3 {
            let answer = response(200, &[], Some(body.clone()));
            world.azure.script(Method::Get, STORE, answer);
            world.pass(&store).await;
            world.clock.advance(3600);
        }
        assert_eq!(world.ready(&store), "False/Warning/Failed", "{body}");
        let message = world.message(&store);
        let is_told =
            message.contains("not the resource") || message.contains("has no properties.boxes");
        assert!(is_told, "{body}: {message}");
        let requests = world.requests();
        let puts = requests.iter().filter(|line| line.starts_with("PUT"));
        assert_eq!(puts.count(), 0, "{body}: {requests:?}");

        assert_eq!(world.pass(&store).await, Requeue::Sync, "{body}");
        let boxes = world.azure.get(STORE).unwrap()["properties"]["boxes"].clone();
        assert_eq!(boxes, with_box["properties"]["boxes"], "{body}");
    }
}

/// A list that Azure leaves out is believed once it was left out for a while.
#[tokio::test]
async fn a_list_of_children_that_is_missing_is_asked_for_twice() {
    let (world, store) = World::with_store().await;
    world.store(json!({"capacity": 6}));
    let without = json!({"id": STORE, "properties": {"capacity": 5}});
    let answer = || response(200, &[], Some(without.clone()));
    world.azure.script(Method::Get, STORE, answer());
    world.forget();
    world.pass(&store).await;
    assert!(
        world.message(&store).contains("has no properties.boxes"),
        "{}",
        world.message(&store)
    );
    assert_eq!(world.requests(), [format!("GET {STORE}")]);
    world.clock.advance(3600);
    for _ in 0..2 {
        world.azure.script(Method::Get, STORE, answer());
    }
    world.pass(&store).await;
    assert_eq!(world.requests()[1], format!("PUT {STORE}"));
}

/// A list that is left out and a resource that is not there have a time each: one that lasted says nothing of the other.
#[tokio::test]
async fn a_list_that_is_missing_and_a_404_have_a_time_each() {
    let without = json!({"id": STORE, "properties": {"capacity": 5}});
    let lacking = response(200, &[], Some(without));
    let gone = json!({"error": {"code": "ResourceNotFound", "message": "not found"}});
    let gone = response(404, &[("x-ms-request-id", "r-1")], Some(gone));
    for answers in [[&lacking, &gone], [&gone, &lacking]] {
        let (world, store) = World::with_store().await;
        let with_box =
            json!({"id": STORE, "properties": {"capacity": 5, "boxes": [{"name": "b"}]}});
        world.azure.set(STORE, with_box.clone());
        assert_eq!(world.pass(&store).await, Requeue::Sync);
        world.forget();
        world.store(json!({"capacity": 6}));
        for answer in answers {
            world.azure.script(Method::Get, STORE, answer.clone());
            world.pass(&store).await;
            world.clock.advance(3600);
        }
        let requests = world.requests();
        assert_eq!(requests, [format!("GET {STORE}"), format!("GET {STORE}")]);
        // Each of them again is one that lasted.
        for _ in 0..2 {
            world.azure.script(Method::Get, STORE, answers[1].clone());
        }
        world.pass(&store).await;
        let requests = world.requests();
        let puts = requests.iter().filter(|line| line.starts_with("PUT"));
        assert_eq!(puts.count(), 1, "{requests:?}");
    }
}

/// The PUT without the item is refused, fails, or gets no answer: it is sent again, by whichever process, and takes the item out
/// alone.
#[tokio::test]
async fn a_dropped_item_is_not_forgotten_by_a_put_that_fails() {
    const OPERATION: &str = "/subscriptions/s-1/providers/P/locations/l/operations/1";
    let accepted = [("azure-asyncoperation", OPERATION), ("retry-after", "15")];
    let failed = |status: u16, code: &str| {
        let error = json!({"error": {"code": code, "message": "not now"}});
        Some(response(status, &[], Some(error)))
    };
    let table = [
        ("refused", failed(400, "BadRequest")),
        ("in use", failed(409, "InUse")),
        ("changed meanwhile", failed(412, "PreconditionFailed")),
        ("failed", failed(500, "InternalServerError")),
        (
            "an operation that fails",
            Some(response(202, &accepted, None)),
        ),
        ("without an answer", None),
    ];
    for (what, answer) in table {
        for is_edited in [false, true] {
            let (world, store) = with_a_dropped_shelf().await;
            assert_eq!(world.pass(&store).await, seconds(120), "{what}");
            let mut azure = world.azure.get(STORE).unwrap();
            let there = &mut azure["properties"]["interior"]["shelves"];
            there.as_array_mut().expect("a list").push(shelf("theirs"));
            world.azure.set(STORE, azure);
            world.clock.advance(120);
            match answer.clone() {
                Some(answer) => world.azure.script(Method::Put, STORE, answer),
                None => world.azure.lose_answer(Method::Put, STORE),
            }
            let failed = json!({"status": "Failed", "error": {"code": "Conflict", "message": "x"}});
            let failed = response(200, &[], Some(failed));
            world.azure.script(Method::Get, OPERATION, failed);
            world.pass(&store).await;
            if is_edited {
                world.store(json!({"capacity": 8, "shelves": [of_user("a")]}));
            }
            for _ in 0..6 {
                world.clock.advance(3600);
                world.pass(&store).await;
            }
            assert_eq!(shelves(&world), ["a", "theirs"], "{what} {is_edited}");
            assert_eq!(world.ready(&store), "True//Succeeded", "{what} {is_edited}");
            assert_eq!(world.cluster.message(&store), "", "{what} {is_edited}");
        }
    }
}
