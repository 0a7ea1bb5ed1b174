//! Redis Enterprise: clusters and databases that are made in steps, which `resourceState` tells.
//!
//! Source: recordings `cache-v20250401` and `cache-v20250701`.

use serde_json::{Value, json};

use super::{Behaviour, Scene};
use crate::json;
use crate::operation::Verb;
use crate::schema::has_status_path;

const CLUSTER: &str = "Microsoft.Cache/redisEnterprise";
const DATABASE: &str = "Microsoft.Cache/redisEnterprise/databases";
const STATE: [&str; 2] = ["properties", "resourceState"];

/// Clusters and their databases.
#[derive(Debug)]
pub struct RedisEnterprise;

impl Behaviour for RedisEnterprise {
    fn applies_to(&self, arm_type: &str) -> bool {
        [CLUSTER, DATABASE]
            .iter()
            .any(|known| known.eq_ignore_ascii_case(arm_type))
    }

    fn stored(&self, scene: &Scene<'_>, _previous: Option<&Value>, body: &mut Value) {
        if !has_status_path(scene.version, &STATE) {
            return;
        }
        match (scene.verb, scene.long_running) {
            (Verb::Create, true) => json::set(body, &STATE, json!("Creating")),
            _ => json::set_default(body, &STATE, json!("Running")),
        }
    }

    fn completed(&self, _scene: &Scene<'_>, body: &mut Value) {
        if json::text(body, &STATE) == Some("Creating") {
            json::set(body, &STATE, json!("Running"));
        }
    }
}
