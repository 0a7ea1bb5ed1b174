//! The working memory of one pass.

use std::collections::BTreeSet;

use armature_shapes::id::RemoteId;
use armature_shapes::kind::{KindInfo, VersionInfo};
use armature_shapes::names;
use armature_shapes::resource::Object;
use jiff::Timestamp;
use serde_json::{Map, Value};

use super::Reconciler;
use super::findings::{Findings, Namespace, Place};
use super::forms::Forms;
use super::object::{annotation, urgency};
use super::ways::Ways;
use crate::annotations::Annotations;
use crate::backoff::RetryClass;
use crate::bookkeeping::Bookkeeping;
use crate::claim;
use crate::condition::reason;
use crate::extension::{Context, Points, Resolver};
use crate::observed::Observed;
use crate::outcome::Failure;
use crate::remote::Target;
use crate::signature::{Belief, NoteKeys, has_own_notes};

/// One pass over one object.
pub(super) struct Pass<'a> {
    pub reconciler: &'a Reconciler,
    pub ways: Ways,
    pub points: Points,
    /// The object as Kubernetes last returned it.
    pub object: Object,
    /// The object is as the API server had it in this pass.
    pub is_latest: bool,
    /// When the first look began of those in a row that did not find all well, if that is known.
    pub first_look: Option<Timestamp>,
    /// Generation that this pass works from. The object may be read again on the way; its spec is not.
    pub generation: i64,
    /// The spec of that generation, and the status as it will be written.
    pub forms: Forms,
    pub findings: Findings,
    /// What is noted in the object.
    pub book: Bookkeeping,
    /// What notes are signed with.
    pub keys: NoteKeys,
    /// How far those in the object are believed.
    pub belief: Belief,
    /// At the beginning it had some that no other operator writes.
    pub had_own_notes: bool,
    /// Secret of the credential that the claim chose, until an event tells of it.
    pub untold_credential: Option<String>,
}

/// An object whose stored form makes no sense: all that can be done is to say so.
pub(super) struct Unreadable<'a> {
    pub reconciler: &'a Reconciler,
    pub object: Object,
    pub failure: Failure,
}

impl<'a> Pass<'a> {
    /// A pass over this object, with the annotations of its namespace and the keys of notes.
    pub fn new(
        reconciler: &'a Reconciler,
        object: Object,
        annotations: Annotations,
        keys: NoteKeys,
    ) -> Result<Self, Box<Unreadable<'a>>> {
        let read = Forms::of(&object).and_then(|forms| {
            let id = recorded_id(&object)?;
            let urgency = urgency(&object, forms.status(), &annotations);
            Ok((forms, id, Ways::open(reconciler, &object, urgency)?))
        });
        let (forms, id, ways) = match read {
            Ok(read) => read,
            Err(message) => {
                return Err(Box::new(Unreadable {
                    reconciler,
                    failure: Failure::error(reason::FAILED, message),
                    object,
                }));
            }
        };
        let belief = keys.belief(&object);
        Ok(Self {
            reconciler,
            ways,
            points: reconciler.extensions.of(object.kind),
            is_latest: false,
            first_look: None,
            generation: object.metadata.generation.unwrap_or(0),
            forms,
            findings: Findings {
                namespace: Namespace {
                    annotations,
                    is_live: false,
                },
                place: Place {
                    id,
                    ..Place::default()
                },
                ..Findings::default()
            },
            book: Bookkeeping::of(&object, reconciler.deferred.of(&object), belief),
            keys,
            belief,
            had_own_notes: has_own_notes(&object),
            untold_credential: None,
            object,
        })
    }

    /// What the pass has found out, as the decision asks for it.
    pub fn observed(&self) -> Observed {
        Observed::from(&self.findings)
    }

    /// What requests are about.
    pub fn target(&self) -> Result<Target<'_>, Failure> {
        let id = self.id().ok_or_else(|| {
            let message = "the resource has no id yet";
            Failure::warning(reason::FAILED, RetryClass::Slow, message)
        })?;
        Ok(Target {
            kind: self.kind(),
            version: self.version(),
            id,
            credential: self.findings.credential(),
        })
    }

    pub fn kind(&self) -> &'static KindInfo {
        self.object.kind.0
    }

    pub fn version(&self) -> &'static VersionInfo {
        self.forms.version()
    }

    /// What the remote calls the resource, where that is known.
    pub fn id(&self) -> Option<&RemoteId> {
        self.findings.place.id.as_ref()
    }

    /// ARM id of the owner, where the spec names it so.
    pub fn owner_arm_id(&self) -> Option<&str> {
        self.forms.spec().pointer("/owner/armId")?.as_str()
    }

    pub fn namespace(&self) -> String {
        self.object.metadata.namespace.clone().unwrap_or_default()
    }

    pub fn annotation(&self, name: &str) -> Option<&str> {
        annotation(&self.object, name)
    }

    pub fn uid(&self) -> String {
        self.object.metadata.uid.clone().unwrap_or_default()
    }

    /// Whether the object has our finalizer.
    pub fn is_claimed(&self) -> bool {
        claim::is_claimed(&self.object)
    }

    /// The object with the status that this pass has read, for extensions.
    pub fn current(&self) -> Object {
        Object {
            spec: self.forms.spec_text(),
            status: self.forms.status_text(),
            ..self.object.clone()
        }
    }

    /// The object with the status that Azure has just given; without one when Azure has no such resource.
    pub fn in_azure(&self) -> Object {
        let shown = self.findings.remote_body();
        Object {
            spec: self.forms.spec_text(),
            status: shown.and_then(|_| self.forms.status_text()),
            ..self.object.clone()
        }
    }

    /// What extensions may use.
    pub fn context(&self) -> Context {
        let reconciler = self.reconciler;
        Context {
            resolver: Resolver::new(reconciler.kubernetes.clone(), self.namespace()),
            access: self.ways.main.clone().access(self.findings.credential()),
            id: self.id().and_then(RemoteId::arm).cloned(),
            api_version: self.version().api_version,
            owner: self.findings.owner.object.clone(),
            span: tracing::Span::current(),
            cancellation: reconciler.cancellation.clone(),
        }
    }

    /// Keys of the members of `operatorSpec.<name>`.
    pub fn wanted(&self, name: &str) -> BTreeSet<String> {
        let members = self.forms.spec().pointer(&format!("/operatorSpec/{name}"));
        let members = members.and_then(Value::as_object);
        members
            .into_iter()
            .flat_map(Map::iter)
            .filter(|(_, destination)| destination.is_object())
            .map(|(key, _)| key.clone())
            .collect()
    }
}

/// The id of a claimed object.
pub(super) fn recorded_id(object: &Object) -> Result<Option<RemoteId>, String> {
    claim::resource_id(object)
        .map(|id| RemoteId::parse(object.kind.0, id))
        .transpose()
        .map_err(|error| format!("annotation {}: {error}", names::RESOURCE_ID))
}
