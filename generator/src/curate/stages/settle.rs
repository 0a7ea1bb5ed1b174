//! What follows from all before: whether the property must be there, and what ARM gets when it is not.

use super::outcome::Outcome;
use super::stage::{Site, Stage};
use crate::curation::{AbsentWord, Aspect, PropertyRule, Side};
use crate::model::{Absent, ArmPlace, Property, TypeRef};

pub(super) const STAGE: Stage = Stage {
    heeds: &[Aspect::Required, Aspect::Absent],
    run,
};

fn run(site: Site<'_>, rule: &PropertyRule, outcome: &mut Outcome) {
    if let (Some(required), Side::Spec) = (rule.required, site.side) {
        outcome.note(Aspect::Required, required != outcome.property.required);
        outcome.property.required = required;
    }
    if site.side == Side::Status {
        return;
    }
    let by_itself = if site.explicit_collections {
        Absent::Null
    } else {
        Absent::Nothing
    };
    let absent = rule.absent.map_or(by_itself, |word| match word {
        AbsentWord::Nothing => Absent::Nothing,
        AbsentWord::Null => Absent::Null,
        AbsentWord::Empty => Absent::Empty,
    });
    let properties = [&mut outcome.property].into_iter().chain(&mut outcome.twin);
    let is_set = properties.fold(false, |is_set, property| {
        let is_collection = is_collection(property);
        if is_collection {
            property.absent = absent;
        }
        is_set || is_collection
    });
    outcome.note(
        Aspect::Absent,
        rule.absent.is_some() && is_set && absent != by_itself,
    );
}

/// Whether it is a list or map with a place of its own.
fn is_collection(property: &Property) -> bool {
    matches!(property.ty, TypeRef::List(_) | TypeRef::Map(_))
        && matches!(property.place, ArmPlace::At(_))
}
