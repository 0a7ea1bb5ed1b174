//! Objects that are nested deeper than a reader of JSON goes.

use serde_json::Value;

use super::{list, object, whole};
use armature_shapes::testing::gadget::MODEL;

fn nested(levels: usize) -> String {
    format!("{}1{}", r#"{"a":"#.repeat(levels), "}".repeat(levels))
}

/// An object at this version of whose parts some are nested so deeply.
fn deep(version: &str, levels: usize) -> String {
    let (group, kind, nested) = (MODEL.group, MODEL.kind, nested(levels));
    format!(
        r#"{{"apiVersion":"{group}/{version}","kind":"{kind}","metadata":{{"name":"deep"}},"status":{{"id":"/x","more":{nested}}},
            "spec":{{"originalVersion":"v20210101","accessTier":"Hot","more":{nested}}},"other":[{nested}]}}"#
    )
}

/// What is converted, and whether all is.
fn converted(objects: &[String], version: &str) -> (Vec<Value>, Value) {
    let answer = whole(&list(objects, version)).expect("an answer");
    let answer: Value = serde_json::from_str(&answer).expect("JSON");
    let response = &answer["response"];
    let objects = response["convertedObjects"].as_array().expect("a list");
    (objects.clone(), response["result"].clone())
}

#[test]
fn one_that_is_too_deep_is_read_without_and_hides_no_other() {
    for levels in [200, 9_000, 200_000] {
        let objects = [
            object(r#""metadata":{"name":"a"},"#),
            deep("v20210101storage", levels),
            deep("v1api20200101storage", levels),
            object(r#""metadata":{"name":"b"},"#),
        ];
        for version in ["v20210101", "v1api20200101"] {
            let (read, result) = converted(&objects, version);
            assert_eq!(result["status"], "Success", "{result}");
            let names: Vec<_> = read.iter().map(|one| &one["metadata"]["name"]).collect();
            assert_eq!(names, ["a", "deep", "deep", "b"]);
            for deep in &read[1..3] {
                assert!(deep["spec"].get("more").is_none(), "{deep}");
                assert!(deep.get("other").is_none(), "{deep}");
                assert_eq!(deep["status"]["id"], "/x");
                // Who writes what was read would lose the rest.
                let (written, result) = converted(&[deep.to_string()], "v20210101storage");
                assert_eq!(written.len(), 0);
                let message = result["message"].as_str().expect("why");
                assert!(message.contains("nested too deeply"), "{message}");
            }
            assert_eq!(read[1]["spec"].as_object().expect("spec").len(), 1);
        }
    }
}

#[test]
fn what_is_too_deep_is_not_lost_between_two_stored_forms() {
    let text = deep("v1api20200101storage", 200);
    let review = list(&[text], "v20210101storage");
    let answer = whole(&review).expect("an answer");
    assert!(answer.contains(r#""status":"Success""#));
    assert_eq!(answer.matches(&nested(200)).count(), 3);
    assert!(answer.contains(r#""apiVersion":"toys.azure.com/v20210101storage""#));
}

#[test]
fn what_a_user_sends_too_deep_is_refused() {
    let (written, result) = converted(&[deep("v20210101", 200)], "v20210101storage");
    assert_eq!(written.len(), 0);
    let message = result["message"].as_str().expect("why");
    assert_eq!(
        message,
        "Gadget /deep: it is nested too deeply to be converted"
    );
}

/// What has another name in the other form, or none, is where that form has it: in its place, or as text among what the version
/// has no field for.
#[test]
fn what_is_too_deep_goes_by_the_name_of_the_other_stored_form() {
    let (group, kind, deep) = (MODEL.group, MODEL.kind, nested(200));
    let (earlier, now) = ("v1api20200101storage", "v20210101storage");
    let text = serde_json::to_string(&deep).expect("a text");
    let table = [
        (earlier, now, "tier", format!(r#""accessTier":{deep}"#)),
        (now, earlier, "accessTier", format!(r#""tier":{deep}"#)),
        (earlier, now, "location", format!(r#""location":{deep}"#)),
        (earlier, now, "further", format!(r#""further":{deep}"#)),
        (now, earlier, "further", format!(r#""further":{deep}"#)),
        (earlier, now, "capacity", format!(r#""Capacity":{text}"#)),
        (earlier, now, "network", format!(r#""Network":{text}"#)),
        (now, earlier, "zones", format!(r#""Zones":{text}"#)),
    ];
    for (from, to, member, expected) in table {
        let object = format!(
            r#"{{"apiVersion":"{group}/{from}","kind":"{kind}","metadata":{{"name":"deep"}},
                "spec":{{"owner":{{"name":"g"}},"{member}":{deep}}}}}"#
        );
        let answer = whole(&list(&[object], to)).expect("an answer");
        assert!(answer.contains(&expected), "{from} {member}");
        let is_in_bag = expected.contains(&text);
        assert_eq!(answer.contains("$propertyBag"), is_in_bag, "{member}");
        assert_eq!(answer.contains(&deep), !is_in_bag, "{member}");
    }
}

/// What has become text on its way from one stored form into the other is too deep there, too: an object without it is not whole.
#[test]
fn what_became_text_in_another_stored_form_is_too_deep_there() {
    let (group, kind) = (MODEL.group, MODEL.kind);
    let (earlier, now) = ("v1api20200101storage", "v20210101storage");
    let table = [
        (earlier, now, "network", "v20210101"),
        (earlier, now, "network", "v1api20200101"),
        (earlier, now, "capacity", "v1api20200101"),
        (now, earlier, "zones", "v20210101"),
        (now, earlier, "zones", "v1api20200101"),
    ];
    for levels in [126, 200] {
        let deep = nested(levels);
        for (from, to, member, served) in table {
            let case = format!("{levels} {from} {member} {served}");
            let object = format!(
                r#"{{"apiVersion":"{group}/{from}","kind":"{kind}","metadata":{{"name":"deep"}},
                    "spec":{{"owner":{{"name":"g"}},"{member}":{deep}}}}}"#
            );
            let (moved, result) = converted(&[object], to);
            assert_eq!(result["status"], "Success", "{case}: {result}");
            let (read, result) = converted(&[moved[0].to_string()], served);
            assert_eq!(result["status"], "Success", "{case}: {result}");
            assert_eq!(read[0]["spec"]["owner"]["name"], "g");
            assert!(!read[0].to_string().contains(&deep), "{case}");
            // Who writes what was read would lose the rest.
            let (written, result) = converted(&[read[0].to_string()], now);
            assert_eq!(written.len(), 0, "{case}");
            let message = result["message"].as_str().expect("why");
            assert!(message.contains("nested too deeply"), "{case}: {message}");
        }
    }
}
