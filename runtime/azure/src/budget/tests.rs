//! The budget against an ARM that counts for itself.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use armature_shapes::resource::Kind;
use armature_shapes::testing::kinds;
use proptest::prelude::*;
use serde_json::json;

use super::*;

fn response(status: u16, headers: &[(&str, &str)], body: Option<serde_json::Value>) -> Response {
    let owned = |(name, value): &(&str, &str)| ((*name).to_owned(), (*value).to_owned());
    Response {
        status,
        headers: headers.iter().map(owned).collect(),
        body,
    }
}

fn object(number: usize) -> ObjectKey {
    ObjectKey {
        kind: Kind(&kinds::GROUP),
        namespace: "default".to_owned(),
        name: number.to_string(),
    }
}

fn account() -> Account {
    Account {
        subscription: "s-1".to_owned(),
        principal: "tenant/client".to_owned(),
    }
}

/// ARM's own bucket. Refuses what exceeds it.
struct Server {
    limit: Limit,
    level: f64,
    at: Timestamp,
}

impl Server {
    fn new(limit: Limit) -> Self {
        Self {
            limit,
            level: limit.size,
            at: Timestamp::UNIX_EPOCH,
        }
    }

    /// Whether the request is taken, and what the answer's header says.
    fn take(&mut self, now: Timestamp) -> (bool, u32) {
        let seconds = now.duration_since(self.at).as_secs_f64();
        let level = self.level + seconds * self.limit.per_second;
        (self.level, self.at) = (level.min(self.limit.size), now);
        // Rounding of times to nanoseconds is no excess.
        let is_taken = self.level >= 1.0 - 1e-6;
        if is_taken {
            self.level -= 1.0;
        }
        (is_taken, self.level.max(0.0) as u32)
    }
}

fn answer(remaining: u32) -> Response {
    let text = remaining.to_string();
    let header = ("x-ms-ratelimit-remaining-subscription-reads", text.as_str());
    response(200, &[header], None)
}

fn throttled(retry_after: Option<&str>) -> Response {
    let body = json!({"error": {"code": "SubscriptionRequestsThrottled", "message": "slow down"}});
    let headers: Vec<_> = retry_after
        .map(|text| ("retry-after", text))
        .into_iter()
        .collect();
    response(429, &headers, Some(body))
}

/// A budget and the time.
struct World {
    budget: Budget,
    account: Account,
    now: Timestamp,
}

impl World {
    fn new() -> Self {
        Self {
            budget: Budget::default(),
            account: account(),
            now: Timestamp::UNIX_EPOCH,
        }
    }

    fn pass(&mut self, millis: u64) {
        self.now += SignedDuration::from_millis(millis as i64);
    }

    fn take(&self, number: usize, urgency: Urgency, sort: Sort) -> Result<(), Duration> {
        self.take_after(number, urgency, sort, &Sent::default())
    }

    fn take_after(
        &self,
        number: usize,
        urgency: Urgency,
        sort: Sort,
        sent: &Sent,
    ) -> Result<(), Duration> {
        let object = object(number);
        let call = Call {
            account: &self.account,
            object: &object,
            urgency,
            sort,
            sent,
        };
        self.budget.take(&call, self.now)
    }

    /// Objects of its own take until nothing is left; how many that were.
    fn drain(&self, urgency: Urgency, sort: Sort) -> usize {
        let first = 1_000_000 * (1 + sort as usize * 2 + urgency as usize);
        (0..1000)
            .take_while(|number| self.take(first + number, urgency, sort).is_ok())
            .count()
    }
}

#[test]
fn each_sort_has_its_bucket_and_periodic_looks_leave_reads_for_others() {
    use Urgency::{Background, Foreground};
    let rows = [
        (Background, Sort::Reads, 150),
        (Foreground, Sort::Reads, 250),
        (Foreground, Sort::Writes, 200),
        (Background, Sort::Writes, 200),
        (Foreground, Sort::Deletes, 200),
    ];
    for (urgency, sort, size) in rows {
        assert_eq!(
            World::new().drain(urgency, sort),
            size,
            "{urgency:?} {sort:?}"
        );
    }
    let world = World::new();
    world.drain(Background, Sort::Reads);
    assert_eq!(world.drain(Foreground, Sort::Reads), 100, "kept for others");
    assert_eq!(world.drain(Foreground, Sort::Writes), 200);
}

#[test]
fn a_request_for_no_object_is_taken_where_there_is_room_and_promised_nothing() {
    let mut world = World::new();
    let take = |world: &World| {
        let what = (Sort::Reads, Urgency::Background);
        let (budget, account) = (&world.budget, &world.account);
        budget.take_if_left(account, what, world.now)
    };
    assert!(take(&world));
    while take(&world) {}
    assert_eq!(world.budget.waits(), Waits::default());
    world.pass(1000);
    assert!(take(&world));
}

#[test]
fn accounts_do_not_share() {
    let mut world = World::new();
    world.drain(Urgency::Foreground, Sort::Reads);
    for change in [
        |account: &mut Account| account.principal.push('x'),
        |account: &mut Account| account.subscription.push('x'),
    ] {
        world.account = account();
        change(&mut world.account);
        assert_eq!(world.take(1, Urgency::Foreground, Sort::Reads), Ok(()));
    }
}

#[test]
fn who_is_put_off_gets_a_moment_of_its_own_and_is_served_then() {
    let mut world = World::new();
    assert_eq!(world.drain(Urgency::Foreground, Sort::Deletes), 200);
    // 10 per second; the one that ended the draining waits as well.
    let waits: Vec<u64> = (0..3)
        .map(|number| {
            let put_off = world.take(number, Urgency::Foreground, Sort::Deletes);
            put_off.unwrap_err().as_millis() as u64
        })
        .collect();
    assert_eq!(waits, [200, 300, 400]);
    world.pass(150);
    let early = world.take(0, Urgency::Foreground, Sort::Deletes);
    assert_eq!(early, Err(Duration::from_millis(50)), "the same moment");
    world.pass(250);
    for number in 0..3 {
        let sort = Sort::Deletes;
        assert_eq!(
            world.take(number, Urgency::Foreground, sort),
            Ok(()),
            "{number}"
        );
    }
    assert!(
        world.take(0, Urgency::Foreground, Sort::Deletes).is_err(),
        "once"
    );
}

#[test]
fn a_refusal_closes_the_bucket_and_moves_every_promise() {
    let mut world = World::new();
    world.drain(Urgency::Foreground, Sort::Writes);
    let before = world
        .take(1, Urgency::Foreground, Sort::Writes)
        .unwrap_err();
    let account = account();
    let learn = |answer: &Response| {
        world
            .budget
            .learn(&account, Sort::Writes, answer, world.now)
    };
    assert!(learn(&throttled(Some("60"))));
    assert!(
        learn(&throttled(Some("30"))),
        "does not add to a longer wait"
    );
    let after = world
        .take(1, Urgency::Foreground, Sort::Writes)
        .unwrap_err();
    assert_eq!(after, before + Duration::from_secs(60));
    assert_eq!(world.take(2, Urgency::Foreground, Sort::Reads), Ok(()));
    assert_eq!(world.budget.waits().throttled, [0, 2, 0]);
    world.pass(after.as_millis() as u64);
    assert_eq!(world.take(1, Urgency::Foreground, Sort::Writes), Ok(()));
}

#[test]
fn only_arms_own_refusals_close_a_bucket() {
    let mut world = World::new();
    let body = |code| Some(json!({"error": {"code": code, "message": ""}}));
    let rows = [
        (
            response(429, &[], body("RetryableErrorDueToAnotherOperation")),
            false,
        ),
        (
            response(429, &[], body("ReferencedResourceNotProvisioned")),
            false,
        ),
        (
            response(503, &[("retry-after", "60")], body("ServerBusy")),
            false,
        ),
        (throttled(None), true),
    ];
    for (answer, closes) in rows {
        let account = account();
        let learned = world
            .budget
            .learn(&account, Sort::Writes, &answer, world.now);
        let taken = world.take(1, Urgency::Foreground, Sort::Writes);
        assert_eq!((learned, taken.is_err()), (closes, closes), "{answer:?}");
    }
    // Without `Retry-After`: as long as the bucket takes to fill.
    world.pass(20_100);
    assert_eq!(world.take(1, Urgency::Foreground, Sort::Writes), Ok(()));
}

#[test]
fn what_arm_says_is_left_is_never_exceeded_and_periodic_looks_give_way() {
    let world = World::new();
    let account = account();
    let learn = |left| {
        world
            .budget
            .learn(&account, Sort::Reads, &answer(left), world.now)
    };
    learn(90);
    assert_eq!(world.drain(Urgency::Background, Sort::Reads), 0);
    learn(40);
    assert_eq!(world.drain(Urgency::Foreground, Sort::Reads), 40);
    let left = &world.budget.headroom(world.now)[0];
    assert_eq!((left.left, left.remaining), (0, Some(40)));
}

#[test]
fn a_pass_of_several_requests_comes_through() {
    // Each pass needs three reads and a write, and begins anew whenever one is put off.
    let needs = [Sort::Reads, Sort::Reads, Sort::Writes, Sort::Reads];
    let mut world = World::new();
    let mut waiting: BTreeMap<(Timestamp, usize), u32> =
        (0..600).map(|number| ((world.now, number), 0)).collect();
    while let Some(((at, number), passes)) = waiting.pop_first() {
        world.now = at;
        let mut sent = Sent::default();
        for sort in needs {
            match world.take_after(number, Urgency::Foreground, sort, &sent) {
                Ok(()) => sent.count(sort),
                Err(wait) => {
                    assert!(passes < 4, "{number} was put off again and again");
                    waiting.insert((at + wait, number), passes + 1);
                    break;
                }
            }
        }
    }
    let took = world.now.as_second();
    assert!((60..180).contains(&took), "{took} s");
}

#[test]
fn neither_periodic_looks_nor_others_starve() {
    let mut world = World::new();
    let mut server = Server::new(Limits::default().reads);
    let mut looks: BTreeMap<(Timestamp, usize), ()> =
        (0..2000).map(|number| ((world.now, number), ())).collect();
    let mut others = 0;
    let mut wanted: BTreeMap<(Timestamp, usize), ()> = BTreeMap::new();
    let mut next = 100_000;
    for _ in 0..1600 {
        world.pass(100);
        // 40 other reads per second: more than the whole bucket fills.
        for _ in 0..4 {
            next += 1;
            wanted.insert((world.now, next), ());
        }
        for (queue, urgency) in [
            (&mut wanted, Urgency::Foreground),
            (&mut looks, Urgency::Background),
        ] {
            while let Some(entry) = queue.first_entry()
                && entry.key().0 <= world.now
            {
                let ((_, number), ()) = entry.remove_entry();
                match world.take(number, urgency, Sort::Reads) {
                    Ok(()) => {
                        assert!(server.take(world.now).0, "exceeded");
                        others += usize::from(urgency == Urgency::Foreground);
                    }
                    Err(wait) => {
                        queue.insert((world.now + wait, number), ());
                    }
                }
            }
        }
    }
    // 150 at once and 15 per second; 100 at once and 10 per second.
    assert!(
        looks.is_empty(),
        "{} looks are left after 160 s",
        looks.len()
    );
    assert!(others >= 1600, "{others}");
}

#[test]
fn what_is_never_fetched_is_forgotten() {
    let mut world = World::new();
    world.drain(Urgency::Background, Sort::Reads);
    for number in 0..1000 {
        world
            .take(number, Urgency::Background, Sort::Reads)
            .unwrap_err();
    }
    assert!(world.budget.waits().waiting >= 1000);
    world.pass(3_600_000);
    for number in 5000..8000 {
        let _ = world.take(number, Urgency::Background, Sort::Reads);
    }
    let waiting = world.budget.waits().waiting;
    assert!(waiting < 2900, "{waiting}: those of an hour ago are gone");
    for number in 0..500 {
        world.account.principal = number.to_string();
        world.pass(60_000);
        let _ = world.take(9000, Urgency::Foreground, Sort::Reads);
    }
    let accounts = world.budget.headroom(world.now).len();
    assert!(accounts < 20, "{accounts} accounts are kept");
}

/// One step: how long after the one before, for which object, how urgent.
fn steps() -> impl Strategy<Value = Vec<(u64, usize, bool)>> {
    let wait = prop_oneof![8 => 0..3u64, 2 => 0..200u64, 1 => 0..400_000u64];
    prop::collection::vec((wait, 0..300usize, any::<bool>()), 1..1500)
}

/// Requests of objects in several namespaces, each of which comes when it was told to; the moment at which each was served.
fn served(world: &mut World, wanted: &[(&str, usize)]) -> HashMap<(String, usize), i64> {
    let mut server = Server::new(Limits::default().writes);
    let all = wanted
        .iter()
        .map(|(namespace, number)| (world.now, (*number, (*namespace).to_owned())));
    let mut waiting: BTreeSet<_> = all.collect();
    let mut served = HashMap::new();
    while let Some((at, (number, namespace))) = waiting.pop_first() {
        world.now = at;
        let object = ObjectKey {
            namespace: namespace.clone(),
            ..object(number)
        };
        let call = Call {
            account: &world.account,
            object: &object,
            urgency: Urgency::Foreground,
            sort: Sort::Writes,
            sent: &Sent::default(),
        };
        match world.budget.take(&call, at) {
            Ok(()) => {
                assert!(server.take(at).0, "exceeded");
                served.insert((namespace, number), at.as_second());
            }
            Err(wait) => {
                waiting.insert((at + wait, (number, namespace)));
            }
        }
    }
    served
}

#[test]
fn who_has_much_waiting_holds_up_no_other_namespace() {
    let mut world = World::new();
    let mut wanted: Vec<(&str, usize)> = (0..1000).map(|number| ("many", number)).collect();
    wanted.extend((0..5).map(|number| ("few", 10_000 + number)));
    let served = served(&mut world, &wanted);
    // 200 at once, then 10 per second: 800 of them take 80 s.
    let latest = |name: &str| {
        let own = served
            .iter()
            .filter(|((namespace, _), _)| namespace == name);
        own.map(|(_, at)| *at).max()
    };
    assert_eq!(latest("few"), Some(1));
    assert_eq!(latest("many"), Some(80), "and nothing is lost by it");
    assert_eq!(world.budget.waits().waiting, 0);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    /// Whoever asks when, early, late or never again: ARM refuses nothing.
    #[test]
    fn never_exceeds(steps in steps(), learns: bool) {
        let mut world = World::new();
        let mut server = Server::new(Limits::default().reads);
        for (millis, number, is_background) in steps {
            world.pass(millis);
            let urgency = if is_background { Urgency::Background } else { Urgency::Foreground };
            if world.take(number, urgency, Sort::Reads).is_ok() {
                let (taken, left) = server.take(world.now);
                prop_assert!(taken, "at {}", world.now);
                if learns {
                    let account = account();
                    world.budget.learn(&account, Sort::Reads, &answer(left), world.now);
                }
            }
        }
    }

    /// Whoever comes when told to is served then, whatever others do.
    #[test]
    fn promises_are_kept(steps in steps()) {
        let mut world = World::new();
        let mut told: HashMap<usize, (Timestamp, Urgency)> = HashMap::new();
        for (millis, number, is_background) in steps {
            world.pass(millis);
            let urgency = if is_background { Urgency::Background } else { Urgency::Foreground };
            if told.contains_key(&number) {
                continue;
            }
            if let Err(wait) = world.take(number, urgency, Sort::Reads) {
                told.insert(number, (world.now + wait, urgency));
            }
        }
        let mut told: Vec<_> = told.into_iter().collect();
        told.sort_by_key(|(_, (at, _))| *at);
        for (number, (at, urgency)) in told {
            if at < world.now {
                continue;
            }
            world.now = at;
            prop_assert_eq!(world.take(number, urgency, Sort::Reads), Ok(()));
        }
    }
}
