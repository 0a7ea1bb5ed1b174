//! The simulator as the operator's transport, without sockets.

use std::sync::{Arc, Mutex, PoisonError};

use armature_runtime::azure::{
    CredentialKey, Method, Request, Response, Transport, TransportError,
};
use armature_runtime::reconcile::testing::{Breakpoint, ManualClock, Side};
use armature_runtime::reconcile::time::Clock;
use armature_simulator::{Reply, Request as Exchange, Simulator, Spoil};
use async_trait::async_trait;
use http::{HeaderMap, HeaderValue};
use jiff::{SignedDuration, Timestamp};
use percent_encoding::percent_decode_str;
use serde_json::Value;

/// Where the simulator would listen.
const ORIGIN: &str = "https://localhost";

/// How long before its end a token is renewed, and how long it is used.
const TOKEN: SignedDuration = SignedDuration::from_mins(30);

/// A client of the simulator.
pub struct Client {
    simulator: Simulator,
    clock: Arc<ManualClock>,
    /// Client id.
    name: &'static str,
    subscription: String,
    tenant: String,
    token: Mutex<Option<(String, Timestamp)>>,
    breakpoint: Arc<Breakpoint>,
}

impl Client {
    /// A client that signs in under this name.
    pub fn new(
        simulator: Simulator,
        clock: Arc<ManualClock>,
        name: &'static str,
        (subscription, tenant): (String, String),
        breakpoint: Arc<Breakpoint>,
    ) -> Self {
        Self {
            simulator,
            clock,
            name,
            subscription,
            tenant,
            token: Mutex::default(),
            breakpoint,
        }
    }

    fn token(&self) -> String {
        let mut token = self.token.lock().unwrap_or_else(PoisonError::into_inner);
        let now = self.clock.now();
        if let Some((token, until)) = token.as_ref()
            && now < *until
        {
            return token.clone();
        }
        let form = format!(
            "grant_type=client_credentials&client_id={}&client_secret=s&scope={ORIGIN}/.default",
            self.name
        );
        let path = format!("/{}/oauth2/v2.0/token", self.tenant);
        let mut headers = HeaderMap::new();
        let form_type = HeaderValue::from_static("application/x-www-form-urlencoded");
        headers.insert("content-type", form_type);
        let reply = self.simulator.handle(&Exchange {
            method: http::Method::POST,
            path,
            query: Vec::new(),
            headers,
            body: form.into_bytes(),
            origin: ORIGIN.to_owned(),
        });
        let body = reply.answer.and_then(|answer| answer.body);
        let text = body.and_then(|body| body["access_token"].as_str().map(str::to_owned));
        let text = text.unwrap_or_default();
        *token = Some((text.clone(), now + TOKEN));
        text
    }

    /// Sends one request as it is.
    pub fn exchange(&self, request: &Request) -> Reply {
        let url = match request.url.strip_prefix(ORIGIN) {
            Some(rest) => rest,
            None => &request.url,
        };
        let (path, query) = url.split_once('?').unwrap_or((url, ""));
        let mut headers = HeaderMap::new();
        if let Ok(value) = HeaderValue::from_str(&format!("Bearer {}", self.token())) {
            headers.insert("authorization", value);
        }
        let etag = request.if_match.as_deref();
        if let Some(value) = etag.and_then(|etag| HeaderValue::from_str(etag).ok()) {
            headers.insert("if-match", value);
        }
        self.simulator.handle(&Exchange {
            method: method(request.method),
            path: percent_decode_str(path).decode_utf8_lossy().into_owned(),
            query: url::form_urlencoded::parse(query.as_bytes())
                .into_owned()
                .collect(),
            headers,
            body: match &request.body {
                Some(body) => body.to_string().into_bytes(),
                None => Vec::new(),
            },
            origin: ORIGIN.to_owned(),
        })
    }

    /// A PUT by somebody else than the operator; the HTTP status.
    pub fn put(&self, url: String, body: Value) -> u16 {
        let request = Request {
            method: Method::Put,
            url,
            body: Some(body),
            credential: CredentialKey::Global,
            if_match: None,
        };
        self.exchange(&request)
            .answer
            .map_or(0, |answer| answer.status)
    }
}

fn method(method: Method) -> http::Method {
    match method {
        Method::Get => http::Method::GET,
        Method::Head => http::Method::HEAD,
        Method::Put => http::Method::PUT,
        Method::Patch => http::Method::PATCH,
        Method::Post => http::Method::POST,
        Method::Delete => http::Method::DELETE,
    }
}

fn heard(request: &Request, reply: Reply) -> Result<Response, TransportError> {
    let lost = |message: &str| TransportError {
        method: request.method,
        url: request.url.clone(),
        message: message.to_owned(),
        credential: false,
        refused: None,
        retry_after: None,
    };
    let Some(answer) = reply.answer else {
        return Err(lost("the connection was cut"));
    };
    let is_spoilt = match reply.spoil {
        Some(Spoil::Truncated) => answer.body.is_some(),
        Some(Spoil::NoJson) => true,
        Some(Spoil::Reset) | None => false,
    };
    if is_spoilt && answer.status < 400 {
        return Err(lost("a body that is no JSON"));
    }
    let headers = answer.headers.into_iter();
    Ok(Response {
        status: answer.status,
        headers: headers
            .map(|(name, value)| (name.to_owned(), value))
            .collect(),
        body: answer.body.filter(|_| !is_spoilt),
    })
}

#[async_trait]
impl Transport for Client {
    async fn send(&self, request: Request) -> Result<Response, TransportError> {
        let call = format!("azure {}", request.method);
        self.breakpoint.pass(Side::Before, &call).await;
        let reply = self.exchange(&request);
        self.breakpoint.pass(Side::After, &call).await;
        heard(&request, reply)
    }

    async fn subscription(&self, _: &CredentialKey) -> Result<String, TransportError> {
        Ok(self.subscription.clone())
    }
}
