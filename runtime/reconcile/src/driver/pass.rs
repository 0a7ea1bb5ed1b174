//! The working memory of one pass.

use std::collections::BTreeSet;
use std::sync::Arc;

use armature_azure::CredentialKey;
use armature_azure::budget::Urgency;
use armature_engine::compare::SecretVersion;
use armature_engine::payload::Resolved;
use armature_shapes::conversion;
use armature_shapes::id::RemoteId;
use armature_shapes::kind::{KindInfo, VersionInfo};
use armature_shapes::names;
use armature_shapes::resource::Object;
use serde_json::{Map, Value};

use super::Reconciler;
use super::object::{annotation, name_in_azure, parse, raw, urgency};
use crate::annotations::{Adoption, Annotations};
use crate::backoff::RetryClass;
use crate::claim;
use crate::condition::reason;
use crate::extension::{ArmAccess, Context, Points, Resolver};
use crate::observed::Observed;
use crate::outcome::Failure;
use crate::remote::{Gate, Session, Target};

/// One pass over one object.
pub(super) struct Pass<'a> {
    pub reconciler: &'a Reconciler,
    /// The way to Azure, for extensions.
    pub gate: Arc<Gate>,
    /// The way to what the object stands for.
    pub session: Arc<dyn Session>,
    /// Nobody waits for the outcome of the pass.
    pub in_background: bool,
    /// The object as Kubernetes last returned it.
    pub object: Object,
    /// Generation that this pass works from. The object may be read again on the way; its spec is not.
    pub generation: i64,
    /// Its spec, stored form.
    pub spec: Value,
    /// Its status as it will be written, stored form.
    pub status: Value,
    /// Version that the user wrote: its api-version is sent to ARM.
    pub version: &'static VersionInfo,
    pub points: Points,
    /// Annotations of the object's namespace.
    pub namespace_annotations: Annotations,
    /// Whose the resource is, as the next write says.
    pub adoption: Option<Adoption>,
    /// The object is ours from the next write on, which says so.
    pub takes_ownership: bool,
    /// The operation of the annotations has ended, and the next write removes them.
    pub forgets_operation: bool,
    /// How many operations failed in a row, for the next write.
    pub failed_operations: Option<String>,
    /// Something else is desired than what was sent last; only looked at after operations that failed.
    pub is_edited: bool,
    pub observed: Observed,
    pub id: Option<RemoteId>,
    pub owner: Option<Arc<Object>>,
    pub credential: CredentialKey,
    /// Spec in the user's version.
    pub served_spec: Value,
    pub resolved: Resolved,
    /// Secrets that the body was built with, as records of earlier releases know them.
    pub secret_versions: Vec<SecretVersion>,
    /// Body to be sent, without lists of children that are kinds of their own.
    pub desired: Value,
    /// What Azure returned last.
    pub azure: Option<Value>,
    /// The etag of that.
    pub etag: Option<String>,
    /// How often the resource changed between being read and being written.
    pub overtaken: usize,
}

/// Spec, status, version and id of an object.
type Parts = (Value, Value, &'static VersionInfo, Option<RemoteId>);

/// An object whose stored form makes no sense: all that can be done is to say so.
pub(super) struct Unreadable<'a> {
    pub reconciler: &'a Reconciler,
    pub object: Object,
    pub failure: Failure,
}

impl<'a> Pass<'a> {
    /// A pass over this object, with the annotations of its namespace.
    pub fn new(
        reconciler: &'a Reconciler,
        object: Object,
        namespace: Annotations,
    ) -> Result<Self, Box<Unreadable<'a>>> {
        let parts = Self::parts(&object).and_then(|parts| {
            let urgency = urgency(&object, &parts.1, &namespace);
            let gate = reconciler.gate(object.key(), urgency);
            let in_background = urgency == Urgency::Background;
            let session = reconciler.session(&object, &gate, in_background)?;
            Ok((parts, gate, session, in_background))
        });
        let ((spec, status, version, id), gate, session, in_background) = match parts {
            Ok(parts) => parts,
            Err(message) => {
                return Err(Box::new(Unreadable {
                    reconciler,
                    failure: Failure::error(reason::FAILED, message),
                    object,
                }));
            }
        };
        Ok(Self {
            reconciler,
            gate,
            session,
            in_background,
            points: reconciler.extensions.of(object.kind),
            generation: object.metadata.generation.unwrap_or(0),
            spec,
            status,
            version,
            namespace_annotations: namespace,
            takes_ownership: false,
            adoption: None,
            forgets_operation: false,
            failed_operations: None,
            is_edited: false,
            observed: Observed::default(),
            id,
            owner: None,
            credential: CredentialKey::Global,
            served_spec: Value::Null,
            resolved: Resolved::default(),
            secret_versions: Vec::new(),
            desired: Value::Null,
            azure: None,
            etag: None,
            overtaken: 0,
            object,
        })
    }

    fn parts(object: &Object) -> Result<Parts, String> {
        let mut spec = parse(object.spec.as_deref(), "spec")?;
        let status = parse(object.status.as_deref(), "status")?;
        let version = conversion::original_version(object.kind.0, &spec)
            .ok_or_else(|| format!("{} has no version", object.kind.0.kind))?;
        name_in_azure(object, &mut spec);
        let id = claim::resource_id(object)
            .map(|id| RemoteId::parse(object.kind.0, id))
            .transpose()
            .map_err(|error| format!("annotation {}: {error}", names::RESOURCE_ID))?;
        Ok((spec, status, version, id))
    }

    /// What requests are about.
    pub fn target(&self) -> Result<Target<'_>, Failure> {
        let id = self.id.as_ref().ok_or_else(|| {
            let message = "the resource has no id yet";
            Failure::warning(reason::FAILED, RetryClass::Slow, message)
        })?;
        Ok(Target {
            kind: self.kind(),
            version: self.version,
            id,
            credential: &self.credential,
        })
    }

    pub fn kind(&self) -> &'static KindInfo {
        self.object.kind.0
    }

    pub fn namespace(&self) -> String {
        self.object.metadata.namespace.clone().unwrap_or_default()
    }

    pub fn annotation(&self, name: &str) -> Option<&str> {
        annotation(&self.object, name)
    }

    /// Whether Azure has shown the resource before: then the status has more than what we say of the object.
    pub fn was_shown(&self) -> bool {
        let mut members = self.status.as_object().into_iter().flatten();
        members.any(|(name, _)| !["conditions", "observedGeneration"].contains(&name.as_str()))
    }

    /// Whether the object has our finalizer.
    pub fn is_claimed(&self) -> bool {
        claim::is_claimed(&self.object)
    }

    /// The object with the status that this pass has read, for extensions.
    pub fn current(&self) -> Object {
        Object {
            spec: raw(&self.spec),
            status: raw(&self.status),
            ..self.object.clone()
        }
    }

    /// The object with the status that Azure has just given; without one when Azure has no such resource.
    pub fn in_azure(&self) -> Object {
        Object {
            spec: raw(&self.spec),
            status: self.azure.as_ref().and_then(|_| raw(&self.status)),
            ..self.object.clone()
        }
    }

    /// What extensions may use.
    pub fn context(&self) -> Context {
        let reconciler = self.reconciler;
        Context {
            resolver: Resolver::new(reconciler.kubernetes.clone(), self.namespace()),
            arm: ArmAccess::new(self.gate.clone(), self.credential.clone()),
            id: self.id.as_ref().and_then(RemoteId::arm).cloned(),
            api_version: self.version.api_version,
            owner: self.owner.clone(),
            span: tracing::Span::current(),
            cancellation: reconciler.cancellation.clone(),
        }
    }

    /// Keys of the members of `operatorSpec.<name>`.
    pub fn wanted(&self, name: &str) -> BTreeSet<String> {
        let members = self.spec.pointer(&format!("/operatorSpec/{name}"));
        let members = members.and_then(Value::as_object);
        members
            .into_iter()
            .flat_map(Map::iter)
            .filter(|(_, destination)| destination.is_object())
            .map(|(key, _)| key.clone())
            .collect()
    }
}
