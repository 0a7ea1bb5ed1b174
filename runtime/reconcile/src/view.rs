//! What the object itself says, in the few facts that the decision needs.

use std::time::Duration;

use armature_shapes::kind::Verbs;
use jiff::Timestamp;

use super::annotations::{Adopt, Adoption};
use super::policy::Policy;

/// How the object names its owner.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OwnerForm {
    /// The kind has no owner.
    None,
    /// By name, in the same namespace.
    Named,
    /// By ARM id: nothing in the cluster to wait for (ASO behaviour §3.2).
    ArmId,
}

/// Who manages the object, by its annotation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Manager {
    /// Nobody yet.
    Nobody,
    /// This operator.
    Us,
    /// An operator in this namespace.
    Other(String),
}

/// What the object's annotations say about a running long-running operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StoredOperation {
    /// None is running.
    None,
    /// A PUT that this operator can go on following.
    Put,
    /// A DELETE that this operator can go on following.
    Delete,
    /// Something that has to be done before the PUT ([`crate::extension::Prerequisite`]).
    Prerequisite,
    /// State in another operator's form, which cannot be followed: a GET tells how far it is.
    Unreadable,
}

/// Which optional steps the kind and the object ask for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Steps {
    /// The kind has a check of its owner.
    pub owner_check: bool,
    /// The kind has a check of itself before the PUT.
    pub pre_check: bool,
    /// The kind has a check of itself after the PUT.
    pub post_check: bool,
    /// The object wants values written to Secrets or ConfigMaps.
    pub export: bool,
    /// The kind has a hook after success.
    pub success_hook: bool,
}

/// Nothing is sent to Azure for now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Paused {
    /// How long that still holds; `None` where no end is set.
    pub left: Option<Duration>,
    /// Text for people.
    pub message: String,
}

/// How long writes may be held back by what Azure does not say the end of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HoldLimits {
    /// Before a PUT.
    pub before_put: Duration,
    /// Before a DELETE.
    pub before_delete: Duration,
}

impl Default for HoldLimits {
    fn default() -> Self {
        Self {
            before_put: Duration::from_secs(60 * 60),
            before_delete: Duration::from_secs(5 * 60),
        }
    }
}

/// What holds writes back: since when, and how long it may.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Hold {
    /// Since when something does; `None` when nothing did so far.
    pub since: Option<Timestamp>,
    /// Now.
    pub now: Timestamp,
    /// How long it may.
    pub limits: HoldLimits,
}

/// The object as the decision sees it. Rebuilt after every change of the object.
#[derive(Clone, Debug, PartialEq)]
pub struct ResourceView {
    /// `metadata.generation`.
    pub generation: i64,
    /// `metadata.deletionTimestamp` is set.
    pub deleting: bool,
    /// Our finalizer is there: the object is claimed.
    pub claimed: bool,
    /// Who manages it.
    pub manager: Manager,
    /// Annotations that mean nothing, with what is expected of them: no other field that users set counts then.
    pub mistakes: Option<String>,
    /// Nothing is sent for now.
    pub paused: Option<Paused>,
    /// The object's policy, else the namespace's, else the operator's.
    pub policy: Policy,
    /// What to do with a resource that exists.
    pub adopt: Adopt,
    /// What came of that, where it was asked; what the object has sent counts as made.
    pub adoption: Option<Adoption>,
    /// The resource must not be deleted.
    pub protected: bool,
    /// Never change Azure (`armature.azure.com/observe`).
    pub observe: bool,
    /// PUT on every pass (`armature.azure.com/always-put`).
    pub always_put: bool,
    /// How it names its owner.
    pub owner: OwnerForm,
    /// It has an ARM id: it may exist in Azure.
    pub has_resource_id: bool,
    /// Subscription in the ARM id, where there is one.
    pub subscription: Option<String>,
    /// Long-running operation.
    pub operation: StoredOperation,
    /// The policy keeps this generation of the spec from being sent, and the object does not say without a word that all is well in
    /// it: what another release left so stays.
    pub has_unsent_edit: bool,
    /// Generation that the latest PUT was built from.
    pub put_generation: Option<i64>,
    /// A PUT of what Azure does not show may have arrived without an answer, not long ago.
    pub put_may_run: bool,
    /// What holds the next write back.
    pub hold: Hold,
    /// How long the next write has to wait, because operations that Azure had accepted failed.
    pub pause: Option<Duration>,
    /// How long it has been looked at without all being well, as far as that is known.
    pub looked_at_for: Duration,
    /// It was created or deleted a moment ago: an operation is looked at every second.
    pub is_looked_at_often: bool,
    /// Creating it anew would take out of Azure what other objects have made in it, and it was found missing once only.
    pub asks_twice: bool,
    /// Notes that nobody vouches for say that the resource is its own, where `adopt` asks.
    pub unvouched: bool,
    /// What the ARM path offers.
    pub verbs: Verbs,
    /// Optional steps.
    pub steps: Steps,
}

impl ResourceView {
    /// Whether the spec was sent to Azure before and has not changed since: then a difference is drift.
    pub fn was_reconciled(&self) -> bool {
        self.put_generation == Some(self.generation)
    }
}
