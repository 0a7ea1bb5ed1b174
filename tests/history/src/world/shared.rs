//! Items that somebody else had put into lists to which a kind lets others add some.

use armature_simulator::autonomy::{expand, fits, get, resolve};
use serde_json::Value;

use super::subject::Subject;
use crate::named::Mismatch;

/// Items by the pattern of their list: `properties.pools[].properties.addresses[]`.
#[derive(Clone, Debug, Default)]
pub struct Shared(Vec<(String, Value)>);

impl Shared {
    /// What a body has in such lists. An item that says nothing is nobody's.
    pub fn of(subject: &Subject, body: &Value) -> Self {
        let mut all = Vec::new();
        for list in lists(subject) {
            let items = items(body, &list).into_iter();
            let items = items.map(said).filter(|item| !is_nothing(item));
            all.extend(items.map(|item| (list.clone(), item)));
        }
        Self(all)
    }

    /// A manifest names items: those are the spec's from then on.
    pub fn name(&mut self, body: &Value) {
        self.0
            .retain(|(list, item)| !items(body, list).into_iter().any(|it| is_one(it, item)));
    }

    /// Whether a list is what the last manifest alone gives, with some of these.
    pub fn explains(&self, found: &Mismatch) -> bool {
        let items = |value: &Option<Value>| match value {
            Some(Value::Array(items)) => items.iter().map(said).collect(),
            _ => Vec::new(),
        };
        let mut left = items(&found.have);
        let mut take = |item: &Value| {
            let at = left.iter().position(|it| it == item);
            at.map(|at| left.remove(at)).is_some()
        };
        if !items(&found.want).iter().all(&mut take) || left.is_empty() {
            return false;
        }
        let mut theirs: Vec<&Value> = self
            .0
            .iter()
            .filter_map(|(list, item)| fits(list, &found.path).then_some(item))
            .collect();
        left.iter().all(|item| {
            let at = theirs.iter().position(|it| *it == item);
            at.map(|at| theirs.remove(at)).is_some()
        })
    }
}

/// The lists of a kind to which others may add items.
fn lists(subject: &Subject) -> Vec<String> {
    let of_kinds = subject.version.keep_unknown.iter();
    let of_kinds = of_kinds.map(|list| format!("{}[]", list.join(".")));
    let rules = subject.kind.azure_owned.iter();
    let added = rules.filter_map(|rule| {
        let (list, right) = rule.split_once(' ')?;
        right.starts_with("added").then(|| format!("{list}[]"))
    });
    of_kinds.chain(added).collect()
}

fn items<'v>(body: &'v Value, list: &str) -> Vec<&'v Value> {
    let places = expand(body, list).into_iter();
    let lists = places.filter_map(|indices| get(body, &resolve(list, &indices))?.as_array());
    lists.flatten().collect()
}

/// Whether two items have one name, or are the same where they have none.
pub fn is_one(item: &Value, other: &Value) -> bool {
    let name = |item: &Value| Some(item.get("name")?.as_str()?.to_lowercase());
    match (name(item), name(other)) {
        (None, None) => said(item) == said(other),
        (one, other) => one == other,
    }
}

fn is_nothing(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::Object(members) => members.is_empty(),
        Value::Array(items) => items.is_empty(),
        _ => false,
    }
}

/// What a value says: without members that say nothing.
fn said(value: &Value) -> Value {
    match value {
        Value::Object(members) => {
            let members = members
                .iter()
                .map(|(name, value)| (name.clone(), said(value)));
            members.filter(|(_, value)| !is_nothing(value)).collect()
        }
        Value::Array(items) => items.iter().map(said).collect(),
        value => value.clone(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn items_of_others_stay_until_a_manifest_names_them() {
        const LIST: &str = "properties.pools[].addresses[]";
        let theirs = [json!({"name": "a"}), json!({"ip": "9"}), json!({"ip": "8"})];
        let mut all = Shared(theirs.map(|item| (LIST.to_owned(), item)).into());
        let body = |items: Value| json!({"properties": {"pools": [{}, {"addresses": items}]}});
        all.name(&body(
            json!([{"name": "A", "ip": "1"}, {"ip": "8", "at": {}}, {"ip": "7"}]),
        ));
        let explains = |path: &str, have: Value, want: Value| {
            all.explains(&Mismatch {
                path: path.split('.').map(str::to_owned).collect(),
                have: Some(have),
                want: Some(want),
            })
        };
        let here = "properties.pools.1.addresses";
        let (ours, theirs) = (json!({"name": "a"}), json!({"ip": "9"}));
        assert!(explains(here, json!([theirs, ours]), json!([ours])));
        assert!(explains(here, json!([theirs]), Value::Null));
        assert!(!explains("properties.pools", json!([theirs]), json!([])));
        assert!(!explains(here, json!([theirs, theirs]), json!([])), "twice");
        assert!(
            !explains(here, json!([theirs]), json!([ours])),
            "ours is gone"
        );
        assert!(!explains(here, json!([]), json!([ours])), "ours is gone");
        assert!(
            !explains(here, json!([{"ip": "8"}]), json!([])),
            "it was named"
        );
        assert!(!explains(here, json!([ours]), json!([])), "it was named");
        assert!(!explains(here, json!([{}]), json!([])), "nobody's");
    }
}
