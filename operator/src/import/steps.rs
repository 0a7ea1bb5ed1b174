//! Places in a spec by the paths that checks tell.

use armature_runtime::shape::{Field, StructShape, Type};
use serde_json::Value;

/// One step down.
#[derive(Clone, Debug, PartialEq)]
pub enum Step {
    /// Into a member.
    Member(String),
    /// Into an item.
    Item(usize),
}

/// The steps of a path such as `spec.rules[2].tags["a.b"]`, without its first word. `None` for what is no path.
pub fn steps(path: &str) -> Option<Vec<Step>> {
    let start = path.find(['.', '[']).unwrap_or(path.len());
    let mut rest = &path[start..];
    let mut steps = Vec::new();
    while !rest.is_empty() {
        if let Some(name) = rest.strip_prefix('.') {
            let end = name.find(['.', '[']).unwrap_or(name.len());
            steps.push(Step::Member(name[..end].to_owned()));
            rest = &name[end..];
        } else if let Some(key) = rest.strip_prefix("[\"") {
            let end = end_of_text(key)?;
            let name = serde_json::from_str(&rest[1..end + 3]).ok()?;
            steps.push(Step::Member(name));
            rest = key.get(end + 2..)?;
        } else {
            let (index, after) = rest.strip_prefix('[')?.split_once(']')?;
            steps.push(Step::Item(index.parse().ok()?));
            rest = after;
        }
    }
    Some(steps)
}

/// Where the quote is that ends a text.
fn end_of_text(text: &str) -> Option<usize> {
    let mut is_escaped = false;
    text.char_indices().find_map(|(at, letter)| match letter {
        _ if is_escaped => {
            is_escaped = false;
            None
        }
        '\\' => {
            is_escaped = true;
            None
        }
        '"' => Some(at),
        _ => None,
    })
}

/// The value at a place.
pub fn at<'v>(value: &'v mut Value, steps: &[Step]) -> Option<&'v mut Value> {
    steps.iter().try_fold(value, |value, step| match step {
        Step::Member(name) => value.get_mut(name),
        Step::Item(index) => value.get_mut(*index),
    })
}

/// Takes the value at a place out.
pub fn take_out(value: &mut Value, steps: &[Step]) -> Option<Value> {
    let (last, above) = steps.split_last()?;
    match (at(value, above)?, last) {
        (Value::Object(members), Step::Member(name)) => members.shift_remove(name),
        (Value::Array(items), Step::Item(index)) if *index < items.len() => {
            Some(items.remove(*index))
        }
        _ => None,
    }
}

/// The field that a place is of; `None` below a map or a list.
pub fn field(shape: &'static StructShape, steps: &[Step]) -> Option<&'static Field> {
    let mut ty = Type::Struct(shape);
    let mut found = None;
    for step in steps {
        (ty, found) = match (ty, step) {
            (Type::Struct(shape), Step::Member(name)) => {
                let field = shape.field(name)?;
                (field.ty, Some(field))
            }
            (Type::Map(map), Step::Member(_)) => (map.value, None),
            (Type::List(list), Step::Item(_)) => (list.item, None),
            _ => return None,
        };
    }
    found
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn paths_are_read_as_checks_write_them() {
        let member = |name: &str| Step::Member(name.to_owned());
        assert_eq!(
            steps(r#"spec.rules[2].tags["a.b\"]"].x"#),
            Some(vec![
                member("rules"),
                Step::Item(2),
                member("tags"),
                member("a.b\"]"),
                member("x"),
            ])
        );
        assert_eq!(steps("spec"), Some(Vec::new()));
        assert_eq!(steps("spec[x"), None);
    }

    #[test]
    fn values_are_taken_out_of_objects_and_lists() {
        let mut value = json!({"a": [{"b": 1}, {"c": 2}]});
        let path = steps("spec.a[0].b").unwrap();
        assert_eq!(take_out(&mut value, &path), Some(json!(1)));
        let path = steps("spec.a[0]").unwrap();
        assert_eq!(take_out(&mut value, &path), Some(json!({})));
        assert_eq!(value, json!({"a": [{"c": 2}]}));
        assert_eq!(take_out(&mut value, &steps("spec.x.y").unwrap()), None);
    }
}
