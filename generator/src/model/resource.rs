//! Groups, versions and resources.

use std::collections::{BTreeMap, BTreeSet};

use super::{ApiVersion, TypeId, TypeTable};

/// One Azure group, the unit of curation and of generated crates.
#[derive(Clone, Debug, PartialEq)]
pub struct Group {
    /// Short name: `storage`. Also the name of the TOML file and of the generated crate.
    pub name: String,
    /// Kubernetes API group: `storage.azure.com`.
    pub api_group: String,
    /// Versions by ARM api-version, oldest first.
    pub versions: BTreeMap<ApiVersion, Version>,
    /// What errors of Azure mean where that differs from the rules for all kinds; set by curation.
    pub errors: Vec<ErrorRule>,
    /// What is known of single values of a kind, by its name; set by curation.
    pub values: BTreeMap<String, ValueRules>,
    /// Whether types stand in a file for each first letter.
    pub types_by_letter: bool,
}

/// What is known of single values of a kind, in the words that the engines read; paths are those of ARM's schema.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ValueRules {
    /// Values that Azure moves by itself.
    pub azure_owned: Vec<String>,
    /// Values that Azure answers in other words.
    pub equal: Vec<String>,
    /// What becomes of an edit.
    pub edits: Vec<String>,
}

impl Group {
    /// The category of its kinds, for `kubectl get`: the short name in one word, `networkfrontdoor`.
    pub fn category(&self) -> String {
        self.name.replace('.', "")
    }
}

/// Everything that one api-version of a group holds.
#[derive(Clone, Debug, PartialEq)]
pub struct Version {
    /// ARM api-version.
    pub api_version: ApiVersion,
    /// Spec files of all sources this version was read from, for headers and error messages; sorted.
    pub sources: Vec<SourceFile>,
    /// Every ARM type that the files of each source describe, exported or not; sorted.
    pub arm_types: BTreeMap<String, Vec<String>>,
    /// Resources in order of ARM type.
    pub resources: Vec<Resource>,
    /// Every type that the resources reach.
    pub types: TypeTable,
    /// Every word that the specs give to a type, whether a resource reaches it or not.
    pub words: BTreeSet<String>,
}

/// A spec file, relative to the root of the spec tree.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SourceFile(pub String);

/// One ARM resource type in one api-version.
#[derive(Clone, Debug, PartialEq)]
pub struct Resource {
    /// Kind in Kubernetes. `discover` proposes (singular of the path's segments), curation decides.
    pub kind: String,
    /// Lower-case plural in Kubernetes; set by curation from the kind.
    pub plural: String,
    /// ARM type with its casing: `Microsoft.Storage/storageAccounts/blobServices`.
    pub arm_type: String,
    /// Path template as the spec has it.
    pub path: String,
    /// Spec file and JSON pointer of the path, for messages.
    pub source: (SourceFile, String),
    /// The OpenAPI version that told of verbs, of what takes long and of the name, where Bicep types could not; for people.
    pub inherited_from: Option<ApiVersion>,
    /// Where the resource hangs.
    pub scope: Scope,
    /// What the resource belongs to.
    pub owner: Owner,
    /// How the last segment of the ARM id is chosen.
    pub name: NameRule,
    /// HTTP verbs that the path offers.
    pub verbs: Verbs,
    /// Root object type of the desired state (body of PUT, read-only properties removed).
    pub spec: TypeId,
    /// Root object type of the observed state (body of GET).
    pub status: TypeId,
    /// Served version names: `["v1api20230101", "v20230101"]`; set by curation.
    pub version_names: Vec<String>,
    /// Whether the version is served only when a user names it, and never stored; set by curation.
    pub is_on_request: bool,
    /// The end of the api-version, where Azure has told of one; set by curation.
    pub retirement: Option<Retirement>,
    /// Keys of `operatorSpec.secrets` with the place of each value; set by curation.
    pub secrets: Vec<(String, SecretSource)>,
    /// Keys of `operatorSpec.configMaps` with the status path (JSON names) each is read from; an empty path
    /// means a handwritten exporter fills it. Set by curation.
    pub config_maps: Vec<(String, Vec<String>)>,
    /// ARM paths of lists whose items are kinds of their own (subnets of a virtual network), which specs
    /// therefore leave out. Set by curation.
    pub child_lists: Vec<Vec<String>>,
    /// ARM paths of lists and maps in which a PUT keeps what the spec never named. Set by curation.
    pub keep_unknown: Vec<Vec<String>>,
}

/// The end of an api-version.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Retirement {
    /// The day from which requests at it may fail: `2027-02-27`.
    pub date: String,
    /// The public page that has the date.
    pub page: String,
    /// Name of the kind's version to use: `v20260201`.
    pub successor: String,
}

/// What an error of Azure means; the first rule that matches holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ErrorRule {
    /// Kinds that it is for; all of the group when there are none.
    pub kinds: Vec<String>,
    /// Error code.
    pub code: String,
    /// Part of the message, in any casing.
    pub message: Option<String>,
    /// What to do.
    pub class: ErrorClass,
}

/// What to do about an error (ASO behaviour §1.7).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ErrorClass {
    /// Wait for a change of the object.
    Fatal,
    /// Retry after seconds.
    RetryFast,
    /// Retry after minutes.
    RetrySlow,
    /// Retry once per sync period.
    RetryVerySlow,
}

/// Where a value of `operatorSpec.secrets` is found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SecretSource {
    /// JSON names in the status, from the top.
    Status(Vec<String>),
    /// The subscription in the ARM id.
    Subscription,
    /// The answer to a POST below the resource.
    Action {
        /// Last segment of the URL: `listKeys`.
        action: String,
        /// Way to the value in the answer.
        value: Vec<AnswerStep>,
    },
    /// A handwritten exporter gets it.
    Extension,
}

/// One step on the way to a value in the answer to an action.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AnswerStep {
    /// Into this member of an object.
    Member(String),
    /// To the first item of a list.
    First,
    /// To what the text here says in Base64.
    Base64,
    /// To the item of a list whose member has this text.
    Item {
        /// Member of the item: `keyName`.
        member: String,
        /// Its text: `key1`.
        is: String,
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
    /// Below any resource: role assignments, diagnostic settings.
    Extension,
}

/// What a resource belongs to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Owner {
    /// Nothing in Kubernetes: resource groups, tenant resources.
    None,
    /// A resource group.
    ResourceGroup,
    /// The resource of this ARM type (same group): `Microsoft.Storage/storageAccounts`.
    Parent(String),
    /// Any resource: extension scope.
    Any,
}

/// How the last segment of the ARM id is chosen.
#[derive(Clone, Debug, PartialEq)]
pub enum NameRule {
    /// The user chooses, within these rules of the path parameter.
    Free(super::Rules),
    /// The same, and where the user gives none, it is a UUID.
    Uuid {
        /// Rules of the path parameter.
        rules: super::Rules,
        /// What the UUID is made of.
        text: UuidText,
    },
    /// One of several values.
    OneOf(Vec<String>),
    /// Always this value; the kind has no `azureName`.
    Fixed(String),
}

/// The text of which the UUID of a name is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UuidText {
    /// An owner that is named by its ARM id counts by that. The user may ask for a random UUID.
    WithOwnerId,
    /// An owner that is named by its ARM id does not count.
    WithoutOwnerId,
}

/// HTTP verbs that a resource's path offers, and whether PUT and DELETE may be long-running.
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
    /// `x-ms-long-running-operation` on PUT.
    pub put_long_running: bool,
    /// `x-ms-long-running-operation` on DELETE.
    pub delete_long_running: bool,
}
