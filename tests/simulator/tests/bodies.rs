//! Which request bodies are refused, and how the refusal names the place.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test that cannot go on fails"
)]

mod common;

use common::{Bench, code, in_group, message};
use serde_json::{Value, json};

fn account() -> Value {
    json!({"location": "westus2", "kind": "StorageV2", "sku": {"name": "Standard_LRS"}})
}

fn with(pointer: &str, value: Value) -> Value {
    let mut body = account();
    let (parent, name) = pointer.rsplit_once('/').unwrap();
    let parent = match parent {
        "" => &mut body,
        "/properties" => {
            body["properties"] = json!({});
            &mut body["properties"]
        }
        "/properties/retention" => {
            body["properties"] = json!({"retention": {}});
            &mut body["properties"]["retention"]
        }
        other => body.pointer_mut(other).unwrap(),
    };
    parent[name] = value;
    body
}

#[test]
fn bodies_that_do_not_fit_are_refused_with_the_path() {
    let bench = Bench::with_group(Default::default());
    let table = [
        (
            with("/locaton", json!("westus2")),
            "'locaton': unknown member 'locaton'; did you mean 'location'?",
        ),
        (
            with("/Location", json!("westus2")),
            "did you mean 'location'?",
        ),
        (
            with("/location", json!(null)),
            "'location': required and missing",
        ),
        (
            with("/location", json!(7)),
            "'location': expected a string, found a number",
        ),
        (
            with("/sku", json!("Standard")),
            "'sku': expected an object, found a string",
        ),
        (
            with("/sku/name", json!("Standard_XRS")),
            "'sku.name': 'Standard_XRS' is not one of",
        ),
        (with("/sku/size", json!(1)), "'sku.size': unknown member"),
        (
            with("/properties/colour", json!(1)),
            "'properties.colour': unknown member",
        ),
        (
            with("/properties/retention", json!([])),
            "'properties.retention': expected an object",
        ),
        (
            with("/properties/retention/days", json!(0)),
            "'properties.retention.days': 0 is below the minimum 1",
        ),
        (
            with("/properties/retention/days", json!("3")),
            "'properties.retention.days': expected an integer",
        ),
        (
            with("/properties/subnetIds", json!([{"id": "x"}])),
            "'properties.subnetIds[0]': expected a string, found an object",
        ),
        (
            with("/tags", json!({"a": 1})),
            "'tags.a': expected a string",
        ),
        (json!([]), "'(body)': expected an object, found a list"),
    ];
    for (body, expected) in table {
        let path = in_group("Microsoft.Storage/storageAccounts/account");
        let answer = bench.put(&path, body.clone());
        assert_eq!(answer.status, 400, "{body}");
        assert_eq!(code(&answer), "InvalidRequestContent", "{body}");
        assert!(
            message(&answer).contains(expected),
            "{body}\n{}",
            message(&answer)
        );
        assert_eq!(bench.get(&path).status, 404, "{body} must not be stored");
    }
}

#[test]
fn every_problem_is_listed() {
    let bench = Bench::with_group(Default::default());
    let path = in_group("Microsoft.Storage/storageAccounts/account");
    let answer = bench.put(&path, json!({"colour": 1, "sku": {}}));
    let details = &answer.body.unwrap()["error"]["details"];
    let targets: Vec<&str> = details
        .as_array()
        .unwrap()
        .iter()
        .map(|problem| problem["target"].as_str().unwrap())
        .collect();
    assert_eq!(targets, ["colour", "sku.name", "location", "kind"]);
}

#[test]
fn bodies_that_fit_are_accepted() {
    let bench = Bench::with_group(Default::default());
    for body in [
        account(),
        with("/sku/name", json!("standard_lrs")),
        with("/tags", json!(null)),
        with("/name", json!("account")),
        with("/properties/password", json!("secret")),
        // What a GET returned may be sent back.
        with("/properties/provisioningState", json!("Succeeded")),
        with("/id", json!("whatever")),
    ] {
        let path = in_group("Microsoft.Storage/storageAccounts/account");
        let answer = bench.put(&path, body.clone());
        assert!(answer.status < 300, "{body}\n{}", message(&answer));
        bench.get(&path);
    }
}

#[test]
fn a_discriminator_selects_what_else_is_known() {
    let bench = Bench::with_group(Default::default());
    let cluster = in_group("Microsoft.Kusto/clusters/cluster");
    bench.put(&cluster, json!({"location": "westus2"}));
    let database = format!("{cluster}/databases/db");
    let table = [
        (
            json!({}),
            "'kind': must be one of ReadWrite, ReadOnlyFollowing; it is missing",
        ),
        (json!({"kind": "Other"}), "found \"Other\""),
        (
            json!({"kind": "ReadWrite"}),
            "'properties.softDeletePeriod': required and missing",
        ),
        (
            json!({"kind": "ReadOnlyFollowing", "properties": {"softDeletePeriod": "P1D"}}),
            "'properties.softDeletePeriod': unknown member",
        ),
    ];
    for (body, expected) in table {
        let answer = bench.put(&database, body.clone());
        assert!(
            message(&answer).contains(expected),
            "{body}\n{}",
            message(&answer)
        );
    }
    let fits = json!({"kind": "readwrite", "properties": {"softDeletePeriod": "P1D"}});
    assert_eq!(bench.put(&database, fits).status, 201);
}

#[test]
fn what_is_no_json_is_refused() {
    let bench = Bench::with_group(Default::default());
    let path = in_group("Microsoft.Storage/storageAccounts/account");
    let answer = bench.send("PUT", &path, None);
    assert_eq!((answer.status, code(&answer)), (400, "MissingRequestBody"));
}
