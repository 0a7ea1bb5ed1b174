//! Static descriptors of kinds: what the reconciler, the CRD composer and the simulator know about each.
//!
//! Written by the generator as constants, one [`KindInfo`] per kind. Nothing here does anything.

use crate::shape::{Rules, Semantic, StructShape};

/// One Kubernetes kind and what is behind it.
#[derive(Debug)]
pub struct KindInfo {
    /// API group: `storage.azure.com`.
    pub group: &'static str,
    /// Kind: `StorageAccountsBlobService`.
    pub kind: &'static str,
    /// Lower-case plural: `storageaccountsblobservices`.
    pub plural: &'static str,
    /// Second category beside `azure`: the group's short name.
    pub category: &'static str,
    /// Where the resources live.
    pub remote: Remote,
    /// What `spec.owner` points at.
    pub owner: OwnerRule,
    /// How the last segment of the ARM id is chosen.
    pub name: NameRule,
    /// Served versions, oldest first; twins of one api-version stand together, `v1api…` before `v…`.
    pub versions: &'static [VersionInfo],
    /// The hub: union of all versions, and the form that is stored.
    pub hub: HubInfo,
    /// Keys of `operatorSpec.secrets` that the kind can export.
    pub secrets: &'static [SecretExport],
    /// Keys of `operatorSpec.configMaps` that the kind can export.
    pub config_maps: &'static [ConfigMapExport],
    /// What errors of this kind mean where that differs from the rules for all kinds.
    pub errors: &'static [ErrorRule],
    /// Values that Azure moves by itself, one rule each, in the words that `armature_engine::owned` reads:
    /// `properties.count from properties.minCount to properties.maxCount while properties.enableAutoScaling`. Paths are
    /// those of ARM's schema; an api-version that lacks one has no such rule.
    pub azure_owned: &'static [&'static str],
    /// Values that Azure answers in other words, one rule each, in the words that `armature_engine::compare` reads:
    /// `properties.rules[].source as address`.
    pub equal_values: &'static [&'static str],
}

impl KindInfo {
    /// What a descriptor leaves out: `..KindInfo::PLAIN`. Alone it is no kind, for it has no name and no version.
    pub const PLAIN: Self = Self {
        group: "",
        kind: "",
        plural: "",
        category: "",
        remote: Remote::Other(""),
        owner: OwnerRule::None,
        name: NameRule::Free(&Rules::NONE),
        versions: &[],
        hub: HubInfo {
            storage_version: "",
            spec: &NOTHING,
            status: &NOTHING,
        },
        secrets: &[],
        config_maps: &[],
        errors: &[],
        azure_owned: &[],
        equal_values: &[],
    };

    /// The version served under this name.
    pub fn version(&self, name: &str) -> Option<&'static VersionInfo>
    where
        Self: 'static,
    {
        self.versions.iter().find(|version| version.name == name)
    }

    /// The versions that are not served on request alone, oldest first.
    pub fn served_unasked(&self) -> impl DoubleEndedIterator<Item = &VersionInfo> {
        let versions = self.versions.iter();
        versions.filter(|version| !version.is_on_request)
    }

    /// The ARM type, `Microsoft.Storage/storageAccounts/blobServices`; of another remote its name.
    pub fn remote_type(&self) -> &'static str {
        match self.remote {
            Remote::Arm { arm_type, .. } => arm_type,
            Remote::Other(name) => name,
        }
    }

    /// The ARM provider namespace: `Microsoft.Storage`.
    pub fn provider(&self) -> &'static str {
        self.remote_type().split('/').next().unwrap_or_default()
    }

    /// What ARM may call the items of a list as resources of their own: by the list's own name, or `pools` where the list is one
    /// of `poolProfiles`.
    pub fn item_segments(list: &str) -> Vec<String> {
        let stem = list.strip_suffix("Profiles");
        let plural = stem.map(|stem| format!("{stem}s"));
        std::iter::once(list.to_owned()).chain(plural).collect()
    }

    /// The last segment of the ARM type: `blobServices`.
    pub fn arm_type_segment(&self) -> &'static str {
        self.remote_type().rsplit('/').next().unwrap_or_default()
    }
}

/// Where the resources of a kind live.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Remote {
    /// In Azure Resource Manager.
    Arm {
        /// ARM type with the casing of the spec: `Microsoft.Storage/storageAccounts/blobServices`.
        arm_type: &'static str,
        /// Where the resource hangs.
        scope: Scope,
    },
    /// In another remote: the name under which the reconciler knows it.
    Other(&'static str),
}

impl Remote {
    /// Whether resources of both live in the same remote.
    pub fn is_same(&self, other: Self) -> bool {
        match (self, other) {
            (Self::Arm { .. }, Self::Arm { .. }) => true,
            (Self::Other(one), Self::Other(other)) => *one == other,
            _ => false,
        }
    }
}

/// One served version of a kind.
#[derive(Debug)]
pub struct VersionInfo {
    /// Name in Kubernetes: `v1api20230101`.
    pub name: &'static str,
    /// ARM api-version: `2023-01-01`.
    pub api_version: &'static str,
    /// Spec files that it was generated from.
    pub sources: &'static [&'static str],
    /// Whether it is served only when a user names it, and objects are never stored in it: Azure Service Operator does
    /// not have it, and a cluster can be given back without it.
    pub is_on_request: bool,
    /// Desired state.
    pub spec: &'static StructShape,
    /// Observed state; `conditions` first, then what ARM returns.
    pub status: &'static StructShape,
    /// What the ARM path offers.
    pub verbs: Verbs,
    /// ARM paths of lists whose items are kinds of their own, such as the subnets of a virtual network (ASO's
    /// `$resourceLifecycleOwnedByParent`). The spec leaves them out; a PUT carries what ARM returned, because
    /// ARM deletes the items that a PUT does not name.
    pub child_lists: &'static [&'static [&'static str]],
    /// ARM paths of lists that the spec has and whose items may also be kinds of their own, such as the extensions of a
    /// scale set. A PUT carries those that ARM has and that the spec never named.
    pub keep_unknown: &'static [&'static [&'static str]],
    /// Differences between this version's spec and the hub's.
    pub spec_plan: &'static Plan,
    /// Differences between this version's status and the hub's.
    pub status_plan: &'static Plan,
}

impl VersionInfo {
    /// What a descriptor leaves out: `..VersionInfo::PLAIN`. Alone it is no version, for it has no name and no shapes.
    pub const PLAIN: Self = Self {
        name: "",
        api_version: "",
        sources: &[],
        is_on_request: false,
        spec: &NOTHING,
        status: &NOTHING,
        verbs: Verbs::USUAL,
        child_lists: &[],
        keep_unknown: &[],
        spec_plan: &Plan::SAME,
        status_plan: &Plan::SAME,
    };
}

/// A struct without fields.
static NOTHING: StructShape = StructShape {
    name: "",
    fields: &[],
    semantic: Semantic::Plain,
    one_of: None,
    descriptions: &[],
};

/// The hub of a kind.
#[derive(Debug)]
pub struct HubInfo {
    /// Name of the storage version, as ASO names it: `v1api20230101storage` (ASO behaviour §3.1).
    pub storage_version: &'static str,
    /// Union of all versions' specs. Fields that the storage version lacks are marked
    /// [`crate::shape::Flags::STASHED`] and are stored in `$propertyBag`. Its field `originalVersion`, absent
    /// from ARM, holds the name of the version that the user wrote.
    pub spec: &'static StructShape,
    /// Union of all versions' statuses, marked the same way.
    pub status: &'static StructShape,
}

/// What differs between one version's struct and the hub's, and where. What a plan does not mention has the
/// same name and type on both sides, or exists on one side only and is carried in a stash.
#[derive(Debug, PartialEq)]
pub struct Plan {
    /// Steps at this level.
    pub steps: &'static [Step],
    /// Plans for fields below (version's JSON name), through lists and maps.
    pub nested: &'static [(&'static str, &'static Plan)],
}

impl Plan {
    /// Nothing differs but the presence of fields.
    pub const SAME: Plan = Plan {
        steps: &[],
        nested: &[],
    };
}

/// One difference between a version's struct and the hub's.
#[derive(Debug, PartialEq)]
pub enum Step {
    /// The version's field has another name in the hub.
    Rename {
        /// JSON name in the version.
        version: &'static str,
        /// JSON name in the hub.
        hub: &'static str,
    },
    /// Both sides have the name, and the types differ so that values cannot be carried over: the version's
    /// value travels under another hub field.
    Retype {
        /// JSON name in the version.
        version: &'static str,
        /// JSON name of the hub field that has the version's type.
        hub: &'static str,
    },
}

/// Where a resource hangs in ARM (ASO behaviour §4.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// Below a resource group, directly or through its parents.
    ResourceGroup,
    /// Below a subscription; the resource group itself is one of these.
    Subscription,
    /// Below nothing.
    Tenant,
    /// Below any resource.
    Extension,
}

/// What `spec.owner` points at (ASO behaviour §3.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OwnerRule {
    /// The kind has no owner.
    None,
    /// A kind that is fixed: group and kind.
    Kind {
        /// API group of the owner.
        group: &'static str,
        /// Kind of the owner.
        kind: &'static str,
    },
    /// Any kind, named in the reference.
    Any,
}

/// How the last segment of the ARM id is chosen.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum NameRule {
    /// `spec.azureName`, else `metadata.name`, within the rules.
    Free(&'static Rules),
    /// `spec.azureName` within the rules, else a UUID, which the operator writes there (ASO behaviour §2.3).
    Uuid {
        /// Rules of a name that the user gives.
        rules: &'static Rules,
        /// The text that it is made of.
        text: UuidText,
    },
    /// One of several values in `spec.azureName`.
    OneOf(&'static [&'static str]),
    /// Always this value.
    Fixed(&'static str),
}

impl NameRule {
    /// Rules of a name that the user gives; `None` where Azure takes only some names.
    pub fn rules(&self) -> Option<&'static Rules> {
        match self {
            Self::Free(rules) | Self::Uuid { rules, .. } => Some(rules),
            Self::OneOf(_) | Self::Fixed(_) => None,
        }
    }
}

/// The text of which the UUID of a name is made. Azure Service Operator has two, and names in Azure stay.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UuidText {
    /// An owner that is named by its ARM id counts by that.
    WithOwnerId,
    /// An owner that is named by its ARM id does not count.
    WithoutOwnerId,
}

/// What an ARM path offers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Verbs {
    /// GET of one resource.
    pub get: bool,
    /// HEAD of one resource.
    pub head: bool,
    /// PUT.
    pub put: bool,
    /// PATCH.
    pub patch: bool,
    /// DELETE.
    pub delete: bool,
    /// PUT may be long-running (`x-ms-long-running-operation`).
    pub put_long_running: bool,
    /// DELETE may be long-running.
    pub delete_long_running: bool,
}

impl Verbs {
    /// What most ARM paths offer: all but HEAD, with long-running PUT and DELETE.
    pub const USUAL: Self = Self {
        get: true,
        head: false,
        put: true,
        patch: true,
        delete: true,
        put_long_running: true,
        delete_long_running: true,
    };
}

/// One key of `operatorSpec.configMaps`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ConfigMapExport {
    /// JSON name of the destination.
    pub key: &'static str,
    /// JSON names in the status, from the top; empty where a handwritten exporter fills the value.
    pub status_path: &'static [&'static str],
}

/// One key of `operatorSpec.secrets`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SecretExport {
    /// JSON name of the destination.
    pub key: &'static str,
    /// Where the value is found.
    pub source: SecretSource,
}

/// Where a value of `operatorSpec.secrets` is found (ASO behaviour §2.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SecretSource {
    /// JSON names in the hub's status, from the top.
    Status(&'static [&'static str]),
    /// The subscription in the ARM id.
    Subscription,
    /// The answer to a POST below the resource.
    Action {
        /// Last segment of the URL: `listKeys`.
        action: &'static str,
        /// Way to the value in the answer.
        value: &'static [AnswerStep],
    },
    /// A handwritten exporter gets it.
    Extension,
}

/// One step on the way to a value in the answer to an action.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AnswerStep {
    /// Into this member of an object.
    Member(&'static str),
    /// To the first item of a list, where any will do or there is one only.
    First,
    /// To what the text here says in Base64.
    Base64,
    /// To the item of a list whose member has this text. Azure does not promise an order.
    Item {
        /// Member of the item: `keyName`.
        member: &'static str,
        /// Its text: `key1`.
        is: &'static str,
    },
}

/// What an error of Azure means. The first rule that matches holds; what a rule leaves open matches everything.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ErrorRule {
    /// Error code, with its casing.
    pub code: Option<&'static str>,
    /// HTTP status. The outcome of an operation has none.
    pub status: Option<u16>,
    /// Part of the message, in any casing. Azure's texts change: only where the code says too little.
    pub message: Option<&'static str>,
    /// What to do about it.
    pub class: ErrorClass,
}

impl ErrorRule {
    /// The rule for a code, whatever the status and the message.
    pub const fn of(code: &'static str, class: ErrorClass) -> Self {
        Self {
            code: Some(code),
            status: None,
            message: None,
            class,
        }
    }

    /// The same for errors alone whose message has this in it.
    #[must_use]
    pub const fn saying(mut self, part: &'static str) -> Self {
        self.message = Some(part);
        self
    }
}

/// What to do about an error (ASO behaviour §1.7).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ErrorClass {
    /// Only a change of the object can help: severity `Error`, no retry.
    Fatal,
    /// It may pass at any moment: up to 30 seconds between retries.
    RetryFast,
    /// It may pass: up to 3 minutes between retries.
    RetrySlow,
    /// It rarely passes: a retry once per sync period.
    RetryVerySlow,
}

/// A kind and version as a type: what `kube::Api` and typed code name.
///
/// Implemented by generated marker types; [`crate::resource::TypedObject`] does the rest.
pub trait TypedKind: Copy + Clone + std::fmt::Debug + Default + Send + Sync + 'static {
    /// Desired state.
    type Spec: crate::shape::Shaped + std::fmt::Debug + PartialEq + Send + Sync;
    /// Observed state.
    type Status: crate::shape::Shaped + std::fmt::Debug + PartialEq + Send + Sync;
    /// The kind.
    const KIND: &'static KindInfo;
    /// Name of the version: a served one, or the storage version for hub types.
    const VERSION: &'static str;
}
