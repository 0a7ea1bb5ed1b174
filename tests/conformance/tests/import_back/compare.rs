//! What tells two manifests apart, and two requests.

use armature_runtime::shape::{ArmPlace, Field, Semantic, StructShape, Type};
use serde_json::{Map, Value, json};

use super::manifest::{SECRET, Written};

/// Ends of places of which Azure has its own idea, though the specs let a request say it, with reasons.
const AZURES_OWN: [(&str, &str); 10] = [
    ("/etag", "it is another one after each write"),
    ("/type", "it follows from the id"),
    (
        "/properties/options",
        "throughput is a resource of its own, and is shown there",
    ),
    (
        "/properties/provisioningState",
        "it tells of the last operation",
    ),
    ("/identity/principalId", "Azure makes the identity"),
    ("/identity/tenantId", "the same"),
    ("/vaultUri", "it follows from the name"),
    ("/workspaceResourceId", "the spec says that it is a secret"),
    (
        "/privateLinkServiceConnectionState",
        "the owner of the private link service decides",
    ),
    ("/serviceUri", "it has a secret, and is shown to nobody"),
];

/// Without what says nothing.
pub fn telling(value: &Value) -> Value {
    match value {
        Value::Object(members) => {
            let members = members.iter().map(|(name, value)| (name, telling(value)));
            let members = members.filter(|(_, value)| !says_nothing(value));
            let members = members.map(|(name, value)| (name.clone(), value));
            Value::Object(members.collect::<Map<_, _>>())
        }
        Value::Array(items) => items.iter().map(telling).collect(),
        value => value.clone(),
    }
}

fn says_nothing(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::String(text) => text.is_empty(),
        Value::Array(items) => items.is_empty(),
        Value::Object(members) => members.is_empty(),
        _ => false,
    }
}

/// The first place at which a spec that was imported is not the one that was written, with both values. An Azure that `decides` has
/// added values of its own, and shows nobody a secret.
pub fn unlike(written: &Written, imported: &Value, decides: bool) -> Option<String> {
    let comparison = Comparison { written, decides };
    let (expected, found) = (telling(&written.spec), telling(imported));
    comparison.object(written.version.spec, &expected, &found, "")
}

struct Comparison<'w> {
    written: &'w Written,
    decides: bool,
}

impl Comparison<'_> {
    /// `place` is where the object is in Azure.
    fn object(
        &self,
        shape: &StructShape,
        expected: &Value,
        found: &Value,
        place: &str,
    ) -> Option<String> {
        shape.fields.iter().find_map(|field| {
            let place = match field.arm {
                ArmPlace::At(at) => format!("{place}/{}", at.join("/")),
                _ => place.to_owned(),
            };
            match (expected.get(field.name), found.get(field.name)) {
                (None, None) => None,
                (Some(expected), Some(found)) => self.value(field.ty, expected, found, &place),
                (Some(expected), None) => {
                    let is_said = self.is_said_otherwise(shape, field, expected, found);
                    if is_said || is_azures_own(&place) || self.is_hidden(field.ty) {
                        return None;
                    }
                    match expected {
                        // All of it may be Azure's own.
                        Value::Object(_) => self.value(field.ty, expected, &json!({}), &place),
                        _ => Some(format!("{}: {expected} did not come back", field.name)),
                    }
                }
                (None, Some(found)) => {
                    let is_said = self.is_said_otherwise(shape, field, found, expected);
                    let is_new = !is_said && !self.decides && !is_azures_own(&place);
                    is_new.then(|| format!("{}: {found} came in", field.name))
                }
            }
        })
    }

    fn value(&self, ty: Type, expected: &Value, found: &Value, place: &str) -> Option<String> {
        if is_azures_own(place) {
            return None;
        }
        match (ty, expected, found) {
            (Type::Struct(shape), _, Value::Object(members)) if is_secret(shape) => {
                // Which Secret it is nobody can know.
                let is_named = members
                    .get("name")
                    .and_then(Value::as_str)
                    .is_some_and(|name| name != "?");
                (!is_named).then(|| format!("{place}: {found} names no Secret"))
            }
            (Type::Struct(shape), _, Value::Object(_)) if shape.semantic == Semantic::Plain => {
                self.object(shape, expected, found, place)
            }
            (Type::List(list), Value::Array(expected), Value::Array(found))
                if expected.len() == found.len() =>
            {
                let mut pairs = expected.iter().zip(found).enumerate();
                pairs.find_map(|(index, (expected, found))| {
                    self.value(list.item, expected, found, &format!("{place}/{index}"))
                })
            }
            (Type::Map(map), Value::Object(expected), Value::Object(found)) => {
                expected.iter().find_map(|(name, expected)| {
                    // What has nothing to say but a secret is not there.
                    let nothing = json!({});
                    let found = found.get(name).unwrap_or(&nothing);
                    self.value(map.value, expected, found, &format!("{place}/{name}"))
                })
            }
            _ if expected == found => None,
            _ => Some(format!("{place}: {expected} came back as {found}")),
        }
    }

    /// Whether another field that is the same one in Azure says the same: an id as text, or as a reference.
    fn is_said_otherwise(
        &self,
        shape: &StructShape,
        field: &Field,
        value: &Value,
        there: &Value,
    ) -> bool {
        let twins = shape.fields.iter().filter(|other| {
            matches!(field.arm, ArmPlace::At(_))
                && other.arm == field.arm
                && other.name != field.name
        });
        let mut twins = twins.filter_map(|twin| there.get(twin.name));
        twins.any(|twin| self.id(twin).is_some() && self.id(twin) == self.id(value))
    }

    fn id(&self, value: &Value) -> Option<String> {
        match value {
            Value::String(id) => Some(id.clone()),
            reference => self.written.leads_to(reference),
        }
    }

    fn is_hidden(&self, ty: Type) -> bool {
        self.decides && holds_secret(ty)
    }
}

fn is_secret(shape: &StructShape) -> bool {
    matches!(
        shape.semantic,
        Semantic::SecretReference | Semantic::SecretMapReference
    )
}

fn holds_secret(ty: Type) -> bool {
    match ty {
        Type::Struct(shape) => is_secret(shape),
        Type::List(list) => holds_secret(list.item),
        Type::Map(map) => holds_secret(map.value),
        _ => false,
    }
}

fn is_azures_own(place: &str) -> bool {
    AZURES_OWN.iter().any(|(end, _)| place.ends_with(end))
}

/// What is lost of a request: the first place that another one lacks, or where it has something else. What it has beside that is
/// Azure's own.
pub fn lost(sent: &Value, again: &Value, place: &str) -> Option<String> {
    if is_azures_own(place) {
        return None;
    }
    match (sent, again) {
        (Value::Object(sent), Value::Object(again)) => sent.iter().find_map(|(name, value)| {
            let place = format!("{place}/{name}");
            lost(value, again.get(name).unwrap_or(&Value::Null), &place)
        }),
        (Value::Array(sent), Value::Array(again)) if sent.len() == again.len() => {
            let mut pairs = sent.iter().zip(again).enumerate();
            pairs.find_map(|(index, (sent, again))| lost(sent, again, &format!("{place}/{index}")))
        }
        // Some of it may be Azure's own.
        (Value::Object(_), Value::Null) => lost(sent, &json!({}), place),
        _ if sent == again => None,
        _ => Some(format!("{place}: {sent} came back as {again}")),
    }
}

/// Without the values of Secrets, which Azure shows to nobody.
pub fn without_secrets(value: &Value) -> Value {
    match value {
        Value::Object(members) => {
            let members = members.iter().filter(|(_, value)| *value != SECRET);
            let members = members.map(|(name, value)| (name.clone(), without_secrets(value)));
            Value::Object(members.collect())
        }
        Value::Array(items) => items
            .iter()
            .filter(|item| *item != SECRET)
            .map(without_secrets)
            .collect(),
        value => value.clone(),
    }
}

/// The first value of a request that was not sent before and that Azure does not show either. What Azure shows beside what it
/// was sent it has decided itself.
pub fn came_in(again: &Value, sent: &Value, shown: &Value, place: &str) -> Option<String> {
    match (again, sent) {
        (Value::Object(again), _) => again.iter().find_map(|(name, again)| {
            let none = Value::Null;
            let [sent, shown] = [sent, shown].map(|value| value.get(name).unwrap_or(&none));
            came_in(again, sent, shown, &format!("{place}/{name}"))
        }),
        (Value::Array(again), Value::Array(sent)) if again.len() == sent.len() => {
            let mut pairs = again.iter().zip(sent).enumerate();
            pairs.find_map(|(index, (again, sent))| {
                let shown = shown.get(index).unwrap_or(&Value::Null);
                came_in(again, sent, shown, &format!("{place}/{index}"))
            })
        }
        _ if again == sent || again == shown || is_azures_own(place) => None,
        _ => Some(format!(
            "{place}: {again} was neither sent, {sent}, nor is it shown, {shown}"
        )),
    }
}
