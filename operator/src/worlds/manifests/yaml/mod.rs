//! A YAML document as kubectl reads it: values, merge keys and keys that are no texts.
//!
//! What does not live here: where documents begin and end ([`super::documents`]), and which of kubectl's values an API server
//! refuses ([`super::admission`]).

mod keys;
pub mod scalar;

use std::collections::HashMap;
use std::fmt;

use base64::Engine as _;
use granit_parser::{Event, Parser, ScalarStyle, Span, StructureStyle, Tag};
use serde_json::{Map, Value};

use self::scalar::ScalarError;

/// Deepest nesting that is read.
const DEEPEST: usize = 100;
/// Most values of a document, what aliases repeat included. Kubernetes takes objects of 3 MiB at most.
const MOST_VALUES: usize = 1_000_000;

/// What is wrong with a document, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct YamlError {
    /// Line of the document, from 1.
    pub line: usize,
    /// Column, from 1.
    pub column: usize,
    /// What is wrong.
    pub message: String,
}

impl std::error::Error for YamlError {}

impl fmt::Display for YamlError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            line,
            column,
            message,
        } = self;
        write!(formatter, "line {line}, column {column}: {message}")
    }
}

/// Reads the document of a text; nothing at all is null.
///
/// # Errors
/// When it is no YAML, or has a value that JSON has not.
pub fn read(text: &str) -> Result<Value, YamlError> {
    let mut reader = Reader {
        parser: Parser::new_from_str(text),
        anchors: HashMap::new(),
        values: 0,
        brackets: 0,
    };
    loop {
        match reader.next()? {
            (Event::StreamStart | Event::DocumentStart(..), _) => {}
            (Event::StreamEnd | Event::DocumentEnd, _) => return Ok(Value::Null),
            (event, span) => {
                let value = reader.value(event, &span, 0)?;
                return reader.end().map(|()| value);
            }
        }
    }
}

struct Reader<'t> {
    parser: Parser<'t, granit_parser::StrInput<'t>>,
    anchors: HashMap<usize, Anchored>,
    values: usize,
    /// Lists and mappings in brackets around the value that is read.
    brackets: usize,
}

/// What an anchor names.
#[derive(Clone)]
struct Anchored {
    value: Value,
    /// Number of values in it.
    size: usize,
    /// Its text as a key.
    key: Option<String>,
}

impl<'t> Reader<'t> {
    /// The next event that says something.
    fn next(&mut self) -> Result<(Event<'t>, Span), YamlError> {
        loop {
            match self.parser.next_event() {
                Some(Ok((event, _))) if is_remark(&event) => {}
                Some(Ok(found)) => return Ok(found),
                Some(Err(error)) => {
                    let marker = error.marker();
                    return Err(YamlError {
                        line: marker.line(),
                        column: marker.col() + 1,
                        message: error.info(),
                    });
                }
                None => return Ok((Event::StreamEnd, Span::default())),
            }
        }
    }

    /// Refuses what follows the document: kubectl would lose it without a word.
    fn end(&mut self) -> Result<(), YamlError> {
        loop {
            match self.next()? {
                (Event::DocumentEnd, _) => {}
                (Event::StreamEnd, _) => return Ok(()),
                (_, span) => {
                    let message = "kubectl reads nothing behind the first document here; begin the next with a line `---`";
                    return Err(wrong(&span, message));
                }
            }
        }
    }

    fn value(&mut self, event: Event<'t>, span: &Span, depth: usize) -> Result<Value, YamlError> {
        if depth > DEEPEST {
            return Err(wrong(
                span,
                format!("it is nested deeper than {DEEPEST} levels"),
            ));
        }
        let before = self.values;
        self.count(span, 1)?;
        let key = key_of(&event);
        let (anchor, value) = match event {
            Event::Scalar(text, style, anchor, tag) => {
                self.check_in_brackets(&text, style, span)?;
                let value = scalar_value(&text, style, tag.as_deref());
                (
                    anchor,
                    value.map_err(|error| wrong(span, error.to_string()))?,
                )
            }
            Event::SequenceStart(style, anchor, _) => {
                let in_brackets = usize::from(style == StructureStyle::Flow);
                self.brackets += in_brackets;
                let items = self.sequence(depth)?;
                self.brackets -= in_brackets;
                (anchor, items)
            }
            Event::MappingStart(style, anchor, _) => {
                let in_brackets = usize::from(style == StructureStyle::Flow);
                self.brackets += in_brackets;
                let members = self.mapping(depth)?;
                self.brackets -= in_brackets;
                (anchor, members)
            }
            Event::Alias(id) => {
                let found = self.anchored(id, span)?;
                self.count(span, found.size)?;
                return Ok(found.value);
            }
            _ => return Err(wrong(span, "a value is missing")),
        };
        if anchor > 0 {
            let anchored = Anchored {
                value: value.clone(),
                size: self.values - before,
                key,
            };
            self.anchors.insert(anchor, anchored);
        }
        Ok(value)
    }

    /// What an alias stands for. An anchor is known only when its value is complete.
    fn anchored(&self, id: usize, span: &Span) -> Result<Anchored, YamlError> {
        let found = self.anchors.get(&id).cloned();
        found.ok_or_else(|| wrong(span, "an alias stands inside of what it names"))
    }

    /// kubectl's reader ends a plain scalar in brackets at a question mark, and knows no way on.
    fn check_in_brackets(
        &self,
        text: &str,
        style: ScalarStyle,
        span: &Span,
    ) -> Result<(), YamlError> {
        if self.brackets > 0 && style == ScalarStyle::Plain && text.contains('?') {
            let message = format!("kubectl does not read `{text}` in brackets; put it in quotes");
            return Err(wrong(span, message));
        }
        Ok(())
    }

    fn count(&mut self, span: &Span, more: usize) -> Result<(), YamlError> {
        self.values += more;
        if self.values > MOST_VALUES {
            let message =
                format!("it has more than {MOST_VALUES} values, with what aliases repeat");
            return Err(wrong(span, message));
        }
        Ok(())
    }

    fn sequence(&mut self, depth: usize) -> Result<Value, YamlError> {
        let mut items = Vec::new();
        loop {
            match self.next()? {
                (Event::SequenceEnd, _) => return Ok(Value::Array(items)),
                (event, span) => items.push(self.value(event, &span, depth + 1)?),
            }
        }
    }

    fn mapping(&mut self, depth: usize) -> Result<Value, YamlError> {
        let mut members = Map::new();
        // Members that a merge brought, which a member of the mapping itself may replace.
        let mut merged = Map::new();
        loop {
            let (event, span) = self.next()?;
            if event == Event::MappingEnd {
                break;
            }
            let is_merge = is_merge(&event);
            let key = match is_merge {
                true => None,
                false => Some(self.key(event, &span, depth)?),
            };
            let (event, value_span) = self.next()?;
            let value = self.value(event, &value_span, depth + 1)?;
            match key {
                None => merge(&mut members, &mut merged, value)
                    .ok_or_else(|| wrong(&value_span, "`<<` takes mappings only"))?,
                Some(key) => {
                    merged.shift_remove(&key);
                    if members.contains_key(&key) {
                        let message = format!(
                            "`{key}` stands twice in one mapping, and kubectl takes the last one without a word; take one \
                             of them out"
                        );
                        return Err(wrong(&span, message));
                    }
                    members.insert(key, value);
                }
            }
        }
        for (key, value) in merged {
            members.insert(key, value);
        }
        Ok(Value::Object(members))
    }

    fn key(&mut self, event: Event<'t>, span: &Span, depth: usize) -> Result<String, YamlError> {
        let own = match event {
            Event::Alias(id) => self.anchored(id, span)?.key,
            _ => key_of(&event),
        };
        let own = match self.value(event, span, depth + 1)? {
            Value::String(text) => Some(text),
            Value::Bool(_) | Value::Number(_) => own,
            _ => None,
        };
        own.ok_or_else(|| wrong(span, "this key is no text; write it in quotes"))
    }
}

/// The text of a scalar that stands as a key and is none itself.
fn key_of(event: &Event<'_>) -> Option<String> {
    match event {
        Event::Scalar(text, ScalarStyle::Plain, _, None) => {
            keys::text_of(&scalar::resolve(text), text)
        }
        Event::Scalar(text, ..) => Some(text.to_string()),
        _ => None,
    }
}

fn wrong(span: &Span, message: impl Into<String>) -> YamlError {
    YamlError {
        line: span.start.line(),
        column: span.start.col() + 1,
        message: message.into(),
    }
}

/// Whether an event says nothing of values: a comment, or the name of an anchor.
fn is_remark(event: &Event<'_>) -> bool {
    !event.is_node()
        && !matches!(
            event,
            Event::StreamStart
                | Event::StreamEnd
                | Event::DocumentStart(..)
                | Event::DocumentEnd
                | Event::SequenceEnd
                | Event::MappingEnd
        )
}

fn is_merge(event: &Event<'_>) -> bool {
    let Event::Scalar(text, style, _, tag) = event else {
        return false;
    };
    let own = tag.as_deref().map(yaml_tag);
    let is_tagged = own.is_some_and(|own| own.as_deref() == Some("merge"));
    let is_plain = tag.is_none() && *style == ScalarStyle::Plain;
    text == "<<" && (is_plain || is_tagged)
}

/// Takes over what `<<` names; of a list the first mapping counts most. `None` when it names anything else.
///
/// As go-yaml does it, a merge replaces the members that stand before it.
fn merge(
    members: &mut Map<String, Value>,
    merged: &mut Map<String, Value>,
    value: Value,
) -> Option<()> {
    let mappings = match value {
        Value::Array(mappings) => mappings,
        mapping => vec![mapping],
    };
    for mapping in mappings.into_iter().rev() {
        let Value::Object(found) = mapping else {
            return None;
        };
        for (key, value) in found {
            members.shift_remove(&key);
            merged.insert(key, value);
        }
    }
    Some(())
}

fn scalar_value(text: &str, style: ScalarStyle, tag: Option<&Tag>) -> Result<Value, ScalarError> {
    let own = tag.and_then(yaml_tag);
    match (own.as_deref(), tag, style) {
        (Some("binary"), ..) => {
            let engine = base64::engine::general_purpose::STANDARD;
            let letters: String = text.split_whitespace().collect();
            let bytes = engine.decode(letters).map_err(|_| ScalarError::NotOfTag {
                text: text.to_owned(),
                tag: "!!binary".to_owned(),
            })?;
            Ok(Value::from(String::from_utf8_lossy(&bytes).into_owned()))
        }
        (Some(own), ..) => scalar::tagged(own, text),
        // Tags that mean nothing to YAML itself are passed over, and the scalar is text.
        (None, Some(_), _) => Ok(Value::from(text)),
        (None, None, ScalarStyle::Plain) => scalar::plain(text),
        (None, None, _) => Ok(Value::from(text)),
    }
}

/// Name of a tag of YAML's own: `int` of `!!int`.
fn yaml_tag(tag: &Tag) -> Option<String> {
    let whole = format!("{}{}", tag.handle(), tag.suffix());
    let own = whole
        .strip_prefix("tag:yaml.org,2002:")
        .or_else(|| whole.strip_prefix("!!"));
    own.map(str::to_owned)
}

#[cfg(test)]
mod tests;
