//! A kind: versions, ARM type, owner, name, exports.

use armature_runtime::engine::owned::Rule;
use armature_runtime::kind::{KindInfo, NameRule, OwnerRule, Remote, Scope, VersionInfo};
use serde::Serialize;

use super::fixed::cannot_change;
use super::property::Member;
use super::wording;
use crate::descriptions::Descriptions;

/// A kind for people and programs.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct KindPage {
    /// API group.
    pub group: &'static str,
    /// Kind.
    pub kind: &'static str,
    /// What kubectl takes.
    pub plural: &'static str,
    /// ARM type.
    pub arm_type: &'static str,
    /// Where it hangs.
    pub scope: &'static str,
    /// `group/Kind` of the owner, or `any`; nothing where it has none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub owner: Option<String>,
    /// How the name in Azure is chosen.
    pub name: String,
    /// Versions, oldest first.
    pub versions: Vec<VersionLine>,
    /// The version in which objects are stored.
    pub stored_as: &'static str,
    /// Whether Azure deletes it by itself.
    pub can_be_deleted: bool,
    /// Keys of `operatorSpec.secrets`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub secrets: Vec<&'static str>,
    /// Keys of `operatorSpec.configMaps`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub config_maps: Vec<&'static str>,
    /// Values that Azure moves by itself, in the words of `azure-owned`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub azure_owned: Vec<&'static str>,
    /// What Azure makes of edits, where it depends on the value, in the words of `edits`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub edits: Vec<String>,
    /// Properties of the spec that cannot be changed.
    pub cannot_change: Vec<String>,
    /// The version of the properties.
    pub version: &'static str,
    /// Properties of the spec.
    pub spec: Vec<Member>,
}

/// One version of a kind.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct VersionLine {
    /// In Kubernetes.
    pub name: &'static str,
    /// In Azure.
    pub api_version: &'static str,
    /// Served only when a user names it.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub on_request: bool,
}

impl KindPage {
    /// A kind in one of its versions.
    pub fn new(kind: &'static KindInfo, version: &'static VersionInfo) -> Self {
        Self {
            group: kind.group,
            kind: kind.kind,
            plural: kind.plural,
            arm_type: kind.remote_type(),
            scope: scope(kind),
            owner: owner(kind),
            name: name(kind),
            versions: kind.versions.iter().map(line).collect(),
            stored_as: kind.hub.storage_version,
            can_be_deleted: version.verbs.delete,
            secrets: kind.secrets.iter().map(|export| export.key).collect(),
            config_maps: kind.config_maps.iter().map(|export| export.key).collect(),
            azure_owned: owned_in(kind, version),
            edits: Descriptions::shared(kind.group).edits(kind.kind).to_vec(),
            cannot_change: cannot_change(kind, version.spec),
            version: version.name,
            spec: Member::all(version.spec),
        }
    }
}

/// The rules that a version has the path of.
fn owned_in(kind: &'static KindInfo, version: &VersionInfo) -> Vec<&'static str> {
    let rules = kind.azure_owned.iter().copied();
    let is_there =
        |rule: &&str| Rule::parse(rule).is_ok_and(|rule| rule.path.is_known(version.spec));
    rules.filter(is_there).collect()
}

fn line(version: &VersionInfo) -> VersionLine {
    VersionLine {
        name: version.name,
        api_version: version.api_version,
        on_request: version.is_on_request,
    }
}

/// Where a kind hangs.
pub fn scope(kind: &KindInfo) -> &'static str {
    match kind.remote {
        Remote::Arm { scope, .. } => match scope {
            Scope::ResourceGroup => "in a resource group",
            Scope::Subscription => "in a subscription",
            Scope::Tenant => "in the tenant",
            Scope::Extension => "on any resource",
        },
        Remote::Other(_) => "outside of Azure Resource Manager",
    }
}

/// The owner of a kind.
pub fn owner(kind: &KindInfo) -> Option<String> {
    match kind.owner {
        OwnerRule::None => None,
        OwnerRule::Any => Some("any".to_owned()),
        OwnerRule::Kind { group, kind } => Some(format!("{group}/{kind}")),
    }
}

fn name(kind: &KindInfo) -> String {
    let within = |rules| match wording::of_rules(rules) {
        rules if rules.is_empty() => String::new(),
        rules => format!(" ({})", rules.join(", ")),
    };
    match kind.name {
        NameRule::Free(rules) => format!("spec.azureName, else metadata.name{}", within(rules)),
        NameRule::Uuid { rules, .. } => {
            format!(
                "spec.azureName{}, else a UUID that the operator writes there",
                within(rules)
            )
        }
        NameRule::OneOf(names) => format!("spec.azureName, one of {}", names.join(", ")),
        NameRule::Fixed(name) => format!("always {name}"),
    }
}
