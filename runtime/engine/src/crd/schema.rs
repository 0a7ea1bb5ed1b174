//! Structural schemas from shapes.

use armature_shapes::kind::{KindInfo, VersionInfo};
use armature_shapes::names::PENDING;
use armature_shapes::resource::Condition;
use armature_shapes::shape::{Field, Flags, IntegerFormat, Rules, Shaped, StructShape, Type};
use serde_json::{Map, Number, Value, json};

use super::rules::{self, Place};

/// How much of a shape the API server is to check.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Checks {
    /// Everything: what users write.
    All,
    /// Types only: what the operator copies from ARM, which does not always keep to its own rules.
    Types,
}

/// Schema of one served version.
pub(super) fn api_version(kind: &KindInfo, version: &VersionInfo) -> Value {
    let spec = object(version.spec, Checks::All, Place::TOP);
    let mut status = object(version.status, Checks::Types, Place::TOP);
    // Top-level observedGeneration is what kstatus reads.
    status["properties"]["observedGeneration"] = json!({"type": "integer", "format": "int64"});
    let mut root = root(spec, status);
    let rules = rules::of_object(kind, version);
    if !rules.is_empty() {
        root["x-kubernetes-validations"] = Value::Array(rules);
    }
    root
}

/// What an object says that nobody has looked at.
const UNSEEN: &str = "No operator has looked at this object yet. If this stays, see that Armature runs, and that its settings \
                      name this namespace and this kind.";

/// Schema of the storage version: any spec, any status. An object without conditions gets one, so that it is not taken for
/// ready by who waits for it (kstatus: an object without conditions is current). The API server applies defaults of the
/// storage version to whatever it reads from etcd, so served versions need none.
pub(super) fn storage_version() -> Value {
    let open = json!({"type": "object", "x-kubernetes-preserve-unknown-fields": true});
    let unseen = json!([{
        "type": "Ready",
        "status": "Unknown",
        "reason": PENDING,
        "message": UNSEEN,
        // Required, and not known: no age is to be told from it.
        "lastTransitionTime": "1970-01-01T00:00:00Z",
    }]);
    let mut status = open.clone();
    status["properties"]["conditions"] = json!({"type": "array", "items": open, "default": unseen});
    status["default"] = json!({"conditions": unseen});
    root(open, status)
}

fn root(spec: Value, status: Value) -> Value {
    json!({
        "type": "object",
        "properties": {
            "apiVersion": {"type": "string"},
            "kind": {"type": "string"},
            "metadata": {"type": "object"},
            "spec": spec,
            "status": status,
        },
    })
}

fn object(shape: &StructShape, checks: Checks, place: Place) -> Value {
    let checks = if std::ptr::eq(shape, Condition::SHAPE) {
        Checks::All
    } else {
        checks
    };
    let mut properties = Map::new();
    for field in shape.fields {
        let mut schema = of_field(shape, field, checks, place);
        if let Some(text) = shape.description(field.name) {
            schema["description"] = json!(text);
        }
        properties.insert(field.name.to_owned(), schema);
    }
    let mut schema = Map::new();
    if let Some(text) = shape.description("") {
        schema.insert("description".to_owned(), json!(text));
    }
    schema.insert("type".to_owned(), json!("object"));
    if !properties.is_empty() {
        schema.insert("properties".to_owned(), Value::Object(properties));
    }
    if checks == Checks::All {
        let required: Vec<_> = shape
            .fields
            .iter()
            .filter(|field| field.flags.has(Flags::REQUIRED))
            .map(|field| field.name)
            .collect();
        if !required.is_empty() {
            schema.insert("required".to_owned(), json!(required));
        }
        let rules = rules::of_struct(shape, place);
        if !rules.is_empty() {
            schema.insert("x-kubernetes-validations".to_owned(), Value::Array(rules));
        }
    }
    Value::Object(schema)
}

fn of_field(owner: &StructShape, field: &Field, checks: Checks, place: Place) -> Value {
    let mut schema = value(field.ty, field, checks, place);
    if checks == Checks::All
        && let Value::Object(schema) = &mut schema
    {
        constrain(schema, field.ty, field.rules);
        if let Some(rule) = rules::no_slash(field.rules) {
            schema.insert("x-kubernetes-validations".to_owned(), json!([rule]));
        }
        // Formats are checked in conditions only: ARM takes more than RFC 3339 in its dates, and so does ASO.
        if std::ptr::eq(owner, Condition::SHAPE)
            && let Some(format) = field.rules.format
        {
            schema.insert("format".to_owned(), json!(format));
        }
        if std::ptr::eq(owner, Condition::SHAPE)
            && matches!(field.ty, Type::Integer(IntegerFormat::Int64))
        {
            schema.insert("format".to_owned(), json!("int64"));
        }
    }
    schema
}

fn value(ty: Type, field: &Field, checks: Checks, place: Place) -> Value {
    let item = |ty: Type, place: Place| {
        let mut schema = value(ty, field, checks, place);
        let innermost = !matches!(ty, Type::List(_) | Type::Map(_));
        if let (Checks::All, true, Value::Object(schema)) = (checks, innermost, &mut schema) {
            constrain(schema, ty, field.item_rules);
        }
        schema
    };
    match ty {
        Type::Bool => json!({"type": "boolean"}),
        Type::Integer(_) => json!({"type": "integer"}),
        Type::Number => json!({"type": "number"}),
        Type::String => json!({"type": "string"}),
        Type::Json => json!({"x-kubernetes-preserve-unknown-fields": true}),
        Type::Enum(shape) => match shape.only() {
            Some(only) if checks == Checks::All => json!({"type": "string", "enum": only}),
            // An open list is known to `armature` and not to the API server.
            _ => json!({"type": "string"}),
        },
        Type::Struct(shape) => object(shape, checks, place),
        Type::List(shape) => json!({
            "type": "array",
            "items": item(shape.item, place.repeated(field.rules.max_items)),
        }),
        Type::Map(shape) => json!({
            "type": "object",
            "additionalProperties": item(shape.value, place.repeated(None)),
        }),
    }
}

/// Adds the constraints that apply to values of the type.
fn constrain(schema: &mut Map<String, Value>, ty: Type, rules: &Rules) {
    let mut set = |name: &str, value: Option<Value>| {
        if let Some(value) = value {
            schema.insert(name.to_owned(), value);
        }
    };
    match ty {
        Type::String => {
            let pattern = rules.pattern.filter(|pattern| is_re2(pattern));
            set("pattern", pattern.map(Value::from));
            set("minLength", rules.min_length.map(Value::from));
            set("maxLength", rules.max_length.map(Value::from));
        }
        Type::Integer(_) | Type::Number => {
            set("minimum", rules.minimum.and_then(number));
            set("maximum", rules.maximum.and_then(number));
            set("multipleOf", rules.multiple_of.and_then(number));
        }
        Type::List(_) => {
            set("minItems", rules.min_items.map(Value::from));
            set("maxItems", rules.max_items.map(Value::from));
        }
        Type::Bool | Type::Json | Type::Enum(_) | Type::Struct(_) | Type::Map(_) => {}
    }
}

/// Whether the API server can read the pattern: RE2 has no look-around, and some specs use it.
fn is_re2(pattern: &str) -> bool {
    !["(?=", "(?!", "(?<=", "(?<!"]
        .iter()
        .any(|look| pattern.contains(look))
}

/// A JSON number, without a fraction when it has none.
fn number(value: f64) -> Option<Value> {
    armature_shapes::shape::integer(&Value::from(value))
        .map(Value::from)
        .or_else(|| Number::from_f64(value).map(Value::Number))
}
