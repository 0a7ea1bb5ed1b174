//! The second decision: what the end of a pass writes into the object. [`decide`](mod@crate::decide) says what to do in Azure;
//! this says which notes, conditions and events are worth a write now, and which may wait, from values alone.
//!
//! What does not live here: the notes themselves ([`crate::bookkeeping`]), and the writing (the driver's).

mod status;
#[cfg(test)]
mod tests;

pub use status::{Words, says_alone, says_verdict};

use serde_json::Value;

use crate::action::Finish;
use crate::backoff::Requeue;
use crate::condition::{self, reason};
use crate::port::EventNote;
use crate::young::{Silence, Youth};

/// What the object says, as Kubernetes has it.
#[derive(Clone, Copy, Debug)]
pub struct Stored<'a> {
    /// Its status, in stored form.
    pub status: &'a Value,
    /// Its `Ready` vouches for what the claim foretold ([`crate::claim::came_true`]).
    pub vouches: bool,
}

/// What the pass knows at its end.
#[derive(Clone, Copy, Debug)]
pub struct Known<'a> {
    /// The status as Azure shows it, with the conditions that the object has.
    pub status: &'a Value,
    /// Generation that the pass worked from.
    pub generation: i64,
    /// The object is being deleted.
    pub is_deleting: bool,
    /// This pass began what Azure is working on.
    pub has_begun: bool,
    /// Notes that are not written.
    pub owed: Owed,
    /// What the claim foretold, while nothing else is recorded.
    pub claim: Option<Foretold>,
}

/// Notes that are not written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Owed {
    /// What Azure is doing, or has done, was left to a later write: it must not be lost.
    pub operation: bool,
    /// An operation has ended.
    pub end: bool,
    /// Who manages the object. The claim says it, too.
    pub owner: bool,
    /// Whose the resource is, or that something noted is no longer so.
    pub others: bool,
}

/// What the claim of an object foretold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Foretold {
    /// Generation for which it foretells what Azure answers.
    pub generation: Option<i64>,
    /// This pass, or an earlier one, found it true.
    pub holds: bool,
}

/// How long the object may be silent.
#[derive(Clone, Copy, Debug)]
pub struct Grace {
    /// What all objects may leave unsaid.
    pub silence: Silence,
    /// How young this one is.
    pub youth: Option<Youth>,
    /// Whether its owner need not be said at the end of this pass ([`Silence::of_owner`]).
    pub of_owner: bool,
}

/// What the end of a pass writes.
#[derive(Clone, Debug, PartialEq)]
pub enum Persist {
    /// Nothing: the object says all already.
    Nothing,
    /// Nothing yet: what there is to say is found out again, or kept in memory, until then.
    Defer(Requeue),
    /// Something of this, in this order.
    Write {
        /// Notes.
        metadata: Option<Metadata>,
        /// An event.
        event: Option<EventNote>,
        /// The status.
        status: Option<Value>,
    },
}

/// How the notes are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Metadata {
    /// A change of the object in the meantime is no reason against it.
    pub must_not_be_lost: bool,
    /// What becomes of the claim's word, so that the status says no more and no less of it than is so.
    pub claim: Claim,
}

/// What becomes of a claim's word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Claim {
    /// It stays.
    Keep,
    /// What it foretold is recorded: the status will no longer vouch for it.
    Record,
    /// It no longer foretells anything: the status would vouch for what did not come true.
    Silence,
}

/// Decides what the end of a pass writes. `words` are what the status is to say beside the verdict.
#[must_use]
pub fn persist(
    stored: &Stored<'_>,
    known: &Known<'_>,
    finish: &Finish,
    words: &Words<'_>,
    grace: &Grace,
) -> Persist {
    // What only this pass knows of the claim is not said by the status until now.
    let is_new = known.claim.is_some_and(|claim| claim.holds) && !stored.vouches;
    let may_wait = !known.owed.end && !known.owed.others && !is_new;
    if may_wait && let Some(requeue) = silently(known, finish, grace) {
        return Persist::Defer(requeue);
    }
    let status = words.status(known, finish);
    let metadata = metadata(stored, known, status.as_ref(), grace);
    let (status, event) = (status.filter(|new| new != stored.status), &finish.event);
    match (metadata, event, status) {
        (None, None, None) => Persist::Nothing,
        (metadata, event, status) => Persist::Write {
            metadata,
            event: event.clone(),
            status,
        },
    }
}

fn metadata(
    stored: &Stored<'_>,
    known: &Known<'_>,
    status: Option<&Value>,
    grace: &Grace,
) -> Option<Metadata> {
    let claim = claim(stored, known, status);
    let owed = known.owed;
    let owes_owner = owed.owner && !grace.of_owner;
    let owes = owed.operation || owed.end || owes_owner || owed.others;
    (owes || claim != Claim::Keep).then_some(Metadata {
        must_not_be_lost: owed.operation,
        claim,
    })
}

fn claim(stored: &Stored<'_>, known: &Known<'_>, status: Option<&Value>) -> Claim {
    let Some(claim) = known.claim else {
        return Claim::Keep;
    };
    // A `Ready` may stay what it was, whatever this pass has found (ASO behaviour §1.7).
    let will_vouch = match status.and_then(|status| status.get("conditions")) {
        Some(conditions) => {
            let ready = condition::was_ready_in(conditions);
            ready.is_some() && ready == claim.generation
        }
        None => stored.vouches,
    };
    match (claim.holds, will_vouch) {
        (true, false) => Claim::Record,
        (false, true) => Claim::Silence,
        _ => Claim::Keep,
    }
}

/// When to look again, where the object need not say yet how it is. What the pass found out is found out again; only the
/// end of an operation is not.
fn silently(known: &Known<'_>, finish: &Finish, grace: &Grace) -> Option<Requeue> {
    let conditions = known.status.get("conditions");
    let spoken = condition::ready(conditions.unwrap_or(&Value::Null));
    let youth = match (spoken, known.is_deleting) {
        (None, _) => grace.youth?,
        (Some((_, reason::DELETING)), true) => return None,
        // That it is being deleted, Kubernetes says as well.
        (Some(_), true) => grace.youth?,
        (Some(_), false) => {
            if condition::is_current(known.status, known.generation) || !known.has_begun {
                return None;
            }
            grace.silence.of_begun()
        }
    };
    youth.keep_silent(finish)
}
