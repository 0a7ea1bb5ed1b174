//! Conditions and bounds of rules, read from what is desired and what Azure has.

use std::cmp::Ordering;

use armature_shapes::digest::canonical_json;
use serde_json::{Value, json};

use super::Scaled;
use super::rule::{Bound, Right, Rule, Term, Test};
use super::steps::{Place, Side, Steps};
use crate::compare::is_nothing;

/// The two bodies.
#[derive(Clone, Copy)]
pub(super) struct Bodies<'v> {
    pub desired: &'v Value,
    pub observed: &'v Value,
    pub scaled: Scaled,
}

/// What goes into the body of a PUT at a place whose condition holds.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Verdict {
    /// What the spec says: the rule leaves it alone.
    Spec,
    /// Azure's value.
    Azure(Value),
    /// The bound that is nearest to Azure's value, which is beyond it.
    Bound(Value),
    /// Nothing.
    Nothing,
    /// What the spec says, and it is not compared: Azure does not answer it.
    Unanswered,
    /// It has to be asked first whether another resource scales this one.
    Unknown,
}

impl<'v> Bodies<'v> {
    /// What the spec says at a place, and what Azure has. Something empty counts as nothing in the spec.
    pub fn at(self, place: &Place) -> (Option<&'v Value>, Option<&'v Value>) {
        let ours = place.own(self.desired, Side::Desired);
        let theirs = place.own(self.observed, Side::Observed);
        (ours.filter(|value| !is_nothing(value)), theirs)
    }

    /// Whether all conditions hold. What the spec names counts as it says; Azure may have drifted from it.
    pub fn hold(self, place: &Place, terms: &[Term]) -> bool {
        terms.iter().all(|term| {
            let ours = place.value(&term.path, self.desired, Side::Desired);
            let ours = ours.filter(|value| !is_nothing(value) && !term.in_azure);
            match &term.test {
                Test::Unset => ours.is_none(),
                test => {
                    let theirs = || place.value(&term.path, self.observed, Side::Observed);
                    passes(test, ours.or_else(theirs))
                }
            }
        })
    }

    /// What an edit is told by: the spec's value, and what it says of the conditions. What it does not say of them is left out,
    /// so that rules which differ in what Azure answers are alike.
    pub fn text(self, place: &Place, rule: &Rule) -> String {
        let ours = place.own(self.desired, Side::Desired);
        let of_terms = rule.terms.iter().filter(|term| !term.in_azure);
        let of_terms =
            of_terms.filter_map(|term| place.value(&term.path, self.desired, Side::Desired));
        canonical_json(&json!([ours, of_terms.collect::<Vec<_>>()]))
    }

    /// Whether the value is left alone since nobody says by what it is scaled.
    pub fn is_unreadable(self, rule: &Rule) -> bool {
        rule.right == Right::Autoscaled && self.scaled == Scaled::Unreadable
    }

    /// What goes into the body at a place whose condition holds.
    pub fn verdict(self, rule: &Rule, place: &Place) -> Verdict {
        let (ours, theirs) = self.at(place);
        let theirs = match (&rule.right, theirs) {
            (Right::Unsent | Right::ReadOnly, _) => return Verdict::Nothing,
            (Right::Kept, None) => return Verdict::Unanswered,
            (_, None) => return Verdict::Spec,
            (_, Some(theirs)) => theirs,
        };
        match &rule.right {
            Right::Later if ours.is_some_and(|ours| order(theirs, ours) != Ordering::Greater) => {
                Verdict::Spec
            }
            Right::OtherVersion if ours.is_some_and(|ours| stem(ours) != stem(theirs)) => {
                Verdict::Spec
            }
            Right::Autoscaled => match self.scaled {
                _ if ours.is_none() || ours == Some(theirs) => Verdict::Azure(theirs.clone()),
                Scaled::Unasked => Verdict::Unknown,
                Scaled::Unreadable => Verdict::Azure(theirs.clone()),
                Scaled::ByNone => Verdict::Spec,
                Scaled::Between(least, most) => {
                    let bounds = (&Bound::Fixed(least), &Bound::Fixed(most));
                    self.within(bounds, place, (ours, theirs))
                }
            },
            Right::Within(least, most) => self.within((least, most), place, (ours, theirs)),
            _ => Verdict::Azure(theirs.clone()),
        }
    }

    fn within(
        self,
        (least, most): (&Bound, &Bound),
        place: &Place,
        (ours, theirs): (Option<&Value>, &Value),
    ) -> Verdict {
        let Some(value) = whole(theirs) else {
            return Verdict::Spec;
        };
        let bound = |bound: &Bound| match bound {
            Bound::Fixed(number) => Some(*number),
            Bound::Spec => ours.and_then(whole),
            Bound::At(path) => self.either(place, path).and_then(whole),
        };
        // A bound that nobody names bounds nothing.
        let (least, most) = (bound(least), bound(most));
        let nearest = match (least, most) {
            (Some(least), _) if value < least => least,
            (_, Some(most)) if value > most => most,
            _ => return Verdict::Azure(theirs.clone()),
        };
        match ours {
            Some(_) => Verdict::Bound(Value::from(nearest)),
            // What the spec does not name is nobody's drift.
            None => Verdict::Azure(theirs.clone()),
        }
    }

    /// What the spec says at a path, and what Azure has where the spec does not name it.
    fn either(self, place: &Place, path: &Steps) -> Option<&'v Value> {
        let ours = place.value(path, self.desired, Side::Desired);
        ours.or_else(|| place.value(path, self.observed, Side::Observed))
    }

    /// Whether Azure has each of the spec's values at one of these places.
    pub fn are_exchanged(self, places: &[Place]) -> bool {
        let mut theirs: Vec<String> = places
            .iter()
            .filter_map(|place| self.at(place).1)
            .map(text)
            .collect();
        places
            .iter()
            .filter_map(|place| self.at(place).0)
            .all(|ours| {
                let at = theirs.iter().position(|theirs| *theirs == text(ours));
                at.map(|at| theirs.swap_remove(at)).is_some()
            })
    }
}

/// A text up to its last slash, in any case.
fn stem(value: &Value) -> String {
    let text = text(value);
    let stem = text.rsplit_once('/').map(|(stem, _)| stem.to_owned());
    stem.unwrap_or(text)
}

fn passes(test: &Test, value: Option<&Value>) -> bool {
    let word = || value.map(text).unwrap_or_default();
    match test {
        Test::On => value.is_some_and(is_on),
        Test::Off => !value.is_some_and(is_on),
        Test::Unset => value.is_none(),
        Test::Is(words) => words.iter().any(|known| known.to_lowercase() == word()),
        Test::Contains(part) => word().contains(&part.to_lowercase()),
    }
}

fn is_on(value: &Value) -> bool {
    match value {
        Value::Bool(is_on) => *is_on,
        Value::Number(number) => number.as_f64() != Some(0.0),
        Value::String(text) => {
            let off = ["", "false", "none", "disabled", "off"];
            !off.iter().any(|off| text.eq_ignore_ascii_case(off))
        }
        value => !is_nothing(value),
    }
}

/// A value as text without regard to case.
fn text(value: &Value) -> String {
    match value {
        Value::String(text) => text.to_lowercase(),
        value => canonical_json(value),
    }
}

/// A whole number, also where it stands as text.
fn whole(value: &Value) -> Option<i64> {
    let as_text = || value.as_str()?.parse().ok();
    value.as_i64().or_else(as_text)
}

/// Numbers as such; versions part by part.
fn order(one: &Value, other: &Value) -> Ordering {
    if let (Some(one), Some(other)) = (one.as_f64(), other.as_f64()) {
        return one.total_cmp(&other);
    }
    let (one, other) = (text(one), text(other));
    let (mut ones, mut others) = (parts(&one), parts(&other));
    loop {
        match (ones.next(), others.next()) {
            (None, None) => return Ordering::Equal,
            // `1.33` stands for whatever comes within it.
            (None, Some(_)) | (Some(_), None) => return Ordering::Greater,
            (Some(one), Some(other)) => {
                let by_number = one.parse::<u64>().ok().zip(other.parse::<u64>().ok());
                let order =
                    by_number.map_or_else(|| one.cmp(other), |(one, other)| one.cmp(&other));
                if order != Ordering::Equal {
                    return order;
                }
            }
        }
    }
}

fn parts(version: &str) -> impl Iterator<Item = &str> {
    version
        .split(['.', '-', '_'])
        .filter(|part| !part.is_empty())
}
