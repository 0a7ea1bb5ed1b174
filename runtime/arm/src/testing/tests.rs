//! Promises over answers that are nearly right, and whole passes over notes that are, from fixed seeds.

use armature_reconcile::extension::Registry;
use armature_reconcile::testing::front_door::annotations::{WORDS, noted};
use armature_reconcile::testing::front_door::mutation::Mutations;
use armature_reconcile::testing::front_door::seeds::{TEXTS, notes};
use armature_reconcile::testing::{Journal, MemoryCluster};
use serde_json::value::RawValue;

use super::answers::{HEADERS, SECRETS, check_answer, check_answer_text, error_body, response};
use super::notes::check_operation;
use super::{MemoryAzure, reconciler};

/// Texts per property: seconds of a development build.
const CASES: u64 = 10_000;
/// Whole passes.
const PASSES: u64 = 600;

fn all(cases: u64, property: impl Fn(&mut Mutations) -> Result<(), String>) {
    for seed in 0..cases {
        if let Err(broken) = property(&mut Mutations::new(seed)) {
            panic!("seed {seed}: {broken}");
        }
    }
}

#[test]
fn operations_in_notes_are_noted_as_they_are_read() {
    all(CASES, |mutations| check_operation(&notes(mutations)));
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
