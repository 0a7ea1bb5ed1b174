//! What becomes of one property: stages in their order, each a module. What one leaves out, the later ones do not see.
//!
//! 1. [`leave_out`]: whether it goes, by the file's word or because users have no use for it.
//! 2. [`adapt`]: what holds on its side whatever the file says: constraints that Kubernetes checks, and locations.
//! 3. [`retype`]: `type` and `values` in place of the spec's.
//! 4. [`treat`]: what its value stands for, by the file's word, else by what the spec says: reference, secret, config map.
//! 5. [`rename`]: `rename`, in place of the name that it has by then, and `was`.
//! 6. [`settle`]: `required`, and whether ARM gets it when it is absent.
//!
//! A stage sees the statements of a rule that belong to it, and no others. It does its part and records it in the
//! [`Outcome`]: which statement changed something, what the heuristics decided, what was left out, which type was added.
//! What a statement is worth is read there ([`super::rules`]). Not here: finding the rule, and the object around the
//! property ([`super::transform`]).

mod adapt;
mod fit;
mod leave_out;
mod outcome;
mod rename;
mod retype;
mod settle;
mod stage;
mod treat;

#[cfg(test)]
mod tests;

pub(super) use fit::{core, holds_object, misfit, object_of};
pub(super) use outcome::{Exit, Outcome};
pub(super) use stage::Site;

use stage::Stage;

use crate::curation::PropertyRule;
use crate::model::Property;

/// All stages in their order.
const STAGES: [Stage; 6] = [
    leave_out::STAGE,
    adapt::STAGE,
    retype::STAGE,
    treat::STAGE,
    rename::STAGE,
    settle::STAGE,
];

/// What a rule, or the heuristics alone, make of a property.
pub(super) fn run(site: Site<'_>, property: &Property, rule: Option<&PropertyRule>) -> Outcome {
    let mut outcome = Outcome::of(property.clone());
    for stage in &STAGES {
        let heeded = rule.map(|rule| rule.only(stage.heeds)).unwrap_or_default();
        (stage.run)(site, &heeded, &mut outcome);
        if outcome.exit.is_some() {
            break;
        }
    }
    outcome
}
