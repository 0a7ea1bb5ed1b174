//! Values in every form in which something could write them, with a search that decodes and knows none of these forms.

use armature_shapes::testing::shown::{shows, shows_part};
use base64::Engine;
use base64::engine::general_purpose::{STANDARD, STANDARD_NO_PAD, URL_SAFE, URL_SAFE_NO_PAD};
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use proptest::prelude::*;
use proptest::sample::select;

use super::*;

fn covered_text(text: &str, secrets: &[&str]) -> String {
    let mut text = text.to_owned();
    Secrets::new(secrets.iter().copied()).cover(&mut [&mut text]);
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

/// As XML and HTML have it, every sign that is no letter by number or by name.
fn xml(text: &str) -> String {
    let sign = |sign: char| match sign {
        '&' => "&amp;".to_owned(),
        '<' => "&lt;".to_owned(),
        '"' => "&quot;".to_owned(),
        sign if sign.is_ascii_alphanumeric() => sign.to_string(),
        sign if sign.is_ascii() => format!("&#{};", u32::from(sign)),
        sign => format!("&#x{:X};", u32::from(sign)),
    };
    text.chars().map(sign).collect()
}

fn digits(text: &str, digits: fn(&u8) -> String, between: &str) -> String {
    let bytes: Vec<String> = text.as_bytes().iter().map(digits).collect();
    bytes.join(between)
}

/// From here on bytes are written as letters or digits.
const PACKED: usize = 10;

const FORMS: [Form; 18] = [
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
    xml,
    |text| STANDARD.encode(text),
    |text| STANDARD_NO_PAD.encode(text),
    |text| URL_SAFE.encode(format!("a{text}, and more")),
    |text| URL_SAFE_NO_PAD.encode(format!("ab{text}")),
    |text| STANDARD.encode(format!("abc{text}\n")),
    |text| digits(text, |byte| format!("{byte:02x}"), ""),
    |text| digits(text, |byte| format!("{byte:02X}"), "-"),
    |text| format!("a{}", digits(text, |byte| format!("{byte:02x}"), "")),
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

/// Values, and what is secret of each.
fn values() -> impl Strategy<Value = (String, String)> {
    let signs = "[a-zA-Z0-9]{8,12}|[\"\\\\/+%&<>' ~\\t\\na-z0-9äß€😀-]{10,40}";
    let whole = signs.prop_map(|value| (value.trim().to_owned(), value.trim().to_owned()));
    let whole = whole.prop_filter("blanks are cut off", |(value, _)| value.len() >= 8);
    let frames = [
        ("https://vault.test/?sig=", ""),
        (
            "Server=tcp:sql.test,1433;Database=things;Password=",
            ";Encrypt=True",
        ),
        (
            "DefaultEndpointsProtocol=https;AccountName=things;AccountKey=",
            ";EndpointSuffix=core.test",
        ),
        ("{\"message\": {\"code\": \"", "\"}}"),
        (
            "kind: Config\nusers:\n- name: me\n  token: ",
            "\nmode: none",
        ),
        ("amqps://me:", "@host.test:5671/"),
        ("cache.test:6380,password=", ",ssl=True"),
    ];
    let framed = (select(frames.to_vec()), "[a-zA-Z0-9]{20,40}")
        .prop_map(|((before, after), secret)| (format!("{before}{secret}{after}"), secret));
    prop_oneof![whole, framed]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 256, ..ProptestConfig::default() })]

    /// Whatever way a value is written, within another way or two, whole or cut off at either end: the search finds it before, and
    /// not after.
    #[test]
    fn nothing_of_a_value_is_left(
        (value, secret) in values(), forms in prop::collection::vec(select(&FORMS[..]), 1..3),
        cut_before in 0..20usize, cut in 0..20usize, before in "[ -~]{0,20} '", after in "' [ -~]{0,20}",
    ) {
        let mut written = value.clone();
        let (mut is_packed, mut depth) = (false, 0);
        for form in forms {
            let is_it = |other: &Form| *other as usize == form as usize;
            // In base64 twice, or in JSON four times, is for those who hide it.
            let is_next = FORMS[PACKED..].iter().any(is_it);
            depth += if is_it(&FORMS[2]) { 2 } else { 1 };
            if depth < 4 && !(is_packed && is_next) {
                written = form(&written);
                is_packed |= is_next;
            }
        }
        let start = written.ceil_char_boundary(cut_before);
        let end = written.floor_char_boundary(written.len().saturating_sub(cut)).max(start);
        let text = format!("{before}{}{after}", &written[start..end]);
        let covered = covered_text(&text, &[&value]);
        prop_assert!(!shows_part(&covered, &secret), "{covered}");
        if cut == 0 && cut_before == 0 {
            prop_assert!(shows(&text, &secret), "the search does not find it in {text}");
            prop_assert!(covered.contains(COVER) || covered == WITHHELD, "{covered}");
        }
    }

    /// What is no value stays as it is.
    #[test]
    fn other_texts_stay(text in "\\PC{0,200}") {
        prop_assert_eq!(covered_text(&text, &["correct horse battery"]), text);
    }
}

proptest! {
    // Each of them reads half a megabyte.
    #![proptest_config(ProptestConfig { cases: 12, ..ProptestConfig::default() })]

    /// What it costs to cover a text grows as the text and the values do, however much these have in common: no value is looked
    /// through for each place of the text.
    #[test]
    fn covering_costs_what_is_read(
        start in "[a-z/?=;:&{]{0,40}", alike in 0..40usize, number in 1..2_000usize,
        unit in prop::sample::select(&["a", "ab", "\\\\u0025", "%255C%2575", "aaaaaaaa+%61\\n/", "&#38;#x41", "/subscriptions/", "6161"][..]),
    ) {
        let start = format!("{start}{}", unit.repeat(alike));
        let values: Vec<String> = (0..number).map(|number| format!("{start}{number}")).collect();
        let mut text = start.clone() + &unit.repeat((8 << 10) / unit.len());
        let secrets = Secrets::new(values.iter().map(String::as_str));
        let cost = secrets.cover(&mut [&mut text]);
        let size: usize = values.iter().map(String::len).sum();
        // Twice through all readings, with a key for each length and, where an id begins, for each of its ends.
        let most = 2 * reading::MOST * (WINDOW - SHORTEST + 1 + MOST_ENDS / 15) + 2 * size;
        prop_assert!(cost <= most, "{cost} of {most}");
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
            "https://vault.test/a/long/way",
            &["https://vault.test/a/long/way"],
            "https://vault.test/(secret)",
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
            "no(secret)",
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

/// Keys in one line, passwords that look like paths or hosts, and those of plain words.
#[test]
fn values_in_odd_forms_are_covered() {
    for value in [
        "-----BEGIN PRIVATE KEY-----\\nMIIEvQIBADANBgkqhkiG9w0B\\n-----END PRIVATE KEY-----",
        "-----BEGIN PRIVATE KEY----- MIIEvQIBADANBgkqhkiG9w0B -----END PRIVATE KEY-----",
        "-----BEGIN PRIVATE KEY-----\rMIIEvQIBADANBgkqhkiG9w0B\r-----END PRIVATE KEY-----",
        "-----BEGIN PRIVATE KEY-----MIIEvQIBADANBgkqhkiG9w0B-----END PRIVATE KEY-----",
        "KEY=-----BEGIN PRIVATE KEY-----\\nMIIEvQIBADANBgkqhkiG9w0B\nOTHER=1",
        "{\"k\":\"-----BEGIN PRIVATE KEY-----\\nMIIEvQIBADANBgkqhkiG9w0B\"}",
    ] {
        let text = covered_text("it is MIIEvQIBADANBgkqhkiG9w0B", &[value]);
        assert!(!text.contains("EvQIBADAN"), "{value}: {text}");
    }
    for (value, secret) in [
        ("-----hunter2hunter2xyz", "hunter2hunter2xyz"),
        (
            "postgres://dbadmin:S3cr3tPart/MoreOfIt9@db.test",
            "S3cr3tPart/MoreOfIt9",
        ),
        ("mysql://root:Tr0ub4dor#3xyz@db.test/x", "Tr0ub4dor#3xyz"),
        ("aB3://hunter2hunter2", "hunter2hunter2"),
        (
            "mypassphrasewithport:1234,key=abcdefgh",
            "mypassphrasewithport",
        ),
        ("Azure-Admin-Password!", "Azure-Admin-Password!"),
        (
            "jdbc:mysql://root:hunter2hunter2@db:3306/x;sslKey=ab",
            "hunter2hunter2",
        ),
        (
            "amqp://u:hunter2hunter2@rabbit:5672/v,token=ab",
            "hunter2hunter2",
        ),
        (
            "http://azurite:10000/acc/c?sig=hunter2hunter2&sv=2020&token=ab",
            "hunter2hunter2",
        ),
        (
            "http://myfunc:7071/api/f?code=hunter2hunter2xyz&clientId=default&key=1",
            "hunter2hunter2xyz",
        ),
        ("aB3://hunter2hunter2;key=ab", "hunter2hunter2"),
        ("postgres://u:p%40ssw0rd%21x9@db:5432/x", "p@ssw0rd!x9"),
        (
            "postgres://u:hunter2hunter2@/db?host=/sock",
            "hunter2hunter2",
        ),
        (
            "https://h.test/x?pwd=Abc@hunter2.secret99",
            "hunter2.secret99",
        ),
        ("ss: hunter2hunter2\nst: other2other2", "hunter2hunter2"),
    ] {
        let text = covered_text(&format!("Access denied: {secret}"), &[value]);
        let left = (0..secret.len() - 7).find(|at| text.contains(&secret[*at..at + 8]));
        assert_eq!(left, None, "{value}: {text}");
    }
    for value in [
        "redis:6379,password=abc123,ssl=True",
        "postgres://u:abc123@db:5432/x",
        "mongodb://u:abc123@m-0.m,m-1:27017/x",
    ] {
        let text = covered_text("no abc123 here", &[value]);
        assert_eq!(text, "no (secret) here", "{value}");
    }
}

/// Names of settings, hosts and words of every error tell nothing of a value that has them.
#[test]
fn what_is_no_secret_stays() {
    let storage = "DefaultEndpointsProtocol=https;AccountName=things;AccountKey=c2VjcmV0IGtleQ==;EndpointSuffix=core.test";
    let access = "sv=2020-08-04&ss=b&sp=rwdl&se=2030-01-01T00:00:00Z&sig=abcdefgh%2Fijkl";
    let config = "apiVersion: v1\nkind: Config\nclusters:\n- cluster:\n    server: https://api.test\nusers:\n- token: abcdefghijkl\n";
    for (text, secret) in [
        (
            "{\"code\": \"BadRequest\", \"message\": \"no DefaultEndpointsProtocol=http\"}",
            storage,
        ),
        ("the account things, AccountKey=, in core.test", storage),
        ("{\"error\": {\"code\": 5, \"message\": \"m\"}}", "code"),
        ("{\"error\": {\"code\": 5, \"message\": \"m\"}}", "message"),
        ("the Password of user admin", "password"),
        ("the request message, code 5", "the error message, code 7"),
        (
            "{\"error\": {\"code\": 5, \"message\": \"m\"}}",
            "{\"error\": {\"code\": \"hunter2\", \"message\": \"hunter3\"}}",
        ),
        (
            "the cluster: https://api.test, apiVersion: v1, kind: Config, users:",
            config,
        ),
        ("sv=2020-08-04&ss=b&sp=r, se=2030-01-01T00:00:00Z", access),
        (
            "https://vault.test/?code=1",
            "https://vault.test/?sig=abcdefgh",
        ),
        (
            "-----BEGIN PRIVATE KEY-----",
            "-----BEGIN PRIVATE KEY-----\nMIIEvQIBADANBgkqhkiG9w0B\n-----END PRIVATE KEY-----",
        ),
        (
            "/subscriptions/s/resourceGroups/g2",
            "/subscriptions/s/resourceGroups/g",
        ),
    ] {
        assert_eq!(covered_text(text, &[secret]), text, "{secret}");
    }
    for (text, secret, expected) in [
        (storage, storage, storage.replace("c2VjcmV0IGtleQ==", COVER)),
        (access, access, access.replace("abcdefgh%2Fijkl", COVER)),
        ("sig=abcdefgh/ijkl!", access, "sig=(secret)!".to_owned()),
        ("...defghijkl", config, "...(secret)".to_owned()),
        (
            "message-7: hunter2",
            "{\"message\": \"hunter2\"}",
            "message-7: (secret)".to_owned(),
        ),
        (
            "&lt;p&gt;p&amp;ssw&#x6f;rd&lt;",
            "p&ssword",
            "&lt;p&gt;(secret)&lt;".to_owned(),
        ),
        (
            "0x68756e74657232, 68-75-6E-74-65-72-32",
            "hunter2",
            "0x(secret), (secret)".to_owned(),
        ),
        ("is my-message", "my-message", "is (secret)".to_owned()),
        ("hunter2", "hunter2\n", COVER.to_owned()),
    ] {
        assert_eq!(covered_text(text, &[secret]), expected, "{text}");
    }
}
