//! The sides of a resource.

use serde::Serialize;

/// Desired or observed state.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Side {
    /// What users write.
    Spec,
    /// What the operator writes.
    Status,
}

impl Side {
    /// First segment of the paths on this side.
    pub fn root(self) -> &'static str {
        match self {
            Self::Spec => "spec",
            Self::Status => "status",
        }
    }
}
