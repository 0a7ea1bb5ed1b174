//! CRDs of the operator: which, in which versions, with which labels, installed and moved to their storage version.
//!
//! | module | what it does |
//! |---|---|
//! | `installer` | installs and amends them |
//! | `installed` | a CRD as the API server has it |
//! | `versions` | which versions one gets |
//! | `pattern` | which kinds are installed |
//! | `labels` | labels that users want on them |
//! | `applied` | what was applied before |
//! | `migration` | rewrites objects at the storage version |
//!
//! What does not live here: what a CRD contains ([`armature_engine`]).

pub(crate) mod applied;
pub(crate) mod installed;
pub(crate) mod installer;
pub(crate) mod labels;
pub(crate) mod migration;
pub(crate) mod pattern;
pub(crate) mod versions;
