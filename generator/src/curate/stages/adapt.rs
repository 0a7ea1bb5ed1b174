//! What holds on the property's side whatever a file says.

use super::super::pattern::keep_re2;
use super::outcome::Outcome;
use super::stage::{Site, Stage};
use crate::curation::{PropertyRule, Side};
use crate::model::{Decision, Meaning, Rules, TypeRef};

pub(super) const STAGE: Stage = Stage { heeds: &[], run };

fn run(site: Site<'_>, _: &PropertyRule, outcome: &mut Outcome) {
    let Outcome {
        property,
        decisions,
        ..
    } = outcome;
    if site.side == Side::Status {
        property.required = false;
        property.rules = status_rules(&property.rules);
        property.item_rules = status_rules(&property.item_rules);
    }
    for rules in [&mut property.rules, &mut property.item_rules] {
        if let Some(pattern) = keep_re2(rules) {
            let what = format!("pattern `{pattern}` dropped: Kubernetes does not know its form");
            decisions.push(Decision::heuristic(what));
        }
    }
    if is_location(&property.name) && property.ty == TypeRef::String {
        property.meaning = Meaning::Location;
    }
}

/// Whether a text of this name is an Azure location, of which services answer the long or the short name as they like.
fn is_location(name: &str) -> bool {
    matches!(name, "location" | "locationName") || name.ends_with("Location")
}

/// Statuses are never validated; what remains says how to read the value.
fn status_rules(rules: &Rules) -> Rules {
    Rules {
        format: rules.format.clone(),
        ..Rules::default()
    }
}
