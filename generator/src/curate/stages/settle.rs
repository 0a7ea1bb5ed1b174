//! What follows from all before: whether the property must be there, and what ARM gets when it is not.

use super::outcome::Outcome;
use super::stage::{Site, Stage};
use crate::curation::{Aspect, PropertyRule, Side};
use crate::model::{ArmPlace, TypeRef};

pub(super) const STAGE: Stage = Stage {
    heeds: &[Aspect::Required],
    run,
};

fn run(site: Site<'_>, rule: &PropertyRule, outcome: &mut Outcome) {
    if let (Some(required), Side::Spec) = (rule.required, site.side) {
        outcome.note(Aspect::Required, required != outcome.property.required);
        outcome.property.required = required;
    }
    for property in [&mut outcome.property].into_iter().chain(&mut outcome.twin) {
        let is_collection = matches!(property.ty, TypeRef::List(_) | TypeRef::Map(_));
        property.explicit = site.side == Side::Spec
            && site.explicit_collections
            && is_collection
            && matches!(property.place, ArmPlace::At(_));
    }
}
