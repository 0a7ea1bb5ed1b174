//! Values in every form in which something could write them, with a search that decodes and knows none of these forms.

use armature_shapes::testing::processor::on_processor;
use armature_shapes::testing::shown::shows;
use base64::Engine;
use base64::engine::general_purpose::{STANDARD, STANDARD_NO_PAD, URL_SAFE, URL_SAFE_NO_PAD};
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use proptest::prelude::*;
use proptest::sample::select;

use super::*;

fn covered_text(text: &str, secrets: &[&str]) -> String {
    let mut text = text.to_owned();
    Secrets::new(secrets.iter().copied()).cover(&mut text);
    text
}

/// A way to write a value.
type Form = fn(&str) -> String;

fn json(text: &str) -> String {
    let quoted = serde_json::Value::from(text).to_string();
    quoted[1..quoted.len() - 1].to_owned()
}

/// As serializers write what could be HTML, or is no ASCII.
fn escaped(text: &str, digits: fn(u16) -> String, is_plain: fn(char) -> bool) -> String {
    let sign = |sign: char| match is_plain(sign) {
        true => sign.to_string(),
        false => sign
            .encode_utf16(&mut [0; 2])
            .iter()
            .map(|unit| digits(*unit))
            .collect(),
    };
    text.chars().map(sign).collect()
}

const FORMS: [Form; 14] = [
    str::to_owned,
    json,
    |text| json(&json(text)),
    |text| json(text).replace('/', "\\/"),
    |text| {
        escaped(
            text,
            |unit| format!("\\u{unit:04x}"),
            |sign| sign.is_ascii_alphanumeric(),
        )
    },
    |text| escaped(text, |unit| format!("\\u{unit:04X}"), |_| false),
    |text| utf8_percent_encode(text, NON_ALPHANUMERIC).to_string(),
    |text| {
        utf8_percent_encode(text, NON_ALPHANUMERIC)
            .to_string()
            .to_lowercase_of_escapes()
    },
    |text| url::form_urlencoded::byte_serialize(text.as_bytes()).collect(),
    |text| STANDARD.encode(text),
    |text| STANDARD_NO_PAD.encode(text),
    |text| URL_SAFE.encode(format!("a{text}, and more")),
    |text| URL_SAFE_NO_PAD.encode(format!("ab{text}")),
    |text| STANDARD.encode(format!("abc{text}\n")),
];

trait LowerEscapes {
    fn to_lowercase_of_escapes(&self) -> String;
}

impl LowerEscapes for String {
    fn to_lowercase_of_escapes(&self) -> String {
        let mut parts = self.split('%');
        let first = parts.next().unwrap_or_default().to_owned();
        let lower = |part: &str| format!("%{}{}", part[..2].to_lowercase(), &part[2..]);
        parts.fold(first, |all, part| all + &lower(part))
    }
}

fn values() -> impl Strategy<Value = String> {
    let signs = "[a-zA-Z0-9]{4,12}|[\"\\\\/+%&<>' =~\\t\\na-z0-9äß€😀-]{8,40}|https://[a-z]{9,12}\\?sig=[a-zA-Z0-9%]{20}";
    signs.prop_filter("blanks are cut off", |value: &String| {
        value.trim().len() > 7
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 256, ..ProptestConfig::default() })]

    /// Whatever way a value is written, within another way or two, whole or cut off: the search finds it before, and not after.
    #[test]
    fn nothing_of_a_value_is_left(
        value in values(), forms in prop::collection::vec(select(&FORMS[..]), 1..3), cut in 0..20usize,
        before in "[ -~]{0,20} '", after in "' [ -~]{0,20}",
    ) {
        let mut written = value.clone();
        let (mut is_base64, mut depth) = (false, 0);
        for form in forms {
            let is_it = |other: &Form| *other as usize == form as usize;
            // In base64 twice, or in JSON four times, is for those who hide it.
            let is_next = FORMS[9..].iter().any(is_it);
            depth += if is_it(&FORMS[2]) { 2 } else { 1 };
            if depth < 4 && !(is_base64 && is_next) {
                written = form(&written);
                is_base64 |= is_next;
            }
        }
        let end = written.floor_char_boundary(written.len().saturating_sub(cut));
        let text = format!("{before}{}{after}", &written[..end]);
        let covered = covered_text(&text, &[&value]);
        prop_assert!(!shows(&covered, &value), "{covered}");
        if cut == 0 {
            prop_assert!(shows(&text, &value), "the search does not find it in {text}");
            prop_assert!(covered.contains(COVER) || covered == WITHHELD, "{covered}");
        }
    }

    /// What is no value stays as it is.
    #[test]
    fn other_texts_stay(text in "\\PC{0,200}") {
        prop_assert_eq!(covered_text(&text, &["correct horse battery"]), text);
    }
}

#[test]
fn what_stands_in_place_of_values() {
    let id = "/subscriptions/s/resourceGroups/g";
    for (text, secrets, expected) in [
        (
            "'hunter2', hunter2!",
            &["hunter2"][..],
            "'(secret)', (secret)!",
        ),
        ("hunter22 hunter", &["hunter2"], "(secret)2 hunter"),
        ("abcdefghij", &["abcdefghijklm"], "(secret)"),
        ("abcdefg hij", &["abcdefghijklm"], "abcdefg hij"),
        ("abcdefghij", &["cdefghij", "abcdef"], "(secret)"),
        ("one two", &["", "a", "one"], "one two"),
        (
            r#"{"a":"p\"w\u00e9 x"}"#,
            &["p\"wé"],
            r#"{"a":"(secret) x"}"#,
        ),
        (
            "see https://aka.ms/x",
            &["https://vault.test/?sig=1"],
            "see https://aka.ms/x",
        ),
        (
            "https://vault.test/?s",
            &["https://vault.test/?sig=1"],
            "(secret)",
        ),
        (
            "/subscriptions/s/resourceGroups/h",
            &[id],
            "/subscriptions/s/resourceGroups/h",
        ),
        ("/subscriptions/s/resourceGroups/g/x", &[id], "(secret)/x"),
        (
            "no MIIEvQIBADANBgkq",
            &["-----BEGIN KEY-----\n  MIIEvQIBADANBgkqhkiG9w0B\n-----END KEY-----"],
            "no (secret)",
        ),
        (
            "-----BEGIN CERT",
            &["-----BEGIN KEY-----\nMIIEvQIBADANBgkqhkiG9w0B"],
            "-----BEGIN CERT",
        ),
    ] {
        assert_eq!(covered_text(text, secrets), expected, "{text}");
    }
}

/// Values and texts that are made to be slow: alike, periodic, or to be decoded in many ways.
#[test]
fn covering_takes_no_longer_than_its_bounds() {
    let long = 8 << 10;
    let many: Vec<String> = (0..100_000)
        .map(|number| format!("aaaaaaaa{number}"))
        .collect();
    let one = vec!["a".repeat(1 << 20)];
    let texts = [
        "a".repeat(long),
        "ab".repeat(long / 2),
        "\\\\u0025".repeat(long / 7),
        "%255C%2575".repeat(long / 10),
        "aaaaaaaa+%61\\n/".repeat(long / 15),
        "\\".repeat(long),
    ];
    let began = on_processor();
    for secrets in [&many, &one] {
        let secrets = Secrets::new(secrets.iter().map(String::as_str));
        for text in &texts {
            secrets.cover(&mut text.clone());
        }
    }
    // A development build: some seconds. Each value against each place would be an hour.
    let took = on_processor().saturating_sub(began);
    assert!(took.as_secs() < 60, "{took:?}");
}
