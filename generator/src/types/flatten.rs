//! Flattening: members of an enveloped object move into the enclosing one.

use crate::model::{Decision, LeftOut, ObjectType, Property};

/// Moves the members of `inner`, the type of `envelope`, into `into`. Their path in ARM keeps the envelope. Required
/// members stay required even if the envelope is optional: specs mark nearly every `properties` optional and mean
/// that its members must be there. `why` explains the move.
pub(crate) fn flatten(
    envelope: &Property,
    inner: &ObjectType,
    why: &Decision,
    into: &mut Vec<Property>,
    left_out: &mut Vec<LeftOut>,
) {
    let above = envelope.place.path();
    for member in &inner.properties {
        let mut property = member.clone();
        property.place = member.place.below(above);
        property.create_only |= envelope.create_only;
        property.origin.decisions.insert(0, why.clone());
        into.push(property);
    }
    left_out.extend(inner.left_out.iter().map(|member| LeftOut {
        arm: above.iter().chain(&member.arm).cloned().collect(),
        ..member.clone()
    }));
}

/// Gives every property a name of its own. A flattened one whose name is taken puts its envelope's in front:
/// `properties_name`, as ASO does.
pub(super) fn settle_names(properties: &mut [Property]) {
    // Members of the object itself come before flattened ones in the choice of names.
    let mut order: Vec<usize> = (0..properties.len()).collect();
    order.sort_by_key(|index| properties[*index].place.path().len());
    let mut taken = std::collections::BTreeSet::new();
    for index in order {
        let property = &mut properties[index];
        let mut name = property.name.clone();
        if taken.contains(&name) && property.place.path().len() > 1 {
            name = property.place.path().join("_");
            let why = "named after its envelope, too: the object has a member of this name itself";
            property.origin.decisions.push(Decision::heuristic(why));
        }
        let base = name.clone();
        let mut number = 2;
        while !taken.insert(name.clone()) {
            name = format!("{base}{number}");
            number += 1;
        }
        property.name = name;
    }
}
