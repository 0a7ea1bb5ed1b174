//! Where the documents of a file begin and end, as kubectl finds them.
//!
//! A file that begins with a JSON object has one object after another; anything else is YAML, in documents between lines of
//! `---`. What kubectl would drop without a word, as what stands behind `...`, is a mistake here.

use serde_json::Value;

use super::yaml::{self, YamlError};

/// A document of a file by its number.
#[derive(Debug, PartialEq)]
pub struct Numbered {
    /// Number among the documents that are not empty, from 1.
    pub number: usize,
    /// Its content, or what is wrong with it, with the line of the file.
    pub value: Result<Value, YamlError>,
}

/// The documents of a text. One that is broken does not hide the others; empty ones do not count.
pub fn read(text: &str) -> Vec<Numbered> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let documents = json(text).unwrap_or_else(|| yaml_documents(text, 1));
    let numbered = documents.into_iter().enumerate();
    numbered
        .map(|(index, value)| Numbered {
            number: index + 1,
            value,
        })
        .collect()
}

/// The objects of a JSON file up to the first that is broken, and YAML documents behind them; `None` when it begins with no JSON
/// object.
fn json(text: &str) -> Option<Vec<Result<Value, YamlError>>> {
    if !text.trim_start().starts_with('{') {
        return None;
    }
    let mut found = Vec::new();
    let mut objects = serde_json::Deserializer::from_str(text).into_iter();
    let mut end = 0;
    while let Some(object) = objects.next() {
        let (read, rest) = text.split_at(end);
        match object {
            Ok(object) => found.push(Ok(object)),
            Err(_) if found.is_empty() => return None,
            Err(_) if rest.trim_start().starts_with("---") => {
                let line = 1 + read.matches('\n').count();
                found.extend(yaml_documents(rest, line));
                break;
            }
            Err(error) => {
                found.push(Err(YamlError {
                    line: error.line(),
                    column: error.column(),
                    message: format!("a JSON object is broken: {}", without_place(&error)),
                }));
                break;
            }
        }
        end = objects.byte_offset();
    }
    Some(found)
}

/// What is wrong, without the line and column that stand before it already.
fn without_place(error: &serde_json::Error) -> String {
    let text = error.to_string();
    let place = text.rfind(" at line ");
    text[..place.unwrap_or(text.len())].to_owned()
}

/// The documents of a YAML text that begins in this line of the file.
fn yaml_documents(text: &str, line: usize) -> Vec<Result<Value, YamlError>> {
    let parts = split(text, line).into_iter();
    parts
        .filter(|part| part.beside.is_some() || !part.lines.iter().all(|line| is_blank(line)))
        .map(|part| part.value())
        .collect()
}

/// The lines of a document.
struct YamlText<'t> {
    /// Number of the first line, from 1.
    first: usize,
    lines: Vec<&'t str>,
    /// What follows `---` on its line and is no comment.
    beside: Option<&'t str>,
}

/// The documents of a YAML text. A line that begins with `---` always begins a document, also inside a block of text.
fn split(text: &str, line: usize) -> Vec<YamlText<'_>> {
    let part = |first, beside| YamlText {
        first,
        lines: Vec::new(),
        beside,
    };
    let mut parts = vec![part(line, None)];
    for (index, text) in text.lines().enumerate() {
        if let Some(rest) = text.strip_prefix("---") {
            let rest = rest.trim();
            let beside = Some(rest).filter(|rest| !rest.is_empty() && !rest.starts_with('#'));
            // The line is counted, and is empty.
            let mut next = part(line + index, beside);
            next.lines.push("");
            parts.push(next);
        } else if let Some(last) = parts.last_mut() {
            last.lines.push(text);
        }
    }
    parts
}

impl YamlText<'_> {
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
            ("a: 1\n---\n{\"b\": 2}\n", vec![&a, &b]),
            ("{a: 1}\n", vec![&a]),
            ("{\"a\": 1}\n---\nb: 2\n", vec![&a, &b]),
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
            (
                "{\"a\": 1}\n{\"b\": ",
                "line 2, column 6: a JSON object is broken: EOF",
            ),
            (
                "{\"a\": 1}\nb: 2\n",
                "line 2, column 1: a JSON object is broken",
            ),
            ("{\"a\": 1}\n---\n\nb: [\n", "line "),
            ("# c\n{\"a\": 1}\n{\"b\": 2}\n", "line 3, column 1: "),
            ("a: 1\r---\rb: 2\r", "line "),
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
