//! Whether a property goes.

use super::fit::holds_object;
use super::outcome::{Exit, Outcome};
use super::stage::{Site, Stage};
use crate::curation::{Aspect, PropertyRule, Side, Treatment};
use crate::model::{Decision, Property};
use crate::types::embedded::{DERIVED, ENVELOPE};

pub(super) const STAGE: Stage = Stage {
    // A new name is for a property that stays.
    heeds: &[Aspect::Treatment, Aspect::Rename],
    run,
};

fn run(site: Site<'_>, rule: &PropertyRule, outcome: &mut Outcome) {
    let is_envelope = is_envelope(site, &outcome.property);
    let is_value = !holds_object(site.types, &outcome.property.ty);
    let never_comes_back = site.side == Side::Status && outcome.property.secret && is_value;
    if let Some(exit) = rule.treatment.and_then(|word| exit(word, site.side)) {
        let goes_anyway = exit == Exit::Gone && (is_envelope || never_comes_back);
        outcome.note(Aspect::Treatment, !goes_anyway);
        return outcome.leave(exit);
    }
    if is_envelope {
        let keepers = (rule.treatment.is_some(), rule.rename.is_some());
        if keepers == (false, false) {
            outcome.decide(Decision::heuristic(DERIVED));
            return outcome.leave(Exit::Gone);
        }
        outcome.note(Aspect::Treatment, keepers == (true, false));
        outcome.note(Aspect::Rename, keepers == (false, true));
        outcome.is_kept = true;
    }
    let is_called_secret = matches!(
        rule.treatment,
        Some(Treatment::Secret | Treatment::SecretMap | Treatment::SecretOrPlain)
    );
    if never_comes_back || site.side == Side::Status && is_called_secret {
        outcome.note(Aspect::Treatment, !never_comes_back);
        let why = "a secret: it never comes back from Azure";
        outcome.decide(Decision::heuristic(why));
        outcome.leave(Exit::Gone);
    }
}

/// How a word leaves a property out, if it does.
fn exit(word: Treatment, side: Side) -> Option<Exit> {
    match (word, side) {
        (Treatment::Remove, _) | (Treatment::ChildKind, Side::Status) => Some(Exit::Gone),
        (Treatment::ChildKind, Side::Spec) => Some(Exit::ChildList),
        (Treatment::Flatten, _) => Some(Exit::Flattened),
        _ => None,
    }
}

/// Whether a spec does without the property because the operator makes it of name and owner.
fn is_envelope(site: Site<'_>, property: &Property) -> bool {
    site.is_root
        && site.side == Side::Spec
        && property.place.path().len() == 1
        && ENVELOPE.contains(&property.name.as_str())
}
