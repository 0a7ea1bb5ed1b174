//! Which objects the Graph shows, and for how long that counts.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use armature_reconcile::claim;
use armature_reconcile::inventory::Inventory;
use armature_reconcile::queue::{LatestPass, Rest};
use armature_reconcile::time::Clock;
use armature_shapes::resource::ObjectKey;
use jiff::Timestamp;

use super::hint::{Allowance, Noted, Verdict, judge};
use super::roster::{IdMark, may_rest};
use super::schedule::Terms;

/// Longest time between two looks where the Graph told of a change late: it may have told of others too late to be heard.
const REST_WHERE_LATE: Duration = Duration::from_secs(6 * 3600);

/// How long it counts that it did.
const LATE_COUNTS: Duration = Duration::from_secs(24 * 3600);

/// What is known of it, shared with the queue.
pub struct Coverage {
    inventory: Arc<dyn Inventory>,
    clock: Arc<dyn Clock>,
    terms: Terms,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// By principal.
    shown: BTreeMap<String, Shown>,
    /// Of objects that were hinted at of late.
    allowances: HashMap<IdMark, Allowance>,
}

/// What the Graph shows of one principal's objects.
#[derive(Default)]
struct Shown {
    ids: HashSet<IdMark>,
    /// Until when it counts that their changes would be heard of.
    heard_until: Timestamp,
    /// Until when it counts that they were seen.
    seen_until: Timestamp,
    /// Of changes before, some were not heard of: what was read before does not rest.
    gap: Option<Timestamp>,
    /// Until when it counts that a change was told of late.
    late_until: Timestamp,
}

impl Shown {
    /// Whether a look that was so long ago is the latest that there has to be.
    fn is_enough(&self, read: Duration, now: Timestamp) -> bool {
        let began = now.saturating_sub(read).unwrap_or(Timestamp::MIN);
        let is_whole = self.gap.is_none_or(|gap| began > gap);
        is_whole && (read < REST_WHERE_LATE || now >= self.late_until)
    }

    fn counts(&self, now: Timestamp) -> bool {
        now < self.heard_until && now < self.seen_until
    }
}

impl Coverage {
    /// Nothing is shown yet.
    pub(super) fn new(inventory: Arc<dyn Inventory>, clock: Arc<dyn Clock>, terms: Terms) -> Self {
        Self {
            inventory,
            clock,
            terms,
            state: Mutex::default(),
        }
    }

    /// How many objects are shown.
    pub(super) fn count(&self) -> usize {
        let now = self.clock.now();
        let state = self.state();
        let counting = state.shown.values().filter(|shown| shown.counts(now));
        counting.map(|shown| shown.ids.len()).sum()
    }

    /// Forgets the others.
    pub(super) fn keep(&self, principals: &BTreeSet<&String>) {
        let now = self.clock.now();
        let mut state = self.state();
        state.shown.retain(|name, _| principals.contains(name));
        let is_full = |allowance: &Allowance| {
            *allowance == Allowance::full(now)
                || allowance.left(now, self.terms.sync) >= super::hint::BURST
        };
        state.allowances.retain(|_, allowance| !is_full(allowance));
    }

    /// These are shown, and no others.
    pub(super) fn see(&self, principal: &str, ids: HashSet<IdMark>, until: Timestamp) {
        let mut state = self.state();
        let shown = state.shown.entry(principal.to_owned()).or_default();
        shown.ids = ids;
        shown.seen_until = until;
    }

    /// One more is shown, where any are.
    pub(super) fn see_also(&self, principal: &str, id: IdMark) {
        if let Some(shown) = self.state().shown.get_mut(principal) {
            shown.ids.insert(id);
        }
    }

    /// Only these of the objects that are shown still are this principal's.
    pub(super) fn limit(&self, principal: &str, own: &HashSet<IdMark>) {
        if let Some(shown) = self.state().shown.get_mut(principal) {
            shown.ids.retain(|id| own.contains(id));
        }
    }

    /// Changes are heard of until then, if not longer.
    pub(super) fn hear(&self, principal: &str, until: Timestamp) {
        if let Some(shown) = self.state().shown.get_mut(principal) {
            shown.heard_until = until;
        }
    }

    /// Some changes until now were not heard of, and never will be.
    pub(super) fn miss(&self, principal: &str, now: Timestamp) {
        if let Some(shown) = self.state().shown.get_mut(principal) {
            shown.gap = Some(now);
        }
    }

    /// A change was told of late.
    pub(super) fn be_late(&self, principal: &str, now: Timestamp) {
        if let Some(shown) = self.state().shown.get_mut(principal) {
            shown.late_until = now.saturating_add(LATE_COUNTS).unwrap_or(Timestamp::MAX);
        }
    }

    /// Nothing is shown any more.
    pub(super) fn forget(&self, principal: &str) {
        self.state().shown.remove(principal);
    }

    /// How many of these are shown and may still be hinted at.
    pub(super) fn resting(&self, principal: &str, ids: impl Iterator<Item = IdMark>) -> usize {
        let now = self.clock.now();
        let state = self.state();
        let Some(shown) = state.shown.get(principal) else {
            return 0;
        };
        let is_seen = now < shown.seen_until;
        ids.filter(|id| is_seen && shown.ids.contains(id) && state.has_hint(*id, now, &self.terms))
            .count()
    }

    /// What becomes of a hint.
    pub(super) fn judge(&self, id: IdMark, noted: Noted, latest: LatestPass) -> Verdict {
        let now = self.clock.now();
        let mut state = self.state();
        let mut allowance = state.allowances.get(&id).copied();
        let allowance = allowance.get_or_insert_with(|| Allowance::full(now));
        let verdict = judge(noted, latest, allowance, (now, self.terms.sync));
        if matches!(verdict, Verdict::Read | Verdict::TooMany) {
            state.allowances.insert(id, *allowance);
        }
        verdict
    }

    fn state(&self) -> MutexGuard<'_, State> {
        // No code that can panic runs under the lock, so a poisoned state is whole.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn has_hint(&self, id: IdMark, now: Timestamp, terms: &Terms) -> bool {
        let known = self.allowances.get(&id);
        known.is_none_or(|allowance| allowance.has_one(now, terms.sync))
    }
}

impl Rest for Coverage {
    fn rests(&self, key: &ObjectKey, read: Duration) -> bool {
        if self.terms.rest.is_none_or(|longest| read >= longest) {
            return false;
        }
        let Some(object) = self.inventory.get(key) else {
            return false;
        };
        let Some(id) = claim::resource_id(&object).map(IdMark::of) else {
            return false;
        };
        let now = self.clock.now();
        let is_shown = {
            let state = self.state();
            let counting = state.shown.values().filter(|shown| shown.counts(now));
            let mut enough = counting.filter(|shown| shown.is_enough(read, now));
            enough.any(|shown| shown.ids.contains(&id)) && state.has_hint(id, now, &self.terms)
        };
        is_shown && may_rest(&object)
    }
}
