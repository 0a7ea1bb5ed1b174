//! Where a value of `operatorSpec.secrets` is found, as curation files write it.

use serde::{Deserialize, Deserializer, de};

use super::words::{Encoding, IdPart};
use crate::model::{AnswerStep, SecretSource};

/// The source of a secret value. In TOML one of `{ status = "a.b" }`, `{ id = "subscription" }`,
/// `{ action = "listKeys", value = "keys[keyName=key1].value" }` with or without `encoding`, and `{}` where a handwritten
/// exporter gets it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SecretRule(pub SecretSource);

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct Table {
    status: Option<String>,
    id: Option<IdPart>,
    action: Option<String>,
    value: Option<String>,
    encoding: Option<Encoding>,
}

impl<'de> Deserialize<'de> for SecretRule {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let table = Table::deserialize(deserializer)?;
        source(table).map(Self).map_err(de::Error::custom)
    }
}

fn source(table: Table) -> Result<SecretSource, String> {
    let place = |text: &str| text.split('.').map(member).collect::<Result<Vec<_>, _>>();
    match (
        table.status,
        table.id,
        table.action,
        table.value,
        table.encoding,
    ) {
        (Some(path), None, None, None, None) => Ok(SecretSource::Status(place(&path)?)),
        (None, Some(IdPart::Subscription), None, None, None) => Ok(SecretSource::Subscription),
        (None, None, Some(action), Some(value), encoding) => {
            let mut value = answer_path(&value)?;
            value.extend(encoding.map(|Encoding::Base64| AnswerStep::Base64));
            Ok(SecretSource::Action {
                action: action_path(action)?,
                value,
            })
        }
        (None, None, None, None, None) => Ok(SecretSource::Extension),
        _ => Err(
            "expected one place for the value: `status`, `id`, or `action` together with `value`, and `encoding` only \
             with these two"
                .to_owned(),
        ),
    }
}

/// Checks `listKeys`, or `authorizationRules/NAME/listKeys` where a resource below the exported one answers.
fn action_path(text: String) -> Result<String, String> {
    text.split('/')
        .try_for_each(|part| member(part).map(drop))?;
    Ok(text)
}

/// Reads `keys[keyName=key1].value`.
fn answer_path(text: &str) -> Result<Vec<AnswerStep>, String> {
    let mut steps = Vec::new();
    for part in text.split('.') {
        let Some((list, selector)) = part.split_once('[') else {
            steps.push(AnswerStep::Member(member(part)?));
            continue;
        };
        steps.push(AnswerStep::Member(member(list)?));
        let selector = selector.strip_suffix(']');
        steps.push(match selector.map(|selector| selector.split_once('=')) {
            Some(Some((name, is))) => AnswerStep::Item {
                member: member(name)?,
                is: text_of(is)?,
            },
            Some(None) if selector == Some("first") => AnswerStep::First,
            _ => {
                return Err(format!(
                    "`{part}` selects no item; expected a form like `keys[keyName=key1]` or `keys[first]`"
                ));
            }
        });
    }
    Ok(steps)
}

/// What a member of the item says, where blanks may be: `Primary Read Only`.
fn text_of(text: &str) -> Result<String, String> {
    let words = text.split(' ').map(member);
    Ok(words.collect::<Result<Vec<_>, _>>()?.join(" "))
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
            is: text("Read Only"),
        };
        for (written, expected) in [
            (
                r#"{ status = "a.b" }"#,
                SecretSource::Status(vec![text("a"), text("b")]),
            ),
            (r#"{ id = "subscription" }"#, SecretSource::Subscription),
            (
                r#"{ action = "listKeys", value = "keys[keyName=Read Only].value" }"#,
                SecretSource::Action {
                    action: text("listKeys"),
                    value: vec![
                        AnswerStep::Member(text("keys")),
                        item,
                        AnswerStep::Member(text("value")),
                    ],
                },
            ),
            (
                r#"{ action = "rules/Root/listKeys", value = "key" }"#,
                SecretSource::Action {
                    action: text("rules/Root/listKeys"),
                    value: vec![AnswerStep::Member(text("key"))],
                },
            ),
            (
                r#"{ action = "list", value = "value[first].data", encoding = "base64" }"#,
                SecretSource::Action {
                    action: text("list"),
                    value: vec![
                        AnswerStep::Member(text("value")),
                        AnswerStep::First,
                        AnswerStep::Member(text("data")),
                        AnswerStep::Base64,
                    ],
                },
            ),
            (
                r#"{ action = "list", value = "value[name=Primary Read Only]" }"#,
                SecretSource::Action {
                    action: text("list"),
                    value: vec![
                        AnswerStep::Member(text("value")),
                        AnswerStep::Item {
                            member: text("name"),
                            is: text("Primary Read Only"),
                        },
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
            (r#"{ status = "a", encoding = "base64" }"#, "one place"),
            (r#"{ encoding = "base64" }"#, "one place"),
            (r#"{ status = "a..b" }"#, "`` is no name"),
            (
                r#"{ action = "listKeys", value = "keys[name=]" }"#,
                "`` is no name",
            ),
            (
                r#"{ action = "listKeys", value = "keys[0]" }"#,
                "selects no item",
            ),
            (
                r#"{ action = "rules//listKeys", value = "key" }"#,
                "`` is no name",
            ),
            (r#"{ id = "name" }"#, "unknown variant"),
            (r#"{ from = "a" }"#, "unknown field"),
        ] {
            let message = rule(written).unwrap_err();
            assert!(message.contains(part), "{written}: {message}");
        }
    }
}
