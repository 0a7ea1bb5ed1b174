//! Network watchers: a flow log is refused until the storage account that it writes to is there.
//!
//! Source: recording `network-v1api20241001`.

use serde_json::Value;

use super::{Behaviour, Scene, provisioning};
use crate::error::ArmError;
use crate::id::ResourceId;
use crate::json;

/// `Microsoft.Network/networkWatchers/flowLogs`.
#[derive(Debug)]
pub struct FlowLog;

impl Behaviour for FlowLog {
    fn applies_to(&self, arm_type: &str) -> bool {
        arm_type.eq_ignore_ascii_case("Microsoft.Network/networkWatchers/flowLogs")
    }

    fn admit(&self, scene: &Scene<'_>, body: &Value) -> Result<(), ArmError> {
        let id = json::text(body, &["properties", "storageId"]).and_then(ResourceId::parse);
        let account = id.and_then(|id| scene.store.get(&id));
        let state = account.and_then(|found| json::text(&found.body, &provisioning::PATH));
        match (account, state) {
            (Some(account), Some(state)) if state != "Succeeded" => Err(ArmError::new(
                400,
                "StorageProvisioningStateNotSucceeded",
                format!(
                    "Storage account ({state}) provisioning state {} is not Succeeded.",
                    account.id
                ),
            )),
            _ => Ok(()),
        }
    }
}
