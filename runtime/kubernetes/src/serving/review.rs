//! The ConversionReview of `apiextensions.k8s.io/v1`: what the API server asks, and the answer.
//!
//! A list is one review. Its objects are converted one after the other and the answer is given in pieces, so that beside
//! the review itself hardly anything is in memory, however long it is.

mod bag;
mod document;
#[cfg(test)]
mod tests;

use std::collections::HashMap;
use std::sync::Arc;

use bytes::Bytes;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use armature_shapes::kind::KindInfo;

use self::document::Document;

/// Kinds by group and kind.
pub(crate) type Kinds = HashMap<(&'static str, &'static str), &'static KindInfo>;

/// A piece of an answer ends with the object that brings it to this size.
const PIECE: usize = 256 << 10;

/// A body that cannot be answered.
#[derive(Debug, thiserror::Error)]
#[error("no ConversionReview of apiextensions.k8s.io/v1: {0}")]
pub(crate) struct NoReview(#[from] serde_json::Error);

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

/// A review on the way to its answer.
pub(crate) struct Answer {
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
            let document = Document::read(object)?;
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
