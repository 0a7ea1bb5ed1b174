//! One object of a review, before and after its conversion.
//!
//! Of an object's metadata a conversion looks at the annotations only. The rest, which with its managedFields is most of a
//! usual object, is passed on as the text it came as.
//!
//! Every converted object has a `metadata`, as the API server demands of an answer. A review may hold objects without:
//! server-side apply converts copies from which everything that a field manager owned is taken out, labels and with them
//! the whole `metadata` included.
//!
//! Whoever may write an object as it is stored may nest it deeper than serde_json reads (128 levels; the API server takes
//! 10,000). Such an object must not keep the others of its list from being read. So what is too deep stays text, too, and is left
//! out where users read the object ([`conversion::note_depth`] keeps it from being lost by their writes).

use std::collections::BTreeMap;
use std::fmt;

use serde::de::{MapAccess, Visitor};
use serde::ser::SerializeMap;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use armature_shapes::conversion::{self, StoredPlace};
use armature_shapes::kind::KindInfo;

use super::{Kinds, bag};

/// The member in which an object says who it is.
const METADATA: &str = "metadata";

/// Members that stay text.
type Texts<'a> = Vec<(String, &'a RawValue)>;

/// An object, in part read and in part text.
pub(super) struct Document<'a> {
    /// The object; its metadata holds the annotations.
    object: Value,
    /// Members that stay text, by the member of the object that they are in; with no name those of the object itself.
    texts: BTreeMap<String, Texts<'a>>,
    /// Bytes of texts that are nested too deeply to be read.
    deep: usize,
}

impl<'a> Document<'a> {
    /// Reads an object of a review.
    pub(super) fn read(text: &'a [u8]) -> Result<Self, serde_json::Error> {
        serde_json::from_slice(text).or_else(|_| Self::in_parts(text))
    }

    /// Reads members by themselves, and of those that are nested too deeply again the members.
    fn in_parts(text: &'a [u8]) -> Result<Self, serde_json::Error> {
        let parts: Members<'a> = serde_json::from_slice(text)?;
        let mut document = Self::default();
        for (name, text) in parts.0 {
            if name == METADATA {
                document.put_metadata(serde_json::from_str(text.get())?);
                continue;
            }
            let mut too_deep = Texts::new();
            let mut read = |name: String, text: &'a RawValue| match serde_json::from_str(text.get())
            {
                Ok(value) => Some((name, value)),
                Err(_) => {
                    document.deep += text.get().len();
                    too_deep.push((name, text));
                    None
                }
            };
            if let Ok(value) = serde_json::from_str(text.get()) {
                document.put(name, value);
            } else if let Ok(members) = serde_json::from_str::<Members<'a>>(text.get()) {
                let members = members.0.into_iter();
                let members: Map<_, _> = members
                    .filter_map(|(name, text)| read(name, text))
                    .collect();
                document.put(name.clone(), Value::Object(members));
                document.texts.insert(name, too_deep);
            } else {
                read(name, text);
                document
                    .texts
                    .entry(String::new())
                    .or_default()
                    .extend(too_deep);
            }
        }
        Ok(document)
    }

    fn put(&mut self, name: String, value: Value) {
        if let Value::Object(members) = &mut self.object {
            members.insert(name, value);
        }
    }

    fn put_metadata(&mut self, parts: Option<Metadata<'a>>) {
        let parts = parts.unwrap_or_default();
        self.put(METADATA.to_owned(), Value::Object(parts.parsed));
        self.texts.insert(METADATA.to_owned(), parts.texts);
    }

    pub(super) fn convert(mut self, kinds: &Kinds, api_version: &str) -> Result<Self, String> {
        let (group, version) = api_version
            .split_once('/')
            .ok_or_else(|| format!("`{api_version}` is no group/version"))?;
        let kind = self.kind();
        let info = kinds
            .get(&(group, kind))
            .copied()
            .ok_or_else(|| format!("this operator knows no kind {kind} in {group}"))?;
        let is_stored = |api_version: &str| {
            let version = api_version.rsplit_once('/');
            version.is_some_and(|(_, version)| conversion::is_stored(info, version))
        };
        let found = self.object.get("apiVersion").and_then(Value::as_str);
        let is_from_stored = found.is_some_and(is_stored);
        if self.deep > 0 && !is_from_stored {
            return Err("it is nested too deeply to be converted".to_owned());
        }
        let from = found.and_then(|it| Some(it.rsplit_once('/')?.1.to_owned()));
        if is_from_stored && !is_stored(api_version) {
            self.deep += bag::take_deep(&mut self.object);
        }
        let converted = conversion::convert(info, self.object, version);
        self.object = converted.map_err(|error| error.to_string())?;
        // Nothing is lost where it goes from one stored form into another.
        if self.deep > 0 && is_stored(api_version) {
            self.move_texts(info, (&from.unwrap_or_default(), version));
        } else if self.deep > 0 {
            conversion::note_depth(&mut self.object, self.deep);
            self.texts.retain(|name, _| name == METADATA);
        }
        Ok(self)
    }

    /// Puts what is too deep where the other stored form has it, unless something stands there.
    fn move_texts(&mut self, kind: &KindInfo, versions: (&str, &str)) {
        let parts = self.texts.iter_mut();
        for (part, texts) in parts.filter(|(part, _)| matches!(part.as_str(), "spec" | "status")) {
            let Some(Value::Object(members)) = self.object.get_mut(part) else {
                continue;
            };
            texts.retain_mut(|(name, text)| {
                match conversion::stored_place(kind, versions, (part, name)) {
                    StoredPlace::Member(place) if !members.contains_key(&place) => {
                        *name = place;
                        true
                    }
                    StoredPlace::Member(_) => true,
                    StoredPlace::Bag(key) => !put_in_bag(members, key, text),
                }
            });
        }
    }

    fn kind(&self) -> &str {
        let kind = self.object.get("kind").and_then(Value::as_str);
        kind.unwrap_or_default()
    }

    /// Kind, namespace and name, for messages.
    pub(super) fn name(&self) -> String {
        let text = |wanted: &str| {
            let mut texts = self.texts.get(METADATA).into_iter().flatten();
            let found = texts.find(|(name, _)| name == wanted);
            let text = found.and_then(|(_, text)| serde_json::from_str(text.get()).ok());
            text.unwrap_or_else(String::new)
        };
        format!("{} {}/{}", self.kind(), text("namespace"), text("name"))
    }
}

/// Puts a text into the property bag, and says whether there was room for it under this name.
fn put_in_bag(members: &mut Map<String, Value>, key: String, text: &RawValue) -> bool {
    let bag = members.entry(conversion::PROPERTY_BAG);
    let bag = bag.or_insert_with(|| Value::Object(Map::new()));
    let Some(bag) = bag.as_object_mut().filter(|bag| !bag.contains_key(&key)) else {
        return false;
    };
    bag.insert(key, Value::from(text.get()));
    true
}

impl Default for Document<'_> {
    /// With the metadata that every answer has.
    fn default() -> Self {
        Self {
            object: serde_json::json!({METADATA: {}}),
            texts: BTreeMap::new(),
            deep: 0,
        }
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Document<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Object;

        impl<'de> Visitor<'de> for Object {
            type Value = Document<'de>;

            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut document = Document::default();
                while let Some(name) = map.next_key::<String>()? {
                    if name == METADATA {
                        document.put_metadata(map.next_value()?);
                    } else {
                        document.put(name, map.next_value()?);
                    }
                }
                Ok(document)
            }
        }

        deserializer.deserialize_map(Object)
    }
}

/// Members of an object as texts.
struct Members<'a>(Texts<'a>);

impl<'de: 'a, 'a> Deserialize<'de> for Members<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct All;

        impl<'de> Visitor<'de> for All {
            type Value = Members<'de>;

            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut members = Texts::new();
                while let Some(member) = map.next_entry()? {
                    members.push(member);
                }
                Ok(Members(members))
            }
        }

        deserializer.deserialize_map(All)
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
        let mut map = serializer.serialize_map(None)?;
        for (name, value) in members.into_iter().flatten() {
            match value.as_object().zip(self.texts.get(name)) {
                Some((parsed, texts)) => map.serialize_entry(name, &Joined { parsed, texts })?,
                None => map.serialize_entry(name, value)?,
            }
        }
        for (name, text) in self.texts.get("").into_iter().flatten() {
            map.serialize_entry(name, text)?;
        }
        map.end()
    }
}

/// Members that were read and members that are text, as one object.
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
