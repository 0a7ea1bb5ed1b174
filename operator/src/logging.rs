//! Log lines: for people on a terminal, JSON for collectors.

use std::io::IsTerminal;

use tracing_subscriber::EnvFilter;

/// Level of everything that `RUST_LOG` does not name.
const DEFAULT: &str = "info";

/// Sends log lines of this process to standard error. Does nothing when a subscriber is set already.
pub fn initialise(json: bool, verbosity: u8) {
    let default = match verbosity {
        0 => DEFAULT.to_owned(),
        1 => "info,armature=debug,armature_runtime=debug,armature_customizations=debug".to_owned(),
        _ => "debug".to_owned(),
    };
    let filter = EnvFilter::try_from_default_env().unwrap_or_else(|_| EnvFilter::new(default));
    let builder = tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(std::io::stderr);
    // Fails only when a subscriber is set: a program that embeds the operator keeps its own.
    let _ = if json {
        builder.json().flatten_event(true).try_init()
    } else {
        builder
            .with_ansi(std::io::stderr().is_terminal())
            .with_target(false)
            .try_init()
    };
}
