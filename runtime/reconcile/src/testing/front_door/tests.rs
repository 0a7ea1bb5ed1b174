//! Promises over texts that are nearly right, from fixed seeds, and what was found so.

use armature_shapes::id::ids_in_text;
use armature_shapes::testing::processor::on_processor;
use serde_json::value::RawValue;

use super::annotations::{NOTES, WORDS, check_annotation, check_notes, noted};
use super::answers::{HEADERS, SECRETS, check_answer, check_answer_text, error_body, response};
use super::ids::check_id;
use super::mutation::Mutations;
use crate::extension::Registry;
use crate::testing::{Journal, MemoryAzure, MemoryCluster, reconciler};

/// Texts per property: seconds of a development build.
const CASES: u64 = 10_000;
/// Whole passes.
const PASSES: u64 = 600;

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

const TEXTS: [&str; 19] = [
    "manage",
    "skip",
    "detach-on-delete",
    "true",
    "false",
    "2030-01-31T18:00:00Z",
    "2030-01-31T20:00:00+02:00",
    "never",
    "15m",
    "1h30m",
    "P1DT2H",
    "366d",
    "always",
    "if-equal",
    "delete",
    "none",
    "/subscriptions/s/resourceGroups/g",
    "",
    "1",
];

const NOTED: [&str; 16] = [
    "armature-system",
    "GenericResource",
    "Armature.Post",
    r#"{"type":"GenericResource","token":{"asyncURL":"https://management.azure.com/subscriptions/s-1/operations/1","locURL":"","origURL":"","method":"PUT","finalState":"","state":"InProgress"}}"#,
    r#"{"type":"GenericResource","token":{"type":"loc","pollURL":"/subscriptions/s-1/operationresults/1","state":"InProgress"}}"#,
    r#"{"type":"GenericDeleteResponse","token":{"type":"body","pollURL":"/subscriptions/s-1/resourceGroups/g/providers/Microsoft.Toys/stores/s","state":"InProgress"}}"#,
    "7",
    "9223372036854775807",
    "2026-01-01T00:00:00Z",
    "-009999-01-02T01:59:59Z",
    "3/1/false/2026-01-01T00:00:00Z",
    "made",
    "namespace",
    "/subscriptions/s-1/resourceGroups/g/providers/Microsoft.Toys/stores/s",
    "v3:AAAA:BBBB:CCCC",
    r#"{"v":3,"spec":{"a":1}}"#,
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

/// Notes of a claimed object, some of them nearly right.
fn notes(mutations: &mut Mutations) -> std::collections::BTreeMap<String, String> {
    let count = 1 + mutations.below(NOTES.len());
    let notes = (0..count).map(|_| {
        let name = mutations.one(&NOTES).to_owned();
        (name, mutations.text(&NOTED))
    });
    notes.collect()
}

#[test]
fn notes_of_any_text_are_read() {
    all(CASES, |mutations| check_notes(&notes(mutations)));
}

#[test]
fn answers_of_any_form_mean_something() {
    let error = error_body("the value hidden is refused").to_string();
    let request =
        serde_json::json!({"properties": {"password": SECRETS[1], "pin": "hidden"}}).to_string();
    let quoted = error_body(&format!("cannot read '{request}'")).to_string();
    let inner = serde_json::json!({"inner": request}).to_string();
    let twice = error_body(&format!(
        "cannot read {inner} with p%22%5Cw+%c3%A9%2B%2F%25~1"
    ))
    .to_string();
    let encoded = error_body("key aGlkZGVu or cCJcdyDDqSsvJX4x, YTpwIlx3IMOpKy8lfjE= at /hid%64en")
        .to_string();
    let bodies = [
        error.as_str(),
        quoted.as_str(),
        twice.as_str(),
        encoded.as_str(),
        r#"{"id":"/x","properties":{"provisioningState":"Updating"}}"#,
        r#"{"status":"Failed","error":{"code":"A","message":{"lang":"en","value":"hidden"}}}"#,
        r#"{"odata.error":{"code":1,"message":"No.","target":"hidden"}}"#,
        r#"{"status":"InProgress","percentComplete":99.5}"#,
        "<html>Bad gateway</html>",
        "",
    ];
    let values = [
        "https://management.azure.com/subscriptions/s-1/operations/1?api-version=1",
        "/subscriptions/s-1/operationresults/1",
        "Wed, 21 Oct 2026 07:28:00 GMT",
        "17",
        "99999999999",
        "-1",
    ];
    let statuses = [
        200, 201, 202, 204, 400, 404, 408, 409, 410, 429, 500, 503, 599,
    ];
    all(CASES, |mutations| {
        let count = mutations.below(HEADERS.len());
        let headers = (0..count).map(|_| {
            let name = mutations.one(&HEADERS).to_owned();
            (name, mutations.text(&values))
        });
        let headers = headers.collect();
        let status = statuses[mutations.below(statuses.len())];
        check_answer(&response(status, headers, &mutations.bytes(&bodies)))
    });
    all(CASES / 10, |mutations| {
        let text = format!("d0\n{}\n{}", values[0], bodies[0]);
        check_answer_text(&mutations.bytes(&[&text]))
    });
}

/// A whole pass over an object whose notes and status somebody else wrote.
#[tokio::test]
async fn a_pass_ends_whatever_notes_and_status_say() {
    let statuses = [
        r#"{"conditions":[{"type":"Ready","status":"True","reason":"Succeeded","observedGeneration":1,"lastTransitionTime":"2026-01-01T00:00:00Z"}],"id":"/x"}"#,
        r#"{"conditions":null}"#,
        r#"{"conditions":[null,1,{"type":"Ready"}],"observedGeneration":"x"}"#,
        r#"[]"#,
        "{}",
    ];
    for seed in 0..PASSES {
        let mut mutations = Mutations::new(seed);
        let status = RawValue::from_string(mutations.text(&statuses)).ok();
        let mut notes = notes(&mut mutations);
        let word = mutations.one(&WORDS).to_owned();
        notes.insert(word, mutations.text(&TEXTS));
        let journal = Journal::default();
        let cluster = std::sync::Arc::new(MemoryCluster::new(journal.clone()));
        let azure = std::sync::Arc::new(MemoryAzure::new(journal, "s-1"));
        let object = noted(&notes, status.as_deref());
        let key = object.key();
        cluster.store(object);
        let reconciler = reconciler(&cluster, &azure, Registry::default());
        for _ in 0..3 {
            reconciler.reconcile(&key).await;
        }
        let checked = reconciler.check_stored(&key).await;
        assert!(checked.is_ok(), "seed {seed}: {checked:?}");
    }
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
