//! Whose resource it is: the id that the object recorded against the one that its spec stands for, and other objects for
//! the same id.

use armature_shapes::id::{RemoteId, ResourceId};
use armature_shapes::kind::KindInfo;
use armature_shapes::names;
use armature_shapes::quote::shortened;
use armature_shapes::resource::Object;

use super::found::{Found, found};
use super::object::{annotation, read};
use super::pass::Pass;
use crate::annotations::Adoption;
use crate::claim;
use crate::condition::reason;
use crate::observed::{Holder, Identity};
use crate::outcome::Failure;
use crate::port::KubernetesError;
use crate::signature::Belief;
use crate::view::StoredOperation;

impl Pass<'_> {
    /// Whether the recorded id may be used: it is of the kind's ARM type, and it is the one that owner and name give, where
    /// both can still be told. An id that Azure never had is given up for the one of the corrected spec.
    pub(super) async fn check_identity(&mut self) -> Found<Identity> {
        let Some(recorded) = self.id().cloned() else {
            return Ok(Ok(Identity::Kept));
        };
        let kind = self.kind();
        let arm_id = recorded.arm();
        if let Some(id) = arm_id.filter(|id| !id.has_type(kind.remote_type())) {
            return Ok(Err(wrong_type(kind, id)));
        }
        found!(self.check_scopes_of_place(&recorded).await?);
        // Such a kind has an id of its own making. Of others, what it was made from may be gone.
        if self.points.claimer.is_some() {
            self.findings.place.is_proven = true;
            return Ok(Ok(Identity::Kept));
        }
        if self.owner_id().await?.is_err() || self.name_from_config().await?.is_err() {
            return Ok(Ok(match self.belief.is_foreign() {
                true => Identity::Unproven,
                false => Identity::Kept,
            }));
        }
        let computed = match self.build_id().await? {
            Ok(computed) => computed,
            Err(failure) => return Ok(Err(failure)),
        };
        if computed == recorded {
            self.findings.place.is_proven = true;
            return Ok(Ok(Identity::Kept));
        }
        if self.forms.was_shown() || self.may_exist() {
            // What goes is what the object has made, whatever its spec has come to say. Who could have written the id himself is
            // held to his spec.
            return Ok(match self.is_deleting() && self.belief == Belief::Signed {
                true => Ok(Identity::Kept),
                false => Err(moved(&recorded, &computed)),
            });
        }
        self.findings.place.id = None;
        Ok(Ok(Identity::Moved))
    }

    /// Whether something may be on its way in Azure that Azure has not shown.
    fn may_exist(&self) -> bool {
        self.stored_operation() != StoredOperation::None
            || self.put_may_run()
            || self.awaits_unanswered_put()
    }

    /// Which of the objects that stand for this id writes it.
    pub(super) async fn find_holder(&self) -> Result<Holder, KubernetesError> {
        let kubernetes = &self.reconciler.kubernetes;
        let Some(id) = self.id() else {
            return Ok(Holder::Us);
        };
        let others = match kubernetes.sharing(id, &self.object.key()) {
            Ok(others) => others,
            Err(why) => return Ok(Holder::Unknown(why)),
        };
        let (mut holder, mut rival) = (None, None);
        let mut first = claim::rank(&self.object, self.keys.count(&self.object));
        for other in others {
            let counts = self.keys.count(&other);
            let rank = claim::rank(&other, counts);
            let claims = !counts && claim::says_written(&other) && self.is_of_others(&other);
            if (rank < first || claims) && self.writes(&other, self.id()).await? {
                if rank < first {
                    first = rank;
                    holder = Some(other);
                } else {
                    rival = Some(other.key().to_string());
                }
            }
        }
        Ok(match (holder, rival) {
            (None, None) => Holder::Us,
            (None, Some(rival)) => Holder::Disputed(rival),
            (Some(holder), _) => {
                let name = holder.key().to_string();
                match holder.metadata.deletion_timestamp {
                    Some(_) => Holder::Leaving(name),
                    None => Holder::Other(name),
                }
            }
        })
    }

    /// Whether an object says that another operator manages it.
    fn is_of_others(&self, object: &Object) -> bool {
        let ours = &self.reconciler.settings.operator_namespace;
        let manager = annotation(object, names::OPERATOR_NAMESPACE);
        manager.is_some_and(|manager| !manager.is_empty() && manager != ours)
    }

    /// Whether an object may write its resource at all, which is the one with this id.
    pub(super) async fn writes(
        &self,
        object: &Object,
        id: Option<&RemoteId>,
    ) -> Result<bool, KubernetesError> {
        let namespace = object.metadata.namespace.as_deref().unwrap_or_default();
        let kubernetes = &self.reconciler.kubernetes;
        let namespace = kubernetes.namespace_annotations(namespace).await?;
        let default = self.reconciler.settings.default_policy;
        let is_refused = annotation(object, names::ADOPTION)
            .is_some_and(|text| Adoption::parse(text) == Adoption::Refused);
        let writes = match read(object, &namespace, default) {
            Ok(directives) => {
                let default = &self.reconciler.settings.default_scopes;
                let scopes = directives.scopes.as_ref().or(default.as_ref());
                let is_allowed = |id: &RemoteId| {
                    id.arm()
                        .is_none_or(|id| scopes.is_none_or(|scopes| scopes.allow(id.as_str())))
                };
                directives.policy.allows_put() && !directives.observe && id.is_none_or(is_allowed)
            }
            // It may have written before.
            Err(_) => true,
        };
        Ok(writes && !is_refused)
    }
}

fn wrong_type(kind: &KindInfo, recorded: &ResourceId) -> Failure {
    let id = recorded.to_string();
    let id = shortened(&id);
    Failure::error(
        reason::FAILED,
        format!(
            "annotation {}: '{id}' is a {}, expected a {}; nothing is sent. Put the right id back, or remove the \
             annotation and the finalizer {} to have the object claimed anew",
            names::RESOURCE_ID,
            recorded.arm_type(),
            kind.remote_type(),
            names::FINALIZER
        ),
    )
}

fn moved(recorded: &RemoteId, computed: &RemoteId) -> Failure {
    let (recorded, computed) = (recorded.to_string(), computed.to_string());
    let (recorded, computed) = (shortened(&recorded), shortened(&computed));
    Failure::error(
        reason::FAILED,
        format!(
            "the spec stands for '{computed}', but the object is for '{recorded}' (annotation {}), and a resource in Azure \
             cannot be moved or renamed; nothing is sent. Put azureName and owner back; or delete the object, with {}: \
             detach-on-delete to keep the resource, and create another one",
            names::RESOURCE_ID,
            names::RECONCILE_POLICY
        ),
    )
}
