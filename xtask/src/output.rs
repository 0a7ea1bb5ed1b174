//! Printing results: their formats, and readers that cut them short.

use std::io::{self, Write};

use anyhow::Context;
use clap::ValueEnum;
use serde::Serialize;

/// Format of a result.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// For people.
    #[default]
    Text,
    /// One JSON document.
    Json,
    /// One YAML document.
    Yaml,
    /// One JSON document in each line.
    Jsonl,
}

impl Format {
    /// One document: YAML where that is wanted, else JSON.
    ///
    /// # Errors
    /// When the value cannot be written in the format.
    pub fn document(self, value: &impl Serialize) -> anyhow::Result<String> {
        match self {
            Self::Yaml => serde_saphyr::to_string(value).context("cannot write YAML"),
            _ => Ok(serde_json::to_string_pretty(value)? + "\n"),
        }
    }
}

/// One JSON document in each line.
///
/// # Errors
/// When a value cannot be written as JSON.
pub fn lines<T: Serialize>(values: &[T]) -> anyhow::Result<String> {
    let mut text = String::new();
    for value in values {
        text += &serde_json::to_string(value)?;
        text.push('\n');
    }
    Ok(text)
}

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
