//! Reading manifests: files and folders, several documents in each.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use serde_json::Value;

use super::{Origin, RenderError};

/// Suffixes of the files that are read from folders.
const SUFFIXES: [&str; 3] = ["yaml", "yml", "json"];

/// One document of a file.
#[derive(Clone, Debug, PartialEq)]
pub struct Document {
    /// Where it is from.
    pub origin: Origin,
    /// Its content.
    pub value: Value,
}

/// Reads files, and folders with everything below them in order of name. What cannot be read becomes an error;
/// the rest is read all the same.
pub fn read(paths: &[PathBuf]) -> (Vec<Document>, Vec<RenderError>) {
    let (mut files, mut errors) = (Vec::new(), Vec::new());
    for path in paths {
        if let Err(error) = find(path, &mut files) {
            errors.push(failure(path, &error));
        }
    }
    // A file that is named and in a named folder is read once. One that does not exist stays, and is told below.
    let mut seen = BTreeSet::new();
    files.retain(|file| file.canonicalize().map_or(true, |file| seen.insert(file)));
    let mut documents = Vec::new();
    for (order, file) in files.iter().enumerate() {
        let origin = Origin {
            order,
            file: file.display().to_string(),
            document: 0,
        };
        match std::fs::read_to_string(file) {
            Ok(text) => parse(&origin, &text, &mut documents, &mut errors),
            Err(error) => errors.push(failure(file, &error)),
        }
    }
    (documents, errors)
}

/// Splits a text into its documents and parses each on its own, so that one broken document does not hide the
/// others. Empty documents do not count; the items of a `List` become documents with its number.
pub fn parse(
    origin: &Origin,
    text: &str,
    documents: &mut Vec<Document>,
    errors: &mut Vec<RenderError>,
) {
    let mut number = 0;
    for (first_line, part) in split(text) {
        if part.lines().all(is_blank) {
            continue;
        }
        number += 1;
        let origin = Origin {
            document: number,
            ..origin.clone()
        };
        match serde_saphyr::from_str::<Value>(&part) {
            Ok(value) => add(origin, value, documents),
            Err(error) => {
                let line = error
                    .location()
                    .map(|location| first_line + location.line() as usize - 1);
                let text = error.without_snippet().to_string();
                let text = text.lines().next().unwrap_or("it is no YAML").to_owned();
                let message = match line {
                    Some(line) => format!("line {line}: {text}"),
                    None => text,
                };
                errors.push(RenderError::of_document(&origin, message));
            }
        }
    }
}

fn add(origin: Origin, value: Value, documents: &mut Vec<Document>) {
    let is_list = value["kind"] == "List" && value["apiVersion"] == "v1";
    match value {
        Value::Null => {}
        Value::Object(mut members) if is_list => {
            if let Some(Value::Array(items)) = members.remove("items") {
                documents.extend(items.into_iter().map(|value| Document {
                    origin: origin.clone(),
                    value,
                }));
            }
        }
        value => documents.push(Document { origin, value }),
    }
}

/// The documents of a YAML text with the number of their first line. A line that begins with `---` always
/// begins a document, also inside a block of text.
fn split(text: &str) -> Vec<(usize, String)> {
    let mut parts = vec![(1, String::new())];
    for (index, line) in text.lines().enumerate() {
        let rest = line
            .strip_prefix("---")
            .filter(|rest| rest.is_empty() || rest.starts_with([' ', '\t']));
        if let Some(rest) = rest {
            parts.push((index + 1, format!("{rest}\n")));
        } else if line == "..." {
            parts.push((index + 1, String::new()));
        } else if let Some((_, part)) = parts.last_mut() {
            part.push_str(line);
            part.push('\n');
        }
    }
    parts
}

fn is_blank(line: &str) -> bool {
    let line = line.trim();
    line.is_empty() || line.starts_with('#')
}

fn find(path: &Path, files: &mut Vec<PathBuf>) -> std::io::Result<()> {
    if !path.is_dir() {
        // Existence shows when it is read.
        files.push(path.to_owned());
        return Ok(());
    }
    let mut entries = std::fs::read_dir(path)?
        .map(|entry| entry.map(|entry| entry.path()))
        .collect::<Result<Vec<_>, _>>()?;
    entries.sort();
    for entry in entries {
        let suffix = entry.extension().and_then(|suffix| suffix.to_str());
        if entry.is_dir() || suffix.is_some_and(|suffix| SUFFIXES.contains(&suffix)) {
            find(&entry, files)?;
        }
    }
    Ok(())
}

fn failure(path: &Path, error: &std::io::Error) -> RenderError {
    let origin = Origin {
        file: path.display().to_string(),
        ..Origin::default()
    };
    RenderError::of_document(&origin, format!("cannot be read: {error}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn parsed(text: &str) -> (Vec<(usize, Value)>, Vec<String>) {
        let origin = Origin {
            file: "f.yaml".to_owned(),
            ..Origin::default()
        };
        let (mut documents, mut errors) = (Vec::new(), Vec::new());
        parse(&origin, text, &mut documents, &mut errors);
        let documents = documents
            .into_iter()
            .map(|document| (document.origin.document, document.value))
            .collect();
        (documents, errors.iter().map(ToString::to_string).collect())
    }

    #[test]
    fn splits_documents_and_keeps_going_after_a_broken_one() {
        let (documents, errors) =
            parsed("# first\n---\na: 1\n--- # second\nb: [1\n---\n\n---\nc: |\n  x\n  ---\n  y\n");
        assert_eq!(
            documents,
            [(1, json!({"a": 1})), (3, json!({"c": "x\n---\ny\n"}))]
        );
        assert_eq!(errors.len(), 1, "{errors:?}");
        assert!(
            errors[0].starts_with("f.yaml: document 2: line "),
            "{errors:?}"
        );
    }

    #[test]
    fn reads_json_and_lists() {
        let (documents, errors) = parsed(
            r#"{"apiVersion": "v1", "kind": "List", "items": [{"kind": "A"}, {"kind": "B"}]}"#,
        );
        assert_eq!(
            documents,
            [(1, json!({"kind": "A"})), (1, json!({"kind": "B"}))]
        );
        assert!(errors.is_empty());
    }

    #[test]
    fn reads_folders_in_order_and_names_missing_files() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = |name: &str| folder.path().join(name);
        std::fs::create_dir(path("b")).expect("a folder");
        for (name, text) in [
            ("c.yml", "n: 3"),
            ("b/a.json", r#"{"n": 2}"#),
            ("a.yaml", "n: 1"),
            ("x.txt", "n: 9"),
        ] {
            std::fs::write(path(name), text).expect("written");
        }
        let paths = [folder.path().to_owned(), path("a.yaml"), path("none.yaml")];
        let (documents, errors) = read(&paths);
        let values: Vec<_> = documents
            .iter()
            .map(|document| document.value["n"].clone())
            .collect();
        assert_eq!(values, [json!(1), json!(2), json!(3)]);
        assert_eq!(errors.len(), 1);
        assert!(
            errors[0].to_string().contains("none.yaml: cannot be read"),
            "{}",
            errors[0]
        );
    }
}
