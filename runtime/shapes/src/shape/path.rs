//! Where in a JSON document an engine is, without allocating until somebody wants to read it.

use std::fmt;

/// A position, linked to the one above it.
#[derive(Clone, Copy, Debug)]
pub enum Path<'a> {
    /// The document itself, under the name it has in messages (`spec`); may be empty.
    Root(&'a str),
    /// A member of an object.
    Member(&'a Path<'a>, &'a str),
    /// An entry of a map, or an item of a list by its identity: named by data, not by the schema.
    Key(&'a Path<'a>, &'a str),
    /// An item of a list.
    Item(&'a Path<'a>, usize),
}

impl<'a> Path<'a> {
    /// The member below this position.
    pub fn member(&'a self, name: &'a str) -> Path<'a> {
        Path::Member(self, name)
    }

    /// The entry of a map, or the item with this identity, below this position.
    pub fn key(&'a self, name: &'a str) -> Path<'a> {
        Path::Key(self, name)
    }

    /// The path in the schema: the same for all entries of a map and all items of a list, `[]`.
    pub fn schema_path(&self) -> String {
        match self {
            Path::Root(name) => (*name).to_owned(),
            Path::Item(above, _) | Path::Key(above, _) => format!("{}[]", above.schema_path()),
            Path::Member(Path::Root(""), name) => (*name).to_owned(),
            Path::Member(above, name) => format!("{}.{name}", above.schema_path()),
        }
    }

    /// The list item below this position.
    pub fn item(&'a self, index: usize) -> Path<'a> {
        Path::Item(self, index)
    }
}

impl fmt::Display for Path<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Path::Root(name) => formatter.write_str(name),
            Path::Item(above, index) => write!(formatter, "{above}[{index}]"),
            Path::Member(above, name) | Path::Key(above, name) => {
                if !matches!(above, Path::Root("")) {
                    write!(formatter, "{above}")?;
                    if is_plain(name) {
                        formatter.write_str(".")?;
                    }
                }
                if is_plain(name) {
                    formatter.write_str(name)
                } else {
                    write!(formatter, "[{name:?}]")
                }
            }
        }
    }
}

/// Whether a member name can stand after a dot without being misread.
fn is_plain(name: &str) -> bool {
    !name.is_empty()
        && name
            .chars()
            .all(|letter| letter.is_alphanumeric() || matches!(letter, '_' | '-' | '$' | '@'))
}

/// What a JSON value is, for "expected …, found …" messages. Never shows the value, which may be a secret.
pub fn kind_of(value: &serde_json::Value) -> &'static str {
    use serde_json::Value;
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(number) if number.is_f64() => "a number with a fraction",
        Value::Number(_) => "an integer",
        Value::String(_) => "a string",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    }
}

#[cfg(test)]
mod tests {
    use super::Path;

    #[test]
    fn paths_read_like_kubectl_writes_them() {
        let root = Path::Root("spec");
        let rules = root.member("rules");
        let third = rules.item(2);
        let label = third.member("labels");
        assert_eq!(
            label.member("a.b/c").to_string(),
            "spec.rules[2].labels[\"a.b/c\"]"
        );
        assert_eq!(Path::Root("").member("sku").to_string(), "sku");
        let entry = label.key("team");
        assert_eq!(entry.to_string(), "spec.rules[2].labels.team");
        assert_eq!(entry.schema_path(), "spec.rules[].labels[]");
    }
}
