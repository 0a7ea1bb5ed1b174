//! The edge: sockets, TLS and HTTP around the state machine.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::header::{CONTENT_TYPE, HOST, HeaderName, HeaderValue};
use http::{Request as HttpRequest, Response as HttpResponse, StatusCode};
use http_body_util::{BodyExt, Full, LengthLimitError, Limited};
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo};
use hyper_util::server::conn::auto;
use percent_encoding::percent_decode_str;
use serde_json::Value;
use tokio::net::{TcpListener, TcpStream};
use tokio_rustls::TlsAcceptor;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::control;
use crate::error::ArmError;
use crate::exchange::{Answer, Reply, Request};
use crate::fault::Spoil;

/// Largest request body. ARM takes 4 MB.
const BODY_LIMIT: usize = 4 * 1024 * 1024;

/// Time that open requests have to end when the server stops.
const GRACE: Duration = Duration::from_secs(3);

/// What answers requests behind the edge.
pub trait Service: Clone + Send + Sync + 'static {
    /// Answers one request.
    fn handle(&self, request: &Request) -> Reply;

    /// `https://127.0.0.1:PORT`, for requests that do not say how they got here.
    fn endpoint(&self) -> &str;
}

/// Serves until cancelled, then waits for open requests to end, but not for ever.
pub async fn serve(
    service: impl Service,
    listener: TcpListener,
    tls: Arc<rustls::ServerConfig>,
    stop: CancellationToken,
) {
    let acceptor = TlsAcceptor::from(tls);
    let tasks = TaskTracker::new();
    let kill = CancellationToken::new();
    loop {
        let accepted = tokio::select! {
            () = stop.cancelled() => break,
            accepted = listener.accept() => accepted,
        };
        let (stream, peer) = match accepted {
            Ok(accepted) => accepted,
            Err(error) => {
                // Out of file descriptors, most likely: others may be closed meanwhile.
                tracing::warn!(%error, "cannot accept a connection");
                tokio::task::yield_now().await;
                continue;
            }
        };
        let (service, acceptor, stop) = (service.clone(), acceptor.clone(), stop.clone());
        let kill = kill.clone();
        tasks.spawn(async move {
            let served = connection(service, acceptor, stream, peer, stop);
            if let Some(Err(error)) = kill.run_until_cancelled(served).await {
                tracing::debug!(%peer, %error, "connection ended");
            }
        });
    }
    drop(listener);
    tasks.close();
    if tokio::time::timeout(GRACE, tasks.wait()).await.is_err() {
        kill.cancel();
        tasks.wait().await;
    }
}

/// A connection that is cut on purpose; with HTTP/2 the one request's stream.
#[derive(Debug, thiserror::Error)]
#[error("the connection was cut on purpose")]
struct Cut;

async fn connection(
    service: impl Service,
    acceptor: TlsAcceptor,
    stream: TcpStream,
    peer: SocketAddr,
    stop: CancellationToken,
) -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
    stream.set_nodelay(true)?;
    let stream = tokio::select! {
        () = stop.cancelled() => return Ok(()),
        accepted = acceptor.accept(stream) => accepted?,
    };
    let answering = service_fn(|request| {
        let service = service.clone();
        async move { respond(&service, request, peer).await }
    });
    let builder = auto::Builder::new(TokioExecutor::new());
    let serving = builder.serve_connection(TokioIo::new(stream), answering);
    tokio::pin!(serving);
    tokio::select! {
        ended = serving.as_mut() => return ended,
        () = stop.cancelled() => serving.as_mut().graceful_shutdown(),
    }
    serving.await
}

async fn respond(
    service: &impl Service,
    request: HttpRequest<Incoming>,
    peer: SocketAddr,
) -> Result<HttpResponse<Full<Bytes>>, Cut> {
    let request = match read(service, request).await {
        Ok(request) => request,
        Err(refusal) => return Ok(encode(refusal.into(), None)),
    };
    if control::is_control(&request.path) && !peer.ip().to_canonical().is_loopback() {
        let refusal = ArmError::new(
            403,
            "ControlIsLocal",
            "Control endpoints answer on loopback only.",
        );
        return Ok(encode(refusal.into(), None));
    }
    let Reply {
        delay,
        answer,
        spoil,
    } = service.handle(&request);
    if let Some(answer) = &answer {
        tracing::debug!(method = %request.method, path = request.path, status = answer.status);
    }
    if !delay.is_zero() {
        tokio::time::sleep(delay).await;
    }
    Ok(encode(answer.ok_or(Cut)?, spoil))
}

/// What a broken proxy says.
const NO_JSON: &[u8] = b"<html><body>The page cannot be displayed.</body></html>";

async fn read(service: &impl Service, request: HttpRequest<Incoming>) -> Result<Request, ArmError> {
    let (parts, body) = request.into_parts();
    let body = Limited::new(body, BODY_LIMIT).collect().await;
    let body = body.map_err(|error| {
        if error.is::<LengthLimitError>() {
            let message =
                format!("The request content size exceeds the maximum of {BODY_LIMIT} bytes.");
            ArmError::gateway(413, "RequestContentTooLarge", message)
        } else {
            ArmError::gateway(
                400,
                "InvalidRequestContent",
                format!("The body broke off: {error}."),
            )
        }
    })?;
    let host = parts
        .uri
        .authority()
        .map(http::uri::Authority::as_str)
        .or_else(|| parts.headers.get(HOST).and_then(|host| host.to_str().ok()));
    let origin = match host {
        Some(host) => format!("https://{host}"),
        None => service.endpoint().to_owned(),
    };
    let query = parts.uri.query().unwrap_or_default();
    Ok(Request {
        method: parts.method,
        path: percent_decode_str(parts.uri.path())
            .decode_utf8_lossy()
            .into_owned(),
        query: url::form_urlencoded::parse(query.as_bytes())
            .into_owned()
            .collect(),
        headers: parts.headers,
        body: body.to_bytes().to_vec(),
        origin,
    })
}

fn encode(answer: Answer, spoil: Option<Spoil>) -> HttpResponse<Full<Bytes>> {
    let text = answer.body.as_ref().map(Value::to_string);
    let body = Bytes::from(text.unwrap_or_default());
    let body = match spoil {
        Some(Spoil::Truncated) => body.slice(..body.len() / 2),
        Some(Spoil::NoJson) => Bytes::from_static(NO_JSON),
        Some(Spoil::Reset) | None => body,
    };
    let is_json = answer.body.is_some();
    let mut response = HttpResponse::new(Full::new(body));
    *response.status_mut() =
        StatusCode::from_u16(answer.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    let headers = response.headers_mut();
    if is_json {
        let json = HeaderValue::from_static("application/json; charset=utf-8");
        headers.insert(CONTENT_TYPE, json);
    }
    for (name, value) in answer.headers {
        // Values come from names in URLs too; one that no header can hold is left out.
        if let Ok(value) = HeaderValue::from_str(&value) {
            headers.insert(HeaderName::from_static(name), value);
        }
    }
    response
}

/// Opens the listening socket.
pub async fn bind(address: &str) -> io::Result<TcpListener> {
    TcpListener::bind(address).await
}
