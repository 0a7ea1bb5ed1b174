//! Names that only the Kubernetes side uses; the others are in [`armature_shapes::names`].

/// Field manager of everything the operator writes.
pub const FIELD_MANAGER: &str = "armature";
