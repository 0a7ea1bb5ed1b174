//! Where the documents of a file begin and end, as kubectl finds them.
//!
//! A file that begins with a brace is JSON, of one object after another; anything else is YAML, in documents between lines of
//! `---`. kubectl drops without a word what stands behind `...`; here that is a mistake.

use serde_json::Value;

use super::yaml::{self, YamlError};

/// Where a document of a file is, and what it is.
#[derive(Debug, PartialEq)]
pub struct Found {
    /// Number among the documents that are not empty, from 1.
    pub number: usize,
    /// Its content, or what is wrong with it, with the line of the file.
    pub value: Result<Value, YamlError>,
}

/// The documents of a text. One that is broken does not hide the others; empty ones do not count.
pub fn read(text: &str) -> Vec<Found> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let documents = json(text).unwrap_or_else(|| yaml_documents(text));
    let numbered = documents.into_iter().enumerate();
    numbered
        .map(|(index, value)| Found {
            number: index + 1,
            value,
        })
        .collect()
}

/// The objects of a JSON file; `None` when it is none, as a YAML file with braces.
fn json(text: &str) -> Option<Vec<Result<Value, YamlError>>> {
    if !text.trim_start().starts_with('{') {
        return None;
    }
    let objects = serde_json::Deserializer::from_str(text).into_iter();
    let objects: Result<Vec<Value>, _> = objects.collect();
    Some(objects.ok()?.into_iter().map(Ok).collect())
}

fn yaml_documents(text: &str) -> Vec<Result<Value, YamlError>> {
    let parts = split(text).into_iter();
    parts
        .filter(|part| part.beside.is_some() || !part.lines.iter().all(|line| is_blank(line)))
        .map(|part| part.value())
        .collect()
}

/// The lines of a document.
struct Part<'t> {
    /// Number of the first line, from 1.
    first: usize,
    lines: Vec<&'t str>,
    /// What follows `---` on its line and is no comment.
    beside: Option<&'t str>,
}

/// The documents of a YAML text. A line that begins with `---` always begins a document, also inside a block of text.
fn split(text: &str) -> Vec<Part<'_>> {
    let part = |first, beside| Part {
        first,
        lines: Vec::new(),
        beside,
    };
    let mut parts = vec![part(1, None)];
    for (index, line) in text.lines().enumerate() {
        if let Some(rest) = line.strip_prefix("---") {
            let rest = rest.trim();
            let beside = Some(rest).filter(|rest| !rest.is_empty() && !rest.starts_with('#'));
            // The line is counted, and is empty.
            let mut next = part(index + 1, beside);
            next.lines.push("");
            parts.push(next);
        } else if let Some(last) = parts.last_mut() {
            last.lines.push(line);
        }
    }
    parts
}

impl Part<'_> {
    fn value(&self) -> Result<Value, YamlError> {
        let wrong = |index: usize, message: String| YamlError {
            line: self.first + index,
            column: 1,
            message,
        };
        if let Some(beside) = self.beside {
            let message = format!(
                "`{beside}` stands on the line of `---`, which kubectl refuses; begin a line of its own with it"
            );
            return Err(wrong(0, message));
        }
        let end = self.lines.iter().position(|line| line.trim_end() == "...");
        let (own, after) = self.lines.split_at(end.unwrap_or(self.lines.len()));
        let rest = after.iter().skip(1).position(|line| !is_blank(line));
        if let Some(rest) = rest {
            let message = "kubectl reads nothing between `...` and the next `---`; write `---` where a document begins";
            return Err(wrong(own.len() + 1 + rest, message.to_owned()));
        }
        let mut text = own.join("\n");
        text.push('\n');
        let value = yaml::read(&text);
        value.map_err(|error| YamlError {
            line: self.first + error.line - 1,
            ..error
        })
    }
}

fn is_blank(line: &str) -> bool {
    let line = line.trim();
    line.is_empty() || line.starts_with('#')
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn values(text: &str) -> Vec<Result<Value, String>> {
        let documents = read(text).into_iter();
        documents
            .map(|found| found.value.map_err(|error| error.to_string()))
            .collect()
    }

    #[test]
    fn documents_begin_and_end_as_for_kubectl() {
        let (a, b) = (json!({"a": 1}), json!({"b": 2}));
        for (text, expected) in [
            ("", vec![]),
            ("# nothing\n---\n", vec![]),
            ("a: 1", vec![&a]),
            ("a: 1\n---\nb: 2\n", vec![&a, &b]),
            (
                "---  # first\na: 1\n--- # second\nb: 2\n---\n",
                vec![&a, &b],
            ),
            ("a: 1\r\n---\r\nb: 2\r\n", vec![&a, &b]),
            ("\u{feff}a: 1\n", vec![&a]),
            ("a: 1\n...\n# the end\n---\nb: 2\n...\n", vec![&a, &b]),
            ("{\"a\": 1}\n{\"b\": 2}", vec![&a, &b]),
            ("{\"a\": 1}{\"b\": 2}\n", vec![&a, &b]),
            ("{\"a\": 1}\n---\nb: 2\n", vec![&a, &b]),
            ("a: 1\n---\n{\"b\": 2}\n", vec![&a, &b]),
            ("{a: 1}\n", vec![&a]),
        ] {
            let expected: Vec<_> = expected.into_iter().cloned().map(Ok).collect();
            assert_eq!(values(text), expected, "{text:?}");
        }
    }

    #[test]
    fn what_kubectl_refuses_or_drops_is_told_with_its_line() {
        for (text, expected) in [
            ("a: 1\n--- {b: 2}\n", "line 2, column 1: `{b: 2}` stands on"),
            ("a: 1\n----\nb: 2\n", "line 2, column 1: `-` stands on"),
            (
                "---\na: 1\n...\n\nb: 2\n",
                "line 5, column 1: kubectl reads nothing between",
            ),
            ("a: 1\n---\n\nb: [\n", "line "),
        ] {
            let found = values(text);
            let told = found.last().and_then(|last| last.as_ref().err());
            assert!(
                told.is_some_and(|told| told.starts_with(expected)),
                "{text:?}: {found:?}"
            );
        }
    }
}
