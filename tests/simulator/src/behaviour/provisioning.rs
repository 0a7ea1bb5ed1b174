//! `properties.provisioningState`, which most types have.
//!
//! Source: https://github.com/cloud-and-ai-microsoft/resource-provider-contract/blob/master/v1.0/async-api-reference.md;
//! states on the way of recordings `containerservice-v1api20240901` and `kusto-v1api20240413`.

use serde_json::{Value, json};

use super::{Behaviour, Scene};
use crate::json;
use crate::operation::Verb;
use crate::schema::has_status_path;

/// Where ARM keeps the state.
pub const PATH: [&str; 2] = ["properties", "provisioningState"];

/// States in which nothing is being done; any other means that an operation runs.
pub fn is_final(state: &str) -> bool {
    ["Succeeded", "Failed", "Canceled"]
        .iter()
        .any(|terminal| terminal.eq_ignore_ascii_case(state))
}

/// Sets the state on types that have one.
#[derive(Debug)]
pub struct Provisioning;

impl Behaviour for Provisioning {
    fn applies_to(&self, _arm_type: &str) -> bool {
        true
    }

    fn stored(&self, scene: &Scene<'_>, _previous: Option<&Value>, body: &mut Value) {
        if !has_status_path(scene.version, &PATH) {
            return;
        }
        let state = match (scene.long_running, scene.verb) {
            (false, _) => "Succeeded",
            (true, Verb::Create) => "Creating",
            (true, Verb::Update) => "Updating",
            (true, Verb::Delete) => "Deleting",
        };
        json::set(body, &PATH, json!(state));
    }

    fn completed(&self, scene: &Scene<'_>, body: &mut Value) {
        if has_status_path(scene.version, &PATH) {
            json::set(body, &PATH, json!("Succeeded"));
        }
    }
}
