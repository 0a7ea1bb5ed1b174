//! Where a value of `operatorSpec.secrets` is found, as curation files write it.

use serde::{Deserialize, Deserializer, de};

use super::words::IdPart;
use crate::model::{AnswerStep, SecretSource};

/// The source of a secret value. In TOML one of `{ status = "a.b" }`, `{ id = "subscription" }`,
/// `{ action = "listKeys", value = "keys[keyName=key1].value" }`, and `{}` where a handwritten exporter gets it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SecretRule(pub SecretSource);

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct Table {
    status: Option<String>,
    id: Option<IdPart>,
    action: Option<String>,
    value: Option<String>,
}

impl<'de> Deserialize<'de> for SecretRule {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let table = Table::deserialize(deserializer)?;
        source(table).map(Self).map_err(de::Error::custom)
    }
}

fn source(table: Table) -> Result<SecretSource, String> {
    match table {
        Table {
            status: Some(path),
            id: None,
            action: None,
            value: None,
        } => {
            let path = path.split('.').map(member).collect::<Result<_, _>>()?;
            Ok(SecretSource::Status(path))
        }
        Table {
            status: None,
            id: Some(IdPart::Subscription),
            action: None,
            value: None,
        } => Ok(SecretSource::Subscription),
        Table {
            status: None,
            id: None,
            action: Some(action),
            value: Some(value),
        } => Ok(SecretSource::Action {
            action: member(&action)?,
            value: answer_path(&value)?,
        }),
        Table {
            status: None,
            id: None,
            action: None,
            value: None,
        } => Ok(SecretSource::Extension),
        _ => Err(
            "expected one place for the value: `status`, `id`, or `action` together with `value`"
                .to_owned(),
        ),
    }
}

/// Reads `keys[keyName=key1].value`.
fn answer_path(text: &str) -> Result<Vec<AnswerStep>, String> {
    let mut steps = Vec::new();
    for part in text.split('.') {
        let Some((list, selector)) = part.split_once('[') else {
            steps.push(AnswerStep::Member(member(part)?));
            continue;
        };
        let selector = selector
            .strip_suffix(']')
            .and_then(|selector| selector.split_once('='));
        let (name, is) = selector.ok_or_else(|| {
            format!("`{part}` selects no item; expected a form like `keys[keyName=key1]`")
        })?;
        steps.push(AnswerStep::Member(member(list)?));
        steps.push(AnswerStep::Item {
            member: member(name)?,
            is: member(is)?,
        });
    }
    Ok(steps)
}

/// A name of a path: letters, digits, `_` and `-`.
fn member(text: &str) -> Result<String, String> {
    let fits = |letter: char| letter.is_ascii_alphanumeric() || "_-".contains(letter);
    if !text.is_empty() && text.chars().all(fits) {
        return Ok(text.to_owned());
    }
    Err(format!(
        "`{text}` is no name; expected letters and digits, with `.` between the names of a path"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rule(text: &str) -> Result<SecretSource, String> {
        #[derive(Deserialize)]
        struct File {
            key: SecretRule,
        }
        let file = toml::from_str::<File>(&format!("key = {text}"));
        file.map(|file| file.key.0)
            .map_err(|error| error.message().to_owned())
    }

    #[test]
    fn reads_every_place() {
        let text = str::to_owned;
        let item = AnswerStep::Item {
            member: text("keyName"),
            is: text("key1"),
        };
        for (written, expected) in [
            (
                r#"{ status = "a.b" }"#,
                SecretSource::Status(vec![text("a"), text("b")]),
            ),
            (r#"{ id = "subscription" }"#, SecretSource::Subscription),
            (
                r#"{ action = "listKeys", value = "keys[keyName=key1].value" }"#,
                SecretSource::Action {
                    action: text("listKeys"),
                    value: vec![
                        AnswerStep::Member(text("keys")),
                        item,
                        AnswerStep::Member(text("value")),
                    ],
                },
            ),
            ("{}", SecretSource::Extension),
        ] {
            assert_eq!(rule(written), Ok(expected), "{written}");
        }
    }

    #[test]
    fn refuses_what_names_no_place() {
        for (written, part) in [
            (r#"{ status = "a", id = "subscription" }"#, "one place"),
            (r#"{ action = "listKeys" }"#, "one place"),
            (r#"{ status = "a..b" }"#, "`` is no name"),
            (
                r#"{ action = "listKeys", value = "keys[0]" }"#,
                "selects no item",
            ),
            (r#"{ id = "name" }"#, "unknown variant"),
            (r#"{ from = "a" }"#, "unknown field"),
        ] {
            let message = rule(written).unwrap_err();
            assert!(message.contains(part), "{written}: {message}");
        }
    }
}
