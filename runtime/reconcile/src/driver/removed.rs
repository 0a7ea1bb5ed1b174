//! A PUT that removes items from a list, while drift beside them waits for its pause or is disputed.

use armature_engine::compare::{Difference, Edit, MOST_TIMED, Record, Timed, Topic, edit};

use super::items::Fate;
use super::pass::Pass;
use super::work::Work;
use crate::observed::Holder;
use crate::outcome::Poll;

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

    /// What a PUT without the items changes: not what is put right later.
    pub(super) fn removed(&mut self, work: &Work, differences: Vec<Difference>) -> Vec<Difference> {
        let is_of_item = |difference: &Difference| {
            let mut gone = work.items.all().filter(|item| item.fate == Fate::Goes);
            // Where the last ones go, the list is what differs.
            gone.any(|item| {
                is_at_or_below(&difference.path, &item.path)
                    || is_at_or_below(&item.path, &difference.path)
            })
        };
        let (removed, drift): (Vec<_>, Vec<_>) = differences.into_iter().partition(is_of_item);
        let contest = self.contest(&drift, work.record.as_ref(), work.keyed());
        let is_disputed = matches!(self.findings.place.holder, Some(Holder::Disputed(_)));
        let waits = is_disputed || contest.is_some_and(|contest| contest.wait.is_some());
        if waits {
            let carried: Vec<String> = drift.iter().map(|drift| drift.path.clone()).collect();
            let places = self.repeated(work, &carried).places.len();
            // Of more it would not be known at the end of an operation that they are drift.
            if work.timed.len().saturating_add(places) <= MOST_TIMED {
                self.findings.payload.carried = carried;
                return removed;
            }
        }
        self.findings.payload.drift.clone_from(&drift);
        removed.into_iter().chain(drift).collect()
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

/// Whether a path is another one or is within it.
fn is_at_or_below(path: &str, other: &str) -> bool {
    let below = path.strip_prefix(other);
    below.is_some_and(|below| below.is_empty() || below.starts_with(['.', '[']))
}
