//! The typed surface of conversion, for every generated kind and version: what a Rust program holds goes to the hub
//! struct and back without loss, and through JSON as `kube::Api` sends it.
#![allow(
    clippy::panic,
    clippy::unwrap_used,
    reason = "helpers of tests may panic as tests do"
)]

use armature_generated::{keyvault, kusto, managedidentity, network, resources, storage};
use armature_runtime::kind::TypedKind;
use armature_runtime::resource::TypedObject;
use armature_runtime::shape::Shaped;
use armature_runtime::testing::arbitrary::Arbitrary;
use serde_json::json;

/// Values per kind and version, of growing size.
const CASES: u64 = 24;

fn arbitrary<K: TypedKind>(seed: u64) -> TypedObject<K> {
    let mut values = Arbitrary::typed(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15), 5 * seed as usize);
    let json = json!({
        "apiVersion": TypedObject::<K>::api_version(),
        "kind": K::KIND.kind,
        "metadata": {"name": "n", "namespace": "ns"},
        "spec": values.object(<K::Spec as Shaped>::SHAPE),
        "status": values.object(<K::Status as Shaped>::SHAPE),
    });
    serde_json::from_value(json).unwrap()
}

fn round_trips<K: TypedKind, H: TypedKind>() {
    let what = format!("{} {}", K::KIND.kind, K::VERSION);
    for seed in 0..CASES {
        let before = arbitrary::<K>(seed);
        let hub: TypedObject<H> = before.to_hub().unwrap();
        let after = TypedObject::<K>::from_hub(&hub).unwrap();
        assert_eq!(before, after, "{what} through the hub, seed {seed}");
        let text = serde_json::to_string(&before).unwrap();
        let read: TypedObject<K> = serde_json::from_str(&text).unwrap();
        assert_eq!(before, read, "{what} through JSON, seed {seed}");
    }
}

/// One test per group: `versions { hub kind: version … }`.
macro_rules! typed {
    ($group:ident { $($kind:ident: $($version:ident)*;)* }) => {
        #[test]
        fn $group() {
            let mut tested = 0;
            $($(
                round_trips::<$group::$version::$kind, $group::hub::$kind>();
                tested += 1;
            )*)*
            let modules: usize = $group::kinds::KINDS
                .iter()
                .map(|kind| {
                    let mut dates: Vec<&str> = kind.versions.iter().map(|version| version.api_version).collect();
                    dates.dedup();
                    dates.len()
                })
                .sum();
            assert_eq!(tested, modules, "a line for each kind with all its api-versions belongs into tests/conformance/tests/typed.rs");
        }
    };
}

typed!(resources { ResourceGroupKind: v20200601; });
typed!(keyvault { VaultKind: v20210401preview v20230701; });
typed!(kusto {
    ClusterKind: v20230815 v20240413;
    DatabaseKind: v20230815 v20240413;
    DataConnectionKind: v20230815 v20240413;
});
typed!(managedidentity {
    UserAssignedIdentityKind: v20181130 v20230131;
    FederatedIdentityCredentialKind: v20220131preview v20230131;
});
typed!(network {
    DnsResolverKind: v20220701;
    DnsZoneKind: v20180501;
    NetworkSecurityGroupKind: v20201101 v20240301 v20250301;
    NetworkSecurityGroupsSecurityRuleKind: v20201101 v20240301 v20250301;
    PublicIPAddressKind: v20201101 v20240301 v20250301;
    TrafficManagerProfileKind: v20220401;
    VirtualNetworkKind: v20201101 v20240301 v20250301;
    VirtualNetworksSubnetKind: v20201101 v20240301 v20250301;
    PrivateDnsZoneKind: v20180901 v20240601;
    PrivateEndpointKind: v20220701 v20240301 v20250301;
    PrivateEndpointsPrivateDnsZoneGroupKind: v20220701 v20240301 v20250301;
    PrivateLinkServiceKind: v20220701 v20240301 v20250301;
    RouteTableKind: v20201101 v20240301 v20250301;
    RouteTablesRouteKind: v20201101 v20240301 v20250301;
});
typed!(storage {
    StorageAccountKind: v20210401 v20220901 v20230101 v20250601;
    StorageAccountsBlobServiceKind: v20210401 v20220901 v20230101 v20250601;
    StorageAccountsBlobServicesContainerKind: v20210401 v20220901 v20230101 v20250601;
    StorageAccountsFileServiceKind: v20220901 v20230101 v20250601;
    StorageAccountsFileServicesShareKind: v20220901 v20230101 v20250601;
    StorageAccountsManagementPolicyKind: v20210401 v20220901 v20230101 v20250601;
    StorageAccountsQueueServiceKind: v20210401 v20220901 v20230101 v20250601;
    StorageAccountsQueueServicesQueueKind: v20210401 v20220901 v20230101 v20250601;
    StorageAccountsTableServiceKind: v20220901 v20230101 v20250601;
    StorageAccountsTableServicesTableKind: v20220901 v20230101 v20250601;
});
