//! Which kind and version an ARM id is imported as, and what may be below it.

use std::collections::HashMap;

use anyhow::bail;
use armature_runtime::id::ResourceId;
use armature_runtime::kind::{KindInfo, Remote, Scope, VersionInfo};
use armature_runtime::shape::nearest;

use crate::explain::Topic;

/// The kinds that live in Azure Resource Manager, by their ARM types.
pub struct Known {
    by_type: HashMap<String, &'static KindInfo>,
}

impl Known {
    /// Of these kinds.
    pub fn new(kinds: &[&'static KindInfo]) -> Self {
        let arm = kinds
            .iter()
            .filter(|kind| matches!(kind.remote, Remote::Arm { .. }));
        Self {
            by_type: arm
                .map(|kind| (kind.remote_type().to_lowercase(), *kind))
                .collect(),
        }
    }

    /// The kind of a resource.
    pub fn of(&self, id: &ResourceId) -> Option<&'static KindInfo> {
        self.of_type(&id.arm_type())
    }

    /// The kind of an ARM type, in any casing.
    pub fn of_type(&self, arm_type: &str) -> Option<&'static KindInfo> {
        self.by_type.get(&arm_type.to_lowercase()).copied()
    }

    /// The kind of an ARM type, in any casing, or that `armature explain` calls so.
    ///
    /// # Errors
    /// When there is none, or several groups have one.
    pub fn called(&self, name: &str) -> anyhow::Result<&'static KindInfo> {
        if let Some(kind) = self.of_type(name) {
            return Ok(kind);
        }
        let kinds: Vec<&'static KindInfo> = self.by_type.values().copied().collect();
        // ARM's providers have a dot, groups in short none.
        let provider = name.split('/').next().unwrap_or_default();
        if name.contains('/') && provider.contains('.') && !provider.ends_with(".azure.com") {
            let types = kinds.iter().map(|kind| kind.remote_type());
            let hint = nearest(name, types).map(|near| format!("; did you mean {near}?"));
            bail!(
                "no kind is of the ARM type '{name}'{}",
                hint.unwrap_or_default()
            );
        }
        Ok(Topic::read(name, None, &kinds)?.kind)
    }

    /// Kinds whose resources are directly below those of an ARM type, in order of their types.
    pub fn below(&self, arm_type: &str) -> Vec<&'static KindInfo> {
        self.sorted(|kind| {
            let above = kind.remote_type().rsplit_once('/').map(|(above, _)| above);
            above.is_some_and(|above| above.contains('/') && above.eq_ignore_ascii_case(arm_type))
        })
    }

    /// Kinds whose resources may be on any other, in order of their types.
    pub fn extensions(&self) -> Vec<&'static KindInfo> {
        self.sorted(|kind| is_extension(kind) && kind.remote_type().matches('/').count() == 1)
    }

    /// ARM types that stand directly in a resource group or a subscription, resource groups among them, in order.
    pub fn top_types(&self) -> Vec<&'static str> {
        let kinds = self.sorted(|kind| {
            kind.remote_type().matches('/').count() == 1
                && matches!(
                    kind.remote,
                    Remote::Arm {
                        scope: Scope::ResourceGroup | Scope::Subscription,
                        ..
                    }
                )
        });
        kinds.iter().map(|kind| kind.remote_type()).collect()
    }

    fn sorted(&self, is_wanted: impl Fn(&KindInfo) -> bool) -> Vec<&'static KindInfo> {
        let kinds = self.by_type.values().copied();
        let mut found: Vec<_> = kinds.filter(|kind| is_wanted(kind)).collect();
        found.sort_by_key(|kind| kind.remote_type());
        found
    }
}

/// Whether resources of the kind stand on other resources.
pub fn is_extension(kind: &KindInfo) -> bool {
    matches!(
        kind.remote,
        Remote::Arm {
            scope: Scope::Extension,
            ..
        }
    )
}

/// The version that manifests are written in: that of the stored form, which is the newest stable one.
pub fn version(kind: &'static KindInfo) -> Option<&'static VersionInfo> {
    let stored = kind.hub.storage_version.strip_suffix("storage");
    let stored = stored.and_then(|name| kind.version(name));
    let is_stable = |version: &&VersionInfo| !version.api_version.contains("preview");
    let mut newest = kind.served_unasked().rev();
    stored
        .or_else(|| kind.served_unasked().rev().find(is_stable))
        .or_else(|| newest.next())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_lead_to_kinds_in_any_casing() {
        let known = Known::new(armature_generated::KINDS);
        for (id, kind) in [
            ("/subscriptions/s/resourceGroups/g", Some("ResourceGroup")),
            (
                "/subscriptions/s/resourcegroups/g/providers/microsoft.storage/StorageAccounts/a/blobservices/default",
                Some("StorageAccountsBlobService"),
            ),
            (
                "/subscriptions/s/resourceGroups/g/providers/A.B/c/d/providers/Microsoft.Authorization/roleAssignments/x",
                Some("RoleAssignment"),
            ),
            ("/subscriptions/s/resourceGroups/g/providers/A.B/c/d", None),
        ] {
            let found = known.of(&ResourceId::parse(id).unwrap());
            assert_eq!(found.map(|kind| kind.kind), kind, "{id}");
        }
    }

    #[test]
    fn every_kind_is_imported_in_a_version_that_is_served() {
        for kind in armature_generated::KINDS {
            let version = version(kind).unwrap();
            assert!(!version.is_on_request, "{}", kind.kind);
            let stable = kind
                .served_unasked()
                .rfind(|version| !version.api_version.contains("preview"));
            if let Some(stable) = stable {
                assert_eq!(
                    version.api_version, stable.api_version,
                    "{} {}",
                    kind.kind, version.name
                );
            }
        }
    }

    #[test]
    fn kinds_below_are_found_by_their_types() {
        let known = Known::new(armature_generated::KINDS);
        let below = known.below("microsoft.storage/storageAccounts");
        assert!(
            below
                .iter()
                .any(|kind| kind.kind == "StorageAccountsBlobService")
        );
        assert!(
            known
                .top_types()
                .contains(&"Microsoft.Resources/resourceGroups")
        );
        assert!(
            known
                .extensions()
                .iter()
                .any(|kind| kind.kind == "RoleAssignment")
        );
        let called = |name: &str| known.called(name).map(|kind| kind.remote_type());
        for name in [
            "storageaccount",
            "storage/StorageAccount",
            "microsoft.storage/storageaccounts",
        ] {
            assert_eq!(called(name).unwrap(), "Microsoft.Storage/storageAccounts");
        }
        assert_eq!(
            called("servicebus/Namespace").unwrap(),
            "Microsoft.ServiceBus/namespaces"
        );
        for (name, told) in [
            ("Namespace", "several groups have a kind 'Namespace'"),
            ("StorageAcount", "did you mean 'StorageAccount'?"),
            (
                "Microsoft.Storage/storageAcounts",
                "did you mean Microsoft.Storage/storageAccounts?",
            ),
        ] {
            let error = called(name).unwrap_err().to_string();
            assert!(error.contains(told), "{error}");
        }
    }
}
