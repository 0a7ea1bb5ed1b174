//! A conversion plan as data.

/// Differences between a version's type and the hub's: `runtime::kind::Plan` as data.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Plan {
    /// Steps at this level.
    pub steps: Vec<Step>,
    /// Plans below, by the version's property.
    pub nested: Vec<(String, Plan)>,
}

impl Plan {
    /// Nothing differs but the presence of properties.
    pub fn is_same(&self) -> bool {
        self.steps.is_empty() && self.nested.is_empty()
    }
}

/// One difference.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    /// The version's property has another name in the hub.
    Rename {
        /// Property of the version.
        version: String,
        /// Property of the hub.
        hub: String,
    },
    /// The version's property travels under another hub property, because the types differ.
    Retype {
        /// Property of the version.
        version: String,
        /// Property of the hub.
        hub: String,
    },
}
