//! What is told about text that is no JSON.

use super::LoadError;

/// Most letters of a parser's message that are passed on.
const LONGEST_REASON: usize = 300;

/// The parser's error, with the position apart from the message.
pub(super) fn broken(file: &str, error: &serde_json::Error) -> LoadError {
    let text = error.to_string();
    let reason = text
        .rfind(" at line ")
        .map_or(text.as_str(), |end| &text[..end]);
    // The parser quotes what it found, however long that is.
    let reason = match reason.char_indices().nth(LONGEST_REASON) {
        Some((end, _)) => format!("{}…", &reason[..end]),
        None => reason.to_owned(),
    };
    LoadError::BrokenJson {
        file: file.to_owned(),
        line: error.line(),
        column: error.column(),
        reason,
    }
}
