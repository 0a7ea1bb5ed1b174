//! Conditions and bounds of rules, read from what is desired and what Azure has.

use std::cmp::Ordering;

use armature_shapes::digest::canonical_json;
use serde_json::Value;

use super::rule::{Bound, Right, Rule, Term, Test};
use super::steps::{Place, Side, Steps};
use super::{Memory, Scaled};
use crate::compare::{Mark, Remembered, is_nothing};

/// The two bodies.
#[derive(Clone, Copy)]
pub(super) struct Bodies<'v> {
    pub desired: &'v Value,
    pub observed: &'v Value,
    pub scaled: Scaled,
    pub memory: Memory<'v>,
}

/// What goes into the body of a PUT at a place whose condition holds.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Verdict {
    /// What the spec says: the rule leaves it alone.
    Spec,
    /// Azure's value.
    Azure(Value),
    /// Azure's value although it is not known to be right, or although the spec was edited.
    AzureTold(Value),
    /// The bound that is nearest to Azure's value, which is beyond it.
    Bound(Value),
    /// Nothing.
    Nothing,
    /// What the spec says, and it is not compared: Azure does not answer it.
    Unanswered,
    /// What the spec says, and it is not compared: Azure has another value of its own.
    Own,
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

    /// What the spec says at a path within the items of a place. Something empty counts as nothing.
    pub fn ours(self, place: &Place, path: &Steps) -> Option<&'v Value> {
        let ours = place.value(path, self.desired, Side::Desired);
        ours.filter(|value| !is_nothing(value))
    }

    /// Whether all conditions hold. What the spec names counts as it says; Azure may have drifted from it. What the spec named
    /// and no longer does counts as nothing, although Azure still has it.
    pub fn hold(self, place: &Place, terms: &[Term]) -> bool {
        terms.iter().all(|term| {
            let ours = self.ours(place, &term.path).filter(|_| !term.in_azure);
            if term.test == Test::Unset {
                return ours.is_none();
            }
            let theirs = || {
                let is_taken_out = !term.in_azure && self.was_named(place.path_of(&term.path));
                let theirs = place.value(&term.path, self.observed, Side::Observed);
                theirs.filter(|_| !is_taken_out)
            };
            passes(&term.test, ours.or_else(theirs))
        })
    }

    /// Whether all conditions hold by what the spec alone says.
    fn asks_for(self, place: &Place, terms: &[Term]) -> bool {
        let alone = Self {
            observed: &Value::Null,
            ..self
        };
        alone.hold(place, terms)
    }

    fn was_named(self, path: String) -> bool {
        let mark = Mark {
            path,
            text: String::new(),
            is_scaled: false,
        };
        (self.memory)(&mark).was_named()
    }

    /// What goes into the body at a place of a rule that holds.
    pub fn verdict(self, rule: &Rule, place: &Place, remembered: Remembered) -> Verdict {
        let (ours, theirs) = self.at(place);
        let theirs = match (&rule.right, theirs) {
            (Right::ReadOnly, _) => return Verdict::Nothing,
            (Right::Unsent, _) if self.asks_for(place, &rule.terms) => return Verdict::Nothing,
            // Only Azure's answer has what makes the value its own. A PUT that has to be sent may end that.
            (Right::Unsent, _) if ours.is_some() && !remembered.is_edited() => return Verdict::Own,
            (Right::Unsent, _) => return Verdict::Spec,
            (_, Some(theirs)) => theirs,
            (Right::Kept, None) if ours.is_some() && !remembered.is_edited() => {
                return Verdict::Unanswered;
            }
            (_, None) => return Verdict::Spec,
        };
        let azure = || Verdict::Azure(theirs.clone());
        let Some(ours) = ours else {
            // What is taken out is to go, but for a number that Azure chooses; what only derives from the rest is not carried.
            let is_scaled = matches!(rule.right, Right::Within(..) | Right::Autoscaled);
            return match is_scaled || rule.is_of_unset() && !remembered.was_named() {
                true => azure(),
                false => Verdict::Spec,
            };
        };
        match (&rule.right, remembered.is_edited()) {
            // Nothing gets smaller, or goes back to an earlier version.
            (Right::Later, is_edited) => match (order(theirs, ours), is_edited) {
                (Order::Later, true) => Verdict::AzureTold(theirs.clone()),
                (Order::Later | Order::OfWord, false) => azure(),
                _ => Verdict::Spec,
            },
            (_, true) => Verdict::Spec,
            (Right::OtherVersion, _) if stem(ours) != stem(theirs) => Verdict::Spec,
            (Right::Within(least, most), _) => self.within((least, most), place, (ours, theirs)),
            (Right::Autoscaled, _) => self.scaled(place, (ours, theirs), remembered),
            _ => azure(),
        }
    }

    /// Whether a PUT of an edit of the place has what the spec says: none of its rules has another word for that.
    pub fn sends_edit(self, rules: &[&Rule], place: &Place) -> bool {
        let mut holding = rules
            .iter()
            .filter(|rule| !matches!(rule.right, Right::Added(_)) && self.hold(place, &rule.terms));
        holding.all(|rule| self.verdict(rule, place, Remembered::Other) == Verdict::Spec)
    }

    /// By what scales the resource. Where nothing does anymore, the number stays until it is edited.
    fn scaled(
        self,
        place: &Place,
        (ours, theirs): (&Value, &Value),
        remembered: Remembered,
    ) -> Verdict {
        match self.scaled {
            _ if ours == theirs => Verdict::Spec,
            Scaled::Unasked => Verdict::Unknown,
            Scaled::Unreadable => Verdict::AzureTold(theirs.clone()),
            Scaled::ByNone if remembered == (Remembered::Same { was_scaled: true }) => {
                Verdict::Azure(theirs.clone())
            }
            Scaled::ByNone => Verdict::Spec,
            Scaled::Between(least, most) => {
                let bounds = (&Bound::Fixed(least), &Bound::Fixed(most));
                self.within(bounds, place, (ours, theirs))
            }
        }
    }

    fn within(
        self,
        (least, most): (&Bound, &Bound),
        place: &Place,
        (ours, theirs): (&Value, &Value),
    ) -> Verdict {
        if ours == theirs {
            // Nothing has moved, though the spec may be beyond its own bounds.
            return Verdict::Azure(theirs.clone());
        }
        let Some(value) = whole(theirs) else {
            return Verdict::Spec;
        };
        let bound = |bound: &Bound| match bound {
            Bound::Fixed(number) => Some(*number),
            Bound::Spec => whole(ours),
            Bound::At(path) => self.either(place, path).and_then(whole),
        };
        // A bound that nobody names bounds nothing.
        let (least, most) = (bound(least), bound(most));
        let nearest = match (least, most) {
            (Some(least), _) if value < least => least,
            (_, Some(most)) if value > most => most,
            _ => return Verdict::Azure(theirs.clone()),
        };
        Verdict::Bound(Value::from(nearest))
    }

    /// What the spec says at a path, and what Azure has where the spec does not name it.
    fn either(self, place: &Place, path: &Steps) -> Option<&'v Value> {
        let ours = place.value(path, self.desired, Side::Desired);
        ours.or_else(|| place.value(path, self.observed, Side::Observed))
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
pub(super) fn text(value: &Value) -> String {
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

/// How Azure's value stands to the spec's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Order {
    /// It is larger, a later version, or one that the spec's stands for.
    Later,
    /// It is a version, and what the spec says is none, or a finer one: nothing tells whether it comes after.
    OfWord,
    /// None of these.
    Other,
}

/// Numbers as such; versions part by part. A text that is no version is neither before nor after another one.
fn order(theirs: &Value, ours: &Value) -> Order {
    let is_later = |order: Ordering| match order {
        Ordering::Greater => Order::Later,
        _ => Order::Other,
    };
    if let (Some(theirs), Some(ours)) = (theirs.as_f64(), ours.as_f64()) {
        return is_later(theirs.total_cmp(&ours));
    }
    let (theirs, ours) = (text(theirs), text(ours));
    let (theirs, ours) = match (version(&theirs), version(&ours)) {
        (Some(theirs), Some(ours)) => (theirs, ours),
        (Some(_), None) => return Order::OfWord,
        (None, _) => return Order::Other,
    };
    let mut numbers = theirs.0.iter().zip(&ours.0);
    if let Some((one, other)) = numbers.find(|(one, other)| one != other) {
        return is_later(one.cmp(other));
    }
    match theirs.0.len().cmp(&ours.0.len()) {
        // `1.33` stands for whatever comes within it.
        Ordering::Greater => return Order::Later,
        Ordering::Less => return Order::OfWord,
        Ordering::Equal => {}
    }
    match (theirs.1, ours.1) {
        (None, Some(_)) => Order::Later,
        (_, None) => Order::Other,
        (Some(theirs), Some(ours)) => is_later(by_parts(theirs, ours)),
    }
}

/// A version's numbers, and what a preview of it is called, which comes before it: `v1.2.3-rc.1`. Nothing where it is none.
fn version(text: &str) -> Option<(Vec<u64>, Option<&str>)> {
    let text = text.strip_prefix('v').unwrap_or(text);
    let (numbers, preview) = match text.split_once('-') {
        Some((numbers, preview)) => (numbers, Some(preview)),
        None => (text, None),
    };
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || letter == '-' || letter == '.';
    let is_digits = |part: &str| part.chars().all(|digit| digit.is_ascii_digit());
    let numbers = numbers
        .split('.')
        .map(|part| part.parse().ok().filter(|_| is_digits(part)));
    let numbers: Option<Vec<u64>> = numbers.collect();
    let is_version = preview.is_none_or(|preview| preview.chars().all(is_plain));
    numbers
        .filter(|_| is_version)
        .map(|numbers| (numbers, preview))
}

/// Part by part, numbers as such.
fn by_parts(one: &str, other: &str) -> Ordering {
    let (mut ones, mut others) = (parts(one), parts(other));
    loop {
        match (ones.next(), others.next()) {
            (None, None) => return Ordering::Equal,
            (None, Some(_)) => return Ordering::Less,
            (Some(_), None) => return Ordering::Greater,
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
    version.split(['.', '-']).filter(|part| !part.is_empty())
}
