//! What the object remembers of requests whose outcome is not known or was bad, in annotations: since when something holds
//! writes back, when a PUT was sent that had no answer, and how many operations failed.
//!
//! They outlive a restart, and go with the first write after they have ceased to be so.

use std::time::Duration;

use armature_shapes::names;
use jiff::{SignedDuration, Timestamp};
use serde::{Deserialize, Serialize};

use super::cluster::set;
use super::pass::Pass;
use crate::observed::{Comparison, Provisioning, Resource};
use crate::port::{KubernetesError, MetadataPatch};
use crate::remote::Operation;
use crate::view::{Hold, HoldLimits};

/// How long a resource may stay invisible whose PUT Azure has taken, when its answer was lost. The longest in recorded
/// traffic is 46 s.
const LONGEST_UNSEEN: SignedDuration = SignedDuration::from_mins(2);

/// Longest time between two operations when one after the other fails.
const LONGEST_PAUSE: Duration = Duration::from_secs(3600);

/// Operations in a row that failed after Azure had accepted them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Failures {
    /// Generation of the object that they were for.
    generation: i64,
    /// Whether they were to delete.
    deleting: bool,
    /// How many.
    count: u32,
    /// When the last one was found to have failed.
    last: Timestamp,
}

impl Failures {
    /// Time from the last failure to the next operation: a second, and twice as much after each further failure.
    fn pause(&self) -> Duration {
        let exponent = self.count.saturating_sub(1).min(16);
        Duration::from_secs(1 << exponent).min(LONGEST_PAUSE)
    }
}

impl Pass<'_> {
    /// What holds the next write back.
    pub(super) fn hold(&self) -> Hold {
        let now = self.reconciler.clock.now();
        Hold {
            since: self.held_since().filter(|since| *since <= now),
            now,
            limits: HoldLimits {
                before_put: self.reconciler.settings.longest_hold_before_put,
                before_delete: self.reconciler.settings.longest_hold_before_delete,
            },
        }
    }

    fn held_since(&self) -> Option<Timestamp> {
        self.annotation(names::HELD_SINCE)?.parse().ok()
    }

    /// Something in Azure holds the next write back from now on.
    pub(super) async fn begin_hold(&mut self) -> Result<(), KubernetesError> {
        let mut patch = MetadataPatch::default();
        set(&mut patch, names::HELD_SINCE, self.whole_second());
        self.patch(patch).await
    }

    /// An operation begins. Of one that only its result can tell about, nobody says the end.
    pub(super) fn note_operation(&self, patch: &mut MetadataPatch, operation: &Operation) {
        let name = names::HELD_SINCE.to_owned();
        if !operation.is_reported {
            patch.annotations.insert(name, Some(self.whole_second()));
        } else if self.annotation(names::HELD_SINCE).is_some() {
            patch.annotations.insert(name, None);
        }
    }

    /// Notes a PUT of this pass that may have arrived although no answer came: what it was, and where Azure does not show
    /// the resource, that it may appear later.
    pub(super) async fn note_unanswered_put(&mut self) -> Result<(), KubernetesError> {
        let mut patch = MetadataPatch::default();
        self.note_unheard(&mut patch).await?;
        if !matches!(self.observed().resource, Some(Ok(Resource::Found(_)))) {
            set(&mut patch, names::UNANSWERED_PUT, self.whole_second());
        }
        if patch == MetadataPatch::default() {
            return Ok(());
        }
        self.patch_anyway(patch).await
    }

    /// Whether a PUT that had no answer may still make the resource appear.
    pub(super) fn awaits_unanswered_put(&self) -> bool {
        let sent = self.annotation(names::UNANSWERED_PUT);
        let sent = sent.and_then(|text| text.parse::<Timestamp>().ok());
        let now = self.reconciler.clock.now();
        sent.is_some_and(|sent| now.duration_since(sent).abs() < LONGEST_UNSEEN)
    }

    /// Only a process that was killed leaves a PUT behind whose answer nobody noted. No object younger than this process has
    /// one, and none whose resource Azure has shown.
    pub(super) fn put_may_run(&self) -> bool {
        let since = self.reconciler.since;
        let created = self.object.metadata.creation_timestamp.as_ref();
        self.put_generation().is_none()
            && created.is_some_and(|created| created.0 < since)
            && !self.forms.was_shown()
            && self.reconciler.clock.now().duration_since(since) < LONGEST_UNSEEN
    }

    /// An operation failed that Azure had accepted: the write that forgets it counts it. How long the next one has to wait.
    pub(super) fn note_failed_operation(&mut self) -> Duration {
        let before = self.failures().map_or(0, |failures| failures.count);
        let failures = Failures {
            generation: self.generation,
            deleting: self.is_deleting(),
            count: before.saturating_add(1),
            last: self.reconciler.clock.now(),
        };
        let pause = failures.pause();
        self.pending.failed_operations = serde_json::to_string(&failures).ok();
        pause
    }

    pub(super) fn is_deleting(&self) -> bool {
        self.object.metadata.deletion_timestamp.is_some()
    }

    /// How long the next write has to wait, because operations failed for what the object still says.
    pub(super) fn pause(&self) -> Option<Duration> {
        let failures = self.failures()?;
        let passed = self.reconciler.clock.now().duration_since(failures.last);
        let passed = Duration::try_from(passed).unwrap_or_default();
        let left = failures.pause().checked_sub(passed)?;
        (!left.is_zero() && !self.findings.payload.is_edited).then_some(left)
    }

    /// An edit of what the object refers to starts over, as one of the object itself.
    pub(super) async fn end_pause_of_edited(&mut self) -> Result<(), KubernetesError> {
        if self.failures().is_some() {
            self.findings.payload.is_edited = self.is_edited().await?;
        }
        Ok(())
    }

    /// Those that still count: an edit starts over.
    fn failures(&self) -> Option<Failures> {
        let failures: Failures =
            serde_json::from_str(self.annotation(names::FAILED_OPERATIONS)?).ok()?;
        let is_current =
            failures.generation == self.generation && failures.deleting == self.is_deleting();
        is_current.then_some(failures)
    }

    /// Puts into a patch what there is to note, and takes out what is no longer so.
    pub(super) fn update_notes(&self, patch: &mut MetadataPatch) {
        if let Some(text) = &self.pending.failed_operations {
            set(patch, names::FAILED_OPERATIONS, text.clone());
        }
        for name in self.outdated_notes() {
            patch.annotations.entry(name.to_owned()).or_insert(None);
        }
    }

    /// Notes that are no longer so.
    pub(super) fn outdated_notes(&self) -> Vec<&'static str> {
        let observed = self.observed();
        let shown = match &observed.resource {
            Some(Ok(Resource::Found(provisioning))) => Some(provisioning),
            _ => None,
        };
        let is_as_desired =
            shown == Some(&Provisioning::Settled) && observed.comparison == Some(Comparison::Same);
        let rows = [
            (names::HELD_SINCE, observed.is_held() == Some(false)),
            (
                names::UNANSWERED_PUT,
                shown.is_some() || observed.wrote() || !self.awaits_unanswered_put(),
            ),
            (
                names::FAILED_OPERATIONS,
                observed.wrote() || is_as_desired || self.failures().is_none(),
            ),
        ];
        let rows = rows.into_iter();
        rows.filter(|(name, is_outdated)| *is_outdated && self.annotation(name).is_some())
            .map(|(name, _)| name)
            .collect()
    }

    fn whole_second(&self) -> String {
        super::cluster::whole_seconds(self.reconciler.clock.now())
    }
}
