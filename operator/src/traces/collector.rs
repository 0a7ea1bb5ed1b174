//! The way to the collector: the operator's HTTP and TLS, and a line in the log when it is cut or comes back.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use opentelemetry_http::{Bytes, HttpClient, HttpError, Request, Response, ResponseExt};
use tokio::runtime::Handle;

/// Sends requests of an exporter.
#[derive(Debug)]
pub(super) struct Collector {
    http: reqwest::Client,
    runtime: Handle,
    /// Whether the last batch did not arrive.
    is_cut: AtomicBool,
}

impl Collector {
    pub(super) fn new(limit: Duration, runtime: Handle) -> Result<Self, reqwest::Error> {
        // Fails when it is installed already.
        let _ = rustls::crypto::aws_lc_rs::default_provider().install_default();
        Ok(Self {
            http: reqwest::Client::builder().timeout(limit).build()?,
            runtime,
            is_cut: AtomicBool::new(false),
        })
    }

    fn tell(&self, sent: &Result<Response<Bytes>, HttpError>) {
        let is_cut = sent.is_err();
        if self.is_cut.swap(is_cut, Ordering::Relaxed) == is_cut {
            return;
        }
        match sent {
            Ok(_) => tracing::info!("the collector takes traces again"),
            Err(error) => {
                let error = error.as_ref();
                tracing::warn!(error, "traces are lost until the collector takes them");
            }
        }
    }
}

#[async_trait]
impl HttpClient for Collector {
    async fn send_bytes(&self, request: Request<Bytes>) -> Result<Response<Bytes>, HttpError> {
        // The exporter works on a thread of its own, without the runtime that connections need.
        let sending = self.runtime.spawn(send(self.http.clone(), request));
        let sent = match sending.await {
            Ok(sent) => sent,
            Err(error) => Err(error.into()),
        };
        self.tell(&sent);
        sent
    }
}

async fn send(
    http: reqwest::Client,
    request: Request<Bytes>,
) -> Result<Response<Bytes>, HttpError> {
    // Headers may hold the collector's password, and so may the URL.
    let mut answer = http
        .execute(request.try_into()?)
        .await
        .map_err(reqwest::Error::without_url)?;
    let mut response = Response::builder().status(answer.status());
    if let Some(headers) = response.headers_mut() {
        std::mem::swap(headers, answer.headers_mut());
    }
    let body = answer.bytes().await.map_err(reqwest::Error::without_url)?;
    response.body(body)?.error_for_status()
}
