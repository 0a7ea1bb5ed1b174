//! How many passes run, by how the API server answers.

use super::super::{Answers, ApiServer};
use super::*;

/// Refuses every request.
struct Busy;

impl ApiServer for Busy {
    fn answers(&self) -> Answers {
        Answers {
            count: 1,
            took: Duration::ZERO,
            refused: 1,
        }
    }
}

#[tokio::test(start_paused = true)]
async fn fewer_passes_run_while_the_api_server_refuses_requests() {
    let (queue, log) = (queue(QueueSettings::default()), Log::new());
    queue.spare(Arc::new(Busy));
    for number in 0..100 {
        queue.add(group(&number.to_string()));
    }
    run_for(&queue, 100, 1, &log, Requeue::Never).await;
    let passes = log.times();
    let at = |time| passes.iter().filter(|at| **at == time).count();
    // Of 32, 16, 8 and 4, one namespace has four for each that is free.
    assert_eq!([0, 1, 2, 3].map(at), [26, 13, 7, 3]);
    assert_eq!(passes.len(), 100);
}

/// Passes that wait for Azure ask nothing of the API server.
#[tokio::test(start_paused = true)]
async fn a_pool_that_shrank_does_not_count_passes_that_take_long() {
    let (queue, log) = (queue(QueueSettings::default()), Log::new());
    queue.spare(Arc::new(Busy));
    for number in 0..100 {
        queue.add(group(&format!("hangs-{number}")));
    }
    let editor = queue.clone();
    tokio::spawn(async move {
        sleep(Duration::from_secs(10)).await;
        let mut served = group("served");
        served.namespace = "other".to_owned();
        editor.add(served);
    });
    run_for(&queue, 290, 300, &log, Requeue::Never).await;
    let passes = log.passes();
    let of = |start: &str| {
        let of = passes.iter().filter(|(_, name)| name.starts_with(start));
        of.map(|(at, _)| *at).collect::<Vec<_>>()
    };
    assert_eq!(of("served"), [30], "once the others take long");
    // The share of the few workers that a server that goes on to refuse leaves.
    assert_eq!(of("hangs-"), vec![0; 26]);
}

/// Refuses requests until it is first asked, and answers well from then on.
#[derive(Default)]
struct BusyOnce(AtomicUsize);

impl ApiServer for BusyOnce {
    fn answers(&self) -> Answers {
        let before = self.0.fetch_add(1, Ordering::SeqCst);
        Answers {
            count: 100,
            took: Duration::from_millis(500),
            refused: u32::from(before == 0),
        }
    }
}

#[tokio::test(start_paused = true)]
async fn what_waits_for_its_share_goes_on_as_soon_as_the_pool_grows() {
    let (queue, log) = (queue(QueueSettings::default()), Log::new());
    queue.spare(Arc::new(BusyOnce::default()));
    for number in 0..100 {
        queue.add(group(&number.to_string()));
    }
    // None ends, and none takes long.
    run_for(&queue, 20, 25, &log, Requeue::Never).await;
    let passes = log.times();
    let at = |time| passes.iter().filter(|at| **at == time).count();
    // Of 32, 40, 50, 62 and 64, one namespace has four for each that is free.
    assert_eq!([0, 1, 2, 3, 4].map(at), [26, 6, 8, 10, 2]);
    assert_eq!(passes.len(), 52);
}

#[tokio::test(start_paused = true)]
async fn what_waits_is_counted_by_kind_and_each_pass_knows_how_long_it_waited() {
    let settings = QueueSettings {
        workers: 1,
        ..QueueSettings::default()
    };
    let queue = queue(settings);
    for name in ["a", "b", "c"] {
        queue.add(group(name));
    }
    queue.add_idle(key(&kinds::STORE, "d"));
    queue.add_after(group("later"), Duration::from_secs(3600));
    let (of_groups, of_stores) = (Kind(&kinds::GROUP), Kind(&kinds::STORE));
    let foreground = (of_groups, Urgency::Foreground);
    let background = (of_stores, Urgency::Background);
    let before = HashMap::from([(foreground, 3), (background, 1)]);
    assert_eq!(queue.due_by_kind(), before);
    let waited: Arc<Mutex<Vec<(String, u64)>>> = Arc::default();
    let stop = CancellationToken::new();
    let (stopper, looker) = (stop.clone(), queue.clone());
    let during = tokio::spawn(async move {
        sleep(Duration::from_secs(15)).await;
        let due = looker.due_by_kind();
        sleep(Duration::from_secs(45)).await;
        stopper.cancel();
        due
    });
    let seen = Arc::clone(&waited);
    let work = move |look: Look| {
        let seen = Arc::clone(&seen);
        async move {
            let entry = (look.key.name, look.waited.as_secs());
            seen.lock().unwrap().push(entry);
            sleep(Duration::from_secs(10)).await;
            Requeue::Never
        }
    };
    queue.run(work, stop).await;
    let expected = [("a", 0), ("b", 10), ("c", 20), ("d", 30)];
    let expected = expected.map(|(name, seconds)| (name.to_owned(), seconds));
    assert_eq!(*waited.lock().unwrap(), expected);
    let left = HashMap::from([(foreground, 1), (background, 1)]);
    assert_eq!(during.await.unwrap(), left);
}
