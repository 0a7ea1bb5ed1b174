//! The objects of a world and what their manifests say.

use armature_generated::KINDS;
use armature_runtime::conversion;
use armature_runtime::engine::collect::{ReferenceTarget, inputs};
use armature_runtime::engine::payload::{Resolved, arm_body};
use armature_runtime::id::ResourceId;
use armature_runtime::kind::{KindInfo, NameRule, OwnerRule, VersionInfo};
use armature_runtime::reconcile::port::DataKind;
use armature_runtime::reconcile::testing::MemoryCluster;
use armature_runtime::resource::{Kind, ObjectKey};
use armature_runtime::testing::kinds;
use serde_json::{Value, json};

use crate::edit;
use crate::plan::Draw;

/// Namespace of every object.
pub const NAMESPACE: &str = "default";

/// Name of the Secret and of the ConfigMap that drawn specs refer to, and the key that they use.
pub const DATA: (&str, &str) = ("some", "key");

/// One object that a user declares.
#[derive(Clone, Debug)]
pub struct Subject {
    /// Its kind.
    pub kind: &'static KindInfo,
    /// The version that it is written in.
    pub version: &'static VersionInfo,
    /// Name in the cluster.
    pub name: String,
    /// Name in Azure.
    pub azure_name: String,
    /// The subject that owns it.
    pub owner: Option<usize>,
    /// Id in Azure.
    pub id: String,
    /// What the manifest says, without name and owner; `None` before there is one.
    pub spec: Option<Value>,
}

/// Every kind: the generated ones, and a store with a password and a box in it, which have what few generated ones have.
pub fn all_kinds() -> Vec<&'static KindInfo> {
    let toys = [&kinds::STORE, &kinds::BOX];
    KINDS.iter().copied().chain(toys).collect()
}

/// The kind of this name, of several the first; `Workspace.synapse.azure.com` names one of them.
pub fn kind(name: &str) -> Option<&'static KindInfo> {
    let is_meant = |kind: &&KindInfo| {
        let group = name.strip_prefix(kind.kind);
        group.is_some_and(|rest| rest.is_empty() || rest.strip_prefix('.') == Some(kind.group))
    };
    all_kinds().into_iter().find(is_meant)
}

/// The shortest name by which a kind is found.
pub fn name_of(of: &'static KindInfo) -> String {
    match kind(of.kind) {
        Some(first) if std::ptr::eq(first, of) => of.kind.to_owned(),
        _ => format!("{}.{}", of.kind, of.group),
    }
}

/// The kind and those above it, the highest first.
pub fn lineage(kind: &'static KindInfo) -> Vec<&'static KindInfo> {
    let mut lineage = vec![kind];
    let mut at = kind;
    while let OwnerRule::Kind { group, kind } = at.owner {
        let mut kinds = all_kinds().into_iter();
        let Some(owner) = kinds.find(|found| (found.group, found.kind) == (group, kind)) else {
            break;
        };
        lineage.insert(0, owner);
        at = owner;
    }
    lineage
}

impl Subject {
    /// An object of the kind, not written yet.
    pub fn new(
        kind: &'static KindInfo,
        name: &str,
        owner: Option<(usize, &Subject)>,
        subscription: &str,
    ) -> Self {
        let azure_name = match kind.name {
            NameRule::Fixed(name) => name,
            NameRule::OneOf(names) => names.first().copied().unwrap_or(name),
            NameRule::Free(_) | NameRule::Uuid { .. } => name,
        };
        let above = owner.and_then(|(_, owner)| ResourceId::parse(&owner.id).ok());
        let id = ResourceId::of(kind, above.as_ref(), subscription, azure_name);
        // As a cluster has them after an installation.
        let newest = kind.served_unasked().next_back();
        Self {
            kind,
            version: newest.expect("every kind has versions that are served without a request"),
            name: name.to_owned(),
            azure_name: azure_name.to_owned(),
            owner: owner.map(|(index, _)| index),
            id: id.map_or_else(|_| String::new(), |id| id.as_str().to_owned()),
            spec: None,
        }
    }

    /// The key in the cluster.
    pub fn key(&self) -> ObjectKey {
        ObjectKey {
            kind: Kind(self.kind),
            namespace: NAMESPACE.to_owned(),
            name: self.name.clone(),
        }
    }

    /// A drawn spec in its version.
    pub fn drawn(&self, draw: Draw) -> Value {
        let mut spec = edit::spec(self.version.spec, draw);
        self.settle(&mut spec);
        spec
    }

    /// Makes a spec one that can be made again after a deletion: Azure keeps deleted vaults, and only this mode makes
    /// one of the same name again.
    pub fn settle(&self, spec: &mut Value) {
        if self.kind.kind == "Vault" {
            spec["properties"]["createMode"] = json!("createOrRecover");
        }
    }

    /// The spec as the user writes it.
    pub fn served(&self, spec: &Value, owner_name: Option<&str>) -> Value {
        let mut served = spec.clone();
        if self.version.spec.field("azureName").is_some() {
            served["azureName"] = json!(self.azure_name);
        }
        if let Some(owner) = owner_name {
            served["owner"] = json!({"name": owner});
        }
        served
    }

    /// The spec as it is stored.
    pub fn stored(&self, served: Value) -> Result<Value, String> {
        let document = json!({
            "apiVersion": format!("{}/{}", self.kind.group, self.version.name),
            "kind": self.kind.kind,
            "metadata": {"name": self.name, "namespace": NAMESPACE},
            "spec": served,
        });
        let stored = conversion::to_hub(self.kind, self.version.name, document);
        let mut stored = stored.map_err(|error| error.to_string())?;
        Ok(stored["spec"].take())
    }

    /// The body that a PUT of the spec has, as far as it can be known.
    pub fn body(&self, spec: &Value, cluster: &MemoryCluster) -> Result<Value, String> {
        let used = inputs(self.version.spec, spec);
        let mut resolved = Resolved::default();
        for used in used.references {
            if let ReferenceTarget::Named { name, .. } = &used.target {
                let id = format!("/resolved/{name}");
                resolved.references.insert(used.target, id);
            }
        }
        let value = |kind, key: &str| {
            let found = cluster.data(kind, DATA.0, key);
            found.unwrap_or_else(|| "missing".to_owned())
        };
        for used in used.secrets {
            let text = value(DataKind::Secret, &used.target.key);
            resolved.secrets.insert(used.target, text);
        }
        for used in used.secret_maps {
            let text = value(DataKind::Secret, DATA.1);
            let values = [(DATA.1.to_owned(), text)].into();
            resolved.secret_maps.insert(used.target, values);
        }
        for used in used.config_maps {
            let text = value(DataKind::ConfigMap, &used.target.key);
            resolved.config_maps.insert(used.target, text);
        }
        arm_body(self.version, &self.azure_name, spec, &resolved).map_err(|error| error.to_string())
    }

    /// Whether the spec uses the Secret, or the ConfigMap.
    pub fn uses(&self, kind: DataKind) -> bool {
        let Some(spec) = &self.spec else { return false };
        let used = inputs(self.version.spec, spec);
        match kind {
            DataKind::Secret => !used.secrets.is_empty() || !used.secret_maps.is_empty(),
            DataKind::ConfigMap => !used.config_maps.is_empty(),
        }
    }
}
