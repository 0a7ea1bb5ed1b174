//! The body of a PUT: a spec in Kubernetes form becomes ARM's JSON (ASO behaviour §1.5).
//!
//! Values move to their ARM paths, references become ids, Secrets and ConfigMaps become their values, the
//! variants of a discriminated object are put into the object itself. Empty lists and maps are left out unless
//! the field is marked [`Flags::EXPLICIT`] or [`Flags::EXPLICIT_EMPTY`].

use std::collections::BTreeMap;
use std::fmt;

use armature_shapes::kind::VersionInfo;
use armature_shapes::shape::arm_tree::ArmTree;
use armature_shapes::shape::path::Path;
use armature_shapes::shape::{ArmPlace, Field, Flags, OneOf, Semantic, StructShape, Type};
use serde_json::{Map, Value};

use super::collect::{KeyReference, ReferenceTarget};

/// Values for everything that [`super::collect::inputs`] found.
#[derive(Clone, Default, PartialEq)]
pub struct Resolved {
    /// ARM ids of references. A literal ARM id needs no entry; a well-known name without one is sent as it is.
    pub references: BTreeMap<ReferenceTarget, String>,
    /// Values of Secret keys.
    pub secrets: BTreeMap<KeyReference, String>,
    /// All values of Secrets, by the Secret's name.
    pub secret_maps: BTreeMap<String, BTreeMap<String, String>>,
    /// Values of ConfigMap keys.
    pub config_maps: BTreeMap<KeyReference, String>,
}

impl Resolved {
    /// The values of Secrets that are long enough to be recognised, longest first.
    pub fn secret_values(&self) -> Vec<&str> {
        const SHORTEST: usize = 4;
        let of_maps = self.secret_maps.values().flat_map(BTreeMap::values);
        let values = self.secrets.values().chain(of_maps).map(String::as_str);
        let mut values: Vec<&str> = values.filter(|value| value.len() >= SHORTEST).collect();
        // One may be a part of another.
        values.sort_by_key(|value| std::cmp::Reverse(value.len()));
        values
    }
}

impl fmt::Debug for Resolved {
    /// Names only: values of Secrets never reach a log.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Resolved")
            .field("references", &self.references)
            .field("secrets", &self.secrets.keys())
            .field("secret_maps", &self.secret_maps.keys())
            .field("config_maps", &self.config_maps)
            .finish()
    }
}

/// A spec that cannot be sent.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PayloadError {
    /// A value of the wrong JSON type.
    #[error("{path}: expected {expected}")]
    Type {
        /// Where.
        path: String,
        /// What belongs there.
        expected: &'static str,
    },
    /// A reference in no complete form.
    #[error("{path}: set either armId, or group, kind and name")]
    IncompleteReference {
        /// Where.
        path: String,
    },
    /// A reference without a value in [`Resolved`].
    #[error("{path}: {target} is not resolved")]
    Unresolved {
        /// Where.
        path: String,
        /// What is referred to; never a value.
        target: String,
    },
    /// A discriminated object with no variant, or with several.
    #[error("{path}: set exactly one of {variants}, found {found}")]
    OneOf {
        /// Where.
        path: String,
        /// Names of the variants.
        variants: String,
        /// How many are set.
        found: usize,
    },
}

/// Builds the body of the PUT for a spec of this version, in Kubernetes form.
///
/// `name` is the last segment of the ARM id, which ARM wants in the body as well.
///
/// # Errors
/// [`PayloadError`] when the spec does not fit the shape or [`Resolved`] lacks something that it refers to.
pub fn arm_body(
    version: &VersionInfo,
    name: &str,
    spec: &Value,
    resolved: &Resolved,
) -> Result<Value, PayloadError> {
    let root = Path::Root("spec");
    let members = spec.as_object().ok_or_else(|| PayloadError::Type {
        path: root.to_string(),
        expected: "an object",
    })?;
    let mut body = Map::new();
    body.insert("name".to_owned(), Value::from(name));
    write_struct(version.spec, members, &root, resolved, &mut body)?;
    body.insert("name".to_owned(), Value::from(name));
    Ok(Value::Object(body))
}

/// Writes the members of one struct into the ARM object that stands for it.
fn write_struct(
    shape: &'static StructShape,
    members: &Map<String, Value>,
    path: &Path<'_>,
    resolved: &Resolved,
    body: &mut Map<String, Value>,
) -> Result<(), PayloadError> {
    if let Some(one_of) = &shape.one_of {
        check_one_of(one_of, members, path)?;
    }
    for field in shape.fields {
        if field.flags.has(Flags::READ_ONLY) {
            continue;
        }
        let value = members.get(field.name).filter(|value| !value.is_null());
        match (field.arm, value) {
            (ArmPlace::At(at), Some(value)) => {
                let below = path.member(field.name);
                let value = arm_value(field.ty, value, &below, resolved)?;
                if when_absent(field).is_some() || !is_empty_collection(field.ty, &value) {
                    put(body, at, value);
                }
            }
            (ArmPlace::Variant, Some(value)) => {
                write_variant(shape, field, value, path, resolved, body)?;
            }
            // Further members come after the known ones.
            (ArmPlace::Further(_) | ArmPlace::Operator, _) | (_, None) => {}
        }
    }
    for field in shape.fields {
        if let (ArmPlace::Further(at), Some(value)) = (field.arm, members.get(field.name)) {
            write_further(shape, at, field, value, path, resolved, body)?;
        }
    }
    write_absent(shape, body);
    Ok(())
}

/// Puts what an object has beside its known members into the object, which lies at a path of the body.
fn write_further(
    shape: &'static StructShape,
    at: &[&str],
    field: &Field,
    value: &Value,
    path: &Path<'_>,
    resolved: &Resolved,
    body: &mut Map<String, Value>,
) -> Result<(), PayloadError> {
    let below = path.member(field.name);
    if value.is_null() || field.flags.has(Flags::READ_ONLY) {
        return Ok(());
    }
    let Value::Object(further) = arm_value(field.ty, value, &below, resolved)? else {
        return Ok(());
    };
    let tree = ArmTree::of(shape, body);
    let known = at.iter().try_fold(&tree, |tree, name| tree.member(name));
    for name in further.keys() {
        let is_known = known.is_some_and(|known| known.member(name).is_some());
        if is_known || at.is_empty() && body.contains_key(name) {
            return Err(PayloadError::Type {
                path: below.member(name).to_string(),
                expected: "the name of a member that has no field of its own",
            });
        }
    }
    if at.is_empty() {
        body.extend(further);
    } else if !further.is_empty() {
        put(body, at, Value::Object(further));
    }
    Ok(())
}

/// Puts the members of a variant beside those of the object, and the discriminator with them.
fn write_variant(
    shape: &StructShape,
    field: &Field,
    value: &Value,
    path: &Path<'_>,
    resolved: &Resolved,
    body: &mut Map<String, Value>,
) -> Result<(), PayloadError> {
    let below = path.member(field.name);
    let (Type::Struct(variant), Value::Object(members)) = (field.ty, value) else {
        return Err(PayloadError::Type {
            path: below.to_string(),
            expected: "an object",
        });
    };
    if let Some(one_of) = &shape.one_of {
        let mut variants = one_of.variants.iter();
        if let Some(known) = variants.find(|known| known.field == field.name) {
            body.insert(one_of.discriminator.to_owned(), Value::from(known.value));
        }
    }
    write_struct(variant, members, &below, resolved, body)
}

fn check_one_of(
    one_of: &OneOf,
    members: &Map<String, Value>,
    path: &Path<'_>,
) -> Result<(), PayloadError> {
    let is_set = |name: &str| members.get(name).is_some_and(|value| !value.is_null());
    let variants = one_of.variants.iter().map(|variant| variant.field);
    let found = variants.clone().filter(|name| is_set(name)).count();
    if found == 1 {
        return Ok(());
    }
    Err(PayloadError::OneOf {
        path: path.to_string(),
        variants: variants.collect::<Vec<_>>().join(", "),
        found,
    })
}

/// What ARM gets where the field is absent: some providers read a missing collection as "leave it", and ASO's payload modes
/// `explicitCollections` and `explicitEmptyCollections` say `null` or send an empty one.
fn when_absent(field: &Field) -> Option<Value> {
    if field.flags.has(Flags::EXPLICIT) {
        return Some(Value::Null);
    }
    let is_keyed =
        |item: Type| matches!(item, Type::Struct(shape) if shape.semantic == Semantic::ArmIdKeyed);
    match field.ty {
        _ if !field.flags.has(Flags::EXPLICIT_EMPTY) => None,
        Type::List(list) if !is_keyed(list.item) => Some(Value::Array(Vec::new())),
        _ => Some(Value::Object(Map::new())),
    }
}

/// Says of absent fields that they are absent, where the provider has to be told.
///
/// Only in objects that are sent anyway; an envelope is not opened for the sake of it.
fn write_absent(shape: &StructShape, body: &mut Map<String, Value>) {
    for field in shape.fields {
        let ArmPlace::At([above @ .., last]) = field.arm else {
            continue;
        };
        let Some(absent) = when_absent(field).filter(|_| !field.flags.has(Flags::READ_ONLY)) else {
            continue;
        };
        let mut object = Some(&mut *body);
        for name in above {
            object = object
                .and_then(|object| object.get_mut(*name))
                .and_then(Value::as_object_mut);
        }
        if let Some(object) = object {
            object.entry(*last).or_insert(absent);
        }
    }
}

/// Puts a value at a path of member names; objects that are already there are merged.
fn put(body: &mut Map<String, Value>, at: &[&str], value: Value) {
    match at {
        [] => {}
        [last] => match (body.get_mut(*last), value) {
            (Some(Value::Object(there)), Value::Object(more)) => there.extend(more),
            (_, value) => {
                body.insert((*last).to_owned(), value);
            }
        },
        [first, rest @ ..] => {
            let below = body
                .entry((*first).to_owned())
                .or_insert_with(|| Value::Object(Map::new()));
            if let Value::Object(below) = below {
                put(below, rest, value);
            }
        }
    }
}

fn is_empty_collection(ty: Type, value: &Value) -> bool {
    match value {
        Value::Array(items) => items.is_empty(),
        Value::Object(members) => !matches!(ty, Type::Struct(_) | Type::Json) && members.is_empty(),
        _ => false,
    }
}

fn arm_value(
    ty: Type,
    value: &Value,
    path: &Path<'_>,
    resolved: &Resolved,
) -> Result<Value, PayloadError> {
    let expected = |expected| PayloadError::Type {
        path: path.to_string(),
        expected,
    };
    match ty {
        Type::Bool if value.is_boolean() => Ok(value.clone()),
        Type::Bool => Err(expected("a boolean")),
        Type::Integer(_) => {
            let number =
                armature_shapes::shape::integer(value).ok_or_else(|| expected("an integer"))?;
            Ok(Value::from(number))
        }
        Type::Number if value.is_number() => Ok(value.clone()),
        Type::Number => Err(expected("a number")),
        Type::String if value.is_string() => Ok(value.clone()),
        Type::String => Err(expected("a string")),
        Type::Json => Ok(value.clone()),
        Type::Enum(shape) => {
            let text = value.as_str().ok_or_else(|| expected("a string"))?;
            Ok(Value::from(shape.canonical(text)))
        }
        Type::Struct(shape) => {
            let members = value.as_object().ok_or_else(|| expected("an object"))?;
            arm_struct(shape, members, value, path, resolved)
        }
        Type::List(shape) => {
            let items = value.as_array().ok_or_else(|| expected("a list"))?;
            arm_list(shape.item, items, path, resolved)
        }
        Type::Map(shape) => {
            let members = value.as_object().ok_or_else(|| expected("an object"))?;
            let mut out = Map::new();
            for (key, member) in members {
                let member = arm_value(shape.value, member, &path.member(key), resolved)?;
                out.insert(key.clone(), member);
            }
            Ok(Value::Object(out))
        }
    }
}

fn arm_list(
    item: Type,
    items: &[Value],
    path: &Path<'_>,
    resolved: &Resolved,
) -> Result<Value, PayloadError> {
    if let Type::Struct(shape) = item
        && shape.semantic == Semantic::ArmIdKeyed
    {
        return arm_id_keyed(items, path, resolved);
    }
    let mut out = Vec::with_capacity(items.len());
    for (index, value) in items.iter().enumerate() {
        out.push(arm_value(item, value, &path.item(index), resolved)?);
    }
    Ok(Value::Array(out))
}

/// `[{reference}]` becomes `{"<ARM id>": {}}`.
fn arm_id_keyed(
    items: &[Value],
    path: &Path<'_>,
    resolved: &Resolved,
) -> Result<Value, PayloadError> {
    let mut out = Map::new();
    for (index, item) in items.iter().enumerate() {
        let (item_path, reference) = (path.item(index), item.get("reference"));
        let id = arm_id(
            reference.unwrap_or(&Value::Null),
            &item_path.member("reference"),
            resolved,
        )?;
        out.insert(id, Value::Object(Map::new()));
    }
    Ok(Value::Object(out))
}

fn arm_struct(
    shape: &'static StructShape,
    members: &Map<String, Value>,
    value: &Value,
    path: &Path<'_>,
    resolved: &Resolved,
) -> Result<Value, PayloadError> {
    let unresolved = |target: String| PayloadError::Unresolved {
        path: path.to_string(),
        target,
    };
    match shape.semantic {
        Semantic::Plain | Semantic::ArmIdKeyed => {
            let mut body = Map::new();
            write_struct(shape, members, path, resolved, &mut body)?;
            Ok(Value::Object(body))
        }
        Semantic::Reference | Semantic::WellKnownReference => {
            arm_id(value, path, resolved).map(Value::from)
        }
        Semantic::SecretReference => {
            let key = key_reference(value, path)?;
            let secret = resolved.secrets.get(&key);
            let secret = secret.ok_or_else(|| unresolved(format!("secret {key}")))?;
            Ok(Value::from(secret.as_str()))
        }
        Semantic::ConfigMapReference => {
            let key = key_reference(value, path)?;
            let text = resolved.config_maps.get(&key);
            let text = text.ok_or_else(|| unresolved(format!("config map {key}")))?;
            Ok(Value::from(text.as_str()))
        }
        Semantic::SecretMapReference => {
            let name = members
                .get("name")
                .and_then(Value::as_str)
                .unwrap_or_default();
            let map = resolved.secret_maps.get(name);
            let map = map.ok_or_else(|| unresolved(format!("secret {name}")))?;
            let entries = map.iter();
            Ok(entries
                .map(|(key, value)| (key.clone(), Value::from(value.as_str())))
                .collect::<Map<_, _>>()
                .into())
        }
    }
}

fn key_reference(value: &Value, path: &Path<'_>) -> Result<KeyReference, PayloadError> {
    KeyReference::parse(value).ok_or_else(|| PayloadError::Type {
        path: path.to_string(),
        expected: "a name and a key",
    })
}

fn arm_id(value: &Value, path: &Path<'_>, resolved: &Resolved) -> Result<String, PayloadError> {
    let target = ReferenceTarget::parse(value);
    let target = target.ok_or_else(|| PayloadError::IncompleteReference {
        path: path.to_string(),
    })?;
    if let Some(id) = resolved.references.get(&target) {
        return Ok(id.clone());
    }
    match target {
        ReferenceTarget::ArmId(id) => Ok(id),
        ReferenceTarget::WellKnown(name) => Ok(name),
        ReferenceTarget::Named { .. } => Err(PayloadError::Unresolved {
            path: path.to_string(),
            target: target.to_string(),
        }),
    }
}

#[cfg(test)]
mod tests;
