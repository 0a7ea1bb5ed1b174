//! Managed clusters and what is below them: one operation at a time, and the issuer of tokens where it was asked for.
//!
//! Source: recording `containerservice-v1api20240901`, where a PUT of either is answered with 201 and followed at
//! its `Azure-AsyncOperation` header; no recording has two operations at a time, so the refusal is what
//! https://github.com/Azure/gpu-provisioner looks for.

use serde_json::{Value, json};

use super::provisioning::{self, is_final};
use super::{Behaviour, Scene, is_below};
use crate::error::ArmError;
use crate::json;
use crate::operation::{OperationRule, Style};
use crate::store::{Resource, stable_uuid};

const CLUSTER: &str = "Microsoft.ContainerService/managedClusters";
const ISSUER_ENABLED: [&str; 3] = ["properties", "oidcIssuerProfile", "enabled"];
const ISSUER_URL: [&str; 3] = ["properties", "oidcIssuerProfile", "issuerURL"];

/// `Microsoft.ContainerService/managedClusters` and below.
#[derive(Debug)]
pub struct ManagedCluster;

impl Behaviour for ManagedCluster {
    fn applies_to(&self, arm_type: &str) -> bool {
        arm_type.eq_ignore_ascii_case(CLUSTER) || is_below(arm_type, CLUSTER)
    }

    fn operations(&self) -> OperationRule {
        OperationRule {
            put: Some(Style::AsyncOperation),
            delete: Some(Style::Both),
            ..OperationRule::default()
        }
    }

    fn admit(&self, scene: &Scene<'_>, _body: &Value) -> Result<(), ArmError> {
        let mut above = Some(scene.id.clone());
        while let Some(id) = above {
            if id.arm_type().eq_ignore_ascii_case(CLUSTER)
                && let Some(cluster) = scene.store.visible(&id)
            {
                return refuse_while_busy(cluster);
            }
            above = id.parent();
        }
        Ok(())
    }

    fn stored(&self, scene: &Scene<'_>, _previous: Option<&Value>, body: &mut Value) {
        if scene.id.arm_type().eq_ignore_ascii_case(CLUSTER) {
            issue_tokens(scene, body);
        }
    }
}

/// The issuer of tokens, where it was asked for.
fn issue_tokens(scene: &Scene<'_>, cluster: &mut Value) {
    if json::at(cluster, &ISSUER_ENABLED).and_then(Value::as_bool) == Some(true) {
        let location = json::text(cluster, &["location"]).unwrap_or_default();
        let name = stable_uuid(&format!("{}#issuer", scene.id.key()));
        let tenant = &scene.settings.tenant;
        let url = format!("https://{location}.oic.prod-aks.azure.com/{tenant}/{name}/");
        json::set(cluster, &ISSUER_URL, json!(url));
    }
}

fn refuse_while_busy(cluster: &Resource) -> Result<(), ArmError> {
    let state = json::text(&cluster.body, &provisioning::PATH).unwrap_or("Succeeded");
    if is_final(state) {
        return Ok(());
    }
    Err(ArmError::new(
        409,
        "OperationNotAllowed",
        format!(
            "Operation is not allowed because there's an in progress operation ({state}) on the managed cluster '{}'. Please \
             wait for it to finish before starting a new operation.",
            cluster.id.name()
        ),
    ))
}
