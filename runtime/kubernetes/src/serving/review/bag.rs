//! What a stored object holds as text, because the version of its form has no field for it, and that is nested too deeply to be
//! read.
//!
//! Members get there when they are moved from one stored form into another. Where users read the object they are left out as other
//! members are that are too deep.

use armature_shapes::conversion::PROPERTY_BAG;
use serde_json::{Map, Value};

/// Most levels that a reader of JSON goes.
const LEVELS: usize = 127;

/// Takes out of the bags of an object what would be too deep where it is read, and says how many bytes.
pub(super) fn take_deep(object: &mut Value) -> usize {
    match object {
        Value::Object(members) => {
            let parts = members.iter_mut();
            parts.map(|(_, part)| take_below(part, 2)).sum()
        }
        _ => 0,
    }
}

/// The same of a value that is this many levels below the top.
fn take_below(value: &mut Value, level: usize) -> usize {
    match value {
        Value::Object(members) => {
            let mut bytes = match members.get_mut(PROPERTY_BAG) {
                Some(Value::Object(bag)) => take_entries(bag, level),
                _ => 0,
            };
            let below = members.iter_mut();
            for (_, value) in below.filter(|(name, _)| *name != PROPERTY_BAG) {
                bytes += take_below(value, level + 1);
            }
            bytes
        }
        Value::Array(items) => {
            let items = items.iter_mut();
            items.map(|item| take_below(item, level + 1)).sum()
        }
        _ => 0,
    }
}

fn take_entries(bag: &mut Map<String, Value>, level: usize) -> usize {
    let mut bytes = 0;
    bag.retain(|_, entry| {
        let Value::String(text) = entry else {
            return true;
        };
        if level + levels(text) > LEVELS {
            bytes += text.len();
            return false;
        }
        // An entry may have bags of its own.
        if text.contains(PROPERTY_BAG)
            && let Ok(mut value) = serde_json::from_str(text)
        {
            let taken = take_below(&mut value, level + 1);
            if taken > 0 {
                *text = value.to_string();
                bytes += taken;
            }
        }
        true
    });
    bytes
}

/// How deep a JSON text is nested.
fn levels(text: &str) -> usize {
    let (mut level, mut most) = (0_usize, 0);
    let (mut is_text, mut is_escaped) = (false, false);
    for byte in text.bytes() {
        match byte {
            _ if is_escaped => is_escaped = false,
            b'\\' => is_escaped = is_text,
            b'"' => is_text = !is_text,
            _ if is_text => {}
            b'{' | b'[' => {
                level += 1;
                most = most.max(level);
            }
            b'}' | b']' => level = level.saturating_sub(1),
            _ => {}
        }
    }
    most
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn levels_of_texts() {
        let table = [
            ("1", 0),
            ("{}", 1),
            (r#"{"a":[1,{"b":2}],"c":{}}"#, 3),
            (r#"{"a":"[[[{{","b\\\"{":"}"}"#, 1),
        ];
        for (text, expected) in table {
            assert_eq!(levels(text), expected, "{text}");
        }
    }

    #[test]
    fn what_is_as_deep_as_a_reader_goes_stays_wherever_its_bag_is() {
        let nested = |levels: usize| format!("{}1{}", "[".repeat(levels), "]".repeat(levels));
        let object = |levels: usize| {
            let bag = json!({PROPERTY_BAG: {"A": nested(levels), "B": "1"}});
            let within = json!({PROPERTY_BAG: {"C": bag.to_string()}});
            json!({
                "metadata": {"annotations": {"a": "["}},
                "spec": {PROPERTY_BAG: bag[PROPERTY_BAG], "list": [bag]},
                "status": within,
            })
        };
        // The bag in the list is two levels below that of the spec, the one within an entry is one below.
        for (levels, left) in [(123, 3), (124, 2), (125, 1), (126, 0)] {
            let mut object = object(levels);
            let bytes = take_deep(&mut object);
            let text = object.to_string();
            assert_eq!(text.matches(&nested(levels)).count(), left, "{levels}");
            assert_eq!(bytes, (3 - left) * nested(levels).len(), "{levels}");
            serde_json::from_str::<Value>(&text).expect("JSON");
        }
    }
}
