//! The record of a claim that came true. A claim foretells the record of the PUT that follows: that Azure returns what it was
//! sent. Where that is so, a `Ready` of the same generation says it, and the record needs no write of its own.

use armature_engine::compare::{Keyed, Record};
use armature_shapes::names;

use super::cluster::set;
use super::pass::Pass;
use crate::action::Finish;
use crate::claim;
use crate::outcome::{Poll, Write};
use crate::port::{KubernetesError, MetadataPatch};

impl Pass<'_> {
    /// Builds the body for the claim, where nothing that Azure has goes into it. What cannot be built is told when it is sent.
    pub(super) async fn foretell(&mut self) {
        if self.points.has_modifier() || self.findings.place.new_name.is_some() {
            return;
        }
        if self.findings.payload.body.is_none()
            && let Ok(body) = self.build_payload().await
        {
            self.findings.payload.body = Some(Ok(body));
        }
    }

    /// The record of the claim, as it is once it came true.
    pub(super) fn record_of_claim(&self, keyed: Keyed<'_>) -> Option<Record> {
        let claimed = self.claimed(keyed).filter(|_| self.claim_holds)?;
        claimed.come_true()
    }

    /// Whether a PUT of this pass was answered as the claim foretold, so that there is nothing to be written down beside
    /// that the object is `Ready`.
    pub(super) fn is_foretold(&self, settled: &Record, keyed: Keyed<'_>) -> bool {
        let is_unwritten = [
            names::BASELINE,
            names::LATEST_RECONCILED_GENERATION,
            names::POLLER_RESUME_ID,
            names::POLLER_RESUME_TOKEN,
        ]
        .iter()
        .all(|name| self.written(name).is_none());
        let is_sent = matches!(self.findings.writes.put, Some(Write::Completed));
        // Of an operation that another pass began, only memory knows.
        let has_ended = matches!(self.findings.writes.poll, Some(Poll::Succeeded));
        let is_sent = is_sent || (has_ended && !self.deferred.is_empty());
        let foretold = || self.claimed(keyed).and_then(Record::come_true);
        is_unwritten && is_sent && foretold().is_some_and(|foretold| foretold == *settled)
    }

    /// Whether it is known what was sent, or found, at the latest PUT or adoption.
    pub(super) fn is_recorded(&self) -> bool {
        self.claim_holds || self.annotation(names::BASELINE).is_some()
    }

    /// Adds to any write of metadata the record that only the status tells.
    pub(super) async fn add_record_of_claim(
        &mut self,
        patch: &mut MetadataPatch,
    ) -> Result<(), KubernetesError> {
        if !self.claim_holds || patch.annotations.contains_key(names::BASELINE) {
            return Ok(());
        }
        let key = self.reconciler.kubernetes.digest_key().await?;
        let uid = self.object.metadata.uid.clone().unwrap_or_default();
        if let Some(record) = self.record_of_claim(key.of(&uid)) {
            let generation = record.generation().to_string();
            set(patch, names::BASELINE, record.encode());
            let entries = &mut patch.annotations;
            let name = names::LATEST_RECONCILED_GENERATION.to_owned();
            entries.entry(name).or_insert(Some(generation));
        }
        Ok(())
    }

    /// What the end of the pass has to write into the metadata first, so that the status says no more and no less of the
    /// claim than is so.
    pub(super) async fn before_status(
        &self,
        finish: &Finish,
    ) -> Result<Option<MetadataPatch>, KubernetesError> {
        // Once the finalizer is gone, so is the object.
        let text = self.annotation(names::CLAIMED_SPEC);
        let Some(text) = text.filter(|_| self.is_claimed()) else {
            return Ok(None);
        };
        let is_settled = self.annotation(names::BASELINE).is_some();
        let is_of_claim = Record::foretold_generation(text) == Some(self.generation);
        let will_hold = match &finish.verdict {
            Some(verdict) => verdict.ready && is_of_claim,
            None => claim::came_true(&self.object),
        };
        if is_settled || self.claim_holds == will_hold {
            return Ok(None);
        }
        if self.claim_holds {
            return Ok(Some(MetadataPatch::default()));
        }
        let key = self.reconciler.kubernetes.digest_key().await?;
        let uid = self.object.metadata.uid.clone().unwrap_or_default();
        let claimed = self.claimed(key.of(&uid));
        let silent = claimed.map(|claimed| claimed.unforetold().encode());
        let mut patch = MetadataPatch::default();
        patch
            .annotations
            .insert(names::CLAIMED_SPEC.to_owned(), silent);
        Ok(Some(patch))
    }
}
