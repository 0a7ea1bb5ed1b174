//! Pass 4: applies `specs/<group>.toml`. After it, a group holds the exported kinds only, named and shaped as
//! Kubernetes users see them: references in place of ARM ids, secrets, config map inputs, `owner`,
//! `operatorSpec`, `conditions`.
//!
//! What a spec says by itself is done by heuristics here; TOML adds and overrules. A rule that matches nothing
//! is an error, so that curation cannot rot.

mod config;
mod error;

pub use config::{
    GroupConfig, GroupRules, KindRules, Naming, PlainType, PropertyRule, Side, Treatment,
};
pub use error::CurateError;
