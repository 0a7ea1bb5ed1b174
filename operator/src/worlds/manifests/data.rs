//! Secrets and ConfigMaps: those among the manifests, and marks in the place of values that are in none.

use std::collections::{BTreeMap, HashMap};

use armature_runtime::engine::collect::Inputs;
use armature_runtime::reconcile::port::DataKind;
use base64::Engine as _;
use serde_json::Value;

use super::manifest::Document;
use super::mistakes::no_such_field;
use super::problem::Problem;

/// No mark can be part of an ARM id, so a name in Azure is known or the object has no place.
const UNMARKED: &str = "spec.azureNameFromConfig";

/// Members of Secrets and ConfigMaps.
const MEMBERS: [&str; 8] = [
    "apiVersion",
    "kind",
    "metadata",
    "data",
    "stringData",
    "binaryData",
    "immutable",
    "type",
];

/// Keys and values.
pub type Values = BTreeMap<String, Vec<u8>>;

type Id = (DataKind, String, String);

/// All Secrets and ConfigMaps. Never printed.
#[derive(Default)]
pub struct Data {
    given: HashMap<Id, Values>,
    marks: HashMap<Id, Values>,
}

impl Data {
    /// Takes a manifest over.
    ///
    /// # Errors
    /// When a value is none.
    pub fn add(
        &mut self,
        kind: DataKind,
        namespace: &str,
        name: &str,
        document: &Document,
    ) -> Result<(), Problem> {
        let values = read(kind, document)?;
        self.given.insert(id(kind, namespace, name), values);
        Ok(())
    }

    /// Has a mark for everything that an object takes from Secrets and ConfigMaps: it counts where no manifest has
    /// them. The keys of a Secret that is taken whole are not known, so one mark stands for all.
    pub fn mark(&mut self, namespace: &str, inputs: &Inputs) {
        for (kind, uses) in [
            (DataKind::Secret, &inputs.secrets),
            (DataKind::ConfigMap, &inputs.config_maps),
        ] {
            for used in uses.iter().filter(|used| used.path != UNMARKED) {
                self.add_mark(kind, namespace, &used.target.name, &used.target.key);
            }
        }
        for used in &inputs.secret_maps {
            self.add_mark(DataKind::Secret, namespace, &used.target, "*");
        }
    }

    fn add_mark(&mut self, kind: DataKind, namespace: &str, name: &str, key: &str) {
        let word = match kind {
            DataKind::Secret => "secret",
            DataKind::ConfigMap => "configmap",
        };
        let mark = format!("${{{word}:{name}/{key}}}");
        let marks = self.marks.entry(id(kind, namespace, name)).or_default();
        marks.insert(key.to_owned(), mark.into_bytes());
    }

    /// Values of a Secret or ConfigMap that a manifest has.
    pub fn given(&self, kind: DataKind, namespace: &str, name: &str) -> Option<&Values> {
        self.given.get(&id(kind, namespace, name))
    }

    /// Values of a Secret or ConfigMap, or marks.
    pub fn get(&self, kind: DataKind, namespace: &str, name: &str) -> Option<&Values> {
        let id = id(kind, namespace, name);
        self.given.get(&id).or_else(|| self.marks.get(&id))
    }
}

fn id(kind: DataKind, namespace: &str, name: &str) -> Id {
    (kind, namespace.to_owned(), name.to_owned())
}

/// `stringData` over `data`, the latter in base64 for Secrets.
fn read(kind: DataKind, document: &Document) -> Result<Values, Problem> {
    let mut values = Values::new();
    for name in document
        .value
        .as_object()
        .into_iter()
        .flatten()
        .map(|(name, _)| name)
    {
        if !MEMBERS.contains(&name.as_str()) {
            let message = no_such_field(name, &MEMBERS);
            return Err(Problem::at(&document.origin, name, message));
        }
    }
    for member in ["data", "stringData"] {
        let found = document.value.get(member).and_then(Value::as_object);
        for (key, value) in found.into_iter().flatten() {
            let wrong =
                |message: &str| Problem::at(&document.origin, format!("{member}.{key}"), message);
            // An API server takes a key without a value as one with an empty value.
            let text = match value {
                Value::Null => "",
                value => value.as_str().ok_or_else(|| wrong("expected a string"))?,
            };
            let bytes = if kind == DataKind::Secret && member == "data" {
                base64::engine::general_purpose::STANDARD
                    .decode(text.split_whitespace().collect::<String>())
                    .map_err(|_| wrong("is no base64; plain text belongs into stringData"))?
            } else {
                text.as_bytes().to_vec()
            };
            values.insert(key.clone(), bytes);
        }
    }
    Ok(values)
}

#[cfg(test)]
mod tests {
    use armature_runtime::engine::collect::{KeyReference, Use};
    use serde_json::json;

    use super::*;

    fn document(value: Value) -> Document {
        Document {
            origin: Default::default(),
            value,
        }
    }

    fn texts(data: &Data, kind: DataKind, name: &str) -> Option<Vec<(String, String)>> {
        let values = data.get(kind, "n", name)?.iter();
        let text = |bytes: &Vec<u8>| String::from_utf8_lossy(bytes).into_owned();
        Some(
            values
                .map(|(key, bytes)| (key.clone(), text(bytes)))
                .collect(),
        )
    }

    fn pairs(expected: &[(&str, &str)]) -> Option<Vec<(String, String)>> {
        let pair = |(key, text): &(&str, &str)| ((*key).to_owned(), (*text).to_owned());
        Some(expected.iter().map(pair).collect())
    }

    #[test]
    fn secrets_are_decoded_and_plain_texts_come_first() {
        let mut data = Data::default();
        let secret = json!({"data": {"a": "eA==\n", "b": "/w=="}, "stringData": {"a": "y"}});
        let added = data.add(DataKind::Secret, "n", "s", &document(secret));
        assert_eq!(added, Ok(()));
        assert_eq!(
            texts(&data, DataKind::Secret, "s"),
            pairs(&[("a", "y"), ("b", "\u{fffd}")])
        );
        assert_eq!(texts(&data, DataKind::ConfigMap, "s"), None);
        for (value, expected) in [
            (
                json!("x"),
                "data.a: is no base64; plain text belongs into stringData",
            ),
            (json!(1), "data.a: expected a string"),
        ] {
            let secret = document(json!({"data": {"a": value}}));
            let wrong = data.add(DataKind::Secret, "n", "s", &secret).unwrap_err();
            assert_eq!(format!("{}: {}", wrong.path, wrong.message), expected);
        }
    }

    #[test]
    fn marks_stand_for_what_no_manifest_has() {
        let used = |path: &str, name: &str, key: &str| Use {
            path: path.to_owned(),
            target: KeyReference {
                name: name.to_owned(),
                key: key.to_owned(),
            },
        };
        let inputs = Inputs {
            secrets: vec![used("spec.a", "given", "k"), used("spec.b", "s", "k")],
            config_maps: vec![
                used("spec.c", "c", "k"),
                used("spec.azureNameFromConfig", "names", "k"),
            ],
            secret_maps: vec![Use {
                path: "spec.d".to_owned(),
                target: "all".to_owned(),
            }],
            ..Inputs::default()
        };
        let mut data = Data::default();
        let given = document(json!({"stringData": {"other": "x"}}));
        let added = data.add(DataKind::Secret, "n", "given", &given);
        assert_eq!(added, Ok(()));
        data.mark("n", &inputs);
        use DataKind::{ConfigMap, Secret};
        for (kind, name, expected) in [
            (Secret, "given", pairs(&[("other", "x")])),
            (Secret, "s", pairs(&[("k", "${secret:s/k}")])),
            (Secret, "all", pairs(&[("*", "${secret:all/*}")])),
            (ConfigMap, "c", pairs(&[("k", "${configmap:c/k}")])),
            (ConfigMap, "names", None),
        ] {
            assert_eq!(texts(&data, kind, name), expected, "{name}");
        }
    }
}
