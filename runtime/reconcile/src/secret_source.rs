//! Where values of `operatorSpec.secrets` come from, by the rows of the kind (ASO behaviour §2.2).
//!
//! Decides and reads only; requests are the driver's. No function here puts a value into a message.

use std::collections::{BTreeMap, BTreeSet};

use armature_shapes::id::ResourceId;
use armature_shapes::kind::{AnswerStep, KindInfo, SecretExport, SecretSource};
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
            SecretSource::Status(path) => path
                .iter()
                .try_fold(status, |at, name| at.get(*name))?
                .as_str(),
            SecretSource::Subscription => id?.subscription(),
            SecretSource::Action { action, value } => follow(answers.get(action)?, value),
            SecretSource::Extension => None,
        };
        Some((row.key.to_owned(), value?.to_owned()))
    });
    SecretValues(found.collect())
}

fn rows(kind: &KindInfo, wanted: &BTreeSet<String>) -> impl Iterator<Item = &'static SecretExport> {
    let rows = kind.secrets.iter();
    rows.filter(|row| wanted.contains(row.key))
}

fn follow<'a>(answer: &'a Value, steps: &[AnswerStep]) -> Option<&'a str> {
    let end = steps.iter().try_fold(answer, |at, step| match step {
        AnswerStep::Member(name) => at.get(*name),
        AnswerStep::Item { member, is } => {
            let mut items = at.as_array()?.iter();
            items.find(|item| item[*member] == **is)
        }
    });
    end?.as_str()
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
