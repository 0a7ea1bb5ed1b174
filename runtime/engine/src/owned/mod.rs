//! Values that Azure moves by itself: whose value counts, by rules over what is desired and what Azure has.
//!
//! [`Owned::of`] takes the body that the spec asks for and puts Azure's values into it where a rule says that they are Azure's,
//! so that they are neither drift nor lost by a PUT for another reason. An edit of such a value is sent once: the caller keeps
//! [`Owned::marks`], which are of all values that have a rule, beside the record of the latest PUT, and says by [`Memory`] what
//! they were. A value that the spec did not name, or named otherwise, is an edit; one that it named and no longer does is to go.
//!
//! | module | what lives here |
//! |---|---|
//! | `rule` | rules in words |
//! | `steps` | paths of rules, and the places that they stand for |
//! | `bodies` | conditions and bounds, read from both bodies |
//! | `added` | members that others added to maps and lists |
//! | `exchanged` | values that changed places |
//! | `forgotten` | values of which nothing is remembered, for want of room |
//!
//! What does not live here: the rules themselves (they are data of kinds and annotations of users), and comparisons.

mod added;
mod bodies;
mod exchanged;
mod forgotten;
mod rule;
mod steps;

use armature_shapes::digest::canonical_json;
use armature_shapes::shape::StructShape;
use serde_json::Value;

pub use rule::{Bound, Right, Rule, RuleError, Term, Test};
pub use steps::{Steps, StepsError};

use bodies::{Bodies, Verdict};
use steps::{Place, places};

use crate::compare::{Mark, Remembered, is_nothing, is_same_text};

/// What the record of the latest PUT tells of a value.
pub type Memory<'m> = &'m dyn Fn(&Mark) -> Remembered;

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
    /// The name of its right.
    pub right: &'static str,
    /// What the spec says; `None` where it does not name it, or where it must not be shown.
    pub desired: Option<Value>,
    /// What Azure has; `None` where it must not be shown, too.
    pub observed: Option<Value>,
    /// Whether the spec names the value, and Azure has another one.
    pub differs: bool,
    /// Whether the values must stay out of messages.
    pub is_hidden: bool,
    /// Whether it is told: somebody did it on purpose, or an edit is not sent.
    pub is_told: bool,
    /// Whether Azure had another value, or none, when it was told last.
    pub is_new: bool,
    /// Whether nothing is remembered, so that an edit of it would not be noticed. Of what is never sent none counts.
    pub is_unknown: bool,
    /// The same, and an edit of it would be sent.
    pub may_be_edit: bool,
    /// The same as unknown for want of room: it stays so.
    pub is_forgotten: bool,
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
    /// Lists of objects that the spec does not name, of which the body has some of Azure's items: what else is there is not compared.
    pub unnamed: Vec<String>,
    /// The values that are Azure's.
    pub moved: Vec<Moved>,
    /// What to remember: what the spec says of all values that have a rule, and of their conditions.
    pub marks: Vec<Mark>,
    /// Whether it has to be asked if another resource scales this one: Azure has another number of units.
    pub asks_scaled: bool,
}

/// The body without what no PUT has. An edit of the rest is an edit.
pub fn asked(shape: &'static StructShape, rules: &[Rule], desired: &Value) -> Value {
    let mut asked = desired.clone();
    let bodies = Bodies {
        desired,
        observed: &Value::Null,
        scaled: Scaled::Unasked,
        memory: &|_| Remembered::Nothing,
    };
    let is_never_sent = |rule: &&Rule| matches!(rule.right, Right::ReadOnly | Right::Unsent);
    for rule in rules.iter().filter(is_never_sent) {
        for place in places(shape, &rule.path, desired, &Value::Null) {
            if bodies.hold(&place, &rule.terms) {
                place.set(&mut asked, None);
            }
        }
    }
    asked
}

/// Values that the body names although only Azure says them, each with its rule: they are never compared, and never sent.
pub fn read_only<'r>(
    shape: &'static StructShape,
    rules: &'r [Rule],
    desired: &Value,
) -> Vec<(String, &'r Rule)> {
    let bodies = Bodies {
        desired,
        observed: &Value::Null,
        scaled: Scaled::Unasked,
        memory: &|_| Remembered::Nothing,
    };
    let is_one = |rule: &&Rule| rule.right == Right::ReadOnly;
    let mut named = Vec::new();
    for rule in rules.iter().filter(is_one) {
        let places = places(shape, &rule.path, desired, &Value::Null).into_iter();
        let places = places.filter(|it| bodies.at(it).0.is_some() && bodies.hold(it, &rule.terms));
        named.extend(places.map(|place| (place.path, rule)));
    }
    named
}

/// What tells a record that was made with other rules: what it does not know may have been there.
pub fn of_rules(rules: &[Rule]) -> Mark {
    let texts: Vec<&str> = rules.iter().map(|rule| rule.text.as_str()).collect();
    Mark {
        path: "rules".to_owned(),
        text: texts.join("\n"),
        is_scaled: false,
    }
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
            (owned.marks, owned.shared) = (made.marks, made.shared);
            return owned;
        };
        let bodies = Bodies {
            desired,
            observed,
            scaled,
            memory,
        };
        if !rules.is_empty() {
            owned.marks.push(of_rules(rules));
        }
        let mut done: Vec<&Steps> = Vec::new();
        for rule in rules {
            owned.remember_terms(shape, rule, desired);
            if done.contains(&&rule.path) {
                continue;
            }
            done.push(&rule.path);
            let of_path: Vec<&Rule> = rules.iter().filter(|it| it.path == rule.path).collect();
            let found = places(shape, &rule.path, desired, observed);
            if let Right::Exchanged(others) = &rule.right {
                let others = others.iter();
                let others = others.flat_map(|path| places(shape, path, desired, observed));
                owned.exchange(rule, found.into_iter().chain(others).collect(), bodies);
                continue;
            }
            for place in found {
                owned.look_at(&of_path, &place, bodies);
            }
        }
        owned.tell_forgotten(memory);
        owned
    }

    /// Notes what the spec says of the conditions of a rule, also where nothing names the value that it is about: the value may
    /// come in when the condition goes.
    fn remember_terms(&mut self, shape: &'static StructShape, rule: &Rule, desired: &Value) {
        for term in rule.terms.iter().filter(|term| term.path != rule.path) {
            for place in places(shape, &term.path, desired, &Value::Null) {
                let ours = place.own(desired, steps::Side::Desired);
                if let Some(ours) = ours.filter(|ours| !is_nothing(ours)) {
                    self.note(Mark {
                        text: canonical_json(ours),
                        path: place.path,
                        is_scaled: false,
                    });
                }
            }
        }
    }

    /// One place with all its rules: the first that holds and has something to say decides.
    fn look_at(&mut self, rules: &[&Rule], place: &Place, bodies: Bodies<'_>) {
        let remembered = self.remember(rules, place, bodies);
        for rule in rules {
            if !bodies.hold(place, &rule.terms) {
                continue;
            }
            if let Right::Added(patterns) = &rule.right {
                self.add(rule, place, bodies, patterns);
                continue;
            }
            match bodies.verdict(rule, place, remembered) {
                Verdict::Spec => {}
                verdict => {
                    let is_sent = bodies.sends_edit(rules, place);
                    return self.take((rule, is_sent), place, bodies, verdict);
                }
            }
        }
    }

    /// Notes what the spec says of the value and of the conditions, and tells what it said of the value.
    fn remember(&mut self, rules: &[&Rule], place: &Place, bodies: Bodies<'_>) -> Remembered {
        for term in rules.iter().flat_map(|rule| &rule.terms) {
            let (path, ours) = (place.path_of(&term.path), bodies.ours(place, &term.path));
            if let Some(ours) = ours.filter(|_| path != place.path) {
                self.note(Mark {
                    path,
                    text: canonical_json(ours),
                    is_scaled: false,
                });
            }
        }
        let ours = bodies.at(place).0;
        let mut mark = Mark {
            path: place.path.clone(),
            text: canonical_json(ours.unwrap_or(&Value::Null)),
            is_scaled: false,
        };
        let remembered = (bodies.memory)(&mark);
        let was_scaled = remembered == Remembered::Same { was_scaled: true };
        mark.is_scaled = match bodies.scaled {
            Scaled::Between(..) => true,
            _ => was_scaled,
        };
        if ours.is_some() {
            self.note(mark);
        }
        remembered
    }

    fn note(&mut self, mark: Mark) {
        if !self.marks.iter().any(|known| known.path == mark.path) {
            self.marks.push(mark);
        }
    }

    /// Puts what counts into the place; told whether an edit of it would be sent.
    fn take(
        &mut self,
        (rule, is_edit_sent): (&Rule, bool),
        place: &Place,
        bodies: Bodies<'_>,
        verdict: Verdict,
    ) {
        let (ours, theirs) = bodies.at(place);
        let mut is_told = rule.right == Right::Told;
        let has_edits = verdict != Verdict::Nothing;
        match verdict {
            Verdict::Spec => return,
            Verdict::Unknown => {
                self.asks_scaled = true;
                return;
            }
            Verdict::Bound(value) => return place.set(&mut self.desired, Some(value)),
            Verdict::Unanswered => return self.ignored.push(place.path.clone()),
            Verdict::Own => {}
            Verdict::Azure(value) => place.set(&mut self.desired, Some(value)),
            Verdict::AzureTold(value) => {
                is_told = true;
                place.set(&mut self.desired, Some(value));
            }
            Verdict::Nothing => place.set(&mut self.desired, None),
        }
        self.ignored.push(place.path.clone());
        let mut is_new = false;
        if is_told {
            let told = Mark {
                path: in_azure(&place.path),
                text: canonical_json(theirs.unwrap_or(&Value::Null)),
                is_scaled: false,
            };
            is_new = !matches!((bodies.memory)(&told), Remembered::Same { .. });
            self.note(told);
        }
        let is_remembered = self.marks.iter().find(|mark| mark.path == place.path);
        let remembered = is_remembered.map(|mark| (bodies.memory)(mark));
        let is_unknown = has_edits && remembered == Some(Remembered::Nothing);
        let differs = ours.is_some_and(|ours| !theirs.is_some_and(|it| is_same_text(ours, it)));
        self.moved.push(Moved {
            path: place.path.clone(),
            schema_path: place.schema_path.clone(),
            rule: rule.text.clone(),
            right: rule.right.name(),
            desired: ours.filter(|_| !place.is_hidden).cloned(),
            observed: theirs.filter(|_| !place.is_hidden).cloned(),
            differs,
            is_hidden: place.is_hidden,
            is_told,
            is_new,
            is_unknown,
            may_be_edit: is_edit_sent && is_unknown,
            is_forgotten: false,
        });
    }
}

/// Where it is remembered which value of Azure's was told.
fn in_azure(path: &str) -> String {
    format!("{path} in Azure")
}

#[cfg(test)]
mod tests;
