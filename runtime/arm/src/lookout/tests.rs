//! Rounds of the lookout against a Graph that answers from a script.

mod ours;

use std::collections::{BTreeSet, HashMap, VecDeque};
use std::sync::Mutex;

use armature_azure::{CredentialKey, Request, Response, TransportError};
use armature_reconcile::annotations::{Annotations, CREDENTIAL};
use armature_reconcile::testing::ManualClock;
use armature_shapes::kind::KindInfo;
use armature_shapes::names;
use armature_shapes::resource::{Kind, Object};
use armature_shapes::testing::kinds;
use async_trait::async_trait;
use jiff::SignedDuration;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use serde_json::value::to_raw_value;
use serde_json::{Value, json};

use super::roster::may_rest;
use super::*;
use crate::testing::{error, response};

const HOUR: Duration = Duration::from_secs(3600);

/// Resource groups `g-0`, `g-1`, … of subscription `s-1`.
fn id(number: usize) -> String {
    format!("/subscriptions/s-1/resourceGroups/g-{number}")
}

fn key(number: usize) -> ObjectKey {
    object(&kinds::GROUP, number).key()
}

fn object(kind: &'static KindInfo, number: usize) -> Object {
    Object {
        kind: Kind(kind),
        metadata: ObjectMeta {
            name: Some(format!("g-{number}")),
            namespace: Some("default".to_owned()),
            annotations: Some([(names::RESOURCE_ID.to_owned(), id(number))].into()),
            finalizers: Some(vec![names::FINALIZER.to_owned()]),
            ..ObjectMeta::default()
        },
        spec: to_raw_value(&json!({"location": "westus"})).ok(),
        status: None,
    }
}

/// Objects, the queue and the Graph, in memory.
struct World {
    objects: Mutex<Vec<Arc<Object>>>,
    annotations: Mutex<Annotations>,
    credential: Mutex<Option<bool>>,
    passes: Mutex<HashMap<ObjectKey, LatestPass>>,
    written: Arc<Written>,
    names: Mutex<Vec<String>>,
    read: Mutex<Vec<String>>,
    script: Mutex<VecDeque<Response>>,
    asked: Mutex<Vec<Value>>,
    clock: ManualClock,
}

impl World {
    fn new(objects: usize) -> Arc<Self> {
        let clock = ManualClock::default();
        clock.advance(1_000_000);
        let objects = (0..objects).map(|number| Arc::new(object(&kinds::GROUP, number)));
        Arc::new(Self {
            objects: Mutex::new(objects.collect()),
            annotations: Mutex::default(),
            credential: Mutex::new(Some(false)),
            passes: Mutex::default(),
            written: Arc::default(),
            names: Mutex::default(),
            read: Mutex::default(),
            script: Mutex::default(),
            asked: Mutex::default(),
            clock,
        })
    }

    fn rounds(self: &Arc<Self>, rest: Option<Duration>) -> Rounds {
        Rounds::new(Lookout::new(Parts {
            arm: self.clone(),
            budget: Arc::default(),
            inventory: self.clone(),
            readers: self.clone(),
            written: self.written.clone(),
            clock: self.clone(),
            terms: Terms {
                sync: HOUR,
                rest,
                shortest: Duration::from_secs(100),
            },
        }))
    }

    /// The next answer of the Graph.
    fn answer(&self, rows: Value) {
        self.page(rows, None);
    }

    fn page(&self, rows: Value, next: Option<&str>) {
        let mut body = json!({"data": rows, "resultTruncated": "false"});
        if let Some(next) = next {
            body["$skipToken"] = json!(next);
        }
        self.script
            .lock()
            .unwrap()
            .push_back(response(200, &[], Some(body)));
    }

    fn refuse(&self, status: u16) {
        self.script
            .lock()
            .unwrap()
            .push_back(error(status, "Refused"));
    }

    /// Everything that is there, as the Graph shows it.
    fn all(&self) -> Value {
        let count = self.objects.lock().unwrap().len();
        let ids = (0..count).map(|number| json!({"id": id(number).to_uppercase()}));
        Value::Array(ids.collect())
    }

    fn change(&self, name: &str, number: usize, seconds_ago: i64) -> Value {
        let at = self.clock.now() - SignedDuration::from_secs(seconds_ago);
        json!({"id": name, "target": id(number).to_lowercase(), "at": at.to_string()})
    }

    /// What was asked since this was last called, by the first word of the query.
    fn asked(&self) -> Vec<String> {
        let asked = std::mem::take(&mut *self.asked.lock().unwrap());
        let word = |body: &Value| {
            let query = body["query"].as_str().unwrap();
            query.split(' ').next().unwrap().to_owned()
        };
        asked.iter().map(word).collect()
    }

    /// Names of objects that were to be read since this was last called.
    fn read(&self) -> Vec<String> {
        std::mem::take(&mut *self.read.lock().unwrap())
    }

    fn passed(&self, number: usize, latest: LatestPass) {
        self.passes.lock().unwrap().insert(key(number), latest);
    }
}

impl Clock for World {
    fn now(&self) -> Timestamp {
        self.clock.now()
    }
}

impl Inventory for World {
    fn is_complete(&self) -> bool {
        true
    }

    fn all(&self) -> Box<dyn Iterator<Item = Arc<Object>> + '_> {
        let objects = self.objects.lock().unwrap().clone();
        Box::new(objects.into_iter())
    }

    fn get(&self, key: &ObjectKey) -> Option<Arc<Object>> {
        let objects = self.objects.lock().unwrap();
        objects.iter().find(|object| object.key() == *key).cloned()
    }

    fn namespace(&self, _: &str) -> Annotations {
        self.annotations.lock().unwrap().clone()
    }

    fn has_credential(&self, _: &str) -> Option<bool> {
        *self.credential.lock().unwrap()
    }
}

impl Readers for World {
    fn latest_pass(&self, key: &ObjectKey) -> LatestPass {
        let passes = self.passes.lock().unwrap();
        passes.get(key).copied().unwrap_or(LatestPass::NotWell)
    }

    fn read(&self, key: ObjectKey) {
        self.read.lock().unwrap().push(key.name);
    }
}

#[async_trait]
impl Transport for World {
    async fn send(&self, request: Request) -> Result<Response, TransportError> {
        self.asked.lock().unwrap().push(request.body.unwrap());
        let scripted = self.script.lock().unwrap().pop_front();
        Ok(scripted.unwrap_or_else(|| response(200, &[], Some(json!({"data": []})))))
    }

    async fn subscription(&self, _: &CredentialKey) -> Result<String, TransportError> {
        Ok("s-1".to_owned())
    }

    async fn names(&self, _: &CredentialKey) -> Vec<String> {
        self.names.lock().unwrap().clone()
    }
}

/// Longest time without a full read.
const DAY: Option<Duration> = Some(Duration::from_secs(24 * 3600));

const FRESH: Duration = Duration::from_secs(1800);

#[tokio::test]
async fn what_the_graph_shows_rests_and_its_changes_are_read_once() {
    let world = World::new(50);
    let mut rounds = world.rounds(DAY);
    let rest = rounds.lookout.rest();
    assert!(!rest.rests(&key(0), FRESH), "nothing is known yet");
    let mut shown = world.all();
    shown.as_array_mut().unwrap().pop();
    world.answer(shown);
    assert_eq!(rounds.round().await, Duration::from_secs(100));
    assert_eq!(
        world.asked(),
        ["resourcecontainers", "resourcecontainerchanges"]
    );
    assert!(rest.rests(&key(0), FRESH));
    assert!(
        !rest.rests(&key(0), Duration::from_secs(86_400)),
        "once a day"
    );
    assert!(!rest.rests(&key(49), FRESH), "it was not in the answer");
    assert_eq!(rounds.lookout.figures().covered, 49);

    world.clock.advance(200);
    world.answer(json!([
        world.change("c-1", 7, 30),
        world.change("c-2", 7, 20)
    ]));
    rounds.round().await;
    assert_eq!(world.asked(), ["resourcecontainerchanges"]);
    assert_eq!(world.read(), ["g-7"]);
    // The next question overlaps with this one, and brings the same notes again.
    world.clock.advance(200);
    world.answer(json!([
        world.change("c-1", 7, 230),
        world.change("c-2", 7, 220),
        // What is new is shown, too.
        world.change("c-3", 49, 10),
        // Of somebody else.
        world.change("c-4", 77, 10),
    ]));
    rounds.round().await;
    assert_eq!(world.read(), ["g-49"]);
    assert!(rest.rests(&key(49), FRESH));
    let figures = rounds.lookout.figures();
    assert_eq!((figures.looks, figures.requests), (3, [4, 0]));
    assert_eq!(figures.late, 0);
    // The question 200 s ago should have had it.
    world.clock.advance(200);
    world.answer(json!([world.change("c-5", 7, 590)]));
    rounds.round().await;
    let figures = rounds.lookout.figures();
    assert_eq!(figures.late, 1);
    assert_eq!(figures.hints.get(&Verdict::Read), Some(&3));
    assert_eq!(figures.principals.get(&Standing::Asks), Some(&1));
}

/// Where some changes are told of late, others may be told of too late to be heard: nothing rests for a day.
#[tokio::test]
async fn where_the_graph_is_late_more_is_read() {
    let world = World::new(50);
    let mut rounds = world.rounds(DAY);
    let rest = rounds.lookout.rest();
    world.answer(world.all());
    rounds.round().await;
    let (few, many) = (HOUR * 5, HOUR * 7);
    assert!(rest.rests(&key(0), many));
    world.clock.advance(200);
    world.answer(json!([world.change("c-1", 7, 590)]));
    rounds.round().await;
    assert_eq!(rounds.lookout.figures().late, 1);
    assert!(rest.rests(&key(0), few));
    assert!(!rest.rests(&key(0), many));
    // It counts for a day.
    world.clock.advance(25 * 3600);
    world.answer(world.all());
    rounds.round().await;
    assert!(rest.rests(&key(0), many));
}

#[tokio::test]
async fn our_own_writes_and_what_changes_all_the_time_cost_few_reads() {
    let world = World::new(50);
    let mut rounds = world.rounds(DAY);
    world.answer(world.all());
    world.passed(1, LatestPass::Well(Duration::from_secs(20)));
    world.passed(2, LatestPass::Unknown);
    world.answer(json!([world.change("a", 1, 90), world.change("b", 2, 40)]));
    rounds.round().await;
    assert_eq!(
        world.read(),
        [""; 0],
        "read since, and not looked at by wish"
    );
    for number in 0..6 {
        world.clock.advance(200);
        world.answer(json!([world.change(&format!("c-{number}"), 3, 1)]));
        rounds.round().await;
    }
    assert_eq!(world.read(), ["g-3"; 4]);
    assert!(
        !rounds.lookout.rest().rests(&key(3), FRESH),
        "it is read at its syncs instead"
    );
}

/// The first question reaches ten minutes back, to before the start.
#[tokio::test]
async fn after_a_start_nothing_is_read_twice() {
    let world = World::new(50);
    let mut rounds = world.rounds(DAY);
    world.answer(world.all());
    world.passed(1, LatestPass::Never);
    world.passed(2, LatestPass::Well(Duration::from_secs(10)));
    let changes = json!([
        world.change("a", 1, 5),
        world.change("b", 2, 20),
        world.change("c", 3, 5)
    ]);
    let now = world.clock.now().to_zoned(jiff::tz::TimeZone::UTC);
    let date = now.strftime("%a, %d %b %Y %H:%M:%S GMT").to_string();
    let answer = response(200, &[("date", &date)], Some(json!({"data": changes})));
    world.script.lock().unwrap().push_back(answer);
    rounds.round().await;
    assert_eq!(world.read(), ["g-3"]);
    let hints = rounds.lookout.figures().hints;
    let expected = [Verdict::Read, Verdict::ReadSince, Verdict::ReadSoon];
    assert_eq!(hints, expected.map(|verdict| (verdict, 1)).into());
    assert!(rounds.lookout.rest().rests(&key(1), FRESH));
}

#[tokio::test]
async fn where_nobody_may_ask_everything_is_read_and_it_is_tried_again_much_later() {
    let world = World::new(50);
    let mut rounds = world.rounds(DAY);
    world.answer(world.all());
    rounds.round().await;
    let rest = rounds.lookout.rest();
    assert!(rest.rests(&key(0), FRESH));
    world.clock.advance(200);
    world.refuse(403);
    rounds.round().await;
    assert!(!rest.rests(&key(0), FRESH));
    world.asked();
    for _ in 0..10 {
        world.clock.advance(1800);
        rounds.round().await;
    }
    assert_eq!(world.asked(), [""; 0]);
    let figures = rounds.lookout.figures();
    assert_eq!(figures.principals.get(&Standing::Refused), Some(&1));
    world.clock.advance(3 * 3600);
    world.answer(world.all());
    rounds.round().await;
    assert!(rest.rests(&key(0), FRESH));
}

#[tokio::test]
async fn without_answers_nothing_rests_and_the_next_answer_reaches_back() {
    let world = World::new(50);
    let mut rounds = world.rounds(DAY);
    world.answer(world.all());
    rounds.round().await;
    let first = world.clock.now();
    let rest = rounds.lookout.rest();
    world.clock.advance(200);
    world.refuse(500);
    rounds.round().await;
    assert!(rest.rests(&key(0), FRESH), "one answer may fail to come");
    world.clock.advance(200);
    world.refuse(500);
    rounds.round().await;
    world.clock.advance(300);
    assert!(!rest.rests(&key(0), FRESH));
    world.clock.advance(600);
    world.asked.lock().unwrap().clear();
    world.answer(json!([]));
    rounds.round().await;
    let query = world.asked.lock().unwrap()[0]["query"].to_string();
    let since = first - SignedDuration::from_mins(10);
    assert!(query.contains(&format!("datetime({since:.3})")), "{query}");
    assert!(rest.rests(&key(0), FRESH));
}

#[tokio::test]
async fn a_throttled_question_waits_as_long_as_azure_says() {
    let world = World::new(500);
    let mut rounds = world.rounds(DAY);
    let headers = [("retry-after", "250")];
    world
        .script
        .lock()
        .unwrap()
        .push_back(response(429, &headers, Some(json!({}))));
    rounds.round().await;
    assert_eq!(world.asked().len(), 1);
    world.answer(world.all());
    for (seconds, asked) in [(100, 0), (100, 0), (100, 2)] {
        world.clock.advance(seconds);
        rounds.round().await;
        assert_eq!(world.asked().len(), asked);
    }
}

#[tokio::test]
async fn pages_are_followed_and_what_is_past_them_makes_everything_be_read_once() {
    let world = World::new(50);
    let mut rounds = world.rounds(DAY);
    let all = world.all();
    let (one, two) = all.as_array().unwrap().split_at(20);
    world.page(json!(one), Some("20"));
    world.answer(json!(two));
    rounds.round().await;
    assert_eq!(
        world.asked.lock().unwrap()[1]["options"]["$skipToken"],
        "20"
    );
    let rest = rounds.lookout.rest();
    assert!(rest.rests(&key(0), FRESH) && rest.rests(&key(49), FRESH));
    world.asked();
    world.clock.advance(200);
    for _ in 0..11 {
        world.page(json!([]), Some("more"));
    }
    rounds.round().await;
    assert_eq!(world.asked().len(), 10, "and not one more");
    assert!(
        !rest.rests(&key(0), FRESH),
        "read before what was not heard of"
    );
    world.clock.advance(200);
    rounds.round().await;
    assert!(!rest.rests(&key(0), FRESH));
    assert!(rest.rests(&key(0), Duration::from_secs(100)), "read since");
}

#[tokio::test]
async fn a_long_answer_that_never_comes_is_asked_for_as_rarely_as_it_costs() {
    let world = World::new(50);
    let mut rounds = world.rounds(DAY);
    let mut requests = 0;
    for _ in 0..36 {
        // Nine pages, and then none.
        world.script.lock().unwrap().clear();
        for _ in 0..9 {
            world.page(json!([]), Some("more"));
        }
        world.refuse(500);
        rounds.round().await;
        requests += world.asked().len();
        world.clock.advance(100);
    }
    assert!(requests <= 10, "{requests} in an hour");
    assert!(!rounds.lookout.rest().rests(&key(0), FRESH));
}

#[tokio::test]
async fn few_objects_are_read_and_nothing_is_asked() {
    let world = World::new(4);
    let mut rounds = world.rounds(DAY);
    rounds.round().await;
    assert_eq!(world.asked(), [""; 0]);
    let figures = rounds.lookout.figures();
    assert_eq!(figures.principals.get(&Standing::TooFew), Some(&1));
}

#[tokio::test]
async fn where_a_sync_period_is_set_nothing_rests_and_changes_are_read_all_the_same() {
    let world = World::new(500);
    let mut rounds = world.rounds(None);
    world.answer(json!([world.change("a", 7, 10)]));
    rounds.round().await;
    assert_eq!(world.asked(), ["resourcecontainerchanges"]);
    assert_eq!(world.read(), ["g-7"]);
    assert!(!rounds.lookout.rest().rests(&key(0), FRESH));
}

#[tokio::test]
async fn objects_with_a_period_of_their_own_or_secrets_do_not_rest() {
    let world = World::new(50);
    let change = |number: usize, change: &dyn Fn(&mut Object)| {
        let mut changed = object(&kinds::GROUP, number);
        change(&mut changed);
        world.objects.lock().unwrap()[number] = Arc::new(changed);
    };
    change(1, &|object| {
        let annotations = object.metadata.annotations.get_or_insert_default();
        annotations.insert(names::SYNC_PERIOD.to_owned(), "10m".to_owned());
    });
    let exporting =
        |field: &str| json!({"operatorSpec": {field: {"key": {"name": "s", "key": "k"}}}});
    change(2, &|object| {
        object.spec = to_raw_value(&exporting("secrets")).ok()
    });
    change(3, &|object| {
        object.spec = to_raw_value(&exporting("configMaps")).ok()
    });
    let mut rounds = world.rounds(DAY);
    world.answer(world.all());
    rounds.round().await;
    let rest = rounds.lookout.rest();
    let resting: BTreeSet<usize> = (0..4)
        .filter(|number| rest.rests(&key(*number), FRESH))
        .collect();
    assert_eq!(resting, [0, 3].into());
    world
        .annotations
        .lock()
        .unwrap()
        .insert(names::SYNC_PERIOD.to_owned(), "10m".to_owned());
    world.clock.advance(200);
    rounds.round().await;
    let figures = rounds.lookout.figures();
    assert_eq!(figures.principals.get(&Standing::TooFew), Some(&1));
}

#[test]
fn what_is_sent_at_every_sync_or_exports_what_others_have_does_not_rest() {
    let store = |config_map: &str, always_put: Option<&str>| {
        let mut store = object(&kinds::STORE, 0);
        let exports =
            json!({"operatorSpec": {"configMaps": {config_map: {"name": "c", "key": "k"}}}});
        store.spec = to_raw_value(&exports).ok();
        if let Some(word) = always_put {
            let annotations = store.metadata.annotations.get_or_insert_default();
            annotations.insert(names::ALWAYS_PUT.to_owned(), word.to_owned());
        }
        store
    };
    for (config_map, always_put, expected) in [
        // Its own, and one that an exporter fills.
        ("endpoint", None, true),
        ("region", None, false),
        ("endpoint", Some("false"), true),
        ("endpoint", Some("true"), false),
    ] {
        let found = may_rest(&store(config_map, always_put));
        assert_eq!(found, expected, "{config_map} {always_put:?}");
    }
}

#[tokio::test]
async fn each_credential_asks_about_its_own_and_what_has_none_is_left_out() {
    let world = World::new(100);
    for (number, name) in (0..100).zip(["one", "one", "two", "a/b"].iter().cycle()) {
        let mut changed = object(&kinds::GROUP, number);
        let annotations = changed.metadata.annotations.get_or_insert_default();
        annotations.insert(names::CREDENTIAL_FROM.to_owned(), (*name).to_owned());
        world.objects.lock().unwrap()[number] = Arc::new(changed);
    }
    let groups = Roster::of(world.as_ref())
        .by_principal(world.as_ref())
        .await;
    let counts: Vec<usize> = groups.values().map(|group| group.entries.len()).collect();
    assert_eq!(counts, [50, 25]);
    // While it is not known whether a namespace has a credential, nobody asks for it.
    let world = World::new(100);
    *world.credential.lock().unwrap() = None;
    let groups = Roster::of(world.as_ref())
        .by_principal(world.as_ref())
        .await;
    assert!(groups.is_empty());
    // Nor with the operator's where the namespace forbids it.
    let world = World::new(100);
    let own = (CREDENTIAL.to_owned(), "own".to_owned());
    world.annotations.lock().unwrap().extend([own]);
    let groups = Roster::of(world.as_ref())
        .by_principal(world.as_ref())
        .await;
    assert!(groups.is_empty());
}
