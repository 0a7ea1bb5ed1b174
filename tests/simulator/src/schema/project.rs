//! What Azure keeps of a request, what it returns of it, and what survives the next PUT.

use armature_runtime::kind::VersionInfo;
use armature_runtime::shape::{ArmPlace, Field, Flags, Semantic, StructShape, Type};
use serde_json::{Map, Value};

use super::cursor::{Cursor, Step};
use crate::json;

/// The members of a body that the spec can set, and the children listed in it; read-only members that clients
/// send back are dropped.
pub fn writable(version: &VersionInfo, body: &Value) -> Value {
    let mut kept = body.clone();
    if let Value::Object(members) = &mut kept {
        let (cursor, _) = Cursor::of(version.spec, members);
        walk(&cursor, members, Keep::Writable);
    }
    for path in version.child_lists {
        if let Some(list) = json::at(body, path) {
            json::set(&mut kept, path, list.clone());
        }
    }
    kept
}

/// The members of a body that Azure returns: write-only fields and secrets are left out.
pub fn returned(version: &VersionInfo, body: &Value) -> Value {
    let mut kept = body.clone();
    if let Value::Object(members) = &mut kept {
        let (cursor, _) = Cursor::of(version.spec, members);
        walk(&cursor, members, Keep::Returned);
    }
    kept
}

/// Copies what only Azure sets from the previous state: fields of the status that the spec does not have.
/// Lists are left to behaviours, because their items have no general identity.
pub fn carry_read_only(version: &VersionInfo, previous: &Value, body: &mut Value) {
    let (Some(old), Value::Object(new)) = (previous.as_object(), body) else {
        return;
    };
    let (wanted, _) = Cursor::of(version.spec, old);
    let (known, _) = Cursor::of(version.status, old);
    carry(&wanted, &known, old, new);
}

fn carry(wanted: &Cursor, known: &Cursor, old: &Map<String, Value>, new: &mut Map<String, Value>) {
    for (name, value) in old {
        match (wanted.step(name), known.step(name)) {
            (Step::Unknown | Step::Further, Step::Leaf(_) | Step::Inner(_)) => {
                new.entry(name.clone()).or_insert_with(|| value.clone());
            }
            (Step::Inner(wanted), Step::Inner(known)) => {
                if let Some(old) = value.as_object() {
                    let slot = new
                        .entry(name.clone())
                        .or_insert_with(|| Value::Object(Map::new()));
                    carry(&wanted, &known, old, json::object(slot));
                }
            }
            (Step::Leaf(wanted), Step::Leaf(known)) => {
                let nested = plain(&wanted).zip(plain(&known));
                let new = new.get_mut(name).and_then(Value::as_object_mut);
                if let (Some((wanted, known)), Some(old), Some(new)) =
                    (nested, value.as_object(), new)
                {
                    carry(
                        &Cursor::of(wanted, old).0,
                        &Cursor::of(known, old).0,
                        old,
                        new,
                    );
                }
            }
            _ => {}
        }
    }
}

fn plain(fields: &[&'static Field]) -> Option<&'static StructShape> {
    fields.iter().find_map(|field| match field.ty {
        Type::Struct(shape) if shape.semantic == Semantic::Plain => Some(shape),
        _ => None,
    })
}

/// Whether the status has a field at this place in ARM's JSON.
pub fn has_status_path(version: &VersionInfo, path: &[&str]) -> bool {
    reaches(version.status, path)
}

fn reaches(shape: &'static StructShape, path: &[&str]) -> bool {
    shape
        .fields
        .iter()
        .any(|field| match (field.arm, field.ty) {
            (ArmPlace::At(at) | ArmPlace::Further(at), _) if at == path => true,
            (ArmPlace::At(at), Type::Struct(inner)) => path
                .strip_prefix(at)
                .is_some_and(|rest| !rest.is_empty() && reaches(inner, rest)),
            (ArmPlace::Variant, Type::Struct(inner)) => reaches(inner, path),
            _ => false,
        })
}

#[derive(Clone, Copy, PartialEq)]
enum Keep {
    Writable,
    Returned,
}

fn walk(cursor: &Cursor, members: &mut Map<String, Value>, keep: Keep) {
    members.retain(|name, value| match cursor.step(name) {
        Step::Unknown => keep == Keep::Returned,
        Step::Discriminator | Step::Further => true,
        Step::Inner(inner) => {
            if let Value::Object(below) = value {
                walk(&inner, below, keep);
            }
            true
        }
        Step::Leaf(fields) => {
            if keep == Keep::Returned && fields.iter().any(|field| is_hidden(field)) {
                return false;
            }
            if let Some(field) = fields.first() {
                descend(field.ty, value, keep);
            }
            true
        }
    });
}

fn descend(ty: Type, value: &mut Value, keep: Keep) {
    match (ty, value) {
        (Type::Struct(shape), Value::Object(members)) if shape.semantic == Semantic::Plain => {
            let (cursor, _) = Cursor::of(shape, members);
            walk(&cursor, members, keep);
        }
        (Type::List(list), Value::Array(items)) => {
            items
                .iter_mut()
                .for_each(|item| descend(list.item, item, keep));
        }
        (Type::Map(map), Value::Object(members)) => {
            members
                .values_mut()
                .for_each(|member| descend(map.value, member, keep));
        }
        _ => {}
    }
}

fn is_hidden(field: &Field) -> bool {
    let secret_type = matches!(field.ty, Type::Struct(shape)
        if matches!(shape.semantic, Semantic::SecretReference | Semantic::SecretMapReference));
    secret_type || field.flags.has(Flags::WRITE_ONLY) || field.flags.has(Flags::SECRET)
}
