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

/// Whether the text shows any eight bytes of the secret one after another, in whatever form.
pub fn shows_part(text: &str, secret: &str) -> bool {
    let parts: BTreeSet<&[u8]> = secret.as_bytes().windows(BEGINNING).collect();
    let readings = readings(text);
    let mut readings = readings.iter();
    readings.any(|reading| reading.windows(BEGINNING).any(|part| parts.contains(part)))
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
        without_entities(text),
    ];
    if std::str::from_utf8(text).is_ok() {
        let words = text.split(|byte| value(*byte).is_none());
        for word in words.filter(|word| word.len() >= 6) {
            all.extend((0..4).map(|skipped| from_base64(&word[skipped..])));
        }
        all.extend([0, 1].map(|skipped| from_digits(text, skipped)));
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

/// With the entities of XML resolved.
fn without_entities(text: &[u8]) -> Vec<u8> {
    const NAMED: [(&str, &str); 5] = [
        ("&lt;", "<"),
        ("&gt;", ">"),
        ("&quot;", "\""),
        ("&apos;", "'"),
        ("&amp;", "&"),
    ];
    let text = String::from_utf8_lossy(text);
    let mut parts = text.split("&#");
    let mut numbered = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let sign = part.split_once(';').and_then(|(number, rest)| {
            let number = match number.strip_prefix('x') {
                Some(digits) => u32::from_str_radix(digits, 16),
                None => number.parse(),
            };
            Some((char::from_u32(number.ok()?)?, rest))
        });
        match sign {
            Some((sign, rest)) => numbered.extend([&sign.to_string(), rest]),
            None => numbered.extend(["&#", part]),
        }
    }
    let named = NAMED
        .iter()
        .fold(numbered, |text, (name, sign)| text.replace(name, sign));
    named.into_bytes()
}

/// Hexadecimal digits, two to a byte, whatever stands between them. Shorter runs are letters of words.
fn from_digits(text: &[u8], skipped: usize) -> Vec<u8> {
    let runs = text.split(|byte| !(byte.is_ascii_hexdigit() || b" -:".contains(byte)));
    let mut out = Vec::new();
    for run in runs.filter(|run| run.len() >= 2 * BEGINNING) {
        let digits = run.iter().filter_map(|byte| char::from(*byte).to_digit(16));
        let digits: Vec<u32> = digits.skip(skipped).collect();
        if digits.len() + skipped >= 2 * BEGINNING {
            let bytes = digits.chunks_exact(2).map(|pair| pair[0] * 16 + pair[1]);
            out.extend(bytes.filter_map(|byte| u8::try_from(byte).ok()));
            out.push(0);
        }
    }
    out
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
            "p&quot;&#xe4;&#43; 8/9abc",
            "7022c3a42b20382f39616263",
            "a: 70-22-C3-A4-2B-20-38-2F-39",
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
        assert!(shows_part("…+ 8/9abc", "p\"ä+ 8/9abc") && !shows_part("8/9abc", "p\"ä+ 8/9abc"));
    }
}
