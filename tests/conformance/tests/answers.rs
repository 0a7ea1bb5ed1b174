//! From answers of ARM to statuses, over every version: nothing that Azure sends makes a status that the CRD
//! refuses, and everything that the spec tells of is in it.
#![allow(
    clippy::panic,
    clippy::unwrap_used,
    reason = "helpers of tests may panic as tests do"
)]

use armature_conformance::properties::{for_all, same, types, versions};
use armature_runtime::engine::crd::{CrdOptions, ServedVersions, custom_resource_definition};
use armature_runtime::engine::status::status_from_arm;
use armature_runtime::kind::{KindInfo, VersionInfo};
use armature_runtime::shape::{ArmPlace, Field, Flags, Semantic, StructShape, Type, UnknownFields};
use armature_runtime::testing::arbitrary::Arbitrary;
use serde_json::{Map, Value, json};

/// Values per version.
const CASES: u32 = 48;

/// The schema of a version's status as the API server has it.
fn status_schema(kind: &KindInfo, version: &VersionInfo) -> Value {
    let options = CrdOptions {
        versions: ServedVersions::All {
            also: [version.name.to_owned()].into(),
        },
        ..CrdOptions::default()
    };
    let crd = custom_resource_definition(kind, &options);
    let versions = crd["spec"]["versions"].as_array().unwrap();
    let found = versions.iter().find(|known| known["name"] == version.name);
    found.unwrap()["schema"]["openAPIV3Schema"]["properties"]["status"].clone()
}

/// What a structural schema does not take, as the first place of it.
fn refused(schema: &Value, value: &Value, place: &str) -> Option<String> {
    if schema["x-kubernetes-preserve-unknown-fields"] == true {
        return None;
    }
    if let Some(known) = schema["enum"].as_array()
        && !known.contains(value)
    {
        return Some(format!("{place}: not in the enum"));
    }
    let is_right = match schema["type"].as_str().unwrap() {
        "object" => value.is_object(),
        "array" => value.is_array(),
        "string" => value.is_string(),
        "boolean" => value.is_boolean(),
        "integer" => value.is_i64(),
        "number" => value.is_number(),
        other => panic!("{place}: a schema of type {other}"),
    };
    if !is_right {
        return Some(format!(
            "{place}: {} expected, found {value}",
            schema["type"]
        ));
    }
    if let Some(missing) = schema["required"]
        .as_array()
        .into_iter()
        .flatten()
        .find(|name| value.get(name.as_str().unwrap()).is_none())
    {
        return Some(format!("{place}: {missing} missing"));
    }
    match value {
        Value::Object(members) => members.iter().find_map(|(name, value)| {
            let place = format!("{place}.{name}");
            let schemas = [&schema["properties"][name], &schema["additionalProperties"]];
            match schemas.into_iter().find(|schema| schema.is_object()) {
                Some(schema) => refused(schema, value, &place),
                None => Some(format!("{place}: unknown")),
            }
        }),
        Value::Array(items) => items.iter().enumerate().find_map(|(index, item)| {
            refused(&schema["items"], item, &format!("{place}[{index}]"))
        }),
        _ => None,
    }
}

#[test]
fn the_crd_and_the_rust_type_take_the_status_of_any_answer() {
    let types = types();
    for (kind, version) in versions() {
        let schema = status_schema(kind, version);
        for_all(
            &format!("{} {}", kind.kind, version.name),
            CASES,
            |seed, size| {
                let answer = Arbitrary::typed(seed, size).answer(version.status);
                let status = status_from_arm(version, &answer);
                if let Some(problem) = refused(&schema, &status, "status") {
                    return Err(format!("{problem}\n{answer}"));
                }
                let decoded = types.recode(version.status, &status, UnknownFields::Deny);
                decoded.map(|_| ()).map_err(|error| error.to_string())
            },
        );
    }
}

#[test]
fn an_answer_that_is_no_object_has_an_empty_status() {
    for (_, version) in versions() {
        for answer in [
            json!(null),
            json!([]),
            json!("text"),
            json!({"properties": 1}),
        ] {
            assert_eq!(status_from_arm(version, &answer), json!({}), "{answer}");
        }
    }
}

/// A value in ARM's form and the same in Kubernetes' words.
type Pair = (Value, Value);

/// Every field of a struct with a value that is easily lost; of variants the one at this place.
fn filled(shape: &'static StructShape, variant: usize) -> (Map<String, Value>, Map<String, Value>) {
    let (mut arm, mut status) = (Map::new(), Map::new());
    let chosen = shape.one_of.as_ref().map(|one_of| {
        let chosen = &one_of.variants[variant % one_of.variants.len()];
        arm.insert(
            one_of.discriminator.to_owned(),
            json!(chosen.value.to_uppercase()),
        );
        chosen.field
    });
    for field in shape.fields {
        if let ArmPlace::Further(at) = field.arm {
            let Type::Map(map) = field.ty else {
                panic!("further members are a map")
            };
            let (sent, read) = value(map.value, variant);
            put(&mut arm, &[at, &["un.heard/of"]].concat(), sent);
            status.insert(field.name.to_owned(), json!({"un.heard/of": read}));
            continue;
        }
        match (field.arm, field.ty) {
            (ArmPlace::At(at), ty) if !is_hidden(field) => {
                let (sent, read) = value(ty, variant);
                put(&mut arm, at, sent);
                status.insert(field.name.to_owned(), read);
            }
            (ArmPlace::Variant, Type::Struct(inner)) if chosen == Some(field.name) => {
                let (sent, read) = filled(inner, variant);
                for (name, value) in sent {
                    // The inner object may have a field for the discriminator.
                    arm.entry(name).or_insert(value);
                }
                let own = shape.one_of.as_ref().map(|one_of| one_of.discriminator);
                let mut read = read;
                for field in inner.fields {
                    if let ArmPlace::At([name]) = field.arm
                        && Some(*name) == own
                    {
                        let sent = arm[*name].as_str().unwrap();
                        let text = match field.ty {
                            Type::Enum(known) => known.canonical(sent),
                            _ => sent,
                        };
                        read.insert(field.name.to_owned(), json!(text));
                    }
                }
                status.insert(field.name.to_owned(), Value::Object(read));
            }
            _ => {}
        }
    }
    (arm, status)
}

fn is_hidden(field: &Field) -> bool {
    let secret = |ty| {
        matches!(ty, Type::Struct(shape) if matches!(shape.semantic,
            Semantic::SecretReference | Semantic::SecretMapReference | Semantic::ConfigMapReference))
    };
    field.flags.has(Flags::SECRET) || secret(field.ty)
}

fn value(ty: Type, variant: usize) -> Pair {
    let same = |value: Value| (value.clone(), value);
    match ty {
        Type::Bool => same(json!(false)),
        Type::Integer(_) => same(json!(i64::MIN + 1)),
        Type::Number => same(json!(-0.25)),
        Type::String => same(json!("2016-12-31T23:59:60.1234567+05:30")),
        Type::Json => same(json!({"null": null, "deep": [[1.0, {}, u64::MAX]]})),
        Type::Enum(_) => same(json!("Unheard-of")),
        Type::Struct(shape) => match shape.semantic {
            Semantic::Reference | Semantic::WellKnownReference => {
                (json!("/Some/Id"), json!({"armId": "/Some/Id"}))
            }
            _ => {
                let (arm, status) = filled(shape, variant);
                (Value::Object(arm), Value::Object(status))
            }
        },
        Type::List(list) => {
            if matches!(list.item, Type::Struct(item) if item.semantic == Semantic::ArmIdKeyed) {
                let read = json!([{"reference": {"armId": "/b"}}, {"reference": {"armId": "/A"}}]);
                return (json!({"/b": {}, "/A": null}), read);
            }
            let (one, other) = (value(list.item, variant), value(list.item, variant + 1));
            (json!([one.0, null, other.0]), json!([one.1, other.1]))
        }
        Type::Map(map) => {
            let (arm, read) = value(map.value, variant);
            let mut read = json!({"": read, "a/b~1.c": read});
            if matches!(map.value, Type::Json) {
                // Null is a value of free JSON, and no absent one.
                read["none"] = Value::Null;
            }
            (json!({"": arm, "a/b~1.c": arm, "none": null}), read)
        }
    }
}

fn put(members: &mut Map<String, Value>, path: &[&str], value: Value) {
    match path {
        [] => {}
        [last] => {
            members.insert((*last).to_owned(), value);
        }
        [first, rest @ ..] => {
            let below = members.entry(*first).or_insert_with(|| json!({}));
            put(below.as_object_mut().unwrap(), rest, value);
        }
    }
}

#[test]
fn every_field_is_read_from_its_place_whatever_it_holds() {
    for (kind, version) in versions() {
        for variant in 0..8 {
            let (arm, status) = filled(version.status, variant);
            let found = status_from_arm(version, &Value::Object(arm));
            if let Err(error) = same(&Value::Object(status), &found) {
                panic!("{} {}, variant {variant}: {error}", kind.kind, version.name);
            }
        }
    }
}
