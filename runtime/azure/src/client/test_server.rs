//! A TLS server for tests of the client: token endpoint and ARM in one, each path with one answer. Names nothing
//! of this crate, so that tests inside and outside of it can share the file.

use std::sync::{Arc, Mutex};

use axum::Router;
use axum::extract::{Request as HttpRequest, State};
use axum::response::{IntoResponse, Response as HttpResponse};
use hyper_util::rt::{TokioExecutor, TokioIo};
use hyper_util::service::TowerToHyperService;
use serde_json::{Value, json};

const CORRELATION: &str = "x-ms-correlation-request-id";
const REQUEST_ID: &str = "x-ms-request-id";

/// One request as the server saw it.
#[derive(Clone, Debug)]
pub struct Seen {
    /// Method, path and query.
    pub line: String,
    /// `Authorization`.
    pub authorization: String,
    /// `x-ms-authorization-auxiliary`.
    pub auxiliary: String,
    /// `User-Agent`.
    pub agent: String,
    /// Correlation id.
    pub correlation: String,
    /// Body as text.
    pub body: String,
}

/// Requests in order of arrival.
#[derive(Clone, Default)]
pub struct Log(Arc<Mutex<Vec<Seen>>>);

impl Log {
    /// All of them so far.
    pub fn all(&self) -> Vec<Seen> {
        self.0.lock().expect("the log").clone()
    }
}

async fn answer(State(log): State<Log>, request: HttpRequest) -> HttpResponse {
    let (parts, body) = request.into_parts();
    let header = |name: &str| {
        let value = parts.headers.get(name);
        value.map_or_else(String::new, |value| {
            value.to_str().expect("text").to_owned()
        })
    };
    let body = axum::body::to_bytes(body, 1 << 20).await.expect("a body");
    let body = String::from_utf8(body.to_vec()).expect("text");
    log.0.lock().expect("the log").push(Seen {
        line: format!(
            "{} {}",
            parts.method,
            parts.uri.path_and_query().expect("a path")
        ),
        authorization: header("authorization"),
        auxiliary: header("x-ms-authorization-auxiliary"),
        agent: header("user-agent"),
        correlation: header(CORRELATION),
        body: body.clone(),
    });
    let path = parts.uri.path();
    if path.ends_with("/oauth2/v2.0/token") {
        return token(path, &body);
    }
    match path {
        "/good" => json(200, json!({"name": "x"})),
        "/empty" => axum::http::StatusCode::NO_CONTENT.into_response(),
        "/long" => (axum::http::StatusCode::OK, vec![b' '; (32 << 20) + 1]).into_response(),
        "/endless" => {
            let part = axum::body::Bytes::from_static(&[b' '; 1 << 16]);
            let parts = futures::stream::repeat(Ok::<_, std::convert::Infallible>(part));
            axum::body::Body::from_stream(parts).into_response()
        }
        "/long-error" => {
            let detail = json!({"code": "A", "message": "m".repeat(40)});
            json(
                400,
                json!({"error": {"code": "A", "message": "m", "details": vec![detail; 150_000]}}),
            )
        }
        "/html" => (axum::http::StatusCode::OK, "<html>").into_response(),
        "/html-error" => (axum::http::StatusCode::BAD_GATEWAY, "<html>").into_response(),
        "/unauthorized" => json(
            401,
            json!({"error": {"code": "InvalidAuthenticationToken", "message": "m"}}),
        ),
        _ => json(
            404,
            json!({"error": {"code": "ResourceNotFound", "message": "m"}}),
        ),
    }
}

fn json(status: u16, body: Value) -> HttpResponse {
    let status = axum::http::StatusCode::from_u16(status).expect("a status");
    (status, [(REQUEST_ID, "r-1")], axum::Json(body)).into_response()
}

/// What the token endpoint answers to this form.
fn token(path: &str, form: &str) -> HttpResponse {
    let field = |name: &str| {
        let mut pairs = form.split('&').filter_map(|pair| pair.split_once('='));
        let found = pairs.find(|(key, _)| *key == name);
        found.map(|(_, value)| value).unwrap_or_default()
    };
    let client = field("client_id");
    match client {
        // It repeats what it was sent.
        "echo" => {
            let description = format!("AADSTS7000215: {form} is wrong");
            return json(
                401,
                json!({"error": form, "error_description": description, "error_codes": [form], "trace_id": form}),
            );
        }
        "forever" => {
            return json(
                200,
                json!({"expires_in": i64::MAX, "access_token": "token"}),
            );
        }
        "endless" => {
            let part = axum::body::Bytes::from_static(&[b' '; 1 << 16]);
            let parts = futures::stream::repeat(Ok::<_, std::convert::Infallible>(part));
            return axum::body::Body::from_stream(parts).into_response();
        }
        "busy" | "busy-proxy" if field("client_secret") == "x" => {
            let body = match client {
                "busy" => json!({"error": "temporarily_unavailable"}).to_string(),
                _ => "<html>".to_owned(),
            };
            let status = axum::http::StatusCode::TOO_MANY_REQUESTS;
            return (status, [("retry-after", "90")], body).into_response();
        }
        "proxy" => return (axum::http::StatusCode::FORBIDDEN, "<html>").into_response(),
        _ => {}
    }
    if field("client_secret") == "wrong" {
        return json(
            401,
            json!({"error": "invalid_client", "error_description": "AADSTS7000215: Invalid client secret provided.\r\nTrace ID: t-1", "error_codes": [7000215]}),
        );
    }
    let other = match path.split('/').nth(1).unwrap_or_default() {
        "tenant" => String::new(),
        other => format!("-of-{other}"),
    };
    json(
        200,
        json!({"token_type": "Bearer", "expires_in": 3600, "access_token": format!("token-{client}{other}")}),
    )
}

/// A running server; it stops with the test's runtime.
pub struct Server {
    /// `https://localhost:PORT`.
    pub endpoint: String,
    /// PEM file of its certificate authority.
    pub ca: tempfile::NamedTempFile,
    /// What it saw.
    pub log: Log,
}

/// Starts a server on a free port.
pub async fn server() -> Server {
    let _ = rustls::crypto::aws_lc_rs::default_provider().install_default();
    let mut authority = rcgen::CertificateParams::new(Vec::new()).expect("parameters");
    authority.is_ca = rcgen::IsCa::Ca(rcgen::BasicConstraints::Unconstrained);
    let authority_key = rcgen::KeyPair::generate().expect("a key");
    let authority_certificate = authority
        .self_signed(&authority_key)
        .expect("a certificate");
    let issuer = rcgen::Issuer::new(authority, authority_key);
    let key = rcgen::KeyPair::generate().expect("a key");
    let certificate = rcgen::CertificateParams::new(vec!["localhost".to_owned()])
        .expect("parameters")
        .signed_by(&key, &issuer)
        .expect("a certificate");
    let ca = tempfile::NamedTempFile::new().expect("a file");
    std::fs::write(ca.path(), authority_certificate.pem()).expect("written");

    let private = rustls_pki_types::PrivatePkcs8KeyDer::from(key.serialize_der());
    let config = rustls::ServerConfig::builder()
        .with_no_client_auth()
        .with_single_cert(vec![certificate.der().clone()], private.into())
        .expect("a TLS configuration");
    let acceptor = tokio_rustls::TlsAcceptor::from(Arc::new(config));
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0")
        .await
        .expect("a port");
    let port = listener.local_addr().expect("an address").port();
    let log = Log::default();
    let router = Router::new().fallback(answer).with_state(log.clone());
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            let (acceptor, router) = (acceptor.clone(), router.clone());
            tokio::spawn(async move {
                let Ok(stream) = acceptor.accept(stream).await else {
                    return;
                };
                let service = TowerToHyperService::new(router);
                let builder = hyper_util::server::conn::auto::Builder::new(TokioExecutor::new());
                let _ = builder
                    .serve_connection(TokioIo::new(stream), service)
                    .await;
            });
        }
    });
    Server {
        endpoint: format!("https://localhost:{port}"),
        ca,
        log,
    }
}
