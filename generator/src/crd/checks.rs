//! How much of a schema is checked.

/// How much the API server is to check.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Checks {
    /// Everything: what users write.
    All,
    /// Types only: what the operator copies from ARM.
    Types,
}
