//! Words that stand in every error: a value that has them in it must not make errors unreadable, and a cover where one of them has to
//! stand would tell that it is the value.

use super::WINDOW;

/// Bytes of a window that have to be of no such word.
const LEAST: usize = 5;

/// In lower case.
const WORDS: [&str; 59] = [
    "admin",
    "array",
    "azure",
    "bearer",
    "boolean",
    "code",
    "config",
    "content",
    "correlation",
    "data",
    "default",
    "detail",
    "details",
    "disabled",
    "enabled",
    "endpoint",
    "error",
    "errors",
    "expected",
    "failed",
    "false",
    "group",
    "http",
    "https",
    "identity",
    "innererror",
    "invalid",
    "json",
    "location",
    "message",
    "missing",
    "name",
    "none",
    "null",
    "number",
    "object",
    "parameter",
    "parameters",
    "password",
    "path",
    "properties",
    "property",
    "request",
    "required",
    "resource",
    "resources",
    "response",
    "secret",
    "secrets",
    "status",
    "string",
    "target",
    "text",
    "token",
    "true",
    "type",
    "username",
    "value",
    "values",
];

/// Whether a text is one of these words.
pub(super) fn is_common(text: &str) -> bool {
    WORDS
        .binary_search(&text.to_ascii_lowercase().as_str())
        .is_ok()
}

/// For each window of a text, whether somebody who sees it knows something of the text.
pub(super) fn telling(text: &str) -> Vec<bool> {
    let own = own_bytes(text);
    let mut count = own.iter().take(WINDOW).filter(|own| **own).count();
    let windows = (text.len() + 1).saturating_sub(WINDOW);
    let mut telling = Vec::with_capacity(windows);
    for at in 0..windows {
        telling.push(count >= LEAST);
        count -= usize::from(own[at]);
        count += usize::from(own.get(at + WINDOW).copied().unwrap_or_default());
    }
    // A value of such words and a little more is known by its beginning.
    let has_own = || {
        let mut words = text.split(is_between).filter(|word| !word.is_empty());
        !is_armor(text) && words.any(|word| !is_common(word))
    };
    if !telling.contains(&true)
        && has_own()
        && let Some(first) = telling.first_mut()
    {
        *first = true;
    }
    telling
}

/// Whether each byte is of no such word, and of no line about what follows (`-----BEGIN …`).
fn own_bytes(text: &str) -> Vec<bool> {
    let mut own = Vec::with_capacity(text.len());
    for line in text.split_inclusive('\n') {
        if is_armor(line) {
            own.resize(own.len() + line.len(), false);
            continue;
        }
        for word in line.split_inclusive(is_between) {
            let letters = word.trim_end_matches(is_between);
            own.resize(own.len() + letters.len(), !is_common(letters));
            own.resize(own.len() + word.len() - letters.len(), true);
        }
    }
    own
}

fn is_between(sign: char) -> bool {
    !sign.is_alphanumeric()
}

fn is_armor(line: &str) -> bool {
    line.trim_start().starts_with("-----")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_in_order() {
        assert!(WORDS.is_sorted());
    }

    #[test]
    fn windows_of_common_words_tell_nothing() {
        for (text, windows) in [
            ("password", "0"),
            ("Password1", "11"),
            ("error code", "000"),
            ("my-message", "100"),
            ("the error: hunter2", "00000011111"),
            ("-----BEGIN", "000"),
            ("-----BEGIN\nabcdef", "0000000011"),
        ] {
            let told = telling(text).into_iter().map(u8::from);
            let told: String = told.map(|is| is.to_string()).collect();
            assert_eq!(told, windows, "{text}");
        }
    }
}
