//! The known values of open lists in a schema: they refuse nothing, and editors and comparisons see them.

use armature_shapes::shape::{StructShape, Type};
use serde_json::{Value, json};

/// Puts the known values into the schema of a struct: `anyOf`, of which the second part takes anything.
pub(super) fn tell(shape: &StructShape, schema: &mut Value) {
    for field in shape.fields {
        if let Some(schema) = schema["properties"].get_mut(field.name) {
            tell_value(field.ty, schema);
        }
    }
}

fn tell_value(ty: Type, schema: &mut Value) {
    match ty {
        Type::Enum(shape) if shape.only().is_none() && !shape.values.is_empty() => {
            schema["anyOf"] = json!([{"enum": shape.values}, {}]);
        }
        Type::Struct(shape) => tell(shape, schema),
        Type::List(list) => {
            if let Some(items) = schema.get_mut("items") {
                tell_value(list.item, items);
            }
        }
        Type::Map(map) => {
            if let Some(values) = schema.get_mut("additionalProperties") {
                tell_value(map.value, values);
            }
        }
        Type::Bool
        | Type::Integer(_)
        | Type::Number
        | Type::String
        | Type::Json
        | Type::Enum(_) => {}
    }
}
