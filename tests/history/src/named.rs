//! The paths that manifests name, in ARM's JSON, and what two resources have on them.

use std::collections::BTreeMap;

use serde_json::Value;

/// A path in ARM's JSON; items of lists by their number.
pub type Path = Vec<String>;

/// Paths that were named by any of several bodies.
#[derive(Clone, Debug, Default)]
pub struct Named {
    members: BTreeMap<String, Named>,
    items: Option<Box<Named>>,
    is_leaf: bool,
}

impl Named {
    /// Whether nothing is named.
    pub fn is_empty(&self) -> bool {
        self.members.is_empty() && self.items.is_none()
    }
}

/// A path on which two resources differ.
#[derive(Clone, Debug, PartialEq)]
pub struct Mismatch {
    /// The path.
    pub path: Path,
    /// What is in Azure after the history.
    pub have: Option<Value>,
    /// What would be there had there been only the last manifest.
    pub want: Option<Value>,
}

impl Named {
    /// Adds the paths of a body.
    pub fn add(&mut self, body: &Value) {
        match body {
            Value::Object(members) if !members.is_empty() => {
                // `null` is sent for what the manifest leaves out.
                for (name, value) in members.iter().filter(|(_, value)| !value.is_null()) {
                    self.members.entry(name.clone()).or_default().add(value);
                }
            }
            Value::Array(items) => {
                let below = self.items.get_or_insert_default();
                items.iter().for_each(|item| below.add(item));
            }
            _ => self.is_leaf = true,
        }
    }

    /// Whether a body that was added has a value at the path or below.
    pub fn has(&self, path: &[String]) -> bool {
        let Some((first, rest)) = path.split_first() else {
            return true;
        };
        let below = match first.parse::<usize>() {
            Ok(_) if self.items.is_some() => self.items.as_deref(),
            _ => self.members.get(first),
        };
        below.is_some_and(|below| below.has(rest))
    }

    /// The same, whatever the case of names is.
    pub fn has_in_any_case(&self, path: &[String]) -> bool {
        let Some((first, rest)) = path.split_first() else {
            return true;
        };
        let mut members = self.members.iter();
        let is_member = members
            .any(|(name, below)| name.eq_ignore_ascii_case(first) && below.has_in_any_case(rest));
        let items = self
            .items
            .as_ref()
            .filter(|_| first.parse::<usize>().is_ok());
        is_member || items.is_some_and(|items| items.has_in_any_case(rest))
    }

    /// Where two resources differ on the paths.
    pub fn compare(&self, have: Option<&Value>, want: Option<&Value>) -> Vec<Mismatch> {
        let mut found = Vec::new();
        self.walk(have, want, &mut Vec::new(), &mut found);
        found
    }

    fn walk(
        &self,
        have: Option<&Value>,
        want: Option<&Value>,
        path: &mut Path,
        found: &mut Vec<Mismatch>,
    ) {
        if have == want || have.is_none_or(is_nothing) && want.is_none_or(is_nothing) {
            return;
        }
        let report = |found: &mut Vec<Mismatch>, path: &Path| {
            found.push(Mismatch {
                path: path.clone(),
                have: have.cloned(),
                want: want.cloned(),
            });
        };
        match (have, want) {
            (Some(Value::Array(left)), Some(Value::Array(right))) => {
                if left.len() != right.len() {
                    return report(found, path);
                }
                let Some(items) = &self.items else { return };
                for (index, (have, want)) in left.iter().zip(right).enumerate() {
                    path.push(index.to_string());
                    items.walk(Some(have), Some(want), path, found);
                    path.pop();
                }
            }
            (Some(Value::Object(_)), Some(Value::Object(_)))
            | (Some(Value::Object(_)), None)
            | (None, Some(Value::Object(_))) => {
                let is_one_missing = have.is_none() || want.is_none();
                if self.members.is_empty() && self.is_leaf && is_one_missing {
                    return report(found, path);
                }
                for (name, below) in &self.members {
                    path.push(name.clone());
                    let member =
                        |side: Option<&'_ Value>| side.and_then(|side| side.get(name)).cloned();
                    let (left, right) = (member(have), member(want));
                    below.walk(left.as_ref(), right.as_ref(), path, found);
                    path.pop();
                }
            }
            _ => report(found, path),
        }
    }
}

/// Whether a value says nothing: empty objects and lists, and those of such. ARM does not tell them from absent ones.
fn is_nothing(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::Object(members) => members.values().all(is_nothing),
        Value::Array(items) => items.iter().all(is_nothing),
        _ => false,
    }
}

/// The value at a path.
pub fn value_at<'a>(value: Option<&'a Value>, path: &[String]) -> Option<&'a Value> {
    path.iter().try_fold(value?, |value, name| match value {
        Value::Array(items) => items.get(name.parse::<usize>().ok()?),
        value => value.get(name),
    })
}

/// Whether one path is at, below or above the other.
pub fn related(left: &[String], right: &[String]) -> bool {
    left.iter().zip(right).all(|(left, right)| left == right)
}

/// A path as people write it.
pub fn shown(path: &[String]) -> String {
    path.join(".")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn only_named_paths_are_compared() {
        let mut named = Named::default();
        named.add(&json!({"tags": {"a": "1", "b": "2"}, "list": [{"n": 1}], "ids": {"/x": {}}}));
        let rows = [
            (
                json!({"tags": {"a": "1", "other": "1"}}),
                json!({"tags": {"a": "1"}}),
                "",
            ),
            (
                json!({"tags": {"a": "1", "b": "2"}}),
                json!({"tags": {"a": "1"}}),
                "tags.b",
            ),
            (json!({"tags": {"b": "2"}}), json!({}), "tags.b"),
            (
                json!({"list": [{"n": 1, "id": 1}]}),
                json!({"list": [{"n": 1}]}),
                "",
            ),
            (
                json!({"list": [{"n": 1}]}),
                json!({"list": [{"n": 2}]}),
                "list.0.n",
            ),
            (json!({"list": []}), json!({"list": [{"n": 2}]}), "list"),
            (
                json!({"ids": {"/x": {"c": 1}}}),
                json!({"ids": {"/x": {}}}),
                "",
            ),
            (json!({"ids": {"/x": {"c": 1}}}), json!({}), "ids./x"),
        ];
        for (have, want, expected) in rows {
            let found = named.compare(Some(&have), Some(&want));
            let found: Vec<_> = found.iter().map(|found| shown(&found.path)).collect();
            assert_eq!(found.join(" "), expected, "{have} {want}");
        }
    }

    #[test]
    fn paths_are_known_by_what_was_added() {
        let mut named = Named::default();
        named.add(&json!({"list": [{"n": 1}], "a": {"b": 1}}));
        let path = |text: &str| text.split('.').map(str::to_owned).collect::<Path>();
        assert!(named.has(&path("a")) && named.has(&path("a.b")) && named.has(&path("list.7.n")));
        assert!(!named.has(&path("b")) && !named.has(&path("a.c")));
        assert!(named.has_in_any_case(&path("List.7.N")) && !named.has_in_any_case(&path("A.c")));
        assert!(related(&path("a.b"), &path("a")) && !related(&path("a.b"), &path("b")));
    }
}
