//! One value that desired names, with what Azure has for it.

use std::borrow::Cow;

use armature_shapes::shape::path::Path;
use serde_json::{Map, Value};

use super::equal::{Rule, equal, is_nothing, normal};
use super::lookup::Folded;
use super::spelling::{At, Same};

/// One value that desired names.
pub(super) struct Leaf<'a> {
    /// Path in ARM's JSON; list items by identity where they have one.
    pub path: String,
    /// The same path in the schema, which no data is part of: `properties.rules[].action`.
    pub schema_path: String,
    /// How it is compared.
    pub rule: Rule,
    /// What is desired; `None` for an item that observed has too much.
    pub desired: Option<Cow<'a, Value>>,
    /// What Azure has.
    pub observed: Option<Cow<'a, Value>>,
    /// What it has for it in another place.
    pub elsewhere: Option<&'a Value>,
    /// What rules of the kind say is the same.
    pub sames: &'a [&'a Same],
    /// Whether Azure does not look at it, as things are.
    pub is_idle: bool,
    /// Whether the values must stay out of messages.
    pub hidden: bool,
    /// Whether it is a secret, or something else that ARM does not return. Its values are hidden as well.
    pub unseen: bool,
}

impl Leaf<'_> {
    /// Whether Azure has what is desired, in the same words or in others.
    pub fn is_same(&self) -> bool {
        let desired = self.desired.as_deref();
        let same = |observed: Option<&Value>| {
            equal(self.rule, desired, observed)
                || self.sames.iter().any(|same| same.allows(desired, observed))
        };
        self.is_idle
            || same(self.observed.as_deref())
            || self.elsewhere.is_some_and(|value| same(Some(value)))
    }

    /// Whether what is desired says no more than nothing.
    pub fn says_nothing(&self) -> bool {
        self.desired.as_deref().is_none_or(|value| {
            is_nothing(value) || self.sames.iter().any(|same| same.says_nothing(value))
        })
    }
}

/// What Azure has for a value, and what the rules of the kind say of it.
#[derive(Clone, Copy, Default)]
pub(super) struct There<'v> {
    /// What it has at this place.
    pub here: Option<&'v Value>,
    /// What it has for it in another place.
    pub elsewhere: Option<&'v Value>,
    /// The rules here and below.
    pub at: At<'v>,
    /// What they say is the same, as things are.
    pub sames: &'v [&'v Same],
    /// Whether Azure does not look at it, as things are.
    pub is_idle: bool,
}

impl<'v> There<'v> {
    /// What Azure has, wherever.
    pub fn value(self) -> Option<&'v Value> {
        self.here.or(self.elsewhere)
    }

    /// The same of a member; what is found elsewhere for it counts before.
    pub fn member<'f: 'v>(
        self,
        (here, elsewhere): &(Folded<'f>, Folded<'f>),
        name: &str,
        at: At<'v>,
        found: Option<&'v Value>,
    ) -> Self {
        let of = |folded: &Folded<'f>| folded.get(name).filter(|value| !value.is_null());
        Self {
            here: of(here),
            elsewhere: found.or_else(|| of(elsewhere)),
            at,
            sames: &[],
            is_idle: self.is_idle,
        }
    }

    /// Both places, of which many members are looked for.
    pub fn folded(self) -> (Folded<'v>, Folded<'v>) {
        let of = |value: Option<&'v Value>| Folded::of(value.and_then(Value::as_object));
        (of(self.here), of(self.elsewhere))
    }

    /// The same of an entry of a map.
    pub fn entry<'f: 'v>(self, (here, elsewhere): &(Folded<'f>, Folded<'f>), key: &str) -> Self {
        Self {
            here: here.get(key),
            elsewhere: elsewhere.get(key),
            at: self.at.item(),
            sames: &[],
            is_idle: self.is_idle,
        }
    }

    /// A leaf of it.
    pub fn leaf(self, path: &Path<'_>, rule: Rule, desired: Cow<'v, Value>) -> Leaf<'v> {
        Leaf {
            path: path.to_string(),
            schema_path: path.schema_path(),
            rule,
            desired: Some(desired),
            observed: self.here.map(Cow::Borrowed),
            elsewhere: self.elsewhere,
            sames: self.sames,
            is_idle: self.is_idle,
            hidden: false,
            unseen: false,
        }
    }

    /// An item of the list, which rules say nothing of as a whole.
    pub fn item(self, item: Option<&'v Value>) -> Self {
        let is_here = self.here.is_some();
        Self {
            here: item.filter(|_| is_here),
            elsewhere: item.filter(|_| !is_here),
            at: self.at.item(),
            sames: &[],
            is_idle: self.is_idle,
        }
    }
}

/// A leaf's observed value as text that is the same for all values that mean the same.
pub(super) fn normal_observed(leaf: &Leaf<'_>) -> Option<String> {
    let observed = leaf
        .observed
        .as_deref()
        .filter(|value| !is_nothing(value))?;
    match (&leaf.desired, leaf.rule) {
        (Some(desired), Rule::Json) => Some(normal(Rule::Json, &projected(desired, observed))),
        _ => Some(normal(leaf.rule, observed)),
    }
}

/// Free JSON on the members that desired has: what a service adds beside them is none of our business.
fn projected(desired: &Value, observed: &Value) -> Value {
    match (desired, observed) {
        (Value::Object(desired), Value::Object(observed)) => desired
            .iter()
            .filter_map(|(name, value)| Some((name.clone(), projected(value, observed.get(name)?))))
            .collect::<Map<_, _>>()
            .into(),
        (Value::Array(desired), Value::Array(observed)) if desired.len() == observed.len() => {
            let pairs = desired.iter().zip(observed);
            pairs.map(|(one, other)| projected(one, other)).collect()
        }
        _ => observed.clone(),
    }
}
