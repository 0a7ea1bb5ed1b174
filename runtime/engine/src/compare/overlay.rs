//! What others own within a resource: the body of a PUT with Azure's values where the user does not want ours, and with
//! the members that others added where they are to stay.

use std::collections::{HashMap, HashSet};

use armature_shapes::shape::arm_tree::ArmTree;
use armature_shapes::shape::path::Path;
use armature_shapes::shape::{Field, Semantic, StructShape, Type};
use serde_json::{Map, Value};

use super::collections::counterparts;
use super::leaves::{identifiers, identity, says_nothing};
use super::lookup::{Folded, Named, PathSet, names};
use super::member::{Items, Member};

/// How many items of a list need not be sent again: told the list, their number, and how many Azure has.
pub type Filled<'a> = &'a dyn Fn(&str, (usize, usize)) -> usize;

/// Which parts of a resource others own.
#[derive(Clone, Copy)]
pub struct Others<'a> {
    /// ARM paths at which Azure's value is sent.
    pub ignored: &'a [String],
    /// ARM paths of maps and lists in which unknown members stay.
    pub shared: &'a [String],
    /// Whether a member was ever ours: such a one goes when the spec no longer names it.
    pub is_ours: &'a dyn Fn(&Member<'_>) -> bool,
    /// How many of so many items that say nothing, and that Azure does not have as such, it has in other words: in this list, of this
    /// length.
    pub filled: Filled<'a>,
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
            let overlay = Overlay {
                others: self,
                ignored: &PathSet::of(self.ignored),
                shared: PathSet::of(self.shared),
            };
            overlay.object(Some(&tree), members, there, &Path::Root(""));
        }
        body
    }
}

/// The walk through both bodies.
struct Overlay<'o> {
    others: &'o Others<'o>,
    ignored: &'o PathSet<'o>,
    /// What is shared from here on.
    shared: PathSet<'o>,
}

impl Overlay<'_> {
    fn object(
        &self,
        tree: Option<&ArmTree>,
        desired: &mut Map<String, Value>,
        observed: Option<&Map<String, Value>>,
        path: &Path<'_>,
    ) {
        let azure = Folded::of(observed);
        for named in names(desired, observed) {
            let name = &named.name;
            let known = tree.and_then(|tree| tree.member(name));
            let further = known.is_none().then(|| tree?.further).flatten();
            let below = match further {
                Some(_) => path.key(name),
                None => path.member(name),
            };
            let there = azure.get(name);
            if self.replaced(desired, &named, there, &below) {
                continue;
            }
            let Some(value) = named.desired(desired) else {
                self.put_below(desired, name, (known, there), &below);
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
                let azure = Folded::of(there);
                for named in names(members, there) {
                    let name = &named.name;
                    let below = path.key(name);
                    let there = azure.get(name);
                    if self.replaced(members, &named, there, &below) {
                        continue;
                    }
                    match named.desired(members) {
                        Some(value) => self.value(map.value, field, value, there, &below),
                        None => self.put_below(members, name, (None, there), &below),
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
        let text = path.to_string();
        if self.shared.covers(&text) {
            return self.shared_items((item, field), desired, observed, path);
        }
        let Some(identifiers) = identifiers(field, desired, observed) else {
            // What stands at the same place may be another item.
            for (index, value) in desired.iter_mut().enumerate() {
                self.value(item, field, value, observed.get(index), &path.item(index));
            }
            return;
        };
        let by_identity = |items: &[Value]| -> HashMap<Option<String>, usize> {
            let items = items.iter().enumerate();
            items
                .map(|(at, item)| (identity(item, identifiers), at))
                .collect()
        };
        let (ours, theirs) = (by_identity(desired), by_identity(observed));
        for value in desired.iter_mut() {
            let identity = identity(value, identifiers);
            let there = theirs.get(&identity).and_then(|at| observed.get(*at));
            let below = identity.unwrap_or_default();
            self.value(item, field, value, there, &path.key(&below));
        }
        for value in observed {
            let identity = identity(value, identifiers);
            let below = path
                .key(identity.as_deref().unwrap_or_default())
                .to_string();
            let is_missing = !ours.contains_key(&identity);
            if is_missing && self.ignored.covers(&below) {
                desired.push(value.clone());
            }
        }
    }

    /// A list to which others add items.
    fn shared_items(
        &self,
        items: Items,
        desired: &mut Vec<Value>,
        observed: &[Value],
        path: &Path<'_>,
    ) {
        let text = path.to_string();
        // An item that the spec names is ours with all its members, but for what is shared within it.
        let within = Overlay {
            shared: self.shared.below(&text),
            ..*self
        };
        let identifiers = identifiers(items.1, desired, observed);
        let label = |value: &Value| identity(value, identifiers?);
        let mut pairs = counterparts(items, desired, observed);
        self.leave_out_filled(items, (desired, &mut pairs), observed.len(), &text);
        for (index, value) in desired.iter_mut().enumerate() {
            let there = pairs[index].and_then(|at| observed.get(at));
            let name = label(value);
            let below = match &name {
                Some(name) => path.key(name),
                None => path.item(index),
            };
            within.value(items.0, items.1, value, there, &below);
        }
        let mut stay = Vec::new();
        let paired: HashSet<usize> = pairs.iter().flatten().copied().collect();
        for (index, value) in observed.iter().enumerate() {
            if paired.contains(&index) {
                continue;
            }
            let name = label(value);
            let below = match &name {
                Some(name) => path.key(name),
                None => path.item(index),
            };
            let below = below.to_string();
            let member = Member {
                path: &below,
                list: &text,
                items: Some(items),
                value,
            };
            // What says nothing may be ours in other words. Kept, there would be one more after each PUT.
            let is_others = !(self.others.is_ours)(&member) && !says_nothing(items, value);
            let stays = is_others || self.ignored.covers(&below);
            if stays || (self.others.is_held)(&below, value) {
                stay.push((index, value.clone()));
            }
        }
        merge(desired, &pairs, stay);
    }

    /// Leaves out items that say nothing and of which Azure has made something else: with each PUT there would be one more.
    fn leave_out_filled(
        &self,
        items: Items,
        (desired, pairs): (&mut Vec<Value>, &mut Vec<Option<usize>>),
        length: usize,
        list: &str,
    ) {
        let is_filled = |at: &usize| pairs[*at].is_none() && says_nothing(items, &desired[*at]);
        let mut filled: Vec<usize> = (0..desired.len()).filter(is_filled).collect();
        if filled.is_empty() {
            return;
        }
        filled.truncate((self.others.filled)(list, (filled.len(), length)));
        for at in filled.into_iter().rev() {
            desired.remove(at);
            pairs.remove(at);
        }
    }

    /// Puts Azure's value in the place of ours, where it is ignored.
    fn replaced(
        &self,
        desired: &mut Map<String, Value>,
        named: &Named,
        observed: Option<&Value>,
        path: &Path<'_>,
    ) -> bool {
        if !self.ignored.covers(&path.to_string()) {
            return false;
        }
        let name = &named.name;
        match (named.desired(desired), observed) {
            (Some(value), Some(there)) => *value = there.clone(),
            (None, Some(there)) => {
                desired.insert(name.clone(), there.clone());
            }
            // There are few paths that are ignored.
            (Some(_), None) => desired.retain(|known, _| known != name),
            (None, None) => {}
        }
        true
    }

    /// Takes over the parts of a member that desired lacks: those that are ignored and those that others added.
    fn put_below(
        &self,
        desired: &mut Map<String, Value>,
        name: &str,
        (known, observed): (Option<&ArmTree>, Option<&Value>),
        path: &Path<'_>,
    ) {
        let Some(there) = observed else {
            return;
        };
        let part = match (known, there) {
            (Some(known), Value::Object(members)) if known.fields.is_empty() => {
                let mut parts = Map::new();
                self.object(Some(known), &mut parts, Some(members), path);
                (!parts.is_empty()).then_some(Value::Object(parts))
            }
            (Some(known), Value::Array(items)) => {
                let field = known.fields.first().copied();
                let of = field.and_then(|field| match field.ty {
                    Type::List(list) => Some((list.item, field)),
                    _ => None,
                });
                let mut parts = Vec::new();
                if let Some((item, field)) = of {
                    self.items(item, field, &mut parts, items, path);
                }
                (!parts.is_empty()).then_some(Value::Array(parts))
            }
            _ => self.part(there, path),
        };
        if let Some(part) = part {
            desired.insert(name.to_owned(), part);
        }
    }

    /// The parts of Azure's value that stay although desired names nothing here.
    fn part(&self, observed: &Value, path: &Path<'_>) -> Option<Value> {
        let text = path.to_string();
        if self.ignored.covers(&text) || self.stays(&text, observed) {
            return Some(observed.clone());
        }
        let is_wanted = |paths: &PathSet<'_>| paths.has(&text) || paths.is_above_one(&text);
        if !is_wanted(self.ignored) && !is_wanted(&self.shared) {
            return None;
        }
        let members = observed.as_object()?.iter().filter_map(|(name, value)| {
            let part = self.part(value, &path.member(name))?;
            Some((name.clone(), part))
        });
        let members: Map<String, Value> = members.collect();
        (!members.is_empty()).then_some(Value::Object(members))
    }

    /// Whether a member of a shared map or object is others'.
    fn stays(&self, path: &str, value: &Value) -> bool {
        let list = self.shared.above(path);
        list.is_some_and(|list| {
            !(self.others.is_ours)(&Member {
                path,
                list,
                items: None,
                value,
            })
        })
    }
}

/// Puts the items that stay among ours: where Azure has ours in the same order, all are in Azure's.
fn merge(desired: &mut Vec<Value>, pairs: &[Option<usize>], stay: Vec<(usize, Value)>) {
    let places: Option<Vec<usize>> = pairs.iter().copied().collect();
    match places.filter(|places| places.is_sorted()) {
        Some(places) => {
            let ours = places.into_iter().zip(std::mem::take(desired));
            let mut all: Vec<_> = ours.chain(stay).collect();
            all.sort_by_key(|(place, _)| *place);
            desired.extend(all.into_iter().map(|(_, item)| item));
        }
        None => desired.extend(stay.into_iter().map(|(_, item)| item)),
    }
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
        let is_ours = |member: &Member<'_>| {
            let names = member.paths().into_iter().chain([member.path().to_owned()]);
            names.into_iter().any(|path| ours.contains(&path.as_str()))
        };
        let others = Others {
            ignored: &ignored,
            shared: &shared,
            is_ours: &is_ours,
            filled: &|_, _| 0,
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
        let sent = body(&[], &[], &[], desired.clone(), azure.clone());
        assert_eq!(sent, desired);
        let ignored = ["properties.rules[0].properties.priority"];
        let sent = body(&ignored, &[], &[], desired, azure);
        assert_eq!(
            sent["properties"]["rules"][0]["properties"],
            json!({"priority": 7})
        );
    }

    /// Where others add items, those that fit none of ours are theirs.
    #[test]
    fn items_without_an_identity_are_told_by_what_they_say() {
        let rule = |priority: i64| json!({"properties": {"priority": priority}});
        let shown = |name: &str, priority: i64| json!({"name": name, "properties": {"priority": priority, "prefixes": ["x"]}});
        let sent = |shared: &[&str], ours: &[&str], desired: Value, azure: Value| {
            let [desired, azure] = [desired, azure].map(|it| json!({"properties": {"rules": it}}));
            let sent = body(&[], shared, ours, desired, azure);
            sent["properties"]["rules"].clone()
        };
        let (list, above) = ("properties.rules", "properties");
        let (theirs, old) = (shown("z", 9), shown("old", 2));
        for shared in [list, above] {
            let azure = json!([theirs, shown("y", 1), old]);
            let ours = ["properties.rules.old"];
            let body = sent(&[shared], &ours, json!([rule(1)]), azure.clone());
            assert_eq!(body, json!([theirs, rule(1)]), "{shared}, in Azure's order");
            let body = sent(&[shared], &[], json!([rule(3)]), azure);
            let all = json!([rule(3), theirs, shown("y", 1), old]);
            assert_eq!(body, all, "{shared}, where it is not there yet");
        }
        // Names count where both have some, and an item is taken for one of ours only.
        let desired = json!([{"name": "y"}, rule(1)]);
        let azure = json!([shown("y", 1), shown("x", 1), shown("w", 1)]);
        let body = sent(&[list], &[], desired, azure);
        assert_eq!(body, json!([{"name": "y"}, rule(1), shown("w", 1)]));
    }

    #[test]
    fn an_item_that_says_nothing_stands_for_one_of_azures() {
        let sent = |desired: Value, azure: Value| {
            let [desired, azure] = [desired, azure].map(|it| json!({"properties": {"rules": it}}));
            let sent = body(&[], &["properties.rules"], &[], desired, azure);
            sent["properties"]["rules"].clone()
        };
        // A state is Azure's own, and what is empty says nothing.
        let (empty, shown) = (
            json!({}),
            json!({"properties": {"state": "Succeeded"}, "name": null}),
        );
        let theirs = json!({"name": "z"});
        for there in [&empty, &shown] {
            let azure = json!([there, theirs, there]);
            assert_eq!(
                sent(json!([empty, empty]), azure.clone()),
                json!([empty, theirs, empty])
            );
            assert_eq!(sent(json!([empty]), azure.clone()), json!([empty, theirs]));
            let both = json!([{"name": "a"}, theirs]);
            assert_eq!(sent(json!([{"name": "a"}]), azure), both);
        }
        let azure = json!([theirs]);
        assert_eq!(
            sent(json!([empty]), azure),
            json!([empty, theirs]),
            "it is not there yet"
        );
    }

    #[test]
    fn a_list_of_others_that_the_spec_does_not_name_is_carried() {
        let azure = json!({"properties": {"rules": [{"name": "b"}, {"name": "gone"}]}, "zones": ["1", "2"]});
        let (shared, ours) = (["properties.rules", "zones"], ["properties.rules.gone"]);
        let sent = body(&[], &shared, &ours, json!({}), azure.clone());
        assert_eq!(
            sent,
            json!({"properties": {"rules": [{"name": "b"}]}, "zones": ["1", "2"]})
        );
        let sent = body(&[], &shared, &ours, json!({"zones": ["2", "3"]}), azure);
        assert_eq!(sent["zones"], json!(["2", "3", "1"]));
    }
}
