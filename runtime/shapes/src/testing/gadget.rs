//! A handwritten kind in two api-versions for the engines' tests: every semantic, every step of a plan.
#![allow(dead_code, reason = "no test needs every member of an enum")]

use std::collections::BTreeMap;

use crate::kind::{
    HubInfo, KindInfo, NameRule, OwnerRule, Plan, Remote, Scope, Step, TypedKind, Verbs,
    VersionInfo,
};
use crate::resource::{
    Condition, ConfigMapReference, KnownResourceReference, ResourceReference, SecretMapReference,
    SecretReference, UserAssignedIdentityDetails,
};
use crate::shape::{Flags, OneOf, Rules, Shaped, Variant};
use crate::{shaped, string_enum};

string_enum! {
    /// Tier.
    Tier closed { HOT = "Hot", COOL = "Cool" }
}

string_enum! {
    /// Kind of identity.
    IdentityType closed { SYSTEM = "SystemAssigned", USER = "UserAssigned" }
}

shaped! {
    /// Identity.
    Identity {
        /// Kind.
        identity_type: IdentityType = "type".at(&["type"]);
        /// Ids.
        identities: Vec<UserAssignedIdentityDetails> = "userAssignedIdentities".at(&["userAssignedIdentities"]);
    }
}

shaped! {
    /// A rule of the newer version and of the hub.
    Rule {
        /// Identity.
        name: String = "name".at(&["name"]).required();
        /// Order.
        priority: i64 = "priority".at(&["properties", "priority"]);
        /// Prefixes.
        prefixes: Vec<String> = "prefixes".at(&["properties", "prefixes"]).flags(Flags::EXPLICIT);
        /// Target.
        target: Box<ResourceReference> = "targetReference".at(&["properties", "targetId"]);
    }
}

shaped! {
    /// A rule of the older version.
    OldRule.described(&[("", "How traffic flows."), ("weight", "Lower comes first.")]) {
        /// Identity.
        name: String = "name".at(&["name"]);
        /// Order.
        weight: i64 = "weight".at(&["properties", "weight"]);
    }
}

shaped! {
    /// Variant.
    Blob {
        /// Address.
        uri: String = "uri".at(&["properties", "uri"]);
    }
}

shaped! {
    /// Variant.
    Queue {
        /// Name.
        queue: String = "queue".at(&["properties", "queue"]);
    }
}

static VARIANTS: &[Variant] = &[
    Variant {
        value: "Blob",
        field: "blob",
    },
    Variant {
        value: "Queue",
        field: "queue",
    },
];

shaped! {
    /// A discriminated object.
    Source.one_of(OneOf { discriminator: "kind", variants: VARIANTS }) {
        /// Variant.
        blob: Box<Blob> = "blob".variant();
        /// Variant.
        queue: Box<Queue> = "queue".variant();
    }
}

shaped! {
    /// The older version's network.
    OldNetwork {
        /// Address.
        address: String = "address".at(&["address"]);
        /// Something beside it.
        mask: i64 = "mask".at(&["mask"]);
    }
}

shaped! {
    /// A variant with further members, of itself and of an envelope below.
    OpenVariant {
        /// Known.
        size: i64 = "size".at(&["size"]);
        /// Known, in the envelope.
        unit: String = "unit".at(&["properties", "unit"]);
        /// Beside the known ones of the envelope.
        further: BTreeMap<String, String> = "properties_additionalProperties".further(&["properties"]);
        /// Beside the known ones of the object.
        additional: BTreeMap<String, i64> = "additionalProperties".further(&[]);
    }
}

static OPEN_VARIANTS: &[Variant] = &[Variant {
    value: "Metric",
    field: "metric",
}];

shaped! {
    /// A discriminated object whose variant has further members.
    Open.one_of(OneOf { discriminator: "odata.type", variants: OPEN_VARIANTS }) {
        /// The only variant.
        metric: Box<OpenVariant> = "metric".variant();
    }
}

static NAME: Rules = Rules {
    pattern: Some("^[a-z0-9]+$"),
    min_length: Some(3),
    max_length: Some(24),
    ..Rules::NONE
};

static PERCENT: Rules = Rules {
    minimum: Some(0.0),
    maximum: Some(100.0),
    ..Rules::NONE
};

shaped! {
    /// The newer version's spec.
    Spec {
        /// Name.
        azure_name: String = "azureName".rules(&NAME);
        /// Owner.
        owner: Box<KnownResourceReference> = "owner".required();
        /// Location.
        location: String = "location".at(&["location"]).flags(Flags::LOCATION).required();
        /// Tags.
        tags: BTreeMap<String, String> = "tags".at(&["tags"]).flags(Flags::EXPLICIT);
        /// Identity.
        identity: Box<Identity> = "identity".at(&["identity"]);
        /// Tier.
        access_tier: Tier = "accessTier".at(&["properties", "accessTier"]);
        /// Units.
        capacity: i64 = "capacity".at(&["properties", "capacity"]).rules(&PERCENT);
        /// Subnet.
        subnet: Box<ResourceReference> = "subnetReference".at(&["properties", "subnet", "id"]).flags(Flags::ARM_ID);
        /// Secret.
        password: Box<SecretReference> = "password".at(&["properties", "password"]).flags(Flags::SECRET);
        /// Secrets.
        protected_settings: Box<SecretMapReference> = "protectedSettings".at(&["properties", "protectedSettings"]).flags(Flags::SECRET);
        /// Address.
        address: String = "address".at(&["properties", "network", "address"]);
        /// Address from a config map.
        address_from_config: Box<ConfigMapReference> = "addressFromConfig".at(&["properties", "network", "address"]);
        /// Rules.
        rules: Vec<Rule> = "rules".at(&["properties", "rules"]).identifiers(&["name"]);
        /// Source.
        source: Box<Source> = "source".at(&["properties", "source"]);
        /// Zones.
        zones: Vec<String> = "zones".at(&["zones"]);
    }
}

shaped! {
    /// The older version's spec.
    OldSpec {
        /// Name.
        azure_name: String = "azureName";
        /// Owner.
        owner: Box<KnownResourceReference> = "owner".required();
        /// Location.
        location: String = "location".at(&["location"]).flags(Flags::LOCATION);
        /// Renamed later.
        tier: Tier = "tier".at(&["properties", "tier"]);
        /// Text here, a number later.
        capacity: String = "capacity".at(&["properties", "capacity"]);
        /// Gone later.
        network: Box<OldNetwork> = "network".at(&["properties", "network"]);
        /// Rules.
        rules: Vec<OldRule> = "rules".at(&["properties", "rules"]);
        /// Gone later.
        legacy: Box<Blob> = "legacy".at(&["properties", "legacy"]);
    }
}

shaped! {
    /// The hub's spec.
    HubSpec {
        /// Version of the user's manifest.
        original_version: String = "originalVersion";
        /// Name.
        azure_name: String = "azureName";
        /// Owner.
        owner: Box<KnownResourceReference> = "owner";
        /// Location.
        location: String = "location".at(&["location"]);
        /// Tags.
        tags: BTreeMap<String, String> = "tags".at(&["tags"]);
        /// Identity.
        identity: Box<Identity> = "identity".at(&["identity"]);
        /// Tier.
        access_tier: Tier = "accessTier".at(&["properties", "accessTier"]);
        /// Units.
        capacity: i64 = "capacity".at(&["properties", "capacity"]);
        /// The older version's capacity.
        capacity_text: String = "capacityV20200101".flags(Flags::STASHED);
        /// Subnet.
        subnet: Box<ResourceReference> = "subnetReference".at(&["properties", "subnet", "id"]);
        /// Secret.
        password: Box<SecretReference> = "password".at(&["properties", "password"]);
        /// Secrets.
        protected_settings: Box<SecretMapReference> = "protectedSettings".at(&["properties", "protectedSettings"]);
        /// Address.
        address: String = "address".at(&["properties", "network", "address"]);
        /// Address from a config map.
        address_from_config: Box<ConfigMapReference> = "addressFromConfig";
        /// The older version's network.
        network: Box<OldNetwork> = "network".flags(Flags::STASHED);
        /// Rules.
        rules: Vec<Rule> = "rules".at(&["properties", "rules"]);
        /// Source.
        source: Box<Source> = "source".at(&["properties", "source"]);
        /// Zones.
        zones: Vec<String> = "zones".at(&["zones"]);
        /// The older version's.
        legacy: Box<Blob> = "legacy".at(&["properties", "legacy"]).flags(Flags::STASHED);
    }
}

shaped! {
    /// Status of every version.
    Status {
        /// Conditions.
        conditions: Vec<Condition> = "conditions";
        /// ARM id.
        id: String = "id".at(&["id"]).flags(Flags::ARM_ID);
        /// Location.
        location: String = "location".at(&["location"]);
        /// Tier.
        access_tier: Tier = "accessTier".at(&["properties", "accessTier"]);
        /// Units.
        capacity: i64 = "capacity".at(&["properties", "capacity"]);
        /// A flag.
        enabled: bool = "enabled".at(&["properties", "enabled"]);
    }
}

static OLD_RULES: Plan = Plan {
    steps: &[Step::Rename {
        version: "weight",
        hub: "priority",
    }],
    nested: &[],
};

static OLD_PLAN: Plan = Plan {
    steps: &[
        Step::Rename {
            version: "tier",
            hub: "accessTier",
        },
        Step::Retype {
            version: "capacity",
            hub: "capacityV20200101",
        },
    ],
    nested: &[("rules", &OLD_RULES)],
};

const VERBS: Verbs = Verbs {
    get: true,
    head: false,
    put: true,
    patch: false,
    delete: true,
    put_long_running: true,
    delete_long_running: false,
};

const fn version(name: &'static str) -> VersionInfo {
    VersionInfo {
        name,
        api_version: "2021-01-01",
        sources: &[],
        is_on_request: false,
        spec: Spec::SHAPE,
        status: Status::SHAPE,
        verbs: VERBS,
        child_lists: &[&["properties", "children"]],
        keep_unknown: &[],
        spec_plan: &Plan::SAME,
        status_plan: &Plan::SAME,
    }
}

/// The newer version.
pub static VERSION: VersionInfo = version("v20210101");

/// A version of objects with members that no spec names.
pub static OPEN: VersionInfo = VersionInfo {
    spec: Open::SHAPE,
    status: Open::SHAPE,
    ..version("v20220101")
};

/// The kind.
pub static MODEL: KindInfo = KindInfo {
    group: "toys.azure.com",
    kind: "Gadget",
    plural: "gadgets",
    category: "toys",
    remote: Remote::Arm {
        arm_type: "Microsoft.Toys/gadgets",
        scope: Scope::ResourceGroup,
    },
    owner: OwnerRule::Kind {
        group: "resources.azure.com",
        kind: "ResourceGroup",
    },
    name: NameRule::Free(&NAME),
    versions: &[
        VersionInfo {
            api_version: "2020-01-01",
            spec: OldSpec::SHAPE,
            spec_plan: &OLD_PLAN,
            ..version("v1api20200101")
        },
        version("v1api20210101"),
        version("v20210101"),
    ],
    hub: HubInfo {
        storage_version: "v20210101storage",
        spec: HubSpec::SHAPE,
        status: Status::SHAPE,
    },
    secrets: &[],
    config_maps: &[],
    errors: &[],
    azure_owned: &[],
    equal_values: &[],
};

macro_rules! marker {
    ($(#[$attribute:meta])* $name:ident, $spec:ty, $version:literal) => {
        $(#[$attribute])*
        #[derive(Clone, Copy, Debug, Default)]
        pub struct $name;

        impl TypedKind for $name {
            type Spec = $spec;
            type Status = Status;
            const KIND: &'static KindInfo = &MODEL;
            const VERSION: &'static str = $version;
        }
    };
}

marker! {
    /// The older version.
    OldGadget, OldSpec, "v1api20200101"
}
marker! {
    /// The newer version.
    Gadget, Spec, "v20210101"
}
marker! {
    /// The hub.
    HubGadget, HubSpec, "v20210101storage"
}
