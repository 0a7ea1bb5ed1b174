//! What a manifest does not say.

/// A value that Azure shows and the manifest does not have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LeftOut {
    /// Where it would stand.
    pub path: String,
    /// Why it does not.
    pub why: String,
}
