//! Drift that comes back is put right with pauses.

use armature_azure::Method;

use super::*;

/// Somebody opens it again; Azure says when and who.
fn open(world: &World, capacity: i64, at: Option<&str>) {
    let mut there = world.azure.get(STORE).expect("a store");
    there["properties"]["capacity"] = json!(capacity);
    if let Some(at) = at {
        there["systemData"] = json!({"lastModifiedBy": "alice@example.com", "lastModifiedByType": "User", "lastModifiedAt": at});
    }
    world.azure.set(STORE, there);
}

/// PUTs until now.
fn puts(world: &World) -> usize {
    world.azure.take_bodies().len()
}

#[tokio::test]
async fn what_somebody_changes_again_and_again_is_put_right_with_pauses() {
    let (world, store) = World::with_store().await;
    let mut pauses = Vec::new();
    for round in 0..10 {
        open(&world, 9, Some(&format!("2026-01-01T00:00:{round:02}Z")));
        let mut waited = 0;
        while puts(&world) == 0 {
            let Requeue::After(wait) = world.pass(&store).await else {
                break;
            };
            let wait = i64::try_from(wait.as_secs()).unwrap();
            let told = world.cluster.message(&store);
            assert_eq!(world.ready(&store), "False/Warning/Drifted");
            assert!(told.contains("desired 5, Azure has 9"), "{told}");
            assert!(told.contains("alice@example.com (User)"), "{told}");
            assert_eq!(puts(&world), 0);
            waited += wait;
            world.clock.advance(wait);
        }
        pauses.push(waited / 60);
        assert_eq!(world.ready(&store), "True//Succeeded");
        world.azure.take_bodies();
        world.clock.advance(1);
    }
    // What the resource was like after our own write is not told here, so that at last it is once a day.
    assert_eq!(pauses, [0, 0, 1, 3, 7, 15, 31, 59, 1439, 1439]);
}

#[tokio::test]
async fn another_path_and_an_edit_do_not_wait() {
    let (world, store) = World::with_store().await;
    for capacity in [9, 8] {
        open(&world, capacity, Some("2026-01-01T00:00:00Z"));
        world.pass(&store).await;
        world.clock.advance(1);
    }
    puts(&world);
    // The same path waits, another one takes it along.
    let mut there = world.azure.get(STORE).expect("a store");
    there["properties"]["capacity"] = json!(7);
    world.azure.set(STORE, there.clone());
    assert!(matches!(world.pass(&store).await, Requeue::After(_)));
    there["location"] = json!("elsewhere");
    world.azure.set(STORE, there);
    world.pass(&store).await;
    world.clock.advance(1);
    // An edit is sent at once, and what comes back after it is put right at once.
    open(&world, 9, Some("2026-01-01T00:00:03Z"));
    world.store(json!({"capacity": 6}));
    puts(&world);
    assert_eq!(world.pass(&store).await, Requeue::Sync);
    assert_eq!(puts(&world), 1);
    open(&world, 9, Some("2026-01-01T00:00:04Z"));
    assert_eq!(world.pass(&store).await, Requeue::Sync);
    assert_eq!(puts(&world), 1);
}

/// For metrics: how many values wait to be put right again.
#[tokio::test]
async fn what_waits_is_counted() {
    let (world, store) = World::with_store().await;
    let reconciler = world.reconciler();
    let counted = async || {
        reconciler.reconcile(&store).await;
        let counts = reconciler.left_alone.contested().into_iter();
        let counts = counts.map(|(kind, count)| (kind.0.kind, count));
        counts.collect::<Vec<_>>()
    };
    let mut found = Vec::new();
    for round in 0..3 {
        open(&world, 9, Some(&format!("2026-01-01T00:00:{round:02}Z")));
        found.push(counted().await);
        world.clock.advance(1);
    }
    assert_eq!(found, [vec![], vec![("Store", 1)], vec![("Store", 1)]]);
    world.clock.advance(60);
    assert_eq!(counted().await, [], "put right");
    open(&world, 9, Some("2026-01-01T00:01:00Z"));
    assert_eq!(counted().await.len(), 1);
    world.cluster.forget(&store);
    assert_eq!(counted().await, []);
}

/// Where the resource does not say who wrote it, the Graph may.
#[tokio::test]
async fn who_wrote_is_told_by_the_graph_where_the_resource_does_not_say() {
    let (world, store) = World::with_store().await;
    let reconciler = world.reconciler();
    for round in 0..2 {
        open(&world, 9, None);
        let who = format!("bob (User, Azure Portal) at {round}");
        reconciler
            .written
            .by_another(&store, who, world.clock.now());
        reconciler.reconcile(&store).await;
        world.clock.advance(1);
    }
    let told = world.cluster.message(&store);
    assert!(told.contains("bob (User, Azure Portal) at 1"), "{told}");
    open(&world, 9, Some("2026-01-01T00:00:00Z"));
    reconciler.reconcile(&store).await;
    let told = world.cluster.message(&store);
    assert!(told.contains("alice@example.com (User)"), "{told}");
}

/// How wide the shelf of a name is.
fn width(name: &str) -> i64 {
    i64::from(name.as_bytes()[0] - b'a') + 1
}

fn shelves(names: &[&str], are_named: bool) -> Value {
    let shelf = |name: &&str| match are_named {
        true => json!({"name": name, "width": width(name)}),
        false => json!({"width": width(name)}),
    };
    json!({"capacity": 5, "shelves": names.iter().map(shelf).collect::<Vec<_>>()})
}

/// What somebody does again and again: sets a value that the spec names, the same where no item is left, sets one that it has
/// taken out, or deletes an item.
#[derive(Clone, Copy, Debug)]
enum Set {
    Named,
    NamedAndLast,
    TakenOut,
    Missing,
}

impl Set {
    /// The items of the spec, without the one that is dropped.
    fn items(self) -> &'static [&'static str] {
        match self {
            Self::NamedAndLast => &[],
            Self::Named | Self::TakenOut => &["a"],
            Self::Missing => &["a", "c"],
        }
    }

    /// The same while somebody has done it.
    fn items_left(self) -> &'static [&'static str] {
        match self {
            Self::Missing => &["a"],
            _ => self.items(),
        }
    }

    fn path(self) -> &'static str {
        match self {
            Self::Named | Self::NamedAndLast => "/properties/capacity",
            Self::TakenOut => "/properties/tier",
            Self::Missing => "/properties/interior/shelves/1/properties",
        }
    }

    fn value(self) -> Option<Value> {
        match self {
            Self::Named | Self::NamedAndLast => Some(json!(9)),
            Self::TakenOut => Some(json!("Cold")),
            Self::Missing => None,
        }
    }

    /// Of the spec.
    fn own(self) -> Option<Value> {
        match self {
            Self::Named | Self::NamedAndLast => Some(json!(5)),
            Self::TakenOut => None,
            Self::Missing => Some(json!({"width": 3})),
        }
    }

    fn change(self, world: &World, second: usize) {
        let mut there = world.azure.get(STORE).expect("a store");
        let properties = &mut there["properties"];
        match self {
            Self::Named | Self::NamedAndLast => properties["capacity"] = json!(9),
            Self::TakenOut => properties["tier"] = json!("Cold"),
            Self::Missing => {
                let shelves = properties["interior"]["shelves"].as_array_mut();
                shelves
                    .expect("shelves")
                    .retain(|shelf| shelf["properties"]["width"] != 3);
            }
        }
        let at = format!("2026-01-01T00:00:{second:02}Z");
        there["systemData"] = json!({"lastModifiedBy": "alice@example.com", "lastModifiedByType": "User", "lastModifiedAt": at});
        world.azure.set(STORE, there);
    }

    /// Names of the shelves that were sent last, and the value.
    fn sent(self, world: &World) -> Option<(Vec<String>, Option<Value>)> {
        let body = world.azure.take_bodies().pop()?;
        let shelves = body.pointer("/properties/interior/shelves");
        let shelves = shelves.and_then(Value::as_array).into_iter().flatten();
        let name = |shelf: &Value| {
            let width = shelf["properties"]["width"].as_i64()?;
            let known = ["a", "b", "c"]
                .into_iter()
                .find(|name| self::width(name) == width);
            Some(known?.to_owned())
        };
        let names = shelves.filter_map(name).collect();
        Some((names, body.pointer(self.path()).cloned()))
    }
}

/// An item goes when its time has come, and what waits for a pause beside it goes on waiting; also over an operation, and where
/// the answer to the PUT cannot be read at once.
#[tokio::test]
async fn the_removal_of_an_item_ends_no_pause() {
    for set in [Set::Named, Set::NamedAndLast, Set::TakenOut, Set::Missing] {
        for takes_long in [false, true] {
            for fails in [false, true] {
                remove_beside(set, takes_long, fails, true).await;
            }
        }
    }
}

/// The same where nothing tells the items apart: they move to other places, which is no removal, and no drift either.
#[tokio::test]
async fn the_removal_of_an_item_without_a_name_ends_no_pause() {
    for set in [Set::Named, Set::NamedAndLast, Set::TakenOut, Set::Missing] {
        for takes_long in [false, true] {
            for fails in [false, true] {
                remove_beside(set, takes_long, fails, false).await;
            }
        }
    }
}

async fn remove_beside(set: Set, takes_long: bool, fails: bool, are_named: bool) {
    const OPERATION: &str = "/subscriptions/s-1/providers/P/locations/l/operations/1";
    let case =
        format!("{set:?}, takes long {takes_long}, the GET fails {fails}, named {are_named}");
    let (world, store) = World::with_store().await;
    let shelves = |names: &[&str]| shelves(names, are_named);
    let mut all = shelves(&[&["b"], set.items()].concat());
    all["tier"] = json!("Hot");
    world.store(all);
    world.pass(&store).await;
    let mut dropped = shelves(set.items());
    if !matches!(set, Set::TakenOut) {
        dropped["tier"] = json!("Hot");
    }
    world.store(dropped);
    world.pass(&store).await;
    for (round, wait) in [(0, 1), (1, 60), (2, 58)] {
        set.change(&world, round);
        world.pass(&store).await;
        world.clock.advance(wait);
        world.pass(&store).await;
    }
    set.change(&world, 5);
    puts(&world);
    world.pass(&store).await;
    assert_eq!(set.sent(&world), None, "it waits: {case}");
    assert_eq!(world.ready(&store), "False/Warning/Drifted");
    world.clock.advance(1);
    world.cluster.take_events();
    if takes_long {
        let accepted = [("azure-asyncoperation", OPERATION), ("retry-after", "15")];
        let answer = response(202, &accepted, None);
        world.azure.script(Method::Put, STORE, answer);
    } else if fails {
        let now = response(200, &[], world.azure.get(STORE));
        world.azure.script(Method::Get, STORE, now);
        world.azure.script(Method::Get, STORE, error(503, "Busy"));
    }
    world.pass(&store).await;
    let body = |names: &[&str], value: Option<Value>| {
        let names = names.iter().map(|name| (*name).to_owned());
        Some((names.collect::<Vec<_>>(), value))
    };
    let repeated = body(set.items_left(), set.value());
    assert_eq!(set.sent(&world), repeated, "{case}");
    if takes_long {
        let mut made = world.azure.get(STORE).expect("a store");
        let left = set.items_left().iter();
        let left = left.map(|name| {
            let mut shelf = json!({"properties": {"width": width(name)}});
            if are_named {
                shelf["name"] = json!(name);
            }
            shelf
        });
        made["properties"]["interior"]["shelves"] = left.collect();
        world.azure.set(STORE, made);
        world.clock.advance(15);
        let done = response(200, &[], Some(json!({"status": "Succeeded"})));
        world.azure.script(Method::Get, OPERATION, done);
        if fails {
            world.azure.script(Method::Get, STORE, error(503, "Busy"));
        }
        world.pass(&store).await;
    }
    for _ in 0..2 {
        assert_eq!(set.sent(&world), None, "{case}");
        world.pass(&store).await;
    }
    assert_eq!(set.sent(&world), None, "{case}");
    assert_eq!(world.ready(&store), "False/Warning/Drifted", "{case}");
    let events = world.cluster.take_events();
    let is_kept = |(reason, _): &(String, String)| reason == names::event::KEPT;
    assert!(!events.iter().any(is_kept), "{case}: {events:?}");
    world.clock.advance(3_600);
    world.pass(&store).await;
    let whole = body(set.items(), set.own());
    assert_eq!(set.sent(&world), whole, "{case}");
    assert_eq!(world.ready(&store), "True//Succeeded", "{case}");
}

/// Of more values than a record has room for nothing is repeated: the item stays for as long as they wait, and that is told.
#[tokio::test]
async fn an_item_waits_for_a_pause_that_its_removal_would_end() {
    let (world, store) = World::with_store().await;
    let shelf = |at: i64| json!({"name": format!("s{at}"), "width": at});
    let spec = |count: i64| {
        let shelves: Vec<Value> = (0..count).map(shelf).collect();
        json!({"capacity": 5, "shelves": shelves})
    };
    let shelves = |body: &Value| {
        let shelves = body.pointer("/properties/interior/shelves");
        shelves.and_then(Value::as_array).map_or(0, Vec::len)
    };
    let change = || {
        let mut there = world.azure.get(STORE).expect("a store");
        let shelves = there["properties"]["interior"]["shelves"].as_array_mut();
        shelves
            .expect("shelves")
            .retain(|shelf| shelf["name"] == "s70");
        world.azure.set(STORE, there);
    };
    for count in [71, 70] {
        world.store(spec(count));
        world.pass(&store).await;
    }
    for wait in [1, 60, 58] {
        change();
        world.pass(&store).await;
        world.clock.advance(wait);
        world.pass(&store).await;
    }
    change();
    world.pass(&store).await;
    world.azure.take_bodies();
    for _ in 0..3 {
        world.clock.advance(1);
        world.pass(&store).await;
        assert_eq!(world.azure.take_bodies(), [Value::Null; 0]);
        let told = world.message(&store);
        assert!(
            told.contains("cannot repeat all that others changed"),
            "{told}"
        );
    }
    world.clock.advance(3_600);
    world.pass(&store).await;
    let sent: Vec<usize> = world.azure.take_bodies().iter().map(shelves).collect();
    assert_eq!(sent, [70]);
    assert_eq!(world.ready(&store), "True//Succeeded");
    assert_eq!(shelves(&world.azure.get(STORE).expect("a store")), 70);
}
