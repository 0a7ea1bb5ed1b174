//! Kinds for tests: a resource group, a store in it and a box in the store.

use std::collections::BTreeMap;

use crate::kind::{
    AnswerStep, ConfigMapExport, HubInfo, KindInfo, NameRule, OwnerRule, Plan, Remote, Scope,
    SecretExport, SecretSource, TypedKind, Verbs, VersionInfo,
};
use crate::resource::{
    Condition, ConfigMapDestination, ConfigMapReference, DestinationExpression,
    KnownResourceReference, ResourceReference, SecretDestination, SecretReference,
};
use crate::shape::{Flags, Rules, Shaped, StructShape};
use crate::shaped;

shaped! {
    /// Spec of a group.
    GroupSpec {
        /// Name in Azure.
        azure_name: String = "azureName";
        /// Location.
        location: String = "location".at(&["location"]).flags(Flags::LOCATION).required();
        /// Tags.
        tags: BTreeMap<String, String> = "tags".at(&["tags"]);
        /// Version that the user wrote.
        original_version: String = "originalVersion";
    }
}

shaped! {
    /// Status of a group.
    GroupStatus {
        /// Conditions.
        conditions: Vec<Condition> = "conditions";
        /// ARM id.
        id: String = "id".at(&["id"]);
        /// Location.
        location: String = "location".at(&["location"]);
        /// State in Azure.
        provisioning_state: String = "provisioningState".at(&["properties", "provisioningState"]);
    }
}

shaped! {
    /// Destinations of a store's config maps.
    StoreConfigMaps {
        /// Endpoint.
        endpoint: Box<ConfigMapDestination> = "endpoint";
        /// A value that no status field has.
        region: Box<ConfigMapDestination> = "region";
    }
}

shaped! {
    /// Destinations of a store's secrets.
    StoreSecrets {
        /// Key.
        key: Box<SecretDestination> = "key";
        /// Key that the kind's row finds.
        primary: Box<SecretDestination> = "primary";
        /// Endpoint.
        endpoint: Box<SecretDestination> = "endpoint";
        /// Subscription.
        subscription: Box<SecretDestination> = "subscription";
    }
}

shaped! {
    /// Operator's part of a store's spec.
    StoreOperatorSpec {
        /// Expressions.
        config_map_expressions: Vec<DestinationExpression> = "configMapExpressions";
        /// Config maps.
        config_maps: Box<StoreConfigMaps> = "configMaps";
        /// Secrets.
        secrets: Box<StoreSecrets> = "secrets";
        /// Expressions with secrets.
        secret_expressions: Vec<DestinationExpression> = "secretExpressions";
    }
}

shaped! {
    /// A shelf of a store. Others may put some up, too.
    StoreShelf {
        /// Name.
        name: String = "name".at(&["name"]);
        /// Width.
        width: i64 = "width".at(&["properties", "width"]);
    }
}

shaped! {
    /// Spec of a store.
    StoreSpec {
        /// Name in Azure.
        azure_name: String = "azureName";
        /// Capacity.
        capacity: i64 = "capacity".at(&["properties", "capacity"]);
        /// Location.
        location: String = "location".at(&["location"]).flags(Flags::LOCATION);
        /// A name from a config map.
        nickname: Box<ConfigMapReference> = "nicknameFromConfig".at(&["properties", "nickname"]);
        /// Operator's part.
        operator_spec: Box<StoreOperatorSpec> = "operatorSpec";
        /// Version that the user wrote.
        original_version: String = "originalVersion";
        /// Owner.
        owner: Box<KnownResourceReference> = "owner".required();
        /// A secret.
        password: Box<SecretReference> = "password".at(&["properties", "password"]).flags(Flags::SECRET.with(Flags::WRITE_ONLY));
        /// The same as the other resource, as text.
        peer_id: String = "peerId".at(&["properties", "peerId"]);
        /// Another resource.
        peer: Box<ResourceReference> = "peerReference".at(&["properties", "peerId"]).flags(Flags::ARM_ID);
        /// Shelves.
        shelves: Vec<StoreShelf> = "shelves".at(&["properties", "interior", "shelves"]);
        /// Something that Azure writes in its own way.
        tier: String = "tier".at(&["properties", "tier"]);
        /// Some in any order.
        zones: Vec<String> = "zones".at(&["zones"]);
    }
}

shaped! {
    /// Status of a store.
    StoreStatus {
        /// Conditions.
        conditions: Vec<Condition> = "conditions";
        /// Capacity.
        capacity: i64 = "capacity".at(&["properties", "capacity"]);
        /// Address.
        endpoint: String = "endpoint".at(&["properties", "endpoint"]);
        /// ARM id.
        id: String = "id".at(&["id"]);
        /// State in Azure.
        provisioning_state: String = "provisioningState".at(&["properties", "provisioningState"]);
    }
}

shaped! {
    /// Spec of a box.
    BoxSpec {
        /// Name in Azure.
        azure_name: String = "azureName";
        /// Version that the user wrote.
        original_version: String = "originalVersion";
        /// Owner.
        owner: Box<KnownResourceReference> = "owner".required();
        /// Size.
        size: i64 = "size".at(&["properties", "size"]);
    }
}

shaped! {
    /// Status of a box.
    BoxStatus {
        /// Conditions.
        conditions: Vec<Condition> = "conditions";
        /// ARM id.
        id: String = "id".at(&["id"]);
        /// Size.
        size: i64 = "size".at(&["properties", "size"]);
    }
}

const VERBS: Verbs = Verbs {
    get: true,
    head: false,
    put: true,
    patch: false,
    delete: true,
    put_long_running: true,
    delete_long_running: true,
};

shaped! {
    /// Spec of a kind whose name may be in a ConfigMap.
    NamedSpec {
        /// Name in Azure.
        azure_name: String = "azureName";
        /// Where the name in Azure is.
        azure_name_from_config: Box<ConfigMapReference> = "azureNameFromConfig";
        /// Version that the user wrote.
        original_version: String = "originalVersion";
    }
}

shaped! {
    /// Status of it.
    NamedStatus {
        /// Conditions.
        conditions: Vec<Condition> = "conditions";
        /// ARM id.
        id: String = "id".at(&["id"]);
    }
}

const fn version(spec: &'static StructShape, status: &'static StructShape) -> VersionInfo {
    VersionInfo {
        name: "v20200101",
        api_version: "2020-01-01",
        sources: &[],
        is_on_request: false,
        spec,
        status,
        verbs: VERBS,
        child_lists: &[],
        keep_unknown: &[],
        spec_plan: &Plan::SAME,
        status_plan: &Plan::SAME,
    }
}

/// A version whose lists of children are kinds of their own, and one with lists to which others may add items.
const fn with_children(
    version: VersionInfo,
    child_lists: &'static [&'static [&'static str]],
    keep_unknown: &'static [&'static [&'static str]],
) -> VersionInfo {
    VersionInfo {
        child_lists,
        keep_unknown,
        ..version
    }
}

const fn hub(spec: &'static StructShape, status: &'static StructShape) -> HubInfo {
    HubInfo {
        storage_version: "v20200101storage",
        spec,
        status,
    }
}

/// A resource group.
pub static GROUP: KindInfo = KindInfo {
    group: "resources.azure.com",
    kind: "ResourceGroup",
    plural: "resourcegroups",
    category: "resources",
    remote: Remote::Arm {
        arm_type: "Microsoft.Resources/resourceGroups",
        scope: Scope::Subscription,
    },
    owner: OwnerRule::None,
    name: NameRule::Free(&Rules::NONE),
    versions: &[version(GroupSpec::SHAPE, GroupStatus::SHAPE)],
    hub: hub(GroupSpec::SHAPE, GroupStatus::SHAPE),
    secrets: &[],
    config_maps: &[],
    errors: &[],
    azure_owned: &[],
    equal_values: &[],
};

/// A store in a resource group.
pub static STORE: KindInfo = KindInfo {
    group: "toys.azure.com",
    kind: "Store",
    plural: "stores",
    category: "toys",
    remote: Remote::Arm {
        arm_type: "Microsoft.Toys/stores",
        scope: Scope::ResourceGroup,
    },
    owner: OwnerRule::Kind {
        group: "resources.azure.com",
        kind: "ResourceGroup",
    },
    name: NameRule::Free(&Rules::NONE),
    versions: &[with_children(
        version(StoreSpec::SHAPE, StoreStatus::SHAPE),
        &[&["properties", "boxes"]],
        &[&["properties", "interior", "shelves"]],
    )],
    hub: hub(StoreSpec::SHAPE, StoreStatus::SHAPE),
    secrets: &[
        SecretExport {
            key: "key",
            source: SecretSource::Extension,
        },
        SecretExport {
            key: "primary",
            source: SecretSource::Action {
                action: "listKeys",
                value: &[
                    AnswerStep::Member("keys"),
                    AnswerStep::Item {
                        member: "keyName",
                        is: "primary",
                    },
                    AnswerStep::Member("value"),
                ],
            },
        },
        SecretExport {
            key: "endpoint",
            source: SecretSource::Status(&["endpoint"]),
        },
        SecretExport {
            key: "subscription",
            source: SecretSource::Subscription,
        },
    ],
    config_maps: &[
        ConfigMapExport {
            key: "endpoint",
            status_path: &["endpoint"],
        },
        ConfigMapExport {
            key: "region",
            status_path: &[],
        },
    ],
    errors: &[],
    azure_owned: &[],
    equal_values: &[],
};

/// A box in a store.
pub static BOX: KindInfo = KindInfo {
    group: "toys.azure.com",
    kind: "StoresBox",
    plural: "storesboxes",
    category: "toys",
    remote: Remote::Arm {
        arm_type: "Microsoft.Toys/stores/boxes",
        scope: Scope::ResourceGroup,
    },
    owner: OwnerRule::Kind {
        group: "toys.azure.com",
        kind: "Store",
    },
    name: NameRule::Free(&Rules::NONE),
    versions: &[version(BoxSpec::SHAPE, BoxStatus::SHAPE)],
    hub: hub(BoxSpec::SHAPE, BoxStatus::SHAPE),
    secrets: &[],
    config_maps: &[],
    errors: &[],
    azure_owned: &[],
    equal_values: &[],
};

/// A shelf in a store, which may stand in the store's list, too.
pub static SHELF: KindInfo = KindInfo {
    group: "toys.azure.com",
    kind: "StoresShelf",
    plural: "storesshelves",
    category: "toys",
    remote: Remote::Arm {
        arm_type: "Microsoft.Toys/stores/shelves",
        scope: Scope::ResourceGroup,
    },
    owner: OwnerRule::Kind {
        group: "toys.azure.com",
        kind: "Store",
    },
    name: NameRule::Free(&Rules::NONE),
    versions: &[version(BoxSpec::SHAPE, BoxStatus::SHAPE)],
    hub: hub(BoxSpec::SHAPE, BoxStatus::SHAPE),
    secrets: &[],
    config_maps: &[],
    errors: &[],
    azure_owned: &[],
    equal_values: &[],
};

/// A resource of a subscription whose name may be in a ConfigMap.
pub static NAMED: KindInfo = KindInfo {
    group: "toys.azure.com",
    kind: "Named",
    plural: "nameds",
    category: "toys",
    remote: Remote::Arm {
        arm_type: "Microsoft.Toys/named",
        scope: Scope::Subscription,
    },
    owner: OwnerRule::None,
    name: NameRule::Free(&Rules::NONE),
    versions: &[version(NamedSpec::SHAPE, NamedStatus::SHAPE)],
    hub: hub(NamedSpec::SHAPE, NamedStatus::SHAPE),
    secrets: &[],
    config_maps: &[],
    errors: &[],
    azure_owned: &[],
    equal_values: &[],
};

/// A value under a key, which is no resource of Azure.
pub static ENTRY: KindInfo = KindInfo {
    group: "toys.azure.com",
    kind: "Entry",
    plural: "entries",
    category: "toys",
    remote: Remote::Other("key-value"),
    owner: OwnerRule::None,
    name: NameRule::Free(&Rules::NONE),
    versions: &[version(StoreSpec::SHAPE, StoreStatus::SHAPE)],
    hub: hub(StoreSpec::SHAPE, StoreStatus::SHAPE),
    secrets: &[],
    config_maps: &[ConfigMapExport {
        key: "endpoint",
        status_path: &["endpoint"],
    }],
    errors: &[],
    azure_owned: &[],
    equal_values: &[],
};

macro_rules! marker {
    ($(#[$attribute:meta])* $name:ident, $spec:ty, $status:ty, $kind:expr) => {
        $(#[$attribute])*
        #[derive(Clone, Copy, Debug, Default)]
        pub struct $name;

        impl TypedKind for $name {
            type Spec = $spec;
            type Status = $status;
            const KIND: &'static KindInfo = &$kind;
            const VERSION: &'static str = "v20200101storage";
        }
    };
}

marker! {
    /// Hub of [`GROUP`].
    HubGroup, GroupSpec, GroupStatus, GROUP
}
marker! {
    /// Hub of [`STORE`].
    HubStore, StoreSpec, StoreStatus, STORE
}
marker! {
    /// Hub of [`BOX`].
    HubBox, BoxSpec, BoxStatus, BOX
}
