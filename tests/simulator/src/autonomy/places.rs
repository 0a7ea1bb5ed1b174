//! Paths of the table in a body: `properties.agentPoolProfiles[].count`, where `[]` stands for any item.

use serde_json::Value;

use crate::json;

/// Steps of a path; those into lists are numbers, taken in turn from these.
pub fn resolve(path: &str, indices: &[usize]) -> Vec<String> {
    let mut indices = indices.iter();
    let mut steps = Vec::new();
    for part in path.split('.') {
        steps.push(part.trim_end_matches("[]").to_owned());
        if part.ends_with("[]")
            && let Some(index) = indices.next()
        {
            steps.push(index.to_string());
        }
    }
    steps
}

/// Numbers of the items, for every place that a path stands for in a body.
pub fn expand(body: &Value, path: &str) -> Vec<Vec<usize>> {
    let mut found = vec![Vec::new()];
    let parts: Vec<&str> = path.split('.').collect();
    for (at, part) in parts.iter().enumerate() {
        // A `[]` at the end means the list itself.
        if !part.ends_with("[]") || at + 1 == parts.len() {
            continue;
        }
        let list = parts[..=at].join(".");
        let list = list.trim_end_matches("[]").to_owned();
        let mut longer = Vec::new();
        for indices in found {
            let items = get(body, &resolve(&list, &indices)).and_then(Value::as_array);
            for index in 0..items.map_or(0, Vec::len) {
                longer.push([&indices[..], &[index]].concat());
            }
        }
        found = longer;
    }
    found
}

/// Numbers of the items by which steps are a place of the path; `None` when they are none.
pub fn fit(path: &str, steps: &[&str]) -> Option<Vec<usize>> {
    let mut steps = steps.iter();
    let mut indices = Vec::new();
    let parts: Vec<&str> = path.split('.').collect();
    for (at, part) in parts.iter().enumerate() {
        if *steps.next()? != part.trim_end_matches("[]") {
            return None;
        }
        if part.ends_with("[]") && at + 1 < parts.len() {
            indices.push(steps.next()?.parse().ok()?);
        }
    }
    steps.next().is_none().then_some(indices)
}

/// Whether steps are a place of the path.
pub fn fits(path: &str, steps: &[String]) -> bool {
    let steps: Vec<&str> = steps.iter().map(String::as_str).collect();
    fit(path, &steps).is_some()
}

/// The value at steps; numbers are items of lists.
pub fn get<'a>(body: &'a Value, steps: &[String]) -> Option<&'a Value> {
    steps.iter().try_fold(body, |value, step| match value {
        Value::Array(items) => items.get(step.parse::<usize>().ok()?),
        value => value.get(step),
    })
}

/// Sets the value at steps, making objects on the way; items of lists must be there.
pub fn set(body: &mut Value, steps: &[String], new: Value) {
    match (steps, &mut *body) {
        ([], _) => *body = new,
        ([step, rest @ ..], Value::Array(items)) => {
            let index = step.parse::<usize>().ok();
            if let Some(item) = index.and_then(|index| items.get_mut(index)) {
                set(item, rest, new);
            }
        }
        ([step, rest @ ..], _) => {
            let members = json::object(body);
            set(
                members.entry(step.clone()).or_insert(Value::Null),
                rest,
                new,
            );
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_path_stands_for_one_place_in_each_item() {
        let body = json!({"a": [{"b": 1}, {"b": 2}], "l": [1]});
        assert_eq!(expand(&body, "a[].b"), [[0], [1]]);
        assert_eq!(expand(&body, "l[]"), [[0usize; 0]]);
        assert_eq!(resolve("a[].b", &[1]).join("."), "a.1.b");
        assert_eq!(get(&body, &resolve("a[].b", &[1])), Some(&json!(2)));
        assert_eq!(fit("a[].b", &["a", "1", "b"]), Some(vec![1]));
        assert_eq!(fit("a[].b", &["a", "1"]), None);
        assert_eq!(fit("l[]", &["l"]), Some(vec![]));
    }

    #[test]
    fn values_are_set_in_items_that_are_there() {
        let mut body = json!({"a": [{"b": 1}]});
        set(&mut body, &resolve("a[].b", &[0]), json!(2));
        set(&mut body, &resolve("a[].b", &[1]), json!(2));
        set(&mut body, &resolve("c.d", &[]), json!(3));
        assert_eq!(body, json!({"a": [{"b": 2}], "c": {"d": 3}}));
    }
}
