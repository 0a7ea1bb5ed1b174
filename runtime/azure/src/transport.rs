//! The port through which everything reaches ARM: one request, one answer, no retry.

use std::collections::BTreeMap;
use std::fmt;
use std::time::Duration;

use async_trait::async_trait;
use serde_json::Value;

/// HTTP method of an ARM request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Method {
    /// GET.
    Get,
    /// HEAD.
    Head,
    /// PUT.
    Put,
    /// PATCH.
    Patch,
    /// POST.
    Post,
    /// DELETE.
    Delete,
}

impl Method {
    /// Whether the request can change something in Azure.
    pub fn is_write(self) -> bool {
        !matches!(self, Self::Get | Self::Head)
    }
}

impl fmt::Display for Method {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Get => "GET",
            Self::Head => "HEAD",
            Self::Put => "PUT",
            Self::Patch => "PATCH",
            Self::Post => "POST",
            Self::Delete => "DELETE",
        })
    }
}

/// Which credential a request is sent with (ASO behaviour §1.8).
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum CredentialKey {
    /// The operator's own.
    Global,
    /// A Secret in the object's namespace: `credential-from`, or `aso-credential`.
    Secret {
        /// Namespace of the Secret.
        namespace: String,
        /// Name of the Secret.
        name: String,
    },
}

/// One request.
#[derive(Clone, Debug, PartialEq)]
pub struct Request {
    /// Method.
    pub method: Method,
    /// Path and query below the ARM endpoint (`/subscriptions/…?api-version=…`), or an absolute URL that ARM
    /// gave out (operation URLs). Absolute URLs outside the ARM endpoint are refused: they would receive a
    /// token.
    pub url: String,
    /// JSON body. May hold secrets: never logged.
    pub body: Option<Value>,
    /// Etag that the resource must still have, verbatim (`If-Match`); Azure answers 412 where it has another one.
    pub if_match: Option<String>,
    /// Credential to send it with.
    pub credential: CredentialKey,
}

/// One answer, whatever its HTTP status.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Response {
    /// HTTP status.
    pub status: u16,
    /// Headers, names in lower case.
    pub headers: BTreeMap<String, String>,
    /// JSON body; `None` when empty. A body that is no JSON is a [`TransportError`] on success, and is dropped
    /// from an error answer, which gateways write in HTML.
    pub body: Option<Value>,
}

impl Response {
    /// The id under which ARM has recorded the request. Changes that it made bear it.
    pub fn correlation(&self) -> Option<&str> {
        self.header("x-ms-correlation-request-id")
    }

    /// A header by its lower-case name.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).map(String::as_str)
    }
}

/// Why a request is not sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refused {
    /// The URL leads elsewhere than to where the credential is for.
    Elsewhere,
    /// It is outside of the scopes that the object's namespace may use.
    Scope,
}

/// No usable answer: network, TLS, token or a good answer whose body is no JSON. The outcome of a write is unknown.
#[derive(Debug, thiserror::Error)]
#[error("{method} {url}: {message}")]
pub struct TransportError {
    /// Method that was tried.
    pub method: Method,
    /// URL that was tried, without secrets.
    pub url: String,
    /// What happened and what to do.
    pub message: String,
    /// The credential could not be found or used: which Secret and key, see the message.
    pub credential: bool,
    /// Why it was not sent and never will be, where that is so.
    pub refused: Option<Refused>,
    /// Server asked to wait this long.
    pub retry_after: Option<Duration>,
}

impl TransportError {
    /// Whether the credential is only not ready yet: nothing was sent, and it soon will be.
    pub fn is_early(&self) -> bool {
        self.credential && self.retry_after.is_some()
    }
}

/// The port. One call is one HTTP exchange.
#[async_trait]
pub trait Transport: Send + Sync {
    /// Sends the request. An HTTP error status is an `Ok` answer.
    async fn send(&self, request: Request) -> Result<Response, TransportError>;

    /// Subscription that the credential is for (ASO behaviour §1.8).
    async fn subscription(&self, credential: &CredentialKey) -> Result<String, TransportError>;

    /// Lets requests go to this subscription too, where they are confined to that of the credential: a resource stands for
    /// it, and Azure itself has said so.
    fn admit_subscription(&self, _subscription: &str) {}

    /// Lets requests go to the path of this URL, where they are bound to scopes: the extension that asks has seen that it stands
    /// for the object's own resource.
    fn admit_path(&self, _method: Method, _url: &str) {}

    /// Who the credential stands for. Two credentials of the same one share ARM's limits.
    async fn principal(&self, credential: &CredentialKey) -> String {
        format!("{credential:?}")
    }

    /// What Azure's records call who the credential stands for; nothing where that is not known.
    async fn names(&self, _credential: &CredentialKey) -> Vec<String> {
        Vec::new()
    }

    /// Base URL of the Azure that answers the credential's requests: what one says holds for no other. The same for all
    /// where there is only one.
    async fn endpoint(&self, _credential: &CredentialKey) -> String {
        String::new()
    }
}
