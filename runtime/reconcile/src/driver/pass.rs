//! The working memory of one pass.

use std::collections::BTreeSet;
use std::sync::Arc;

use serde_json::value::{RawValue, to_raw_value};
use serde_json::{Map, Value, json};

use super::Reconciler;
use super::directives::{is_requested, joined};
use super::gate::Gate;
use super::notes::LONGEST_UNSEEN;
use crate::annotations::{Adoption, Annotations, Directives};
use crate::claim;
use crate::classify::Failure;
use crate::condition::{self, reason};
use crate::extension::{ArmAccess, Context, Points, Resolver};
use crate::observed::Observed;
use crate::policy::Policy;
use crate::view::{Manager, OwnerForm, ResourceView, Steps, StoredOperation};
use armature_azure::budget::Urgency;
use armature_azure::{CredentialKey, Method, Operation};
use armature_engine::compare::SecretVersion;
use armature_engine::payload::Resolved;
use armature_shapes::conversion;
use armature_shapes::id::ResourceId;
use armature_shapes::kind::{KindInfo, OwnerRule, VersionInfo};
use armature_shapes::names;
use armature_shapes::resource::Object;

/// One pass over one object.
pub(super) struct Pass<'a> {
    pub reconciler: &'a Reconciler,
    /// The way to Azure.
    pub gate: Arc<Gate>,
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
    pub id: Option<ResourceId>,
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
type Parts = (Value, Value, &'static VersionInfo, Option<ResourceId>);

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
        match Self::parts(&object) {
            Ok((spec, status, version, id)) => Ok(Self {
                reconciler,
                gate: Arc::new(Gate::new(
                    reconciler,
                    object.key(),
                    urgency(&object, &status, &namespace),
                )),
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
            }),
            Err(message) => Err(Box::new(Unreadable {
                reconciler,
                failure: Failure::error(reason::FAILED, message),
                object,
            })),
        }
    }

    fn parts(object: &Object) -> Result<Parts, String> {
        let mut spec = parse(object.spec.as_deref(), "spec")?;
        let status = parse(object.status.as_deref(), "status")?;
        let version = conversion::original_version(object.kind.0, &spec)
            .ok_or_else(|| format!("{} has no version", object.kind.0.kind))?;
        name_in_azure(object, &mut spec);
        let id = claim::resource_id(object)
            .map(ResourceId::parse)
            .transpose()
            .map_err(|error| format!("annotation {}: {error}", names::RESOURCE_ID))?;
        Ok((spec, status, version, id))
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

    /// The object as the decision sees it.
    pub fn view(&self) -> ResourceView {
        let metadata = &self.object.metadata;
        let (directives, mistakes) = match self.directives() {
            Ok(directives) => (directives, None),
            // Nothing of it counts; reading only is the safest of all.
            Err(mistakes) => (Directives::of_policy(Policy::Skip), Some(joined(&mistakes))),
        };
        ResourceView {
            generation: self.generation,
            deleting: metadata.deletion_timestamp.is_some(),
            claimed: self.is_claimed(),
            manager: self.manager(),
            mistakes,
            paused: self.paused(&directives),
            policy: directives.policy,
            adopt: directives.adopt,
            adoption: self.adoption(),
            protected: directives.protect,
            observe: directives.observe,
            always_put: directives.always_put,
            owner: self.owner_form(),
            has_resource_id: claim::resource_id(&self.object).is_some(),
            subscription: self
                .id
                .as_ref()
                .and_then(|id| id.subscription().map(str::to_owned)),
            operation: self.stored_operation(),
            put_generation: self.put_generation(),
            put_may_run: self.awaits_unanswered_put() || self.put_may_run(),
            hold: self.hold(),
            pause: self.pause(),
            verbs: self.version.verbs,
            steps: self.steps(),
        }
    }

    /// Only a process that was killed leaves a PUT behind whose answer nobody noted. No object younger than this process has
    /// one, and none whose resource Azure has shown.
    pub fn put_may_run(&self) -> bool {
        let since = self.reconciler.since;
        let created = self.object.metadata.creation_timestamp.as_ref();
        self.annotation(names::LATEST_RECONCILED_GENERATION)
            .is_none()
            && created.is_some_and(|created| created.0 < since)
            && !self.was_shown()
            && self.reconciler.clock.now().duration_since(since) < LONGEST_UNSEEN
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

    fn manager(&self) -> Manager {
        if self.takes_ownership {
            return Manager::Us;
        }
        match self.annotation(names::OPERATOR_NAMESPACE) {
            None | Some("") => Manager::Nobody,
            Some(namespace) if namespace == self.reconciler.settings.operator_namespace => {
                Manager::Us
            }
            Some(namespace) => Manager::Other(namespace.to_owned()),
        }
    }

    pub fn owner_form(&self) -> OwnerForm {
        if self.kind().owner == OwnerRule::None {
            return OwnerForm::None;
        }
        let arm_id = self.spec.pointer("/owner/armId").and_then(Value::as_str);
        match arm_id {
            Some(id) if !id.is_empty() => OwnerForm::ArmId,
            _ => OwnerForm::Named,
        }
    }

    /// The running operation, as far as its annotations can be read.
    pub fn operation(&self) -> Option<Operation> {
        let id = self.annotation(names::POLLER_RESUME_ID)?;
        let token = self.annotation(names::POLLER_RESUME_TOKEN)?;
        Operation::resume(id, token).ok()
    }

    pub fn stored_operation(&self) -> StoredOperation {
        let set = |name| self.annotation(name).is_some_and(|text| !text.is_empty());
        let is_set = set(names::POLLER_RESUME_ID) || set(names::POLLER_RESUME_TOKEN);
        if self.forgets_operation || !is_set {
            return StoredOperation::None;
        }
        match self.operation() {
            Some(operation) => match operation.method {
                Method::Delete => StoredOperation::Delete,
                Method::Post => StoredOperation::Prerequisite,
                _ => StoredOperation::Put,
            },
            None => StoredOperation::Unreadable,
        }
    }

    fn steps(&self) -> Steps {
        Steps {
            owner_check: self.points.has_owner_checker() && self.kind().owner != OwnerRule::None,
            pre_check: self.points.has_pre_checker(),
            post_check: self.points.has_post_checker(),
            export: self.wants_exports(),
            success_hook: self.points.has_success_handler(),
        }
    }

    fn wants_exports(&self) -> bool {
        let Some(operator_spec) = self.spec.get("operatorSpec").and_then(Value::as_object) else {
            return false;
        };
        let filled = |value: &Value| match value {
            Value::Array(items) => !items.is_empty(),
            Value::Object(members) => !members.is_empty(),
            _ => false,
        };
        [
            "secrets",
            "configMaps",
            "secretExpressions",
            "configMapExpressions",
        ]
        .iter()
        .any(|name| operator_spec.get(*name).is_some_and(filled))
    }

    /// The last segment of the ARM id.
    pub fn azure_name(&self) -> String {
        use armature_shapes::kind::NameRule;
        if let NameRule::Fixed(name) = self.kind().name {
            return name.to_owned();
        }
        let written = self.spec.get("azureName").and_then(Value::as_str);
        match written {
            Some(name) if !name.is_empty() => name.to_owned(),
            _ => self.object.metadata.name.clone().unwrap_or_default(),
        }
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
            id: self.id.clone(),
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

/// Where the user names nothing, the resource has the object's name: whoever reads the spec finds it there.
fn name_in_azure(object: &Object, spec: &mut Value) {
    const FIELD: &str = "azureName";
    let is_set = |name: &Value| name.as_str().is_some_and(|name| !name.is_empty());
    if object.kind.0.hub.spec.field(FIELD).is_some()
        && !spec.get(FIELD).is_some_and(is_set)
        && let (Value::Object(members), Some(name)) = (spec, &object.metadata.name)
    {
        members.insert(FIELD.to_owned(), Value::from(name.as_str()));
    }
}

/// The whole object as one JSON document in stored form.
pub(super) fn document(object: &Object, spec: &Value, status: &Value) -> Value {
    let kind = object.kind.0;
    let mut document = json!({
        "apiVersion": format!("{}/{}", kind.group, kind.hub.storage_version),
        "kind": kind.kind,
        "metadata": {
            "name": object.metadata.name,
            "namespace": object.metadata.namespace,
        },
        "spec": spec,
    });
    if !status.is_null() {
        document["status"] = status.clone();
    }
    document
}

/// Whether somebody waits for this pass: not when it looks at an object that is ready and unchanged.
fn urgency(object: &Object, status: &Value, namespace: &Annotations) -> Urgency {
    let conditions = status.get("conditions").unwrap_or(&Value::Null);
    let is_ready = condition::ready(conditions).is_some_and(|(status, _)| status == "True");
    let observed = status.get("observedGeneration").and_then(Value::as_i64);
    let is_unchanged = observed.is_some() && observed == object.metadata.generation;
    let is_busy = annotation(object, names::POLLER_RESUME_ID).is_some()
        || object.metadata.deletion_timestamp.is_some()
        || is_requested(object, conditions, namespace);
    if is_ready && is_unchanged && !is_busy {
        Urgency::Background
    } else {
        Urgency::Foreground
    }
}

pub(super) fn annotation<'o>(object: &'o Object, name: &str) -> Option<&'o str> {
    let annotations = object.metadata.annotations.as_ref()?;
    annotations.get(name).map(String::as_str)
}

pub(super) fn parse(text: Option<&RawValue>, field: &str) -> Result<Value, String> {
    match text {
        None => Ok(Value::Null),
        Some(text) => serde_json::from_str(text.get())
            .map_err(|error| format!("{field} cannot be read: {error}")),
    }
}

/// JSON as text. Serialising a value that was parsed cannot fail; if it does, the field is left out.
pub(super) fn raw(value: &Value) -> Option<Box<RawValue>> {
    (!value.is_null())
        .then(|| to_raw_value(value).ok())
        .flatten()
}
