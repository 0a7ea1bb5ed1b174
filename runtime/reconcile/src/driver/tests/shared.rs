//! Lists and maps to which others add members, through whole passes.

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
