//! The last lines of a log, which tell most often why something does not start.

use std::fmt;
use std::path::Path;

/// The last lines of a log, for error messages.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LogTail(String);

impl LogTail {
    const LINES: usize = 25;

    /// The last lines of `text`.
    #[must_use]
    pub fn of(text: &str) -> Self {
        let lines: Vec<&str> = text.lines().collect();
        Self(lines[lines.len().saturating_sub(Self::LINES)..].join("\n"))
    }

    /// The last lines of a file, or a note that it cannot be read.
    #[must_use]
    pub fn of_file(path: &Path) -> Self {
        match std::fs::read(path) {
            Ok(bytes) => Self::of(&String::from_utf8_lossy(&bytes)),
            Err(error) => Self(format!("(no log at {}: {error})", path.display())),
        }
    }

    /// Whether the tail contains `text`.
    #[must_use]
    pub fn contains(&self, text: &str) -> bool {
        self.0.contains(text)
    }
}

impl fmt::Display for LogTail {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}
