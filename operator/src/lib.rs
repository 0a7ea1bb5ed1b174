//! The operator library behind the `armature` binary.
