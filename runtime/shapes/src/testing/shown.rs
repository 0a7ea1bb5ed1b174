//! Whether a text shows a secret: the text is decoded in every way in which somebody could, and the secret looked for in what comes
//! out. So the search knows nothing of how a value may be written, and shares no mistake with what covers it.

use std::collections::BTreeSet;

/// How often a text is decoded.
const ROUNDS: usize = 4;
/// Signs of a secret that may be shown: fewer than these stand anywhere.
const BEGINNING: usize = 8;

/// Whether the text shows the secret, or its first eight signs, in whatever form.
pub fn shows(text: &str, secret: &str) -> bool {
    shows_any(text, &[secret])
}

/// The same of several secrets.
pub fn shows_any(text: &str, secrets: &[&str]) -> bool {
    let beginning = |secret: &&str| {
        let end = secret.char_indices().nth(BEGINNING);
        let end = end.map_or(secret.len(), |(end, _)| end);
        secret.as_bytes()[..end].to_vec()
    };
    let beginnings: Vec<Vec<u8>> = secrets.iter().map(beginning).collect();
    let is_in = |reading: &[u8], beginning: &[u8]| {
        let mut parts = reading.windows(beginning.len().max(1));
        parts.any(|part| part == beginning)
    };
    let readings = readings(text);
    let mut readings = readings.iter();
    readings.any(|reading| beginnings.iter().any(|beginning| is_in(reading, beginning)))
}

/// The text, and all that it can be decoded to.
fn readings(text: &str) -> BTreeSet<Vec<u8>> {
    let mut known = BTreeSet::from([text.as_bytes().to_vec()]);
    let mut last = known.clone();
    for _ in 0..ROUNDS {
        let found = last.iter().flat_map(|text| decoded(text));
        let found: BTreeSet<Vec<u8>> = found.filter(|text| !known.contains(text)).collect();
        known.extend(found.iter().cloned());
        // What comes out of base64 is short, or no text.
        last = found;
    }
    known
}

fn decoded(text: &[u8]) -> Vec<Vec<u8>> {
    let plus: Vec<u8> = text
        .iter()
        .map(|byte| if *byte == b'+' { b' ' } else { *byte })
        .collect();
    let mut all = vec![
        without_escapes(text),
        without_percent(text),
        without_percent(&plus),
    ];
    if std::str::from_utf8(text).is_ok() {
        let words = text.split(|byte| value(*byte).is_none());
        for word in words.filter(|word| word.len() >= 6) {
            all.extend((0..4).map(|skipped| from_base64(&word[skipped..])));
        }
    }
    all
}

/// With the escapes of JSON resolved, those that are none left as they are.
fn without_escapes(text: &[u8]) -> Vec<u8> {
    let text = String::from_utf8_lossy(text);
    let mut units: Vec<u16> = Vec::new();
    let mut rest = text.chars();
    while let Some(sign) = rest.next() {
        let mut ahead = rest.clone();
        let escaped = match (sign, ahead.next()) {
            ('\\', Some('u')) => {
                let digits: String = ahead.by_ref().take(4).collect();
                (digits.len() == 4)
                    .then(|| u16::from_str_radix(&digits, 16).ok())
                    .flatten()
            }
            ('\\', Some('n')) => Some(10),
            ('\\', Some('r')) => Some(13),
            ('\\', Some('t')) => Some(9),
            ('\\', Some('b')) => Some(8),
            ('\\', Some('f')) => Some(12),
            ('\\', Some(sign @ ('"' | '\\' | '/' | '\''))) => u16::try_from(u32::from(sign)).ok(),
            _ => None,
        };
        match escaped {
            Some(unit) => {
                units.push(unit);
                rest = ahead;
            }
            None => units.extend(sign.encode_utf16(&mut [0; 2]).iter()),
        }
    }
    String::from_utf16_lossy(&units).into_bytes()
}

fn without_percent(text: &[u8]) -> Vec<u8> {
    percent_encoding::percent_decode(text).collect()
}

fn from_base64(word: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    let (mut bits, mut count) = (0_u32, 0);
    for six in word.iter().filter_map(|byte| value(*byte)) {
        bits = (bits << 6) | six;
        count += 6;
        if count >= 8 {
            count -= 8;
            out.extend(u8::try_from(bits >> count));
            bits &= (1 << count) - 1;
        }
    }
    out
}

fn value(byte: u8) -> Option<u32> {
    const LETTERS: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let byte = match byte {
        b'-' => b'+',
        b'_' => b'/',
        byte => byte,
    };
    let at = LETTERS.bytes().position(|letter| letter == byte)?;
    u32::try_from(at).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_is_found_in_every_form() {
        for text in [
            "is 'p\"ä+ 8/9abc'",
            "is 'p\"ä+ 8/9' and cut",
            r#"{"a": "p\"ä+ 8/9abc"}"#,
            r#"{\"a\": \"p\\\"\u00e4\u002B 8\/9abc\"}"#,
            "?a=p%22%c3%A4%2b+8%2F9abc",
            "p%2522%25C3%25a4%252B%25208%252f9abc",
            "cCLDpCsgOC85YWJj",
            "-cCLDpCsgOC85YWJj_",
            "OnAiw6QrIDgvOWFiYw==",
            "eHBwIsOkKyA4LzlhYmM",
        ] {
            assert!(shows(text, "p\"ä+ 8/9abc"), "{text}");
        }
        for text in [
            "",
            "p\"ä+ 8/",
            "(secret)",
            r"\u00",
            "%",
            "%2",
            "cCLDpCsgOC8",
        ] {
            assert!(!shows(text, "p\"ä+ 8/9abc"), "{text}");
        }
    }
}
