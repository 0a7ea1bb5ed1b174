//! `/healthz` and `/readyz` over plain HTTP, for probes and for people who wonder what is missing.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use axum::Router;
use axum::extract::Query;
use axum::http::StatusCode;
use axum::routing::get;
use serde::Deserialize;
use tokio::net::TcpListener;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

/// What a replica that manages objects does not see, in words.
type Unseen = dyn Fn() -> Option<String> + Send + Sync;

/// How far an operator is. Clones tell the same.
#[derive(Clone)]
pub struct Readiness {
    stage: watch::Sender<Stage>,
    unseen: Arc<Mutex<Option<Box<Unseen>>>>,
}

/// Query of `/readyz`, as API servers have it.
#[derive(Debug, Deserialize)]
struct Excluding {
    /// A check that is left out: `watches` is the one there is.
    #[serde(default)]
    exclude: String,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Stage {
    /// Not ready.
    WaitingFor(String),
    /// Ready, and what it does.
    Ready(String),
}

impl Readiness {
    /// Not ready yet.
    pub fn waiting_for(what: impl Into<String>) -> Self {
        Self {
            stage: watch::Sender::new(Stage::WaitingFor(what.into())),
            unseen: Arc::default(),
        }
    }

    /// What is missing now.
    pub fn waits_for(&self, what: impl Into<String>) {
        let what = what.into();
        tracing::info!("waiting for {what}");
        self.stage.send_replace(Stage::WaitingFor(what));
    }

    /// Nothing is missing any more; what the operator does from now on.
    pub fn ready(&self, does: impl Into<String>) {
        self.stage.send_replace(Stage::Ready(does.into()));
    }

    /// From now on the replica manages objects, and is ready while `unseen` says nothing: what it does not see.
    pub fn manages(&self, unseen: impl Fn() -> Option<String> + Send + Sync + 'static) {
        let mut check = self.unseen.lock().unwrap_or_else(PoisonError::into_inner);
        *check = Some(Box::new(unseen));
        self.ready("manages objects");
    }

    fn unseen(&self) -> Option<String> {
        let check = self.unseen.lock().unwrap_or_else(PoisonError::into_inner);
        check.as_ref()?()
    }

    fn answer(&self, excluding: &Excluding) -> (StatusCode, String) {
        let unseen = || self.unseen().filter(|_| excluding.exclude != "watches");
        match &*self.stage.borrow() {
            Stage::WaitingFor(what) => (
                StatusCode::SERVICE_UNAVAILABLE,
                format!("waiting for {what}\n"),
            ),
            Stage::Ready(does) => match unseen() {
                Some(unseen) => (StatusCode::SERVICE_UNAVAILABLE, format!("{unseen}\n")),
                None => (StatusCode::OK, format!("ok: {does}\n")),
            },
        }
    }
}

impl fmt::Debug for Readiness {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.stage.borrow().fmt(formatter)
    }
}

/// Serves the probes until told to stop. Healthy while the process answers; ready when nothing is waited for.
pub async fn serve(listener: TcpListener, readiness: Readiness, stop: CancellationToken) {
    let router = Router::new()
        .route("/healthz", get(|| async { "ok\n" }))
        .route(
            "/readyz",
            get(async move |query: Query<Excluding>| readiness.answer(&query)),
        );
    let served = axum::serve(listener, router)
        .with_graceful_shutdown(async move { stop.cancelled().await })
        .await;
    if let Err(error) = served {
        tracing::error!(%error, "the health endpoints stopped");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn readiness_says_what_it_waits_for() {
        let _ = rustls::crypto::aws_lc_rs::default_provider().install_default();
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let readiness = Readiness::waiting_for("the API server");
        let stop = CancellationToken::new();
        tokio::spawn(serve(listener, readiness.clone(), stop.clone()));
        let ask = async |path: &str| {
            let answer = reqwest::get(format!("http://{address}{path}")).await;
            let answer = answer.unwrap();
            (answer.status().as_u16(), answer.text().await.unwrap())
        };
        let expect = |status: u16, text: &str| (status, format!("{text}\n"));
        let waiting = expect(503, "waiting for the API server");
        assert_eq!(ask("/readyz").await, waiting);
        readiness.waits_for("3 CRDs");
        assert_eq!(ask("/readyz").await, expect(503, "waiting for 3 CRDs"));
        assert_eq!(ask("/healthz").await, expect(200, "ok"));
        readiness.ready("manages objects");
        assert_eq!(ask("/readyz").await, expect(200, "ok: manages objects"));
        readiness.manages(|| Some("watches have failed: Secret in namespace gone".to_owned()));
        let unseen = expect(503, "watches have failed: Secret in namespace gone");
        assert_eq!(ask("/readyz").await, unseen);
        let ready = expect(200, "ok: manages objects");
        assert_eq!(ask("/readyz?exclude=watches").await, ready);
        readiness.manages(|| None);
        assert_eq!(ask("/readyz").await, ready);
        stop.cancel();
    }
}
