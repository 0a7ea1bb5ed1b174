//! Pass 4: applies `specs/<group>/group.toml`. After it, a group holds the exported kinds only, named and shaped as
//! Kubernetes users see them: references in place of ARM ids, secrets, config map inputs, `owner`,
//! `operatorSpec`, `conditions`.
//!
//! What a spec says by itself is done by heuristics here; TOML adds and overrules. A rule that matches or changes
//! nothing is an error, so that curation cannot rot.
//!
//! Here: which resources are kinds ([`kinds`], [`select`]), what becomes of a property ([`stages`]) and of a version
//! ([`transform`], [`roots`]), what each rule did ([`rules`]), and
//! each list of parts ([`parts`]), which names Azure takes ([`azure_names`]), where a PUT keeps what others add ([`keep_unknown`]), and what
//! Azure answers in other words ([`equal`]), which values Azure moves by itself ([`owned`]), and what to use in the place of versions that it
//! retires ([`retirements`]). Not here: what a file may say
//! and how it is read ([`crate::curation`]), and what the specs say (`types`).

mod arm_path;
mod azure_names;
mod edits;
mod equal;
mod keep_unknown;
mod kinds;
mod lengths;
pub mod naming;
mod owned;
mod parts;
mod path;
mod pattern;
mod retirements;
mod roots;
mod rules;
mod select;
mod stages;
mod transform;

use rules::RuleBook;
use transform::Transform;

use crate::curation::{CurateError, GroupConfig, Problem};
use crate::model::Group;

/// Curates a group.
///
/// # Errors
/// [`CurateError`], with everything found wrong: kinds that the specs do not have first, and with these in order,
/// rules that match nothing, change nothing, disagree, or do not fit where they match.
pub fn curate(group: Group, config: &GroupConfig) -> Result<Group, Box<CurateError>> {
    CurateError::check(&config.path, kinds::check(&group, config))?;
    let (group, problems) = curate_anyway(group, config);
    CurateError::check(&config.path, problems)?;
    Ok(group)
}

/// As [`curate`], and what is wrong beside it. Lines of the file that fit nothing are left aside.
pub fn curate_anyway(mut group: Group, config: &GroupConfig) -> (Group, Vec<Problem>) {
    select::select(&mut group, config);
    let mut problems = select::check_owners(&group, config);
    problems.extend(select::check_on_request(&group, config));
    let book = RuleBook::new(config);
    let before = group.clone();
    for version in group.versions.values_mut() {
        Transform::new(config, &book, version).apply(version);
        roots::finish(version, config);
    }
    problems.extend(book.problems(&before));
    problems.extend(parts::problems(&before, config));
    problems.extend(kinds::check_sizes(&group, config));
    problems.extend(azure_names::check_lengths(&group, config));
    problems.extend(kinds::check_status_paths(&group, config));
    problems.extend(kinds::check_errors(config));
    problems.extend(retirements::finish(&mut group, config));
    problems.extend(keep_unknown::finish(&mut group, config));
    problems.extend(equal::problems(&group, config));
    problems.extend(owned::problems(&group, config));
    owned::own_etags(&mut group);
    problems.extend(edits::problems(&group, config));
    (group, problems)
}
