//! Clusters of Azure Red Hat OpenShift: their addresses and credentials.
//!
//! Source: spec `specification/redhatopenshift/resource-manager/Microsoft.RedHatOpenShift`, api-version 2023-11-22.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

use super::{ActionOutcome, Behaviour, Scene};
use crate::error::ArmError;
use crate::json;
use crate::store::{Resource, stable_uuid};

/// `Microsoft.RedHatOpenShift/openShiftClusters`.
#[derive(Debug)]
pub struct Cluster;

impl Behaviour for Cluster {
    fn applies_to(&self, arm_type: &str) -> bool {
        arm_type.eq_ignore_ascii_case("Microsoft.RedHatOpenShift/openShiftClusters")
    }

    fn stored(&self, _scene: &Scene<'_>, _previous: Option<&Value>, body: &mut Value) {
        let name = json::text(body, &["properties", "clusterProfile", "domain"]);
        let location = json::text(body, &["location"]).unwrap_or_default();
        let Some(domain) = name.map(|name| format!("{name}.{location}.aroapp.io")) else {
            return;
        };
        for (profile, url) in [
            ("apiserverProfile", format!("https://api.{domain}:6443/")),
            (
                "consoleProfile",
                format!("https://console-openshift-console.apps.{domain}/"),
            ),
        ] {
            json::set_default(body, &["properties", profile, "url"], json!(url));
        }
    }

    fn action(
        &self,
        _scene: &Scene<'_>,
        resource: &Resource,
        action: &str,
        _body: &Value,
    ) -> Option<Result<ActionOutcome, ArmError>> {
        let password = stable_uuid(&format!("{}#password", resource.id.key()));
        let answer = match action.to_ascii_lowercase().as_str() {
            "listcredentials" => json!({
                "kubeadminUsername": "kubeadmin",
                "kubeadminPassword": password,
            }),
            "listadmincredentials" => {
                let url = json::text(&resource.body, &["properties", "apiserverProfile", "url"]);
                json!({"kubeconfig": STANDARD.encode(kubeconfig(url.unwrap_or_default()))})
            }
            _ => return None,
        };
        Some(Ok(ActionOutcome {
            answer: Some(answer),
            resource: None,
        }))
    }
}

fn kubeconfig(server: &str) -> String {
    let config = json!({
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{"name": "openshift", "cluster": {"server": server}}],
        "contexts": [{"name": "admin", "context": {"cluster": "openshift", "user": "admin"}}],
        "current-context": "admin",
        "users": [{"name": "admin", "user": {}}],
    });
    config.to_string()
}
