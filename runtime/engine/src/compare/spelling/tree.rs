//! The rules of a kind by their paths, for whoever walks a body.

use crate::compare::lookup::member;
use serde_json::{Map, Value};

use super::super::equal::{Rule, equal};
use super::{Same, Spelling, While, is_one_of};

/// Stands for an item of a list, or an entry of a map.
const ITEM: &str = "[]";

/// The rules of a kind.
#[derive(Debug, Default)]
pub(in super::super) struct Spellings {
    root: Node,
}

#[derive(Debug, Default)]
struct Node {
    rules: Vec<Spelling>,
    below: Vec<(String, Node)>,
}

impl Spellings {
    /// Reads rules. What cannot be read is no rule: tests hold those of all kinds to it.
    pub fn of(rules: &[&str]) -> Self {
        let mut spellings = Self::default();
        for rule in rules.iter().filter_map(|rule| Spelling::parse(rule).ok()) {
            let mut node = &mut spellings.root;
            for name in steps(&rule.path) {
                node = node.child(name);
            }
            node.rules.push(rule);
        }
        spellings
    }

    /// Where a walk begins.
    pub fn root(&self) -> At<'_> {
        let has_rules = !self.root.below.is_empty();
        At(has_rules.then_some(&self.root))
    }
}

impl Node {
    fn child(&mut self, name: &str) -> &mut Self {
        let at = self.below.iter().position(|(known, _)| known == name);
        let at = at.unwrap_or_else(|| {
            self.below.push((name.to_owned(), Self::default()));
            self.below.len() - 1
        });
        &mut self.below[at].1
    }
}

/// The steps of a path: names, and `[]`.
fn steps(path: &str) -> impl Iterator<Item = &str> {
    path.split('.').flat_map(|part| {
        let name = part.trim_end_matches(ITEM);
        let items = (part.len() - name.len()) / ITEM.len();
        std::iter::once(name).chain(std::iter::repeat_n(ITEM, items))
    })
}

/// A place in the rules.
#[derive(Clone, Copy, Debug, Default)]
pub(in super::super) struct At<'s>(Option<&'s Node>);

impl<'s> At<'s> {
    pub fn member(self, name: &str) -> Self {
        let mut below = self.0.iter().flat_map(|node| &node.below);
        let found = below.find(|(known, _)| known.eq_ignore_ascii_case(name));
        Self(found.map(|(_, node)| node))
    }

    /// An item of a list, or an entry of a map.
    pub fn item(self) -> Self {
        self.member(ITEM)
    }

    fn rules(self) -> &'s [Spelling] {
        self.0.map_or(&[], |node| &node.rules)
    }

    /// Whether there are rules here or below.
    pub fn has_rules(self) -> bool {
        self.0.is_some()
    }

    /// The rules here, whether their conditions hold or not.
    pub fn sames(self) -> impl Iterator<Item = &'s Same> {
        self.rules().iter().map(|rule| &rule.same)
    }

    /// Whether Azure may have something else although what it answers is the same.
    pub fn is_guess(self, desired: &Value, observed: &Value) -> bool {
        let is_told = equal(Rule::AnyCase, Some(desired), Some(observed));
        !is_told && self.rules().iter().any(|rule| rule.same.is_guess())
    }

    /// A text that is the same for all values that are the same here; nothing where no rule says so.
    pub fn text(self, value: &Value) -> Option<String> {
        self.sames().find_map(|same| same.text(value))
    }
}

/// The two bodies, where a rule looks at another value.
#[derive(Clone, Copy)]
pub(in super::super) struct Roots<'v> {
    pub desired: &'v Value,
    pub observed: &'v Value,
}

/// The object that a value stands in, on either side.
#[derive(Clone, Copy)]
pub(in super::super) struct Around<'v> {
    pub desired: &'v Map<String, Value>,
    pub observed: Option<&'v Map<String, Value>>,
}

/// What rules say of one value.
#[derive(Default)]
pub(in super::super) struct Found<'v> {
    /// What is the same there, as things are.
    pub sames: Vec<&'v Same>,
    /// What Azure has for it in another place.
    pub elsewhere: Option<Value>,
    /// Azure does not look at it.
    pub is_idle: bool,
}

impl<'s> At<'s> {
    /// What the rules here say of a value, in the object that it stands in.
    pub fn find(self, around: Around<'_>, roots: Roots<'_>) -> Found<'s> {
        let mut found = Found::default();
        for rule in self.rules() {
            let holds = match &rule.condition {
                Some(condition) => is_met(condition, rule, around, roots),
                None => true,
            };
            match &rule.same {
                Same::Counts => found.is_idle |= !holds,
                _ if !holds => {}
                Same::AlsoAs(other) => {
                    let value = observed_at(other, rule, around, roots);
                    found.elsewhere = value.cloned().or(found.elsewhere);
                }
                Same::AlsoIn(other) => {
                    let name = name_of(&rule.path);
                    let has_list = member(around.desired, name).is_some_and(Value::is_array);
                    let value = observed_at(other, rule, around, roots);
                    let value = value.and_then(|value| in_other_form(value, has_list));
                    found.elsewhere = value.or(found.elsewhere);
                }
                same => found.sames.push(same),
            }
        }
        found
    }
}

/// A value of Azure's that stands in another place for the one that is desired.
pub(in super::super) struct Twin {
    /// Whether it stands in the same object.
    pub is_beside: bool,
    /// Its name there, else its path from the top.
    pub name: String,
    pub value: Value,
}

impl At<'_> {
    /// What Azure has in another place, in a form that says more than the desired one can.
    pub fn other_form(self, around: Around<'_>, roots: Roots<'_>) -> Option<Twin> {
        self.rules().iter().find_map(|rule| {
            let (Same::AlsoAs(other) | Same::AlsoIn(other)) = &rule.same else {
                return None;
            };
            let value = observed_at(other, rule, around, roots)?.clone();
            let is_beside = object_of(other) == object_of(&rule.path);
            let name = match is_beside {
                true => name_of(other),
                false => other,
            };
            Some(Twin {
                is_beside,
                name: name.to_owned(),
                value,
            })
        })
    }
}

/// The only item of a list, or the list of it.
fn in_other_form(value: &Value, wants_list: bool) -> Option<Value> {
    match value {
        Value::Array(items) => match items.as_slice() {
            [item] if !wants_list => Some(item.clone()),
            _ => None,
        },
        item if wants_list => Some(Value::Array(vec![item.clone()])),
        _ => None,
    }
}

/// What is desired decides whether a condition holds, and where it says nothing what Azure has.
fn is_met(condition: &While, rule: &Spelling, around: Around<'_>, roots: Roots<'_>) -> bool {
    let desired = at(&condition.path, rule, Some(around.desired), roots.desired);
    let value = desired.or_else(|| observed_at(&condition.path, rule, around, roots));
    match value {
        Some(value) => is_one_of(value, &condition.values),
        None => condition.values.iter().any(|value| value == super::NOTHING),
    }
}

fn observed_at<'v>(
    path: &str,
    rule: &Spelling,
    around: Around<'v>,
    roots: Roots<'v>,
) -> Option<&'v Value> {
    at(path, rule, around.observed, roots.observed)
}

/// The value at a path: beside that of the rule, else from the top of the body.
fn at<'v>(
    path: &str,
    rule: &Spelling,
    beside: Option<&'v Map<String, Value>>,
    root: &'v Value,
) -> Option<&'v Value> {
    let value = if object_of(path) == object_of(&rule.path) {
        member(beside?, name_of(path))?
    } else {
        let mut value = root;
        for name in path.split('.') {
            value = member(value.as_object()?, name)?;
        }
        value
    };
    (!value.is_null()).then_some(value)
}

fn object_of(path: &str) -> &str {
    path.rsplit_once('.').map_or("", |(object, _)| object)
}

fn name_of(path: &str) -> &str {
    path.rsplit('.').next().unwrap_or(path)
}
