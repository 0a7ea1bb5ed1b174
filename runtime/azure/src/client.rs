//! The ARM client: one HTTP exchange over TLS per call, with a token of the right credential.
//!
//! One HTTP client serves ARM and the token endpoint for all credentials. Nothing is retried here: every wait
//! is the caller's. Logs name method, path, status and request ids, never tokens, queries or bodies.

mod unreachable;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use http::HeaderValue;
use jiff::Timestamp;
use serde_json::json;
use tracing::{Instrument, Span, debug, field, info_span};
use url::Url;

use super::body::{self, BodyError};
use super::credential::{
    CredentialError, MetadataService, OperatorIdentity, SecretBounds, SecretReader, SecretUser,
    TokenSources, asked_to_wait, refused_key,
};
use super::credentials::{Asked, Credential, CredentialSettings, Credentials, Tokens, place};
use super::failed_credentials::Refusal;
use super::{
    Cloud, CredentialKey, Method, Refused, Request, Response, Transport, TransportError, UNREAD,
    operation,
};

const CONNECT_TIMEOUT: Duration = Duration::from_secs(20);
/// ARM cuts synchronous requests off after about a minute.
const READ_TIMEOUT: Duration = Duration::from_secs(90);
/// Whoever answers byte by byte keeps a worker no longer than this.
const REQUEST_TIMEOUT: Duration = Duration::from_secs(180);
/// When to ask again for a credential that is being read.
const READ_SOON: Duration = Duration::from_secs(2);
const CORRELATION: &str = "x-ms-correlation-request-id";
const REQUEST_ID: &str = "x-ms-request-id";
/// Tokens of additional tenants (ARM's authentication across tenants).
const AUXILIARY: &str = "x-ms-authorization-auxiliary";

/// What a client is made of.
#[derive(Clone, Debug)]
pub struct ClientSettings {
    /// Which Azure.
    pub cloud: Cloud,
    /// The operator's own identity, if it has one.
    pub identity: OperatorIdentity,
    /// PEM file of certificate authorities to trust beside the system's.
    pub ca_file: Option<PathBuf>,
    /// Appended to the `User-Agent` (`AZURE_USER_AGENT_SUFFIX`).
    pub user_agent_suffix: Option<String>,
    /// Mounted token for workload identities in Secrets (`AZURE_FEDERATED_TOKEN_FILE`).
    pub token_file: Option<String>,
    /// Whether Secrets may name another cloud (`ALLOW_MULTI_ENV_MANAGEMENT`).
    pub other_clouds: bool,
    /// Folders with identity files that Secrets may name, beside that of the mounted token
    /// (`ARMATURE_IDENTITY_FILE_FOLDERS`).
    pub identity_folders: Vec<PathBuf>,
    /// Kinds of proof and clouds that Secrets may name (`ARMATURE_SECRET_PROOFS`, `ARMATURE_ALLOWED_CLOUDS`).
    pub secret_bounds: SecretBounds,
    /// Base URL of the service that gives managed identities their tokens, when it is not Azure's address
    /// (`AZURE_POD_IDENTITY_AUTHORITY_HOST`).
    pub metadata_endpoint: Option<Url>,
}

/// Why a client cannot be made.
#[derive(Debug, thiserror::Error)]
pub enum ClientError {
    /// The file of certificate authorities cannot be used.
    #[error("the CA file {} cannot be used: {message}; expected certificates in PEM", path.display())]
    CaFile {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        message: String,
    },
    /// TLS cannot be set up.
    #[error("HTTPS cannot be set up: {0}; is a bundle of certificate authorities installed?")]
    Tls(String),
}

/// The client. Cheap to share behind an [`Arc`].
pub struct Client {
    http: reqwest::Client,
    credentials: Arc<Credentials>,
}

impl Client {
    /// Makes a client. Reads the CA file; connects to nothing.
    ///
    /// # Errors
    /// When the CA file cannot be used, or the system has no certificate authorities.
    pub fn new(
        settings: ClientSettings,
        secrets: Arc<dyn SecretReader>,
    ) -> Result<Self, ClientError> {
        // Fails only when one is installed already, which is then used.
        let _ = rustls::crypto::aws_lc_rs::default_provider().install_default();
        let tls = |error| ClientError::Tls(describe(&error));
        let metadata = settings.metadata_endpoint.clone();
        let metadata = MetadataService::new(builder(&settings)?, metadata).map_err(tls)?;
        let http = builder(&settings)?
            .connect_timeout(CONNECT_TIMEOUT)
            .read_timeout(READ_TIMEOUT)
            .timeout(REQUEST_TIMEOUT)
            .https_only(true)
            .build()
            .map_err(tls)?;
        let sources = TokenSources {
            http: http.clone(),
            metadata,
        };
        let settings = CredentialSettings {
            cloud: settings.cloud,
            identity: settings.identity,
            token_file: settings.token_file,
            other_clouds: settings.other_clouds,
            identity_folders: settings.identity_folders,
            secret_bounds: settings.secret_bounds,
        };
        let credentials = Arc::new(Credentials::new(settings, sources, Arc::clone(&secrets)));
        // Not the other way round: who reads Secrets outlives the client.
        let user: Arc<dyn SecretUser> = credentials.clone();
        secrets.tell(Arc::downgrade(&user));
        Ok(Self { http, credentials })
    }

    /// Tokens for the request, or why there are none.
    async fn tokens(
        &self,
        request: &Request,
        credential: &Credential,
    ) -> Result<Tokens, TransportError> {
        let (method, key) = (request.method, &request.credential);
        if let Some(refused) = self.credentials.refusal(key, credential) {
            return Err(TransportError {
                credential: refused.wait.is_none(),
                ..lost(request, refused.message, refused.wait)
            });
        }
        let error = match credential.tokens().await {
            Ok(tokens) => return Ok(tokens),
            Err(error) => error,
        };
        if let Some(error) = CredentialError::behind(&error) {
            return Err(credential_failure(method, &request.url, error));
        }
        let refused = refused_by_entra(&error);
        let mut message = format!("no token for {}", place(key));
        if refused {
            let wrong = refused_key(&error.to_string(), credential.proof);
            message.push_str(&format!(", look at its key {wrong}"));
        }
        let message = match unreachable::told(&error) {
            Some(told) => format!("{message}: the sign-in server cannot be reached: {told}"),
            None => format!("{message}: {}", without_advice(&error.to_string())),
        };
        // A refusal is the user's to mend, however long the server asks to wait.
        let wait = asked_to_wait(&error).filter(|_| !refused);
        if refused || wait.is_some() {
            let refusal = Refusal {
                message: message.clone(),
                wait,
            };
            self.credentials.refuse(key, credential, refusal);
        }
        Err(TransportError {
            credential: refused,
            ..lost(request, message, wait)
        })
    }

    async fn exchange(
        &self,
        request: &Request,
        correlation: &str,
    ) -> Result<Response, TransportError> {
        let fail = |message: String| lost(request, message, None);
        let credential = self
            .credentials
            .get(&request.credential, Asked::by(request.method));
        let credential = credential
            .await
            .map_err(|error| credential_failure(request.method, &request.url, &error))?;
        let url = credential.cloud.resolve(&request.url);
        let url = url.map_err(|error| TransportError {
            refused: Some(Refused::Elsewhere),
            ..fail(error.to_string())
        })?;
        let tokens = self.tokens(request, &credential).await?;
        let mut call = self
            .http
            .request(http_method(request.method), url)
            .bearer_auth(&tokens.own)
            .header("accept", "application/json")
            .header(CORRELATION, correlation);
        if let Some(value) = auxiliary(&tokens.additional) {
            call = call.header(AUXILIARY, value);
        }
        if let Some(etag) = &request.if_match {
            call = call.header("if-match", etag);
        }
        if let Some(body) = &request.body {
            call = call.json(body);
        }
        let answer = call.send().await.map_err(|error| fail(describe(&error)))?;
        let mut response = head(&answer, correlation);
        if response.status == 401 {
            // The credential may have been replaced; the next request reads it again.
            self.credentials.forget(&request.credential);
        }
        let is_error = response.status >= 400;
        let limit = if is_error {
            body::OF_ERRORS
        } else {
            body::OF_ARM
        };
        match body::read(answer, limit).await {
            Ok(bytes) => with_body(request, response, &bytes),
            Err(BodyError::Lost(error)) => Err(fail(describe(&error))),
            // Status and ids tell all the same.
            Err(too_long) if is_error => {
                let error = json!({"code": UNREAD, "message": too_long.to_string()});
                response.body = Some(json!({"error": error}));
                Ok(response)
            }
            Err(too_long) => Err(fail(too_long.to_string())),
        }
    }
}

/// A request without an answer that can be used.
fn lost(request: &Request, message: String, retry_after: Option<Duration>) -> TransportError {
    TransportError {
        method: request.method,
        url: loggable(&request.url),
        message,
        credential: false,
        refused: None,
        retry_after,
    }
}

/// The answer with its body. Errors may have one that is no JSON, from a proxy for example.
fn with_body(
    request: &Request,
    mut response: Response,
    bytes: &[u8],
) -> Result<Response, TransportError> {
    if bytes.is_empty() {
        return Ok(response);
    }
    match serde_json::from_slice(bytes) {
        Ok(body) => response.body = Some(body),
        Err(_) if response.status >= 400 => {}
        Err(error) => {
            let retry_after = operation::retry_after(&response, Timestamp::now());
            let status = response.status;
            let message = format!("HTTP {status} with a body that is no JSON ({error})");
            return Err(lost(request, message, retry_after));
        }
    }
    Ok(response)
}

#[async_trait]
impl Transport for Client {
    async fn send(&self, request: Request) -> Result<Response, TransportError> {
        let correlation = uuid::Uuid::new_v4().to_string();
        let span = info_span!(
            "arm",
            method = %request.method,
            path = loggable(&request.url),
            correlation_id = correlation,
            status = field::Empty,
            request_id = field::Empty,
            error = field::Empty,
        );
        async {
            let result = self.exchange(&request, &correlation).await;
            let span = Span::current();
            match &result {
                Ok(response) => {
                    // Layers that export spans take signed numbers only.
                    span.record("status", i64::from(response.status));
                    span.record("request_id", response.header(REQUEST_ID));
                    debug!("answered");
                }
                Err(error) => {
                    span.record("error", &error.message);
                    debug!("no answer");
                }
            }
            result
        }
        .instrument(span)
        .await
    }

    async fn subscription(&self, key: &CredentialKey) -> Result<String, TransportError> {
        match self.credentials.get(key, Asked::Fresh).await {
            Ok(credential) => Ok(credential.subscription.clone()),
            Err(error) => Err(credential_failure(Method::Get, "/subscriptions", &error)),
        }
    }

    async fn principal(&self, key: &CredentialKey) -> String {
        match self.credentials.get(key, Asked::Known).await {
            Ok(credential) => credential.principal(key),
            Err(_) => place(key).to_string(),
        }
    }

    async fn names(&self, key: &CredentialKey) -> Vec<String> {
        match self.credentials.get(key, Asked::Known).await {
            Ok(credential) => credential.names(),
            Err(_) => Vec::new(),
        }
    }

    async fn endpoint(&self, key: &CredentialKey) -> String {
        match self.credentials.get(key, Asked::Known).await {
            Ok(credential) => credential.cloud.endpoint.to_string(),
            Err(_) => place(key).to_string(),
        }
    }
}

/// Status and headers of an answer. Where it names no correlation id, the one that was sent is it.
fn head(answer: &reqwest::Response, correlation: &str) -> Response {
    let mut headers: BTreeMap<String, String> = BTreeMap::new();
    for (name, value) in answer.headers() {
        if let Ok(value) = value.to_str() {
            headers.insert(name.as_str().to_owned(), value.to_owned());
        }
    }
    headers
        .entry(CORRELATION.to_owned())
        .or_insert_with(|| correlation.to_owned());
    Response {
        status: answer.status().as_u16(),
        headers,
        body: None,
    }
}

/// What all connections have: who we are, and whom we trust.
fn builder(settings: &ClientSettings) -> Result<reqwest::ClientBuilder, ClientError> {
    let mut agent = format!("armature/{}", env!("CARGO_PKG_VERSION"));
    if let Some(suffix) = settings.user_agent_suffix.as_deref().map(str::trim)
        && !suffix.is_empty()
    {
        agent.push(' ');
        agent.push_str(suffix);
    }
    let builder = reqwest::Client::builder()
        .user_agent(agent)
        // A redirect would carry the token to a URL that ARM's endpoint does not hold.
        .redirect(reqwest::redirect::Policy::none());
    Ok(match &settings.ca_file {
        Some(path) => builder.tls_certs_merge(read_ca_file(path)?),
        None => builder,
    })
}

fn read_ca_file(path: &PathBuf) -> Result<Vec<reqwest::Certificate>, ClientError> {
    let error = |message: String| ClientError::CaFile {
        path: path.clone(),
        message,
    };
    let pem = std::fs::read(path).map_err(|problem| error(problem.to_string()))?;
    let certificates = reqwest::Certificate::from_pem_bundle(&pem)
        .map_err(|problem| error(problem.to_string()))?;
    if certificates.is_empty() {
        return Err(error("it holds no certificate".to_owned()));
    }
    Ok(certificates)
}

fn credential_failure(method: Method, url: &str, error: &CredentialError) -> TransportError {
    TransportError {
        method,
        url: loggable(url),
        message: error.to_string(),
        credential: !error.may_pass(),
        refused: None,
        retry_after: matches!(error, CredentialError::BeingRead(_)).then_some(READ_SOON),
    }
}

/// Tokens of additional tenants as a header that is never printed; none where there are no such tenants.
fn auxiliary(tokens: &[String]) -> Option<HeaderValue> {
    let tokens: Vec<String> = tokens
        .iter()
        .map(|token| format!("Bearer {token}"))
        .collect();
    let mut value = HeaderValue::from_str(&tokens.join(", ")).ok()?;
    value.set_sensitive(true);
    (!tokens.is_empty()).then_some(value)
}

/// What the library says, without the link for its own users.
fn without_advice(text: &str) -> &str {
    let advice = text.find("\nTo troubleshoot");
    text[..advice.unwrap_or(text.len())].trim_end()
}

/// Entra answered and said no, so that waiting alone will not help; network trouble is not that.
fn refused_by_entra(error: &azure_core::Error) -> bool {
    let mut source: Option<&(dyn std::error::Error + 'static)> = Some(error);
    while let Some(current) = source {
        let status = current
            .downcast_ref::<azure_core::Error>()
            .and_then(azure_core::Error::http_status);
        if let Some(status) = status {
            let status = u16::from(status);
            return (400..500).contains(&status) && status != 429;
        }
        source = current.source();
    }
    false
}

/// The path and api-version of a URL: other parameters of operation URLs are signatures.
fn loggable(url: &str) -> String {
    let (path, query) = url.split_once('?').unwrap_or((url, ""));
    let version = query
        .split('&')
        .find(|parameter| parameter.starts_with("api-version="));
    match version {
        Some(version) => format!("{path}?{version}"),
        None => path.to_owned(),
    }
}

/// An error with what caused it; reqwest's own text says only "error sending request". URLs are left out.
fn describe(error: &reqwest::Error) -> String {
    let mut text = String::new();
    let mut source = std::error::Error::source(error);
    while let Some(current) = source {
        if !text.is_empty() {
            text.push_str(": ");
        }
        text.push_str(&current.to_string());
        source = current.source();
    }
    if error.is_timeout() {
        return format!("the server did not answer in time ({text})");
    }
    if let Some(told) = unreachable::told(error) {
        return format!("Azure cannot be reached: {told}");
    }
    if text.is_empty() {
        text = "the request failed".to_owned();
    }
    text
}

fn http_method(method: Method) -> reqwest::Method {
    match method {
        Method::Get => reqwest::Method::GET,
        Method::Head => reqwest::Method::HEAD,
        Method::Put => reqwest::Method::PUT,
        Method::Patch => reqwest::Method::PATCH,
        Method::Post => reqwest::Method::POST,
        Method::Delete => reqwest::Method::DELETE,
    }
}

#[cfg(test)]
mod test_server;

#[cfg(test)]
mod tests;
