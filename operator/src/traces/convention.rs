//! Our spans under the names of OpenTelemetry's semantic conventions, so that collectors and dashboards know them.
//!
//! Log lines keep the short names.

use opentelemetry::trace::{SpanKind, Status};
use opentelemetry::{KeyValue, Value};
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::error::OTelSdkResult;
use opentelemetry_sdk::trace::{SpanData, SpanExporter};
use std::time::Duration;

/// Name of the span of a request to ARM.
const ARM: &str = "arm";

/// Exports spans under conventional names.
#[derive(Debug)]
pub(super) struct Conventional<E>(pub(super) E);

impl<E: SpanExporter> SpanExporter for Conventional<E> {
    async fn export(&self, mut batch: Vec<SpanData>) -> OTelSdkResult {
        batch.iter_mut().for_each(translate);
        self.0.export(batch).await
    }

    fn shutdown_with_timeout(&self, timeout: Duration) -> OTelSdkResult {
        self.0.shutdown_with_timeout(timeout)
    }

    fn force_flush(&self) -> OTelSdkResult {
        self.0.force_flush()
    }

    fn set_resource(&mut self, resource: &Resource) {
        self.0.set_resource(resource);
    }
}

fn translate(span: &mut SpanData) {
    if span.name == ARM {
        translate_request(span);
    }
    for attribute in &mut span.attributes {
        if let Some(name) = conventional(attribute.key.as_str()) {
            attribute.key = name.into();
        }
    }
}

/// A request is named after its method; its address has no end of values.
fn translate_request(span: &mut SpanData) {
    span.span_kind = SpanKind::Client;
    if let Some(method) = text(span, "method") {
        span.name = method.into();
    }
    if let Some(url) = text(span, "path") {
        address(span, &url);
    }
    let status = find(span, "status").and_then(|value| match value {
        Value::I64(status) => Some(*status),
        _ => None,
    });
    span.status = match status {
        // That something does not exist is an answer like any other.
        Some(404 | ..400) => Status::Unset,
        Some(status) => Status::error(format!("HTTP {status}")),
        None => Status::error(text(span, "error").unwrap_or_default()),
    };
}

/// Path and query of a request below ARM's endpoint, and the host of a URL that ARM gave out.
fn address(span: &mut SpanData, url: &str) {
    let (host, rest) = match url.split_once("://") {
        Some((_, rest)) => rest.split_at(rest.find('/').unwrap_or(rest.len())),
        None => ("", url),
    };
    let (path, query) = rest.split_once('?').unwrap_or((rest, ""));
    let attributes = &mut span.attributes;
    attributes.retain(|attribute| attribute.key.as_str() != "path");
    for (name, value) in [
        ("server.address", host),
        ("url.path", path),
        ("url.query", query),
    ] {
        if !value.is_empty() {
            attributes.push(KeyValue::new(name, value.to_owned()));
        }
    }
}

fn find<'a>(span: &'a SpanData, name: &str) -> Option<&'a Value> {
    let mut attributes = span.attributes.iter();
    let found = attributes.find(|attribute| attribute.key.as_str() == name);
    found.map(|attribute| &attribute.value)
}

fn text(span: &SpanData, name: &str) -> Option<String> {
    find(span, name).map(|value| value.as_str().into_owned())
}

/// What OpenTelemetry calls this, or what we call it there.
fn conventional(name: &str) -> Option<&'static str> {
    Some(match name {
        "method" => "http.request.method",
        "status" => "http.response.status_code",
        "request_id" => "azure.service_request_id",
        "correlation_id" => "azure.correlation_request_id",
        "error" => "error.message",
        "namespace" => "k8s.namespace.name",
        "kind" => "armature.kind",
        "name" => "armature.name",
        "result" => "armature.result",
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use std::time::SystemTime;

    use opentelemetry::InstrumentationScope;
    use opentelemetry::trace::{SpanContext, SpanId};

    use super::*;

    fn span(name: &'static str, attributes: Vec<KeyValue>) -> SpanData {
        let mut span = SpanData {
            span_context: SpanContext::NONE,
            parent_span_id: SpanId::INVALID,
            parent_span_is_remote: false,
            span_kind: SpanKind::Internal,
            name: name.into(),
            start_time: SystemTime::UNIX_EPOCH,
            end_time: SystemTime::UNIX_EPOCH,
            attributes,
            dropped_attributes_count: 0,
            events: Default::default(),
            links: Default::default(),
            status: Status::Unset,
            instrumentation_scope: InstrumentationScope::default(),
        };
        translate(&mut span);
        span
    }

    fn request(url: &'static str, outcome: KeyValue) -> SpanData {
        let method = KeyValue::new("method", "PUT");
        span(ARM, vec![method, KeyValue::new("path", url), outcome])
    }

    #[test]
    fn addresses_are_split_into_what_a_request_goes_to() {
        for (url, expected) in [
            ("/a/b?api-version=1", ["", "/a/b", "api-version=1"]),
            ("/a/b", ["", "/a/b", ""]),
            ("https://h.test/a?x=1", ["h.test", "/a", "x=1"]),
            ("https://h.test", ["h.test", "", ""]),
        ] {
            let span = request(url, KeyValue::new("status", 200));
            let names = ["server.address", "url.path", "url.query"];
            let found = names.map(|name| text(&span, name).unwrap_or_default());
            assert_eq!(found, expected, "{url}");
            assert!(find(&span, "path").is_none());
        }
    }

    #[test]
    fn refusals_and_silence_are_errors_and_404_is_none() {
        for (outcome, expected) in [
            (KeyValue::new("status", 201), Status::Unset),
            (KeyValue::new("status", 404), Status::Unset),
            (KeyValue::new("status", 409), Status::error("HTTP 409")),
            (KeyValue::new("status", 503), Status::error("HTTP 503")),
            (
                KeyValue::new("error", "no route"),
                Status::error("no route"),
            ),
        ] {
            let span = request("/a", outcome.clone());
            assert_eq!(
                (&*span.name, &span.status),
                ("PUT", &expected),
                "{outcome:?}"
            );
        }
    }

    #[test]
    fn a_pass_keeps_its_name() {
        let span = span("reconcile", vec![KeyValue::new("kind", "ResourceGroup")]);
        assert_eq!((&*span.name, &span.status), ("reconcile", &Status::Unset));
        assert_eq!(
            text(&span, "armature.kind").as_deref(),
            Some("ResourceGroup")
        );
    }
}
