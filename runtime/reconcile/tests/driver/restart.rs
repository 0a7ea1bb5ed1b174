//! A restart with many objects: what it costs in requests.

use std::sync::Mutex;

use armature_azure::budget::Sort;
use armature_azure::{CredentialKey, Request, Response, Transport, TransportError};
use armature_reconcile::backoff::SystemRandom;
use armature_reconcile::queue::{Look, Queue, QueueSettings};
use async_trait::async_trait;
use jiff::Timestamp;
use tokio::time::Instant;

use super::*;

const OBJECTS: usize = 10_000;

/// ARM's bucket for reads: its size and flow per second.
const SIZE: f64 = 250.0;
const FLOW: f64 = 25.0;

/// Tokio's clock, which stands still while there is something to do.
struct PausedClock(Instant);

impl Clock for PausedClock {
    fn now(&self) -> Timestamp {
        Timestamp::UNIX_EPOCH + self.0.elapsed()
    }
}

/// An Azure that counts reads as ARM does and says what is left.
struct Limited {
    azure: Arc<MemoryAzure>,
    clock: PausedClock,
    counts: Mutex<Counts>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Counts {
    taken: f64,
    filled: Timestamp,
    reads: usize,
    others: usize,
    refused: usize,
}

impl Limited {
    /// What is left of the reads after this request, or that there was none.
    fn count(&self, sort: Sort) -> Option<f64> {
        let now = self.clock.now();
        let mut counts = self.counts.lock().unwrap();
        let seconds = now.duration_since(counts.filled).as_secs_f64();
        counts.taken = (counts.taken - seconds * FLOW).max(0.0);
        counts.filled = now;
        match sort {
            Sort::Reads => counts.reads += 1,
            Sort::Writes | Sort::Deletes => counts.others += 1,
        }
        // Rounding of times to nanoseconds is no excess.
        if counts.taken + 1.0 > SIZE + 1e-6 {
            counts.refused += 1;
            return None;
        }
        counts.taken += 1.0;
        Some((SIZE - counts.taken).max(0.0))
    }
}

#[async_trait]
impl Transport for Limited {
    async fn send(&self, request: Request) -> Result<Response, TransportError> {
        let Some(left) = self.count(Sort::of(request.method)) else {
            return Ok(error(429, "SubscriptionRequestsThrottled"));
        };
        let mut answer = self.azure.send(request).await?;
        let name = "x-ms-ratelimit-remaining-subscription-reads".to_owned();
        answer.headers.insert(name, (left as u32).to_string());
        Ok(answer)
    }

    async fn subscription(&self, key: &CredentialKey) -> Result<String, TransportError> {
        self.azure.subscription(key).await
    }
}

fn over(transport: Arc<dyn Transport>, budget: Arc<Budget>) -> Remotes {
    Remotes::new(Arc::new(Arm::new(transport, budget)))
}

/// Resource groups that were reconciled before the restart.
async fn reconciled(world: &World) -> Vec<ObjectKey> {
    let mut keys = Vec::with_capacity(OBJECTS);
    for number in 0..OBJECTS {
        let spec = json!({"location": "westus"});
        let key = world
            .cluster
            .apply(&kinds::GROUP, &format!("g{number}"), &spec);
        let reconciler = Reconciler {
            remotes: over(world.azure.clone(), Arc::default()),
            ..world.reconciler()
        };
        assert_eq!(reconciler.reconcile(&key).await, Requeue::Sync);
        keys.push(key);
    }
    world.forget();
    keys
}

#[tokio::test(start_paused = true)]
async fn ten_thousand_ready_objects_restart_with_one_read_each_within_arms_limits() {
    let world = World::new();
    let keys = reconciled(&world).await;
    let start = Instant::now();
    let arm = Arc::new(Limited {
        azure: world.azure.clone(),
        clock: PausedClock(start),
        counts: Mutex::default(),
    });
    let reconciler = Reconciler {
        remotes: over(arm.clone(), world.budget.clone()),
        clock: Arc::new(PausedClock(start)),
        ..world.reconciler()
    };
    let queue = Queue::new(QueueSettings::default(), Arc::new(SystemRandom));
    for key in keys {
        queue.add(key);
    }
    let stop = CancellationToken::new();
    let (stopper, counted) = (stop.clone(), arm.clone());
    let early = Arc::new(Mutex::new(Counts::default()));
    let first = early.clone();
    tokio::spawn(async move {
        tokio::time::sleep(Duration::from_secs(60)).await;
        *first.lock().unwrap() = *counted.counts.lock().unwrap();
        // The first regular sync comes after 45 minutes.
        tokio::time::sleep(Duration::from_secs(2600 - 60)).await;
        stopper.cancel();
    });
    let work = move |look: Look| {
        let reconciler = reconciler.clone();
        async move { reconciler.look(&look).await }
    };
    queue.run(work, stop).await;
    let counts = *arm.counts.lock().unwrap();
    assert_eq!(
        (counts.reads, counts.others, counts.refused),
        (OBJECTS, 0, 0)
    );
    // 150 at once and 15 per second: 100 and 10 per second are kept for what somebody waits for.
    let early = early.lock().unwrap().reads;
    assert!(
        (900..=1060).contains(&early),
        "{early} reads in the first minute"
    );
    let writes = world.journal.take();
    let writes = writes.iter().filter(|line| !line.starts_with("GET "));
    assert_eq!(writes.count(), 0, "nothing is written anywhere");
}

/// The one that takes over knows objects from a watch. The one before it has sent and noted an edit since.
#[tokio::test]
async fn who_takes_over_sends_no_older_spec() {
    let (world, store) = World::with_store().await;
    let old = world.cluster.object(&store).unwrap();
    world.store(json!({"capacity": 6}));
    assert_eq!(world.pass(&store).await, Requeue::Sync);
    let edited = world.azure.get(STORE).unwrap();
    assert_eq!(edited["properties"]["capacity"], 6);
    world.forget();
    world.cluster.lag_at(old);
    let after = world.reconciler();
    for _ in 0..3 {
        after.reconcile(&store).await;
    }
    assert!(world.azure.take_bodies().is_empty(), "nothing is sent");
    assert_eq!(world.azure.get(STORE).unwrap(), edited);
    assert_eq!(world.ready(&store), "True//Succeeded");
}
