//! Words for how a text is read.

use std::net::IpAddr;

use armature_shapes::digest::canonical_json;
use serde_json::Value;

use super::super::equal::{Rule, normal, normal_id, words};
use super::xml;

/// What a secret is shown as within a text.
const MASKS: [&str; 4] = ["[key hidden]", "****", "Hidden", "<redacted>"];

/// How a text is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Word {
    /// Without regard to case.
    AnyCase,
    /// Without regard to case and spaces.
    Location,
    /// An ARM id that ends with a UUID: the same below any scope, or none.
    IdInAnyScope,
    /// An ARM id after something else: `UserAssignedIdentity=/subscriptions/…`.
    IdInText,
    /// An IP address is its own /32 or /128.
    Address,
    /// XML, or what is nearly XML.
    Xml,
    /// JSON.
    Json,
    /// Words with commas between, in any order and case.
    Words,
    /// A list of texts that were cut anywhere.
    Joined,
    /// Without line ends, and without white space at the ends of lines.
    Lines,
    /// A version that stands for the finer ones that it begins.
    Version,
    /// Azure shows part of it as stars.
    Masked,
}

impl Word {
    /// The words as rules have them.
    pub const NAMES: [(&'static str, Self); 12] = [
        ("any-case", Self::AnyCase),
        ("location", Self::Location),
        ("id-in-any-scope", Self::IdInAnyScope),
        ("id-in-text", Self::IdInText),
        ("address", Self::Address),
        ("xml", Self::Xml),
        ("json", Self::Json),
        ("words", Self::Words),
        ("joined", Self::Joined),
        ("lines", Self::Lines),
        ("version", Self::Version),
        ("masked", Self::Masked),
    ];

    pub(super) fn parse(name: &str) -> Option<Self> {
        let mut names = Self::NAMES.into_iter();
        names
            .find(|(known, _)| *known == name)
            .map(|(_, word)| word)
    }

    /// Whether two values are the same when read so.
    pub(super) fn same(self, desired: &Value, observed: &Value) -> bool {
        match (self, desired, observed) {
            (Self::Joined, desired, observed) => {
                joined(desired).is_some_and(|text| joined(observed) == Some(text))
            }
            (Self::Version, Value::String(desired), Value::String(observed)) => {
                stands_for(desired, observed)
            }
            (Self::Masked, Value::String(desired), Value::String(observed)) => {
                is_masked_as(desired, observed)
            }
            (word, Value::Array(desired), Value::Array(observed)) => word
                .set(desired)
                .is_some_and(|set| word.set(observed) == Some(set)),
            (word, desired, observed) => word
                .text(desired)
                .is_some_and(|text| word.text(observed) == Some(text)),
        }
    }

    fn set(self, items: &[Value]) -> Option<Vec<String>> {
        let texts: Option<Vec<_>> = items.iter().map(|item| self.text(item)).collect();
        texts.map(|mut texts| {
            texts.sort();
            texts
        })
    }

    /// A text that is the same for all values that are the same; nothing where the value cannot be read so.
    pub(super) fn text(self, value: &Value) -> Option<String> {
        let text = value.as_str()?;
        match self {
            Self::AnyCase => Some(text.to_lowercase()),
            Self::Location => Some(normal(Rule::Location, value)),
            Self::IdInAnyScope => in_any_scope(text),
            Self::IdInText => Some(id_in_text(text)),
            Self::Address => Some(address(text)),
            Self::Xml => Some(xml::normal(text)),
            Self::Json => serde_json::from_str(text)
                .ok()
                .map(|value: Value| canonical_json(&value)),
            Self::Words => Some(words(text)),
            Self::Lines => Some(text.lines().map(str::trim_end).collect()),
            Self::Joined | Self::Version | Self::Masked => None,
        }
    }
}

/// Type and UUID of an id, without the scope that it was looked up in.
fn in_any_scope(id: &str) -> Option<String> {
    let id = normal_id(id);
    let at = id.rfind("/providers/")?;
    let (_, last) = id.rsplit_once('/')?;
    uuid::Uuid::try_parse(last).ok()?;
    id.get(at..).map(str::to_owned)
}

fn id_in_text(text: &str) -> String {
    let at = text.find('/').unwrap_or(text.len());
    let (before, id) = text.split_at(at);
    format!("{before}{}", normal_id(id))
}

/// The address, with the length of its prefix unless that is all of it.
fn address(text: &str) -> String {
    let (address, length) = match text.split_once('/') {
        Some((address, length)) => (address, length.parse::<u8>().ok()),
        None => (text, Some(u8::MAX)),
    };
    match (address.trim().parse::<IpAddr>(), length) {
        (Ok(address), Some(length)) => {
            let whole = if address.is_ipv4() { 32 } else { 128 };
            match length {
                u8::MAX => address.to_string(),
                length if length == whole => address.to_string(),
                length => format!("{address}/{length}"),
            }
        }
        _ => text.to_owned(),
    }
}

fn joined(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Array(items) => items.iter().map(Value::as_str).collect(),
        _ => None,
    }
}

/// `1.33` stands for `1.33.5`, and not for `1.3`.
fn stands_for(desired: &str, observed: &str) -> bool {
    let rest = observed.strip_prefix(desired);
    !desired.is_empty() && rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
}

/// Whether a text is the other one with parts that are not shown.
fn is_masked_as(desired: &str, observed: &str) -> bool {
    let mut rest = observed;
    let mut shown = Vec::new();
    loop {
        let masks = MASKS
            .iter()
            .filter_map(|mask| Some((rest.find(mask)?, mask.len())));
        let Some((at, length)) = masks.min_by_key(|(at, _)| *at) else {
            shown.push(rest);
            break;
        };
        shown.push(&rest[..at]);
        rest = &rest[at + length..];
    }
    let [first, middle @ .., last] = shown.as_slice() else {
        return false;
    };
    let Some(mut text) = desired.strip_prefix(first) else {
        return false;
    };
    for part in middle {
        match text.find(part) {
            Some(at) => text = &text[at + part.len()..],
            None => return false,
        }
    }
    text.ends_with(last)
}
