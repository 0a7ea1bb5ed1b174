//! A kind of which nothing matters but its ARM type and scope.

use crate::kind::{HubInfo, KindInfo, NameRule, OwnerRule, Remote, Scope};
use crate::resource::SecretReference;
use crate::shape::{Rules, Shaped};

/// A kind of this ARM type and scope.
pub fn kind(arm_type: &'static str, scope: Scope) -> KindInfo {
    KindInfo {
        group: "test.azure.com",
        kind: "Thing",
        plural: "things",
        category: "test",
        remote: Remote::Arm { arm_type, scope },
        owner: OwnerRule::Any,
        name: NameRule::Free(&Rules::NONE),
        versions: &[],
        hub: HubInfo {
            storage_version: "v1storage",
            spec: SecretReference::shape(),
            status: SecretReference::shape(),
        },
        secrets: &[],
        config_maps: &[],
        errors: &[],
        azure_owned: &[],
        equal_values: &[],
    }
}
