//! Whether somebody waits for the outcome of a pass.

/// Whether somebody waits for the outcome. In the order of who comes first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Urgency {
    /// Something is wanted or going on: a change of the object, an operation, a retry, a deletion.
    Foreground,
    /// A periodic look at a resource that is fine.
    Background,
}
