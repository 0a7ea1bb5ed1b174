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
    if let Some((path, query)) = text(span, "path")
        .as_deref()
        .and_then(|url| url.split_once('?'))
    {
        span.attributes
            .retain(|attribute| attribute.key.as_str() != "path");
        span.attributes.push(KeyValue::new("path", path.to_owned()));
        span.attributes
            .push(KeyValue::new("url.query", query.to_owned()));
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
        "path" => "url.path",
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
