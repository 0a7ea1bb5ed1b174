//! Azure Resource Graph, as far as a client needs it that wants to know what changed.
//!
//! | module | what lives here |
//! |---|---|
//! | `record` | the Graph's copy of what is in Azure, and its notes of changes, both late |
//! | `query` | the part of the query language that is understood; anything else is refused |
//! | `quota` | how many queries a principal may send |
//!
//! From what Microsoft documents; none of it was compared with the real one. In the Graph is what Azure calls a tracked
//! resource, which has a location and tags, and resource groups. Others that Azure lists are not here.
//!
//! What does not live here: the endpoint (`arm`).

mod query;
mod quota;
mod record;

use std::time::Duration;

use serde::{Deserialize, Serialize};

pub use query::{InvalidQuery, run};
pub use quota::Quota;
pub use record::Record;

/// How the Graph behaves.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", default, deny_unknown_fields)]
pub struct GraphSettings {
    /// By how much it is late. Azure's is, mostly by less than a minute.
    #[serde(with = "crate::duration::required")]
    pub delay: Duration,
    /// Queries of a principal in one window. Azure names 15 as an example.
    pub quota: u32,
    /// Length of a window.
    #[serde(with = "crate::duration::required")]
    pub window: Duration,
    /// Rows on one page at most.
    pub page: usize,
}

impl Default for GraphSettings {
    fn default() -> Self {
        Self {
            delay: Duration::ZERO,
            quota: 15,
            window: Duration::from_secs(5),
            page: 1000,
        }
    }
}
