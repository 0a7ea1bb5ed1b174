//! Words that stand in every error: a value that has them in it must not make errors unreadable, and a cover where one of them has to
//! stand would tell that it is the value.

use std::ops::Range;

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

/// What a mark begins and ends with.
const DASHES: &str = "-----";
/// Bytes of the longest label of a mark.
const LONGEST_LABEL: usize = 64;

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
    if telling.contains(&true) || is_common(text) || marks(text).first() == Some(&(0..text.len())) {
        return telling;
    }
    // A value of nothing but such words, or of them and a little more. One without blanks is known by what joins its words, such as
    // `Admin-Password!`; a sentence has joints in common with others, and is known by its beginning.
    let mut words = text.split(is_between).filter(|word| !word.is_empty());
    let is_sentence = text.contains(char::is_whitespace);
    if is_sentence && words.any(|word| !is_common(word)) {
        telling.iter_mut().take(1).for_each(|first| *first = true);
    }
    if !is_sentence {
        let mut joints = vec![false; text.len()];
        for (at, _) in text.char_indices().filter(|(_, sign)| is_between(*sign)) {
            joints[at] = true;
        }
        let windows = joints.windows(WINDOW).map(|window| window.contains(&true));
        telling = windows.collect();
    }
    telling
}

/// Whether each byte is of no such word, and of no mark about what follows (`-----BEGIN PRIVATE KEY-----`).
fn own_bytes(text: &str) -> Vec<bool> {
    let mut own = Vec::with_capacity(text.len());
    for word in text.split_inclusive(is_between) {
        let letters = word.trim_end_matches(is_between);
        own.resize(own.len() + letters.len(), !is_common(letters));
        own.resize(own.len() + word.len() - letters.len(), true);
    }
    for mark in marks(text) {
        own[mark].fill(false);
    }
    own
}

/// Where marks stand around a key or a certificate (RFC 7468).
fn marks(text: &str) -> Vec<Range<usize>> {
    let mut marks = Vec::new();
    let mut from = 0;
    while let Some(at) = text[from..].find(DASHES).map(|at| from + at) {
        let label = at + DASHES.len();
        let length = text[label..]
            .bytes()
            .take(LONGEST_LABEL)
            .take_while(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit() || *byte == b' ')
            .count();
        let end = label + length;
        let is_label = ["BEGIN ", "END "]
            .iter()
            .any(|word| text[label..].starts_with(word));
        if is_label && text[end..].starts_with(DASHES) {
            marks.push(at..end + DASHES.len());
            from = end + DASHES.len();
        } else {
            from = at + 1;
        }
    }
    marks
}

fn is_between(sign: char) -> bool {
    !sign.is_alphanumeric()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_in_order() {
        assert!(WORDS.is_sorted());
    }

    /// A Secret may have a megabyte of them: where each window looks through the whole, this ends on no working day.
    #[test]
    fn a_large_value_of_such_words_is_looked_through_once() {
        let value = "code-".repeat(200_000);
        let windows = telling(&value);
        assert_eq!(windows.len(), value.len() + 1 - WINDOW);
        assert!(windows.into_iter().all(|is_telling| is_telling));
    }

    #[test]
    fn windows_of_common_words_tell_nothing() {
        for (text, windows) in [
            ("password", "0"),
            ("Password1", "11"),
            ("error code", "000"),
            ("my-message", "111"),
            ("Admin-Password!", "11111101"),
            ("the error: hunter2", "00000011111"),
            ("-----BEGIN A-----", "0000000000"),
            ("-----BEGIN A-----\nabcdef", "00000000000000111"),
            ("-----BEGIN A-----\\nabcdef", "000000000000001111"),
            ("-----BEGIN A-----abcdef", "0000000000000011"),
            ("-----hunter2", "11111"),
        ] {
            let told = telling(text).into_iter().map(u8::from);
            let told: String = told.map(|is| is.to_string()).collect();
            assert_eq!(told, windows, "{text}");
        }
    }
}
