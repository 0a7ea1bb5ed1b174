//! Every CEL rule of every kind's newest version, at one place where it stands: a sound value is accepted there, and one
//! that breaks the rule is refused with its words.

use std::collections::BTreeSet;

use armature_e2e::World;
use armature_runtime::engine::crd::{CrdOptions, custom_resource_definition};
use armature_runtime::kind::{KindInfo, VersionInfo};
use armature_runtime::shape::{Field, StructShape, Type};
use armature_runtime::testing::arbitrary::Arbitrary;
use serde_json::{Map, Value, json};

use crate::rules::{dry_run, least, newest};

const ARM_ID: &str = "/subscriptions/s/resourceGroups/r";

/// One member on the way from a spec to a value.
#[derive(Clone, Copy)]
struct Step {
    shape: &'static StructShape,
    field: &'static Field,
}

/// A rule and where it stands.
struct RulePlace {
    message: String,
    way: Vec<Step>,
    shape: &'static StructShape,
}

/// Every rule of a version's spec, once for each type that has it.
fn places(kind: &'static KindInfo, version: &'static VersionInfo) -> Vec<RulePlace> {
    let crd = custom_resource_definition(kind, &CrdOptions::default());
    let mut versions = crd["spec"]["versions"].as_array().unwrap().iter();
    let schema = versions.find(|it| it["name"] == version.name).unwrap();
    let spec = &schema["schema"]["openAPIV3Schema"]["properties"]["spec"];
    let mut search = Search::default();
    search.walk(version.spec, spec, &mut Vec::new());
    search.found
}

#[derive(Default)]
struct Search {
    found: Vec<RulePlace>,
    seen: BTreeSet<(usize, String)>,
}

impl Search {
    fn walk(&mut self, shape: &'static StructShape, schema: &Value, way: &mut Vec<Step>) {
        let rules = schema["x-kubernetes-validations"].as_array();
        for rule in rules.into_iter().flatten() {
            let message = rule["message"].as_str().unwrap().to_owned();
            let key = (std::ptr::from_ref(shape).addr(), message.clone());
            if self.seen.insert(key) {
                let way = way.clone();
                self.found.push(RulePlace {
                    message,
                    way,
                    shape,
                });
            }
        }
        for field in shape.fields {
            let of_field = &schema["properties"][field.name];
            let (below, of_below) = match field.ty {
                Type::Struct(below) => (below, of_field),
                Type::List(list) => match list.item {
                    Type::Struct(below) => (below, &of_field["items"]),
                    _ => continue,
                },
                Type::Map(map) => match map.value {
                    Type::Struct(below) => (below, &of_field["additionalProperties"]),
                    _ => continue,
                },
                _ => continue,
            };
            if of_below.is_object() {
                way.push(Step { shape, field });
                self.walk(below, of_below, way);
                way.pop();
            }
        }
    }
}

/// A spec that has the value at the end of the way.
fn spec_with(way: &[Step], value: Value) -> Value {
    way.iter().rev().fold(value, |value, step| {
        let mut whole = Arbitrary::valid(1, 0).object(step.shape);
        let members = whole.as_object_mut().unwrap();
        let name = step.field.name;
        if let Some(one_of) = step.shape.one_of
            && one_of.variants.iter().any(|variant| variant.field == name)
        {
            members.retain(|other, _| one_of.variants.iter().all(|it| it.field != other));
        }
        let value = match step.field.ty {
            Type::List(_) => {
                let least = step.field.rules.min_items.unwrap_or(1).max(1);
                json!(vec![value; usize::try_from(least).unwrap()])
            }
            Type::Map(_) => json!({"a": value}),
            _ => value,
        };
        members.insert(name.to_owned(), value);
        whole
    })
}

/// A value that keeps to the rule and one that breaks it.
fn sound_and_broken(place: &RulePlace) -> (Value, Value) {
    let mut sound = Arbitrary::valid(1, 0).object(place.shape);
    let words = place.message.as_str();
    if let Some((plain, other)) = words
        .strip_prefix("set at most one of ")
        .and_then(|names| names.split_once(" and "))
    {
        let value = value_of(place.shape, plain);
        let members = sound.as_object_mut().unwrap();
        members.shift_remove(other);
        members.insert(plain.to_owned(), value);
        let mut broken = members.clone();
        broken.insert(other.to_owned(), json!({"name": "some", "key": "key"}));
        return (sound, Value::Object(broken));
    }
    let broken = match words {
        "set exactly one of name and armId" => json!({"name": "some", "armId": ARM_ID}),
        "set either armId, or group, kind and name together" => {
            json!({"armId": ARM_ID, "group": "some", "kind": "some", "name": "some"})
        }
        "set exactly one of armId, wellKnownName, or group, kind and name together" => {
            sound = json!({"wellKnownName": "some"});
            json!({"armId": ARM_ID, "wellKnownName": "some"})
        }
        _ => {
            let names = words.strip_prefix("set exactly one of ").expect(words);
            let mut members: Map<String, Value> = sound.as_object().unwrap().clone();
            members.retain(|name, _| !names.split(", ").any(|one| one == name));
            Value::Object(members)
        }
    };
    (sound, broken)
}

/// A sound value of a member that need not be there.
fn value_of(shape: &'static StructShape, name: &str) -> Value {
    let mut values = (1..1000).filter_map(|seed| {
        let value = Arbitrary::valid(seed, 1000).object(shape);
        value.get(name).cloned()
    });
    values
        .next()
        .unwrap_or_else(|| panic!("no value of {name}"))
}

#[test]
fn every_rule_accepts_what_is_sound_and_refuses_what_breaks_it() {
    World::shared().run("rule-places", async |_, objects| {
        let (mut tried, mut wrong) = (0, Vec::new());
        for kind in armature_generated::KINDS {
            let version = newest(kind);
            let api = objects.api(&format!("{}/{}", kind.category, kind.kind), version.name);
            for place in places(kind, version) {
                // What is about edits is tried by edits.
                if place.message.ends_with("once the resource exists") {
                    continue;
                }
                tried += 1;
                let (sound, broken) = sound_and_broken(&place);
                let at: Vec<_> = place.way.iter().map(|step| step.field.name).collect();
                let at = format!(
                    "{}/{} {}: {}",
                    kind.category,
                    kind.kind,
                    at.join("."),
                    place.message
                );
                let mut object = least(kind, version, "sound");
                object.data["spec"] = spec_with(&place.way, sound);
                if let Err(error) = api.create(&dry_run(), &object).await {
                    wrong.push(format!("{at}: refused what is sound: {error}"));
                }
                object.data["spec"] = spec_with(&place.way, broken);
                match api.create(&dry_run(), &object).await {
                    Ok(_) => wrong.push(format!("{at}: accepted what breaks it")),
                    Err(error) if error.to_string().contains(&place.message) => {}
                    Err(error) => wrong.push(format!("{at}: refused for another reason: {error}")),
                }
            }
        }
        println!("{tried} rules");
        assert!(wrong.is_empty(), "{} of {tried}: {wrong:#?}", wrong.len());
        assert!(tried > 300, "only {tried}");
    });
}
