//! Reading manifests: files, folders and standard input.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use serde_json::Value;

use super::documents;
use super::problem::{Origin, Problem, Wrong};

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

impl Document {
    /// What is wrong with the object that it is.
    pub fn told(&self, wrong: Vec<Wrong>, object: &str) -> Vec<Problem> {
        let told = wrong.into_iter();
        told.map(|(path, message)| Problem::at(&self.origin, path, message).of(object))
            .collect()
    }
}

/// Reads files, folders with everything below them in order of name, and `-`, which is standard input. What cannot be read becomes an error;
/// the rest is read all the same.
pub fn read(paths: &[PathBuf]) -> (Vec<Document>, Vec<Problem>) {
    let (files, mut errors) = list(paths);
    let mut documents = Vec::new();
    // Named path → whether there was anything in it.
    let mut found = BTreeMap::new();
    for (order, (path, file)) in files.iter().enumerate() {
        let origin = Origin {
            order,
            file: named(file).into(),
            ..Origin::default()
        };
        let before = documents.len() + errors.len();
        match text_of(file) {
            Ok(text) => parse(&origin, &text, &mut documents, &mut errors),
            Err(error) => errors.push(unreadable(file, &error)),
        }
        *found.entry(path).or_insert(false) |= documents.len() + errors.len() > before;
    }
    let empty = found.into_iter().filter(|(_, has_content)| !has_content);
    errors.extend(empty.map(|(path, _)| failure(path, "holds no manifest")));
    (documents, errors)
}

/// A path for people.
fn named(file: &Path) -> String {
    match is_standard_input(file) {
        true => "standard input".to_owned(),
        false => file.display().to_string(),
    }
}

/// Whether a path stands for what another program prints.
fn is_standard_input(file: &Path) -> bool {
    file == Path::new("-")
}

fn text_of(file: &Path) -> std::io::Result<String> {
    match is_standard_input(file) {
        true => std::io::read_to_string(std::io::stdin()),
        false => std::fs::read_to_string(file),
    }
}

/// The files of all paths, each with the path that led to it.
fn list(paths: &[PathBuf]) -> (Vec<(&Path, PathBuf)>, Vec<Problem>) {
    let (mut files, mut errors) = (Vec::new(), Vec::new());
    for path in paths {
        let mut found = Vec::new();
        match find(path, &mut found) {
            Err(error) => errors.push(unreadable(path, &error)),
            Ok(()) if found.is_empty() => {
                let suffixes = SUFFIXES.map(|suffix| format!(".{suffix}")).join(", ");
                errors.push(failure(
                    path,
                    format!("holds no file with a suffix {suffixes}"),
                ));
            }
            Ok(()) => files.extend(found.into_iter().map(|file| (path.as_path(), file))),
        }
    }
    // A file that is named and in a named folder is read once. One that does not exist stays, and is told later.
    let mut seen = BTreeSet::new();
    files.retain(|(_, file)| file.canonicalize().map_or(true, |file| seen.insert(file)));
    (files, errors)
}

/// Reads the documents of a text, so that one broken document does not hide the others. The items of a `List` become
/// documents with its number.
pub fn parse(
    origin: &Origin,
    text: &str,
    documents: &mut Vec<Document>,
    errors: &mut Vec<Problem>,
) {
    for found in documents::read(text) {
        let origin = Origin {
            document: found.number,
            ..origin.clone()
        };
        match found.value {
            Ok(value) => documents.extend(of_list(origin, value, errors)),
            Err(error) => errors.push(Problem::of_document(&origin, error.to_string())),
        }
    }
}

/// The items of a `List`, or the one document that there is.
fn of_list(origin: Origin, mut value: Value, errors: &mut Vec<Problem>) -> Vec<Document> {
    if value.is_null() {
        return Vec::new();
    }
    if value["kind"] != "List" || value["apiVersion"] != "v1" {
        return vec![Document { origin, value }];
    }
    let Value::Array(items) = value["items"].take() else {
        errors.push(Problem::at(&origin, "items", "a List needs a list of items").of("List"));
        return Vec::new();
    };
    let items = items.into_iter().enumerate();
    items
        .map(|(index, value)| Document {
            origin: Origin {
                item: Some(index),
                ..origin.clone()
            },
            value,
        })
        .collect()
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

fn unreadable(path: &Path, error: &std::io::Error) -> Problem {
    failure(path, format!("cannot be read: {error}"))
}

fn failure(path: &Path, message: impl Into<String>) -> Problem {
    let origin = Origin {
        file: named(path).into(),
        ..Origin::default()
    };
    Problem::of_document(&origin, message)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn parsed(text: &str) -> (Vec<(usize, Value)>, Vec<String>) {
        let origin = Origin {
            file: "f.yaml".into(),
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
    fn words_for_booleans_are_read_as_kubectl_reads_them() {
        let (documents, errors) = parsed(
            "[y, N, yes, No, on, OFF, true, False, 'yes', \"no\", {n: y, on: [n, off]}, 1, ~]",
        );
        assert_eq!(errors, Vec::<String>::new());
        assert_eq!(
            documents,
            [(
                1,
                json!([
                    true, false, true, false, true, false, true, false, "yes", "no",
                    {"false": true, "true": [false, false]}, 1, null
                ])
            )]
        );
    }

    #[test]
    fn broken_yaml_is_told_with_one_line_of_the_file_and_without_advice_to_programmers() {
        for (text, expected) in [
            (
                "a: 1\n---\nb: 1\nc: 2\nb: 3\n",
                "f.yaml: document 2: line 5, column 1: `b` stands twice in one mapping",
            ),
            (
                "a: 1\n---\nb: *nowhere\n",
                "f.yaml: document 2: line 3, column 4: ",
            ),
        ] {
            let (_, errors) = parsed(text);
            assert_eq!(errors.len(), 1, "{errors:?}");
            assert!(errors[0].starts_with(expected), "{errors:?}");
            assert_eq!(errors[0].matches("line").count(), 1, "{errors:?}");
            assert!(!errors[0].contains("Options"), "{errors:?}");
        }
    }

    #[test]
    fn paths_without_a_manifest_are_problems() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = |name: &str| folder.path().join(name);
        for name in ["empty", "texts", "comments", "some"] {
            std::fs::create_dir(path(name)).expect("a folder");
        }
        for (name, text) in [
            ("texts/x.txt", "n: 9"),
            ("comments/a.yaml", "# later\n---\n"),
            ("some/a.yaml", ""),
            ("some/b.yaml", "n: 1"),
            ("alone.yaml", "\n"),
        ] {
            std::fs::write(path(name), text).expect("written");
        }
        let paths = ["empty", "texts", "comments", "some", "alone.yaml"].map(path);
        let (documents, errors) = read(&paths);
        assert_eq!(documents.len(), 1);
        let mut errors: Vec<_> = errors.iter().map(ToString::to_string).collect();
        errors.sort();
        let expected = [
            ("alone.yaml", "holds no manifest"),
            ("comments", "holds no manifest"),
            ("empty", "holds no file with a suffix .yaml, .yml, .json"),
            ("texts", "holds no file with a suffix .yaml, .yml, .json"),
        ];
        let expected = expected.map(|(name, what)| format!("{}: {what}", path(name).display()));
        assert_eq!(errors, expected);
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
            ("c.yml", "v: 3"),
            ("b/a.json", r#"{"v": 2}"#),
            ("a.yaml", "v: 1"),
            ("x.txt", "v: 9"),
        ] {
            std::fs::write(path(name), text).expect("written");
        }
        let paths = [folder.path().to_owned(), path("a.yaml"), path("none.yaml")];
        let (documents, errors) = read(&paths);
        let values: Vec<_> = documents
            .iter()
            .map(|document| document.value["v"].clone())
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
