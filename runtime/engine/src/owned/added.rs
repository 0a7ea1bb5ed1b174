//! Members that others added to maps and lists.

use serde_json::{Value, json};

use super::bodies::Bodies;
use super::rule::Rule;
use super::steps::{Place, Side};
use super::{Moved, Owned};
use crate::compare::{Mark, Remembered, is_nothing};

impl Owned {
    /// Keeps what others added at a place: by pattern, by name, or whole where the spec names nothing.
    pub(super) fn add(
        &mut self,
        rule: &Rule,
        place: &Place,
        bodies: Bodies<'_>,
        patterns: &[String],
    ) {
        let (ours, theirs) = bodies.at(place);
        let member = |name: &str| member(place, name);
        let was_ours = |name: &str| (bodies.memory)(&member(name)).was_named();
        // What the spec names and takes out later is to go, although it fits.
        let texts = texts_in(ours);
        let named = names_in(ours).into_iter();
        let named = named.filter(|name| fits_any(patterns, name));
        self.marks.extend(named.chain(texts).map(member));
        let Some(theirs) = theirs.filter(|theirs| !is_nothing(theirs)) else {
            // Others may come to add some. Which of them are ours is known before.
            if ours.is_some() && patterns.is_empty() && texts_in(ours).is_empty() {
                self.shared.push(place.path.clone());
            }
            return;
        };
        match (ours, theirs) {
            (_, Value::Object(members)) if !patterns.is_empty() => {
                let mut all = ours.and_then(Value::as_object).cloned().unwrap_or_default();
                for (key, value) in members {
                    let is_named = all.keys().any(|known| known.eq_ignore_ascii_case(key));
                    if !is_named && fits_any(patterns, key) && !was_ours(key) {
                        all.insert(key.clone(), value.clone());
                        self.doubt(rule, place, bodies, key);
                    }
                }
                self.set_all(place, ours, Value::Object(all));
            }
            (_, Value::Array(items)) if items.iter().all(Value::is_string) => {
                self.leave_unnamed(rule, place, bodies, patterns);
                let all = self.with_items((rule, place), (ours, items), patterns, bodies);
                self.set_all(place, ours, Value::Array(all));
            }
            (_, Value::Array(items)) if !patterns.is_empty() => {
                if ours.is_none() {
                    self.unnamed.push(place.path.clone());
                }
                let all = self.with_objects((rule, place), (ours, items), patterns, bodies);
                self.set_all(place, ours, Value::Array(all));
            }
            (None, theirs) => {
                // What the spec named once goes, the rest stays.
                let none = if theirs.is_array() {
                    json!([])
                } else {
                    json!({})
                };
                place.set(&mut self.desired, Some(none));
                self.shared.push(place.path.clone());
            }
            _ => self.shared.push(place.path.clone()),
        }
    }

    /// Of a list of texts that the spec does not name only what it named once is drift.
    fn leave_unnamed(
        &mut self,
        rule: &Rule,
        place: &Place,
        bodies: Bodies<'_>,
        patterns: &[String],
    ) {
        let texts = texts_in(bodies.at(place).1);
        let is_named = place.own(bodies.desired, Side::Desired).is_some();
        let was_ours = |text: &&str| (bodies.memory)(&member(place, text)).was_named();
        if is_named || texts.iter().any(was_ours) {
            return;
        }
        self.ignored.push(place.path.clone());
        let fits = |text: &&str| patterns.is_empty() || fits_any(patterns, text);
        let others = texts.into_iter().filter(|text| !fits(text));
        others.for_each(|text| self.doubt(rule, place, bodies, text));
    }

    /// Notes a member that stays although it may have been the spec's: for that there was no room.
    fn doubt(&mut self, rule: &Rule, place: &Place, bodies: Bodies<'_>, name: &str) {
        let mark = member(place, name);
        if (bodies.memory)(&mark) != Remembered::Forgotten {
            return;
        }
        self.moved.push(Moved {
            path: mark.path,
            schema_path: place.schema_path.clone(),
            rule: rule.text.clone(),
            right: rule.right.name(),
            desired: None,
            observed: (!place.is_hidden).then(|| Value::from(name)),
            differs: true,
            is_hidden: place.is_hidden,
            is_told: true,
            is_new: false,
            is_unknown: false,
            may_be_edit: false,
            is_forgotten: true,
        });
    }

    fn set_all(&mut self, place: &Place, ours: Option<&Value>, all: Value) {
        if ours.is_some() || !is_nothing(&all) {
            place.set(&mut self.desired, Some(all));
        }
    }

    /// The spec's items with those of Azure that fit a pattern and are others'.
    fn with_objects(
        &mut self,
        (rule, place): (&Rule, &Place),
        (ours, theirs): (Option<&Value>, &[Value]),
        patterns: &[String],
        bodies: Bodies<'_>,
    ) -> Vec<Value> {
        let mut all = ours.and_then(Value::as_array).cloned().unwrap_or_default();
        let names =
            |item: &Value, text: &str| texts_of(item).any(|own| own.eq_ignore_ascii_case(text));
        let was_ours = |text: &str| (bodies.memory)(&member(place, text)).was_named();
        for item in theirs {
            let mut fits = texts_of(item).filter(|text| fits_any(patterns, text));
            let of_others =
                fits.find(|text| !all.iter().any(|known| names(known, text)) && !was_ours(text));
            if let Some(text) = of_others {
                all.push(item.clone());
                self.doubt(rule, place, bodies, text);
            }
        }
        all
    }

    /// The spec's texts with those of Azure that are others'.
    fn with_items(
        &mut self,
        (rule, place): (&Rule, &Place),
        (ours, theirs): (Option<&Value>, &[Value]),
        patterns: &[String],
        bodies: Bodies<'_>,
    ) -> Vec<Value> {
        let mut all = ours.and_then(Value::as_array).cloned().unwrap_or_default();
        let mark = |text: &str| member(place, text);
        let own = all.clone();
        for item in theirs.iter().filter(|item| !own.contains(item)) {
            let text = item.as_str().unwrap_or_default();
            let fits = patterns.is_empty() || fits_any(patterns, text);
            if fits && !(bodies.memory)(&mark(text)).was_named() {
                all.push(item.clone());
                self.doubt(rule, place, bodies, text);
            }
        }
        in_order_of(theirs, &own, all)
    }
}

/// What is remembered of a member of a map or list.
fn member(place: &Place, name: &str) -> Mark {
    Mark {
        path: format!("{}[{name:?}]", place.path),
        text: name.to_lowercase(),
        is_scaled: false,
    }
}

/// The texts as Azure has them, where it has the spec's own in the spec's order: others may stand between them.
fn in_order_of(theirs: &[Value], own: &[Value], all: Vec<Value>) -> Vec<Value> {
    let own_there: Vec<&Value> = theirs.iter().filter(|item| own.contains(item)).collect();
    if !own_there.into_iter().eq(own.iter()) {
        return all;
    }
    theirs
        .iter()
        .filter(|item| all.contains(item))
        .cloned()
        .collect()
}

/// The items of a list of texts.
fn texts_in(value: Option<&Value>) -> Vec<&str> {
    let items = value.and_then(Value::as_array);
    items
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .collect()
}

/// What the members of a map or the items of a list are called.
fn names_in(value: Option<&Value>) -> Vec<&str> {
    match value {
        Some(Value::Object(members)) => members.keys().map(String::as_str).collect(),
        Some(Value::Array(items)) => items.iter().flat_map(texts_of).collect(),
        _ => Vec::new(),
    }
}

/// The texts directly in an item, its name among them.
fn texts_of(item: &Value) -> impl Iterator<Item = &str> {
    let members = item.as_object().into_iter().flatten();
    members.filter_map(|(_, value)| value.as_str())
}

/// Whether a text fits a pattern: as it is, or with anything in the place of a star at its end or its beginning.
fn fits_any(patterns: &[String], text: &str) -> bool {
    let text = text.to_lowercase();
    patterns.iter().any(|pattern| {
        let pattern = pattern.to_lowercase();
        match (pattern.strip_suffix('*'), pattern.strip_prefix('*')) {
            (Some(start), _) => text.starts_with(start),
            (None, Some(end)) => text.ends_with(end),
            (None, None) => text == pattern,
        }
    })
}
