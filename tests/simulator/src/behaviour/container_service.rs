//! Fleets of Kubernetes clusters; the clusters are in [`super::managed_cluster`].
//!
//! Source: recording `containerservice-v1api20250301`.

use serde_json::Value;

use super::{Behaviour, Scene};
use crate::error::ArmError;
use crate::operation::Verb;

/// `Microsoft.ContainerService/fleets/updateRuns`: refused while the fleet has no members.
#[derive(Debug)]
pub struct UpdateRun;

impl Behaviour for UpdateRun {
    fn applies_to(&self, arm_type: &str) -> bool {
        arm_type.eq_ignore_ascii_case("Microsoft.ContainerService/fleets/updateRuns")
    }

    fn admit(&self, scene: &Scene<'_>, _body: &Value) -> Result<(), ArmError> {
        let is_member = |arm_type: &str| {
            arm_type.eq_ignore_ascii_case("Microsoft.ContainerService/fleets/members")
        };
        let Some(fleet) = scene.id.parent() else {
            return Ok(());
        };
        let mut below = scene.store.below(&fleet);
        if scene.verb != Verb::Create || below.any(|it| is_member(&it.id.arm_type())) {
            return Ok(());
        }
        Err(ArmError::new(
            409,
            "UpdateRunTargetingEmptyFleet",
            format!(
                "Fleet '{}' has no members that the update run '{}' could update.",
                fleet.name(),
                scene.id.name()
            ),
        ))
    }
}
