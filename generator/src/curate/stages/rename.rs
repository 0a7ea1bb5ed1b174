//! The names that a file gives: the one in Kubernetes, and that of other api-versions.

use super::outcome::Outcome;
use super::stage::{Site, Stage};
use crate::curation::{Aspect, PropertyRule};

pub(super) const STAGE: Stage = Stage {
    heeds: &[Aspect::Rename, Aspect::Was],
    run,
};

fn run(_: Site<'_>, rule: &PropertyRule, outcome: &mut Outcome) {
    if let Some(name) = &rule.rename {
        outcome.note(Aspect::Rename, *name != outcome.property.name);
        outcome.property.name.clone_from(name);
    }
    if rule.was.is_some() {
        outcome.note(Aspect::Was, rule.was != outcome.property.was);
        outcome.property.was.clone_from(&rule.was);
    }
}
