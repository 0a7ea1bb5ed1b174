//! Values of the chart that settle exceptions: what somebody will install with, held against what Azure Service Operator is told.

use std::path::Path;

use anyhow::Context;
use serde_json::Value;

use super::exception::{Answer, Exception};

/// Files of values, as they will be given to helm: the last one that names a value counts.
#[derive(Clone, Debug, Default)]
pub struct Values(Vec<Value>);

impl Values {
    /// Reads files.
    ///
    /// # Errors
    /// When one cannot be read, or is no YAML map.
    pub fn read(files: &[impl AsRef<Path>]) -> anyhow::Result<Self> {
        let values = files.iter().map(|file| {
            let file = file.as_ref();
            let text = std::fs::read_to_string(file)
                .with_context(|| format!("cannot read the values {}", file.display()))?;
            let value: Value = serde_saphyr::from_str(&text)
                .with_context(|| format!("the values {} are no YAML", file.display()))?;
            anyhow::ensure!(
                value.is_object() || value.is_null(),
                "the values {} are no map: expected `name: value` in each line",
                file.display()
            );
            Ok(value)
        });
        values.collect::<anyhow::Result<_>>().map(Self)
    }

    /// The exceptions that these values do not settle.
    pub fn unsettled(&self, exceptions: Vec<Exception>) -> Vec<Exception> {
        let left = exceptions.into_iter();
        left.filter(|one| {
            !one.answer
                .as_ref()
                .is_some_and(|answer| self.settle(answer))
        })
        .collect()
    }

    fn settle(&self, answer: &Answer) -> bool {
        let pointer = format!("/{}", answer.value.replace('.', "/"));
        let values = self.0.iter().rev();
        let given = values
            .filter_map(|values| text(values.pointer(&pointer)?))
            .next();
        match (given, &answer.expected) {
            (Some(given), Some(expected)) => words(&given) == words(expected),
            (Some(_), None) => true,
            (None, _) => false,
        }
    }
}

/// A value as a text; what is empty says nothing.
fn text(value: &Value) -> Option<String> {
    let text = match value {
        Value::String(text) => text.clone(),
        Value::Bool(_) | Value::Number(_) => value.to_string(),
        Value::Array(items) => {
            let items = items.iter().filter_map(text);
            items.collect::<Vec<_>>().join(",")
        }
        Value::Null | Value::Object(_) => return None,
    };
    (!text.trim().is_empty()).then_some(text)
}

/// The words of a text that may be a list, in lower case.
fn words(text: &str) -> Vec<String> {
    let words = text.split([',', ';']).flat_map(str::split_whitespace);
    let mut words: Vec<String> = words.map(str::to_lowercase).collect();
    words.sort();
    words
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_value_settles_what_it_answers() {
        let settles = |values: Value, value: &'static str, expected: Option<&str>| {
            let answer = Answer {
                value,
                expected: expected.map(str::to_owned),
            };
            let exception = Exception {
                answer: Some(answer),
                ..Exception::new("x", "y")
            };
            let values = Values(vec![json!({"installCRDs": true}), values]);
            values.unsettled(vec![exception]).is_empty()
        };
        for (values, value, expected, is_settled) in [
            (
                json!({"serviceAccount": {"name": "own"}}),
                "serviceAccount.name",
                Some("own"),
                true,
            ),
            (
                json!({"serviceAccount": {"name": "other"}}),
                "serviceAccount.name",
                Some("own"),
                false,
            ),
            (
                json!({"installCRDs": false}),
                "installCRDs",
                Some("false"),
                true,
            ),
            (json!({}), "installCRDs", Some("false"), false),
            (
                json!({"azureTargetNamespaces": ["b", "a"]}),
                "azureTargetNamespaces",
                Some("a, b"),
                true,
            ),
            (
                json!({"azureClientSecret": "hush"}),
                "azureClientSecret",
                None,
                true,
            ),
            (
                json!({"azureClientSecret": ""}),
                "azureClientSecret",
                None,
                false,
            ),
            (Value::Null, "azureClientSecret", None, false),
        ] {
            assert_eq!(
                settles(values.clone(), value, expected),
                is_settled,
                "{values}"
            );
        }
        let none = Exception::new("x", "y");
        assert_eq!(Values::default().unsettled(vec![none.clone()]), [none]);
    }

    #[test]
    fn what_is_no_file_of_values_is_told() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("values.yaml");
        let error = |file: &Path| Values::read(&[file]).unwrap_err().to_string();
        assert!(error(&file).starts_with("cannot read the values"));
        std::fs::write(&file, "- a").unwrap();
        assert!(error(&file).contains("are no map: expected"));
        std::fs::write(&file, "").unwrap();
        assert!(Values::read(&[&file]).is_ok());
    }
}
