//! Values that Azure moves by itself: whose value counts, by rules over what is desired and what Azure has.
//!
//! [`Owned::of`] takes the body that the spec asks for and puts Azure's values into it where a rule says that they are Azure's,
//! so that they are neither drift nor lost by a PUT for another reason. An edit of such a value is sent once: the caller keeps
//! [`Owned::marks`] beside the record of the latest PUT, and says by [`Memory`] what they were.
//!
//! | module | what lives here |
//! |---|---|
//! | `rule` | rules in words |
//! | `steps` | paths of rules, and the places that they stand for |
//! | `bodies` | conditions and bounds, read from both bodies |
//! | `added` | members that others added to maps and lists |
//!
//! What does not live here: the rules themselves (they are data of kinds and annotations of users), and comparisons.

mod added;
mod bodies;
mod rule;
mod steps;

use armature_shapes::shape::StructShape;
use serde_json::Value;

pub use rule::{Bound, Right, Rule, RuleError, Term, Test};
pub use steps::{Steps, StepsError};

use bodies::{Bodies, Verdict};
use steps::{Place, places};

use crate::compare::Mark;

/// What the record of the latest PUT tells.
#[derive(Clone, Copy)]
pub struct Memory<'m> {
    /// Whether the spec says what it said of a value; `None` where that is not remembered.
    pub is_same: &'m dyn Fn(&Mark) -> Option<bool>,
    /// Whether the spec named a path, now or once.
    pub was_ours: &'m dyn Fn(&str) -> bool,
}

impl Memory<'_> {
    /// There is no record.
    pub const NONE: Memory<'static> = Memory {
        is_same: &|_| None,
        was_ours: &|_| false,
    };
}

/// Whether another resource in Azure changes how many units this one has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Scaled {
    /// That was not asked.
    #[default]
    Unasked,
    /// It was asked, and Azure does not say.
    Unreadable,
    /// None does.
    ByNone,
    /// Some do, between these numbers.
    Between(i64, i64),
}

/// One value that is Azure's now.
#[derive(Clone, Debug, PartialEq)]
pub struct Moved {
    /// Path as comparisons write it.
    pub path: String,
    /// The same in the schema.
    pub schema_path: String,
    /// The rule, as it was written.
    pub rule: String,
    /// What the spec says; `None` where it does not name it, or where it must not be shown.
    pub desired: Option<Value>,
    /// What Azure has; `None` where it must not be shown, too.
    pub observed: Option<Value>,
    /// Whether the spec names the value, and Azure has another one.
    pub differs: bool,
    /// Whether the values must stay out of messages.
    pub is_hidden: bool,
    /// Whether somebody did it on purpose, so that it is told.
    pub is_told: bool,
    /// Whether an edit of it would not be noticed, since nothing is remembered of it.
    pub is_unknown: bool,
}

/// A body with Azure's values in it, and which these are.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Owned {
    /// What is desired, with Azure's values where they are Azure's.
    pub desired: Value,
    /// Places whose value is Azure's, as comparisons write them: not compared.
    pub ignored: Vec<String>,
    /// Maps and lists in which members that the spec never named stay.
    pub shared: Vec<String>,
    /// The values that are Azure's.
    pub moved: Vec<Moved>,
    /// What to remember of those that the spec names.
    pub marks: Vec<Mark>,
    /// Whether it has to be asked if another resource scales this one: Azure has another number of units.
    pub asks_scaled: bool,
}

/// The body without what is only Azure's to say. An edit of the rest is an edit.
pub fn asked(shape: &'static StructShape, rules: &[Rule], desired: &Value) -> Value {
    let mut asked = desired.clone();
    let bodies = Bodies {
        desired,
        observed: &Value::Null,
        scaled: Scaled::Unasked,
    };
    for rule in rules.iter().filter(|rule| rule.right == Right::ReadOnly) {
        for place in places(shape, &rule.path, desired, &Value::Null) {
            if bodies.hold(&place, &rule.terms) {
                place.set(&mut asked, None);
            }
        }
    }
    asked
}

impl Owned {
    /// What is Azure's of a body. `observed` is what Azure has; where that is nothing, nothing is owned.
    pub fn of(
        shape: &'static StructShape,
        rules: &[Rule],
        desired: &Value,
        (observed, scaled): (Option<&Value>, Scaled),
        memory: Memory<'_>,
    ) -> Self {
        let mut owned = Self {
            desired: asked(shape, rules, desired),
            ..Self::default()
        };
        let Some(observed) = observed else {
            // Azure is expected to make what it is asked for.
            let made = Self::of(shape, rules, desired, (Some(desired), scaled), memory);
            owned.marks = made.marks;
            return owned;
        };
        let bodies = Bodies {
            desired,
            observed,
            scaled,
        };
        for rule in rules {
            let mut found = places(shape, &rule.path, desired, observed);
            if let Right::Exchanged(others) = &rule.right {
                for other in others {
                    found.extend(places(shape, other, desired, observed));
                }
                if !bodies.are_exchanged(&found) {
                    continue;
                }
            }
            for place in found {
                match &rule.right {
                    Right::Added(patterns) if bodies.hold(&place, &rule.terms) => {
                        owned.add(&place, bodies, patterns, memory);
                    }
                    Right::Added(_) => {}
                    _ => owned.keep(rule, &place, bodies, memory),
                }
            }
        }
        owned
    }

    /// Puts Azure's value into the place, where it counts.
    fn keep(&mut self, rule: &Rule, place: &Place, bodies: Bodies<'_>, memory: Memory<'_>) {
        if self.ignored.contains(&place.path) {
            // Another rule of it holds.
            return;
        }
        let (ours, theirs) = bodies.at(place);
        let mark = Mark {
            path: place.path.clone(),
            text: bodies.text(place, rule),
        };
        let known = (memory.is_same)(&mark);
        // What was Azure's while a condition held stays so until the value or the condition is edited.
        // What was named and is taken out is to go.
        if rule.is_of_unset() && (memory.was_ours)(&place.path) {
            return;
        }
        let is_kept = known == Some(true) && rule.right != Right::ReadOnly;
        if !bodies.hold(place, &rule.terms) && !is_kept {
            return;
        }
        let is_asked = ours.is_some() && rule.right != Right::ReadOnly;
        let verdict = bodies.verdict(rule, place);
        if is_asked && !self.marks.contains(&mark) {
            self.marks.push(mark);
        }
        if is_asked && known == Some(false) {
            return;
        }
        match verdict {
            Verdict::Spec => return,
            Verdict::Unknown => {
                self.asks_scaled = true;
                return;
            }
            Verdict::Unanswered => return self.ignored.push(place.path.clone()),
            Verdict::Bound(value) => return place.set(&mut self.desired, Some(value)),
            Verdict::Azure(value) => place.set(&mut self.desired, Some(value)),
            Verdict::Nothing => place.set(&mut self.desired, None),
        }
        // What somebody did on purpose is told, so it must be seen.
        if rule.right != Right::Told && !bodies.is_unreadable(rule) {
            self.ignored.push(place.path.clone());
        }
        self.moved.push(Moved {
            path: place.path.clone(),
            schema_path: place.schema_path.clone(),
            rule: rule.text.clone(),
            desired: ours.filter(|_| !place.is_hidden).cloned(),
            observed: theirs.filter(|_| !place.is_hidden).cloned(),
            differs: ours.is_some() && ours != theirs,
            is_hidden: place.is_hidden,
            is_told: rule.right == Right::Told || bodies.is_unreadable(rule),
            is_unknown: is_asked && known.is_none(),
        });
    }
}

#[cfg(test)]
mod tests;
