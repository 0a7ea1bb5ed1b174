//! A PUT that removes items from a list, while drift beside them waits for its pause or is disputed.

use armature_engine::compare::{Difference, Edit, MOST_TIMED, Timed, Topic, edit};

use super::items::Fate;
use super::pass::Pass;
use super::work::Work;
use crate::observed::Holder;

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
            gone.any(|item| is_at_or_below(&difference.path, &item.path))
        };
        let (removed, drift): (Vec<_>, Vec<_>) = differences.into_iter().partition(is_of_item);
        let contest = self.contest(&drift, work.record.as_ref(), work.keyed());
        let is_disputed = matches!(self.findings.place.holder, Some(Holder::Disputed(_)));
        let waits = is_disputed || contest.is_some_and(|contest| contest.wait.is_some());
        // Of more it would not be known at the end of an operation that they are drift.
        if waits && drift.len() <= MOST_TIMED / 2 {
            let carried = drift.into_iter().map(|drift| drift.path);
            self.findings.payload.carried = carried.collect();
            return removed;
        }
        self.findings.payload.drift.clone_from(&drift);
        removed.into_iter().chain(drift).collect()
    }

    /// What Azure has of a PUT that repeats some of its values: those are still drift.
    pub(super) fn carried(&self, work: &Work) -> Vec<String> {
        let sent = work.record.as_ref().filter(|record| record.carries());
        let Some(sent) = sent.filter(|_| self.observed().wrote()) else {
            return self.findings.payload.carried.clone();
        };
        let keyed = work.keyed();
        let paths = work.comparison(self).differences().into_iter();
        let paths = paths.map(|difference| difference.path);
        let is_carried = |path: &String| sent.timed(Topic::Carried, path, keyed).is_some();
        paths.filter(is_carried).collect()
    }

    /// What the record of a PUT on its way is to say of it.
    pub(super) fn carried_in(&self, work: &Work) -> Vec<Timed> {
        let now = self.reconciler.clock.now();
        let paths = work.carried.iter().filter(|_| !self.observed().wrote());
        let timed = paths.map(|path| {
            let what = (Topic::Carried, path.as_str());
            Timed::new(what, 0, now, None, work.keyed())
        });
        timed.collect()
    }
}

/// Whether a path is another one or is within it.
fn is_at_or_below(path: &str, other: &str) -> bool {
    let below = path.strip_prefix(other);
    below.is_some_and(|below| below.is_empty() || below.starts_with(['.', '[']))
}
