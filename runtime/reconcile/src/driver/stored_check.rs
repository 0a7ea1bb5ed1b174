//! What of an object would be refused before anything is asked of Azure, as far as the object, its namespace and its Secrets show it.
//!
//! The steps of a pass, without the decision between them: a pass ends at its first refusal, and does not get as far as the body
//! while the object is paused, or Azure has no answer. What does not live here: any rule of its own.

use armature_shapes::resource::ObjectKey;

use super::Reconciler;
use super::pass::Pass;
use crate::action::Action;
use crate::condition::{Severity, reason};
use crate::observed::Holder;
use crate::outcome::Failure;
use crate::port::KubernetesError;
use crate::view::Manager;

/// What is refused of an object as it is stored.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct StoredCheck {
    /// What would be refused, and stays so until somebody changes the object or its namespace.
    pub refused: Vec<Failure>,
    /// Why not all of it could be looked at, where that is so: something that it needs is missing.
    pub unseen: Option<Failure>,
}

impl Reconciler {
    /// What of an object would be refused, whatever Azure says. The port may be written to, so it must be one that keeps writes
    /// to itself; the transport is asked for subscriptions, and by extensions that change bodies.
    ///
    /// # Errors
    /// When Kubernetes refuses.
    pub async fn check_stored(&self, key: &ObjectKey) -> Result<StoredCheck, KubernetesError> {
        let mut found = StoredCheck::default();
        let Some(object) = self.kubernetes.get(key).await? else {
            return Ok(found);
        };
        let namespace = self.kubernetes.namespace_annotations(&key.namespace);
        let keys = self.kubernetes.note_keys().await?;
        match Pass::new(self, object, namespace.await?, keys) {
            Ok(mut pass) => pass.check_stored(&mut found).await?,
            Err(unreadable) => found.add(&Err::<(), _>(unreadable.failure)),
        }
        Ok(found)
    }
}

impl StoredCheck {
    /// Takes in what a step has come to.
    fn add<T>(&mut self, outcome: &Result<T, Failure>) {
        let Err(failure) = outcome else {
            return;
        };
        if !is_for_good(failure) {
            self.unseen.get_or_insert_with(|| failure.clone());
        } else if !self
            .refused
            .iter()
            .any(|one| one.message == failure.message)
        {
            self.refused.push(failure.clone());
        }
    }
}

/// Whether a failure is the operator's own refusal of what is written, and not one that waits for something. Of exports nothing is looked
/// at that waits.
fn is_for_good(failure: &Failure) -> bool {
    let ours = [
        reason::SCOPE_NOT_ALLOWED,
        reason::INVALID_ANNOTATION,
        reason::SUBSCRIPTION_MISMATCH,
        reason::FAILED,
    ];
    // Without a credential that the namespace may use nothing is ever sent, however often it is tried.
    let whenever = [reason::CREDENTIAL_NOT_FOUND, reason::EXPORT_FAILED];
    whenever.contains(&failure.reason.as_str())
        || failure.severity == Severity::Error && ours.contains(&failure.reason.as_str())
}

impl Pass<'_> {
    async fn check_stored(&mut self, found: &mut StoredCheck) -> Result<(), KubernetesError> {
        let view = self.view();
        let is_ours = !matches!(view.manager, Manager::Other(_));
        if !is_ours || (view.deleting && !view.claimed) {
            return Ok(());
        }
        if let Some(message) = &view.mistakes {
            let failure = Failure::error(reason::INVALID_ANNOTATION, message);
            found.add(&Err::<(), _>(failure));
            return Ok(());
        }
        self.bind_requests();
        self.perform(Action::SelectCredential).await?;
        if let Some(sign_in) = &self.findings.sign_in
            && sign_in.account.is_err()
        {
            found.add(&sign_in.account);
            return Ok(());
        }
        self.perform(Action::CheckIdentity).await?;
        if let Some(identity) = &self.findings.place.identity {
            found.add(identity);
        }
        if view.deleting {
            return Ok(());
        }
        // They are written of what is only read, too.
        found.add(&self.check_exports());
        found.add(&self.check_allowance().await);
        if !view.policy.allows_put() {
            return Ok(());
        }
        self.perform(Action::FindHolder).await?;
        if matches!(self.findings.place.holder, Some(Holder::Other(_))) {
            return Ok(());
        }
        self.look_up_inputs().await?;
        let inputs = self.findings.inputs.outcome.clone();
        let is_complete = inputs.as_ref().is_some_and(Result::is_ok);
        found.add(&inputs.unwrap_or(Ok(())));
        if is_complete {
            self.perform(Action::BuildPayload).await?;
        }
        if let Some(body) = &self.findings.payload.body {
            found.add(body);
        }
        Ok(())
    }
}
