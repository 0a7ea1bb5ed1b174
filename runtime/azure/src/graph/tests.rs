use std::collections::BTreeMap;
use std::time::Duration;

use jiff::Timestamp;
use serde_json::{Value, json};

use super::*;
use crate::{CredentialKey, Method, Response};

fn answer(status: u16, headers: &[(&str, &str)], body: Value) -> Response {
    let headers = headers.iter();
    Response {
        status,
        headers: headers
            .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
            .collect::<BTreeMap<_, _>>(),
        body: Some(body),
    }
}

#[test]
fn a_query_names_its_types_subscriptions_and_page() {
    let subscriptions = ["s-1".to_owned(), "s-2".to_owned()];
    let types = ["Microsoft.Network/virtualNetworks"];
    let query = Query::shown(Table::Resources, &subscriptions, &types);
    let request = query.request(&CredentialKey::Global, Some("token"));
    assert_eq!(request.method, Method::Post);
    assert_eq!(
        request.url,
        "/providers/Microsoft.ResourceGraph/resources?api-version=2022-10-01"
    );
    assert_eq!(
        request.body.unwrap(),
        json!({
            "subscriptions": ["s-1", "s-2"],
            "query": "resources | where type in~ ('microsoft.network/virtualnetworks') | project id | order by id asc",
            "options": {"resultFormat": "objectArray", "$top": 1000, "$skipToken": "token"},
        })
    );
}

#[test]
fn changes_are_asked_for_from_a_moment_on_in_the_table_that_has_the_type() {
    let group = "Microsoft.Resources/resourceGroups";
    assert_eq!(Table::of(&group.to_lowercase()), Table::Containers);
    assert_eq!(Table::of("Microsoft.Sql/servers"), Table::Resources);
    let since: Timestamp = "2026-01-02T03:04:05.678901Z".parse().unwrap();
    let query = Query::changed(Table::Containers, &[], &[group], since);
    let body = query.request(&CredentialKey::Global, None).body.unwrap();
    assert_eq!(body["options"]["$skipToken"], Value::Null);
    let text = body["query"].as_str().unwrap();
    for part in [
        "resourcecontainerchanges | extend at = todatetime(properties.changeAttributes.timestamp)",
        "| where at > datetime(2026-01-02T03:04:05.678Z)",
        "| where targetType in~ ('microsoft.resources/subscriptions/resourcegroups')",
        "correlation = tostring(properties.changeAttributes.correlationId), actor = tostring(properties.changeAttributes.changedBy), actorType = tostring(properties.changeAttributes.changedByType), client = tostring(properties.changeAttributes.clientType) |",
        "| project id, target, at, correlation, actor, actorType, client | order by id asc",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
}

#[test]
fn names_that_would_end_the_text_of_a_query_are_not_written_into_it() {
    let types = ["A.B/c') | project secrets"];
    let query = Query::shown(Table::Resources, &[], &types);
    let body = query.request(&CredentialKey::Global, None).body.unwrap();
    assert_eq!(body["query"], "resources | project id | order by id asc");
}

#[test]
fn a_page_has_rows_a_token_and_the_quota() {
    let body = json!({
        "totalRecords": 2, "count": 1, "resultTruncated": "false", "$skipToken": "more", "facets": [],
        "data": [
            {"id": "c", "target": "/Subscriptions/s", "at": "2024-06-12T13:26:17.347+00:00", "correlation": "", "actor": null},
            {"id": "d", "target": "/Subscriptions/s", "at": "2024-06-12T13:26:18Z", "correlation": "x", "actor": "y", "actorType": "User", "client": "Azure Portal"},
        ],
    });
    let headers = [
        ("x-ms-user-quota-remaining", "0"),
        ("x-ms-user-quota-resets-after", "00:01:05"),
    ];
    let page = Page::<Change>::read(&answer(200, &headers, body), Timestamp::UNIX_EPOCH).unwrap();
    assert_eq!(page.next.as_deref(), Some("more"));
    assert!(!page.is_cut);
    assert_eq!(page.quota.wait(), Duration::from_secs(65));
    assert_eq!(page.rows[0].target, "/Subscriptions/s");
    assert_eq!(page.rows[0].at.to_string(), "2024-06-12T13:26:17.347Z");
    let actors = page.rows.iter();
    let actors = actors.map(|row| (row.correlation.as_deref(), row.actor.as_deref()));
    let expected = [(None, None), (Some("x"), Some("y"))];
    assert_eq!(actors.collect::<Vec<_>>(), expected);
    let who: Vec<_> = page.rows.iter().map(Change::who).collect();
    let told = "y (User, Azure Portal) at 2024-06-12T13:26:18Z".to_owned();
    assert_eq!(who, [None, Some(told)]);
}

#[test]
fn what_is_missing_from_a_page_is_told() {
    let cases = [
        (
            json!({"data": [{"id": "a"}], "resultTruncated": "true"}),
            true,
        ),
        (
            json!({"data": [{"id": "a"}], "resultTruncated": true}),
            true,
        ),
        (
            json!({"data": [{"id": "a"}], "resultTruncated": "true", "$skipToken": "t"}),
            false,
        ),
        (json!({"data": [{"name": "a"}]}), true),
        (json!({"data": []}), false),
    ];
    for (body, is_cut) in cases {
        let page = Page::<Shown>::read(&answer(200, &[], body.clone()), Timestamp::UNIX_EPOCH);
        assert_eq!(page.unwrap().is_cut, is_cut, "{body}");
    }
}

#[test]
fn refusals_say_when_to_ask_again() {
    let read = |status, headers: &[(&str, &str)]| {
        let body = json!({"error": {"code": "C", "message": "because"}});
        Page::<Shown>::read(&answer(status, headers, body), Timestamp::UNIX_EPOCH).unwrap_err()
    };
    let seconds = |seconds| Refusal::Throttled(Duration::from_secs(seconds));
    assert!(matches!(read(403, &[]), Refusal::Forbidden(text) if text.contains("because")));
    assert!(matches!(read(404, &[]), Refusal::Unsupported(_)));
    assert_eq!(read(429, &[("retry-after", "7")]), seconds(7));
    let resets = ("x-ms-user-quota-resets-after", "00:00:03");
    assert_eq!(read(429, &[resets]), seconds(3));
    assert_eq!(read(429, &[]), seconds(60));
    assert!(matches!(read(500, &[]), Refusal::Other(_)));
    let nothing = Page::<Shown>::read(&answer(200, &[], json!({})), Timestamp::UNIX_EPOCH);
    assert!(matches!(nothing, Err(Refusal::Other(_))));
}
