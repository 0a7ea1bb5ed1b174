//! Log lines: for people on a terminal, JSON for collectors.

mod one_line;

use tracing::{Level, Metadata, Subscriber};
use tracing_subscriber::filter::FilterFn;
use tracing_subscriber::fmt::MakeWriter;
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::registry::LookupSpan;
use tracing_subscriber::util::SubscriberInitExt;
use tracing_subscriber::{EnvFilter, Layer, Registry, fmt};

use self::one_line::OneLine;
use crate::colour::Colour;
use crate::traces::Traces;

/// kube's client, as it names itself in log lines.
const CLIENT: &str = "kube_client";
/// Its modules.
const CLIENT_MODULES: &str = "kube_client::";

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
        let layer = fmt::layer()
            .with_writer(OneLine {
                writers: writer,
                ansi: self.ansi,
            })
            .with_ansi(self.ansi);
        let layer = if self.json {
            layer.json().flatten_event(true).boxed()
        } else {
            layer.with_target(false).boxed()
        };
        layer.with_filter(FilterFn::new(holds_no_body)).boxed()
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

/// Whether a line can hold no body of an answer. kube's client prints those that it cannot read as warnings, and a list of
/// Secrets holds what was applied by kubectl; no setting brings them back.
fn holds_no_body(line: &Metadata<'_>) -> bool {
    let target = line.target();
    let is_client = target == CLIENT || target.starts_with(CLIENT_MODULES);
    !is_client || *line.level() == Level::ERROR
}

/// Sends log lines of this process to standard error, and its spans to the collector. Does nothing when a subscriber is
/// set already.
pub fn initialise(json: bool, verbosity: u8, traces: Option<&Traces>) {
    let style = LogStyle {
        json,
        verbosity,
        ansi: Colour::of(&std::io::stderr()) == Colour::Yes,
    };
    let filter = EnvFilter::try_from_default_env().unwrap_or_else(|_| style.default_filter());
    let lines = style.layer(std::io::stderr).with_filter(filter);
    let subscriber = Registry::default()
        .with(lines)
        .with(traces.map(Traces::layer));
    // Fails only when a subscriber is set: a program that embeds the operator keeps its own.
    let _ = subscriber.try_init();
}

#[cfg(test)]
pub(crate) mod testing {
    //! Log lines in memory.

    use std::io;
    use std::sync::{Arc, LazyLock, Mutex};

    use tracing::subscriber::DefaultGuard;
    use tracing::{Dispatch, Subscriber};
    use tracing_subscriber::Registry;

    /// Of this thread alone, until the guard is dropped.
    pub(crate) fn subscribe(subscriber: impl Subscriber + Send + Sync) -> DefaultGuard {
        // As long as there is one subscriber, `tracing` asks that of the thread which comes by a line first whether anybody
        // wants it, and remembers the answer for all: that of a test beside this one says no.
        static ANOTHER: LazyLock<Dispatch> = LazyLock::new(|| Dispatch::new(Registry::default()));
        LazyLock::force(&ANOTHER);
        tracing::subscriber::set_default(subscriber)
    }

    /// Lines that were written; clones are the same lines.
    #[derive(Clone, Default)]
    pub(crate) struct Lines(Arc<Mutex<Vec<u8>>>);

    impl Lines {
        /// For a subscriber.
        pub(crate) fn writer(&self) -> impl Fn() -> Self + Send + Sync + use<> {
            let lines = self.clone();
            move || lines.clone()
        }

        /// What was written so far.
        pub(crate) fn text(&self) -> String {
            String::from_utf8(self.0.lock().unwrap().clone()).unwrap()
        }
    }

    impl io::Write for Lines {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.lock().unwrap().extend_from_slice(bytes);
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::testing::{Lines, subscribe};
    use super::*;

    /// Lines of a pass in this style.
    fn log(style: LogStyle) -> String {
        let lines = Lines::default();
        let subscriber = Registry::default().with(style.lines(lines.writer()));
        {
            let _log = subscribe(subscriber);
            let _pass = tracing::info_span!("reconcile", kind = "Vault", name = "v").entered();
            tracing::info!(reason = "Succeeded", "status changes");
            tracing::debug!("step");
            tracing::debug!(target: "hyper", "connected");
        }
        lines.text()
    }

    /// Words of a tenant or of Azure that would look like a line of the operator's own, or like other words.
    #[test]
    fn whatever_is_logged_is_one_line() {
        let forged = "x\n2026-11-29T13:00:00Z  WARN the key was replaced\r\u{202e}nimda \u{1b}[31m \u{1b}[2J \u{1b}[8mhidden \u{1b}[30;40m \u{e0041}";
        for json in [false, true] {
            for ansi in [false, true] {
                let style = LogStyle {
                    json,
                    ansi,
                    verbosity: 0,
                };
                let lines = Lines::default();
                let subscriber = Registry::default().with(style.lines(lines.writer()));
                {
                    let _log = subscribe(subscriber);
                    let _pass = tracing::info_span!("reconcile", name = forged).entered();
                    tracing::warn!(text = forged, shown = %forged, debug = ?forged, "{forged}");
                }
                let text = lines.text();
                assert_eq!(text.matches('\n').count(), 1, "{text:?}");
                assert!(text.ends_with('\n'), "{text:?}");
                assert!(!text.contains(['\r', '\u{202e}']), "{text:?}");
                for escape in ["\u{1b}[2J", "\u{1b}[8m", "\u{1b}[30"] {
                    assert!(!text.contains(escape), "{text:?}");
                }
                assert!(!text.contains('\u{e0041}'), "{text:?}");
                assert!(ansi || !text.contains('\u{1b}'), "{text:?}");
                if json {
                    let line: serde_json::Value = serde_json::from_str(&text).unwrap();
                    assert_eq!(line["text"], forged);
                }
            }
        }
    }

    #[test]
    fn json_lines_carry_the_pass() {
        let style = LogStyle {
            json: true,
            ..LogStyle::default()
        };
        let text = log(style);
        let line: serde_json::Value = serde_json::from_str(text.trim()).unwrap();
        assert_eq!(line["message"], "status changes");
        assert_eq!(line["level"], "INFO");
        assert_eq!(line["reason"], "Succeeded");
        assert_eq!(line["span"]["kind"], "Vault");
    }

    #[test]
    fn no_verbosity_brings_back_bodies_that_could_not_be_read() {
        for verbosity in 0..=2 {
            let style = LogStyle {
                verbosity,
                ..LogStyle::default()
            };
            let lines = Lines::default();
            let subscriber = Registry::default().with(style.lines(lines.writer()));
            {
                let _log = subscribe(subscriber);
                tracing::warn!(target: "kube_client::client", "{{password}}");
                tracing::debug!(target: "kube_client", "{{password}}");
                tracing::error!(target: "kube_client::client", "failed");
            }
            let text = lines.text();
            assert!(!text.contains("password"), "{text}");
            assert!(text.contains("failed"), "{text}");
        }
    }

    #[test]
    fn verbosity_adds_our_steps_and_then_those_of_libraries() {
        for (verbosity, expected) in [(0, 1), (1, 2), (2, 3)] {
            let style = LogStyle {
                verbosity,
                ..LogStyle::default()
            };
            let text = log(style);
            assert_eq!(text.lines().count(), expected, "{text}");
            let pass = "reconcile{kind=\"Vault\" name=\"v\"}: status changes reason=\"Succeeded\"";
            assert!(text.contains(pass), "{text}");
        }
    }
}
