//! What the shape says of the paths that desired names: which Azure never shows, and which can be set on creation only.

use std::collections::BTreeSet;

use armature_shapes::shape::arm_tree::ArmTree;
use armature_shapes::shape::path::Path;
use armature_shapes::shape::{Field, Flags, Type};
use serde_json::{Map, Value};

use super::leaves::is_unseen;
use super::{Comparison, is_at_or_below};

/// A resource stays where it was made, whether its type says so or not: Azure Resource Manager answers
/// `InvalidResourceLocation`.
const RESOURCE_LOCATION: &str = "location";

/// Facts about the paths that desired names.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Marks {
    /// Paths of secrets and of what ARM never returns: of these nobody can tell what Azure has.
    pub unseen: Vec<String>,
    /// Paths in the schema of what can be set on creation only.
    create_only: BTreeSet<String>,
}

impl Marks {
    /// Whether a path in the schema, as [`super::Difference::schema_path`], can be set on creation only.
    pub fn is_create_only(&self, schema_path: &str) -> bool {
        let mut paths = self.create_only.iter();
        paths.any(|path| is_at_or_below(schema_path, path))
    }

    fn take(&mut self, fields: &[&'static Field], path: &Path<'_>) -> bool {
        let schema_path = path.schema_path();
        let has = |flag| fields.iter().any(|field| field.flags.has(flag));
        if has(Flags::CREATE_ONLY) || (has(Flags::LOCATION) && schema_path == RESOURCE_LOCATION) {
            self.create_only.insert(schema_path);
        }
        let is_hidden = fields.iter().any(|field| is_unseen(field));
        if is_hidden {
            self.unseen.push(path.to_string());
        }
        is_hidden
    }

    fn walk(&mut self, tree: &ArmTree, desired: &Map<String, Value>, path: &Path<'_>) {
        for (name, value) in desired.iter().filter(|(_, value)| !value.is_null()) {
            let below = path.member(name);
            match tree.member(name) {
                Some(tree) if self.take(&tree.fields, &below) => {}
                Some(ArmTree { fields, .. }) if !fields.is_empty() => {
                    self.walk_value(fields[0].ty, value, &below);
                }
                Some(tree) => {
                    if let Value::Object(members) = value {
                        self.walk(tree, members, &below);
                    }
                }
                None => self.walk_further(tree.further, value, &path.key(name)),
            }
        }
    }

    fn walk_further(&mut self, further: Option<&'static Field>, value: &Value, path: &Path<'_>) {
        let Some(field) = further else {
            return;
        };
        if let (false, Type::Map(map)) = (self.take(&[field], path), field.ty) {
            self.walk_value(map.value, value, path);
        }
    }

    fn walk_value(&mut self, ty: Type, value: &Value, path: &Path<'_>) {
        match (ty, value) {
            (Type::Struct(shape), Value::Object(members)) => {
                self.walk(&ArmTree::of(shape, members), members, path);
            }
            (Type::Map(map), Value::Object(members)) => {
                for (key, value) in members {
                    self.walk_value(map.value, value, &path.key(key));
                }
            }
            (Type::List(list), Value::Array(items)) => {
                for (index, value) in items.iter().enumerate() {
                    self.walk_value(list.item, value, &path.item(index));
                }
            }
            _ => {}
        }
    }
}

impl Comparison<'_> {
    /// What the shape says of the paths that desired names.
    pub fn marks(&self) -> Marks {
        let mut marks = Marks::default();
        if let Value::Object(desired) = self.desired {
            let tree = ArmTree::of(self.shape, desired);
            marks.walk(&tree, desired, &Path::Root(""));
        }
        marks
    }
}

#[cfg(test)]
mod tests {
    use armature_shapes::shape::Shaped;
    use armature_shapes::shaped;
    use armature_shapes::testing::gadget::VERSION;
    use serde_json::json;

    use super::*;

    shaped! {
        /// A disk of a machine.
        Disk {
            /// Set once.
            zone: String = "zone".at(&["placement", "zone"]).flags(Flags::CREATE_ONLY);
            /// Set at any time.
            size: i64 = "size".at(&["size"]);
        }
    }

    shaped! {
        /// A machine.
        Machine {
            /// Set once.
            location: String = "location".at(&["location"]).flags(Flags::CREATE_ONLY);
            /// Disks.
            disks: Vec<Disk> = "disks".at(&["properties", "disks"]);
        }
    }

    #[test]
    fn what_azure_never_shows_is_named() {
        let desired = json!({"location": "westus", "properties": {
            "capacity": 3, "password": "hunter2", "protectedSettings": {"a": "b"}}});
        let marks = Comparison::new(VERSION.spec, &desired, &Value::Null).marks();
        let expected = ["properties.password", "properties.protectedSettings"];
        assert_eq!(marks.unseen, expected);
        assert!(marks.is_create_only("location"));
        assert!(!marks.is_create_only("properties.capacity"));
    }

    #[test]
    fn what_is_set_once_is_known_by_its_path_in_the_schema() {
        let disk = json!({"size": 1, "placement": {"zone": "2"}});
        let desired = json!({"location": "westus", "properties": {"disks": [disk]}});
        let marks = Comparison::new(Machine::SHAPE, &desired, &Value::Null).marks();
        let table = [
            ("location", true),
            ("properties.disks[].placement.zone", true),
            ("properties.disks[].size", false),
            ("properties.disks[]", false),
        ];
        for (path, expected) in table {
            assert_eq!(marks.is_create_only(path), expected, "{path}");
        }
    }
}
