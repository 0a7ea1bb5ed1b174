//! Objects to measure with: one of every version of every kind, and one of every kind's hub, with about as many values as a
//! long manifest and what Azure answers to it have.

use armature_generated::KINDS;
use armature_runtime::kind::{KindInfo, VersionInfo};
use armature_runtime::testing::arbitrary::Arbitrary;
use armature_runtime::testing::by_shape::TypesByShape;
use serde_json::{Value, json};

/// Values in a spec, and in a status.
const SIZE: usize = 40;

/// Groups whose Rust types are measured: those with the largest. A thousand codecs, of all groups and versions, cost the rustc
/// of this crate 3 GB.
const TYPED: [&str; 4] = [
    "compute.azure.com",
    "containerservice.azure.com",
    "network.azure.com",
    "storage.azure.com",
];

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

/// The form in which extensions see an object.
pub struct Hub {
    /// Its kind.
    pub kind: &'static KindInfo,
    /// Its spec.
    pub spec: Value,
    /// Its status.
    pub status: Value,
}

/// Hub forms of the kinds of [`types`]; the same in every run.
pub fn hubs() -> Vec<Hub> {
    let known = KINDS.iter().filter(|kind| TYPED.contains(&kind.group));
    let numbered = (1..).zip(known.copied());
    numbered
        .map(|(seed, kind)| Hub {
            kind,
            spec: Arbitrary::valid(seed, SIZE).object(kind.hub.spec),
            status: Arbitrary::valid(seed, SIZE).object(kind.hub.status),
        })
        .collect()
}

/// The Rust types of hubs, of the groups in [`TYPED`].
pub fn types() -> TypesByShape {
    let mut types = TypesByShape::default();
    macro_rules! add {
        ($version:ty, $hub:ty) => {
            types.add::<$hub>();
        };
    }
    armature_generated::compute::each_kind!(add);
    armature_generated::containerservice::each_kind!(add);
    armature_generated::network::each_kind!(add);
    armature_generated::storage::each_kind!(add);
    types
}
