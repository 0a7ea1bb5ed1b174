//! What Azure would set by itself, by the word of its specs, need not stand in a manifest.

use armature_runtime::shape::{ArmPlace, Field, Flags, Semantic, StructShape, Type};
use serde_json::{Map, Value};

use super::draft::Draft;
use crate::descriptions::Descriptions;
use crate::descriptions::defaults::{Defaults, is_default};

/// Members by which items of a list are told apart where the schema names none.
const USUAL_IDENTIFIERS: [&str; 2] = ["name", "id"];

/// Takes values out of a draft that equal the default of their property. What has to be there stays, and so does what tells an
/// item from its neighbours; and an object of which nothing else would be left stays whole, because to be there may mean
/// something.
pub fn leave_out(draft: &mut Draft, descriptions: &Descriptions) {
    let (kind, version) = (draft.resource.kind, draft.resource.version);
    let defaults = descriptions.defaults(kind.kind, version.name);
    if let Value::Object(spec) = &mut draft.spec {
        without(version.spec, spec, defaults, &[]);
    }
}

fn without(
    shape: &'static StructShape,
    members: &mut Map<String, Value>,
    defaults: Defaults<'_>,
    identifiers: &[&str],
) {
    let mut spare: Vec<&'static Field> = Vec::new();
    for (name, value) in &mut *members {
        let Some(field) = shape.field(name) else {
            continue;
        };
        let (default, below) = defaults.member(name);
        without_in(field.ty, value, below, field.identifiers);
        if default.is_some_and(|default| is_default(value, default)) && may_go(field, identifiers) {
            spare.push(field);
        }
    }
    let stays = |field: &&Field| {
        members.contains_key(field.name) && spare.iter().all(|spare| spare.name != field.name)
    };
    let staying: Vec<&Field> = shape.fields.iter().filter(stays).collect();
    for field in spare {
        let above = above(field);
        if staying.iter().any(|staying| is_below(staying, above)) {
            members.shift_remove(field.name);
        }
    }
}

fn without_in(ty: Type, value: &mut Value, defaults: Defaults<'_>, identifiers: &[&str]) {
    match (ty, value) {
        (Type::Struct(shape), Value::Object(members)) if shape.semantic == Semantic::Plain => {
            without(shape, members, defaults, identifiers);
        }
        (Type::List(list), Value::Array(items)) => {
            let usual = USUAL_IDENTIFIERS.iter();
            let identifiers: Vec<&str> = identifiers.iter().chain(usual).copied().collect();
            for item in items {
                without_in(list.item, item, defaults, &identifiers);
            }
        }
        (Type::Map(map), Value::Object(members)) => {
            for member in members.values_mut() {
                without_in(map.value, member, defaults, &[]);
            }
        }
        _ => {}
    }
}

fn may_go(field: &Field, identifiers: &[&str]) -> bool {
    let ArmPlace::At(at) = field.arm else {
        return false;
    };
    let place = at.join("/");
    !field.flags.has(Flags::REQUIRED)
        && !field.flags.has(Flags::SECRET)
        && !identifiers.contains(&place.as_str())
}

/// The object in ARM that a field is a member of.
fn above(field: &Field) -> &'static [&'static str] {
    match field.arm {
        ArmPlace::At(at) => &at[..at.len().saturating_sub(1)],
        _ => &[],
    }
}

/// Whether a field says something of an object in ARM.
fn is_below(field: &Field, above: &[&str]) -> bool {
    match field.arm {
        ArmPlace::At(at) | ArmPlace::Further(at) => at.starts_with(above),
        ArmPlace::Variant => true,
        ArmPlace::Operator => false,
    }
}

#[cfg(test)]
mod tests {
    use armature_runtime::testing::gadget::VERSION;
    use serde_json::json;

    use super::*;

    const TEXT: &str = concat!(
        "G toys.azure.com\nT x\nD \"Hot\"\nD 7\nD \"a\"\nD \"l\"\n",
        "O name::=2 priority::=1\n",
        "O type::=0\n",
        "O accessTier::=0 capacity::=1 location::=3 rules::0 identity::1 address::=2\n",
        "R Gadget v20210101 2 -\n",
    );

    fn left(spec: Value) -> Value {
        let descriptions = Descriptions::read(TEXT);
        let Value::Object(mut members) = spec else {
            return Value::Null;
        };
        let defaults = descriptions.defaults("Gadget", VERSION.name);
        without(VERSION.spec, &mut members, defaults, &[]);
        members.into()
    }

    #[test]
    fn what_equals_the_default_goes_unless_it_has_to_stay() {
        let table = [
            (
                "values that equal theirs",
                json!({"accessTier": "Hot", "capacity": 8}),
                json!({"capacity": 8}),
            ),
            (
                "what is required stays",
                json!({"location": "l", "accessTier": "Cool"}),
                json!({"location": "l", "accessTier": "Cool"}),
            ),
            (
                "what tells items apart stays, and the rest of the item goes",
                json!({"rules": [{"name": "a", "priority": 7}, {"name": "b", "priority": 8}]}),
                json!({"rules": [{"name": "a", "priority": 7}, {"name": "b", "priority": 8}]}),
            ),
            (
                "within what has more to say",
                json!({"rules": [{"name": "a", "priority": 7, "prefixes": ["p"]}]}),
                json!({"rules": [{"name": "a", "prefixes": ["p"]}]}),
            ),
            (
                "an object that would have nothing left stays whole",
                json!({"location": "x", "accessTier": "Hot", "capacity": 7}),
                json!({"location": "x", "accessTier": "Hot", "capacity": 7}),
            ),
            (
                "and so does one below",
                json!({"capacity": 1, "address": "a"}),
                json!({"capacity": 1, "address": "a"}),
            ),
        ];
        for (what, spec, expected) in table {
            assert_eq!(left(spec), expected, "{what}");
        }
    }
}
