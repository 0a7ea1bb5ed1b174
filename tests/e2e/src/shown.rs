//! What the operators of this process let others see beside the cluster: log lines and spans.

use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use armature::logging::LogStyle;
use armature::traces::Traces;
use armature_exposure::{Collector, Place};
use tokio::runtime::Handle;
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;

/// Log lines, kept in memory.
#[derive(Clone, Default)]
struct Lines(Arc<Mutex<Vec<u8>>>);

impl io::Write for Lines {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let mut lines = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        lines.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Everything that is logged and traced in this process.
pub struct Shown {
    lines: Lines,
    collector: Collector,
    traces: Traces,
    seen: Mutex<Position>,
}

/// Bytes of the log and bodies of traces.
type Position = (usize, usize);

impl Shown {
    /// Watches from now on; once in a process.
    ///
    /// # Errors
    /// When nothing can be listened on, or somebody watches already.
    pub async fn start() -> anyhow::Result<Self> {
        let collector = Collector::start().await?;
        let url = collector.url().parse().map_err(anyhow::Error::msg)?;
        let shown = Self {
            lines: Lines::default(),
            traces: Traces::start(&url, &Handle::current())?,
            collector,
            seen: Mutex::default(),
        };
        let everything = LogStyle {
            verbosity: 2,
            ..LogStyle::default()
        };
        let lines = shown.lines.clone();
        tracing_subscriber::registry()
            .with(LogStyle::default().lines(io::stderr))
            .with(everything.lines(move || lines.clone()))
            .with(shown.traces.layer())
            .try_init()?;
        Ok(shown)
    }

    /// The collector that spans are sent to, once those that ended have arrived.
    pub async fn collector(&self) -> &Collector {
        self.traces.flush().await;
        &self.collector
    }

    /// The log as it is with `-vv`, and the traces, from the start.
    pub async fn everything(&self) -> Vec<Place> {
        self.from((0, 0)).await.0
    }

    /// What was logged and traced since the last call.
    pub async fn news(&self) -> Vec<Place> {
        let seen = *self.seen();
        let (places, end) = self.from(seen).await;
        let mut seen = self.seen();
        *seen = (seen.0.max(end.0), seen.1.max(end.1));
        places
    }

    async fn from(&self, (line, span): Position) -> (Vec<Place>, Position) {
        let bodies = self.collector().await.bodies();
        let lines = self.lines.0.lock().unwrap_or_else(PoisonError::into_inner);
        let places = vec![
            Place::new("log", &lines[line..]),
            Place::new("traces", bodies[span..].concat()),
        ];
        (places, (lines.len(), bodies.len()))
    }

    fn seen(&self) -> MutexGuard<'_, Position> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
