//! The record of a claim that came true. A claim foretells the record of the PUT that follows: that Azure returns what it was
//! sent. Where that is so, a `Ready` of the same generation says it, and the record needs no write of its own.

use armature_engine::compare::{Keyed, Record};

use super::pass::Pass;
use crate::outcome::{Poll, Write};

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

    /// Whether a PUT of this pass was answered as the claim foretold, so that there is nothing to be written down beside
    /// that the object is `Ready`.
    pub(super) fn is_foretold(&self, settled: &Record, keyed: Keyed<'_>) -> bool {
        let is_sent = matches!(self.findings.writes.put, Some(Write::Completed));
        // Of an operation that another pass began, only memory knows.
        let has_ended = matches!(self.findings.writes.poll, Some(Poll::Succeeded));
        let is_sent = is_sent || (has_ended && self.book.is_deferred());
        let foretold = || self.book.claimed(keyed).and_then(Record::come_true);
        self.book.has_nothing_but_claim()
            && is_sent
            && foretold().is_some_and(|foretold| foretold == *settled)
    }
}
