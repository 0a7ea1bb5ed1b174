//! What others own within a resource: the body of a PUT with Azure's values where the user does not want ours, and with
//! the members that others added where they are to stay.

use armature_shapes::shape::arm_json::member;
use armature_shapes::shape::arm_tree::ArmTree;
use armature_shapes::shape::path::Path;
use armature_shapes::shape::{Field, Semantic, StructShape, Type};
use serde_json::{Map, Value};

use super::is_at_or_below;
use super::leaves::{identifiers, identity};

/// Which parts of a resource others own.
#[derive(Clone, Copy)]
pub struct Others<'a> {
    /// ARM paths at which Azure's value is sent.
    pub ignored: &'a [String],
    /// ARM paths of maps, and of lists whose items have an identity, in which unknown members stay.
    pub shared: &'a [String],
    /// Whether a path was ever ours: such a member goes when the spec no longer names it.
    pub is_ours: &'a dyn Fn(&str) -> bool,
    /// Whether an item stays that was ours and that the spec no longer names. Told its path and what Azure has.
    pub is_held: &'a dyn Fn(&str, &Value) -> bool,
}

impl Others<'_> {
    /// The body to send for desired where Azure has observed.
    pub fn body(&self, shape: &'static StructShape, desired: &Value, observed: &Value) -> Value {
        let mut body = desired.clone();
        if self.ignored.is_empty() && self.shared.is_empty() {
            return body;
        }
        if let Value::Object(members) = &mut body {
            let tree = ArmTree::of(shape, members);
            let there = observed.as_object();
            self.object(Some(&tree), members, there, &Path::Root(""));
        }
        body
    }

    fn object(
        &self,
        tree: Option<&ArmTree>,
        desired: &mut Map<String, Value>,
        observed: Option<&Map<String, Value>>,
        path: &Path<'_>,
    ) {
        for name in names(desired, observed) {
            let known = tree.and_then(|tree| tree.member(&name));
            let further = known.is_none().then(|| tree?.further).flatten();
            let below = match further {
                Some(_) => path.key(&name),
                None => path.member(&name),
            };
            let there = observed.and_then(|observed| member(observed, &name));
            if self.replaced(desired, &name, there, &below) {
                continue;
            }
            let Some(value) = in_any_case(desired, &name) else {
                self.put_below(desired, &name, there, &below);
                continue;
            };
            match known {
                Some(known) if known.fields.is_empty() => {
                    if let Value::Object(members) = value {
                        self.object(
                            Some(known),
                            members,
                            there.and_then(Value::as_object),
                            &below,
                        );
                    }
                }
                Some(known) => {
                    let field = known.fields[0];
                    self.value(field.ty, field, value, there, &below);
                }
                None => {
                    if let Some((Type::Map(map), field)) = further.map(|field| (field.ty, field)) {
                        self.value(map.value, field, value, there, &below);
                    }
                }
            }
        }
    }

    fn value(
        &self,
        ty: Type,
        field: &'static Field,
        desired: &mut Value,
        observed: Option<&Value>,
        path: &Path<'_>,
    ) {
        match (ty, desired) {
            (Type::Struct(shape), Value::Object(members))
                if matches!(shape.semantic, Semantic::Plain | Semantic::ArmIdKeyed) =>
            {
                let tree = ArmTree::of(shape, members);
                self.object(
                    Some(&tree),
                    members,
                    observed.and_then(Value::as_object),
                    path,
                );
            }
            (Type::List(list), Value::Array(items)) => {
                let none = Vec::new();
                let there = observed.and_then(Value::as_array).unwrap_or(&none);
                self.items(list.item, field, items, there, path);
            }
            (Type::Map(map), Value::Object(members)) => {
                let there = observed.and_then(Value::as_object);
                for name in names(members, there) {
                    let below = path.key(&name);
                    let there = there.and_then(|there| member(there, &name));
                    if self.replaced(members, &name, there, &below) {
                        continue;
                    }
                    match in_any_case(members, &name) {
                        Some(value) => self.value(map.value, field, value, there, &below),
                        None => self.put_below(members, &name, there, &below),
                    }
                }
            }
            // Values without parts.
            _ => {}
        }
    }

    fn items(
        &self,
        item: Type,
        field: &'static Field,
        desired: &mut Vec<Value>,
        observed: &[Value],
        path: &Path<'_>,
    ) {
        // An item that the spec names is ours with all its members.
        let within = Self {
            shared: &[],
            ..*self
        };
        let others = |below: &Path<'_>| match self.is_member(&below.to_string()) {
            true => &within,
            false => self,
        };
        let Some(identifiers) = identifiers(field, desired, observed) else {
            // What stands at the same place may be another item.
            for (index, value) in desired.iter_mut().enumerate() {
                let below = path.item(index);
                others(&below).value(item, field, value, observed.get(index), &below);
            }
            return;
        };
        let counterpart = |items: &[Value], identity: &Option<String>| {
            let mut items = items.iter();
            items.position(|item| self::identity(item, identifiers) == *identity)
        };
        for value in desired.iter_mut() {
            let identity = identity(value, identifiers);
            let there = counterpart(observed, &identity).and_then(|at| observed.get(at));
            let below = identity.unwrap_or_default();
            let below = path.key(&below);
            others(&below).value(item, field, value, there, &below);
        }
        for value in observed {
            let identity = identity(value, identifiers);
            let name = identity.clone().unwrap_or_default();
            let below = path.key(&name).to_string();
            // Of an item with members, what was sent is known member by member.
            let mut members = identifiers.iter().map(|id| id.replace('/', "."));
            let was_sent = members.any(|member| (self.is_ours)(&format!("{below}.{member}")));
            if counterpart(desired, &identity).is_some() {
                continue;
            }
            let is_others = self.stays(&below) && !was_sent;
            let stays = is_others || at_or_below_any(self.ignored, &below);
            if stays || self.is_member(&below) && (self.is_held)(&below, value) {
                desired.push(value.clone());
            }
        }
    }

    /// Puts Azure's value in the place of ours, where it is ignored.
    fn replaced(
        &self,
        desired: &mut Map<String, Value>,
        name: &str,
        observed: Option<&Value>,
        path: &Path<'_>,
    ) -> bool {
        if !at_or_below_any(self.ignored, &path.to_string()) {
            return false;
        }
        match (in_any_case(desired, name), observed) {
            (Some(value), Some(there)) => *value = there.clone(),
            (None, Some(there)) => {
                desired.insert(name.to_owned(), there.clone());
            }
            (Some(_), None) => desired.retain(|known, _| !known.eq_ignore_ascii_case(name)),
            (None, None) => {}
        }
        true
    }

    /// Takes over the parts of a member that desired lacks: those that are ignored and those that others added.
    fn put_below(
        &self,
        desired: &mut Map<String, Value>,
        name: &str,
        observed: Option<&Value>,
        path: &Path<'_>,
    ) {
        let Some(there) = observed else {
            return;
        };
        if let Some(part) = self.part(there, path) {
            desired.insert(name.to_owned(), part);
        }
    }

    /// The parts of Azure's value that stay although desired names nothing here.
    fn part(&self, observed: &Value, path: &Path<'_>) -> Option<Value> {
        let text = path.to_string();
        if at_or_below_any(self.ignored, &text) || self.stays(&text) {
            return Some(observed.clone());
        }
        let mut wanted = self.ignored.iter().chain(self.shared);
        if !wanted.any(|wanted| is_at_or_below(wanted, &text)) {
            return None;
        }
        let members = observed.as_object()?.iter().filter_map(|(name, value)| {
            let part = self.part(value, &path.member(name))?;
            Some((name.clone(), part))
        });
        let members: Map<String, Value> = members.collect();
        (!members.is_empty()).then_some(Value::Object(members))
    }

    /// Whether a member of a shared map or list is others'.
    fn stays(&self, path: &str) -> bool {
        self.is_member(path) && !(self.is_ours)(path)
    }

    /// Whether it is a member of a shared map or list, or within one.
    fn is_member(&self, path: &str) -> bool {
        let mut shared = self.shared.iter();
        shared.any(|shared| path.len() > shared.len() && is_at_or_below(path, shared))
    }
}

/// Names of the members of both, each once in whatever casing.
pub(super) fn names(
    desired: &Map<String, Value>,
    observed: Option<&Map<String, Value>>,
) -> Vec<String> {
    let mut names: Vec<String> = desired.keys().cloned().collect();
    for name in observed.into_iter().flat_map(Map::keys) {
        if !names.iter().any(|known| known.eq_ignore_ascii_case(name)) {
            names.push(name.clone());
        }
    }
    names
}

pub(super) fn in_any_case<'v>(
    members: &'v mut Map<String, Value>,
    name: &str,
) -> Option<&'v mut Value> {
    let mut members = members.iter_mut();
    let found = members.find(|(known, _)| known.eq_ignore_ascii_case(name));
    found.map(|(_, value)| value)
}

fn at_or_below_any(prefixes: &[String], path: &str) -> bool {
    prefixes.iter().any(|prefix| is_at_or_below(path, prefix))
}

#[cfg(test)]
mod tests {
    use armature_shapes::testing::gadget::VERSION;
    use serde_json::json;

    use super::*;

    fn body(
        ignored: &[&str],
        shared: &[&str],
        ours: &[&str],
        desired: Value,
        azure: Value,
    ) -> Value {
        let texts = |texts: &[&str]| {
            texts
                .iter()
                .map(|text| (*text).to_owned())
                .collect::<Vec<_>>()
        };
        let (ignored, shared) = (texts(ignored), texts(shared));
        let is_ours = |path: &str| ours.contains(&path);
        let others = Others {
            ignored: &ignored,
            shared: &shared,
            is_ours: &is_ours,
            is_held: &|path, _| path.ends_with("held"),
        };
        others.body(VERSION.spec, &desired, &azure)
    }

    #[test]
    fn azures_value_is_sent_at_ignored_paths() {
        let desired = json!({"location": "w", "tags": {"a": "1", "b": "2"}, "properties": {
            "capacity": 3,
            "rules": [{"name": "a", "properties": {"priority": 1, "prefixes": ["x"]}}],
        }});
        let azure = json!({"location": "w", "tags": {"a": "9", "c": "3"}, "properties": {
            "network": {"address": "10.0.0.1", "mask": 8},
            "rules": [{"name": "A", "properties": {"priority": 7}}, {"name": "z", "properties": {}}],
        }});
        let ignored = [
            "tags.a",
            "tags.b",
            "tags.c",
            "properties.capacity",
            "properties.rules.a.properties.priority",
            "properties.network.address",
        ];
        let expected = json!({"location": "w", "tags": {"a": "9", "c": "3"}, "properties": {
            "rules": [{"name": "a", "properties": {"priority": 7, "prefixes": ["x"]}}],
            "network": {"address": "10.0.0.1"},
        }});
        assert_eq!(
            body(&ignored, &[], &[], desired.clone(), azure.clone()),
            expected
        );
        let whole = body(&["tags", "properties"], &[], &[], desired, azure.clone());
        assert_eq!(whole, azure);
    }

    #[test]
    fn members_of_others_stay_and_ours_go() {
        let desired = json!({"tags": {"a": "1"}, "properties": {"rules": [{"name": "a"}]}});
        let azure = json!({"tags": {"a": "9", "old": "x", "policy": "p"}, "properties": {
            "rules": [{"name": "b"}, {"name": "gone"}],
        }});
        let shared = ["tags", "properties.rules"];
        let ours = ["tags.old", "properties.rules.gone"];
        let expected = json!({"tags": {"a": "1", "policy": "p"}, "properties": {
            "rules": [{"name": "a"}, {"name": "b"}],
        }});
        assert_eq!(
            body(&[], &shared, &ours, desired.clone(), azure.clone()),
            expected
        );
        let by_member = ["tags.old", "properties.rules.gone.name"];
        assert_eq!(
            body(&[], &shared, &by_member, desired.clone(), azure.clone()),
            expected
        );
        let held = json!({"properties": {"rules": [{"name": "held"}]}});
        let stays = body(
            &[],
            &shared,
            &["properties.rules.held"],
            json!({"properties": {"rules": []}}),
            held.clone(),
        );
        assert_eq!(stays, held, "it may come to stand for itself");
        let nothing_named = body(&[], &["tags"], &["tags.old"], json!({}), azure);
        assert_eq!(nothing_named, json!({"tags": {"a": "9", "policy": "p"}}));
    }

    #[test]
    fn disks_without_names_are_known_by_their_numbers() {
        let desired = json!({"properties": {"rules": [{"lun": 0}, {"lun": 1}]}});
        let azure = json!({"properties": {"rules": [
            {"name": "b", "lun": 1}, {"name": "a", "lun": 0}, {"name": "others", "lun": 40},
        ]}});
        let sent = body(&[], &["properties.rules"], &[], desired, azure);
        let rules = json!([{"lun": 0}, {"lun": 1}, {"name": "others", "lun": 40}]);
        assert_eq!(sent["properties"]["rules"], rules);
    }

    /// Items of one name, or of none, have only their place, and that may be another item's in Azure.
    #[test]
    fn an_item_without_an_identity_takes_over_nothing() {
        let desired = json!({"properties": {"rules": [{"name": "a"}, {"name": "a"}]}});
        let azure = json!({"properties": {"rules": [
            {"name": "b", "properties": {"priority": 7}}, {"name": "a"},
        ]}});
        let shared = ["properties.rules"];
        let sent = body(&[], &shared, &[], desired.clone(), azure.clone());
        assert_eq!(sent, desired);
        let ignored = ["properties.rules[0].properties.priority"];
        let sent = body(&ignored, &shared, &[], desired, azure);
        assert_eq!(
            sent["properties"]["rules"][0]["properties"],
            json!({"priority": 7})
        );
    }
}
