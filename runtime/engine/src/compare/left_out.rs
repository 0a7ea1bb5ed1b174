//! What Azure has and a body does not name, of all that a spec could say: ARM resets what a PUT leaves out, or keeps it, as the
//! service likes, so whoever sends the body should know.

use armature_shapes::shape::arm_tree::ArmTree;
use armature_shapes::shape::{Flags, Semantic, StructShape, Type};
use serde_json::{Map, Value};

use super::Comparison;
use super::equal::is_nothing;
use super::leaves::visit_all;
use super::lookup::PathSet;

/// A value that Azure has and a PUT leaves out.
#[derive(Clone, Debug, PartialEq)]
pub struct LeftOut {
    /// Path in ARM's JSON, list items by identity where they have one.
    pub path: String,
    /// The same path in the schema.
    pub schema_path: String,
    /// What Azure has; nothing where it must stay out of messages.
    pub value: Option<Value>,
}

impl Comparison<'_> {
    /// What Azure has and desired does not name, in Azure's order: no value that only Azure sets, none that says nothing, none
    /// that the user wants ignored, and none where others add members. `status` is the shape of what Azure shows.
    pub fn left_out(&self, status: &'static StructShape) -> Vec<LeftOut> {
        let Value::Object(observed) = self.observed else {
            return Vec::new();
        };
        let shown = ArmTree::of(status, observed);
        let writable = writable(&ArmTree::of(self.shape, observed), Some(&shown), observed);
        let mut found = Vec::new();
        let writable = Value::Object(writable);
        let spellings = self.spellings();
        let (ignored, shared) = (self.ignored_paths(), PathSet::of(self.shared));
        visit_all(
            &spellings,
            self.shape,
            &writable,
            self.desired,
            &mut |leaf| {
                let is_named = leaf.observed.is_some() || leaf.elsewhere.is_some();
                let is_default = leaf.says_nothing();
                let value = leaf.desired.map(std::borrow::Cow::into_owned);
                let Some(value) =
                    value.filter(|value| !is_named && !is_default && !says_nothing(value))
                else {
                    return;
                };
                if !ignored.covers(&leaf.path) && !shared.covers(&leaf.path) {
                    found.push(LeftOut {
                        path: leaf.path,
                        schema_path: leaf.schema_path,
                        value: Some(value).filter(|_| !leaf.hidden),
                    });
                }
            },
        );
        found
    }
}

fn says_nothing(value: &Value) -> bool {
    is_nothing(value) || value.as_str().is_some_and(str::is_empty)
}

/// The members that a PUT could set. Of members that the schema has no name for, those that the answer's own schema has are
/// Azure's.
pub(super) fn writable(
    tree: &ArmTree,
    shown: Option<&ArmTree>,
    members: &Map<String, Value>,
) -> Map<String, Value> {
    let mut kept = Map::new();
    for (name, value) in members {
        let shown = shown.and_then(|shown| shown.member(name));
        let value = match tree.member(name) {
            Some(below) if !below.fields.is_empty() => {
                let mut fields = below.fields.iter();
                let field = fields.find(|field| !field.flags.has(Flags::READ_ONLY));
                field.map(|field| writable_value(field.ty, value))
            }
            Some(below) if below.discriminator => Some(value.clone()),
            Some(below) => match value {
                Value::Object(members) => Some(writable(below, shown, members).into()),
                _ => None,
            },
            None => match tree.further {
                Some(field) if shown.is_none() && !field.flags.has(Flags::READ_ONLY) => {
                    match field.ty {
                        Type::Map(map) => Some(writable_value(map.value, value)),
                        _ => None,
                    }
                }
                _ => None,
            },
        };
        if let Some(value) = value {
            kept.insert(name.clone(), value);
        }
    }
    kept
}

fn writable_value(ty: Type, value: &Value) -> Value {
    match (ty, value) {
        (Type::Struct(shape), Value::Object(members)) if shape.semantic == Semantic::Plain => {
            writable(&ArmTree::of(shape, members), None, members).into()
        }
        (Type::List(list), Value::Array(items)) => {
            let items = items.iter();
            items.map(|item| writable_value(list.item, item)).collect()
        }
        (Type::Map(map), Value::Object(members)) => {
            let members = members
                .iter()
                .map(|(name, value)| (name.clone(), writable_value(map.value, value)));
            Value::Object(members.collect())
        }
        _ => value.clone(),
    }
}

#[cfg(test)]
mod tests {
    use armature_shapes::testing::gadget::{OPEN, VERSION};
    use serde_json::json;

    use super::*;

    fn left_out(desired: &Value, observed: &Value) -> Vec<(String, Option<Value>)> {
        let comparison = Comparison::new(VERSION.spec, desired, observed);
        let found = comparison.left_out(VERSION.status).into_iter();
        found.map(|one| (one.path, one.value)).collect()
    }

    #[test]
    fn what_a_put_leaves_out() {
        let rules = |items: Value| json!({"properties": {"rules": items}});
        let whole =
            json!({"name": "a", "properties": {"priority": 1, "prefixes": ["x"]}, "etag": "e"});
        let table = [
            (
                "a value beside those that are named, whatever its casing",
                json!({"Location": "westus"}),
                json!({"location": "westeurope", "properties": {"accessTier": "Hot"}}),
                vec![("properties.accessTier", Some(json!("Hot")))],
            ),
            (
                "false and 0 are values; nothing, and what has nothing in it, is none",
                json!({}),
                json!({
                    "location": "", "tags": {}, "zones": [], "identity": null,
                    "properties": {"capacity": 0, "rules": [], "network": {"address": ""}},
                }),
                vec![("properties.capacity", Some(json!(0)))],
            ),
            (
                "what names the resource, what only Azure sets, and what no schema knows is not ours to send",
                json!({}),
                json!({
                    "id": "/x", "name": "x", "type": "t", "etag": "e",
                    "identity": {"type": "SystemAssigned", "principalId": "p"},
                    "properties": {"enabled": true, "provisioningState": "Succeeded"},
                }),
                vec![("identity.type", Some(json!("SystemAssigned")))],
            ),
            (
                "a map, key by key",
                json!({"tags": {"a": "1"}}),
                json!({"tags": {"a": "2", "b": "3"}}),
                vec![("tags.b", Some(json!("3")))],
            ),
            (
                "items by their identity",
                rules(json!([{"name": "b"}, {"name": "A", "properties": {"priority": 1}}])),
                rules(json!([whole, {"name": "b", "properties": {"priority": 2}}])),
                vec![
                    ("properties.rules.a.properties.prefixes", Some(json!(["x"]))),
                    ("properties.rules.b.properties.priority", Some(json!(2))),
                ],
            ),
            (
                "secrets that Azure shows are told without their value",
                json!({}),
                json!({"properties": {"password": "hunter2", "protectedSettings": {"a": "b"}}}),
                vec![
                    ("properties.password", None),
                    ("properties.protectedSettings", None),
                ],
            ),
            (
                "secrets that are sent are not left out",
                json!({"properties": {"password": "new"}}),
                json!({"properties": {"password": "hunter2"}}),
                vec![],
            ),
            (
                "a variant as a whole",
                json!({}),
                json!({"properties": {"source": {"kind": "Blob", "properties": {"uri": "u"}}}}),
                vec![
                    ("properties.source.kind", Some(json!("Blob"))),
                    ("properties.source.properties.uri", Some(json!("u"))),
                ],
            ),
        ];
        for (what, desired, observed, expected) in table {
            let expected: Vec<(String, Option<Value>)> = expected
                .into_iter()
                .map(|(path, value)| (path.to_owned(), value))
                .collect();
            assert_eq!(left_out(&desired, &observed), expected, "{what}");
        }
    }

    #[test]
    fn what_is_not_compared_and_what_others_add_is_not_told() {
        let desired = json!({});
        let observed = json!({"tags": {"a": "1"}, "properties": {
            "accessTier": "Hot", "rules": [{"name": "a", "properties": {"priority": 1}}],
        }});
        let (ignored, shared) = (["tags".to_owned()], ["properties.rules".to_owned()]);
        let comparison = Comparison {
            ignored: &ignored,
            shared: &shared,
            ..Comparison::new(VERSION.spec, &desired, &observed)
        };
        let found = comparison.left_out(VERSION.status);
        let paths: Vec<&str> = found.iter().map(|one| one.path.as_str()).collect();
        assert_eq!(paths, ["properties.accessTier"]);
    }

    #[test]
    fn further_members_are_told_unless_they_are_azures() {
        let observed = json!({
            "odata.type": "metric", "size": 1, "more": 2,
            "properties": {"unit": "u", "other": "o"},
        });
        let desired = json!({"odata.type": "metric"});
        let found = |status| {
            let comparison = Comparison::new(OPEN.spec, &desired, &observed);
            let found = comparison.left_out(status).into_iter();
            found.map(|one| one.path).collect::<Vec<_>>()
        };
        let named = ["size", "properties.unit"];
        assert_eq!(
            found(OPEN.status),
            ["size", "more", "properties.unit", "properties.other"]
        );
        assert!(
            named
                .iter()
                .all(|name| found(VERSION.status).contains(&(*name).to_owned()))
        );
    }
}
