//! What the operator notes in an object beside its conditions: annotations that are read once into one value, changed there, and
//! written as a difference.
//!
//! | module | what lives here |
//! |---|---|
//! | `failures` | operations in a row that failed |
//! | `claimed_with` | whose credential an object was claimed with |
//!
//! A note may be left to a later write and counts from the moment that it is made. What does not live here: when the difference is
//! written ([`mod@crate::persist`]), the ARM id of a claimed object ([`mod@crate::claim`]), and what users ask for
//! ([`mod@crate::annotations`]).

mod claimed_with;
mod failures;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use armature_engine::compare::{EarlierRecord, Keyed, Record};
use armature_shapes::names;
use armature_shapes::resource::Object;
use jiff::Timestamp;

pub use claimed_with::ClaimedWith;
pub use failures::Failures;

use crate::annotations::Adoption;
use crate::claim;
use crate::remote::Operation;
use crate::signature::Belief;
use crate::time::whole_seconds;

/// Annotations to set or remove, as a patch has them.
pub type Entries = BTreeMap<String, Option<String>>;

type Notes = BTreeMap<&'static str, String>;

/// The annotations that are notes.
const NAMES: [&str; 11] = [
    names::OPERATOR_NAMESPACE,
    names::POLLER_RESUME_ID,
    names::POLLER_RESUME_TOKEN,
    names::LATEST_RECONCILED_GENERATION,
    names::BASELINE,
    names::CLAIMED_SPEC,
    names::HELD_SINCE,
    names::UNANSWERED_PUT,
    names::FAILED_OPERATIONS,
    names::ADOPTION,
    names::CLAIMED_WITH,
];

const OPERATION: [&str; 2] = [names::POLLER_RESUME_ID, names::POLLER_RESUME_TOKEN];

/// The notes in one object, as it has them and as they are to be.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Bookkeeping {
    stored: Notes,
    now: Notes,
    /// What Azure is doing for the object is left to a later write.
    is_deferred: bool,
    /// The operation has ended, and no write has said so.
    has_ended: bool,
    /// Azure answered as the claim foretold, and nothing else is written down of it.
    claim_holds: bool,
    /// The operation may be one that somebody else wrote down.
    is_operation_foreign: bool,
}

impl Bookkeeping {
    /// The notes of an object, as far as they are believed, with those that were left to a later write.
    #[must_use]
    pub fn of(object: &Object, deferred: Entries, belief: Belief) -> Self {
        let stored = stored(object);
        let mut book = Self {
            now: stored.clone(),
            stored,
            is_deferred: !deferred.is_empty(),
            has_ended: false,
            claim_holds: claim::came_true(object),
            is_operation_foreign: false,
        };
        if belief.is_foreign() {
            book.disbelieve();
        }
        book.add(&deferred);
        book
    }

    /// Somebody else may have written the notes: what is left of them is what another operator's would be.
    fn disbelieve(&mut self) {
        let adoption = self.adoption();
        // Which edit was sent last, though not what it was.
        let foretold = self.foretold_generation().filter(|_| self.claim_holds);
        for name in [names::BASELINE, names::CLAIMED_SPEC] {
            self.now.remove(name);
        }
        if let Some(generation) = foretold {
            self.now
                .entry(names::LATEST_RECONCILED_GENERATION)
                .or_insert(generation.to_string());
        }
        // What another operator has made is the object's own, too.
        if let Some(adoption) = adoption {
            self.note_adoption(adoption);
        }
        self.claim_holds = false;
        self.is_operation_foreign = true;
    }

    /// What a write of the object has to set or remove.
    #[must_use]
    pub fn difference(&self) -> Entries {
        let mut entries = self.changes();
        // What was sent is known from now on.
        let is_recorded = matches!(entries.get(names::BASELINE), Some(Some(_)));
        if is_recorded && self.stored.contains_key(names::CLAIMED_SPEC) {
            entries.insert(names::CLAIMED_SPEC.to_owned(), None);
        }
        entries
    }

    fn changes(&self) -> Entries {
        let changed = NAMES.iter().filter(|name| !self.is_stored(name));
        changed
            .map(|name| ((*name).to_owned(), self.now.get(name).cloned()))
            .collect()
    }

    fn is_stored(&self, name: &str) -> bool {
        self.stored.get(name) == self.now.get(name)
    }

    /// The difference has been written: the object has it now.
    pub fn is_written(&mut self, object: &Object, belief: Belief) {
        let claim_holds = self.claim_holds;
        *self = Self::of(object, Entries::new(), belief);
        self.claim_holds = claim_holds && !self.has(names::BASELINE);
    }

    /// Somebody else wrote the object: the difference is to be written into this state of it.
    pub fn rebase(&mut self, object: &Object, belief: Belief) {
        let changes = self.changes();
        let (is_operation_foreign, claim_holds) = (self.is_operation_foreign, self.claim_holds);
        let now = Self::of(object, Entries::new(), belief);
        (self.stored, self.now) = (now.stored, now.now);
        self.add(&changes);
        let has_changed = OPERATION.iter().any(|name| changes.contains_key(*name));
        self.is_operation_foreign = match has_changed {
            true => is_operation_foreign,
            false => now.is_operation_foreign,
        };
        self.claim_holds = claim_holds;
    }

    fn add(&mut self, entries: &Entries) {
        for name in NAMES {
            match entries.get(name) {
                Some(Some(value)) => drop(self.now.insert(name, value.clone())),
                Some(None) => drop(self.now.remove(name)),
                None => {}
            }
        }
    }

    fn get(&self, name: &str) -> Option<&str> {
        self.now.get(name).map(String::as_str)
    }

    fn has(&self, name: &str) -> bool {
        self.now.contains_key(name)
    }

    fn time(&self, name: &str) -> Option<Timestamp> {
        self.get(name)?.parse().ok()
    }

    // Whose the object is.

    /// Namespace of the operator that manages the object.
    #[must_use]
    pub fn operator(&self) -> Option<&str> {
        self.get(names::OPERATOR_NAMESPACE)
            .filter(|namespace| !namespace.is_empty())
    }

    /// This operator manages the object from now on.
    pub fn take_ownership(&mut self, namespace: &str) {
        self.now
            .insert(names::OPERATOR_NAMESPACE, namespace.to_owned());
    }

    /// Whether no write has said yet who manages the object.
    #[must_use]
    pub fn owes_ownership(&self) -> bool {
        !self.is_stored(names::OPERATOR_NAMESPACE)
    }

    /// Whose credential the object was claimed with, as far as its word means something.
    #[must_use]
    pub fn claimed_with(&self) -> Option<ClaimedWith> {
        ClaimedWith::parse(self.get(names::CLAIMED_WITH)?)
    }

    /// Notes whose credential the claim is made with, unless that is noted.
    pub fn note_claimed_with(&mut self, claimed_with: ClaimedWith) {
        let note = self.now.entry(names::CLAIMED_WITH);
        note.or_insert_with(|| claimed_with.as_str().to_owned());
    }

    /// Whose the resource is. What the object has sent, or another operator for it, is its own.
    #[must_use]
    pub fn adoption(&self) -> Option<Adoption> {
        if let Some(text) = self.get(names::ADOPTION) {
            return Some(Adoption::parse(text));
        }
        let signs = [
            names::LATEST_RECONCILED_GENERATION,
            names::BASELINE,
            names::POLLER_RESUME_ID,
            names::POLLER_RESUME_TOKEN,
            names::UNANSWERED_PUT,
            names::FAILED_OPERATIONS,
        ];
        let mut signs = signs.iter();
        let has_sent = self.claim_holds || signs.any(|name| self.has(name));
        has_sent.then_some(Adoption::Made)
    }

    /// Notes whose the resource is.
    pub fn note_adoption(&mut self, adoption: Adoption) {
        self.now
            .insert(names::ADOPTION, adoption.as_str().to_owned());
    }

    /// Whether no write has said yet whose the resource is.
    #[must_use]
    pub fn owes_adoption(&self) -> bool {
        self.has(names::ADOPTION) && !self.is_stored(names::ADOPTION)
    }

    // The operation that Azure works on.

    /// `poller-resume-id` and `poller-resume-token` of a running operation.
    #[must_use]
    pub fn operation(&self) -> Option<(&str, &str)> {
        let [id, token] = OPERATION.map(|name| self.get(name));
        Some((id?, token?))
    }

    /// Whether the operation may be one that somebody else wrote down: where it is followed has to be looked at.
    #[must_use]
    pub fn is_operation_foreign(&self) -> bool {
        self.is_operation_foreign
    }

    /// Whether the object says that an operation runs, readable or not.
    #[must_use]
    pub fn has_operation(&self) -> bool {
        let mut texts = OPERATION.iter().filter_map(|name| self.get(name));
        texts.any(|text| !text.is_empty())
    }

    /// Azure works on this. Of an operation that only its result tells about, nobody says the end: it holds the next write back
    /// from `now` on.
    pub fn begin_operation(&mut self, operation: &Operation, now: Timestamp) {
        self.follow_operation(operation);
        if operation.is_reported {
            self.now.remove(names::HELD_SINCE);
        } else {
            self.hold(now);
        }
    }

    /// The operation is to be asked about in another way.
    pub fn follow_operation(&mut self, operation: &Operation) {
        self.now
            .insert(names::POLLER_RESUME_ID, operation.id.clone());
        self.now
            .insert(names::POLLER_RESUME_TOKEN, operation.token.clone());
        self.is_operation_foreign = false;
    }

    /// No operation runs any more.
    pub fn end_operation(&mut self) {
        for name in OPERATION {
            self.now.remove(name);
        }
    }

    /// The same, which the next write has to say.
    pub fn forget_operation(&mut self) {
        self.end_operation();
        self.has_ended = true;
    }

    /// Whether no write has said yet that the operation ended.
    #[must_use]
    pub fn owes_end(&self) -> bool {
        self.has_ended
    }

    /// Leaves the difference to a later write, and returns it.
    pub fn defer(&mut self) -> Entries {
        self.is_deferred = true;
        self.changes()
    }

    /// Whether what Azure is doing, or has done, is left to a later write.
    #[must_use]
    pub fn is_deferred(&self) -> bool {
        self.is_deferred
    }

    // What was applied.

    /// The record of the latest PUT or adoption, where it can be read; that of the claim where it came true.
    #[must_use]
    pub fn record(&self, keyed: Keyed<'_>) -> Option<Record> {
        match self.get(names::BASELINE) {
            Some(text) => Record::parse(text, keyed),
            None if self.claim_holds => self.claimed(keyed)?.come_true(),
            None => None,
        }
    }

    /// The record in the form of an earlier release.
    #[must_use]
    pub fn earlier_record(&self) -> Option<EarlierRecord> {
        EarlierRecord::parse(self.get(names::BASELINE)?)
    }

    /// Whether it is known what was sent, or found, at the latest PUT or adoption.
    #[must_use]
    pub fn is_recorded(&self) -> bool {
        self.claim_holds || self.has(names::BASELINE)
    }

    /// The record of the claim.
    #[must_use]
    pub fn claimed(&self, keyed: Keyed<'_>) -> Option<Record> {
        Record::parse(self.get(names::CLAIMED_SPEC)?, keyed)
    }

    /// Generation that the latest PUT of any operator was built from.
    #[must_use]
    pub fn put_generation(&self) -> Option<i64> {
        match self.get(names::LATEST_RECONCILED_GENERATION) {
            Some(text) => text.parse().ok(),
            None => self.foretold_generation().filter(|_| self.claim_holds),
        }
    }

    /// Generation of the spec of which the claim says what Azure will answer, in whatever key.
    #[must_use]
    pub fn foretold_generation(&self) -> Option<i64> {
        Record::foretold_generation(self.get(names::CLAIMED_SPEC)?)
    }

    /// The same, as the object has it.
    #[must_use]
    pub fn stored_foretold_generation(&self) -> Option<i64> {
        Record::foretold_generation(self.stored.get(names::CLAIMED_SPEC)?)
    }

    /// Whether the object has a record of the claim.
    #[must_use]
    pub fn has_claimed(&self) -> bool {
        self.has(names::CLAIMED_SPEC)
    }

    /// Whether the object has a record of its own.
    #[must_use]
    pub fn has_record(&self) -> bool {
        self.has(names::BASELINE)
    }

    /// Notes what was sent, or found, and from which generation.
    pub fn note_record(&mut self, record: &Record, generation: i64) {
        self.note_record_alone(record);
        let text = generation.to_string();
        self.now.insert(names::LATEST_RECONCILED_GENERATION, text);
    }

    /// Notes what was sent, or found.
    pub fn note_record_alone(&mut self, record: &Record) {
        self.now.insert(names::BASELINE, record.encode());
    }

    /// Azure answered a PUT as the claim foretold: nothing is to be written but that the object is `Ready`.
    pub fn confirm_claim(&mut self) {
        let of_put = [
            names::BASELINE,
            names::LATEST_RECONCILED_GENERATION,
            names::HELD_SINCE,
        ];
        for name in of_put.into_iter().chain(OPERATION) {
            match self.stored.get(name) {
                Some(text) => drop(self.now.insert(name, text.clone())),
                None => drop(self.now.remove(name)),
            }
        }
        self.is_deferred = false;
        self.has_ended = false;
        self.claim_holds = true;
    }

    /// Whether the record of the claim came true, and nothing else is written down of it.
    #[must_use]
    pub fn claim_holds(&self) -> bool {
        self.claim_holds
    }

    /// Whether the object has nothing of a PUT but what the claim says.
    #[must_use]
    pub fn has_nothing_but_claim(&self) -> bool {
        [names::BASELINE, names::LATEST_RECONCILED_GENERATION]
            .iter()
            .chain(&OPERATION)
            .all(|name| !self.stored.contains_key(name))
    }

    /// Writes the record of a claim that came true down, which only the status tells.
    pub fn record_claim(&mut self, keyed: Keyed<'_>) {
        if !self.claim_holds || self.has(names::BASELINE) {
            return;
        }
        if let Some(record) = self.record(keyed) {
            self.note_record_alone(&record);
            let generation = self.now.entry(names::LATEST_RECONCILED_GENERATION);
            generation.or_insert_with(|| record.generation().to_string());
        }
    }

    /// The claim no longer tells how it will end: the status would vouch for what did not come true.
    pub fn unforetell(&mut self, keyed: Keyed<'_>) {
        match self.claimed(keyed) {
            Some(claimed) => {
                let text = claimed.unforetold().encode();
                self.now.insert(names::CLAIMED_SPEC, text);
            }
            None => drop(self.now.remove(names::CLAIMED_SPEC)),
        }
    }

    /// The object is being claimed, anew perhaps: what was noted is of another object, or of another place in Azure.
    /// `claimed` is the record of what a PUT will be made from, if one may be.
    pub fn begin_claim(&mut self, claimed: Option<String>) {
        for name in claim::OF_A_CLAIM {
            self.now.remove(name);
        }
        match claimed {
            Some(claimed) => drop(self.now.insert(names::CLAIMED_SPEC, claimed)),
            None => drop(self.now.remove(names::CLAIMED_SPEC)),
        }
        self.claim_holds = false;
    }

    // Requests whose outcome is not known or was bad.

    /// Since when something in Azure holds the next write back.
    #[must_use]
    pub fn held_since(&self) -> Option<Timestamp> {
        self.time(names::HELD_SINCE)
    }

    /// Something in Azure holds the next write back from now on.
    pub fn hold(&mut self, now: Timestamp) {
        self.now.insert(names::HELD_SINCE, whole_seconds(now));
    }

    /// When the latest PUT was sent that had no answer.
    #[must_use]
    pub fn unanswered_put(&self) -> Option<Timestamp> {
        self.time(names::UNANSWERED_PUT)
    }

    /// A PUT had no answer, and Azure does not show the resource.
    pub fn note_unanswered_put(&mut self, now: Timestamp) {
        self.now.insert(names::UNANSWERED_PUT, whole_seconds(now));
    }

    /// Operations that failed for what the object still says.
    #[must_use]
    pub fn failures(&self, generation: i64, deleting: bool) -> Option<Failures> {
        let failures = Failures::parse(self.get(names::FAILED_OPERATIONS)?)?;
        failures.are_for(generation, deleting).then_some(failures)
    }

    /// One more operation failed.
    pub fn note_failures(&mut self, failures: &Failures) {
        self.now
            .insert(names::FAILED_OPERATIONS, failures.to_string());
    }

    /// Removes notes that are no longer so, and says whether there were any.
    pub fn forget_outdated(&mut self, outdated: &Outdated) -> bool {
        let rows = [
            (names::HELD_SINCE, outdated.hold),
            (names::UNANSWERED_PUT, outdated.unanswered_put),
            (names::FAILED_OPERATIONS, outdated.failures),
        ];
        let outdated = rows.iter().filter(|(_, is_outdated)| *is_outdated);
        outdated.fold(false, |some, (name, _)| {
            self.now.remove(name).is_some() || some
        })
    }
}

/// Which notes of requests are no longer so.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Outdated {
    /// Nothing holds the next write back.
    pub hold: bool,
    /// No PUT without an answer may make the resource appear.
    pub unanswered_put: bool,
    /// No failure counts any more.
    pub failures: bool,
}

fn stored(object: &Object) -> Notes {
    let Some(annotations) = &object.metadata.annotations else {
        return Notes::new();
    };
    let found = NAMES.iter().filter_map(|name| {
        annotations
            .get_key_value(*name)
            .map(|(_, text)| (*name, text))
    });
    found.map(|(name, text)| (name, text.clone())).collect()
}
