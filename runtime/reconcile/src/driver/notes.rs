//! What the object remembers of requests whose outcome is not known or was bad, in annotations: since when something holds
//! writes back, when a PUT was sent that had no answer, and how many operations failed.
//!
//! They outlive a restart, and go with the first write after they have ceased to be so.

use std::time::Duration;

use jiff::SignedDuration;

use super::pass::Pass;
use crate::bookkeeping::{Failures, Outdated};
use crate::observed::{Comparison, Resource};
use crate::port::KubernetesError;
use crate::remote::{Provisioning, Verb};
use crate::view::{Hold, HoldLimits, StoredOperation};

/// How long a resource may stay invisible whose PUT Azure has taken, when its answer was lost. The longest in recorded
/// traffic is 46 s.
const LONGEST_UNSEEN: SignedDuration = SignedDuration::from_mins(2);

impl Pass<'_> {
    /// What holds the next write back.
    pub(super) fn hold(&self) -> Hold {
        let now = self.reconciler.clock.now();
        Hold {
            since: self.book.held_since().filter(|since| *since <= now),
            now,
            limits: HoldLimits {
                before_put: self.reconciler.settings.longest_hold_before_put,
                before_delete: self.reconciler.settings.longest_hold_before_delete,
            },
        }
    }

    /// Something in Azure holds the next write back from now on.
    pub(super) async fn begin_hold(&mut self) -> Result<(), KubernetesError> {
        self.book.hold(self.reconciler.clock.now());
        self.write_notes().await
    }

    /// Notes a PUT of this pass that may have arrived although no answer came: what it was, and where Azure does not show
    /// the resource, that it may appear later.
    pub(super) async fn note_unanswered_put(&mut self) -> Result<(), KubernetesError> {
        let before = self.book.clone();
        self.note_unheard().await?;
        if !matches!(self.observed().resource, Some(Ok(Resource::Found(_)))) {
            self.book.note_unanswered_put(self.reconciler.clock.now());
        }
        if self.book == before {
            return Ok(());
        }
        self.write_notes_anyway().await
    }

    /// Whether the operation that is not followed may be a PUT, of another operator most likely: what it makes may appear later.
    pub(super) fn leaves_a_put(&self) -> bool {
        let is_unreadable = self.stored_operation() == StoredOperation::Unreadable;
        let resumed = self.book.operation();
        let resumed = resumed.and_then(|(id, token)| self.ways.session.resume(id, token));
        is_unreadable && resumed.is_none_or(|operation| operation.verb == Verb::Write)
    }

    /// Whether a PUT that had no answer may still make the resource appear.
    pub(super) fn awaits_unanswered_put(&self) -> bool {
        let sent = self.book.unanswered_put();
        let now = self.reconciler.clock.now();
        sent.is_some_and(|sent| now.duration_since(sent).abs() < LONGEST_UNSEEN)
    }

    /// Only a process that was killed leaves a PUT behind whose answer nobody noted. No object younger than this process has
    /// one, and none whose resource Azure has shown.
    pub(super) fn put_may_run(&self) -> bool {
        let since = self.reconciler.since;
        let created = self.object.metadata.creation_timestamp.as_ref();
        self.book.put_generation().is_none()
            && created.is_some_and(|created| created.0 < since)
            && !self.forms.was_shown()
            && self.reconciler.clock.now().duration_since(since) < LONGEST_UNSEEN
    }

    /// An operation failed that Azure had accepted: the write that forgets it counts it. How long the next one has to wait.
    pub(super) fn note_failed_operation(&mut self, verb: Verb) -> Duration {
        // A PUT that failed holds no deletion back.
        let (generation, deleting) = (self.generation, verb == Verb::Remove);
        let now = self.reconciler.clock.now();
        let failures = Failures::and_one(
            self.book.failures(generation, deleting),
            generation,
            deleting,
            now,
        );
        self.book.note_failures(&failures);
        failures.pause()
    }

    pub(super) fn is_deleting(&self) -> bool {
        self.object.metadata.deletion_timestamp.is_some()
    }

    /// How long the next write has to wait, because operations failed for what the object still says.
    pub(super) fn pause(&self) -> Option<Duration> {
        let left = self.failures()?.left(self.reconciler.clock.now())?;
        (!self.findings.payload.is_edited).then_some(left)
    }

    /// An edit of what the object refers to starts over, as one of the object itself.
    pub(super) async fn end_pause_of_edited(&mut self) -> Result<(), KubernetesError> {
        if self.failures().is_some() {
            self.findings.payload.is_edited = self.is_edited().await?;
        }
        Ok(())
    }

    /// Those that still count.
    fn failures(&self) -> Option<Failures> {
        self.book.failures(self.generation, self.is_deleting())
    }

    /// Notes that are no longer so.
    pub(super) fn outdated(&self) -> Outdated {
        let observed = self.observed();
        let shown = match &observed.resource {
            Some(Ok(Resource::Found(provisioning))) => Some(provisioning),
            _ => None,
        };
        let is_as_desired =
            shown == Some(&Provisioning::Settled) && observed.comparison == Some(Comparison::Same);
        Outdated {
            hold: observed.is_held() == Some(false),
            unanswered_put: shown.is_some() || observed.wrote() || !self.awaits_unanswered_put(),
            failures: observed.wrote() || is_as_desired || self.failures().is_none(),
        }
    }
}
