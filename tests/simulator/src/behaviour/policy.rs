//! A policy with the effect modify: tags that it adds to whatever is written, within the same PUT.
//!
//! Source: https://learn.microsoft.com/azure/governance/policy/concepts/effect-modify: it is evaluated before the resource
//! provider has the request, and adds to what was sent.

use serde_json::{Value, json};

use super::{Behaviour, Scene};
use crate::json;

/// Tags of the settings, on every type whose spec has tags.
#[derive(Debug)]
pub struct Policy;

impl Behaviour for Policy {
    fn applies_to(&self, _arm_type: &str) -> bool {
        true
    }

    fn stored(&self, scene: &Scene<'_>, _previous: Option<&Value>, body: &mut Value) {
        if scene.version.spec.field("tags").is_none() {
            return;
        }
        for (name, value) in &scene.settings.autonomy.policy_tags {
            json::set(body, &["tags", name], json!(value));
        }
    }
}
