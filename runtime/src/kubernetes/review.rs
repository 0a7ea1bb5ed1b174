//! The ConversionReview of `apiextensions.k8s.io/v1`: what the API server asks, and the answer.
//!
//! Of an object's metadata a conversion looks at the annotations only. The rest, which with its managedFields is most of a
//! usual object, is passed on as the text it came as.

use std::collections::HashMap;
use std::fmt;

use serde::de::{MapAccess, Visitor};
use serde::ser::SerializeMap;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use crate::engine::conversion;
use crate::kind::KindInfo;

/// Kinds by group and kind.
pub(super) type Kinds = HashMap<(&'static str, &'static str), &'static KindInfo>;

/// A body that cannot be answered.
#[derive(Debug, thiserror::Error)]
#[error("no ConversionReview of apiextensions.k8s.io/v1: {0}")]
pub(super) struct NoReview(#[from] serde_json::Error);

#[derive(Deserialize)]
struct Review<'a> {
    #[serde(borrow)]
    request: Request<'a>,
}

#[derive(Deserialize)]
struct Request<'a> {
    uid: String,
    #[serde(rename = "desiredAPIVersion")]
    desired_api_version: String,
    #[serde(borrow)]
    objects: Vec<Document<'a>>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Answer<'a> {
    api_version: &'static str,
    kind: &'static str,
    response: Outcome<'a>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Outcome<'a> {
    uid: String,
    result: Status,
    converted_objects: Vec<Document<'a>>,
}

#[derive(Serialize)]
struct Status {
    status: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    message: Option<String>,
}

/// Members of a metadata that stay text.
type Texts<'a> = Vec<(String, &'a RawValue)>;

/// An object in two parts.
struct Document<'a> {
    /// The object; its metadata holds the annotations.
    object: Value,
    /// What else its metadata has.
    metadata: Texts<'a>,
}

/// Answers a review. One object that fails fails the review, as the API server expects it.
pub(super) fn answer(body: &[u8], kinds: &Kinds) -> Result<Vec<u8>, NoReview> {
    let Review { request } = serde_json::from_slice(body)?;
    let version = request.desired_api_version;
    let converted = request
        .objects
        .into_iter()
        .map(|document| {
            let name = document.name();
            document
                .convert(kinds, &version)
                .map_err(|error| format!("{name}: {error}"))
        })
        .collect::<Result<Vec<_>, String>>();
    let (status, message, converted_objects) = match converted {
        Ok(objects) => ("Success", None, objects),
        Err(error) => {
            tracing::warn!(to = version, error, "a conversion failed");
            ("Failure", Some(error), Vec::new())
        }
    };
    let answer = Answer {
        api_version: "apiextensions.k8s.io/v1",
        kind: "ConversionReview",
        response: Outcome {
            uid: request.uid,
            result: Status { status, message },
            converted_objects,
        },
    };
    Ok(serde_json::to_vec(&answer)?)
}

impl Document<'_> {
    fn convert(mut self, kinds: &Kinds, api_version: &str) -> Result<Self, String> {
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
    fn name(&self) -> String {
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
                        let parts: Metadata<'de> = map.next_value()?;
                        metadata = parts.texts;
                        Value::Object(parts.parsed)
                    } else {
                        map.next_value()?
                    };
                    object.insert(name, value);
                }
                let object = Value::Object(object);
                Ok(Document { object, metadata })
            }
        }

        deserializer.deserialize_map(Members)
    }
}

/// Metadata in two parts.
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
                        parsed.insert(name, map.next_value()?);
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

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::engine::testing::MODEL;

    fn answered(object: &str, version: &str) -> String {
        let body = format!(
            r#"{{"kind":"ConversionReview","request":{{"uid":"u","desiredAPIVersion":"{}/{version}","objects":[{object}]}}}}"#,
            MODEL.group
        );
        let kinds = Kinds::from([((MODEL.group, MODEL.kind), &MODEL)]);
        let answer = answer(body.as_bytes(), &kinds).expect("an answer");
        String::from_utf8(answer).expect("text")
    }

    fn object(metadata: &str) -> String {
        format!(
            r#"{{"apiVersion":"{}/v1api20200101","kind":"{}",{metadata}"spec":{{}}}}"#,
            MODEL.group, MODEL.kind
        )
    }

    #[test]
    fn metadata_comes_back_as_it_was() {
        let text = r#""name":"a","generation":1.50e1,"labels":{ "b" : "c" },"managedFields":[{"fieldsV1":{"f:spec":{}}}]"#;
        let annotated = format!(r#"{text},"annotations":{{"own":"kept"}}"#);
        for (metadata, expected) in [(text, text), (&annotated, &annotated)] {
            let object = object(&format!(r#""metadata":{{{metadata}}},"#));
            for version in ["v20210101", "v1api20200101"] {
                let answer = answered(&object, version);
                assert!(
                    answer.contains(r#""result":{"status":"Success"}"#),
                    "{answer}"
                );
                assert!(answer.contains(expected), "{answer}");
                let answer: Value = serde_json::from_str(&answer).expect("JSON");
                let converted = &answer["response"]["convertedObjects"][0];
                let expected = format!("{}/{version}", MODEL.group);
                assert_eq!(converted["apiVersion"], json!(expected));
            }
        }
    }

    #[test]
    fn what_fails_is_named() {
        let named = object(r#""metadata":{"namespace":"n","name":"a"},"#);
        let answer = answered(&named, "v9");
        let expected = format!("{} n/a: ", MODEL.kind);
        assert!(answer.contains(&expected), "{answer}");
        assert!(answer.contains(r#""status":"Failure""#), "{answer}");
        assert!(answer.contains(r#""convertedObjects":[]"#), "{answer}");
    }

    #[test]
    fn what_is_no_review_is_refused() {
        let kinds = Kinds::new();
        for (body, expected) in [
            ("{}", "missing field `request`"),
            (
                r#"{"request":{"uid":"u","desiredAPIVersion":"a/b","objects":[1]}}"#,
                "expected an object",
            ),
            (
                r#"{"request":{"uid":"u","desiredAPIVersion":"a/b","objects":[{"metadata":[]}]}}"#,
                "expected metadata, which is an object",
            ),
        ] {
            let error = answer(body.as_bytes(), &kinds).expect_err("refused");
            assert!(error.to_string().contains(expected), "{error}");
        }
    }
}
