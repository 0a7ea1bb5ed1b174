//! Compute: images are refused until the snapshot is there that they are made of.
//!
//! Source: recording `compute-v1api`.

use serde_json::Value;

use super::{Behaviour, Scene};
use crate::error::ArmError;
use crate::id::ResourceId;
use crate::json;

/// `Microsoft.Compute/images`.
#[derive(Debug)]
pub struct Image;

const SNAPSHOT: [&str; 5] = ["properties", "storageProfile", "osDisk", "snapshot", "id"];

impl Behaviour for Image {
    fn applies_to(&self, arm_type: &str) -> bool {
        arm_type.eq_ignore_ascii_case("Microsoft.Compute/images")
    }

    fn admit(&self, scene: &Scene<'_>, body: &Value) -> Result<(), ArmError> {
        let snapshot = json::text(body, &SNAPSHOT).and_then(ResourceId::parse);
        match snapshot.filter(|id| scene.store.get(id).is_none()) {
            None => Ok(()),
            Some(missing) => Err(ArmError {
                target: Some(missing.to_string()),
                ..ArmError::new(
                    404,
                    "NotFound",
                    "The entity was not found in this Azure location.",
                )
            }),
        }
    }
}
