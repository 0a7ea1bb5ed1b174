//! What follows from all before: whether the property must be there, what ARM gets when it is not, and whether it answers it.

use super::outcome::Outcome;
use super::stage::{Site, Stage};
use crate::curation::{AbsentWord, Aspect, PropertyRule, Side};
use crate::model::{Absent, ArmPlace, Property, TypeRef};

pub(super) const STAGE: Stage = Stage {
    heeds: &[
        Aspect::Required,
        Aspect::Absent,
        Aspect::Answered,
        Aspect::CreateOnly,
        Aspect::FreeText,
    ],
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
    if let Some(answered) = rule.answered {
        outcome.note(Aspect::Answered, answered == outcome.property.write_only);
        // The value is one, wherever it comes from.
        for property in [&mut outcome.property].into_iter().chain(&mut outcome.twin) {
            property.write_only = !answered;
        }
    }
    if let Some(create_only) = rule.create_only {
        outcome.note(
            Aspect::CreateOnly,
            create_only != outcome.property.create_only,
        );
        for property in [&mut outcome.property].into_iter().chain(&mut outcome.twin) {
            property.create_only = create_only;
        }
    }
    if rule.free_text.is_some() {
        outcome.note(Aspect::FreeText, !outcome.property.free_text);
        for property in [&mut outcome.property].into_iter().chain(&mut outcome.twin) {
            property.free_text = true;
        }
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
    let mut is_changed = false;
    for property in properties.filter(|property| is_collection(property)) {
        property.absent = absent;
        is_changed |= absent != by_itself;
    }
    outcome.note(Aspect::Absent, is_changed);
}

/// Whether it is a list or map with a place of its own.
fn is_collection(property: &Property) -> bool {
    matches!(property.ty, TypeRef::List(_) | TypeRef::Map(_))
        && matches!(property.place, ArmPlace::At(_))
}
