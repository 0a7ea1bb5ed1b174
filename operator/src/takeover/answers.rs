//! Values of the chart that somebody will install with, held against what Azure Service Operator is told: they settle exceptions, and
//! are exceptions where they say otherwise than the Secret, before which they come.

use std::path::Path;

use anyhow::Context;
use armature_runtime::azure::credential::is_true;
use serde_json::Value;

use super::exception::{Answer, Exception};
use super::settings::Settings;
use crate::settings::keys::{Purpose, purpose, value_of};
use crate::settings::secret::comparable;

/// Keys whose values are compared as they are.
const EXACT: [&str; 3] = [
    "AZURE_CLIENT_SECRET",
    "AZURE_CLIENT_CERTIFICATE",
    "AZURE_CLIENT_CERTIFICATE_PASSWORD",
];

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

    /// Adds an exception for each key that the Secret gives to Azure Service Operator and that these values say otherwise.
    pub fn hold_against(&self, settings: &mut Settings) {
        let owns_secret = self.given("createAzureOperatorSecret").as_deref() != Some("false");
        for setting in &mut settings.settings {
            let key = setting.name.as_str();
            let value = value_of(key);
            let counts = match purpose(key) {
                Purpose::Setting => true,
                // The chart puts it into the Secret, if that is its own.
                Purpose::Credential => owns_secret,
                Purpose::Unused(_) | Purpose::Unknown => false,
            };
            let mut answers = settings
                .exceptions
                .iter()
                .filter_map(|it| it.answer.as_ref());
            if !counts || setting.source != "Secret" || answers.any(|it| it.value == value) {
                continue;
            }
            let (Some(told), Some(given)) = (settings.told.get(key), self.given(value)) else {
                continue;
            };
            // `false` says nothing there.
            let is_silent = key == "USE_WORKLOAD_IDENTITY_AUTH" && !is_true(&given);
            if is_silent || is_same(key, &told, &given) {
                continue;
            }
            let said = match purpose(key) {
                Purpose::Setting => format!("{value}: {given}"),
                _ => value.to_owned(),
            };
            setting.here = format!("not taken over: the values have {said}");
            let message = format!(
                "the values have {said}, which comes before what the Secret says: take it out of the values, or say there what is in the \
                 Secret"
            );
            let exception = Exception::new(format!("setting {key}"), message);
            settings.exceptions.push(exception);
        }
    }

    /// What the files say of a value; nothing where it is empty.
    fn given(&self, value: &str) -> Option<String> {
        let pointer = format!("/{}", value.replace('.', "/"));
        let mut values = self.0.iter().rev();
        values.find_map(|values| text(values.pointer(&pointer)?))
    }

    fn settle(&self, answer: &Answer) -> bool {
        match (self.given(answer.value), &answer.expected) {
            (Some(given), Some(expected)) => words(&given) == words(expected),
            (Some(_), None) => true,
            (None, _) => false,
        }
    }
}

/// Whether two texts of a key say the same.
fn is_same(key: &str, one: &str, other: &str) -> bool {
    match (EXACT.contains(&key), purpose(key)) {
        (true, _) => one.trim() == other.trim(),
        (false, Purpose::Credential) => words(one) == words(other),
        _ => comparable(key, one) == comparable(key, other),
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

    /// A Deployment that has all of this from the Secret.
    fn settings(keys: &[(&str, &str)]) -> Settings {
        use std::collections::BTreeMap;

        use armature_runtime::reconcile::port::DataKind;

        use crate::installation::variables::Sources;
        use crate::settings::SECRET;
        use crate::takeover::settings::of;

        let from = |key: &str| json!({"name": key, "valueFrom": {"secretKeyRef": {"name": SECRET, "key": key}}});
        let env: Vec<Value> = keys.iter().map(|(key, _)| from(key)).collect();
        let container = json!({"name": "manager", "env": env});
        let deployment = json!({"spec": {"selector": {}, "template": {"spec": {
            "serviceAccountName": "azureserviceoperator-default", "containers": [container],
        }}}});
        let data = keys.iter();
        let data: BTreeMap<String, Vec<u8>> = data
            .map(|(key, value)| ((*key).to_owned(), value.as_bytes().to_vec()))
            .collect();
        let sources = Sources::from([((DataKind::Secret, SECRET.to_owned()), Some(data))]);
        of(
            &serde_json::from_value(deployment).unwrap(),
            &sources,
            None,
            0,
        )
    }

    #[test]
    fn values_that_say_otherwise_than_the_secret_are_exceptions() {
        for (key, told, values, expected) in [
            // As in that chart's own file, which nobody reads where the Secret is somebody's own.
            (
                "MAX_CONCURRENT_RECONCILES",
                "12",
                json!({"maxConcurrentReconciles": 4}),
                Some("maxConcurrentReconciles: 4"),
            ),
            (
                "MAX_CONCURRENT_RECONCILES",
                "4",
                json!({"maxConcurrentReconciles": 4}),
                None,
            ),
            (
                "ALLOW_MULTI_ENV_MANAGEMENT",
                "true",
                json!({"allowMultiEnvManagement": false}),
                Some("allowMultiEnvManagement: false"),
            ),
            (
                "ALLOW_MULTI_ENV_MANAGEMENT",
                "1",
                json!({"allowMultiEnvManagement": true}),
                None,
            ),
            (
                "AZURE_TARGET_NAMESPACES",
                "b, a",
                json!({"azureTargetNamespaces": ["a", "b"]}),
                None,
            ),
            (
                "DEFAULT_RECONCILE_POLICY",
                "skip",
                json!({"defaultReconcilePolicy": "manage"}),
                Some("defaultReconcilePolicy: manage"),
            ),
            (
                "AZURE_OPERATOR_MODE",
                "watchers",
                json!({"azureOperatorMode": ""}),
                None,
            ),
            (
                "AZURE_CLIENT_SECRET",
                "hush",
                json!({"azureClientSecret": "Hush"}),
                Some("azureClientSecret"),
            ),
            (
                "AZURE_CLIENT_SECRET",
                "hush",
                json!({"azureClientSecret": "Hush", "createAzureOperatorSecret": false}),
                None,
            ),
            (
                "AZURE_CLIENT_ID",
                "0A",
                json!({"azureClientID": "0a"}),
                None,
            ),
            (
                "USE_WORKLOAD_IDENTITY_AUTH",
                "true",
                json!({"useWorkloadIdentityAuth": false}),
                None,
            ),
            (
                "RATE_LIMIT_QPS",
                "3",
                json!({"extraEnv": [{"name": "x"}]}),
                None,
            ),
        ] {
            let mut settings = settings(&[(key, told)]);
            assert_eq!(settings.exceptions, []);
            Values(vec![values.clone()]).hold_against(&mut settings);
            let told = settings.exceptions.first().map(|it| it.message.clone());
            let expected = expected.map(|said| {
                format!("the values have {said}, which comes before what the Secret says")
            });
            let told = told.map(|it| it.split(": take it out").next().unwrap().to_owned());
            assert_eq!(told, expected, "{values}");
            let here = &settings.settings[0].here;
            assert_eq!(
                here.starts_with("not taken over"),
                expected.is_some(),
                "{here}"
            );
        }
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
