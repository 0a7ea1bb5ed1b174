//! Rewriting what a client sent, as many real services do. Off unless asked for: it is what a comparison of
//! desired and observed state must not take for drift.
//!
//! Source: recordings `kusto-v1api20240413` for locations and for names of databases, `compute-v1api` for ids, and
//! `managedidentity-v1api20230131` for tags.

use serde_json::{Value, json};

use super::{Behaviour, Scene};
use crate::options::Normalise;

/// Applies [`Normalise`] to every type.
#[derive(Debug)]
pub struct Normaliser(pub Normalise);

impl Behaviour for Normaliser {
    fn applies_to(&self, _arm_type: &str) -> bool {
        self.0 != Normalise::default()
    }

    fn stored(&self, scene: &Scene<'_>, _previous: Option<&Value>, body: &mut Value) {
        if self.0.locations
            && let Some(Value::String(location)) = body.get_mut("location")
        {
            *location = other_spelling(location);
        }
        if self.0.tags && scene.version.spec.field("tags").is_some() && body.get("tags").is_none() {
            body["tags"] = json!({});
        }
        for member in ["id", "properties"] {
            if let Some(value) = body.get_mut(member) {
                self.rewrite(value);
            }
        }
    }
}

impl Normaliser {
    fn rewrite(&self, value: &mut Value) {
        match value {
            Value::String(text) if self.0.ids && text.starts_with("/subscriptions/") => {
                *text = text.replace("/resourceGroups/", "/resourcegroups/");
            }
            Value::Array(items) => {
                if self.0.order && items.iter().all(Value::is_string) {
                    items.sort_by(|left, right| left.as_str().cmp(&right.as_str()));
                }
                items.iter_mut().for_each(|item| self.rewrite(item));
            }
            Value::Object(members) => {
                members.values_mut().for_each(|member| self.rewrite(member));
            }
            _ => {}
        }
    }
}

/// `westus2` to `West US 2` and back.
pub fn other_spelling(location: &str) -> String {
    if location.contains(' ') {
        return location.to_ascii_lowercase().replace(' ', "");
    }
    let known = [
        ("westus2", "West US 2"),
        ("westus3", "West US 3"),
        ("eastus", "East US"),
        ("eastus2", "East US 2"),
        ("westeurope", "West Europe"),
        ("northeurope", "North Europe"),
        ("swedencentral", "Sweden Central"),
        ("westcentralus", "West Central US"),
    ];
    known
        .iter()
        .find(|(short, _)| *short == location)
        .map_or_else(
            || location.to_ascii_lowercase(),
            |(_, long)| (*long).to_owned(),
        )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rewriting_changes_spelling_and_order_only() {
        let mut value = json!({
            "id": "/subscriptions/s/resourceGroups/g",
            "names": ["b", "a"],
            "mixed": [{"n": 2}, {"n": 1}],
        });
        Normaliser(Normalise::ALL).rewrite(&mut value);
        assert_eq!(
            value,
            json!({
                "id": "/subscriptions/s/resourcegroups/g",
                "names": ["a", "b"],
                "mixed": [{"n": 2}, {"n": 1}],
            })
        );
        assert_eq!(other_spelling("westus2"), "West US 2");
        assert_eq!(other_spelling("West US 2"), "westus2");
    }
}
