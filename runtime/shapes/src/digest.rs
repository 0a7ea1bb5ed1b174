//! Text and digests of JSON that do not depend on the order of members.

use serde_json::Value;
use sha2::{Digest, Sha256};

/// JSON text with the members of every object in order of name.
pub fn canonical_json(value: &Value) -> String {
    let mut text = String::new();
    write(value, &mut text);
    text
}

fn write(value: &Value, text: &mut String) {
    match value {
        Value::Object(members) => {
            let mut members: Vec<_> = members.iter().collect();
            members.sort_by_key(|(name, _)| *name);
            text.push('{');
            for (index, (name, member)) in members.into_iter().enumerate() {
                if index > 0 {
                    text.push(',');
                }
                text.push_str(&Value::from(name.as_str()).to_string());
                text.push(':');
                write(member, text);
            }
            text.push('}');
        }
        Value::Array(items) => {
            text.push('[');
            for (index, item) in items.iter().enumerate() {
                if index > 0 {
                    text.push(',');
                }
                write(item, text);
            }
            text.push(']');
        }
        scalar => text.push_str(&scalar.to_string()),
    }
}

/// Lower-case hexadecimal.
pub fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// A short digest that tells values apart; 64 bits, not meant to withstand an attacker.
pub fn short_digest(value: &Value) -> String {
    let digest = Sha256::digest(canonical_json(value).as_bytes());
    hexadecimal(&digest[..8])
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn order_of_members_does_not_matter_and_order_of_items_does() {
        let one = json!({"a": [1, 2], "b": {"x\"": null, "y": 1.5}});
        let other = json!({"b": {"y": 1.5, "x\"": null}, "a": [1, 2]});
        assert_eq!(
            canonical_json(&one),
            r#"{"a":[1,2],"b":{"x\"":null,"y":1.5}}"#
        );
        assert_eq!(short_digest(&one), short_digest(&other));
        assert_ne!(short_digest(&json!([1, 2])), short_digest(&json!([2, 1])));
        assert_eq!(short_digest(&one).len(), 16);
    }
}
