//! The typed surface of conversion, for every generated kind and version: what a Rust program holds goes to the hub
//! struct and back without loss, and through JSON as `kube::Api` sends it.
#![allow(
    clippy::panic,
    clippy::unwrap_used,
    reason = "helpers of tests may panic as tests do"
)]

use std::collections::BTreeSet;

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

/// One test per group.
macro_rules! typed {
    ($($group:ident)*) => {
        $(#[test]
        fn $group() {
            let mut tried = 0;
            macro_rules! try_it {
                ($version:ty, $hub:ty) => {
                    round_trips::<$version, $hub>();
                    tried += 1;
                };
            }
            armature_generated::$group::each_kind!(try_it);
            let kinds = armature_generated::$group::kinds::KINDS.iter();
            let all = kinds.flat_map(|kind| {
                kind.versions.iter().map(|version| (kind.kind, version.api_version))
            });
            assert_eq!(tried, all.collect::<BTreeSet<_>>().len(), "`each_kind!` lacks some");
        })*
    };
}

armature_generated::each_group!(typed);
