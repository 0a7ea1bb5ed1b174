//! One object of a review, before and after its conversion.
//!
//! Of an object's metadata a conversion looks at the annotations only. The rest, which with its managedFields is most of a
//! usual object, is passed on as the text it came as.
//!
//! Every converted object has a `metadata`, as the API server demands of an answer. A review may hold objects without:
//! server-side apply converts copies from which everything that a field manager owned is taken out, labels and with them
//! the whole `metadata` included.

use std::fmt;

use serde::de::{MapAccess, Visitor};
use serde::ser::SerializeMap;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use armature_shapes::conversion;

use super::Kinds;

/// Members of a metadata that stay text.
type Texts<'a> = Vec<(String, &'a RawValue)>;

/// An object in two parts.
pub(super) struct Document<'a> {
    /// The object; its metadata holds the annotations.
    object: Value,
    /// What else its metadata has.
    metadata: Texts<'a>,
}

impl Document<'_> {
    pub(super) fn convert(mut self, kinds: &Kinds, api_version: &str) -> Result<Self, String> {
        let (group, version) = api_version
            .split_once('/')
            .ok_or_else(|| format!("`{api_version}` is no group/version"))?;
        let kind = self.kind();
        let info = kinds
            .get(&(group, kind))
            .ok_or_else(|| format!("this operator knows no kind {kind} in {group}"))?;
        let converted = conversion::convert(info, self.object, version);
        self.object = converted.map_err(|error| error.to_string())?;
        Ok(self)
    }

    fn kind(&self) -> &str {
        let kind = self.object.get("kind").and_then(Value::as_str);
        kind.unwrap_or_default()
    }

    /// Kind, namespace and name, for messages.
    pub(super) fn name(&self) -> String {
        let text = |wanted: &str| {
            let found = self.metadata.iter().find(|(name, _)| name == wanted);
            let text = found.and_then(|(_, text)| serde_json::from_str(text.get()).ok());
            text.unwrap_or_else(String::new)
        };
        format!("{} {}/{}", self.kind(), text("namespace"), text("name"))
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Document<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Members;

        impl<'de> Visitor<'de> for Members {
            type Value = Document<'de>;

            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut object = Map::new();
                let mut metadata = Texts::new();
                while let Some(name) = map.next_key::<String>()? {
                    let value = if name == "metadata" {
                        let parts: Option<Metadata<'de>> = map.next_value()?;
                        let parts = parts.unwrap_or_default();
                        metadata = parts.texts;
                        Value::Object(parts.parsed)
                    } else {
                        map.next_value()?
                    };
                    object.insert(name, value);
                }
                let empty = || Value::Object(Map::new());
                object.entry("metadata").or_insert_with(empty);
                let object = Value::Object(object);
                Ok(Document { object, metadata })
            }
        }

        deserializer.deserialize_map(Members)
    }
}

/// Metadata in two parts.
#[derive(Default)]
struct Metadata<'a> {
    /// Its annotations, if it has any.
    parsed: Map<String, Value>,
    texts: Texts<'a>,
}

impl<'de: 'a, 'a> Deserialize<'de> for Metadata<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Members;

        impl<'de> Visitor<'de> for Members {
            type Value = Metadata<'de>;

            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str("metadata, which is an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut parsed = Map::new();
                let mut texts = Texts::new();
                while let Some(name) = map.next_key::<String>()? {
                    if name == "annotations" {
                        parsed.insert(name, texts_of(map.next_value()?));
                    } else if name == "labels" {
                        labels(map.next_value()?, &mut parsed, &mut texts)
                            .map_err(serde::de::Error::custom)?;
                    } else {
                        texts.push((name, map.next_value()?));
                    }
                }
                Ok(Metadata { parsed, texts })
            }
        }

        deserializer.deserialize_map(Members)
    }
}

/// Labels or annotations in which nothing is null. A null is an empty text, as the API server reads it from a client.
fn texts_of(mut map: Value) -> Value {
    for value in map.as_object_mut().into_iter().flat_map(Map::values_mut) {
        if value.is_null() {
            *value = Value::from("");
        }
    }
    map
}

/// Labels stay the text that they are, unless one is null.
fn labels<'a>(
    text: &'a RawValue,
    parsed: &mut Map<String, Value>,
    texts: &mut Texts<'a>,
) -> Result<(), serde_json::Error> {
    let name = "labels".to_owned();
    if text.get().contains("null") {
        parsed.insert(name, texts_of(serde_json::from_str(text.get())?));
    } else {
        texts.push((name, text));
    }
    Ok(())
}

impl Serialize for Document<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let members = self.object.as_object();
        let mut map = serializer.serialize_map(members.map(Map::len))?;
        for (name, value) in members.into_iter().flatten() {
            match value.as_object().filter(|_| name == "metadata") {
                Some(parsed) => {
                    let texts = &self.metadata;
                    map.serialize_entry(name, &Joined { parsed, texts })?;
                }
                None => map.serialize_entry(name, value)?,
            }
        }
        map.end()
    }
}

/// Metadata of two parts as one.
struct Joined<'a> {
    parsed: &'a Map<String, Value>,
    texts: &'a Texts<'a>,
}

impl Serialize for Joined<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.parsed.len() + self.texts.len()))?;
        for (name, text) in self.texts {
            map.serialize_entry(name, text)?;
        }
        for (name, value) in self.parsed {
            map.serialize_entry(name, value)?;
        }
        map.end()
    }
}
