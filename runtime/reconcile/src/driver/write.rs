//! Writes into the object: notes and conditions, as [`mod@crate::persist`] decides at the end of the pass, and on the way what
//! must be there before Azure is asked.

use armature_shapes::names;
use serde_json::Value;

use super::object::parse;
use super::pass::{Pass, Unreadable};
use crate::action::Finish;
use crate::backoff::Requeue;
use crate::bookkeeping::Bookkeeping;
use crate::claim;
use crate::condition::{self, Verdict, reason};
use crate::observed::Comparison;
use crate::outcome::Write;
use crate::persist::{
    Claim, Foretold, Grace, Known, Owed, Persist, Stored, Words, persist, says_alone, says_verdict,
};
use crate::port::{EventNote, KubernetesError, MetadataPatch};
use crate::signature::{Belief, SIGNATURE};
use crate::time::whole_seconds;
use crate::view::Manager;
use crate::young::Youth;

/// How often an object that changed is read again for a write that must not be lost.
const READ_AGAIN: usize = 3;

impl Pass<'_> {
    /// Patches metadata, with all notes that are not written, and takes the answer over. Every write also says which release
    /// of the operator wrote it (step 5); a write for that alone would touch every object after each upgrade.
    pub(super) async fn patch(&mut self, mut patch: MetadataPatch) -> Result<(), KubernetesError> {
        let version = names::label_value(&self.reconciler.settings.operator_version);
        let name = names::LAST_RECONCILED_VERSION;
        let labels = self.object.metadata.labels.as_ref();
        if labels.and_then(|labels| labels.get(name)) != Some(&version) {
            patch.labels.insert(name.to_owned(), Some(version));
        }
        self.complete_notes(&patch).await?;
        for (name, value) in self.book.difference() {
            patch.annotations.entry(name).or_insert(value);
        }
        self.sign(&mut patch);
        let kubernetes = &self.reconciler.kubernetes;
        self.object = kubernetes.patch_metadata(&self.object, patch).await?;
        self.is_latest = true;
        self.forget_deferred();
        self.tell_not_believed().await;
        self.book.is_written(&self.object, self.belief);
        Ok(())
    }

    /// Adds what any write of metadata says, and takes out what is no longer so.
    async fn complete_notes(&mut self, patch: &MetadataPatch) -> Result<(), KubernetesError> {
        self.book.forget_outdated(&self.outdated());
        let is_ours = |list: &Vec<String>| list.iter().any(|name| name == names::FINALIZER);
        let will_be_claimed = match &patch.finalizers {
            Some(finalizers) => is_ours(finalizers),
            None => self.is_claimed(),
        };
        if will_be_claimed && let Some(claimed_with) = self.claims_with() {
            self.book.note_claimed_with(claimed_with);
        }
        if patch.finalizers.is_none() && self.book.claim_holds() {
            let key = self.reconciler.kubernetes.digest_key().await?;
            self.book.record_claim(key.of(&self.uid()));
        }
        Ok(())
    }

    /// Writes the notes.
    pub(super) async fn write_notes(&mut self) -> Result<(), KubernetesError> {
        self.patch(MetadataPatch::default()).await
    }

    /// Writes notes that must not be lost: what Azure is doing, or has done, for the object. A change of the object in the
    /// meantime is no reason against it.
    pub(super) async fn write_notes_anyway(&mut self) -> Result<(), KubernetesError> {
        for _ in 0..READ_AGAIN {
            match self.write_notes().await {
                Err(KubernetesError::Conflict { .. }) => {}
                done => return done,
            }
            let key = self.object.key();
            let Some(object) = self.reconciler.kubernetes.read(&key).await? else {
                let object = key.to_string();
                return Err(KubernetesError::Gone { object });
            };
            self.belief = self.keys.belief(&object);
            self.book.rebase(&object, self.belief);
            self.object = object;
        }
        self.write_notes().await
    }

    /// Whether what Azure is doing for the object is left to a later write, and the object is this operator's to write.
    pub(super) fn owes_operation(&self) -> bool {
        self.book.is_deferred() && self.view().manager == Manager::Us
    }

    /// Nothing is left to a later write any more.
    pub(super) fn forget_deferred(&self) {
        if self.book.is_deferred() {
            self.reconciler.deferred.forget(&self.object.key());
        }
    }

    pub(super) async fn record(&self, event: EventNote) {
        self.reconciler.kubernetes.record(&self.object, event).await;
    }

    /// An object that reads as done says that it is not, before Azure is sent what has changed without an edit of it: a drift, a
    /// Secret. Who waits for it by kstatus would go on else.
    pub(super) async fn say_unserved(&mut self, why: &str) -> Result<(), KubernetesError> {
        let nothing_changed = matches!(self.findings.payload.comparison, Some(Comparison::Same));
        if nothing_changed || !condition::is_current(self.forms.status(), self.generation) {
            return Ok(());
        }
        let verdict = Verdict::progress(reason::RECONCILING, why);
        let now = whole_seconds(self.reconciler.clock.now());
        let status = says_verdict(self.forms.status(), &verdict, self.generation, &now);
        self.forms.set_status(status.clone());
        match self.write_status(status).await {
            // What keeps the status from being written is no reason to leave Azure as it is. The end of the pass tells it.
            Err(error @ KubernetesError::Refused { .. }) => {
                tracing::warn!(%error, "the status does not say that the resource is being changed");
                Ok(())
            }
            written => written,
        }
    }

    /// Ends the pass.
    pub(super) async fn finish(&mut self, finish: Finish) -> Result<Requeue, KubernetesError> {
        self.tell_credential().await;
        self.note_unread().await?;
        let sync = self
            .directives()
            .ok()
            .and_then(|directives| directives.sync);
        let requeue = finish.requeue.in_period(sync);
        match self.decide_end(&finish) {
            Persist::Nothing => {}
            Persist::Defer(requeue) => return Ok(requeue),
            Persist::Write {
                metadata,
                event,
                status,
            } => {
                if let Some(metadata) = metadata {
                    if metadata.claim == Claim::Silence {
                        let key = self.reconciler.kubernetes.digest_key().await?;
                        self.book.unforetell(key.of(&self.uid()));
                    }
                    match metadata.must_not_be_lost {
                        true => self.write_notes_anyway().await?,
                        false => self.write_notes().await?,
                    }
                }
                if let Some(event) = event {
                    self.record(event).await;
                }
                if let Some(status) = status {
                    let before = parse(self.object.status.as_deref(), "status").unwrap_or_default();
                    let is_news = told(&before) != told(&status);
                    self.write_status(status).await?;
                    if is_news {
                        self.tell_waits().await;
                    }
                }
            }
        }
        Ok(requeue)
    }

    fn decide_end(&mut self, finish: &Finish) -> Persist {
        let others = self.book.forget_outdated(&self.outdated());
        let now = self.reconciler.clock.now();
        let written = parse(self.object.status.as_deref(), "status").unwrap_or_default();
        let stored = Stored {
            status: &written,
            vouches: claim::came_true(&self.object),
        };
        // Once the finalizer is gone, so is the object.
        let has_claim = self.is_claimed() && self.book.has_claimed() && !self.book.has_record();
        let known = Known {
            status: self.forms.status(),
            generation: self.generation,
            is_deleting: self.is_deleting(),
            has_begun: self.has_begun(),
            owed: Owed {
                operation: self.owes_operation(),
                end: self.book.owes_end(),
                owner: self.book.owes_ownership(),
                others: others || self.book.owes_adoption() || self.owes_signature(),
            },
            claim: has_claim.then(|| Foretold {
                generation: self.book.foretold_generation(),
                holds: self.book.claim_holds(),
            }),
        };
        let silence = self.reconciler.settings.silence;
        let grace = Grace {
            silence,
            youth: self.youth(),
            of_owner: silence.of_owner(&self.object, now, finish.requeue),
        };
        let directives = self.directives();
        let words = Words {
            directives: directives.as_ref().ok(),
            now: &whole_seconds(now),
        };
        persist(&stored, &known, finish, &words, &grace)
    }

    /// How young the object is, while it may be silent.
    pub(super) fn youth(&self) -> Option<Youth> {
        let silence = self.reconciler.settings.silence;
        silence.youth(&self.object, self.first_look, self.reconciler.clock.now())
    }

    /// Whether this pass began what Azure is working on.
    fn has_begun(&self) -> bool {
        let writes = &self.findings.writes;
        let is_running = |write: &Option<Write>| matches!(write, Some(Write::Running(_)));
        is_running(&writes.put) || is_running(&writes.prerequisite)
    }

    async fn write_status(&mut self, status: Value) -> Result<(), KubernetesError> {
        let (reason, message) = told(&status);
        tracing::info!(%reason, %message, "status changes");
        let kubernetes = &self.reconciler.kubernetes;
        let mut answer = kubernetes.patch_status(&self.object, status.clone()).await;
        if let Err(KubernetesError::Refused { message, .. }) = &answer {
            // Most likely it is too large: what it says of the object itself is not.
            let short = says_alone(&status, message);
            answer = kubernetes.patch_status(&self.object, short).await;
        }
        match answer {
            Err(conflict @ KubernetesError::Conflict { .. }) if self.book.claim_holds() => {
                // Nothing else tells what was sent.
                self.write_notes_anyway().await?;
                Err(conflict)
            }
            answer => {
                self.object = answer?;
                Ok(())
            }
        }
    }
}

impl Unreadable<'_> {
    /// Says so in the conditions.
    pub(super) async fn finish_unreadable(&mut self) -> Result<Requeue, KubernetesError> {
        let status = parse(self.object.status.as_deref(), "status").unwrap_or_default();
        let now = whole_seconds(self.reconciler.clock.now());
        let generation = self.object.metadata.generation.unwrap_or(0);
        let new = says_verdict(&status, &Verdict::from(&self.failure), generation, &now);
        if new != status {
            match self.keep_claim().await {
                // What refuses that is told by the conditions.
                Err(error @ KubernetesError::Refused { .. }) => {
                    tracing::warn!(%error, "what was sent with the claim is not recorded");
                }
                kept => kept?,
            }
            let kubernetes = &self.reconciler.kubernetes;
            kubernetes.patch_status(&self.object, new).await?;
        }
        Ok(self.failure.requeue())
    }

    /// Writes down what only the status vouches for, which no longer will: a release that can read the object would not know what
    /// was sent, and send it again.
    async fn keep_claim(&mut self) -> Result<(), KubernetesError> {
        let kubernetes = &self.reconciler.kubernetes;
        if !claim::came_true(&self.object) {
            return Ok(());
        }
        let keys = kubernetes.note_keys().await?;
        let belief = keys.belief(&self.object);
        let uid = self.object.metadata.uid.clone().unwrap_or_default();
        let mut book = Bookkeeping::of(&self.object, Default::default(), belief);
        book.record_claim(kubernetes.digest_key().await?.of(&uid));
        let mut patch = MetadataPatch::default();
        patch.annotations.extend(book.difference());
        // Nothing is signed that is not believed, and no release that does not sign is contradicted.
        let signature = keys.sign(&uid, &patch.annotations_of(&self.object));
        if belief == Belief::Signed
            && let Some(signature) = signature
        {
            patch
                .annotations
                .insert(SIGNATURE.to_owned(), Some(signature));
        }
        if !belief.is_foreign() {
            self.object = kubernetes.patch_metadata(&self.object, patch).await?;
        }
        Ok(())
    }
}

/// Reason and message of `Ready`.
fn told(status: &Value) -> (&str, &str) {
    let conditions = status.get("conditions").and_then(Value::as_array);
    let ready = conditions.and_then(|list| list.iter().find(|item| item["type"] == "Ready"));
    let text = |name: &str| ready.and_then(|ready| ready.get(name)?.as_str());
    (
        text("reason").unwrap_or_default(),
        text("message").unwrap_or_default(),
    )
}
