//! The driver: performs what the decision asks for, one step at a time, until the pass ends.
//!
//! | module | steps |
//! |---|---|
//! | `pass` | one pass: the object, and all below |
//! | `ways` | the ways of a pass to Azure and to other remotes |
//! | `object`, `forms` | what is read from an object by itself; its spec and status in all forms |
//! | `limit` | how long a pass may take |
//! | `findings` | what a pass has found out |
//! | `deferred`, `later` | what is left to it in memory from pass to pass, and what may be |
//! | `view` | the object as the decision sees it |
//! | `cluster` | ownership, policy, owner, claim, finalizer |
//! | `write` | writes into the object, and the end of a pass |
//! | `identity` | whose resource it is |
//! | `belief` | whether the notes in the object are the operator's own, and their signature |
//! | `place` | where it is in Azure: name, owner, ARM id |
//! | `scopes` | whether the object may be there, and refer to what it does |
//! | `found` | what a step finds out in the cluster |
//! | `inputs` | references, Secrets, ConfigMaps, payload |
//! | `remote` | credential, read, delete, and what runs on |
//! | `refusal` | what errors mean |
//! | `put` | the PUT, with what others own in it |
//! | `notes` | holds, lost answers and failed operations |
//! | `items`, `departures` | items of lists that are resources of their own |
//! | `compare` | edits, drift, and the record of the latest PUT |
//! | `named` | many things in one message |
//! | `work` | what a pass compares |
//! | `contested` | drift that comes back |
//! | `foretold` | the record of a claim that came true |
//! | `checks` | extensions before and after the PUT |
//! | `directives` | what annotations ask for, and what is noted in the object |
//! | [`foresight`] | what a pass would write, without writing it |
//! | `export`, `expressions`, `unwritten` | Secrets and ConfigMaps, and why one cannot be written |
//!
//! What does not live here: what to do when (see [`mod@super::decide`]).

mod absences;
mod belief;
mod checks;
mod cluster;
mod compare;
mod contested;
mod deferred;
mod departures;
mod directives;
mod export;
mod expressions;
mod findings;
pub mod foresight;
mod foretold;
mod forms;
mod found;
mod identity;
mod inputs;
mod items;
mod later;
mod limit;
mod named;
mod notes;
mod object;
mod owned;
mod pass;
mod place;
mod put;
mod refusal;
mod remote;
mod removed;
mod scopes;
mod stored_check;
mod unwritten;
mod view;
mod ways;
mod work;
mod write;

pub use absences::Absences;
pub use compare::Changes;
pub use deferred::Deferred;
pub use departures::Departures;
pub use items::{Fate, Item};
#[cfg(any(test, feature = "testing"))]
pub use limit::LONGEST_PASS;
#[cfg(any(test, feature = "testing"))]
pub use object::is_requested;
pub use stored_check::StoredCheck;

use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;

use armature_engine::expression::Cache;
use armature_shapes::resource::ObjectKey;
use futures::FutureExt;
use jiff::Timestamp;
use limit::Limit;
use pass::{Pass, Unreadable};
use tokio_util::sync::CancellationToken;
use tracing::Instrument;

use super::action::{Action, Finish, warning};
use super::allowed_scopes::{AllowedScopes, Enforcement};
use super::backoff::{Requeue, RetryClass};
use super::condition::reason;
use super::decide::{decide, put_off};
use super::export_target::ExportBounds;
use super::left_alone::LeftAlone;
use super::outcome::Failure;
use super::policy::Policy;
use super::port::{KubernetesError, KubernetesPort};
use super::queue::Look;
use super::time::Clock;
use super::written::Written;
use super::young::Silence;
use crate::extension::Registry;
use crate::remote::Remotes;

/// What the operator's configuration says about reconciling.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Namespace of this operator, written into objects that it manages.
    pub operator_namespace: String,
    /// Version of this operator, written as a label.
    pub operator_version: String,
    /// Policy of objects that have none, in namespaces that have none.
    pub default_policy: Policy,
    /// Where objects may be, in namespaces that do not say; everywhere when absent.
    pub default_scopes: Option<AllowedScopes>,
    /// What becomes of ids outside of the scopes that only a whole request shows.
    pub scopes_enforcement: Enforcement,
    /// Which labels and annotations exports may have.
    pub export_bounds: ExportBounds,
    /// A new random name in Azure, for what a stable one would be made of.
    pub random_name: fn(&str) -> String,
    /// How long a PUT waits for something in Azure whose end Azure does not say.
    pub longest_hold_before_put: Duration,
    /// How long a DELETE does.
    pub longest_hold_before_delete: Duration,
    /// How long objects may wait for their owners or for Azure without saying so.
    pub silence: Silence,
}

/// The one reconciler of all kinds.
#[derive(Clone)]
pub struct Reconciler {
    /// The cluster.
    pub kubernetes: Arc<dyn KubernetesPort>,
    /// Azure, and what else resources live in.
    pub remotes: Remotes,
    /// Extensions by kind.
    pub extensions: Registry,
    /// What is not written yet of operations that have most likely ended soon.
    pub deferred: Arc<Deferred>,
    /// Since when resources with children are missing.
    pub absences: Arc<Absences>,
    /// Resources whose objects have gone a short while ago and left them in Azure.
    pub departures: Arc<Departures>,
    /// What was sent of late.
    pub written: Arc<Written>,
    /// How much is left to Azure.
    pub left_alone: Arc<LeftAlone>,
    /// Expressions of exports, compiled.
    pub expressions: Arc<Cache>,
    /// The time.
    pub clock: Arc<dyn Clock>,
    /// When this process began to manage objects: of PUTs that were sent before, it did not see the answers.
    pub since: Timestamp,
    /// Configuration.
    pub settings: Settings,
    /// Fires when the operator stops.
    pub cancellation: CancellationToken,
}

/// Most steps of one pass. The longest way through the state machine has some twenty; more means that a step does not
/// change what the decision sees.
const STEPS: usize = 40;

impl Reconciler {
    /// Runs one pass over an object and says when to look at it again. Never waits for Azure to finish
    /// something: every wait is a requeue.
    pub async fn reconcile(&self, key: &ObjectKey) -> Requeue {
        self.run(key, None).await
    }

    /// The same for an object whose turn in the queue has come.
    pub async fn look(&self, look: &Look) -> Requeue {
        let first_look = self.clock.now().checked_sub(look.since_first).ok();
        self.run(&look.key, first_look).await
    }

    /// Runs a pass over an object that was looked at first at this time, if that is known.
    async fn run(&self, key: &ObjectKey, first_look: Option<Timestamp>) -> Requeue {
        let span = tracing::info_span!(
            "reconcile",
            kind = key.kind.kind,
            namespace = %key.namespace,
            name = %key.name,
            result = tracing::field::Empty,
        );
        async {
            let pass = AssertUnwindSafe(self.pass(key, first_look)).catch_unwind();
            let requeue = match pass.await {
                Ok(Ok(requeue)) => requeue,
                // What is shared between passes is whole at each point at which one may end.
                Err(_) => self.tell_defect(key).await,
                Ok(Err(error)) => {
                    match &error {
                        KubernetesError::Conflict { .. } => self.catch_up(key).await,
                        KubernetesError::Refused { .. } => self.tell_refused(key, &error).await,
                        _ => {}
                    }
                    after_refusal(&error)
                }
            };
            tracing::Span::current().record("result", requeue.result());
            requeue
        }
        .instrument(span)
        .await
    }

    /// Reads an object whose write met a conflict, so that the next pass works from what the server has.
    async fn catch_up(&self, key: &ObjectKey) {
        if let Err(error) = self.kubernetes.read(key).await {
            tracing::warn!(%error, "the object could not be read again after a conflict");
        }
    }

    /// Says that the pass itself failed. What it said of it is in the log, and may have been about a secret.
    async fn tell_defect(&self, key: &ObjectKey) -> Requeue {
        tracing::error!("the pass panicked; this is a defect of the operator");
        let message = "a defect of the operator: it failed while it looked at this object, and its log says where. Please report \
                       it. It is tried again";
        self.tell(key, message.to_owned()).await;
        Requeue::Backoff(RetryClass::VerySlow)
    }

    /// Says in the object's conditions what Kubernetes refused of it, and by an event where that is refused as well.
    async fn tell_refused(&self, key: &ObjectKey, refused: &KubernetesError) {
        self.tell(key, refused.to_string()).await;
    }

    async fn tell(&self, key: &ObjectKey, message: String) {
        let told = async {
            let Some(object) = self.kubernetes.get(key).await? else {
                return Ok(());
            };
            let failure = Failure::warning(reason::FAILED, RetryClass::Slow, message);
            let event = warning(reason::FAILED, &failure.message);
            self.kubernetes.record(&object, event).await;
            let mut unwritten = Unreadable {
                reconciler: self,
                object,
                failure,
            };
            unwritten.finish_unreadable().await.map(drop)
        };
        if let Err(error) = told.await {
            tracing::warn!(%error, "the object's conditions do not say why it failed");
        }
    }

    async fn pass(
        &self,
        key: &ObjectKey,
        first_look: Option<Timestamp>,
    ) -> Result<Requeue, KubernetesError> {
        let Some(object) = self.kubernetes.get(key).await? else {
            self.deferred.forget(key);
            self.absences.forget(key);
            self.written.forget(key);
            self.left_alone.forget(key);
            return Ok(Requeue::Never);
        };
        let namespace = self
            .kubernetes
            .namespace_annotations(&key.namespace)
            .await?;
        let keys = self.kubernetes.note_keys().await?;
        let mut pass = match Pass::new(self, object, namespace, keys) {
            Ok(pass) => pass,
            Err(mut unreadable) => return unreadable.finish_unreadable().await,
        };
        pass.first_look = first_look;
        pass.bind_requests();
        let mut limit = Limit::new();
        for _ in 0..STEPS {
            let action = decide(&pass.view(), &pass.observed());
            tracing::debug!(?action, "step");
            if let Action::Finish(finish) = action {
                return pass.finish(finish).await;
            }
            if let Err(ended) = pass.perform_until(action, &mut limit).await? {
                return pass.finish(ended.finish()).await;
            }
            if let Some(wait) = pass.ways.session.put_off() {
                let finish = put_off(&pass.view(), pass.ways.in_background(), wait);
                return pass.finish(finish).await;
            }
        }
        tracing::error!("a pass came to no end; this is a defect of the operator");
        Ok(Requeue::Backoff(RetryClass::VerySlow))
    }
}

/// Kubernetes refused a read or a write in the middle of a pass.
fn after_refusal(error: &KubernetesError) -> Requeue {
    match error {
        KubernetesError::Gone { .. } => Requeue::Never,
        KubernetesError::Conflict { .. } => {
            tracing::debug!(%error, "reading the object again");
            Requeue::Backoff(RetryClass::Poll)
        }
        KubernetesError::Refused { .. }
        | KubernetesError::Other { .. }
        | KubernetesError::Unreachable { .. } => {
            tracing::warn!(%error, "trying again");
            Requeue::Backoff(RetryClass::Slow)
        }
    }
}

impl Pass<'_> {
    /// Performs one step and records what came of it.
    async fn perform(&mut self, action: Action) -> Result<(), KubernetesError> {
        if action.may_call_extension() && self.points.are_any() {
            self.owner_object().await?;
        }
        if action.changes_something() {
            self.store_ownership().await?;
        }
        match action {
            Action::TakeOwnership => self.take_ownership(),
            Action::ReadNamespace => self.read_namespace().await?,
            Action::LookForProtected => self.look_around().await?,
            Action::NoteAdoption { adoption, event } => self.note_adoption(adoption, event).await?,
            Action::ReadOwner => self.read_owner().await?,
            Action::SelectCredential => {
                self.findings.sign_in = Some(self.select_credential().await?);
            }
            Action::ResolveInputs => self.resolve_inputs().await?,
            Action::CheckIdentity => {
                self.findings.place.identity = Some(self.check_identity().await?);
            }
            Action::FindHolder => self.findings.place.holder = Some(self.find_holder().await?),
            Action::Claim => self.findings.place.claim = Some(self.claim().await?),
            Action::CheckOwner => self.findings.checks.owner = Some(self.check_owner().await?),
            Action::Get => self.get().await,
            Action::PreCheck => self.findings.checks.before_put = Some(self.pre_check().await),
            Action::Prepare(first) => {
                self.findings.writes.prerequisite = Some(self.prepare(&first).await?);
            }
            Action::BuildPayload => {
                self.findings.payload.body = Some(self.build_payload().await);
                self.end_pause_of_edited().await?;
            }
            Action::Compare => {
                self.learn_scaled().await?;
                self.findings.payload.comparison = Some(self.compare().await?);
            }
            Action::LookForEdit => {
                self.findings.payload.has_edit = Some(self.has_edit().await?);
            }
            Action::Put { event } => self.put(event).await?,
            Action::RegisterProvider => {
                self.findings.writes.registration = Some(self.enrol().await);
            }
            Action::Poll => self.poll().await?,
            Action::ForgetOperation => self.forget_operation(),
            Action::BeginHold => self.begin_hold().await?,
            Action::Record => {
                self.findings.payload.recorded = Some(self.record_settled().await?);
            }
            Action::PostCheck => self.findings.checks.after_put = Some(self.post_check().await),
            Action::Export => self.findings.export = Some(self.export().await?),
            Action::SuccessHook => self.findings.success_hook = Some(self.success_hook().await?),
            Action::Delete => self.delete().await?,
            Action::RemoveFinalizer => self.remove_finalizer().await?,
            // The caller ends the pass; there is nothing left to perform.
            Action::Finish(Finish { .. }) => {}
        }
        Ok(())
    }
}
