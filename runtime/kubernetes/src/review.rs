//! The ConversionReview of `apiextensions.k8s.io/v1`: what the API server asks, and the answer.
//!
//! Of an object's metadata a conversion looks at the annotations only. The rest, which with its managedFields is most of a
//! usual object, is passed on as the text it came as.
//!
//! A list is one review. Its objects are converted one after the other and the answer is given in pieces, so that beside
//! the review itself hardly anything is in memory, however long it is.

use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;

use bytes::Bytes;
use serde::de::{MapAccess, Visitor};
use serde::ser::SerializeMap;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use armature_shapes::conversion;
use armature_shapes::kind::KindInfo;

/// Kinds by group and kind.
pub(super) type Kinds = HashMap<(&'static str, &'static str), &'static KindInfo>;

/// A piece of an answer ends with the object that brings it to this size.
const PIECE: usize = 256 << 10;

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
    objects: Vec<&'a RawValue>,
}

/// What came of it: the end of the answer.
#[derive(Serialize)]
struct Status<'a> {
    status: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    message: Option<&'a str>,
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

/// A review on the way to its answer.
pub(super) struct Answer {
    uid: String,
    version: String,
    /// Texts of the objects, parts of the one review.
    objects: Vec<Bytes>,
    kinds: Arc<Kinds>,
    /// Objects that are converted.
    done: usize,
    has_begun: bool,
    has_ended: bool,
}

impl Answer {
    /// Reads a review.
    pub fn to(body: &Bytes, kinds: Arc<Kinds>) -> Result<Self, NoReview> {
        let Review { request } = serde_json::from_slice(body)?;
        let objects = request.objects.into_iter();
        Ok(Self {
            uid: request.uid,
            version: request.desired_api_version,
            objects: objects
                .map(|object| body.slice_ref(object.get().as_bytes()))
                .collect(),
            kinds,
            done: 0,
            has_begun: false,
            has_ended: false,
        })
    }

    /// The next piece; `None` after the last. One object that fails fails the review, as the API server expects it, and is
    /// named at the end of the answer.
    pub fn piece(&mut self) -> Result<Option<Vec<u8>>, NoReview> {
        if self.has_ended {
            return Ok(None);
        }
        let mut text = Vec::new();
        if !self.has_begun {
            self.has_begun = true;
            let kind = r#"{"apiVersion":"apiextensions.k8s.io/v1","kind":"ConversionReview""#;
            text.extend_from_slice(kind.as_bytes());
            text.extend_from_slice(br#","response":{"uid":"#);
            serde_json::to_writer(&mut text, &self.uid)?;
            text.extend_from_slice(br#","convertedObjects":["#);
        }
        while text.len() < PIECE {
            let Some(object) = self.objects.get(self.done) else {
                self.end(&mut text, None)?;
                break;
            };
            let document: Document<'_> = serde_json::from_slice(object)?;
            let name = document.name();
            match document.convert(&self.kinds, &self.version) {
                Ok(converted) => {
                    if self.done > 0 {
                        text.push(b',');
                    }
                    serde_json::to_writer(&mut text, &converted)?;
                    self.done += 1;
                }
                Err(error) => {
                    let error = format!("{name}: {error}");
                    tracing::warn!(to = self.version, error, "a conversion failed");
                    self.end(&mut text, Some(&error))?;
                    break;
                }
            }
        }
        Ok(Some(text))
    }

    /// Whether the last piece was given.
    pub fn has_ended(&self) -> bool {
        self.has_ended
    }

    /// The last piece, when something of the review turns out to be none only after pieces were given.
    pub fn broken(&mut self, problem: &NoReview) -> Vec<u8> {
        let mut text = Vec::new();
        // Text always becomes JSON. If not, the answer ends too early, which the client sees.
        self.end(&mut text, Some(&problem.to_string())).ok();
        text
    }

    fn end(&mut self, text: &mut Vec<u8>, message: Option<&str>) -> Result<(), NoReview> {
        self.has_ended = true;
        // What is left of the review is not needed any more.
        self.objects = Vec::new();
        let status = match message {
            None => "Success",
            Some(_) => "Failure",
        };
        text.extend_from_slice(br#"],"result":"#);
        serde_json::to_writer(&mut *text, &Status { status, message })?;
        text.extend_from_slice(b"}}");
        Ok(())
    }
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
    use armature_shapes::testing::gadget::MODEL;
    use serde_json::json;

    use super::*;

    fn answered(object: &str, version: &str) -> String {
        let body = format!(
            r#"{{"kind":"ConversionReview","request":{{"uid":"u","desiredAPIVersion":"{}/{version}","objects":[{object}]}}}}"#,
            MODEL.group
        );
        whole(&body).expect("an answer")
    }

    /// All pieces of an answer.
    fn whole(body: &str) -> Result<String, NoReview> {
        Ok(pieces(body)?.concat())
    }

    fn pieces(body: &str) -> Result<Vec<String>, NoReview> {
        let kinds = Kinds::from([((MODEL.group, MODEL.kind), &MODEL)]);
        let mut answer = Answer::to(&Bytes::from(body.to_owned()), Arc::new(kinds))?;
        let mut pieces = Vec::new();
        while let Some(piece) = answer.piece()? {
            pieces.push(String::from_utf8(piece).expect("text"));
        }
        Ok(pieces)
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

    fn list(objects: &[String], version: &str) -> String {
        format!(
            r#"{{"request":{{"uid":"u","desiredAPIVersion":"{}/{version}","objects":[{}]}}}}"#,
            MODEL.group,
            objects.join(",")
        )
    }

    #[test]
    fn a_long_list_is_answered_in_pieces_that_are_one_answer() {
        let note = "x".repeat(1000);
        let objects: Vec<String> = (0..1000)
            .map(|number| {
                object(&format!(
                    r#""metadata":{{"name":"a{number}","note":"{note}"}},"#
                ))
            })
            .collect();
        let pieces = pieces(&list(&objects, "v20210101")).expect("an answer");
        assert!(pieces.len() > 3, "{}", pieces.len());
        let longest = pieces.iter().map(String::len).max();
        assert!(longest < Some(PIECE + 4000), "{longest:?}");
        let answer: Value = serde_json::from_str(&pieces.concat()).expect("JSON");
        let converted = answer["response"]["convertedObjects"]
            .as_array()
            .expect("a list");
        assert_eq!(converted.len(), 1000);
        assert_eq!(converted[999]["metadata"]["name"], "a999");
        assert_eq!(answer["response"]["result"], json!({"status": "Success"}));
    }

    #[test]
    fn an_object_that_fails_late_fails_the_whole_list() {
        let note = "x".repeat(PIECE);
        let mut objects = vec![object(&format!(
            r#""metadata":{{"name":"a","note":"{note}"}},"#
        ))];
        objects.push(r#"{"kind":"Unknown","metadata":{"namespace":"n","name":"b"}}"#.to_owned());
        objects.push(object(r#""metadata":{"name":"c"},"#));
        let answer = whole(&list(&objects, "v20210101")).expect("an answer");
        let answer: Value = serde_json::from_str(&answer).expect("JSON");
        let result = &answer["response"]["result"];
        assert_eq!(result["status"], "Failure");
        let message = result["message"].as_str().unwrap_or_default();
        assert!(message.starts_with("Unknown n/b: "), "{message}");
    }

    #[test]
    fn what_is_no_review_is_refused() {
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
            let error = whole(body).expect_err("refused");
            assert!(error.to_string().contains(expected), "{error}");
        }
    }
}
