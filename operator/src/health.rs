//! `/healthz` and `/readyz` over plain HTTP, for probes.

use axum::Router;
use axum::http::StatusCode;
use axum::routing::get;
use tokio::net::TcpListener;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

/// Serves the probes until told to stop. Healthy while the process answers; ready while `ready` holds.
pub async fn serve(listener: TcpListener, ready: watch::Receiver<bool>, stop: CancellationToken) {
    let router = Router::new()
        .route("/healthz", get(|| async { "ok" }))
        .route(
            "/readyz",
            get(|| async move {
                if *ready.borrow() {
                    (StatusCode::OK, "ok")
                } else {
                    (StatusCode::SERVICE_UNAVAILABLE, "starting")
                }
            }),
        );
    let served = axum::serve(listener, router)
        .with_graceful_shutdown(async move { stop.cancelled().await })
        .await;
    if let Err(error) = served {
        tracing::error!(%error, "the health endpoints stopped");
    }
}
