//! Manifests and reports as text.

use std::collections::{BTreeMap, BTreeSet};

use super::manifest::{Imported, SecretKey, Wanted, metadata};
use serde::Serialize;
use serde_json::{Map, Value, json};

/// One document of YAML.
///
/// # Errors
/// When the value has no such form, which is a defect.
pub fn document(value: &impl Serialize) -> anyhow::Result<String> {
    Ok(serde_saphyr::to_string(value)?.trim_end().to_owned() + "\n")
}

/// The Secrets that manifests name, without values: a comment names the keys that are to be filled.
///
/// # Errors
/// When one has no form in YAML, which is a defect.
pub fn secrets(imported: &[Imported], wanted: &Wanted) -> anyhow::Result<Vec<(String, String)>> {
    let mut by_name: BTreeMap<&str, BTreeSet<&SecretKey>> = BTreeMap::new();
    for key in imported.iter().flat_map(|one| &one.secrets) {
        by_name.entry(&key.secret).or_default().insert(key);
    }
    let mut texts = Vec::new();
    for (name, keys) in by_name {
        let plain = Wanted {
            policy: None,
            ..wanted.clone()
        };
        let mut secret = Map::new();
        secret.insert("apiVersion".to_owned(), json!("v1"));
        secret.insert("kind".to_owned(), json!("Secret"));
        secret.insert("metadata".to_owned(), metadata(name, &plain));
        let mut text = document(&Value::Object(secret))?;
        text.push_str("# Azure shows no secrets. Fill in what is known:\n# stringData:\n");
        for key in keys {
            match &key.key {
                Some(word) => text.push_str(&format!("#   {word}: \"\"  # {}\n", key.path)),
                None => text.push_str(&format!("#   each key that there is  # {}\n", key.path)),
            }
        }
        texts.push((name.to_owned(), text));
    }
    Ok(texts)
}
