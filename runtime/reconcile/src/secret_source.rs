//! Where values of `operatorSpec.secrets` come from, by the rows of the kind (ASO behaviour §2.2).
//!
//! Decides and reads only; requests are the driver's. No function here puts a value into a message.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use armature_shapes::id::ResourceId;
use armature_shapes::kind::{AnswerStep, KindInfo, SecretExport, SecretSource};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::Value;

use crate::extension::SecretValues;

/// Actions that must be called for the wanted keys, each once.
pub fn actions(kind: &KindInfo, wanted: &BTreeSet<String>) -> BTreeSet<&'static str> {
    rows(kind, wanted)
        .filter_map(|row| match row.source {
            SecretSource::Action { action, .. } => Some(action),
            _ => None,
        })
        .collect()
}

/// Whether a wanted key has no row that says where its value is.
pub fn needs_extension(kind: &KindInfo, wanted: &BTreeSet<String>) -> bool {
    wanted.iter().any(|key| {
        let row = kind.secrets.iter().find(|row| row.key == key.as_str());
        row.is_none_or(|row| row.source == SecretSource::Extension)
    })
}

/// Values of the wanted keys that are known: from the hub's status, the ARM id and the answers by action.
pub fn values(
    kind: &KindInfo,
    wanted: &BTreeSet<String>,
    status: &Value,
    id: Option<&ResourceId>,
    answers: &BTreeMap<&'static str, Value>,
) -> SecretValues {
    let found = rows(kind, wanted).filter_map(|row| {
        let value = match row.source {
            SecretSource::Status(path) => text_at(status, path),
            SecretSource::Subscription => id?.subscription().map(str::to_owned),
            SecretSource::Action { action, value } => follow(answers.get(action)?, value),
            SecretSource::Extension => None,
        };
        Some((row.key.to_owned(), value?))
    });
    SecretValues(found.collect())
}

fn rows(kind: &KindInfo, wanted: &BTreeSet<String>) -> impl Iterator<Item = &'static SecretExport> {
    let rows = kind.secrets.iter();
    rows.filter(|row| wanted.contains(row.key))
}

/// A value in a status as text: a port is a number there.
pub fn text_at(status: &Value, path: &[&str]) -> Option<String> {
    let mut path = path.iter();
    text(path.try_fold(status, |at, name| at.get(*name))?)
}

fn text(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Null => None,
        other => Some(other.to_string()),
    }
}

fn follow(answer: &Value, steps: &[AnswerStep]) -> Option<String> {
    let mut at = Cow::Borrowed(answer);
    for step in steps {
        at = match at {
            Cow::Borrowed(at) => next(at, step)?,
            Cow::Owned(at) => Cow::Owned(next(&at, step)?.into_owned()),
        };
    }
    text(&at)
}

fn next<'a>(at: &'a Value, step: &AnswerStep) -> Option<Cow<'a, Value>> {
    Some(match step {
        AnswerStep::Member(name) => Cow::Borrowed(at.get(*name)?),
        AnswerStep::First => Cow::Borrowed(at.as_array()?.first()?),
        AnswerStep::Item { member, is } => {
            let mut items = at.as_array()?.iter();
            Cow::Borrowed(items.find(|item| item[*member] == **is)?)
        }
        AnswerStep::Base64 => {
            let bytes = STANDARD.decode(at.as_str()?).ok()?;
            Cow::Owned(Value::String(String::from_utf8(bytes).ok()?))
        }
    })
}

#[cfg(test)]
mod tests {
    use armature_shapes::testing::kinds::STORE;
    use serde_json::json;

    use super::*;

    fn keys(names: &[&str]) -> BTreeSet<String> {
        names.iter().map(|name| (*name).to_owned()).collect()
    }

    #[test]
    fn an_action_is_called_only_for_keys_that_need_it() {
        for (wanted, expected) in [
            (&[][..], &[][..]),
            (&["endpoint", "subscription", "key"], &[]),
            (&["primary"], &["listKeys"]),
            (&["primary", "secondary", "endpoint"], &["listKeys"]),
        ] {
            let expected = expected.iter().copied().collect::<BTreeSet<_>>();
            assert_eq!(actions(&STORE, &keys(wanted)), expected, "{wanted:?}");
        }
    }

    #[test]
    fn keys_without_a_row_need_an_extension() {
        for (wanted, expected) in [
            (&["primary", "endpoint"][..], false),
            (&["primary", "key"], true),
            (&["unheard"], true),
        ] {
            assert_eq!(needs_extension(&STORE, &keys(wanted)), expected);
        }
    }

    #[test]
    fn values_come_from_status_id_and_answers() {
        let status = json!({"endpoint": "https://s"});
        let id = ResourceId::parse("/subscriptions/sub/resourceGroups/g").unwrap();
        let answer = json!({"keys": [
            {"keyName": "other", "value": "wrong"},
            {"keyName": "primary", "value": "right"},
        ]});
        let wanted = keys(&["endpoint", "subscription", "primary", "secondary"]);
        let answers = BTreeMap::from([("listKeys", answer)]);
        let found = values(&STORE, &wanted, &status, Some(&id), &answers).0;
        let expected = [
            ("endpoint", "https://s"),
            ("primary", "right"),
            ("subscription", "sub"),
        ];
        let expected = expected.map(|(key, value)| (key.to_owned(), value.to_owned()));
        assert_eq!(found, BTreeMap::from(expected));
    }

    #[test]
    fn ways_lead_through_lists_and_encodings() {
        let answer = json!({"kubeconfigs": [{"name": "a", "value": "aHVudGVyMg=="}], "port": 6380, "none": null});
        let list = AnswerStep::Member("kubeconfigs");
        let item = AnswerStep::Item {
            member: "name",
            is: "a",
        };
        let (value, port) = (AnswerStep::Member("value"), AnswerStep::Member("port"));
        let first = AnswerStep::First;
        let base64 = AnswerStep::Base64;
        for (steps, expected) in [
            (&[list, first, value][..], Some("aHVudGVyMg==")),
            (&[list, first, value, base64], Some("hunter2")),
            (&[list, item, value, base64], Some("hunter2")),
            (&[port], Some("6380")),
            (&[AnswerStep::Member("none")], None),
            (&[port, base64], None),
            (&[port, first], None),
        ] {
            assert_eq!(follow(&answer, steps).as_deref(), expected, "{steps:?}");
        }
        assert_eq!(text_at(&answer, &["port"]).as_deref(), Some("6380"));
    }

    #[test]
    fn what_is_missing_has_no_value_and_nothing_unwanted_is_read() {
        let answers = BTreeMap::from([("listKeys", json!({"keys": []}))]);
        let wanted = keys(&["endpoint", "primary", "subscription"]);
        let found = values(&STORE, &wanted, &json!({}), None, &answers);
        assert_eq!(found, SecretValues::default());
        let status = json!({"endpoint": "https://s"});
        let found = values(&STORE, &keys(&["primary"]), &status, None, &answers);
        assert_eq!(found, SecretValues::default());
    }
}
