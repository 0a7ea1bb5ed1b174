mod depth;

use armature_shapes::testing::gadget::MODEL;
use serde_json::{Value, json};

use super::*;

fn answered(object: &str, version: &str) -> String {
    let body = format!(
        r#"{{"kind":"ConversionReview","request":{{"uid":"u","desiredAPIVersion":"{}/{version}","objects":[{object}]}}}}"#,
        MODEL.group
    );
    whole(&body).expect("an answer")
}

/// All pieces of an answer.
fn whole(body: &str) -> Result<String, NoReview> {
    Ok(pieces(body)?.concat())
}

fn pieces(body: &str) -> Result<Vec<String>, NoReview> {
    let kinds = Kinds::from([((MODEL.group, MODEL.kind), &MODEL)]);
    let mut answer = Answer::to(&Bytes::from(body.to_owned()), Arc::new(kinds))?;
    let mut pieces = Vec::new();
    while let Some(piece) = answer.piece()? {
        pieces.push(String::from_utf8(piece).expect("text"));
    }
    Ok(pieces)
}

fn object(metadata: &str) -> String {
    format!(
        r#"{{"apiVersion":"{}/v1api20200101","kind":"{}",{metadata}"spec":{{}}}}"#,
        MODEL.group, MODEL.kind
    )
}

#[test]
fn metadata_comes_back_as_it_was() {
    let text = r#""name":"a","generation":1.50e1,"labels":{ "b" : "c" },"managedFields":[{"fieldsV1":{"f:spec":{}}}]"#;
    let annotated = format!(r#"{text},"annotations":{{"own":"kept"}}"#);
    for (metadata, expected) in [(text, text), (&annotated, &annotated)] {
        let object = object(&format!(r#""metadata":{{{metadata}}},"#));
        for version in ["v20210101", "v1api20200101"] {
            let answer = answered(&object, version);
            assert!(
                answer.contains(r#""result":{"status":"Success"}"#),
                "{answer}"
            );
            assert!(answer.contains(expected), "{answer}");
            let answer: Value = serde_json::from_str(&answer).expect("JSON");
            let converted = &answer["response"]["convertedObjects"][0];
            let expected = format!("{}/{version}", MODEL.group);
            assert_eq!(converted["apiVersion"], json!(expected));
        }
    }
}

#[test]
fn what_fails_is_named() {
    let named = object(r#""metadata":{"namespace":"n","name":"a"},"#);
    let answer = answered(&named, "v9");
    let expected = format!("{} n/a: ", MODEL.kind);
    assert!(answer.contains(&expected), "{answer}");
    assert!(answer.contains(r#""status":"Failure""#), "{answer}");
    assert!(answer.contains(r#""convertedObjects":[]"#), "{answer}");
}

fn list(objects: &[String], version: &str) -> String {
    format!(
        r#"{{"request":{{"uid":"u","desiredAPIVersion":"{}/{version}","objects":[{}]}}}}"#,
        MODEL.group,
        objects.join(",")
    )
}

#[test]
fn a_long_list_is_answered_in_pieces_that_are_one_answer() {
    let note = "x".repeat(1000);
    let objects: Vec<String> = (0..1000)
        .map(|number| {
            object(&format!(
                r#""metadata":{{"name":"a{number}","note":"{note}"}},"#
            ))
        })
        .collect();
    let pieces = pieces(&list(&objects, "v20210101")).expect("an answer");
    assert!(pieces.len() > 3, "{}", pieces.len());
    let longest = pieces.iter().map(String::len).max();
    assert!(longest < Some(PIECE + 4000), "{longest:?}");
    let answer: Value = serde_json::from_str(&pieces.concat()).expect("JSON");
    let converted = answer["response"]["convertedObjects"]
        .as_array()
        .expect("a list");
    assert_eq!(converted.len(), 1000);
    assert_eq!(converted[999]["metadata"]["name"], "a999");
    assert_eq!(answer["response"]["result"], json!({"status": "Success"}));
}

#[test]
fn an_object_that_fails_late_fails_the_whole_list() {
    let note = "x".repeat(PIECE);
    let mut objects = vec![object(&format!(
        r#""metadata":{{"name":"a","note":"{note}"}},"#
    ))];
    objects.push(r#"{"kind":"Unknown","metadata":{"namespace":"n","name":"b"}}"#.to_owned());
    objects.push(object(r#""metadata":{"name":"c"},"#));
    let answer = whole(&list(&objects, "v20210101")).expect("an answer");
    let answer: Value = serde_json::from_str(&answer).expect("JSON");
    let result = &answer["response"]["result"];
    assert_eq!(result["status"], "Failure");
    let message = result["message"].as_str().unwrap_or_default();
    assert!(message.starts_with("Unknown n/b: "), "{message}");
}

#[test]
fn what_is_no_review_is_refused() {
    for (body, expected) in [
        ("{}", "missing field `request`"),
        (
            r#"{"request":{"uid":"u","desiredAPIVersion":"a/b","objects":[1]}}"#,
            "expected an object",
        ),
        (
            r#"{"request":{"uid":"u","desiredAPIVersion":"a/b","objects":[{"metadata":[]}]}}"#,
            "expected metadata, which is an object",
        ),
    ] {
        let error = whole(body).expect_err("refused");
        assert!(error.to_string().contains(expected), "{error}");
    }
}

#[test]
fn an_object_without_metadata_gets_an_empty_one() {
    for metadata in ["", r#""metadata":null,"#, r#""metadata":{},"#] {
        for version in ["v20210101", "v1api20200101", "v20210101storage"] {
            let answer = answered(&object(metadata), version);
            let answer: Value = serde_json::from_str(&answer).expect("JSON");
            let response = &answer["response"];
            assert_eq!(response["result"], json!({"status": "Success"}), "{answer}");
            let converted = &response["convertedObjects"][0];
            assert_eq!(converted["metadata"], json!({}), "{metadata} at {version}");
        }
    }
}

#[test]
fn what_a_version_cannot_say_travels_without_metadata_too() {
    let newer = format!(
        r#"{{"apiVersion":"{}/v20210101","kind":"{}","spec":{{"rules":[{{"name":"a","prefixes":["p"]}}]}}}}"#,
        MODEL.group, MODEL.kind
    );
    let older: Value = serde_json::from_str(&answered(&newer, "v1api20200101")).expect("JSON");
    let older = older["response"]["convertedObjects"][0].to_string();
    let back: Value = serde_json::from_str(&answered(&older, "v20210101")).expect("JSON");
    let back = &back["response"]["convertedObjects"][0];
    let before: Value = serde_json::from_str(&newer).expect("JSON");
    assert_eq!(back["spec"], before["spec"]);
    assert_eq!(back["metadata"], json!({}));
}
