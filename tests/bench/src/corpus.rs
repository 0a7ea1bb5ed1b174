//! Objects to measure with: one of every version of every kind, with about as many values as a long manifest and what
//! Azure answers to it have.

use armature_generated::KINDS;
use armature_runtime::kind::{KindInfo, VersionInfo};
use armature_runtime::testing::arbitrary::Arbitrary;
use armature_runtime::testing::by_shape::TypesByShape;
use serde_json::{Value, json};

/// Values in a spec, and in a status.
const SIZE: usize = 40;

/// One object in a served version.
pub struct Served {
    /// Its kind.
    pub kind: &'static KindInfo,
    /// Its version.
    pub version: &'static VersionInfo,
    /// The object.
    pub object: Value,
}

/// Objects of all versions of all kinds; the same in every run.
pub fn served() -> Vec<Served> {
    let versions = KINDS
        .iter()
        .flat_map(|kind| kind.versions.iter().map(move |version| (*kind, version)));
    let numbered = (1..).zip(versions);
    numbered
        .map(|(seed, (kind, version))| Served {
            kind,
            version,
            object: json!({
                "apiVersion": format!("{}/{}", kind.group, version.name),
                "kind": kind.kind,
                "metadata": {"name": "n", "namespace": "ns", "annotations": {"mine": "1"}},
                "spec": Arbitrary::valid(seed, SIZE).object(version.spec),
                "status": Arbitrary::valid(seed, SIZE).object(version.status),
            }),
        })
        .collect()
}

/// The Rust types of their specs and statuses.
pub fn types() -> TypesByShape {
    let mut types = TypesByShape::default();
    macro_rules! add {
        ($version:ty, $hub:ty) => {
            types.add::<$version>();
        };
    }
    macro_rules! add_groups {
        ($($group:ident)*) => { $(armature_generated::$group::each_kind!(add);)* };
    }
    armature_generated::each_group!(add_groups);
    types
}
