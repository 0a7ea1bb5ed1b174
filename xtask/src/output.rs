//! Printing results that others may cut short.

use std::io::{self, Write};

use anyhow::Context;

/// Prints a text to standard output. A reader that has seen enough (`cargo xtask parity | head`) closes the pipe, which
/// is no failure.
///
/// # Errors
/// When the text cannot be written for another reason, such as a full disk.
pub fn print(text: &str) -> anyhow::Result<()> {
    let mut output = io::stdout().lock();
    let written = output
        .write_all(text.as_bytes())
        .and_then(|()| output.flush());
    match written {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            Err(error).context("cannot write to standard output")
        }
        _ => Ok(()),
    }
}
