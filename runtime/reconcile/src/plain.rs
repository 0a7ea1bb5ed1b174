//! Texts of users and answers of Azure as messages show them.

use std::borrow::Cow;
use std::fmt::Write as _;

/// A text in which nothing moves the cursor, sets colours, hides something or turns the direction of writing: whoever reads it in a
/// terminal sees what it says. Ends of lines stay.
pub fn plain(text: &str) -> Cow<'_, str> {
    if !text.chars().any(is_odd) {
        return Cow::Borrowed(text);
    }
    let mut plain = String::with_capacity(text.len());
    for letter in text.chars() {
        match is_odd(letter) {
            true => spell(&mut plain, letter),
            false => plain.push(letter),
        }
    }
    Cow::Owned(plain)
}

/// Spells a letter out as JSON does, with four digits for each unit of UTF-16: in a line of JSON it is still the same letter.
pub fn spell(text: &mut String, letter: char) {
    for unit in letter.encode_utf16(&mut [0; 2]) {
        // Writing to a String cannot fail.
        let _ = write!(text, "\\u{unit:04x}");
    }
}

/// Control characters but for ends of lines and tabs, marks without width, those that turn the direction (Unicode, UAX #9), letters that
/// show nothing, and tags and selectors, in which a text can be written that nobody sees.
pub fn is_odd(letter: char) -> bool {
    match letter {
        '\n' | '\t' => false,
        '\u{ad}'
        | '\u{34f}'
        | '\u{61c}'
        | '\u{115f}'
        | '\u{1160}'
        | '\u{17b4}'
        | '\u{17b5}'
        | '\u{180b}'..='\u{180f}'
        | '\u{200b}'..='\u{200f}'
        | '\u{2028}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}'
        | '\u{3164}'
        | '\u{feff}'
        | '\u{ffa0}'
        | '\u{fff9}'..='\u{fffb}'
        | '\u{e0000}'..='\u{e0fff}' => true,
        letter => letter.is_control(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_cannot_be_seen_is_spelled_out() {
        for (text, expected) in [
            ("a\nb\tc é 漢 😀", "a\nb\tc é 漢 😀"),
            ("a\rb", "a\\u000db"),
            ("\u{1b}[31mred", "\\u001b[31mred"),
            ("\u{1b}[8mhidden", "\\u001b[8mhidden"),
            ("x\u{202e}cba", "x\\u202ecba"),
            ("zero\u{200b}width\u{feff}", "zero\\u200bwidth\\ufeff"),
            ("c1 \u{9b}31m", "c1 \\u009b31m"),
            ("soft\u{ad}hyphen \u{61c}", "soft\\u00adhyphen \\u061c"),
            ("tag\u{e0001}\u{e0061}", "tag\\udb40\\udc01\\udb40\\udc61"),
            ("selector\u{e0100}", "selector\\udb40\\udd00"),
            ("filler\u{3164}", "filler\\u3164"),
        ] {
            assert_eq!(plain(text), expected, "{text:?}");
        }
    }

    #[test]
    fn in_json_it_is_still_the_same_letter() {
        for letter in ['\r', '\u{202e}', '\u{e0001}'] {
            let mut spelled = String::new();
            spell(&mut spelled, letter);
            let read: String = serde_json::from_str(&format!("\"{spelled}\"")).unwrap();
            assert_eq!(read, letter.to_string());
        }
    }
}
