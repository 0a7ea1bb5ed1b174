//! The same answer in other casing, order and format.

use serde_json::{Value, json};

use super::moves::Changed;

/// Members whose text is a place of Azure.
const LOCATION: &str = "location";

/// Changes of an answer that says the same: ids in another casing, locations as people write them or as machines do, times
/// in another format, lists of words the other way round.
pub fn changes(body: &Value, seed: u64) -> Vec<Changed> {
    let mut found = Vec::new();
    if let Some(members) = body.as_object() {
        for (name, value) in members {
            if [LOCATION, "properties"].contains(&name.as_str()) {
                walk(value, &mut vec![name.clone()], &mut found);
            }
        }
    }
    // One seed in three changes all, the others one thing.
    if !seed.is_multiple_of(3) && !found.is_empty() {
        let count = u64::try_from(found.len()).unwrap_or(1);
        let pick = usize::try_from(seed % count).unwrap_or(0);
        return vec![found.swap_remove(pick)];
    }
    found
}

fn walk(value: &Value, path: &mut Vec<String>, found: &mut Vec<Changed>) {
    let is_location = path.last().is_some_and(|name| name == LOCATION);
    match value {
        Value::String(text) => {
            if let Some(other) = other_text(text, is_location) {
                found.push(changed(path, value, json!(other)));
            }
        }
        Value::Array(items) if items.len() > 1 && items.iter().all(Value::is_string) => {
            let turned: Vec<Value> = items.iter().rev().cloned().collect();
            if turned != *items {
                found.push(changed(path, value, json!(turned)));
            }
        }
        Value::Array(items) => {
            for (index, item) in items.iter().enumerate() {
                path.push(index.to_string());
                walk(item, path, found);
                path.pop();
            }
        }
        Value::Object(members) => {
            for (name, member) in members {
                path.push(name.clone());
                walk(member, path, found);
                path.pop();
            }
        }
        _ => {}
    }
}

fn changed(path: &[String], before: &Value, after: Value) -> Changed {
    Changed {
        path: path.to_vec(),
        before: Some(before.clone()),
        after: Some(after),
        is_item: false,
    }
}

fn other_text(text: &str, is_location: bool) -> Option<String> {
    let other = if is_location {
        match text.contains(' ') {
            true => text.to_ascii_lowercase().replace(' ', ""),
            false => crate::behaviour::other_spelling(text),
        }
    } else if text.starts_with("/subscriptions/") {
        match text.contains("/resourceGroups/") {
            true => text.replace("/resourceGroups/", "/resourcegroups/"),
            false => text.replace("/resourcegroups/", "/resourceGroups/"),
        }
    } else {
        other_time(text)?
    };
    (other != text).then_some(other)
}

/// `2024-05-01T00:00:00Z` as `2024-05-01T00:00:00.0000000Z`, and back.
fn other_time(text: &str) -> Option<String> {
    text.parse::<jiff::Timestamp>().ok()?;
    let stem = text.strip_suffix('Z')?;
    Some(match stem.strip_suffix(".0000000") {
        Some(stem) => format!("{stem}Z"),
        None if stem.contains('.') => return None,
        None => format!("{stem}.0000000Z"),
    })
}

/// The one form of all these.
pub fn plain(value: &Value) -> Value {
    match value {
        Value::String(text) => {
            let text = text.replace(".0000000Z", "Z").to_ascii_lowercase();
            json!(text.replace(' ', ""))
        }
        Value::Array(items) => {
            let mut items: Vec<Value> = items.iter().map(plain).collect();
            if items.iter().all(Value::is_string) {
                items.sort_by_key(Value::to_string);
            }
            json!(items)
        }
        Value::Object(members) => {
            let members = members.iter();
            Value::Object(
                members
                    .map(|(name, it)| (name.clone(), plain(it)))
                    .collect(),
            )
        }
        value => value.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_respelled_says_the_same() {
        let body = json!({"id": "/subscriptions/s/resourceGroups/g", "location": "westus2", "properties": {
            "subnet": {"id": "/subscriptions/s/resourceGroups/g/x"}, "zones": ["1", "2"], "at": "2024-05-01T00:00:00Z",
            "name": "Some name", "list": [{"z": ["b", "a"]}],
        }});
        let changes = changes(&body, 0);
        let mut other = body.clone();
        for change in &changes {
            super::super::moves::apply(&mut other, change);
        }
        let expected = json!({"id": "/subscriptions/s/resourceGroups/g", "location": "West US 2", "properties": {
            "subnet": {"id": "/subscriptions/s/resourcegroups/g/x"}, "zones": ["2", "1"],
            "at": "2024-05-01T00:00:00.0000000Z", "name": "Some name", "list": [{"z": ["a", "b"]}],
        }});
        assert_eq!(other, expected);
        assert_eq!(plain(&body), plain(&other));
        assert_eq!(super::changes(&body, 1).len(), 1);
    }
}
