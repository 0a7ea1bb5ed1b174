//! A PUT that removes items from a list, while drift beside them waits for its pause or is disputed.

use armature_engine::compare::{
    Difference, Edit, Held, MOST_REPEATED, MOST_TIMED, Record, Timed, Topic, edit,
};

use super::items::Fate;
use super::pass::Pass;
use super::work::Work;
use crate::observed::Holder;
use crate::outcome::Poll;

/// Why items stay that were to go.
const UNREPEATED: &str = "a PUT without it cannot repeat all that others changed in the resource and that is put right later";

impl Pass<'_> {
    /// Whether items go, and the user has edited nothing since they were dropped.
    pub(super) fn removes_only(&self, work: &Work) -> bool {
        if !work.items.has_gone() {
            return false;
        }
        let now = self.desired_now(work);
        let (record, claimed) = (work.record.as_ref(), work.claimed.as_ref());
        let is_tried_again = record.is_some_and(|record| record.carries() && record.is_of(&now));
        is_tried_again || edit(record, claimed, self.book.put_generation(), &now) == Edit::None
    }

    /// What a PUT without the items changes: not what is put right later. Nothing where it is not known to change no more than that;
    /// the items stay then, and `differences` are those beside them.
    pub(super) fn removed(
        &mut self,
        work: &mut Work,
        differences: &mut Vec<Difference>,
    ) -> Option<()> {
        let drift = self.drift_beside(work);
        let is_drift = |it: &Difference| drift.iter().any(|drift| drift.path == it.path);
        let removed = differences.iter().filter(|it| !is_drift(it)).cloned();
        let removed: Vec<Difference> = removed.collect();
        let contest = self.contest(&drift, work.record.as_ref(), work.keyed());
        let is_disputed = matches!(self.findings.place.holder, Some(Holder::Disputed(_)));
        let waits = is_disputed || contest.is_some_and(|contest| contest.wait.is_some());
        if !waits || drift.is_empty() {
            self.findings.payload.drift.clone_from(&drift);
            *differences = removed.into_iter().chain(drift).collect();
            return Some(());
        }
        let carried: Vec<String> = drift.iter().map(|drift| drift.path.clone()).collect();
        if !self.can_repeat(work, &carried) {
            work.items.put_off(UNREPEATED);
            work.held = work.items.held();
            work.body = self.body_beside(work, &work.held);
            *differences = drift;
            return None;
        }
        self.findings.payload.carried = carried;
        *differences = removed;
        Some(())
    }

    /// What differs where the items that go stay: without them others of a list may stand in another place, and that is none.
    fn drift_beside(&self, work: &mut Work) -> Vec<Difference> {
        let held = work.items.all().map(|item| Held {
            path: item.path.clone(),
            is_ours: !matches!(item.fate, Fate::Moved(_) | Fate::Left),
        });
        let held: Vec<Held> = held.collect();
        let body = self.body_beside(work, &held);
        let gone = (
            std::mem::replace(&mut work.held, held),
            std::mem::replace(&mut work.body, body),
        );
        let drift = self.compared(work).1;
        (work.held, work.body) = gone;
        drift
    }

    /// Whether a PUT can repeat what Azure has on these paths, and it is known at the end of an operation that they are drift.
    fn can_repeat(&self, work: &Work, carried: &[String]) -> bool {
        let room = MOST_TIMED.saturating_sub(work.timed.len());
        if room == 0 || carried.len() > MOST_REPEATED {
            return false;
        }
        let repeated = self.repeated(work, carried);
        repeated.is_settled && repeated.places.len() <= room
    }

    /// What Azure has of a PUT that repeats some of its values: those are still drift.
    pub(super) fn carried(&self, work: &Work) -> Vec<String> {
        let record = work.record.as_ref();
        let Some(sent) = record.filter(|sent| self.is_answered_by_azure(sent, work)) else {
            return self.findings.payload.carried.clone();
        };
        let (comparison, keyed) = (work.comparison(self), work.keyed());
        let taken_out = sent.taken_out(&comparison, keyed).into_iter();
        let differences = comparison.differences().into_iter().chain(taken_out);
        let paths = differences.map(|difference| difference.path);
        let is_carried = |path: &str| sent.timed(Topic::Carried, path, keyed).is_some();
        paths.filter(|path| places(path).any(is_carried)).collect()
    }

    /// Whether what Azure has now is its answer to the PUT of this record, which an earlier pass has sent.
    fn is_answered_by_azure(&self, sent: &Record, work: &Work) -> bool {
        let writes = &self.findings.writes;
        let has_ended = writes.poll == Some(Poll::Succeeded) || sent.is_answered();
        let is_its_answer = sent.carries() && writes.put.is_none() && has_ended;
        is_its_answer && sent.is_of(&self.desired_now(work))
    }

    /// What the record of a PUT says of it until Azure's answer is recorded: a later pass may be the one that reads it.
    pub(super) fn carried_in(&self, work: &Work) -> Vec<Timed> {
        let now = self.reconciler.clock.now();
        let timed = work.carried.iter().map(|path| {
            let what = (Topic::Carried, path.as_str());
            Timed::new(what, 0, now, None, work.keyed())
        });
        timed.collect()
    }
}

/// A path, and all that it is within.
fn places(path: &str) -> impl Iterator<Item = &str> {
    let ends = path.match_indices(['.', '[']).map(|(at, _)| at);
    let ends = ends.chain(std::iter::once(path.len()));
    ends.filter_map(|end| path.get(..end))
}
