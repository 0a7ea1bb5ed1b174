//! What the operator can write to Secrets and ConfigMaps is there, whatever the provider: values that Azure makes of a
//! resource, and keys that it answers to an action. Behaviours of providers know better, and are asked before.

use armature_runtime::kind::{AnswerStep, KindInfo, SecretSource};
use armature_runtime::shape::{ArmPlace, StructShape, Type};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

use super::{ActionOutcome, Behaviour, Scene};
use crate::error::ArmError;
use crate::id::ResourceId;
use crate::json;
use crate::store::{Resource, stable_uuid};

/// Every type of these kinds that exports something.
#[derive(Debug)]
pub struct Exported(pub &'static [&'static KindInfo]);

impl Exported {
    fn of<'a>(&self, arm_type: &'a str) -> impl Iterator<Item = &'static KindInfo> + use<'a> {
        let kinds = self.0.iter().copied();
        kinds.filter(move |kind| kind.remote_type().eq_ignore_ascii_case(arm_type))
    }
}

impl Behaviour for Exported {
    fn applies_to(&self, arm_type: &str) -> bool {
        let mut kinds = self.of(arm_type);
        kinds.any(|kind| !kind.secrets.is_empty() || !kind.config_maps.is_empty())
    }

    fn stored(&self, scene: &Scene<'_>, _previous: Option<&Value>, body: &mut Value) {
        for kind in self.of(&scene.id.arm_type()) {
            let config_maps = kind.config_maps.iter().map(|row| row.status_path);
            let secrets = kind.secrets.iter().filter_map(|row| match row.source {
                SecretSource::Status(path) => Some(path),
                _ => None,
            });
            for path in config_maps.chain(secrets) {
                if let Some(path) = arm_path(scene.version.status, path) {
                    fill(body, &path, scene.id);
                }
            }
        }
    }

    fn action(
        &self,
        scene: &Scene<'_>,
        resource: &Resource,
        action: &str,
        _body: &Value,
    ) -> Option<Result<ActionOutcome, ArmError>> {
        let mut answer = Value::Null;
        for kind in self.of(&scene.id.arm_type()) {
            for row in kind.secrets {
                if let SecretSource::Action {
                    action: name,
                    value,
                } = row.source
                    && name.eq_ignore_ascii_case(action)
                {
                    let text = stable_uuid(&format!("{}#{}", resource.id.key(), row.key));
                    insert(&mut answer, value, json!(text));
                }
            }
        }
        let is_known = !answer.is_null();
        is_known.then_some(Ok(ActionOutcome {
            answer: Some(answer),
            resource: None,
        }))
    }
}

/// The place in ARM of a text at this path of JSON names.
fn arm_path(shape: &'static StructShape, path: &[&str]) -> Option<Vec<&'static str>> {
    let (name, rest) = path.split_first()?;
    let field = shape.field(name)?;
    let ArmPlace::At(place) = field.arm else {
        return None;
    };
    let mut found = place.to_vec();
    match (field.ty, rest) {
        (Type::String, []) => Some(found),
        (Type::Struct(inner), [_, ..]) => {
            found.extend(arm_path(inner, rest)?);
            Some(found)
        }
        _ => None,
    }
}

/// Sets a text where there is none, in an object that is there.
fn fill(body: &mut Value, path: &[&str], id: &ResourceId) {
    let Some((name, above)) = path.split_last() else {
        return;
    };
    // An identity has its ids by what was asked for.
    let is_there = matches!(above, [] | ["properties"]) || json::at(body, above).is_some();
    if !is_there || above.first() == Some(&"identity") {
        return;
    }
    let text = match name.to_ascii_lowercase().ends_with("id") {
        true => stable_uuid(&format!("{}#{name}", id.key())),
        false => format!("{name}-of-{}", id.name()),
    };
    json::set_default(body, path, json!(text));
}

/// Adds a value to an answer at the end of a way.
fn insert(answer: &mut Value, way: &[AnswerStep], value: Value) {
    match way {
        [] => *answer = value,
        [AnswerStep::Member(name), rest @ ..] => {
            let members = json::object(answer);
            let slot = members.entry((*name).to_owned()).or_insert(Value::Null);
            insert(slot, rest, value);
        }
        [AnswerStep::First, rest @ ..] => {
            if !answer.is_array() {
                *answer = json!([null]);
            }
            if let Some(first) = answer.get_mut(0) {
                insert(first, rest, value);
            }
        }
        [AnswerStep::Base64, ..] => {
            *answer = value
                .as_str()
                .map(|text| json!(STANDARD.encode(text)))
                .unwrap_or(value);
        }
        [AnswerStep::Item { member, is }, rest @ ..] => {
            if !answer.is_array() {
                *answer = json!([]);
            }
            let Some(items) = answer.as_array_mut() else {
                return;
            };
            let at = items.iter().position(|item| item[*member] == *is);
            let at = at.unwrap_or_else(|| {
                items.push(json!({ *member: is }));
                items.len() - 1
            });
            insert(&mut items[at], rest, value);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_on_ways_that_begin_alike_are_in_one_answer() {
        let key = |is| AnswerStep::Item {
            member: "keyName",
            is,
        };
        let mut answer = Value::Null;
        for (way, value) in [
            (
                vec![
                    AnswerStep::Member("keys"),
                    key("one"),
                    AnswerStep::Member("value"),
                ],
                "a",
            ),
            (
                vec![
                    AnswerStep::Member("keys"),
                    key("two"),
                    AnswerStep::Member("value"),
                ],
                "b",
            ),
            (
                vec![
                    AnswerStep::Member("keys"),
                    key("one"),
                    AnswerStep::Member("text"),
                ],
                "c",
            ),
            (vec![AnswerStep::Member("endpoint")], "d"),
        ] {
            insert(&mut answer, &way, json!(value));
        }
        let expected = json!({
            "keys": [
                {"keyName": "one", "value": "a", "text": "c"},
                {"keyName": "two", "value": "b"},
            ],
            "endpoint": "d",
        });
        assert_eq!(answer, expected);
    }

    #[test]
    fn only_what_is_not_there_is_filled_and_only_in_what_is_there() {
        let id = ResourceId::parse("/subscriptions/s/resourceGroups/g/providers/A.B/c/name");
        let id = id.expect("an id");
        let mut body = json!({"properties": {"known": "x"}, "identity": {}});
        for path in [
            &["properties", "known"][..],
            &["properties", "host"],
            &["properties", "part", "host"],
            &["identity", "principalId"],
        ] {
            fill(&mut body, path, &id);
        }
        let expected = json!({
            "properties": {"known": "x", "host": "host-of-name"},
            "identity": {},
        });
        assert_eq!(body, expected);
    }
}
