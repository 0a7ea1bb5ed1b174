//! Printing what others may cut short.

use std::fmt::Display;
use std::io::{self, Write};

use anyhow::Context;
use armature_runtime::reconcile::plain::plain;

/// Prints a text to standard output. A reader that has seen enough (`armature crds | head`) closes the pipe, which is
/// no failure.
///
/// # Errors
/// When the text cannot be written for another reason, such as a full disk.
pub fn print(text: &str) -> anyhow::Result<()> {
    print_while_read(text).map(|_| ())
}

/// Prints a text with words of users or of Azure in it, as [`print`] does: they move no cursor and set no colour.
///
/// # Errors
/// As [`print`].
pub fn print_text(text: &str) -> anyhow::Result<()> {
    print(&plain(text))
}

/// Prints a text as [`print`] does, and tells whether somebody still reads it.
///
/// # Errors
/// As [`print`].
pub fn print_while_read(text: &str) -> anyhow::Result<bool> {
    let mut output = io::stdout().lock();
    let written = output
        .write_all(text.as_bytes())
        .and_then(|()| output.flush());
    match written {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(false),
        Err(error) => Err(error).context("cannot write to standard output"),
    }
}

/// Prints `error: PROBLEM` to standard error. Where nobody reads it there is nobody to tell.
pub fn print_error(problem: impl Display) {
    let _ = writeln!(io::stderr(), "error: {}", plain(&problem.to_string()));
}

/// Prints `warning: PROBLEM` to standard error, as [`print_error`] does.
pub fn print_warning(problem: impl Display) {
    let _ = writeln!(io::stderr(), "warning: {}", plain(&problem.to_string()));
}

/// An error and its causes in one line. Many errors of libraries repeat their causes in their own text; each is told
/// once.
pub fn message(error: &anyhow::Error) -> String {
    let mut message = String::new();
    for cause in error.chain() {
        // Around a sentence of ours, kube says only that it is a service's.
        let cause = match cause.downcast_ref() {
            Some(kube::Error::Service(held)) => held.to_string(),
            _ => cause.to_string(),
        };
        if message.contains(&cause) {
            continue;
        }
        if !message.is_empty() {
            message.push_str(": ");
        }
        message.push_str(&cause);
    }
    message
}

#[cfg(test)]
mod tests {
    use anyhow::anyhow;

    use super::message;

    #[test]
    fn a_cause_is_told_once() {
        let error = anyhow!("no such file")
            .context("cannot read 'x': no such file")
            .context("cannot start");
        assert_eq!(
            message(&error),
            "cannot start: cannot read 'x': no such file"
        );
        assert_eq!(message(&anyhow!("plain")), "plain");
    }
}
