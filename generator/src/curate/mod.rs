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
pub use secret::SecretRule;

use rules::RuleBook;
use transform::Transform;

use crate::model::Group;

mod naming;
mod pattern;
mod roots;
mod rules;
mod secret;
mod select;
mod transform;

/// Curates a group.
///
/// # Errors
/// [`CurateError`], with file and line, for a rule that matches nothing or does not fit where it matches.
pub fn curate(mut group: Group, config: &GroupConfig) -> Result<Group, Box<CurateError>> {
    select::select(&mut group, config)?;
    let book = RuleBook::new(config);
    let before = group.clone();
    for version in group.versions.values_mut() {
        Transform::new(config, &book, version).apply(version)?;
        roots::finish(version);
    }
    book.check_used(&before)?;
    Ok(group)
}
