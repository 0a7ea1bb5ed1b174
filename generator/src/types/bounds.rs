//! How large the types of a resource may be.

/// Deepest nesting of schemas: Azure's go to 20, and the stack of a thread holds several times as many.
pub(super) const DEEPEST: usize = 64;

/// Most objects on one side of a resource, each counted as often as it is built: Azure's largest has some thousands.
pub(super) const MOST_OBJECTS: usize = 10_000;
