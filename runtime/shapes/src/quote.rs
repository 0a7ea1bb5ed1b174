//! Texts of users in messages. Whoever writes an object chooses how long its words are, and a message that repeats one goes
//! into conditions, events and logs.

use std::borrow::Cow;

/// Signs of a text of a user that a message repeats.
const LONGEST: usize = 200;

/// The text as a message quotes it: the beginning of a long one.
#[must_use]
pub fn shortened(text: &str) -> Cow<'_, str> {
    match text.char_indices().nth(LONGEST) {
        None => Cow::Borrowed(text),
        Some((end, _)) => Cow::Owned(format!("{}…", &text[..end])),
    }
}

/// Cuts a message off at so many bytes, at most, and says so with one more sign.
pub fn cut(message: &mut String, bytes: usize) {
    if message.len() > bytes {
        let end = message.floor_char_boundary(bytes);
        message.truncate(end);
        message.push('…');
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_texts_are_quoted_by_their_beginning() {
        for short in ["", "a", &"ä".repeat(LONGEST)] {
            assert_eq!(shortened(short), short);
        }
        let long = "ä".repeat(LONGEST + 1);
        assert_eq!(shortened(&long), "ä".repeat(LONGEST) + "…");
    }

    #[test]
    fn messages_are_cut_between_signs() {
        let mut message = "aää".to_owned();
        cut(&mut message, 5);
        assert_eq!(message, "aää");
        cut(&mut message, 4);
        assert_eq!(message, "aä…");
    }
}
