//! A small OpenTelemetry collector: takes OTLP over HTTP and keeps what it is sent.

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::{Arc, Mutex, PoisonError};

use axum::Router;
use axum::body::Bytes;
use axum::extract::State;
use axum::http::header::CONTENT_TYPE;
use axum::http::{HeaderMap, StatusCode};
use axum::response::IntoResponse;
use axum::routing::post;
use opentelemetry_proto::tonic::collector::trace::v1::{
    ExportTraceServiceRequest, ExportTraceServiceResponse,
};
use opentelemetry_proto::tonic::common::v1::any_value::Value;
use opentelemetry_proto::tonic::common::v1::{AnyValue, KeyValue};
use opentelemetry_proto::tonic::trace::v1::Span;
use prost::Message;
use tokio::net::TcpListener;

const PROTOBUF: &str = "application/x-protobuf";

/// A collector that listens until its runtime ends.
#[derive(Clone)]
pub struct Collector {
    address: SocketAddr,
    bodies: Arc<Mutex<Vec<Bytes>>>,
}

impl Collector {
    /// Starts to listen on a free port.
    pub async fn start() -> std::io::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
        let collector = Self {
            address: listener.local_addr()?,
            bodies: Arc::default(),
        };
        let router = Router::new()
            .route("/v1/traces", post(take))
            .with_state(collector.clone());
        tokio::spawn(async move { axum::serve(listener, router).await });
        Ok(collector)
    }

    /// `http://127.0.0.1:PORT`.
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Everything that was sent, as it was sent.
    pub fn bodies(&self) -> Vec<Bytes> {
        let bodies = self.bodies.lock().unwrap_or_else(PoisonError::into_inner);
        bodies.clone()
    }

    /// Every span that was sent, oldest batch first.
    pub fn spans(&self) -> Vec<Span> {
        let requests = self.bodies().into_iter().map(|body| {
            let request = ExportTraceServiceRequest::decode(body);
            request.expect("only what can be decoded is taken")
        });
        let of_resources = requests.flat_map(|request| request.resource_spans);
        let of_scopes = of_resources.flat_map(|resource| resource.scope_spans);
        of_scopes.flat_map(|scope| scope.spans).collect()
    }
}

async fn take(
    State(collector): State<Collector>,
    headers: HeaderMap,
    body: Bytes,
) -> axum::response::Response {
    let is_protobuf = headers.get(CONTENT_TYPE).is_some_and(|it| it == PROTOBUF);
    if !is_protobuf || ExportTraceServiceRequest::decode(body.clone()).is_err() {
        return StatusCode::BAD_REQUEST.into_response();
    }
    let bodies = &collector.bodies;
    let mut bodies = bodies.lock().unwrap_or_else(PoisonError::into_inner);
    bodies.push(body);
    let answer = ExportTraceServiceResponse::default().encode_to_vec();
    ([(CONTENT_TYPE, PROTOBUF)], answer).into_response()
}

/// The text or number of an attribute, as text.
pub fn attribute(attributes: &[KeyValue], name: &str) -> Option<String> {
    let found = attributes.iter().find(|attribute| attribute.key == name)?;
    let Some(AnyValue { value: Some(value) }) = &found.value else {
        return None;
    };
    match value {
        Value::StringValue(text) => Some(text.clone()),
        Value::IntValue(number) => Some(number.to_string()),
        _ => None,
    }
}
