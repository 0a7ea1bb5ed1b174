//! Small helpers on JSON trees: paths, merging, dropping nulls.

use serde_json::{Map, Value};

/// The value at a path of member names.
pub fn at<'a>(value: &'a Value, path: &[&str]) -> Option<&'a Value> {
    path.iter().try_fold(value, |value, name| value.get(name))
}

/// The text at a path of member names.
pub fn text<'a>(value: &'a Value, path: &[&str]) -> Option<&'a str> {
    at(value, path).and_then(Value::as_str)
}

/// The object that a value holds, made one first where it holds anything else.
pub fn object(value: &mut Value) -> &mut Map<String, Value> {
    if !value.is_object() {
        *value = Value::Object(Map::new());
    }
    value
        .as_object_mut()
        .expect("the value was made an object above")
}

/// Sets the value at a path, making objects on the way.
pub fn set(value: &mut Value, path: &[&str], new: Value) {
    match path {
        [] => *value = new,
        [name, rest @ ..] => {
            let slot = object(value)
                .entry((*name).to_owned())
                .or_insert(Value::Null);
            set(slot, rest, new);
        }
    }
}

/// Sets the value at a path where there is none yet.
pub fn set_default(value: &mut Value, path: &[&str], default: Value) {
    if at(value, path).is_none_or(Value::is_null) {
        set(value, path, default);
    }
}

/// Removes the member at a path and returns it.
pub fn remove(value: &mut Value, path: &[&str]) -> Option<Value> {
    match path {
        [] => None,
        [name] => value.as_object_mut()?.shift_remove(*name),
        [name, rest @ ..] => remove(value.get_mut(*name)?, rest),
    }
}

/// Removes members that are null, at every depth. ARM reads null as absent.
pub fn drop_nulls(value: &mut Value) {
    match value {
        Value::Object(members) => {
            members.retain(|_, member| !member.is_null());
            members.values_mut().for_each(drop_nulls);
        }
        Value::Array(items) => items.iter_mut().for_each(drop_nulls),
        _ => {}
    }
}

/// JSON merge patch (RFC 7396), which ARM's PATCH follows.
pub fn merge_patch(target: &mut Value, patch: &Value) {
    let Value::Object(changes) = patch else {
        *target = patch.clone();
        return;
    };
    let members = object(target);
    for (name, change) in changes {
        if change.is_null() {
            members.shift_remove(name);
        } else {
            merge_patch(members.entry(name.clone()).or_insert(Value::Null), change);
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn set_makes_the_objects_on_the_way() {
        let mut value = json!({"a": 1});
        set(&mut value, &["b", "c"], json!(2));
        set_default(&mut value, &["b", "c"], json!(3));
        assert_eq!(value, json!({"a": 1, "b": {"c": 2}}));
        assert_eq!(remove(&mut value, &["b", "c"]), Some(json!(2)));
        assert_eq!(remove(&mut value, &["x", "c"]), None);
    }

    #[test]
    fn merge_patch_removes_with_null_and_replaces_lists() {
        let mut value = json!({"a": {"b": 1, "c": 2}, "list": [1, 2]});
        merge_patch(&mut value, &json!({"a": {"b": null, "d": 3}, "list": [3]}));
        assert_eq!(value, json!({"a": {"c": 2, "d": 3}, "list": [3]}));
    }

    #[test]
    fn nulls_go_at_every_depth() {
        let mut value = json!({"a": null, "b": [{"c": null, "d": 1}]});
        drop_nulls(&mut value);
        assert_eq!(value, json!({"b": [{"d": 1}]}));
    }
}
