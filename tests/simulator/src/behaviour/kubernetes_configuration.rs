//! Extensions of Kubernetes clusters: the identity that a cluster gives to them.
//!
//! Source: recording `kubernetesconfiguration-v1api20241101`.

use serde_json::{Value, json};

use super::{Behaviour, Scene, identity};
use crate::json;

/// `Microsoft.KubernetesConfiguration/extensions`.
#[derive(Debug)]
pub struct Extension;

const IDENTITY: [&str; 2] = ["properties", "aksAssignedIdentity"];

impl Behaviour for Extension {
    fn applies_to(&self, arm_type: &str) -> bool {
        arm_type.eq_ignore_ascii_case("Microsoft.KubernetesConfiguration/extensions")
    }

    fn stored(&self, scene: &Scene<'_>, _previous: Option<&Value>, body: &mut Value) {
        json::set_default(body, &["properties", "releaseTrain"], json!("Stable"));
        json::set_default(body, &["properties", "isSystemExtension"], json!(false));
        if !scene.long_running {
            assign(scene, body);
        }
    }

    // The identity is there once the agent in the cluster has installed the extension.
    fn completed(&self, scene: &Scene<'_>, body: &mut Value) {
        assign(scene, body);
    }
}

fn assign(scene: &Scene<'_>, body: &mut Value) {
    let assigned = json!({
        "type": null,
        "principalId": identity::principal_id(scene.id),
        "tenantId": scene.settings.tenant,
    });
    json::set_default(body, &IDENTITY, assigned);
}
