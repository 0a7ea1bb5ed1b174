//! Doubles for tests of extensions: a cluster and an Azure that count how often they are asked.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use armature_runtime::arm::ArmAccess;
use armature_runtime::azure::{CredentialKey, Request, Response, Transport, TransportError};
use armature_runtime::engine::compare::DigestKey;
use armature_runtime::extension::{
    Context, ExtensionError, Next, PostCheck, PreCheck, PreReconciliationChecker,
    PreReconciliationOwnerChecker, Resolver,
};
use armature_runtime::id::RemoteId;
use armature_runtime::kind::KindInfo;
use armature_runtime::reconcile::port::{
    DataExport, DataKind, EventNote, KeyedData, KubernetesError, KubernetesPort, MetadataPatch,
    Protection,
};
use armature_runtime::reconcile::protection::Deletion;
use armature_runtime::resource::{Kind, Object, ObjectKey, TypedObject};
use async_trait::async_trait;
use serde_json::{Value, json};

/// Counts calls. Kubernetes knows nothing and does nothing; Azure has nothing, or one answer to everything.
#[derive(Clone, Default)]
pub struct Doubles {
    calls: Arc<AtomicUsize>,
    requests: Arc<Mutex<Vec<String>>>,
    answer: Option<Value>,
    refusal: Option<(u16, &'static str)>,
    endpoint: &'static str,
}

impl Doubles {
    /// An Azure that answers everything with this body.
    pub fn answering(body: Value) -> Self {
        Self {
            answer: Some(body),
            ..Self::default()
        }
    }

    /// An Azure that refuses everything, with this status and error code.
    pub fn refusing(status: u16, code: &'static str) -> Self {
        Self {
            refusal: Some((status, code)),
            ..Self::default()
        }
    }

    /// The same at another endpoint, as a Secret may name one.
    pub fn at(self, endpoint: &'static str) -> Self {
        Self { endpoint, ..self }
    }

    /// Requests to Azure so far: method, path and query, and the condition on the revision where there is one.
    pub fn requests(&self) -> Vec<String> {
        self.requests.lock().expect("no test fails inside").clone()
    }

    /// A context in namespace `test`, without an owner.
    pub fn context(&self) -> Context {
        let key = CredentialKey::Global;
        Context {
            resolver: Resolver::new(Arc::new(self.clone()), "test".to_owned()),
            access: ArmAccess::new(Arc::new(self.clone()), key).into(),
            id: None,
            api_version: "",
            owner: None,
            span: tracing::Span::none(),
            cancellation: Default::default(),
        }
    }

    /// Neither Kubernetes nor Azure was asked for anything.
    pub fn assert_untouched(&self) {
        assert_eq!(self.calls.load(Ordering::SeqCst), 0, "requests were sent");
    }

    fn count(&self) {
        self.calls.fetch_add(1, Ordering::SeqCst);
    }
}

#[async_trait]
impl Transport for Doubles {
    async fn send(&self, request: Request) -> Result<Response, TransportError> {
        self.count();
        let mut line = format!("{} {}", request.method, request.url);
        if let Some(revision) = &request.if_match {
            line.push_str(&format!(" if-match {revision}"));
        }
        self.requests
            .lock()
            .expect("no test fails inside")
            .push(line);
        let (status, body) = match (self.refusal, &self.answer) {
            (Some((status, code)), _) => (status, Some(json!({"error": { "code": code }}))),
            (None, Some(answer)) => (200, Some(answer.clone())),
            (None, None) => (404, None),
        };
        Ok(Response {
            status,
            headers: [("x-ms-request-id".to_owned(), "request-1".to_owned())].into(),
            body,
        })
    }

    async fn subscription(&self, _: &CredentialKey) -> Result<String, TransportError> {
        self.count();
        Ok(String::new())
    }

    async fn endpoint(&self, _: &CredentialKey) -> String {
        self.endpoint.to_owned()
    }
}

#[async_trait]
impl KubernetesPort for Doubles {
    async fn get(&self, _: &ObjectKey) -> Result<Option<Object>, KubernetesError> {
        self.count();
        Ok(None)
    }

    async fn read(&self, _: &ObjectKey) -> Result<Option<Object>, KubernetesError> {
        self.count();
        Ok(None)
    }

    fn kind(&self, _: &str, _: &str) -> Option<&'static KindInfo> {
        self.count();
        None
    }

    fn sharing(&self, _: &RemoteId, _: &ObjectKey) -> Result<Vec<Arc<Object>>, String> {
        Ok(Vec::new())
    }

    fn stand_for(&self, _: &RemoteId) -> Result<Vec<Arc<Object>>, String> {
        Ok(Vec::new())
    }

    fn owned_by(&self, _: &ObjectKey) -> Vec<ObjectKey> {
        Vec::new()
    }

    fn wake_dependents(&self, _: &ObjectKey) {}

    async fn patch_metadata(
        &self,
        object: &Object,
        _: MetadataPatch,
    ) -> Result<Object, KubernetesError> {
        self.count();
        Ok(object.clone())
    }

    async fn patch_status(&self, object: &Object, _: Value) -> Result<Object, KubernetesError> {
        self.count();
        Ok(object.clone())
    }

    async fn read_data(
        &self,
        _: DataKind,
        _: &str,
        _: &str,
    ) -> Result<Option<KeyedData>, KubernetesError> {
        self.count();
        Ok(None)
    }

    fn has_namespace_credential(&self, _: &str) -> Option<bool> {
        None
    }

    async fn digest_key(&self) -> Result<DigestKey, KubernetesError> {
        self.count();
        Ok(DigestKey::random())
    }

    async fn write_data(&self, _: &Object, _: DataExport) -> Result<(), KubernetesError> {
        self.count();
        Ok(())
    }

    async fn namespace_annotations(
        &self,
        _: &str,
    ) -> Result<BTreeMap<String, String>, KubernetesError> {
        self.count();
        Ok(BTreeMap::new())
    }

    async fn live_namespace_annotations(
        &self,
        _: &str,
    ) -> Result<BTreeMap<String, String>, KubernetesError> {
        self.count();
        Ok(BTreeMap::new())
    }

    fn protection_below(&self, _: &Deletion<'_>) -> Protection {
        self.count();
        Protection::None
    }

    async fn record(&self, _: &Object, _: EventNote) {
        self.count();
    }
}

/// What a check says of a resource, where its default proceeds. It must not ask anybody.
pub async fn pre_check<C: PreReconciliationChecker>(
    checker: &C,
    object: &TypedObject<C::Hub>,
) -> PreCheck {
    let doubles = Doubles::default();
    let check = checker.check(&doubles.context(), object, proceed()).await;
    doubles.assert_untouched();
    check.expect("a result")
}

/// What a check says of an owner, where its default proceeds. It must not ask anybody.
pub async fn owner_check<C: PreReconciliationOwnerChecker>(
    checker: &C,
    owner: &TypedObject<C::Owner>,
) -> PreCheck {
    let doubles = Doubles::default();
    let check = checker.check(&doubles.context(), owner, proceed()).await;
    doubles.assert_untouched();
    check.expect("a result")
}

/// A default that proceeds.
pub fn proceed() -> Next<'static, PreCheck> {
    Next::value(PreCheck::Proceed)
}

/// A default that succeeds.
pub fn succeed() -> Next<'static, PostCheck> {
    Next::value(PostCheck::Success)
}

/// A default that cannot find out.
pub fn failing<O: Send + 'static>() -> Next<'static, O> {
    Next::new(|()| async { Err(ExtensionError::Other("no answer".to_owned())) })
}

/// A stored object of this kind without spec and status.
pub fn object(kind: &'static KindInfo, name: &str) -> Object {
    Object {
        kind: Kind(kind),
        metadata: k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta {
            name: Some(name.to_owned()),
            namespace: Some("test".to_owned()),
            ..Default::default()
        },
        spec: None,
        status: None,
    }
}
