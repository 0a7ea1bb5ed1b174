//! What the oracle has to know of a history: which paths were named, who did what, and how many PUTs that explains.

use std::collections::BTreeMap;

use armature_simulator::{Act, Changed};
use serde_json::Value;

use super::dropped::Dropped;
use super::shared::{Shared, is_one};
use crate::named::{Named, Path, related, value_at};

/// A change of a resource by somebody else.
#[derive(Clone, Debug)]
pub struct Touched {
    /// Where.
    pub path: Path,
    /// Number of the last request before.
    pub at: u64,
    /// Whether the operator had not yet seen what came of its own work.
    pub is_unseen: bool,
    /// Whether the manifest says something else there since.
    pub is_edited: bool,
}

/// A value that Azure moved by itself.
#[derive(Clone, Debug)]
pub struct Moved {
    /// What it did.
    pub act: Act,
    /// Where, and what it is now.
    pub change: Changed,
    /// What the manifest said there.
    pub said: Option<Value>,
    /// Places on which it depends whether the value is Azure's.
    pub depends: Vec<Path>,
    /// Number of the last request before.
    pub at: u64,
    /// Whether nobody had a reason to write it since: the object was at rest, and no edit was near.
    pub is_firm: bool,
    /// Of an added item, whether a manifest has named it since.
    pub was_named: bool,
}

/// What is known of one id in Azure.
#[derive(Clone, Debug, Default)]
pub struct Record {
    /// Paths that a manifest named which a pass has seen. One that is replaced before that nobody could know.
    pub named: Named,
    /// Paths of what Azure took, or had already, as far as the operator heard of it.
    pub heard: Named,
    /// Whether an earlier object left it on purpose, so that there may be what the one of now never said.
    pub is_left: bool,
    /// What somebody else PUT last.
    pub others: Option<Value>,
    /// What of it is in lists to which others may add, and no manifest has named since.
    pub shared: Shared,
    /// What a manifest said that was taken over with an edit which had not been sent, where nobody has edited it since.
    pub unsent: Option<Value>,
    /// What somebody else changed.
    pub touched: Vec<Touched>,
    /// What Azure moved by itself, and nobody has edited since.
    pub moved: Vec<Moved>,
    /// Where Azure moved something by itself, ever.
    pub acted: Vec<Path>,
    /// Items that edits took out of lists.
    pub dropped: Vec<Dropped>,
    /// Edits of the object and of what it refers to.
    pub edits: usize,
    /// Changes in Azure that nobody told the operator of.
    pub drifts: usize,
    /// Passes that ended in the middle.
    pub cuts: usize,
    /// Whether the resource may be there without an object.
    pub may_stay: bool,
    /// Whether others made the resource anew while an object that goes was still there.
    pub is_anew: bool,
    /// Messages of events.
    pub events: Vec<String>,
}

impl Record {
    /// The object goes, and its resource stays on purpose. It is nobody's from then on: whoever takes it over keeps what is
    /// there.
    pub fn leave(&mut self) {
        self.may_stay = true;
        self.is_left = true;
        self.named = Named::default();
        self.heard = Named::default();
        self.moved.iter_mut().for_each(|it| it.is_firm = false);
    }

    /// Somebody may write what is at or below a path, or above it.
    pub fn loosen(&mut self, path: &[String]) {
        for moved in &mut self.moved {
            let mut places = moved.depends.iter();
            moved.is_firm &= !places.any(|place| related(place, path));
        }
    }

    /// The manifest becomes another one.
    pub fn edit(&mut self, before: Option<&Value>, after: &Value) {
        for moved in &mut self.moved {
            let mut places = moved.depends.iter();
            moved.is_firm &=
                places.all(|place| value_at(before, place) == value_at(Some(after), place));
        }
        if let Some(unsent) = &mut self.unsent {
            keep_common(unsent, after);
        }
        for touched in &mut self.touched {
            let path = &touched.path;
            touched.is_edited |= value_at(before, path) != value_at(Some(after), path);
        }
    }

    /// The operator may know of what a manifest names.
    pub fn name(&mut self, body: &Value) {
        self.named.add(body);
        self.shared.name(body);
        for moved in self.moved.iter_mut().filter(|it| it.change.is_item) {
            let list = value_at(Some(body), &moved.change.path);
            let mut items = list.and_then(Value::as_array).into_iter().flatten();
            let added = moved.change.after.as_ref();
            moved.was_named |= items.any(|item| added.is_some_and(|added| is_one(item, added)));
        }
    }

    /// The operator has sent what a manifest asks for, or found it there. An edit of a value that Azure moved brings the
    /// manifest's, but for sizes and versions, which never go down.
    pub fn hear(&mut self, body: &Value) {
        self.heard.add(body);
        self.moved.retain(|moved| {
            let said = value_at(Some(body), &moved.change.path);
            let is_upward = matches!(moved.act, Act::Grow | Act::Upgrade);
            is_upward || moved.change.is_item || said == moved.said.as_ref()
        });
    }

    /// The object goes with its resource. What comes under this id later is another one.
    pub fn end(&mut self) {
        self.may_stay = false;
        self.is_left = false;
        self.named = Named::default();
        self.heard = Named::default();
        self.others = None;
        self.shared = Shared::default();
        self.unsent = None;
        self.touched.clear();
        self.moved.clear();
    }
}

/// Takes out of a value what another one has not.
fn keep_common(value: &mut Value, other: &Value) {
    match (value, other) {
        (Value::Object(members), Value::Object(others)) => members.retain(|name, value| {
            let other = others.get(name);
            other.is_some_and(|other| {
                keep_common(value, other);
                !value.is_null()
            })
        }),
        (value, other) if *value == *other => {}
        (value, _) => *value = Value::Null,
    }
}

/// Records by id in lower case.
#[derive(Clone, Debug, Default)]
pub struct Ledger(BTreeMap<String, Record>);

impl Ledger {
    /// The record of an id.
    pub fn of(&mut self, id: &str) -> &mut Record {
        self.0.entry(id.to_lowercase()).or_default()
    }

    /// The records of an id and of all that is below.
    pub fn below(&mut self, id: &str) -> impl Iterator<Item = &mut Record> {
        let id = id.to_lowercase();
        let prefix = format!("{id}/");
        let found = self.0.iter_mut();
        found
            .filter(move |(key, _)| **key == id || key.starts_with(&prefix))
            .map(|(_, record)| record)
    }

    /// All records.
    pub fn all(&self) -> impl Iterator<Item = (&String, &Record)> {
        self.0.iter()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn path(text: &str) -> Path {
        text.split('.').map(str::to_owned).collect()
    }

    #[test]
    fn an_added_item_is_named_by_a_manifest_of_its_name_or_its_text() {
        let added = |item: Value| Moved {
            act: Act::AddItem,
            change: Changed {
                path: path("properties.list"),
                before: None,
                after: Some(item),
                is_item: true,
            },
            said: None,
            depends: Vec::new(),
            at: 0,
            is_firm: false,
            was_named: false,
        };
        let table = [
            (
                json!({"name": "A", "count": 1}),
                json!([{"name": "a"}]),
                true,
            ),
            (json!({"name": "a"}), json!([{"name": "b"}]), false),
            (json!("10.1.0.0/16"), json!(["10.1.0.0/16"]), true),
            (json!("10.1.0.0/16"), json!(["10.2.0.0/16"]), false),
            (json!({"name": "a"}), Value::Null, false),
        ];
        for (item, list, expected) in table {
            let mut record = Record {
                moved: vec![added(item.clone())],
                ..Record::default()
            };
            record.name(&json!({"properties": {"list": list}}));
            assert_eq!(record.moved[0].was_named, expected, "{item} {list}");
            record.name(&json!({}));
            assert_eq!(record.moved[0].was_named, expected, "it was once");
        }
    }

    #[test]
    fn what_was_not_sent_at_a_takeover_is_known_until_it_is_edited() {
        let mut record = Record {
            unsent: Some(json!({"a": 1, "b": {"c": true, "d": [1]}, "e": 1})),
            ..Record::default()
        };
        record.edit(None, &json!({"a": 2, "b": {"c": true, "d": [2]}, "f": 1}));
        record.edit(None, &json!({"a": 1, "b": {"c": true, "d": [1]}, "e": 1}));
        assert_eq!(record.unsent, Some(json!({"b": {"c": true}})));
        record.end();
        assert_eq!(record.unsent, None);
    }

    #[test]
    fn an_edit_of_what_others_touched_is_noted() {
        let touched = |text: &str| Touched {
            path: path(text),
            at: 0,
            is_unseen: false,
            is_edited: false,
        };
        let mut record = Record {
            touched: vec![touched("a"), touched("b")],
            ..Record::default()
        };
        record.edit(Some(&json!({"a": 1, "b": 1})), &json!({"a": 1, "b": 2}));
        let edited: Vec<bool> = record.touched.iter().map(|it| it.is_edited).collect();
        assert_eq!(edited, [false, true]);
    }
}
