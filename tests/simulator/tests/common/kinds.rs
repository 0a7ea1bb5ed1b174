//! Handwritten kinds: as few fields as the behaviours and the checks of bodies need.

use std::collections::BTreeMap;

use armature_runtime::kind::{
    HubInfo, KindInfo, NameRule, OwnerRule, Plan, Remote, Scope, Verbs, VersionInfo,
};
use armature_runtime::shape::{OneOf, Rules, Semantic, Shaped, StructAccess, StructShape, Variant};
use armature_runtime::{access, field, string_enum};

/// The one api-version of every kind here.
pub const API_VERSION: &str = "2024-01-01";

macro_rules! shaped {
    ($name:ident { $($member:ident: $ty:ty = $json:literal $(. $call:ident ( $($argument:expr),* ))*;)* }
     $(. $mark:ident ( $value:expr ))?) => {
        #[derive(Clone, Debug, Default, PartialEq)]
        pub struct $name { $(pub $member: Option<$ty>,)* }
        impl Shaped for $name {
            const SHAPE: &'static StructShape = {
                static SHAPE: StructShape = StructShape::of::<$name>(
                    stringify!($name),
                    &[$(field!($name, $member, $json)$(.$call($($argument),*))*),*],
                )$(.$mark($value))?;
                &SHAPE
            };
            const ACCESS: &'static StructAccess =
                &StructAccess::of::<$name>(&[$(access!($name, $member)),*]);
        }
    };
}

string_enum! { SkuName closed { STANDARD = "Standard_LRS", PREMIUM = "Premium_LRS" } }

static ACCOUNT_NAME: Rules = Rules {
    pattern: Some("^[a-z0-9]+$"),
    min_length: Some(3),
    max_length: Some(24),
    ..Rules::NONE
};
static DAYS: Rules = Rules {
    minimum: Some(1.0),
    maximum: Some(365.0),
    ..Rules::NONE
};

shaped! { ArmReference { arm_id: String = "armId"; }.meaning(Semantic::Reference) }
shaped! { SecretReference { name: String = "name"; }.meaning(Semantic::SecretReference) }
shaped! { Sku { name: SkuName = "name".at(&["name"]).required(); } }
shaped! { Empty {} }

shaped! { GroupSpec {
    name: String = "azureName".at(&["name"]);
    location: String = "location".at(&["location"]).required();
    tags: BTreeMap<String, String> = "tags".at(&["tags"]);
} }
shaped! { GroupStatus {
    location: String = "location".at(&["location"]);
    tags: BTreeMap<String, String> = "tags".at(&["tags"]);
    state: String = "provisioningState".at(&["properties", "provisioningState"]);
} }

shaped! { AccountSpec {
    location: String = "location".at(&["location"]).required();
    sku: Box<Sku> = "sku".at(&["sku"]).required();
    kind: String = "kind".at(&["kind"]).required();
    tags: BTreeMap<String, String> = "tags".at(&["tags"]);
    days: i64 = "days".at(&["properties", "retention", "days"]).rules(&DAYS);
    password: Box<SecretReference> = "password".at(&["properties", "password"]);
    subnets: Vec<ArmReference> = "subnets".at(&["properties", "subnetIds"]);
} }
shaped! { AccountStatus {
    location: String = "location".at(&["location"]);
    sku: Box<Sku> = "sku".at(&["sku"]);
    days: i64 = "days".at(&["properties", "retention", "days"]);
    tags: BTreeMap<String, String> = "tags".at(&["tags"]);
    state: String = "provisioningState".at(&["properties", "provisioningState"]);
    created: String = "creationTime".at(&["properties", "creationTime"]);
} }
shaped! { ServiceSpec { cors: bool = "cors".at(&["properties", "cors"]); } }

shaped! { LinkConnection {
    name: String = "name".at(&["name"]);
    service: Box<ArmReference> = "service".at(&["properties", "privateLinkServiceId"]);
    message: String = "requestMessage".at(&["properties", "requestMessage"]);
} }
shaped! { EndpointSpec {
    location: String = "location".at(&["location"]);
    automatic: Vec<LinkConnection> =
        "privateLinkServiceConnections".at(&["properties", "privateLinkServiceConnections"]);
    manual: Vec<LinkConnection> = "manualPrivateLinkServiceConnections"
        .at(&["properties", "manualPrivateLinkServiceConnections"]);
} }

shaped! { ClusterSpec { location: String = "location".at(&["location"]).required(); } }
shaped! { ReadWrite { period: String = "softDeletePeriod".at(&["properties", "softDeletePeriod"]).required(); } }
shaped! { Following { leader: String = "leader".at(&["properties", "leader"]); } }
shaped! { DatabaseSpec {
    read_write: Box<ReadWrite> = "readWrite".variant();
    following: Box<Following> = "following".variant();
}.one_of(OneOf {
    discriminator: "kind",
    variants: &[
        Variant { value: "ReadWrite", field: "readWrite" },
        Variant { value: "ReadOnlyFollowing", field: "following" },
    ],
}) }

shaped! { NetworkSpec {
    location: String = "location".at(&["location"]);
    prefixes: Vec<String> = "prefixes".at(&["properties", "addressSpace", "addressPrefixes"]);
} }
shaped! { SubnetSpec { prefix: String = "addressPrefix".at(&["properties", "addressPrefix"]); } }
shaped! { StateStatus {
    state: String = "provisioningState".at(&["properties", "provisioningState"]);
    etag: String = "etag".at(&["etag"]);
} }

/// What differs between the kinds.
struct Template {
    remote: Remote,
    name: NameRule,
    versions: &'static [VersionInfo],
}

const fn version(
    spec: &'static StructShape,
    status: &'static StructShape,
    long_running: bool,
    child_lists: &'static [&'static [&'static str]],
) -> VersionInfo {
    VersionInfo {
        name: "v20240101",
        api_version: API_VERSION,
        sources: &[],
        is_on_request: false,
        spec,
        status,
        verbs: Verbs {
            get: true,
            head: true,
            put: true,
            patch: true,
            delete: true,
            put_long_running: long_running,
            delete_long_running: long_running,
        },
        child_lists,
        keep_unknown: &[],
        spec_plan: &Plan::SAME,
        status_plan: &Plan::SAME,
    }
}

const fn kind(template: Template) -> KindInfo {
    KindInfo {
        group: "test.azure.com",
        kind: "Test",
        plural: "tests",
        category: "test",
        remote: template.remote,
        owner: OwnerRule::Any,
        name: template.name,
        versions: template.versions,
        hub: HubInfo {
            storage_version: "v20240101storage",
            spec: Empty::SHAPE,
            status: Empty::SHAPE,
        },
        secrets: &[],
        config_maps: &[],
        errors: &[],
        azure_owned: &[],
        equal_values: &[],
    }
}

const ANY_NAME: NameRule = NameRule::Free(&Rules::NONE);

macro_rules! kinds {
    ($($name:ident = $arm_type:literal, $rule:expr, $version:expr;)*) => {
        $(static $name: KindInfo = kind(Template {
            remote: Remote::Arm {
                arm_type: $arm_type,
                scope: Scope::ResourceGroup,
            },
            name: $rule,
            versions: { static VERSIONS: [VersionInfo; 1] = [$version]; &VERSIONS },
        });)*
        /// Every kind here.
        pub static KINDS: &[&KindInfo] = &[$(&$name),*];
    };
}

kinds! {
    GROUP = "Microsoft.Resources/resourceGroups", ANY_NAME,
        version(GroupSpec::SHAPE, GroupStatus::SHAPE, false, &[]);
    ACCOUNT = "Microsoft.Storage/storageAccounts", NameRule::Free(&ACCOUNT_NAME),
        version(AccountSpec::SHAPE, AccountStatus::SHAPE, true, &[]);
    BLOB_SERVICE = "Microsoft.Storage/storageAccounts/blobServices", NameRule::Fixed("default"),
        version(ServiceSpec::SHAPE, Empty::SHAPE, false, &[]);
    CONTAINER = "Microsoft.Storage/storageAccounts/blobServices/containers", ANY_NAME,
        version(Empty::SHAPE, Empty::SHAPE, false, &[]);
    IDENTITY = "Microsoft.ManagedIdentity/userAssignedIdentities", ANY_NAME,
        version(ClusterSpec::SHAPE, Empty::SHAPE, false, &[]);
    ENDPOINT = "Microsoft.Network/privateEndpoints", ANY_NAME,
        version(EndpointSpec::SHAPE, StateStatus::SHAPE, true, &[]);
    NETWORK = "Microsoft.Network/virtualNetworks", ANY_NAME,
        version(NetworkSpec::SHAPE, StateStatus::SHAPE, true, &[&["properties", "subnets"]]);
    SUBNET = "Microsoft.Network/virtualNetworks/subnets", ANY_NAME,
        version(SubnetSpec::SHAPE, StateStatus::SHAPE, true, &[]);
    CLUSTER = "Microsoft.Kusto/clusters", ANY_NAME,
        version(ClusterSpec::SHAPE, StateStatus::SHAPE, true, &[]);
    DATABASE = "Microsoft.Kusto/clusters/databases", ANY_NAME,
        version(DatabaseSpec::SHAPE, StateStatus::SHAPE, true, &[]);
    WIDGET = "Contoso.Test/widgets", ANY_NAME,
        version(ClusterSpec::SHAPE, StateStatus::SHAPE, true, &[]);
}
