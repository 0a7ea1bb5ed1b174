//! Values that changed places: zones after a failover, priorities of regions.

use super::Owned;
use super::bodies::{Bodies, Verdict, text};
use super::rule::Rule;
use super::steps::Place;

impl Owned {
    /// Keeps Azure's values at these places while they are the spec's in another order. That is decided for all of them: an
    /// edit of one sends the spec's values.
    pub(super) fn exchange(&mut self, rule: &Rule, places: Vec<Place>, bodies: Bodies<'_>) {
        let mut is_edited = false;
        for place in &places {
            let (ours, theirs) = bodies.at(place);
            let remembered = self.remember(&[rule], place, bodies);
            // What Azure lacks is not among what changed places.
            is_edited |= ours.is_some() && theirs.is_some() && remembered.is_edited();
            is_edited |= ours.is_none() && remembered.was_named();
        }
        let holds = places.iter().all(|place| bodies.hold(place, &rule.terms));
        if is_edited || !holds || !are_exchanged(rule, &places, bodies) {
            return;
        }
        for place in &places {
            if let (Some(_), Some(theirs)) = bodies.at(place) {
                self.take((rule, true), place, bodies, Verdict::Azure(theirs.clone()));
            }
        }
    }
}

/// Whether Azure has each of the spec's values at one of the places. Of the items of a list, none may be there that the spec
/// does not name.
fn are_exchanged(rule: &Rule, places: &[Place], bodies: Bodies<'_>) -> bool {
    let both = places.iter().map(|place| bodies.at(place));
    let mut theirs = Vec::new();
    let mut ours = Vec::new();
    for (own, azures) in both {
        match (own, azures) {
            (None, Some(_)) if rule.path.has_items() => return false,
            (_, None) => {}
            (own, Some(azures)) => {
                ours.extend(own.map(text));
                theirs.push(text(azures));
            }
        }
    }
    ours.iter().all(|own| {
        let at = theirs.iter().position(|azures| azures == own);
        at.map(|at| theirs.swap_remove(at)).is_some()
    })
}
