//! The queue under tokio's paused clock: time passes only when every task waits.

mod pool;

use std::sync::atomic::{AtomicUsize, Ordering};

use armature_shapes::kind::KindInfo;
use armature_shapes::resource::Kind;
use armature_shapes::testing::kinds;
use tokio::time::sleep;

use super::*;

struct NoJitter;

impl Random for NoJitter {
    fn unit(&self) -> f64 {
        0.0
    }
}

fn key(kind: &'static KindInfo, name: &str) -> ObjectKey {
    ObjectKey {
        kind: Kind(kind),
        namespace: "default".to_owned(),
        name: name.to_owned(),
    }
}

fn group(name: &str) -> ObjectKey {
    key(&kinds::GROUP, name)
}

fn queue(settings: QueueSettings) -> Queue {
    Queue::new(settings, Arc::new(NoJitter))
}

/// When each pass started, in seconds from the start, and the most passes at one time.
#[derive(Clone)]
struct Log {
    start: Instant,
    passes: Arc<Mutex<Vec<(u64, String)>>>,
    running: Arc<AtomicUsize>,
    most: Arc<AtomicUsize>,
}

impl Log {
    fn new() -> Self {
        Self {
            start: Instant::now(),
            passes: Arc::default(),
            running: Arc::default(),
            most: Arc::default(),
        }
    }

    async fn pass(self, key: ObjectKey, takes: u64) {
        let at = self.start.elapsed().as_secs();
        self.passes.lock().unwrap().push((at, key.name));
        let running = self.running.fetch_add(1, Ordering::SeqCst) + 1;
        self.most.fetch_max(running, Ordering::SeqCst);
        sleep(Duration::from_secs(takes)).await;
        self.running.fetch_sub(1, Ordering::SeqCst);
    }

    fn passes(&self) -> Vec<(u64, String)> {
        self.passes.lock().unwrap().clone()
    }

    fn times(&self) -> Vec<u64> {
        self.passes().into_iter().map(|(at, _)| at).collect()
    }
}

/// Runs the queue for a while; every pass takes `takes` seconds and ends with `requeue`.
async fn run_for(queue: &Queue, seconds: u64, takes: u64, log: &Log, requeue: Requeue) {
    let stop = CancellationToken::new();
    let stopper = stop.clone();
    tokio::spawn(async move {
        sleep(Duration::from_secs(seconds)).await;
        stopper.cancel();
    });
    let log = log.clone();
    let work = move |Look { key, .. }| {
        let log = log.clone();
        async move {
            log.pass(key, takes).await;
            requeue
        }
    };
    queue.run(work, stop).await;
}

#[tokio::test(start_paused = true)]
async fn a_key_waits_once_at_its_earliest_deadline() {
    let (queue, log) = (queue(QueueSettings::default()), Log::new());
    queue.add_after(group("a"), Duration::from_secs(9));
    queue.add_after(group("a"), Duration::from_secs(3));
    queue.add_after(group("a"), Duration::from_secs(6));
    assert_eq!(queue.depth().known, 1);
    run_for(&queue, 30, 0, &log, Requeue::Never).await;
    assert_eq!(log.times(), [3]);
    let nothing = QueueDepth {
        workers: WORKERS,
        ..QueueDepth::default()
    };
    assert_eq!(queue.depth(), nothing);
}

#[tokio::test(start_paused = true)]
async fn a_key_is_never_worked_on_twice_at_once_and_again_when_asked_meanwhile() {
    let (queue, log) = (queue(QueueSettings::default()), Log::new());
    queue.add(group("a"));
    let adder = queue.clone();
    tokio::spawn(async move {
        for _ in 0..3 {
            sleep(Duration::from_secs(1)).await;
            adder.add(group("a"));
        }
    });
    run_for(&queue, 60, 10, &log, Requeue::Never).await;
    assert_eq!(log.times(), [0, 10]);
    assert_eq!(log.most.load(Ordering::SeqCst), 1);
}

#[tokio::test(start_paused = true)]
async fn failures_grow_per_class_and_outside_triggers_do_not_count() {
    let (first, log) = (queue(QueueSettings::default()), Log::new());
    first.add(group("a"));
    run_for(&first, 100, 0, &log, Requeue::Backoff(RetryClass::Fast)).await;
    assert_eq!(log.times(), [0, 1, 3, 7, 15, 31, 61, 91]);

    let (second, log) = (queue(QueueSettings::default()), Log::new());
    second.add(group("a"));
    let adder = second.clone();
    tokio::spawn(async move {
        sleep(Duration::from_secs(5)).await;
        adder.add(group("a"));
    });
    // The trigger at 5 brings the fourth attempt forward; its own delay is that of a fourth attempt.
    run_for(&second, 20, 0, &log, Requeue::Backoff(RetryClass::Slow)).await;
    assert_eq!(log.times(), [0, 1, 3, 5, 13]);
}

#[tokio::test(start_paused = true)]
async fn success_resets_the_count() {
    let (queue, log) = (queue(QueueSettings::default()), Log::new());
    queue.add(group("a"));
    let stop = CancellationToken::new();
    let (passes, stopper) = (Arc::new(AtomicUsize::new(0)), stop.clone());
    let recorded = log.clone();
    let work = move |Look { key, .. }| {
        let (log, stop) = (recorded.clone(), stopper.clone());
        let pass = passes.fetch_add(1, Ordering::SeqCst);
        async move {
            log.pass(key, 0).await;
            match pass {
                3 => Requeue::After(Duration::from_secs(10)),
                6 => {
                    stop.cancel();
                    Requeue::Never
                }
                _ => Requeue::Backoff(RetryClass::Slow),
            }
        }
    };
    queue.run(work, stop).await;
    assert_eq!(log.times(), [0, 1, 3, 7, 17, 18, 20]);
}

#[tokio::test(start_paused = true)]
async fn keys_wait_by_the_time_that_is_injected() {
    let settings = QueueSettings {
        time: Time::times(60),
        ..QueueSettings::default()
    };
    let (queue, log) = (queue(settings), Log::new());
    queue.add_after(group("a"), Duration::from_secs(120));
    let hour = Requeue::After(Duration::from_secs(3600));
    run_for(&queue, 130, 0, &log, hour).await;
    assert_eq!(log.times(), [2, 62, 122]);
}

#[tokio::test(start_paused = true)]
async fn limits_hold_for_all_and_per_kind_and_kinds_do_not_block_each_other() {
    let settings = QueueSettings {
        workers: 4,
        workers_per_kind: Some(2),
        ..QueueSettings::default()
    };
    let (queue, log) = (queue(settings), Log::new());
    for name in ["a", "b", "c", "d"] {
        queue.add(group(name));
    }
    queue.add(key(&kinds::STORE, "s"));
    run_for(&queue, 60, 10, &log, Requeue::Never).await;
    // The fourth one is left for another namespace.
    assert_eq!(log.most.load(Ordering::SeqCst), 3);
    let mut first: Vec<String> = log
        .passes()
        .into_iter()
        .filter(|(at, _)| *at == 0)
        .map(|(_, name)| name)
        .collect();
    first.sort();
    assert_eq!(first, ["a", "b", "s"]);
    assert_eq!(log.times(), [0, 0, 0, 10, 10]);
}

/// One team applies hundreds of objects at once; another team's two do not stand behind them.
#[tokio::test(start_paused = true)]
async fn namespaces_and_kinds_take_turns() {
    let settings = QueueSettings {
        workers: 1,
        ..QueueSettings::default()
    };
    let (queue, log) = (queue(settings), Log::new());
    for number in 0..500 {
        queue.add(group(&format!("large-{number}")));
    }
    let mut other = group("other-1");
    other.namespace = "other".to_owned();
    queue.add(other.clone());
    other.name = "other-2".to_owned();
    queue.add(other);
    queue.add(key(&kinds::STORE, "store"));
    run_for(&queue, 600, 1, &log, Requeue::Never).await;
    let mut passes = log.passes();
    assert_eq!(passes.len(), 503);
    passes.retain(|(_, name)| !name.starts_with("large-"));
    let late: Vec<&(u64, String)> = passes.iter().filter(|(at, _)| *at > 5).collect();
    assert!(late.is_empty() && passes.len() == 3, "{passes:?}");
}

/// Objects that are due for a look for which nobody waits.
const FINE: usize = 1000;

/// A queue with one worker, to which `FINE` objects that are fine were given.
fn busy_queue() -> Queue {
    let settings = QueueSettings {
        workers_per_kind: Some(1),
        ..QueueSettings::default()
    };
    let queue = queue(settings);
    for number in 0..FINE {
        queue.add_idle(group(&format!("fine-{number}")));
    }
    queue
}

/// Names of keys that were looked at, in order, but for those that are fine.
fn edited(log: &Log) -> Vec<(u64, String)> {
    let mut passes = log.passes();
    passes.retain(|(_, name)| !name.starts_with("fine-"));
    passes
}

#[tokio::test(start_paused = true)]
async fn an_edit_passes_objects_that_nobody_waits_for() {
    let (queue, log) = (busy_queue(), Log::new());
    let editor = queue.clone();
    tokio::spawn(async move {
        sleep(Duration::from_millis(5500)).await;
        // One that was not known, one that is due already, and one of another kind.
        editor.add(group("new"));
        sleep(Duration::from_millis(1)).await;
        editor.add(group("fine-900"));
        editor.add(key(&kinds::STORE, "other"));
    });
    run_for(&queue, 9, 1, &log, Requeue::Never).await;
    let passes = log.passes();
    let at = |second: u64| {
        let mut names: Vec<&str> = Vec::new();
        names.extend(
            passes
                .iter()
                .filter(|(at, _)| *at == second)
                .map(|(_, name)| name.as_str()),
        );
        names
    };
    assert_eq!(
        at(5),
        ["fine-5", "other"],
        "at once, where a worker of its kind is free"
    );
    assert_eq!((at(6), at(7)), (vec!["new"], vec!["fine-900"]));
    assert_eq!(at(8), ["fine-6"], "then in order");
}

#[tokio::test(start_paused = true)]
async fn retries_pass_periodic_looks_and_what_is_put_off_stays_what_it_was() {
    for (requeue, expected) in [
        (Requeue::After(Duration::from_secs(2)), vec![0, 3, 6]),
        (Requeue::Backoff(RetryClass::Slow), vec![0, 2, 5]),
        (Requeue::PutOff(Duration::from_secs(2)), vec![0, 3, 6]),
        (Requeue::Sync, vec![0]),
    ] {
        let settings = QueueSettings {
            workers_per_kind: Some(1),
            periods: Periods {
                sync: Some(Duration::from_secs(2)),
            },
            ..QueueSettings::default()
        };
        let (queue, log) = (queue(settings), Log::new());
        queue.add(group("edited"));
        for number in 0..FINE {
            queue.add_idle(group(&format!("fine-{number}")));
        }
        run_for(&queue, 8, 1, &log, requeue).await;
        let times: Vec<u64> = edited(&log).into_iter().map(|(at, _)| at).collect();
        assert_eq!(times, expected, "{requeue:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn an_edit_during_a_pass_passes_too() {
    let (queue, log) = (busy_queue(), Log::new());
    let editor = queue.clone();
    tokio::spawn(async move {
        sleep(Duration::from_millis(3500)).await;
        editor.add(group("fine-3"));
    });
    run_for(&queue, 7, 1, &log, Requeue::Sync).await;
    let names: Vec<String> = log.passes().into_iter().map(|(_, name)| name).collect();
    let expected = [0, 1, 2, 3, 3, 4, 5].map(|number| format!("fine-{number}"));
    assert_eq!(names, expected);
}

#[tokio::test(start_paused = true)]
async fn the_age_is_that_of_the_key_that_waits_longest_for_a_worker() {
    let settings = QueueSettings {
        workers_per_kind: Some(1),
        ..QueueSettings::default()
    };
    let (queue, log) = (queue(settings), Log::new());
    queue.add(group("a"));
    queue.add_after(group("b"), Duration::from_secs(2));
    queue.add_after(group("c"), Duration::from_secs(6));
    queue.add_after(group("d"), Duration::from_secs(60));
    let seen = queue.clone();
    let figures = tokio::spawn(async move {
        let mut figures = Vec::new();
        for pause in [5, 3, 7] {
            sleep(Duration::from_secs(pause)).await;
            let depth = seen.depth();
            figures.push((depth.due, depth.age.as_secs()));
        }
        figures
    });
    // The first pass ends at 9 and the second at 18: at 15 only the third waits, since 6.
    run_for(&queue, 50, 9, &log, Requeue::Never).await;
    assert_eq!(figures.await.unwrap(), [(1, 3), (2, 6), (1, 9)]);
}

/// A service that hangs: passes over what waits for it take a minute each and are wanted again at once.
#[tokio::test(start_paused = true)]
async fn what_nobody_waits_for_is_looked_at_although_others_hang() {
    for (workers, expected) in [(16, true), (4, false)] {
        let queue = queue(QueueSettings {
            workers,
            ..QueueSettings::default()
        });
        for number in 0..100 {
            queue.add(key(&kinds::STORE, &format!("hangs-{number}")));
        }
        queue.add_idle(group("fine"));
        let log = Log::new();
        run_for(&queue, 130, 60, &log, Requeue::Backoff(RetryClass::Poll)).await;
        let is_looked_at = log.passes().iter().any(|(_, name)| name == "fine");
        assert_eq!(is_looked_at, expected, "{workers} workers");
    }
}

/// A tenant whose requests all hang: passes take five minutes each and are wanted again at once.
#[tokio::test(start_paused = true)]
async fn a_namespace_whose_passes_hang_leaves_workers_to_others() {
    let (queue, log) = (queue(QueueSettings::default()), Log::new());
    let in_namespace = |namespace: &str, number: usize| ObjectKey {
        namespace: namespace.to_owned(),
        ..group(&format!("{namespace}-{number}"))
    };
    for number in 0..200 {
        queue.add(in_namespace("hangs", number));
    }
    let editor = queue.clone();
    tokio::spawn(async move {
        sleep(Duration::from_secs(10)).await;
        editor.add(in_namespace("served", 0));
    });
    run_for(&queue, 650, 300, &log, Requeue::Backoff(RetryClass::Poll)).await;
    let passes = log.passes();
    let of = |namespace: &str, at: u64| {
        let mut of = passes
            .iter()
            .filter(|(_, name)| name.starts_with(namespace));
        of.by_ref().filter(|(begun, _)| *begun == at).count()
    };
    assert_eq!((of("served", 10), of("hangs", 0)), (1, 52));
    // The rest follow as workers are given back.
    assert!(of("hangs", 300) > 45 && of("hangs", 600) > 45, "{passes:?}");
}

/// The same where one object of a kind at a time is looked at, and the first in its line is of that namespace.
#[tokio::test(start_paused = true)]
async fn a_kind_at_its_limit_waits_for_no_namespace_that_has_its_share() {
    let settings = QueueSettings {
        workers: 10,
        workers_per_kind: Some(8),
        ..QueueSettings::default()
    };
    let (queue, log) = (queue(settings), Log::new());
    for number in 0..8 {
        queue.add(key(&kinds::STORE, &format!("hangs-{number}")));
        queue.add(group(&format!("hangs-group-{number}")));
    }
    let editor = queue.clone();
    tokio::spawn(async move {
        sleep(Duration::from_secs(10)).await;
        for number in 0..2 {
            let name = format!("served-{number}");
            editor.add(ObjectKey {
                namespace: name.clone(),
                ..group(&name)
            });
        }
    });
    run_for(&queue, 290, 300, &log, Requeue::Backoff(RetryClass::Poll)).await;
    let served = log.passes().into_iter();
    let served = served.filter(|(at, name)| *at == 10 && name.starts_with("served"));
    assert_eq!(served.count(), 2, "{:?}", log.passes());
}

#[tokio::test(start_paused = true)]
async fn stopping_waits_for_running_passes_and_starts_no_more() {
    let (queue, log) = (queue(QueueSettings::default()), Log::new());
    queue.add(group("a"));
    queue.add_after(group("b"), Duration::from_secs(7));
    let before = Instant::now();
    run_for(&queue, 5, 12, &log, Requeue::Sync).await;
    assert_eq!(before.elapsed().as_secs(), 12);
    assert_eq!(log.passes(), [(0, "a".to_owned())]);
    assert_eq!(queue.depth().running, 0);
}

#[tokio::test(start_paused = true)]
async fn a_pass_that_takes_too_long_is_given_up_when_stopping() {
    let (queue, log) = (queue(QueueSettings::default()), Log::new());
    queue.add(group("a"));
    let before = Instant::now();
    run_for(&queue, 5, 3600, &log, Requeue::Sync).await;
    assert_eq!(before.elapsed().as_secs(), 25);
}

#[tokio::test(start_paused = true)]
async fn a_panic_fails_its_own_key_only() {
    let (queue, log) = (queue(QueueSettings::default()), Log::new());
    queue.add(group("a"));
    queue.add(group("b"));
    let stop = CancellationToken::new();
    let stopper = stop.clone();
    tokio::spawn(async move {
        sleep(Duration::from_secs(2)).await;
        stopper.cancel();
    });
    let recorded = log.clone();
    let work = move |Look { key, .. }| {
        let log = recorded.clone();
        async move {
            let broken = key.name == "a";
            log.pass(key, 0).await;
            assert!(!broken, "a pass that panics");
            Requeue::Never
        }
    };
    queue.run(work, stop).await;
    let mut passes = log.passes();
    passes.sort();
    let name = |name: &str| name.to_owned();
    assert_eq!(passes, [(0, name("a")), (0, name("b")), (1, name("a"))]);
}

/// Lets syncs rest until a pass is this old.
struct Until(Duration);

impl Rest for Until {
    fn rests(&self, _: &ObjectKey, read: Duration) -> bool {
        read < self.0
    }
}

#[tokio::test(start_paused = true)]
async fn a_sync_is_left_out_while_the_object_may_rest() {
    let (queue, log) = (queue(QueueSettings::default()), Log::new());
    queue.let_rest(Arc::new(Until(Duration::from_secs(3 * 3600))));
    queue.add(group("a"));
    // Without jitter a sync is due every 45 minutes: the fourth one is due after three hours.
    run_for(&queue, 7 * 3600, 0, &log, Requeue::Sync).await;
    assert_eq!(log.times(), [0, 3 * 3600, 6 * 3600]);
}

#[tokio::test(start_paused = true)]
async fn what_somebody_asks_for_never_rests() {
    let (queue, log) = (queue(QueueSettings::default()), Log::new());
    queue.let_rest(Arc::new(Until(Duration::MAX)));
    queue.add(group("a"));
    let adder = queue.clone();
    tokio::spawn(async move {
        sleep(Duration::from_secs(100)).await;
        adder.add_idle(group("a"));
        sleep(Duration::from_secs(100)).await;
        adder.add(group("a"));
    });
    run_for(&queue, 24 * 3600, 0, &log, Requeue::Sync).await;
    assert_eq!(log.times(), [0, 100, 200]);
}

#[tokio::test(start_paused = true)]
async fn periods_of_the_objects_own_and_failures_do_not_rest() {
    let own = Requeue::SyncAfter(Duration::from_secs(4000));
    let failed = Requeue::Backoff(RetryClass::VerySlow);
    for (requeue, expected) in [(own, 3000), (failed, 2700)] {
        let (queue, log) = (queue(QueueSettings::default()), Log::new());
        queue.let_rest(Arc::new(Until(Duration::MAX)));
        queue.add(group("a"));
        run_for(&queue, 5000, 0, &log, requeue).await;
        assert_eq!(log.times(), [0, expected], "{requeue:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn the_latest_pass_is_known_while_the_object_is() {
    let (queue, log) = (queue(QueueSettings::default()), Log::new());
    assert_eq!(queue.latest_pass(&group("a")), LatestPass::Unknown);
    queue.add(group("a"));
    assert_eq!(queue.latest_pass(&group("a")), LatestPass::Never);
    run_for(&queue, 60, 10, &log, Requeue::Sync).await;
    let well = LatestPass::Well(Duration::from_secs(60));
    assert_eq!(queue.latest_pass(&group("a")), well, "since it began");
    queue.add(group("a"));
    run_for(&queue, 5, 0, &log, Requeue::Backoff(RetryClass::VerySlow)).await;
    assert_eq!(queue.latest_pass(&group("a")), LatestPass::NotWell);
    queue.add(group("a"));
    run_for(&queue, 5, 0, &log, Requeue::Never).await;
    assert_eq!(queue.latest_pass(&group("a")), LatestPass::Unknown);
}

#[tokio::test(start_paused = true)]
async fn what_was_begun_comes_to_its_end_before_the_rest_of_many_begins() {
    let one_worker = QueueSettings {
        workers: 1,
        ..QueueSettings::default()
    };
    let (queue, log) = (queue(one_worker), Log::new());
    for name in ["a", "b", "c", "d", "e", "f"] {
        queue.add(group(name));
    }
    run_for(&queue, 9, 1, &log, Requeue::After(Duration::from_secs(1))).await;
    let names: String = log.passes().into_iter().map(|(_, name)| name).collect();
    assert_eq!(names, "abacbdaec", "in turns");
}

#[tokio::test(start_paused = true)]
async fn a_look_says_for_how_long_all_was_not_well() {
    let queue = queue(QueueSettings::default());
    queue.add(group("a"));
    let (passes, stop) = (Arc::new(Mutex::new(Vec::new())), CancellationToken::new());
    let (log, stopper) = (passes.clone(), stop.clone());
    let work = move |look: Look| {
        let mut log = log.lock().unwrap();
        log.push(look.since_first.as_secs());
        let pass = log.len();
        if pass == 6 {
            stopper.cancel();
        }
        async move {
            match pass {
                3 => Requeue::SyncAfter(Duration::from_secs(100)),
                _ => Requeue::After(Duration::from_secs(2)),
            }
        }
    };
    queue.run(work, stop).await;
    assert_eq!(*passes.lock().unwrap(), [0, 2, 4, 0, 2, 4]);
}
