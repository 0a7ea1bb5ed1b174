//! Scalars: a table of what people write, and random ones (ten times as many with `cargo xtask test --all`).

use armature::render::manifest;
use serde_json::Value;

use crate::oracle::{Kubectl, same};

/// Random scalars.
const SCALARS: usize = 3000;
/// Scalars that kubectl reads at a time.
const AT_A_TIME: usize = 500;

/// What people write, and corners of the rules.
const TABLE: &[&str] = &[
    "y",
    "Y",
    "n",
    "N",
    "yes",
    "Yes",
    "YES",
    "yES",
    "no",
    "No",
    "NO",
    "on",
    "On",
    "ON",
    "oN",
    "off",
    "OFF",
    "true",
    "True",
    "TRUE",
    "tRUE",
    "false",
    "~",
    "null",
    "Null",
    "NULL",
    "nULL",
    "",
    "010",
    "0600",
    "0777",
    "08",
    "09",
    "-010",
    "+010",
    "0o10",
    "0O10",
    "0x1F",
    "0X1f",
    "0b101",
    "0B101",
    "0b-101",
    "-0b101",
    "0b2",
    "0x",
    "0b",
    "0o",
    "0_1",
    "1__2",
    "_1",
    "1_",
    "1_000_000",
    "0",
    "-0",
    "+0",
    "00",
    "1.",
    ".5",
    "+.5",
    "-.5",
    ".",
    "..",
    "-",
    "--",
    "+",
    "1.5",
    "1.10",
    "1e3",
    "1E3",
    "1e+3",
    "1e-3",
    "1e",
    "e1",
    ".e1",
    "1e21",
    "1e20",
    "1e400",
    "-1e400",
    "3.0",
    "3.00",
    "-3.0",
    "0.1",
    "1_0.5",
    ".5_0",
    "0x1p4",
    "9223372036854775807",
    "9223372036854775808",
    "-9223372036854775808",
    "-9223372036854775809",
    "18446744073709551615",
    "18446744073709551616",
    "12:30",
    "12:30:45",
    "190:20:30",
    "2001-01-01",
    "2001-1-1",
    "2001-01-01T00:00:00Z",
    "2001-01-01 00:00:00",
    "2001-",
    "2001-01",
    "1.2.3",
    "1.2.3.4",
    "10.0.0.0/16",
    "1,000",
    "infinity",
    "inf",
    "nan",
    "NaN",
    "\"y\"",
    "'010'",
    "\"\"",
    "''",
    "!!str y",
    "!!str 010",
    "!!int \"010\"",
    "!!float 3",
    "!!bool \"y\"",
    "!!binary eA==",
    "!own 010",
    "y y",
    "[y, 010, ~]",
    "{y: 010, 1.5: n, 07: on}",
    "|\n    010",
    ">-\n    y\n    n",
    "'it''s'",
    "a#b",
    "a #b",
    "<<",
    "=",
    "0.0.0",
    "1_2.3_4e5_6",
    "0e0",
    "-0.0",
    "+1",
    "1e06",
    "6e5",
    "685_230.15",
    "0b1_0",
    "0xFF_FF",
    "٣",
];

/// Every scalar by itself that is read otherwise than kubectl reads it.
async fn differences(kubectl: &Kubectl, scalars: &[String]) -> Vec<String> {
    let mut found = Vec::new();
    for some in scalars.chunks(AT_A_TIME) {
        let (ours, theirs) = kubectl.both(some).await;
        if let (Some(ours), Some(theirs)) = (&ours, &theirs) {
            let pairs = some.iter().zip(ours.iter().zip(theirs));
            found.extend(pairs.filter(|(_, (ours, theirs))| !same(ours, theirs)).map(
                |(scalar, (ours, theirs))| format!("{scalar}: {ours} here, {theirs} for kubectl"),
            ));
        } else if some.len() > 1 {
            // One of them is refused: find out which.
            for half in some.chunks(some.len().div_ceil(2)) {
                found.extend(Box::pin(differences(kubectl, half)).await);
            }
        } else if ours.is_some() != theirs.is_some() {
            found.push(format!(
                "{}: {ours:?} here, {theirs:?} for kubectl",
                some[0]
            ));
        }
    }
    found
}

#[tokio::test]
async fn what_people_write_is_read_as_kubectl_reads_it() {
    let kubectl = Kubectl::new().await;
    let scalars: Vec<_> = TABLE.iter().map(|&scalar| scalar.to_owned()).collect();
    let found = differences(&kubectl, &scalars).await;
    assert!(found.is_empty(), "{}", found.join("\n"));
    for refused in [
        ".inf", "-.INF", ".nan", "!!int x", "!!bool 1", "{~: 1}", "[", "*nowhere",
    ] {
        let (ours, theirs) = kubectl.both(&[refused.to_owned()]).await;
        assert_eq!((ours, theirs), (None, None), "{refused}");
    }
}

#[tokio::test]
async fn random_scalars_are_read_as_kubectl_reads_them() {
    let kubectl = Kubectl::new().await;
    let all = std::env::var_os("ARMATURE_ALL_VERSIONS").is_some();
    let count = if all { 10 * SCALARS } else { SCALARS };
    let scalars: Vec<_> = (0..count as u64).map(random).collect();
    let found = differences(&kubectl, &scalars).await;
    assert!(found.is_empty(), "{}", found.join("\n"));
}

/// Pieces of which numbers and words are made.
const PIECES: &[&str] = &[
    "0", "1", "2", "7", "8", "9", "10", "60", "_", "__", ".", "..", ":", "-", "+", "e", "E", "x",
    "X", "o", "O", "b", "B", "0x", "0o", "0b", "1e", "a", "F", "y", "n", "es", "o", "on", "off",
    "true", "null", "Null", "inf", "nan", "NaN", "T", "Z", "2001", "01", "/",
];

/// A word of pieces, the same for the same seed.
fn random(seed: u64) -> String {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let mut below = |bound: usize| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        usize::try_from(state >> 33).unwrap() % bound
    };
    let mut word = String::new();
    for _ in 0..1 + below(6) {
        word.push_str(PIECES[below(PIECES.len())]);
    }
    match below(12) {
        0 => format!("'{word}'"),
        1 => format!("\"{word}\""),
        // A colon at the end, or a dash alone, is no scalar but syntax.
        _ if word.ends_with(':') || word == "-" => format!("\"{word}\""),
        _ => word,
    }
}

#[test]
fn texts_that_are_written_are_texts_when_they_are_read() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("written.yaml");
    let words: Vec<_> = (0..20_000)
        .map(random)
        .chain(TABLE.iter().map(|&word| word.to_owned()))
        .collect();
    let written = serde_saphyr::to_string(&Value::from(words.clone())).unwrap();
    std::fs::write(&file, written).unwrap();
    let (documents, errors) = manifest::read(&[file]);
    assert!(errors.is_empty(), "{errors:?}");
    let read = documents[0].value.as_array().unwrap();
    let wrong: Vec<_> = words
        .iter()
        .zip(read)
        .filter(|(word, read)| *read != *word)
        .collect();
    assert!(wrong.is_empty(), "{:?}", &wrong[..wrong.len().min(40)]);
}
