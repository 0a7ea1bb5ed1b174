//! Whether what Azure shows proves that it has all that is desired. Drift does not ask: of a resource that a PUT of ours has
//! made, the rest is known. Of one that others have made it is not.

use armature_shapes::shape::arm_tree::ArmTree;
use armature_shapes::shape::path::Path;
use armature_shapes::shape::{Flags, Type};
use serde_json::{Map, Value};

use super::Comparison;
use super::equal::{Rule, normal};
use super::leaves::is_unseen;
use super::lookup::{Folded, PathSet};
use super::spelling::At;

impl Comparison<'_> {
    /// Whether a GET that shows no difference leaves none: nothing is desired that Azure does not return, as passwords are,
    /// and lists of plain values stand in their order. Asked where the direct comparison has found nothing.
    pub fn is_certain(&self) -> bool {
        let Value::Object(desired) = self.desired else {
            return true;
        };
        let tree = ArmTree::of(self.shape, desired);
        let (spellings, root) = (self.spellings(), Path::Root(""));
        let certainty = Certainty {
            left_out: PathSet::of(self.ignored.iter().chain(self.owned)),
        };
        certainty.is_certain_within(&tree, desired, self.observed, spellings.root(), &root)
    }
}

struct Certainty<'a> {
    /// Where nothing is compared.
    left_out: PathSet<'a>,
}

impl Certainty<'_> {
    fn is_certain_within(
        &self,
        tree: &ArmTree,
        desired: &Map<String, Value>,
        observed: &Value,
        at: At<'_>,
        path: &Path<'_>,
    ) -> bool {
        let observed = Folded::of(observed.as_object());
        desired.iter().all(|(name, value)| {
            let there = observed.get(name).unwrap_or(&Value::Null);
            let below = path.member(name);
            if value.is_null() || self.is_left_out(&below) {
                return true;
            }
            let at = at.member(name);
            match tree.member(name) {
                Some(tree) if tree.fields.iter().any(|field| is_unseen(field)) => {
                    // Where it can be set on creation only, nobody can set it now.
                    let mut fields = tree.fields.iter();
                    fields.any(|field| field.flags.has(Flags::CREATE_ONLY))
                }
                Some(ArmTree { fields, .. }) if !fields.is_empty() => {
                    self.is_certain_at(fields[0].ty, value, there, at, &below)
                }
                Some(tree) => value
                    .as_object()
                    .is_none_or(|members| self.is_certain_within(tree, members, there, at, &below)),
                None => match tree.further {
                    Some(field) if is_unseen(field) => false,
                    Some(field) => match field.ty {
                        Type::Map(map) => {
                            let at = At::default();
                            self.is_certain_at(map.value, value, there, at, &path.key(name))
                        }
                        _ => true,
                    },
                    None => true,
                },
            }
        })
    }

    fn is_certain_at(
        &self,
        ty: Type,
        desired: &Value,
        observed: &Value,
        at: At<'_>,
        path: &Path<'_>,
    ) -> bool {
        if at.is_guess(desired, observed) {
            return false;
        }
        match (ty, desired) {
            (Type::Struct(shape), Value::Object(members)) => {
                let tree = ArmTree::of(shape, members);
                self.is_certain_within(&tree, members, observed, at, path)
            }
            (Type::Map(map), Value::Object(members)) => members.iter().all(|(key, value)| {
                let there = observed.get(key).unwrap_or(&Value::Null);
                self.is_certain_at(map.value, value, there, at.item(), &path.key(key))
            }),
            (Type::List(list), Value::Array(items)) => match list.item {
                Type::Struct(_) | Type::List(_) | Type::Map(_) => {
                    // Which one Azure has for it is not asked: the direct comparison has found one.
                    let mut items = items.iter().enumerate();
                    items.all(|(index, item)| {
                        self.is_certain_at(
                            list.item,
                            item,
                            &Value::Null,
                            at.item(),
                            &path.item(index),
                        )
                    })
                }
                _ => is_in_order(items, observed, at),
            },
            _ => true,
        }
    }

    fn is_left_out(&self, path: &Path<'_>) -> bool {
        self.left_out.covers(&path.to_string())
    }
}

/// Whether the same values stand in the same order. Of values within items that may have moved nothing is known.
fn is_in_order(desired: &[Value], observed: &Value, at: At<'_>) -> bool {
    let Value::Array(observed) = observed else {
        return true;
    };
    let texts = |items: &[Value]| -> Vec<String> {
        let text = |item: &Value| at.text(item).unwrap_or_else(|| normal(Rule::Plain, item));
        items.iter().map(|item| text(item).to_lowercase()).collect()
    };
    texts(desired) == texts(observed)
}

#[cfg(test)]
mod tests {
    use armature_shapes::testing::gadget::VERSION;
    use serde_json::json;

    use super::*;

    #[test]
    fn what_a_get_proves() {
        let password = json!({"properties": {"password": "hunter2"}});
        let table = [
            (
                json!({"location": "westus"}),
                json!({"location": "westus"}),
                "",
                true,
            ),
            (
                json!({"zones": ["1", "2"]}),
                json!({"zones": ["1", "2"]}),
                "",
                true,
            ),
            (
                json!({"zones": ["1", "2"]}),
                json!({"zones": ["2", "1"]}),
                "",
                false,
            ),
            (
                json!({"zones": ["1", "2"]}),
                json!({"zones": ["2", "1"]}),
                "zones",
                true,
            ),
            (password.clone(), json!({"properties": {}}), "", false),
            (password.clone(), password.clone(), "", false),
            (password, json!({}), "properties.password", true),
            (
                json!({"properties": {"protectedSettings": {"a": "b"}}}),
                json!({}),
                "",
                false,
            ),
            (
                json!({"properties": {"password": null}}),
                json!({}),
                "",
                true,
            ),
        ];
        for (desired, observed, ignored, expected) in table {
            let ignored = [ignored.to_owned()];
            let comparison = Comparison {
                ignored: if ignored[0].is_empty() { &[] } else { &ignored },
                ..Comparison::new(VERSION.spec, &desired, &observed)
            };
            let found = comparison.is_certain();
            assert_eq!(found, expected, "{desired} {observed} {ignored:?}");
        }
    }
}
