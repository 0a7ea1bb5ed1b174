//! `/healthz` and `/readyz` over plain HTTP, for probes and for people who wonder what is missing.

use axum::Router;
use axum::http::StatusCode;
use axum::routing::get;
use tokio::net::TcpListener;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

/// How far an operator is. Clones tell the same.
#[derive(Clone, Debug)]
pub struct Readiness(watch::Sender<Stage>);

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
        Self(watch::Sender::new(Stage::WaitingFor(what.into())))
    }

    /// What is missing now.
    pub fn waits_for(&self, what: impl Into<String>) {
        let what = what.into();
        tracing::info!("waiting for {what}");
        self.0.send_replace(Stage::WaitingFor(what));
    }

    /// Nothing is missing any more; what the operator does from now on.
    pub fn ready(&self, does: impl Into<String>) {
        self.0.send_replace(Stage::Ready(does.into()));
    }

    fn answer(&self) -> (StatusCode, String) {
        match &*self.0.borrow() {
            Stage::WaitingFor(what) => (
                StatusCode::SERVICE_UNAVAILABLE,
                format!("waiting for {what}\n"),
            ),
            Stage::Ready(does) => (StatusCode::OK, format!("ok: {does}\n")),
        }
    }
}

/// Serves the probes until told to stop. Healthy while the process answers; ready when nothing is waited for.
pub async fn serve(listener: TcpListener, readiness: Readiness, stop: CancellationToken) {
    let router = Router::new()
        .route("/healthz", get(|| async { "ok\n" }))
        .route("/readyz", get(|| async move { readiness.answer() }));
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
        stop.cancel();
    }
}
