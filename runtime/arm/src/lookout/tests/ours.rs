//! Changes that are our own writes, and those that only look like them.

use armature_azure::graph::Change;
use armature_reconcile::written::Written;

use super::super::hint::is_ours;
use super::*;

const PRINCIPAL: &str = "11111111-0000-0000-0000-000000000001";

/// A network in each of the groups.
fn network(number: usize) -> Object {
    let mut network = object(&kinds::STORE, number);
    let id = format!("{}/providers/Microsoft.Test/stores/net", id(number));
    let annotations = network.metadata.annotations.get_or_insert_default();
    annotations.insert(names::RESOURCE_ID.to_owned(), id);
    network
}

fn correlation(object: &Object) -> String {
    format!("put-{}-{}", object.kind.0.kind, object.key().name)
}

#[test]
fn a_change_is_ours_by_its_correlation_its_actor_and_its_moment() {
    let at = |seconds| Timestamp::UNIX_EPOCH + SignedDuration::from_secs(seconds);
    let written = Written::default();
    written.sent(&key(0), "C-1".to_owned(), at(100));
    let unread = written.of(&key(0));
    written.read(&key(0), at(110), at(110));
    let read = written.of(&key(0));
    let both = ["app".to_owned(), PRINCIPAL.to_owned()];
    let (put, names) = (read.as_ref(), both.as_slice());
    for (case, put, names, (correlation, actor, seconds), expected) in [
        ("ours", put, names, (Some("c-1"), Some("APP"), 101), true),
        (
            "the principal",
            put,
            names,
            (Some("c-1"), Some(PRINCIPAL), 101),
            true,
        ),
        (
            "as late as clocks differ",
            put,
            names,
            (Some("c-1"), Some("app"), 115),
            true,
        ),
        (
            "after the read",
            put,
            names,
            (Some("c-1"), Some("app"), 116),
            false,
        ),
        (
            "another request",
            put,
            names,
            (Some("c-2"), Some("app"), 101),
            false,
        ),
        ("of no request", put, names, (None, Some("app"), 101), false),
        (
            "a policy's deployment",
            put,
            names,
            (Some("c-1"), Some("policy"), 101),
            false,
        ),
        (
            "nobody is named",
            put,
            names,
            (Some("c-1"), None, 101),
            false,
        ),
        (
            "who we are is not known",
            put,
            &[][..],
            (Some("c-1"), Some("app"), 101),
            false,
        ),
        (
            "not read since",
            unread.as_ref(),
            names,
            (Some("c-1"), Some("app"), 101),
            false,
        ),
        (
            "nothing was sent",
            None,
            names,
            (Some("c-1"), Some("app"), 101),
            false,
        ),
    ] {
        let change = Change {
            id: "note".to_owned(),
            target: id(0),
            at: at(seconds),
            correlation: correlation.map(str::to_owned),
            actor: actor.map(str::to_owned),
            actor_type: None,
            client: None,
        };
        assert_eq!(is_ours(&change, put, names), expected, "{case}");
    }
}

/// 1,000 groups with a network each, written within a minute: 2,000 changes, each a second after its pass began.
async fn reads_after_writes(names: &[&str]) -> usize {
    const GROUPS: usize = 1000;
    let world = World::new(GROUPS);
    *world.names.lock().unwrap() = names.iter().map(|name| (*name).to_owned()).collect();
    let networks = (0..GROUPS).map(|number| Arc::new(network(number)));
    world.objects.lock().unwrap().extend(networks);
    let objects = world.objects.lock().unwrap().clone();
    let mut rounds = world.rounds(DAY);
    let now = world.clock.now();
    let before = |seconds| now - SignedDuration::from_secs(seconds);
    let mut changes = BTreeMap::from([("resources", vec![]), ("resourcecontainers", vec![])]);
    for (number, object) in objects.iter().enumerate() {
        let key = object.key();
        let pass = LatestPass::Well(Duration::from_secs(30));
        world.passes.lock().unwrap().insert(key.clone(), pass);
        world.written.sent(&key, correlation(object), before(28));
        world.written.read(&key, before(27), before(27));
        let table = match number < GROUPS {
            true => "resourcecontainers",
            false => "resources",
        };
        let target = object.metadata.annotations.as_ref().unwrap()[names::RESOURCE_ID].clone();
        changes.get_mut(table).unwrap().push(json!({
            "id": format!("change-{number}"),
            "target": target,
            "at": before(29).to_string(),
            "correlation": correlation(object),
            "actor": PRINCIPAL,
        }));
    }
    // What it has, and then what changed, of one table after the other.
    for table in ["resources", "resourcecontainers"] {
        let shown = changes[table]
            .iter()
            .map(|row| json!({"id": row["target"]}));
        world.answer(shown.collect());
    }
    for table in ["resources", "resourcecontainers"] {
        world.answer(json!(changes[table]));
    }
    rounds.round().await;
    let hints = rounds.lookout.figures().hints;
    let ours = hints.get(&Verdict::Ours).copied().unwrap_or_default();
    let read = world.read().len();
    assert_eq!(read + usize::try_from(ours).unwrap(), 2 * GROUPS);
    read
}

#[tokio::test]
async fn our_own_writes_cost_no_reads() {
    assert_eq!(reads_after_writes(&["app", PRINCIPAL]).await, 0);
    // Where Azure does not tell, or it is not known, who has written, each costs one.
    assert_eq!(reads_after_writes(&[]).await, 2000);
}

/// What others do along with our PUT, or after it, is read.
#[tokio::test]
async fn what_others_change_beside_our_own_writes_is_read() {
    let world = World::new(50);
    world.names.lock().unwrap().push(PRINCIPAL.to_owned());
    let mut rounds = world.rounds(DAY);
    let now = world.clock.now();
    let before = |seconds| now - SignedDuration::from_secs(seconds);
    let change = |number, seconds, correlation: &str, actor: &str| {
        let mut row = world.change(&format!("{correlation}-{actor}-{number}"), number, seconds);
        row["correlation"] = json!(correlation);
        row["actor"] = json!(actor);
        row
    };
    for number in 0..6 {
        world.passed(number, LatestPass::Well(Duration::from_secs(40)));
        world
            .written
            .sent(&key(number), format!("put-{number}"), before(38));
        world.written.read(&key(number), before(37), before(37));
    }
    world.answer(world.all());
    world.answer(json!([
        change(0, 38, "put-0", PRINCIPAL),
        // A policy's remediation, in its own deployment and in ours.
        change(1, 38, "put-1", PRINCIPAL),
        change(1, 30, "remediation", "policy"),
        change(2, 38, "put-2", "policy"),
        // The service went on after we had looked.
        change(3, 20, "put-3", PRINCIPAL),
        // The correlation id of another object's PUT: a child that was written changes its parent.
        change(4, 38, "put-5", PRINCIPAL),
        change(5, 38, "put-5", PRINCIPAL),
    ]));
    rounds.round().await;
    assert_eq!(world.read(), ["g-1", "g-2", "g-3", "g-4"]);
    let hints = rounds.lookout.figures().hints;
    assert_eq!(hints, [(Verdict::Read, 4), (Verdict::Ours, 2)].into());
    // Who it was is kept for the message of drift that comes back: the latest that is not ours.
    let another = |number| world.written.another(&key(number));
    assert!(another(1).is_some_and(|who| who.starts_with("policy at ")));
    assert_eq!(another(0), None);
}
