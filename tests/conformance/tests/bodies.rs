//! From specs to bodies of PUTs, over every version: a body or an error with a place, a body that reads back, and
//! no drift between a body and itself in any order that means the same.
#![allow(
    clippy::panic,
    clippy::unwrap_used,
    reason = "helpers of tests may panic as tests do"
)]

use armature_conformance::properties::{for_all, same, versions};
use armature_runtime::engine::collect::{ReferenceTarget, inputs};
use armature_runtime::engine::compare::{Comparison, Desired, DigestKey, Edit, Record, edit};
use armature_runtime::engine::payload::{PayloadError, Resolved, arm_body};
use armature_runtime::engine::status::status_from_arm;
use armature_runtime::kind::VersionInfo;
use armature_runtime::shape::{ArmPlace, Field, Flags, Semantic, StructShape, Type};
use armature_runtime::testing::arbitrary::Arbitrary;
use jiff::Timestamp;
use serde_json::{Map, Value, json};

/// Values per version.
const CASES: u32 = 24;

/// The body, with a value for everything that the spec refers to.
fn body(version: &VersionInfo, spec: &Value) -> Result<Value, PayloadError> {
    let used = inputs(version.spec, spec);
    let mut resolved = Resolved::default();
    for used in used.references {
        if let ReferenceTarget::Named { name, .. } = &used.target {
            let id = format!("/resolved/{name}");
            resolved.references.insert(used.target, id);
        }
    }
    for used in used.secrets {
        resolved.secrets.insert(used.target, "hunter2".to_owned());
    }
    for used in used.secret_maps {
        let values = [("key".to_owned(), "hunter2".to_owned())].into();
        resolved.secret_maps.insert(used.target, values);
    }
    for used in used.config_maps {
        resolved.config_maps.insert(used.target, "text".to_owned());
    }
    arm_body(version, "name", spec, &resolved)
}

#[test]
fn a_spec_becomes_a_body_or_an_error_that_names_the_place() {
    for (kind, version) in versions() {
        for_all(
            &format!("{} {}", kind.kind, version.name),
            CASES,
            |seed, size| {
                let valid = Arbitrary::valid(seed, size).object(version.spec);
                body(version, &valid).map_err(|error| format!("{error}: {valid}"))?;
                let loose = Arbitrary::loose(seed, size).object(version.spec);
                match body(version, &loose) {
                    Err(error) if !error.to_string().starts_with("spec") => {
                        Err(format!("no place in: {error}"))
                    }
                    _ => Ok(()),
                }
            },
        );
    }
}

/// The spec without secrets, which no answer shows.
fn without_secrets(shape: &StructShape, spec: &Value) -> Value {
    let members = spec.as_object().into_iter().flatten();
    let open = members.filter_map(|(name, value)| {
        let field = shape.field(name)?;
        let hidden = field.flags.has(Flags::SECRET) || is_secret(field.ty);
        (!hidden).then(|| (name.clone(), each(field.ty, value)))
    });
    Value::Object(open.collect())
}

fn is_secret(ty: Type) -> bool {
    match ty {
        Type::Struct(shape) => matches!(
            shape.semantic,
            Semantic::SecretReference | Semantic::SecretMapReference
        ),
        Type::List(list) => is_secret(list.item),
        Type::Map(map) => is_secret(map.value),
        _ => false,
    }
}

fn each(ty: Type, value: &Value) -> Value {
    match (ty, value) {
        (Type::Struct(shape), Value::Object(_)) => without_secrets(shape, value),
        (Type::List(list), Value::Array(items)) => {
            items.iter().map(|item| each(list.item, item)).collect()
        }
        (Type::Map(map), Value::Object(members)) => {
            let members = members.iter();
            let members = members.map(|(key, value)| (key.clone(), each(map.value, value)));
            Value::Object(members.collect::<Map<_, _>>())
        }
        _ => value.clone(),
    }
}

#[test]
fn what_is_read_back_as_a_spec_makes_the_same_body() {
    for (kind, version) in versions() {
        // An import reads a spec as any other struct.
        let import = VersionInfo {
            status: version.spec,
            ..*version
        };
        for_all(
            &format!("{} {}", kind.kind, version.name),
            CASES,
            |seed, size| {
                let spec = Arbitrary::valid(seed, size).object(version.spec);
                let spec = without_secrets(version.spec, &spec);
                let sent = body(version, &spec).map_err(|error| error.to_string())?;
                let read = status_from_arm(&import, &sent);
                let again = body(version, &read).map_err(|error| error.to_string())?;
                same(&sent, &again)
            },
        );
    }
}

/// The spec with every list backwards that is a set to Azure: all but those in free JSON, and those of a variant that calls
/// itself by a name that no variant has, of which no more is known than of free JSON.
fn backwards(shape: &StructShape, spec: &Value) -> Value {
    let members = spec.as_object().into_iter().flatten();
    let turned = members.map(|(name, value)| {
        let turned = |field: &Field| match field.arm {
            ArmPlace::Variant if !has_known_name(shape, field, value) => value.clone(),
            _ => turned(field.ty, value),
        };
        let value = shape.field(name).map(turned);
        (name.clone(), value.unwrap_or(Value::Null))
    });
    Value::Object(turned.collect())
}

/// Whether the variant's discriminator, where the spec has it, names that variant.
fn has_known_name(shape: &StructShape, field: &Field, variant: &Value) -> bool {
    let (Some(one_of), Type::Struct(fields)) = (&shape.one_of, field.ty) else {
        return true;
    };
    let is_discriminator =
        |field: &&Field| matches!(field.arm, ArmPlace::At([name]) if *name == one_of.discriminator);
    let discriminator = fields.fields.iter().find(is_discriminator);
    let Some(name) = discriminator.and_then(|field| variant[field.name].as_str()) else {
        return true;
    };
    let mut variants = one_of.variants.iter();
    variants.any(|variant| variant.field == field.name && variant.value.eq_ignore_ascii_case(name))
}

fn turned(ty: Type, value: &Value) -> Value {
    match (ty, value) {
        (Type::Struct(shape), Value::Object(_)) => backwards(shape, value),
        (Type::List(list), Value::Array(_)) if matches!(list.item, Type::Json) => value.clone(),
        (Type::List(list), Value::Array(items)) => {
            let items = items.iter().rev();
            items.map(|item| turned(list.item, item)).collect()
        }
        (Type::Map(map), Value::Object(members)) => {
            let members = members.iter().rev();
            let members = members.map(|(key, value)| (key.clone(), turned(map.value, value)));
            Value::Object(members.collect::<Map<_, _>>())
        }
        _ => value.clone(),
    }
}

#[test]
fn a_body_does_not_differ_from_itself_in_any_order() {
    let key = DigestKey::random();
    let keyed = key.of("uid");
    for (kind, version) in versions() {
        for_all(
            &format!("{} {}", kind.kind, version.name),
            CASES,
            |seed, size| {
                for mut values in [Arbitrary::valid(seed, size), Arbitrary::typed(seed, size)] {
                    let spec = values.object(version.spec);
                    // A spec that is refused is never compared.
                    let (Ok(desired), Ok(mut observed)) = (
                        body(version, &spec),
                        body(version, &backwards(version.spec, &spec)),
                    ) else {
                        continue;
                    };
                    observed["addedByAzure"] = json!("added");
                    for observed in [&desired, &observed] {
                        let comparison = Comparison {
                            equal_values: kind.equal_values,
                            ..Comparison::new(version.spec, &desired, observed)
                        };
                        let now = Desired::new(keyed, 1, &desired, &[], "v1");
                        let at = Timestamp::UNIX_EPOCH;
                        let settled = Record::settled(&now, &comparison, keyed, None, None, at);
                        let text = settled.record.encode();
                        let record = Record::parse(&text, keyed)
                            .ok_or_else(|| format!("{text} cannot be read"))?;
                        let mut found = comparison.differences();
                        found.extend(record.drift(&comparison, keyed, at));
                        found.extend(record.taken_out(&comparison, keyed));
                        if !found.is_empty()
                            || edit(Some(&record), None, Some(1), &now) != Edit::None
                        {
                            let found: Vec<_> = found.iter().map(ToString::to_string).collect();
                            return Err(format!("{}\n{desired}\n{observed}", found.join("; ")));
                        }
                    }
                }
                Ok(())
            },
        );
    }
}
