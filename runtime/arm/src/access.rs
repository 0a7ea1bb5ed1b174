//! How extensions reach Azure Resource Manager.

use std::sync::Arc;

use armature_azure::{
    CloudError, CredentialKey, Method, Refused, Request, Response, Transport, TransportError,
    absence, operation,
};
use armature_reconcile::extension::{Context, ExtensionError};
use armature_reconcile::remote::Access;
use async_trait::async_trait;
use serde_json::Value;

use super::error::{ArmError, transport_failure};

/// What an extension asks Azure Resource Manager by.
pub trait ArmContext {
    /// Azure Resource Manager, with the object's credential. Where the pass has no way there, every request is told as one that
    /// was not sent.
    fn arm(&self) -> ArmAccess;
}

impl ArmContext for Context {
    fn arm(&self) -> ArmAccess {
        let access = self.access.get::<ArmAccess>().cloned();
        access.unwrap_or_else(|| ArmAccess::new(Arc::new(NoWay), CredentialKey::Global))
    }
}

impl From<ArmAccess> for Access {
    fn from(access: ArmAccess) -> Self {
        Self::new(access)
    }
}

/// Sends nothing.
struct NoWay;

impl NoWay {
    fn refuse(method: Method, url: String) -> TransportError {
        TransportError {
            method,
            url,
            message: "not sent: this pass has no way to Azure Resource Manager; have the operator open one as its main remote"
                .to_owned(),
            credential: false,
            refused: Some(Refused::Elsewhere),
            retry_after: None,
        }
    }
}

#[async_trait]
impl Transport for NoWay {
    async fn send(&self, request: Request) -> Result<Response, TransportError> {
        let path = request.url.split('?').next().unwrap_or_default();
        Err(Self::refuse(request.method, path.to_owned()))
    }

    async fn subscription(&self, _: &CredentialKey) -> Result<String, TransportError> {
        Err(Self::refuse(Method::Get, "/subscriptions".to_owned()))
    }
}

/// Sends requests with the object's credential. One call is one exchange; nothing is retried here.
#[derive(Clone)]
pub struct ArmAccess {
    transport: Arc<dyn Transport>,
    credential: CredentialKey,
}

impl ArmAccess {
    /// Access with this credential.
    pub fn new(transport: Arc<dyn Transport>, credential: CredentialKey) -> Self {
        Self {
            transport,
            credential,
        }
    }

    /// Lets requests of this pass go to a subscription other than the credential's, which all others are refused: one that
    /// the resource stands for. Take its name from what Azure answers, never from the object, which users may write.
    pub fn admit_subscription(&self, subscription: &str) {
        self.transport.admit_subscription(subscription);
    }

    /// Lets requests of this pass go to a path outside of the scopes that the object's namespace may use: one that stands for
    /// the object's own resource, such as what is kept of it after a deletion. A write is admitted only when Azure has answered
    /// that it is: users write the object.
    pub fn admit_path(&self, method: Method, url: &str) {
        self.transport.admit_path(method, url);
    }

    /// Base URL of the Azure that answers: what is kept for other objects is kept for this one alone, since a Secret may name a
    /// cloud of its own.
    pub async fn endpoint(&self) -> String {
        self.transport.endpoint(&self.credential).await
    }

    /// Who asks, and where: what is kept for one of these is not for another.
    pub async fn owner(&self) -> String {
        format!("{:?} at {}", self.credential, self.endpoint().await)
    }

    /// GET of a path and query; `None` when Azure says that there is no such thing ([`absence::is_gone`]).
    ///
    /// # Errors
    /// When Azure answers with another error or not at all.
    pub async fn get(&self, url: &str) -> Result<Option<Value>, ExtensionError> {
        let response = self.send(Method::Get, url, None).await?;
        if absence::is_gone(&response) {
            return Ok(None);
        }
        body(Method::Get, url, response)
    }

    /// POST of an action such as `listKeys`; the answer's body.
    ///
    /// # Errors
    /// When Azure answers with an error or not at all.
    pub async fn post(
        &self,
        url: &str,
        body_to_send: Option<Value>,
    ) -> Result<Option<Value>, ExtensionError> {
        let response = self.send(Method::Post, url, body_to_send).await?;
        body(Method::Post, url, response)
    }

    /// DELETE of a path and query, whatever revision is there; what is gone already is no error.
    ///
    /// # Errors
    /// When Azure answers with another error or not at all.
    pub async fn delete(&self, url: &str) -> Result<(), ExtensionError> {
        let request = Request {
            if_match: Some("*".to_owned()),
            ..self.request(Method::Delete, url, None)
        };
        let response = self.transport.send(request).await.map_err(unanswered)?;
        if !absence::is_gone(&response) {
            body(Method::Delete, url, response)?;
        }
        Ok(())
    }

    /// Any request; HTTP errors are answers.
    ///
    /// # Errors
    /// When there is no usable answer.
    pub async fn send(
        &self,
        method: Method,
        url: &str,
        body: Option<Value>,
    ) -> Result<Response, ExtensionError> {
        let request = self.request(method, url, body);
        self.transport.send(request).await.map_err(unanswered)
    }

    fn request(&self, method: Method, url: &str, body: Option<Value>) -> Request {
        Request {
            method,
            url: url.to_owned(),
            body,
            if_match: None,
            credential: self.credential.clone(),
        }
    }
}

fn body(method: Method, url: &str, response: Response) -> Result<Option<Value>, ExtensionError> {
    if response.status < 400 {
        return Ok(response.body);
    }
    let path = url.split('?').next().unwrap_or(url);
    Err(ExtensionError::Azure {
        request: format!("{method} {path}"),
        error: Arc::new(ArmError(CloudError::from_response(&response))),
        retry_after: operation::retry_after(&response, jiff::Timestamp::now()),
    })
}

fn unanswered(error: TransportError) -> ExtensionError {
    ExtensionError::Unanswered {
        message: error.to_string(),
        failure: Box::new(transport_failure(&error)),
    }
}

#[cfg(test)]
mod tests {
    use armature_reconcile::backoff::Requeue;
    use armature_reconcile::extension::Resolver;
    use armature_reconcile::testing::{Journal, MemoryCluster};

    use super::super::testing::MemoryAzure;
    use super::*;

    const GROUP: &str = "/subscriptions/s-1/resourceGroups/g?api-version=1";

    fn context(access: Access, journal: &Journal) -> Context {
        let cluster = Arc::new(MemoryCluster::new(journal.clone()));
        Context {
            resolver: Resolver::new(cluster, "default".to_owned()),
            access,
            id: None,
            api_version: "1",
            owner: None,
            span: tracing::Span::none(),
            cancellation: Default::default(),
        }
    }

    #[tokio::test]
    async fn an_extension_asks_by_what_the_pass_has_and_by_nothing_else() {
        let journal = Journal::default();
        let azure = Arc::new(MemoryAzure::new(journal.clone(), "s-1"));
        let access = ArmAccess::new(azure, CredentialKey::Global);
        let asked = context(access.into(), &journal).arm().get(GROUP).await;
        assert!(matches!(asked, Ok(None)), "{asked:?}");
        assert_eq!(journal.take(), ["GET /subscriptions/s-1/resourceGroups/g"]);
        let unasked = context(Access::default(), &journal).arm().get(GROUP).await;
        let Err(ExtensionError::Unanswered { message, failure }) = unasked else {
            panic!("{unasked:?}");
        };
        let start = "GET /subscriptions/s-1/resourceGroups/g: not sent: this pass has no way";
        assert!(message.starts_with(start), "{message}");
        assert_ne!(failure.requeue(), Requeue::Never);
        assert_eq!(journal.take(), [""; 0]);
    }
}
