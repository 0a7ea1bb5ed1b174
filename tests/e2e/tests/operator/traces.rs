//! Spans that the operator sends: one for each pass, and in it one for each request to ARM.

use std::collections::{BTreeMap, BTreeSet};

use armature_e2e::World;
use armature_exposure::attribute;
use armature_simulator::{LoggedRequest, Query};
use opentelemetry_proto::tonic::trace::v1::Span;
use opentelemetry_proto::tonic::trace::v1::span::SpanKind;
use opentelemetry_proto::tonic::trace::v1::status::StatusCode;

use crate::{is_ready, resource_group};

fn text(span: &Span, name: &str) -> String {
    attribute(&span.attributes, name).unwrap_or_default()
}

/// Spans of passes over objects of the test's namespace, and of requests within them.
fn ours(spans: Vec<Span>) -> (Vec<Span>, Vec<Span>) {
    let mut all = spans.into_iter();
    let (passes, others): (Vec<_>, Vec<_>) =
        all.by_ref().partition(|span| span.name == "reconcile");
    let is_ours = |span: &Span| text(span, "k8s.namespace.name") == "traces";
    let passes: Vec<Span> = passes.into_iter().filter(is_ours).collect();
    let ids: BTreeSet<&[u8]> = passes.iter().map(|span| &*span.span_id).collect();
    let is_within = |span: &Span| ids.contains(&*span.parent_span_id);
    let requests = others.into_iter().filter(is_within).collect();
    (passes, requests)
}

#[test]
fn each_pass_and_each_request_is_a_span() {
    World::shared().run("traces", async |world, objects| {
        let group = resource_group("traces-rg", "traces");
        objects.apply(&group).await.unwrap();
        objects
            .wait_ready("ResourceGroup", "traces-rg", is_ready)
            .await;
        let query = Query {
            path: Some("/resourceGroups/traces-rg$".into()),
            ..Query::default()
        };
        let sent = world.azure().requests(&query);
        let (passes, requests) = ours(world.shown().collector().await.spans());

        for pass in &passes {
            assert!(pass.parent_span_id.is_empty(), "{pass:?}");
            assert_eq!(text(pass, "armature.kind"), "ResourceGroup");
            assert_eq!(text(pass, "armature.name"), "traces-rg");
        }
        let results: BTreeSet<String> = passes
            .iter()
            .map(|pass| text(pass, "armature.result"))
            .collect();
        assert!(results.contains("done"), "{results:?}");

        // Azure's log and the trace name the same requests.
        let by_id: BTreeMap<String, &Span> = requests
            .iter()
            .map(|span| (text(span, "azure.correlation_request_id"), span))
            .collect();
        assert_eq!((requests.len(), by_id.len()), (sent.len(), sent.len()));
        assert!(sent.iter().any(|request| request.method == "PUT"));
        for request in &sent {
            assert_request(by_id[&request.correlation_id], request);
        }
    });
}

fn assert_request(span: &Span, request: &LoggedRequest) {
    assert_eq!(span.name, request.method);
    assert_eq!(span.kind, SpanKind::Client as i32);
    assert!(span.end_time_unix_nano >= span.start_time_unix_nano);
    let version = request.api_version.as_deref().unwrap_or_default();
    for (name, expected) in [
        ("http.request.method", request.method.as_str()),
        (
            "http.response.status_code",
            request.status.to_string().as_str(),
        ),
        ("url.path", request.path.as_str()),
        ("url.query", format!("api-version={version}").as_str()),
    ] {
        assert_eq!(text(span, name), expected, "{name}: {span:?}");
    }
    assert!(!text(span, "azure.service_request_id").is_empty());
    let is_error = span
        .status
        .as_ref()
        .is_some_and(|status| status.code() == StatusCode::Error);
    assert_eq!(is_error, request.status >= 400 && request.status != 404);
}
