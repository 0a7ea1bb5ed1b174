//! Threads of their own for passes over objects: what a tenant's object takes to compute holds up neither the conversion webhook, nor
//! the Lease, nor watches and probes.
//!
//! A connection is driven on the threads of whoever opened it. So all that shares one with passes runs here, too: questions to Azure
//! Resource Graph, which go by the same client and the same tokens, and the last writes of what passes know. What runs elsewhere
//! has clients of its own ([`armature_runtime::kubernetes::Clients`]).

use std::future::Future;
use std::io;
use std::panic::resume_unwind;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use armature_runtime::reconcile::queue::Look;
use tokio::runtime::{Builder, Handle, Runtime};
use tokio::time::Instant;
use tokio_util::task::AbortOnDropHandle;

/// How long a pass may compute without letting others have their turn, before the log names it.
const LONG: Duration = Duration::from_secs(1);

/// Fewest threads: where one is held, others go on.
const FEWEST: usize = 2;

/// What each of them is called.
pub const NAME: &str = "pass";

/// The threads. They end with this value; what they compute then is not waited for.
pub struct PassThreads {
    handle: Handle,
    runtime: Option<Runtime>,
}

impl PassThreads {
    /// As many as there are processors for the process.
    ///
    /// # Errors
    /// When the system gives no threads.
    pub fn start() -> io::Result<Self> {
        let processors = std::thread::available_parallelism().map_or(FEWEST, usize::from);
        let runtime = Builder::new_multi_thread()
            .worker_threads(processors.max(FEWEST))
            .thread_name(NAME)
            .enable_all()
            .build()?;
        Ok(Self {
            handle: runtime.handle().clone(),
            runtime: Some(runtime),
        })
    }

    /// Where passes are to run.
    pub fn handle(&self) -> &Handle {
        &self.handle
    }

    /// Does work on these threads that is no pass. It is cut off where whoever waits for it is; nothing comes of it where the threads
    /// have ended.
    pub async fn run<T: Send + 'static>(
        &self,
        work: impl Future<Output = T> + Send + 'static,
    ) -> Option<T> {
        let done = AbortOnDropHandle::new(self.handle.spawn(work)).await;
        done.map_err(|error| match error.try_into_panic() {
            // As if it had run here.
            Ok(panic) => resume_unwind(panic),
            Err(ended) => tracing::debug!(%ended, "the threads of passes have ended"),
        })
        .ok()
    }
}

impl Drop for PassThreads {
    fn drop(&mut self) {
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}

/// A pass that is named in the log where it holds its thread for long: a defect, or an object that asks for too much.
pub struct Timed<F> {
    pass: Pin<Box<F>>,
    look: Look,
}

impl<F: Future> Timed<F> {
    /// Of this look.
    pub fn new(look: Look, pass: F) -> Self {
        Self {
            pass: Box::pin(pass),
            look,
        }
    }
}

impl<F: Future> Future for Timed<F> {
    type Output = F::Output;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<F::Output> {
        let began = Instant::now();
        let polled = self.pass.as_mut().poll(context);
        let held = began.elapsed();
        if held > LONG {
            let (key, seconds) = (&self.look.key, held.as_secs_f64());
            tracing::warn!(%key, seconds, "a pass computed for long without a pause; other passes waited for it");
        }
        polled
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use armature_runtime::reconcile::backoff::{Requeue, SystemRandom};
    use armature_runtime::reconcile::queue::{Queue, QueueSettings};
    use armature_runtime::resource::{Kind, ObjectKey};
    use armature_runtime::testing::gadget::MODEL;
    use tokio_util::sync::CancellationToken;
    use tracing_subscriber::layer::SubscriberExt;

    use super::*;
    use crate::logging::LogStyle;
    use crate::logging::testing::{Lines, subscribe};

    fn look(name: &str) -> Look {
        Look {
            key: ObjectKey {
                kind: Kind(&MODEL),
                namespace: "web".to_owned(),
                name: name.to_owned(),
            },
            since_first: Duration::ZERO,
            waited: Duration::ZERO,
        }
    }

    /// The runtime of the queue has one thread, on which the webhook would be served, too.
    #[tokio::test]
    async fn a_pass_that_computes_holds_up_no_one_else() {
        let threads = PassThreads::start().unwrap();
        let queue = Queue::new(QueueSettings::default(), Arc::new(SystemRandom));
        queue.run_passes_on(threads.handle().clone());
        queue.add(look("hog").key);
        let stop = CancellationToken::new();
        let work = |look: Look| {
            Timed::new(look, async {
                std::thread::sleep(Duration::from_secs(3));
                Requeue::Never
            })
        };
        let others = async {
            let mut longest = Duration::ZERO;
            for _ in 0..20 {
                let began = Instant::now();
                tokio::time::sleep(Duration::from_millis(50)).await;
                longest = longest.max(began.elapsed());
            }
            assert_eq!(queue.depth().running, 1, "it computes still");
            stop.cancel();
            longest
        };
        let ((), longest) = tokio::join!(queue.run(work, stop.clone()), others);
        assert!(longest < Duration::from_secs(2), "{longest:?}");
    }

    #[tokio::test]
    async fn a_pass_that_holds_its_thread_is_named() {
        let lines = Lines::default();
        let subscriber =
            tracing_subscriber::Registry::default().with(LogStyle::default().lines(lines.writer()));
        let _logs = subscribe(subscriber);
        Timed::new(look("quick"), async {
            tokio::time::sleep(Duration::from_millis(1100)).await;
        })
        .await;
        assert_eq!(lines.text(), "", "it waited, and computed nothing");
        Timed::new(look("hog"), async {
            std::thread::sleep(Duration::from_millis(1100));
        })
        .await;
        let text = lines.text();
        assert!(
            text.contains("web/hog") && text.contains("computed for long"),
            "{text}"
        );
    }
}
