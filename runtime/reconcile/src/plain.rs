//! Texts of users and answers of Azure as messages show them.

use std::borrow::Cow;
use std::fmt::Write as _;

/// A text in which nothing moves the cursor or turns the direction of writing: whoever reads it in a terminal sees what it says.
/// Ends of lines stay.
pub fn plain(text: &str) -> Cow<'_, str> {
    if !text.chars().any(is_odd) {
        return Cow::Borrowed(text);
    }
    let mut plain = String::with_capacity(text.len());
    for letter in text.chars() {
        if is_odd(letter) {
            // Writing to a String cannot fail.
            let _ = write!(plain, "\\u{:04x}", u32::from(letter));
        } else {
            plain.push(letter);
        }
    }
    Cow::Owned(plain)
}

/// Control characters but for ends of lines and tabs, marks without width, and those that turn the direction (Unicode, UAX #9).
pub fn is_odd(letter: char) -> bool {
    match letter {
        '\n' | '\t' => false,
        '\u{200b}'..='\u{200f}'
        | '\u{2028}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}'
        | '\u{feff}' => true,
        letter => letter.is_control(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_cannot_be_seen_is_spelled_out() {
        for (text, expected) in [
            ("a\nb\tc é 漢", "a\nb\tc é 漢"),
            ("a\rb", "a\\u000db"),
            ("\u{1b}[31mred", "\\u001b[31mred"),
            ("x\u{202e}cba", "x\\u202ecba"),
            ("zero\u{200b}width\u{feff}", "zero\\u200bwidth\\ufeff"),
            ("c1 \u{9b}31m", "c1 \\u009b31m"),
        ] {
            assert_eq!(plain(text), expected, "{text:?}");
        }
    }
}
