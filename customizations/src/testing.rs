//! Doubles for tests of extensions: a cluster and an Azure that count how often they are asked.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use armature_runtime::azure::{CredentialKey, Request, Response, Transport, TransportError};
use armature_runtime::engine::compare::DigestKey;
use armature_runtime::extension::{
    ArmAccess, Context, ExtensionError, Next, PostCheck, PreCheck, Resolver,
};
use armature_runtime::id::RemoteId;
use armature_runtime::kind::KindInfo;
use armature_runtime::reconcile::port::{
    DataExport, DataKind, EventNote, KeyedData, KubernetesError, KubernetesPort, MetadataPatch,
    Protection,
};
use armature_runtime::resource::{Kind, Object, ObjectKey};
use async_trait::async_trait;
use serde_json::Value;

/// Counts calls. Kubernetes knows nothing and does nothing; Azure has nothing, or one answer to everything.
#[derive(Clone, Default)]
pub struct Doubles {
    calls: Arc<AtomicUsize>,
    requests: Arc<Mutex<Vec<String>>>,
    answer: Option<Value>,
}

impl Doubles {
    /// An Azure that answers everything with this body.
    pub fn answering(body: Value) -> Self {
        Self {
            answer: Some(body),
            ..Self::default()
        }
    }

    /// Requests to Azure so far: method, path and query.
    pub fn requests(&self) -> Vec<String> {
        self.requests.lock().expect("no test fails inside").clone()
    }

    /// A context in namespace `test`, without an owner.
    pub fn context(&self) -> Context {
        let key = CredentialKey::Global;
        Context {
            resolver: Resolver::new(Arc::new(self.clone()), "test".to_owned()),
            arm: ArmAccess::new(Arc::new(self.clone()), key),
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
        let line = format!("{} {}", request.method, request.url);
        self.requests
            .lock()
            .expect("no test fails inside")
            .push(line);
        Ok(Response {
            status: if self.answer.is_some() { 200 } else { 404 },
            headers: [("x-ms-request-id".to_owned(), "request-1".to_owned())].into(),
            body: self.answer.clone(),
        })
    }

    async fn subscription(&self, _: &CredentialKey) -> Result<String, TransportError> {
        self.count();
        Ok(String::new())
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

    fn sharing(&self, _: &RemoteId, _: &ObjectKey) -> Option<Vec<Arc<Object>>> {
        Some(Vec::new())
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

    fn protection_below(&self, _: &[String], _: &ObjectKey) -> Protection {
        self.count();
        Protection::None
    }

    async fn record(&self, _: &Object, _: EventNote) {
        self.count();
    }
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
