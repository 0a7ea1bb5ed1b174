//! What the operator can write to Secrets and ConfigMaps from a status is there, whatever the provider. Behaviours of
//! providers know better, and are asked before. Not here: answers to actions. An answer that is made of what the operator
//! looks for would prove nothing, so each action is answered as Azure's specs or recordings have it, or not at all.
//!
//! Source: places are those of the specs, in the status of each type; the texts are made up.

use armature_runtime::kind::{KindInfo, SecretSource};
use armature_runtime::shape::{ArmPlace, StructShape, Type};
use serde_json::{Value, json};

use super::{Behaviour, Scene};
use crate::id::ResourceId;
use crate::json;
use crate::store::stable_uuid;

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

#[cfg(test)]
mod tests {
    use super::*;

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
