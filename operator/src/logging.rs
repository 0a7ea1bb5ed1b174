//! Log lines: for people on a terminal, JSON for collectors.

use std::io::IsTerminal;

use tracing::Subscriber;
use tracing_subscriber::fmt::MakeWriter;
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::registry::LookupSpan;
use tracing_subscriber::util::SubscriberInitExt;
use tracing_subscriber::{EnvFilter, Layer, Registry, fmt};

use crate::traces::Traces;

/// How log lines look and how many there are.
#[derive(Clone, Copy, Debug, Default)]
pub struct LogStyle {
    /// One JSON object per line, instead of text.
    pub json: bool,
    /// Text in colours.
    pub ansi: bool,
    /// 0 to 2; more says more.
    pub verbosity: u8,
}

impl LogStyle {
    /// Level of everything that `RUST_LOG` does not name.
    fn default_filter(self) -> EnvFilter {
        EnvFilter::new(match self.verbosity {
            0 => "info",
            1 => "info,armature=debug,armature_runtime=debug,armature_customizations=debug",
            _ => "debug",
        })
    }

    fn layer<S, W>(self, writer: W) -> Box<dyn Layer<S> + Send + Sync>
    where
        S: Subscriber + for<'span> LookupSpan<'span>,
        W: for<'writer> MakeWriter<'writer> + Send + Sync + 'static,
    {
        let layer = fmt::layer().with_writer(writer).with_ansi(self.ansi);
        if self.json {
            layer.json().flatten_event(true).boxed()
        } else {
            layer.with_target(false).boxed()
        }
    }

    /// Log lines for a writer, whatever `RUST_LOG` says.
    pub fn lines<S, W>(self, writer: W) -> impl Layer<S> + Send + Sync
    where
        S: Subscriber + for<'span> LookupSpan<'span>,
        W: for<'writer> MakeWriter<'writer> + Send + Sync + 'static,
    {
        self.layer(writer).with_filter(self.default_filter())
    }
}

/// Sends log lines of this process to standard error, and its spans to the collector. Does nothing when a subscriber is
/// set already.
pub fn initialise(json: bool, verbosity: u8, traces: Option<&Traces>) {
    let style = LogStyle {
        json,
        verbosity,
        ansi: std::io::stderr().is_terminal(),
    };
    let filter = EnvFilter::try_from_default_env().unwrap_or_else(|_| style.default_filter());
    let lines = style.layer(std::io::stderr).with_filter(filter);
    let subscriber = Registry::default()
        .with(lines)
        .with(traces.map(Traces::layer));
    // Fails only when a subscriber is set: a program that embeds the operator keeps its own.
    let _ = subscriber.try_init();
}
