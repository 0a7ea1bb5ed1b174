//! Promises over texts that are nearly right, from fixed seeds, and what was found so.

use armature_shapes::id::ids_in_text;
use armature_shapes::testing::processor::on_processor;

use super::annotations::{NOTES, WORDS, check_annotation, check_notes};
use super::ids::check_id;
use super::mutation::Mutations;
use super::seeds::{TEXTS, notes};

/// Texts per property: seconds of a development build.
const CASES: u64 = 10_000;

const IDS: [&str; 14] = [
    "/subscriptions/00000000-0000-0000-0000-000000000001",
    "/subscriptions/00000000-0000-0000-0000-000000000001/resourceGroups/g",
    "/subscriptions/00000000-0000-0000-0000-000000000001/resourceGroups/g/providers/Microsoft.Toys/stores/s",
    "/subscriptions/00000000-0000-0000-0000-000000000001/resourceGroups/g/providers/Microsoft.Toys/stores/s/boxes/b",
    "/subscriptions/00000000-0000-0000-0000-000000000001/resourceGroups/g/providers/Microsoft.Toys/stores/s/providers/Microsoft.Authorization/locks/l",
    "/subscriptions/00000000-0000-0000-0000-000000000001/providers/Microsoft.Authorization/roleDefinitions/r",
    "/providers/Microsoft.Management/managementGroups/m/providers/Microsoft.Authorization/roleAssignments/r",
    "/providers/Microsoft.Authorization/roleDefinitions/8e3af657-a8ff-443c-a75c-2fe8c4bcb635",
    "https://management.azure.com/subscriptions/00000000-0000-0000-0000-000000000001/resourceGroups/g?api-version=2020-06-01",
    "ResourceId=/subscriptions/00000000-0000-0000-0000-000000000001/resourceGroups/g;Key=x",
    "/subscriptions/00000000-0000-0000-0000-000000000001/resourceGroups/a, /subscriptions/s/resourceGroups/b",
    "/subscriptions/s/resourceGroups/caf%C3%A9 with blanks (1)/providers/Microsoft.Toys/stores/s.t~u",
    "/subscriptions/s/resourceGroups/%25252e%25252e/x",
    "",
];

fn all(cases: u64, property: impl Fn(&mut Mutations) -> Result<(), String>) {
    for seed in 0..cases {
        if let Err(broken) = property(&mut Mutations::new(seed)) {
            panic!("seed {seed}: {broken}");
        }
    }
}

#[test]
fn ids() {
    all(CASES, |mutations| check_id(&mutations.text(&IDS)));
}

#[test]
fn annotations_are_understood_or_told() {
    all(CASES, |mutations| {
        let name = mutations.one(&WORDS);
        check_annotation(name, &mutations.text(&TEXTS))
    });
}

#[test]
fn notes_of_any_text_are_read() {
    all(CASES, |mutations| check_notes(&notes(mutations)));
}

/// A text may have a megabyte: what takes a step for each pair of its bytes would take minutes.
#[test]
fn long_texts_take_no_longer_than_their_bytes() {
    let began = on_processor();
    let distinct: String = (0..120_000)
        .map(|id| format!("/providers/A.B/c{id},"))
        .collect();
    // The whole text is one that a name may make, too.
    assert_eq!(ids_in_text(&distinct, "").len(), 120_001);
    for part in [
        "/",
        "%25",
        "/..",
        "a=",
        ",",
        ";/providers/A.B/c",
        "%2f",
        "\\",
        "https://",
        "é",
    ] {
        let long = part.repeat((1 << 20) / part.len());
        check_id(&long).unwrap();
        for name in WORDS {
            check_annotation(name, &long).unwrap();
        }
        check_notes(
            &NOTES
                .iter()
                .map(|name| ((*name).to_owned(), long.clone()))
                .collect(),
        )
        .unwrap();
    }
    let took = on_processor().saturating_sub(began);
    assert!(took.as_secs() < 60, "{took:?}");
}
