//! Providers of which it is enough to say what they answer: members that they fill in, keys that their actions list, and
//! children that come with a resource. The types stand in [`super::answer_table`].
//!
//! Source: of each type there.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

use super::{ActionOutcome, Behaviour, Scene, keys};
use crate::error::ArmError;
use crate::id::ResourceId;
use crate::json;
use crate::schema::has_status_path;
use crate::store::{Resource, stable_uuid};

/// What a type of resource answers.
///
/// Texts may have:
///
/// | word | what stands there |
/// |---|---|
/// | `{name}`, `{host}` | the resource's name; the same in small letters, for a host |
/// | `{root}` | name of the resource that it is below, or its own |
/// | `{group}` | name of its resource group |
/// | `{location}` | where it is, as host names have it |
/// | `{guid}` | a UUID that stays what it is |
/// | `{key:which}` | a key that stays what it is, of its own for each resource and `which` |
/// | `{kubeconfig:user}` | a file for kubectl, in base64 |
#[derive(Debug)]
pub(super) struct Answers {
    /// ARM type.
    pub(super) arm_type: &'static str,
    /// Members that Azure fills in, by path, and their texts. A part that was not asked for, such as the hub of a fleet,
    /// stays away, and so does what the api-version does not have.
    pub(super) filled: &'static [(&'static [&'static str], &'static str)],
    /// Actions, and what each answers as JSON with such texts.
    pub(super) actions: &'static [(&'static str, &'static str)],
    /// Children that come with it: type segment and name.
    pub(super) children: &'static [(&'static str, &'static str)],
}

impl Behaviour for &'static Answers {
    fn applies_to(&self, arm_type: &str) -> bool {
        arm_type.eq_ignore_ascii_case(self.arm_type)
    }

    fn stored(&self, scene: &Scene<'_>, _previous: Option<&Value>, body: &mut Value) {
        for (path, text) in self.filled {
            let part = path.split_last().map(|(_, part)| part).unwrap_or_default();
            let is_there = part == ["properties"] || json::at(body, part).is_some();
            if is_there && has_status_path(scene.version, path) {
                let text = with_values(text, scene.id, body);
                json::set_default(body, path, json!(text));
            }
        }
    }

    fn action(
        &self,
        _scene: &Scene<'_>,
        resource: &Resource,
        action: &str,
        _body: &Value,
    ) -> Option<Result<ActionOutcome, ArmError>> {
        let mut actions = self.actions.iter();
        let (_, answer) = actions.find(|(name, _)| name.eq_ignore_ascii_case(action))?;
        let answer = serde_json::from_str(&with_values(answer, &resource.id, &resource.body));
        let outcome = answer.map(|answer| ActionOutcome {
            answer: Some(answer),
            resource: None,
        });
        Some(outcome.map_err(|error| ArmError::new(500, "InternalServerError", error.to_string())))
    }

    fn implicit_children(&self) -> &'static [(&'static str, &'static str)] {
        self.children
    }
}

/// The text with the values of a resource.
pub(super) fn with_values(text: &str, id: &ResourceId, body: &Value) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some(start) = rest.find('{') {
        let (before, from) = rest.split_at(start);
        out.push_str(before);
        let known = from.find('}').and_then(|end| {
            let value = value(&from[1..end], id, body)?;
            Some((value, end + 1))
        });
        let (value, length) = known.unwrap_or_else(|| ("{".to_owned(), 1));
        out.push_str(&value);
        rest = &from[length..];
    }
    out + rest
}

fn value(word: &str, id: &ResourceId, body: &Value) -> Option<String> {
    let key = |which: &str| keys::base64(&format!("{}#{which}", id.key()), 2);
    match word.split_once(':') {
        None => match word {
            "name" => Some(id.name().to_owned()),
            "host" => Some(id.name().to_ascii_lowercase()),
            "root" => Some(root(id)),
            "group" => id.resource_group().map(str::to_owned),
            "location" => Some(location(body)),
            "guid" => Some(stable_uuid(&format!("{}#guid", id.key()))),
            _ => None,
        },
        Some(("key", which)) => Some(key(which)),
        Some(("kubeconfig", user)) => {
            let config = kubeconfig(id.name(), user, &key(user));
            Some(STANDARD.encode(config))
        }
        Some(_) => None,
    }
}

/// Name of the resource at the top of those around it.
fn root(id: &ResourceId) -> String {
    match id.parent() {
        Some(parent) if !parent.is_group() => root(&parent),
        _ => id.name().to_owned(),
    }
}

/// `westeurope`, also where somebody wrote `West Europe`.
fn location(body: &Value) -> String {
    let location = json::text(body, &["location"]).unwrap_or_default();
    location.to_ascii_lowercase().replace(' ', "")
}

fn kubeconfig(cluster: &str, user: &str, token: &str) -> String {
    let config = json!({
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{"name": cluster, "cluster": {"server": format!("https://{cluster}.azmk8s.io:443")}}],
        "contexts": [{"name": cluster, "context": {"cluster": cluster, "user": user}}],
        "current-context": cluster,
        "users": [{"name": user, "user": {"token": token}}],
    });
    config.to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_have_values_of_the_resource() {
        let id = ResourceId::parse(
            "/subscriptions/s/resourceGroups/g/providers/Microsoft.Bus/namespaces/shop/rules/send",
        )
        .unwrap();
        let body = json!({"location": "West Europe"});
        let with_values = |text: &str| with_values(text, &id, &body);
        for (text, expected) in [
            ("plain", "plain"),
            ("{name} of {root}", "send of shop"),
            (r#"{"a": "{name}"}"#, r#"{"a": "send"}"#),
            ("{group}.{location}", "g.westeurope"),
            ("{unknown} {", "{unknown} {"),
        ] {
            assert_eq!(with_values(text), expected);
        }
        assert_eq!(with_values("{key:a}"), with_values("{key:a}"));
        assert_ne!(with_values("{key:a}"), with_values("{key:b}"));
    }
}
