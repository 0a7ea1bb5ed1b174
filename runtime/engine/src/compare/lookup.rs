//! Members of objects and paths in lists of paths, found in time that grows with the size of what is compared alone: whoever may
//! write a manifest chooses how many of each there are.

use std::cell::OnceCell;
use std::collections::{BTreeSet, HashMap, HashSet};
use std::ops::Bound;

use armature_shapes::shape::arm_json;
use serde_json::{Map, Value};

/// Items of a list up to which each is looked for in all places, where nothing tells them apart. Of more, what they say tells it.
pub(super) const PLACES: usize = 1_000;

/// A member, as it is spelled or else in any casing: services do not always keep their own. Reads all names where none is spelled
/// like it, so it is for names of the schema; for those of a map there is [`Folded`].
pub(crate) fn member<'a>(object: &'a Map<String, Value>, name: &str) -> Option<&'a Value> {
    arm_json::member(object, name)
}

/// The same, to be changed.
pub(super) fn in_any_case<'v>(
    members: &'v mut Map<String, Value>,
    name: &str,
) -> Option<&'v mut Value> {
    if members.contains_key(name) {
        return members.get_mut(name);
    }
    let mut members = members.iter_mut();
    let found = members.find(|(known, _)| known.eq_ignore_ascii_case(name));
    found.map(|(_, value)| value)
}

/// An object of which many members are looked for, which may have any number of them. Its names are read once.
pub(crate) struct Folded<'a> {
    object: Option<&'a Map<String, Value>>,
    /// By their names in lower case, once one is looked for that is spelled in another way. The first of two counts.
    by_name: OnceCell<HashMap<String, &'a Value>>,
}

impl<'a> Folded<'a> {
    pub fn of(object: Option<&'a Map<String, Value>>) -> Self {
        Self {
            object,
            by_name: OnceCell::new(),
        }
    }

    /// A member, as it is spelled or else in any casing.
    pub fn get(&self, name: &str) -> Option<&'a Value> {
        let object = self.object?;
        let as_spelled = object.get(name);
        as_spelled.or_else(|| {
            let by_name = self.by_name.get_or_init(|| {
                let all = object.iter().rev();
                all.map(|(name, value)| (name.to_ascii_lowercase(), value))
                    .collect()
            });
            by_name.get(&name.to_ascii_lowercase()).copied()
        })
    }
}

/// A name of a member of two objects.
pub(super) struct Named {
    /// As the first one spells it, if it has it.
    pub name: String,
    /// Whether it has it. It is in it exactly as it is spelled here, or in no casing.
    pub is_desired: bool,
}

impl Named {
    /// The member of the first one.
    pub fn desired<'v>(&self, desired: &'v mut Map<String, Value>) -> Option<&'v mut Value> {
        self.is_desired.then(|| desired.get_mut(&self.name))?
    }
}

/// Names of the members of both, each once in whatever casing.
pub(super) fn names(
    desired: &Map<String, Value>,
    observed: Option<&Map<String, Value>>,
) -> Vec<Named> {
    let named = |name: &String, is_desired| Named {
        name: name.clone(),
        is_desired,
    };
    let mut names: Vec<Named> = desired.keys().map(|name| named(name, true)).collect();
    let known = desired.keys().map(|name| name.to_ascii_lowercase());
    let mut known: HashSet<String> = known.collect();
    for name in observed.into_iter().flat_map(Map::keys) {
        if known.insert(name.to_ascii_lowercase()) {
            names.push(named(name, false));
        }
    }
    names
}

/// Some paths, to tell whether another one is one of them, or below or above one.
pub(super) struct PathSet<'a>(BTreeSet<&'a str>);

impl<'a> PathSet<'a> {
    /// Of these.
    pub fn of(paths: impl IntoIterator<Item = &'a String>) -> Self {
        Self(paths.into_iter().map(String::as_str).collect())
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether it is one of them.
    pub fn has(&self, path: &str) -> bool {
        self.0.contains(path)
    }

    /// The longest of them that a path is or is below of.
    pub fn innermost(&self, path: &str) -> Option<&'a str> {
        self.0.get(path).copied().or_else(|| self.above(path))
    }

    /// The longest of them that a path is below of.
    pub fn above(&self, path: &str) -> Option<&'a str> {
        if self.is_empty() {
            return None;
        }
        let steps = path.match_indices(['.', '[']).rev();
        steps
            .filter_map(|(at, _)| self.0.get(&path[..at]).copied())
            .next()
    }

    /// Whether a path is one of them or below one.
    pub fn covers(&self, path: &str) -> bool {
        self.innermost(path).is_some()
    }

    /// Those of them that are below a path.
    pub fn below(&self, path: &str) -> Self {
        let inside = self.from(path).take_while(|it| it.starts_with(path));
        let below = inside.filter(|it| it[path.len()..].starts_with(['.', '[']));
        Self(below.copied().collect())
    }

    /// Those that do not come before a path.
    fn from(&self, path: &str) -> impl Iterator<Item = &&'a str> {
        let bounds = (Bound::Included(path), Bound::Unbounded);
        self.0.range::<str, _>(bounds)
    }

    /// Whether one of them is below a path.
    pub fn is_above_one(&self, path: &str) -> bool {
        ['.', '['].iter().any(|step| {
            let start = format!("{path}{step}");
            let next = self.from(&start).next();
            next.is_some_and(|next| next.starts_with(&start))
        })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::super::is_at_or_below;
    use super::*;

    fn path() -> impl Strategy<Value = String> {
        prop::collection::vec("[.\\[]?[ab]{1,2}", 1..5).prop_map(|steps| steps.concat())
    }

    proptest! {
        #[test]
        fn paths_are_told_as_one_by_one(paths in prop::collection::vec(path(), 0..6), other in path()) {
            let all = PathSet::of(&paths);
            let covers = paths.iter().any(|path| is_at_or_below(&other, path));
            let above_one = paths.iter().any(|path| *path != other && is_at_or_below(path, &other));
            let below = paths.iter().filter(|path| **path != other && is_at_or_below(&other, path));
            let innermost = below.max_by_key(|path| path.len()).map(String::as_str);
            prop_assert_eq!(all.covers(&other), covers);
            prop_assert_eq!(all.is_above_one(&other), above_one);
            prop_assert_eq!(all.above(&other), innermost);
            prop_assert_eq!(all.has(&other), paths.contains(&other));
            prop_assert_eq!(all.below(&other).is_empty(), !above_one);
        }
    }

    #[test]
    fn names_of_both_once_each() {
        let (desired, observed) = (json!({"a": 1, "B": 2}), json!({"b": 1, "c": 2, "C": 3}));
        let (desired, observed) = (desired.as_object().unwrap(), observed.as_object());
        let names = names(desired, observed);
        let names = names.iter().map(|it| (it.name.as_str(), it.is_desired));
        let expected = [("a", true), ("B", true), ("c", false)];
        assert!(names.eq(expected));
    }

    #[test]
    fn members_are_found_as_they_are_spelled_or_else_in_any_casing() {
        let object = json!({"Ab": 1, "aB": 2, "ab": 3, "CD": 4, "Cd": 5});
        let folded = Folded::of(object.as_object());
        for name in ["Ab", "aB", "ab", "AB", "CD", "cd", "e"] {
            let expected = member(object.as_object().unwrap(), name);
            assert_eq!(folded.get(name), expected, "{name}");
        }
        assert_eq!(Folded::of(None).get("a"), None);
    }
}
