//! ARM ids in the body of a PUT, wherever they stand.
//!
//! Azure takes ids in plain texts and as keys of maps, not only where a reference stands in a spec: whoever bounds what an
//! object may use has to look at what is sent.

use std::borrow::Cow;
use std::collections::HashSet;

use armature_shapes::id::ids_in_text;
use armature_shapes::shape::arm_tree::ArmTree;
use armature_shapes::shape::path::Path;
use armature_shapes::shape::{Field, Flags, StructShape, Type};
use percent_encoding::percent_decode_str;
use serde_json::{Map, Value};

use crate::compare::is_unseen;

/// How often a text may be percent-encoded: a URL in the query of a URL in the query of one.
const ENCODED: usize = 3;

/// An ARM id in a body.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NamedId {
    /// Path in ARM's JSON.
    pub path: String,
    /// The id.
    pub id: String,
    /// It may come from a Secret, and must stay out of messages.
    pub is_hidden: bool,
}

/// All ids that a body names, in its order: texts and keys that Azure may read as one ([`ids_in_text`]), except in fields with
/// [`Flags::FREE_TEXT`]. The body may have more than the shape.
pub fn ids_named(shape: &'static StructShape, body: &Value, endpoint: &str) -> Vec<NamedId> {
    let mut search = Search {
        endpoint,
        found: Vec::new(),
    };
    let ty = Some(Type::Struct(shape));
    search.value(ty, body, &Path::Root(""), false);
    search.found
}

struct Search<'e> {
    endpoint: &'e str,
    found: Vec<NamedId>,
}

impl Search<'_> {
    fn value(&mut self, ty: Option<Type>, value: &Value, path: &Path<'_>, is_hidden: bool) {
        match (ty, value) {
            (_, Value::String(text)) => self.text(text, path, is_hidden),
            (Some(Type::List(list)), Value::Array(items)) => {
                self.items(Some(list.item), items, path, is_hidden);
            }
            (_, Value::Array(items)) => self.items(None, items, path, is_hidden),
            (Some(Type::Struct(shape)), Value::Object(members)) => {
                self.tree(&ArmTree::of(shape, members), members, path, is_hidden);
            }
            (Some(Type::Map(map)), Value::Object(members)) => {
                self.members(Some(map.value), members, path, is_hidden);
            }
            (_, Value::Object(members)) => self.members(None, members, path, is_hidden),
            (_, Value::Null | Value::Bool(_) | Value::Number(_)) => {}
        }
    }

    fn items(&mut self, ty: Option<Type>, items: &[Value], path: &Path<'_>, is_hidden: bool) {
        for (index, item) in items.iter().enumerate() {
            self.value(ty, item, &path.item(index), is_hidden);
        }
    }

    /// Members whose names are data.
    fn members(
        &mut self,
        ty: Option<Type>,
        members: &Map<String, Value>,
        path: &Path<'_>,
        is_hidden: bool,
    ) {
        for (name, value) in members {
            self.text(name, path, is_hidden);
            self.value(ty, value, &path.key(name), is_hidden);
        }
    }

    fn tree(
        &mut self,
        tree: &ArmTree,
        members: &Map<String, Value>,
        path: &Path<'_>,
        is_hidden: bool,
    ) {
        for (name, value) in members {
            let below = path.member(name);
            match tree.member(name) {
                Some(place) if !place.fields.is_empty() => {
                    self.field(&place.fields, value, &below, is_hidden);
                }
                Some(place) => match value {
                    Value::Object(members) => self.tree(place, members, &below, is_hidden),
                    _ => self.value(None, value, &below, is_hidden),
                },
                None => {
                    self.text(name, path, is_hidden);
                    let further = tree.further.as_slice();
                    let ty = further.first().map(|field| match field.ty {
                        Type::Map(map) => map.value,
                        ty => ty,
                    });
                    let is_hidden = is_hidden || further.iter().any(|field| is_unseen(field));
                    self.value(ty, value, &below, is_hidden);
                }
            }
        }
    }

    /// A value, which twins may fill: what is so of one of them may be so of it.
    fn field(&mut self, fields: &[&Field], value: &Value, path: &Path<'_>, is_hidden: bool) {
        if fields.iter().all(|field| field.flags.has(Flags::FREE_TEXT)) {
            return;
        }
        let is_hidden = is_hidden || fields.iter().any(|field| is_unseen(field));
        let ty = fields.first().map(|field| field.ty);
        self.value(ty, value, path, is_hidden);
    }

    fn text(&mut self, text: &str, path: &Path<'_>, is_hidden: bool) {
        let ids = ids_in(text, self.endpoint);
        self.found.extend(ids.into_iter().map(|id| NamedId {
            path: path.to_string(),
            id,
            is_hidden,
        }));
    }
}

/// The ids in a text as it is, and as who takes it for a part of a URL reads it: one in a query has encoded slashes.
fn ids_in(text: &str, endpoint: &str) -> Vec<String> {
    let mut found = ids_in_text(text, endpoint);
    let mut text = Cow::Borrowed(text);
    let mut known: HashSet<String> = HashSet::new();
    for _ in 0..ENCODED {
        if !has_encoded_slash(&text) {
            break;
        }
        let decoded = percent_decode_str(&text).decode_utf8_lossy().into_owned();
        known.extend(found.iter().cloned());
        let ids = ids_in_text(&decoded, endpoint).into_iter();
        found.extend(ids.filter(|id| !known.contains(id)));
        text = Cow::Owned(decoded);
    }
    found
}

/// Whether a text has a slash, a backslash or a percent sign that is encoded.
fn has_encoded_slash(text: &str) -> bool {
    let bytes = text.as_bytes().windows(3);
    let mut signs = bytes.filter(|sign| sign[0] == b'%');
    signs.any(|sign| {
        [b"2f", b"5c", b"25"]
            .iter()
            .any(|encoded| sign[1..].eq_ignore_ascii_case(*encoded))
    })
}

#[cfg(test)]
mod tests {
    use armature_shapes::testing::gadget::VERSION;
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    const ID: &str = "/subscriptions/00000000-0000-0000-0000-000000000001/resourceGroups/prod";

    fn named(body: &Value) -> Vec<(String, bool)> {
        let named = ids_named(VERSION.spec, body, "https://arm.example");
        named
            .into_iter()
            .map(|named| (named.path, named.is_hidden))
            .collect()
    }

    #[test]
    fn ids_are_found_in_texts_and_keys_known_or_not() {
        for (body, path, is_hidden) in [
            (
                json!({"properties": {"unknown": ID}}),
                "properties.unknown",
                false,
            ),
            (json!({"tags": {"of": ID}}), "tags.of", false),
            (
                json!({"identity": {"userAssignedIdentities": {ID: {}}}}),
                "identity.userAssignedIdentities",
                false,
            ),
            (
                json!({"properties": {"any": [{"deep": [ID]}]}}),
                "properties.any[0].deep[0]",
                false,
            ),
            (
                json!({"properties": {"password": ID}}),
                "properties.password",
                true,
            ),
        ] {
            assert_eq!(named(&body), [(path.to_owned(), is_hidden)], "{body}");
        }
        assert_eq!(
            named(&json!({"location": "westus", "tags": {"a": "/b"}})),
            []
        );
    }

    /// Who takes a text for a part of a URL decodes it. A host that is a placeholder may be that of an ARM.
    #[test]
    fn ids_in_urls_are_found_as_they_are_read() {
        let encoded = |text: &str| text.replace('%', "%25").replace('/', "%2F");
        let (once, twice) = (encoded(ID), encoded(&encoded(ID)));
        for (text, is_found) in [
            (once.clone(), true),
            (once.to_lowercase(), true),
            (twice, true),
            (ID.replace('/', "%5C"), true),
            (format!("https://shop.example/?id={once}&a=b"), true),
            (format!("ResourceId%3D{once}"), true),
            (format!("https%3A%2F%2Fmanagement.azure.com{once}"), true),
            (format!("https://{{host}}{ID}"), true),
            (format!("https%3A%2F%2Fshop.example{once}"), false),
            (format!("https://shop.example/api{once}"), false),
            ("100%25 of %2Fsubscriptions%2F42".to_owned(), false),
        ] {
            let found = ids_in(&text, "https://arm.example");
            assert_eq!(!found.is_empty(), is_found, "{text}: {found:?}");
            let body = json!({"properties": {"any": text}});
            assert_eq!(!named(&body).is_empty(), is_found, "{body}");
        }
        let both = format!("{ID}?next={once}");
        assert_eq!(ids_in(&both, ""), [ID]);
    }

    fn anything() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            "[a-z/]{0,6}".prop_map(Value::from),
        ];
        let names = prop_oneof![
            Just("properties".to_owned()),
            Just("tags".to_owned()),
            Just("identity".to_owned()),
            "[a-z]{1,5}",
        ];
        leaf.prop_recursive(5, 40, 4, move |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
                prop::collection::btree_map(names.clone(), inner, 0..4)
                    .prop_map(|members| Value::Object(members.into_iter().collect())),
            ]
        })
    }

    /// Puts the id at the place that `at` chooses, among all leaves.
    fn plant(value: &mut Value, at: &mut usize) -> bool {
        match value {
            Value::Array(items) => items.iter_mut().any(|item| plant(item, at)),
            Value::Object(members) => members.values_mut().any(|member| plant(member, at)),
            leaf if *at == 0 => {
                *leaf = json!(ID);
                true
            }
            _ => {
                *at -= 1;
                false
            }
        }
    }

    proptest! {
        #[test]
        fn an_id_is_found_wherever_it_stands(mut body in anything(), mut at in 0_usize..8) {
            if plant(&mut body, &mut at) {
                prop_assert_eq!(named(&body).len(), 1, "{}", body);
            }
        }
    }
}
