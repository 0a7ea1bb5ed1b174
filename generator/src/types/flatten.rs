//! Flattening: members of an enveloped object move into the enclosing one.

use crate::model::{ObjectType, Property};

/// Moves the members of `inner`, the type of `envelope`, into `into`. Their path in ARM keeps the envelope. A
/// member of an optional envelope is optional; one whose name is taken gets the envelope's name in front.
pub(super) fn flatten(envelope: &Property, inner: &ObjectType, into: &mut Vec<Property>) {
    for member in &inner.properties {
        let mut property = member.clone();
        property.arm = envelope.arm.iter().chain(&member.arm).cloned().collect();
        property.required = member.required && envelope.required;
        property.create_only |= envelope.create_only;
        into.push(property);
    }
}

/// Gives every property a name of its own. Later ones yield, and a flattened one takes its envelope's name in
/// front.
pub(super) fn settle_names(properties: &mut [Property]) {
    // Members of the object itself come before flattened ones in the choice of names.
    let mut order: Vec<usize> = (0..properties.len()).collect();
    order.sort_by_key(|index| properties[*index].arm.len());
    let mut taken = std::collections::BTreeSet::new();
    for index in order {
        let property = &mut properties[index];
        let mut name = property.name.clone();
        if taken.contains(&name) && property.arm.len() > 1 {
            name = super::naming::lower_camel(&super::naming::pascal(&property.arm.join(" ")));
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
