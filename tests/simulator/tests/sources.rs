//! Each behaviour of the simulator names what it was read from, and that is there.
//!
//! A behaviour that nobody has seen proves nothing when the operator comes through it.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// Files of behaviours, and their text. `mod.rs` and what only makes keys have none.
fn behaviours() -> Vec<(String, String)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/behaviour");
    let entries = std::fs::read_dir(folder).unwrap();
    let files = entries.map(|entry| entry.unwrap().path()).map(|path| {
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        (name, std::fs::read_to_string(&path).unwrap())
    });
    let mut files: Vec<(String, String)> = files.collect();
    files.retain(|(name, _)| !matches!(name.as_str(), "mod.rs" | "keys.rs"));
    files.sort();
    files
}

/// The paragraph `Source: …` of a file's first comment.
fn source(text: &str) -> Option<String> {
    let comment = text.lines().map_while(|line| line.strip_prefix("//!"));
    let paragraph = comment
        .map(str::trim)
        .skip_while(|line| !line.starts_with("Source:"))
        .take_while(|line| !line.is_empty());
    let paragraph: Vec<&str> = paragraph.collect();
    (!paragraph.is_empty()).then(|| paragraph.join(" "))
}

/// Names in backticks.
fn names(source: &str) -> impl Iterator<Item = &str> {
    source.split('`').skip(1).step_by(2)
}

fn is_spec(name: &str) -> bool {
    name.starts_with("specification")
}

/// Codes of errors that the file answers with: texts of one word in capitals and small letters, where an error is made.
fn codes(text: &str) -> BTreeSet<String> {
    let code = text.split("#[cfg(test)]").next().unwrap_or_default();
    let made = code.split("ArmError::new(").skip(1);
    let texts = made.filter_map(|after| {
        let (_, from) = after.split_once('"')?;
        let (word, _) = from.split_once('"')?;
        Some(word.to_owned())
    });
    // Our own failures are no Azure's.
    texts.filter(|word| word != "InternalServerError").collect()
}

fn data() -> Option<PathBuf> {
    let beside = Path::new(env!("CARGO_MANIFEST_DIR"))
        .ancestors()
        .map(|folder| folder.join("shared/azure"));
    std::env::var_os("ARMATURE_AZURE_DATA")
        .map(PathBuf::from)
        .into_iter()
        .chain(beside)
        .find(|folder| folder.join("recordings").is_dir())
}

#[test]
fn every_behaviour_names_its_source() {
    let files = behaviours();
    assert!(files.len() > 20, "{} files", files.len());
    let without = files.iter().filter(|(_, text)| source(text).is_none());
    let without: Vec<&String> = without.map(|(name, _)| name).collect();
    assert!(
        without.is_empty(),
        "add a paragraph `//! Source: …` with recordings, spec files or addresses of documents to {without:?}"
    );
}

#[test]
fn every_source_is_there_and_knows_the_errors() {
    let Some(data) = data() else {
        println!("skipped: no recordings, set ARMATURE_AZURE_DATA to their folder");
        return;
    };
    let mut wrong = Vec::new();
    for (file, text) in behaviours() {
        let source = source(&text).unwrap_or_default();
        let mut recorded = String::new();
        for name in names(&source) {
            if is_spec(name) {
                if !data.join("azure-rest-api-specs").join(name).exists() {
                    wrong.push(format!("{file}: there is no {name}"));
                }
            } else if name.contains('-') && name != "Azure-AsyncOperation" {
                let path = data.join(format!("recordings/{name}.jsonl"));
                match std::fs::read_to_string(&path) {
                    Ok(text) => recorded.push_str(&text),
                    Err(_) => wrong.push(format!("{file}: there is no recording {name}")),
                }
            }
        }
        let has_document = source.contains("https://");
        for code in codes(&text) {
            if !has_document && !recorded.contains(&format!("\"{code}\"")) {
                wrong.push(format!("{file}: none of its recordings has {code}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
