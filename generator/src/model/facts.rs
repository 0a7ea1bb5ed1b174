//! What is told of types where their structure counts, as text that stays: names and fingerprints are made of it. Prose and
//! history say nothing of structure, and what a later generator knows of further facts changes no text of types that are
//! without them.

use super::{Absent, ArmPlace, EnumType, ObjectType, Property, Rules, TypeRef};

/// Everything about an enum.
pub fn enumeration(definition: &EnumType) -> String {
    // Most lists of Azure are open, and most of one value are closed: what is else says so.
    let closed = match (definition.extensible, definition.values.len()) {
        (true, 1) => "open ",
        (false, 2..) => "closed ",
        _ => "",
    };
    format!("{closed}enum {:?}", definition.values)
}

/// Everything about an object but its properties.
pub fn object(definition: &ObjectType) -> String {
    // Variants are told apart by their values; their order says nothing.
    let mut discriminated = definition.discriminated.clone();
    if let Some(one_of) = &mut discriminated {
        one_of.variants.sort_by(|l, r| l.property.cmp(&r.property));
    }
    format!("object {discriminated:?}")
}

/// A type without the one that it refers to.
pub fn shape(ty: &TypeRef) -> String {
    match ty {
        TypeRef::Named(_) => "named".to_owned(),
        TypeRef::List(item) => format!("list {}", shape(item)),
        TypeRef::Map(item) => format!("map {}", shape(item)),
        other => format!("{other:?}"),
    }
}

/// Everything about a property but its type. Destructured, so that a new fact is not forgotten.
pub fn property(property: &Property) -> String {
    let Property {
        name,
        place,
        ty: _,
        meaning,
        required,
        read_only,
        write_only,
        free_text,
        create_only,
        secret,
        rules,
        item_rules,
        identifiers,
        absent,
        was: _,
        stashed,
        default: _,
        description: _,
        origin: _,
    } = property;
    // Only what is so counts, and only what says something.
    let flags = [
        (required, "required"),
        (read_only, "read_only"),
        (write_only, "write_only"),
        (free_text, "free_text"),
        (create_only, "create_only"),
        (secret, "secret"),
        (&(*absent == Absent::Null), "explicit"),
        (&(*absent == Absent::Empty), "explicit_empty"),
        (stashed, "stashed"),
    ];
    // What the operator has of its own has no meaning in ARM.
    let meaning = match place {
        ArmPlace::Operator => "Operator".to_owned(),
        _ => format!("{meaning:?}"),
    };
    let mut text = format!("{name} {:?} {meaning} {identifiers:?}", place.path());
    for (_, flag) in flags.iter().filter(|(is_set, _)| **is_set) {
        text.push_str(&format!(" {flag}"));
    }
    for (rules, whose) in [(rules, "rules"), (item_rules, "item_rules")] {
        if *rules != Rules::default() {
            text.push_str(&format!(" {whose} {rules:?}"));
        }
    }
    text
}
