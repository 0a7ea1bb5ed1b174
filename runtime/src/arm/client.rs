//! The ARM client: one HTTP exchange over TLS per call, with a token of the right credential.
//!
//! One HTTP client serves ARM and the token endpoint for all credentials. Nothing is retried here: every wait
//! is the caller's. Logs name method, path, status and request ids, never tokens, queries or bodies.

use std::collections::{BTreeMap, HashMap};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use azure_core::cloud::{CloudConfiguration, CustomConfiguration};
use azure_core::credentials::TokenCredential;
use azure_core::http::{ClientOptions, RetryOptions, Transport as AzureTransport};
use azure_identity::{
    ClientAssertionCredentialOptions, ClientSecretCredential, ClientSecretCredentialOptions,
    WorkloadIdentityCredential, WorkloadIdentityCredentialOptions,
};
use jiff::Timestamp;
use tracing::{Instrument, Span, debug, field, info_span};

use super::credential::{self, CredentialError, Identity, Place, Proof, SecretReader};
use super::{
    Cloud, CredentialKey, Method, Request, Response, Transport, TransportError, operation,
};

const CONNECT_TIMEOUT: Duration = Duration::from_secs(20);
/// ARM cuts synchronous requests off after about a minute.
const READ_TIMEOUT: Duration = Duration::from_secs(90);
const CORRELATION: &str = "x-ms-correlation-request-id";
const REQUEST_ID: &str = "x-ms-request-id";

/// What a client is made of.
#[derive(Clone, Debug)]
pub struct ClientSettings {
    /// Which Azure.
    pub cloud: Cloud,
    /// The operator's own identity, if it has one.
    pub identity: Option<Identity>,
    /// PEM file of certificate authorities to trust beside the system's.
    pub ca_file: Option<PathBuf>,
    /// Appended to the `User-Agent` (`AZURE_USER_AGENT_SUFFIX`).
    pub user_agent_suffix: Option<String>,
    /// Mounted token for workload identities in Secrets (`AZURE_FEDERATED_TOKEN_FILE`).
    pub token_file: Option<String>,
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
    settings: ClientSettings,
    scope: String,
    secrets: Arc<dyn SecretReader>,
    loaded: Mutex<HashMap<CredentialKey, Arc<Loaded>>>,
}

/// A credential that is ready to give tokens; it caches them itself.
struct Loaded {
    version: String,
    subscription: String,
    tokens: Arc<dyn TokenCredential>,
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
        let mut agent = format!("armature/{}", env!("CARGO_PKG_VERSION"));
        if let Some(suffix) = settings.user_agent_suffix.as_deref().map(str::trim)
            && !suffix.is_empty()
        {
            agent.push(' ');
            agent.push_str(suffix);
        }
        let mut builder = reqwest::Client::builder()
            .user_agent(agent)
            .connect_timeout(CONNECT_TIMEOUT)
            .read_timeout(READ_TIMEOUT)
            .https_only(true)
            // A redirect would carry the token to a URL that ARM's endpoint does not hold.
            .redirect(reqwest::redirect::Policy::none());
        if let Some(path) = &settings.ca_file {
            builder = builder.tls_certs_merge(read_ca_file(path)?);
        }
        let http = builder
            .build()
            .map_err(|error| ClientError::Tls(describe(&error)))?;
        Ok(Self {
            http,
            scope: settings.cloud.scope(),
            settings,
            secrets,
            loaded: Mutex::default(),
        })
    }

    /// The credential, made once and again whenever its Secret changes. `fresh` reads the Secret even when
    /// the credential is loaded.
    async fn credential(
        &self,
        key: &CredentialKey,
        fresh: bool,
    ) -> Result<Arc<Loaded>, CredentialError> {
        let known = self.lock().get(key).cloned();
        let (identity, version, place) = match (key, known) {
            (CredentialKey::Global, Some(known)) => return Ok(known),
            (CredentialKey::Global, None) => {
                let identity = self.settings.identity.clone();
                let identity = identity.ok_or(CredentialError::None)?;
                (identity, String::new(), Place::Operator)
            }
            (CredentialKey::Secret { .. }, Some(known)) if !fresh => return Ok(known),
            (CredentialKey::Secret { namespace, name }, known) => {
                let place = Place::Secret {
                    namespace: namespace.clone(),
                    name: name.clone(),
                };
                let secret = match self.secrets.read_secret(namespace, name).await {
                    Ok(Some(secret)) => secret,
                    Ok(None) => return Err(CredentialError::Missing(place)),
                    Err(message) => return Err(CredentialError::Unreadable { place, message }),
                };
                if let Some(known) = known.filter(|known| known.version == secret.version) {
                    return Ok(known);
                }
                let token_file = self.settings.token_file.as_deref();
                let identity = credential::secret_identity(namespace, name, &secret, token_file)?;
                (identity, secret.version, place)
            }
        };
        let loaded = Arc::new(Loaded {
            version,
            tokens: self.token_credential(&identity, place)?,
            subscription: identity.subscription,
        });
        self.lock().insert(key.clone(), Arc::clone(&loaded));
        Ok(loaded)
    }

    fn token_credential(
        &self,
        identity: &Identity,
        place: Place,
    ) -> Result<Arc<dyn TokenCredential>, CredentialError> {
        let client_options = self.token_options();
        let unusable = |key, error: azure_core::Error| CredentialError::Value {
            place,
            key,
            message: error.to_string(),
        };
        match &identity.proof {
            Proof::ClientSecret(secret) => {
                let options = ClientSecretCredentialOptions { client_options };
                let made = ClientSecretCredential::new(
                    &identity.tenant,
                    identity.client.clone(),
                    secret.clone(),
                    Some(options),
                );
                Ok(made.map_err(|error| unusable("AZURE_TENANT_ID", error))?)
            }
            Proof::WorkloadIdentity { token_file } => {
                let options = WorkloadIdentityCredentialOptions {
                    credential_options: ClientAssertionCredentialOptions { client_options },
                    client_id: Some(identity.client.clone()),
                    tenant_id: Some(identity.tenant.clone()),
                    token_file_path: Some(token_file.clone()),
                };
                let made = WorkloadIdentityCredential::new(Some(options));
                Ok(made.map_err(|error| unusable("AZURE_FEDERATED_TOKEN_FILE", error))?)
            }
        }
    }

    /// Options of the token endpoint: our HTTP client, our authority, no retry of its own.
    fn token_options(&self) -> ClientOptions {
        let mut cloud = CustomConfiguration::default();
        cloud.authority_host = self.settings.cloud.authority_host.to_string();
        ClientOptions {
            transport: Some(AzureTransport::new(Arc::new(self.http.clone()))),
            retry: RetryOptions::none(),
            cloud: Some(Arc::new(CloudConfiguration::Custom(cloud))),
            ..ClientOptions::default()
        }
    }

    async fn token(&self, request: &Request) -> Result<String, TransportError> {
        let loaded = self
            .credential(&request.credential, false)
            .await
            .map_err(|error| credential_failure(request.method, &request.url, &error))?;
        match loaded.tokens.get_token(&[&self.scope], None).await {
            Ok(token) => Ok(token.token.secret().to_owned()),
            Err(error) => Err(TransportError {
                method: request.method,
                url: loggable(&request.url),
                message: format!(
                    "no token for {}: {error}",
                    describe_key(&request.credential)
                ),
                credential: refused_by_entra(&error),
                retry_after: None,
            }),
        }
    }

    async fn exchange(
        &self,
        request: &Request,
        correlation: &str,
    ) -> Result<Response, TransportError> {
        let fail = |message: String| TransportError {
            method: request.method,
            url: loggable(&request.url),
            message,
            credential: false,
            retry_after: None,
        };
        let url = self.settings.cloud.resolve(&request.url).ok_or_else(|| {
            let endpoint = &self.settings.cloud.endpoint;
            fail(format!(
                "refused: the URL is not below the ARM endpoint {endpoint}"
            ))
        })?;
        let token = self.token(request).await?;
        let mut call = self
            .http
            .request(http_method(request.method), url)
            .bearer_auth(token)
            .header("accept", "application/json")
            .header(CORRELATION, correlation);
        if let Some(body) = &request.body {
            call = call.json(body);
        }
        let answer = call.send().await.map_err(|error| fail(describe(&error)))?;
        let mut response = head(&answer, correlation);
        let bytes = answer
            .bytes()
            .await
            .map_err(|error| fail(describe(&error)))?;
        if response.status == 401 {
            // The credential may have been replaced; the next request reads it again.
            self.lock().remove(&request.credential);
        }
        if bytes.is_empty() {
            return Ok(response);
        }
        match serde_json::from_slice(&bytes) {
            Ok(body) => response.body = Some(body),
            Err(_) if response.status >= 400 => {}
            Err(error) => {
                let retry_after = operation::retry_after(&response, Timestamp::now());
                let status = response.status;
                let message = format!("HTTP {status} with a body that is no JSON ({error})");
                return Err(TransportError {
                    retry_after,
                    ..fail(message)
                });
            }
        }
        Ok(response)
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, HashMap<CredentialKey, Arc<Loaded>>> {
        // A panic while the map was held leaves a map that is still valid.
        self.loaded.lock().unwrap_or_else(PoisonError::into_inner)
    }
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
        );
        async {
            let result = self.exchange(&request, &correlation).await;
            match &result {
                Ok(response) => {
                    let span = Span::current();
                    span.record("status", response.status);
                    span.record("request_id", response.header(REQUEST_ID));
                    debug!("answered");
                }
                Err(error) => debug!(%error, "no answer"),
            }
            result
        }
        .instrument(span)
        .await
    }

    async fn subscription(&self, key: &CredentialKey) -> Result<String, TransportError> {
        let loaded = self.credential(key, true).await;
        match loaded {
            Ok(loaded) => Ok(loaded.subscription.clone()),
            Err(error) => Err(credential_failure(Method::Get, "/subscriptions", &error)),
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
        credential: true,
        retry_after: None,
    }
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

fn describe_key(key: &CredentialKey) -> String {
    match key {
        CredentialKey::Global => Place::Operator.to_string(),
        CredentialKey::Secret { namespace, name } => format!("Secret {namespace}/{name}"),
    }
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
#[path = "test_server.rs"]
mod test_server;

#[cfg(test)]
#[path = "client_tests.rs"]
mod tests;
