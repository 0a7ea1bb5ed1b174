//! Manifests and reports as text.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

use serde::Serialize;
use serde_json::{Map, Value, json};

use super::importer::Report;
use super::kustomization::Kustomization;
use super::manifest::{Imported, SecretKey, Wanted, metadata};

/// A name of a file, and its text.
pub type File = (String, String);

/// Each manifest as a file, those of Secrets last.
///
/// # Errors
/// When one has no form in YAML, which is a defect.
pub fn files(imported: &[Imported], wanted: &Wanted) -> anyhow::Result<Vec<File>> {
    let mut groups: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for one in imported {
        groups
            .entry(one.name.kind)
            .or_default()
            .insert(one.name.group);
    }
    let mut files = Vec::new();
    for one in imported {
        let mut kind = one.name.kind.to_lowercase();
        if groups
            .get(one.name.kind)
            .is_some_and(|groups| groups.len() > 1)
        {
            let short = one.name.group.split('.').next().unwrap_or_default();
            kind = format!("{kind}.{short}");
        }
        let name = format!("{kind}-{}.yaml", one.name.name);
        files.push((name, document(&one.manifest)?));
    }
    files.extend(secrets(imported, wanted)?);
    Ok(files)
}

/// A `kustomization.yaml`.
///
/// # Errors
/// When it has no form in YAML, which is a defect.
pub fn kustomization(list: &Kustomization) -> anyhow::Result<String> {
    document(list.members())
}

/// All files as one.
pub fn joined(files: &[File]) -> String {
    let texts: Vec<&str> = files.iter().map(|(_, text)| text.as_str()).collect();
    texts.join("---\n")
}

/// What an import came to: figures, what was not imported and why, what manifests do not say, Secrets to fill.
pub fn summary(report: &Report) -> String {
    let mut text = String::new();
    let _ = writeln!(
        text,
        "{} imported, {} skipped, {} failed; {} requests to Azure",
        report.imported.len(),
        report.skipped.len(),
        report.failed.len(),
        report.requests
    );
    for (title, ids) in [("Skipped", &report.skipped), ("Failed", &report.failed)] {
        if !ids.is_empty() {
            let _ = writeln!(text, "\n{title}:");
        }
        for (id, why) in ids {
            let _ = writeln!(text, "  {id}\n    {why}");
        }
    }
    let mut title = "\nNot in the manifests:\n";
    for one in report
        .imported
        .iter()
        .filter(|one| !one.left_out.is_empty())
    {
        let _ = writeln!(text, "{title}  {} {}", one.name.kind, one.name.name);
        title = "";
        for left_out in &one.left_out {
            let _ = writeln!(text, "    {}: {}", left_out.path, left_out.why);
        }
    }
    let keys: BTreeSet<&SecretKey> = report
        .imported
        .iter()
        .flat_map(|one| &one.secrets)
        .collect();
    let mut title = "\nSecrets to fill before the manifests are applied:\n";
    for key in keys {
        let word = key.key.as_deref().unwrap_or("all keys");
        let _ = writeln!(text, "{title}  {}: {word}", key.secret);
        title = "";
    }
    text
}

/// One document of YAML.
fn document(value: &impl Serialize) -> anyhow::Result<String> {
    Ok(serde_saphyr::to_string(value)?.trim_end().to_owned() + "\n")
}

/// The Secrets that manifests name, without values: a comment names the keys that are to be filled.
fn secrets(imported: &[Imported], wanted: &Wanted) -> anyhow::Result<Vec<File>> {
    let mut by_name: BTreeMap<&str, BTreeSet<&SecretKey>> = BTreeMap::new();
    for key in imported.iter().flat_map(|one| &one.secrets) {
        by_name.entry(&key.secret).or_default().insert(key);
    }
    let mut files = Vec::new();
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
        text.push_str("# Azure shows no secrets: fill in what is known.\n# stringData:\n");
        for key in keys {
            let word = key.key.as_deref().unwrap_or("each key that there is");
            let _ = writeln!(text, "#   {word}: \"\" # {}", key.path);
        }
        files.push((format!("secret-{name}.yaml"), text));
    }
    Ok(files)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::worlds::manifests::manifest::parse;

    #[test]
    fn texts_are_read_as_they_were_written() {
        let words = [
            "y",
            "no",
            "On",
            "null",
            "~",
            "0123",
            "1_000",
            "1e3",
            "0x1f",
            "2020-01-01",
            "12:30:00",
            "- a",
            "a: b",
            "#x",
            "'",
            "\"",
            "",
            " a ",
            "a\nb\n",
            "a\n\n b",
            "---",
            "...",
            "{a}",
            "[",
            "*",
            "&a",
            "!t",
            "%",
            "@",
            "`",
            ".inf",
            ".5",
            "=",
        ];
        let value = json!({
            "words": words.as_slice(), "long": "word ".repeat(80), "yes": {"no": true, "": 1, "2": [1.5, -0.5, {}, []]},
        });
        let text = document(&value).unwrap();
        let (mut documents, mut errors) = (Vec::new(), Vec::new());
        parse(&Default::default(), &text, &mut documents, &mut errors);
        assert!(errors.is_empty(), "{errors:?}\n{text}");
        assert_eq!(documents[0].value, value, "{text}");
    }
}
