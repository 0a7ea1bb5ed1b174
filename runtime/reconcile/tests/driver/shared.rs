//! Lists and maps to which others add members, through whole passes.

use armature_azure::Method;

use super::*;

const LENGTHS: [usize; 8] = [1, 2, 24, 39, 45, 64, 193, 400];

fn shelves(names: &[String]) -> Value {
    let shelf = |name| json!({"name": name, "width": 1});
    json!({"capacity": 5, "shelves": names.iter().map(shelf).collect::<Vec<_>>()})
}

/// Names of the shelves that Azure has.
fn in_azure(world: &World) -> Vec<String> {
    let store = world.azure.get(STORE).unwrap();
    let shelves = store["properties"]["interior"]["shelves"].as_array();
    let names = shelves.into_iter().flatten().map(|shelf| &shelf["name"]);
    names
        .map(|name| name.as_str().unwrap().to_owned())
        .collect()
}

/// Somebody else puts one up.
fn add(world: &World, name: &str) {
    let mut store = world.azure.get(STORE).unwrap();
    let shelves = &mut store["properties"]["interior"]["shelves"];
    let shelf = json!({"name": name, "properties": {"width": 7}});
    shelves.as_array_mut().unwrap().push(shelf);
    world.azure.set(STORE, store);
}

/// Passes until nothing waits: what may be resources of their own is dropped some time later.
async fn settle(world: &World, key: &ObjectKey) {
    // So many have a time of their own at most, and the others wait for theirs.
    let at_a_time = armature_engine::compare::MOST_TIMED / 2;
    for _ in 0..=400 / at_a_time + 1 {
        match world.pass(key).await {
            Requeue::After(wait) => world.clock.advance(wait.as_secs() as i64 + 1),
            requeue => return assert_eq!(requeue, Requeue::Sync),
        }
    }
    panic!("it never ends: {}", world.message(key));
}

/// Whatever the length: what the spec drops goes, what others added stays, and neither is drift.
#[tokio::test]
async fn what_is_dropped_from_a_shared_list_of_any_length_leaves_azure() {
    for length in LENGTHS {
        let world = World::with_group().await;
        let all: Vec<String> = (0..length).map(|at| format!("s.{at}")).collect();
        let store = world.store(shelves(&all));
        assert_eq!(world.pass(&store).await, Requeue::Sync, "{length}");
        add(&world, "theirs");
        world.forget();
        assert_eq!(world.pass(&store).await, Requeue::Sync, "{length}");
        assert_eq!(world.azure.take_bodies(), [Value::Null; 0], "{length}");
        // The first, the last, and one in the middle.
        let gone = [0, length / 2, length - 1].map(|at| all[at].clone());
        let mut left = all.clone();
        left.retain(|name| !gone.contains(name));
        for step in [left, Vec::new()] {
            world.store(shelves(&step));
            settle(&world, &store).await;
            let mut expected = step.clone();
            expected.push("theirs".to_owned());
            let mut found = in_azure(&world);
            expected.sort();
            found.sort();
            assert_eq!(found, expected, "{length}");
            world.forget();
            assert_eq!(world.pass(&store).await, Requeue::Sync, "{length}");
            assert_eq!(world.azure.take_bodies(), [Value::Null; 0], "{length}");
        }
    }
}

/// The same for members of a map that the user shares.
#[tokio::test]
async fn what_is_dropped_from_a_shared_map_of_any_size_leaves_azure() {
    for length in LENGTHS {
        let world = World::new();
        let spec = |from: usize| {
            let tags = (from..length).map(|at| (format!("t.{at}"), json!("x")));
            let tags: serde_json::Map<_, _> = tags.collect();
            json!({"location": "westus", "tags": tags})
        };
        let group = world.cluster.apply(&kinds::GROUP, "g", &spec(0));
        let shared = Some("tags");
        world.cluster.annotate(&group, names::KEEP_UNKNOWN, shared);
        assert_eq!(world.pass(&group).await, Requeue::Sync, "{length}");
        let mut azure = world.azure.get(GROUP).unwrap();
        azure["tags"]["theirs"] = json!("y");
        world.azure.set(GROUP, azure);
        for from in [1, length] {
            world.cluster.apply(&kinds::GROUP, "g", &spec(from));
            assert_eq!(world.pass(&group).await, Requeue::Sync, "{length}");
            let azure = world.azure.get(GROUP).unwrap();
            let mut expected = spec(from)["tags"].clone();
            expected["theirs"] = json!("y");
            assert_eq!(azure["tags"], expected, "{length}");
        }
    }
}

/// A store with zones, to which others add some where the user says so.
fn zones(zones: &[&str]) -> Value {
    json!({"capacity": 5, "location": "westus", "zones": zones})
}

impl World {
    /// Somebody adds a zone.
    fn add_zone(&self, zone: &str) {
        let mut store = self.azure.get(STORE).unwrap();
        store["zones"].as_array_mut().unwrap().push(json!(zone));
        self.azure.set(STORE, store);
    }

    fn zones_in_azure(&self) -> Value {
        self.azure.get(STORE).unwrap()["zones"].clone()
    }

    fn share_zones(&self, store: &ObjectKey) {
        self.cluster
            .annotate(store, names::KEEP_UNKNOWN, Some("zones"));
    }

    /// How often it was told that nobody knows whose something is.
    fn told_unsure(&self) -> usize {
        let events = self.cluster.take_events();
        let told = events.iter().filter(|(reason, text)| {
            reason == names::event::OWNED && text.contains("is not remembered")
        });
        told.count()
    }

    /// Passes until nothing is left to do, and that is nothing.
    async fn rests(&self, store: &ObjectKey) {
        for _ in 0..2 {
            assert_eq!(self.pass(store).await, Requeue::Sync);
        }
        self.forget();
        let object = self.cluster.annotation(store, names::BASELINE);
        assert_eq!(self.pass(store).await, Requeue::Sync);
        assert_eq!(self.azure.take_bodies(), [Value::Null; 0]);
        assert_eq!(object, self.cluster.annotation(store, names::BASELINE));
    }
}

/// A list is shared from one day on, beside one that was before. What is ours is noted then, though nothing is sent.
#[tokio::test]
async fn what_is_dropped_from_a_list_that_was_shared_the_day_before_goes() {
    let world = World::with_group().await;
    let mut spec = zones(&["1", "2"]);
    spec["shelves"] = shelves(&["a".to_owned()])["shelves"].clone();
    let store = world.store(spec.clone());
    assert_eq!(world.pass(&store).await, Requeue::Sync);
    world.rests(&store).await;
    world.share_zones(&store);
    world.rests(&store).await;
    world.add_zone("9");
    world.rests(&store).await;
    spec["zones"] = json!(["1"]);
    world.store(spec);
    assert_eq!(world.pass(&store).await, Requeue::Sync);
    assert_eq!(world.zones_in_azure(), json!(["1", "9"]));
    world.rests(&store).await;
    assert_eq!(world.told_unsure(), 0);
    assert_eq!(world.zones_in_azure(), json!(["1", "9"]));
}

/// Of a list that was never known item by item nothing is removed on a guess, and that is told.
#[tokio::test]
async fn what_may_have_been_ours_stays_and_is_told_once() {
    let world = World::with_group().await;
    let store = world.store(zones(&["1", "2"]));
    assert_eq!(world.pass(&store).await, Requeue::Sync);
    world.rests(&store).await;
    // In one apply.
    world.share_zones(&store);
    world.store(zones(&["1"]));
    world.share_zones(&store);
    assert_eq!(world.pass(&store).await, Requeue::Sync);
    assert_eq!(world.zones_in_azure(), json!(["1", "2"]));
    assert_eq!(world.told_unsure(), 1);
    world.rests(&store).await;
    assert_eq!(world.told_unsure(), 0);
    // What the message says.
    for named in [&["1", "2"][..], &["1"]] {
        world.store(zones(named));
        world.share_zones(&store);
        assert_eq!(world.pass(&store).await, Requeue::Sync);
        world.rests(&store).await;
    }
    assert_eq!(world.zones_in_azure(), json!(["1"]));
    assert_eq!(world.told_unsure(), 0);
}

/// An edit while the first PUT is still on its way.
#[tokio::test]
async fn what_is_dropped_during_the_first_put_goes() {
    const OPERATION: &str =
        "/subscriptions/s-1/providers/Microsoft.Toys/locations/westus/operations/1";
    let world = World::with_group().await;
    let store = world.store(zones(&["1", "2"]));
    world.share_zones(&store);
    let headers = [("azure-asyncoperation", OPERATION), ("retry-after", "15")];
    let put = response(201, &headers, Some(json!({"id": STORE})));
    world.azure.script(Method::Put, STORE, put);
    assert_eq!(world.pass(&store).await, seconds(15));
    world.store(zones(&["1"]));
    world.share_zones(&store);
    let done = response(200, &[], Some(json!({"status": "Succeeded"})));
    world.azure.script(Method::Get, OPERATION, done);
    let made = json!({"id": STORE, "location": "westus", "zones": ["1", "2", "9"], "properties": {"capacity": 5, "provisioningState": "Succeeded"}});
    world.azure.set(STORE, made);
    while world.pass(&store).await != Requeue::Sync {
        world.clock.advance(20);
    }
    world.rests(&store).await;
    assert_eq!(world.zones_in_azure(), json!(["1", "9"]));
    assert_eq!(world.told_unsure(), 0);
}

/// Azure gives names to shelves that have none, by and by.
fn give_names(world: &World) {
    let mut store = world.azure.get(STORE).unwrap();
    let shelves = store["properties"]["interior"]["shelves"].as_array_mut();
    for shelf in shelves.into_iter().flatten() {
        let width = shelf["properties"]["width"].as_i64().unwrap();
        let name = shelf["name"].as_str().map(str::to_owned);
        shelf["name"] = json!(name.unwrap_or_else(|| format!("x{width}")));
    }
    world.azure.set(STORE, store);
}

/// What the spec drops goes, and what others added stays, whether or not it names its items, and when it begins or ends to do so.
#[tokio::test]
async fn what_is_dropped_goes_however_its_items_are_named() {
    let world = World::with_group().await;
    // Widths, and whether the spec names the shelves.
    let steps: [(&[i64], bool); 7] = [
        (&[1, 2, 3, 4], false),
        (&[1, 2, 3, 4], true),
        (&[1, 2, 3], false),
        (&[1, 2], true),
        (&[2], false),
        (&[], false),
        (&[5], false),
    ];
    for (at, (widths, is_named)) in steps.into_iter().enumerate() {
        let shelf = |width: &i64| match is_named {
            true => json!({"name": format!("x{width}"), "width": width}),
            false => json!({"width": width}),
        };
        let shelves: Vec<Value> = widths.iter().map(shelf).collect();
        let store = world.store(json!({"capacity": 5, "shelves": shelves}));
        for _ in 0..4 {
            match world.pass(&store).await {
                Requeue::After(wait) => world.clock.advance(wait.as_secs() as i64 + 1),
                requeue => assert_eq!(requeue, Requeue::Sync),
            }
            give_names(&world);
        }
        if at == 0 {
            add(&world, "theirs");
        }
        let mut expected: Vec<String> = widths.iter().map(|width| format!("x{width}")).collect();
        expected.insert(0, "theirs".to_owned());
        let mut found = in_azure(&world);
        found.sort();
        assert_eq!(found, expected, "{at}");
        world.forget();
        assert_eq!(world.pass(&store).await, Requeue::Sync, "{at}");
        assert_eq!(world.azure.take_bodies(), [Value::Null; 0], "{at}");
        assert_eq!(world.told_unsure(), 0, "{at}");
    }
}

/// What has no name in Azure either is no resource of its own: it goes after the same time, and is not waited for without an end.
#[tokio::test]
async fn what_is_dropped_goes_where_nothing_is_named() {
    let world = World::with_group().await;
    for widths in [vec![1, 2, 3], vec![1, 3], Vec::new()] {
        let shelves: Vec<Value> = widths.iter().map(|width| json!({"width": width})).collect();
        let store = world.store(json!({"capacity": 5, "shelves": shelves}));
        settle(&world, &store).await;
        let store = world.azure.get(STORE).unwrap();
        let shelves = store["properties"]["interior"]["shelves"].as_array();
        let found = shelves.into_iter().flatten();
        let found: Vec<i64> = found
            .map(|shelf| shelf["properties"]["width"].as_i64().unwrap())
            .collect();
        assert_eq!(found, widths);
    }
}
