//! What a takeover does not do without a word.

use serde::Serialize;

/// Something that a takeover does not do without a word.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Exception {
    /// What it is about.
    pub of: String,
    /// What it is.
    pub message: String,
}
