//! What the operators of this process let others see beside the cluster: log lines and spans.

use std::io;
use std::sync::{Arc, Mutex, PoisonError};

use armature::logging::LogStyle;
use armature::traces::Traces;
use tokio::runtime::Handle;
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;

use crate::Collector;

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
}

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

    /// The log as it would be with `-vv`.
    pub fn log(&self) -> Vec<u8> {
        let lines = self.lines.0.lock().unwrap_or_else(PoisonError::into_inner);
        lines.clone()
    }

    /// The collector that spans are sent to, once those that ended have arrived.
    pub async fn collector(&self) -> &Collector {
        self.traces.flush().await;
        &self.collector
    }
}
