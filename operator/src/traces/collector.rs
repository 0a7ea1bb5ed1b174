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

#[cfg(test)]
mod tests {
    use axum::Router;
    use axum::routing::post;
    use tokio::net::TcpListener;
    use tracing_subscriber::Registry;
    use tracing_subscriber::layer::SubscriberExt;

    use super::*;
    use crate::logging::LogStyle;
    use crate::logging::testing::{Lines, subscribe};

    #[tokio::test]
    async fn a_collector_that_is_away_is_told_once_and_so_is_its_return() {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        drop(listener);
        let lines = Lines::default();
        let log = LogStyle::default().lines(lines.writer());
        let _log = subscribe(Registry::default().with(log));
        let collector = Collector::new(Duration::from_secs(10), Handle::current()).unwrap();
        let send = async || {
            let request = Request::post(format!("http://{address}/v1/traces"));
            let request = request.body(Bytes::from_static(b"x")).unwrap();
            collector.send_bytes(request).await.is_ok()
        };
        assert!(!send().await && !send().await);
        let away = lines.text();
        assert_eq!(away.matches("traces are lost").count(), 1, "{away}");

        let listener = TcpListener::bind(address).await.unwrap();
        let router = Router::new().route("/v1/traces", post(async || ()));
        tokio::spawn(async move { axum::serve(listener, router).await });
        assert!(send().await && send().await);
        let back = lines.text();
        assert_eq!(back.matches("takes traces again").count(), 1, "{back}");
    }
}
