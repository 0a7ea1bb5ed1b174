//! Signatures of notes: what tells the operator's own notes from those that somebody else wrote into an object.
//!
//! A signature covers the object's uid and the notes that something in Azure follows from, in an annotation of its own. It is
//! made along with every write of notes. What does not live here: the notes ([`crate::bookkeeping`]), and where the keys are
//! kept (`armature_kubernetes`). What a status says is not signed: it vouches for nothing but that what the signed claim
//! foretold came true ([`crate::claim::came_true`]).

use std::collections::BTreeMap;

use armature_engine::compare::DigestKey;
use armature_shapes::names;
use armature_shapes::resource::Object;
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use hmac::{Hmac, KeyInit, Mac};
use jiff::Timestamp;
use sha2::Sha256;

use crate::claim;

/// The annotation. Releases before signatures leave it alone.
pub const SIGNATURE: &str = "armature.azure.com/notes-signature";

/// Reason of the event that tells of notes that were not believed.
pub const NOT_BELIEVED: &str = "NotesNotBelieved";

/// The notes that are signed: all but who manages the object, which users take out to hand it over.
pub const SIGNED: [&str; 12] = [
    names::RESOURCE_ID,
    names::CHILD_RESOURCE_ID_OVERRIDE,
    names::POLLER_RESUME_ID,
    names::POLLER_RESUME_TOKEN,
    names::LATEST_RECONCILED_GENERATION,
    names::BASELINE,
    names::CLAIMED_SPEC,
    names::ADOPTION,
    names::CLAIMED_WITH,
    names::HELD_SINCE,
    names::UNANSWERED_PUT,
    names::FAILED_OPERATIONS,
];

/// Notes that no other operator writes.
const OWN: [&str; 5] = [
    names::BASELINE,
    names::CLAIMED_SPEC,
    names::ADOPTION,
    names::CLAIMED_WITH,
    SIGNATURE,
];

/// Begins what is signed. Digests of the same key begin with a zero byte, so that none of them is a signature.
const PURPOSE: &[u8] = b"armature.azure.com/notes-signature v1\n";

/// Begins the annotation's value.
const FORM: &str = "v1.";

/// The keys that notes are signed with, and from when on they are.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NoteKeys {
    ring: Vec<DigestKey>,
    since: Option<Timestamp>,
    demands_all: bool,
}

/// Whether a signature fits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It is of the key at this place: the first is the one that is signed with.
    Fits(usize),
    /// There is none.
    Missing,
    /// It is of other notes, of another object, or of another key.
    Other,
}

/// How far the notes in an object are believed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Belief {
    /// The operator has signed them.
    Signed,
    /// They are not signed, and need not be: the object is older than signatures, or nothing is known of keys.
    #[default]
    Unsigned,
    /// Somebody else may have written them: they are as those of another operator.
    Foreign,
}

impl Belief {
    /// Whether somebody else may have written the notes.
    #[must_use]
    pub fn is_foreign(self) -> bool {
        self == Self::Foreign
    }
}

impl NoteKeys {
    /// The key that is signed with and the one before it. Without a signature, objects are believed that are no younger than
    /// `since`; where it is not known, all of them.
    #[must_use]
    pub fn new(current: DigestKey, previous: Option<DigestKey>, since: Option<Timestamp>) -> Self {
        Self {
            ring: std::iter::once(current).chain(previous).collect(),
            since,
            demands_all: false,
        }
    }

    /// The same where every object has been signed: none is believed without a signature.
    #[must_use]
    pub fn demanding_all(self) -> Self {
        Self {
            demands_all: true,
            ..self
        }
    }

    /// Whether no object is believed without a signature.
    #[must_use]
    pub fn demand_all(&self) -> bool {
        self.demands_all
    }

    /// The signature of these annotations of an object; nothing without a key.
    #[must_use]
    pub fn sign(&self, uid: &str, annotations: &BTreeMap<String, String>) -> Option<String> {
        let mac = mac(self.ring.first()?, uid, annotations);
        let text = URL_SAFE_NO_PAD.encode(mac.finalize().into_bytes());
        Some(format!("{FORM}{text}"))
    }

    /// Whether the signature among these annotations fits them.
    #[must_use]
    pub fn verify(&self, uid: &str, annotations: &BTreeMap<String, String>) -> Verdict {
        let Some(text) = annotations.get(SIGNATURE) else {
            return Verdict::Missing;
        };
        let bytes = text.strip_prefix(FORM);
        let bytes = bytes.and_then(|text| URL_SAFE_NO_PAD.decode(text).ok());
        let fits =
            |key: &DigestKey, bytes: &[u8]| mac(key, uid, annotations).verify_slice(bytes).is_ok();
        let place =
            bytes.and_then(|bytes| self.ring.iter().position(|key| fits(key, bytes.as_slice())));
        place.map_or(Verdict::Other, Verdict::Fits)
    }

    /// How far the notes of an object are believed.
    #[must_use]
    pub fn belief(&self, object: &Object) -> Belief {
        // Of an object that nobody has claimed nothing is believed, and the claim makes all notes anew.
        if self.ring.is_empty() || !claim::is_claimed(object) {
            return Belief::Unsigned;
        }
        match self.verdict(object) {
            Verdict::Fits(_) => Belief::Signed,
            // Who can write another signature can take it away, so one that does not fit says no more than none.
            Verdict::Missing | Verdict::Other if self.is_older(object) => Belief::Unsigned,
            Verdict::Missing | Verdict::Other => Belief::Foreign,
        }
    }

    /// Whether the notes of an object count against other objects.
    #[must_use]
    pub fn count(&self, object: &Object) -> bool {
        !self.belief(object).is_foreign()
    }

    fn verdict(&self, object: &Object) -> Verdict {
        let none = BTreeMap::new();
        let uid = object.metadata.uid.as_deref().unwrap_or_default();
        self.verify(uid, object.metadata.annotations.as_ref().unwrap_or(&none))
    }

    /// Whether an object may be without a signature of this key. Kubernetes keeps whole seconds.
    fn is_older(&self, object: &Object) -> bool {
        let created = object.metadata.creation_timestamp.as_ref();
        let is_older = |since: Timestamp| created.is_some_and(|created| created.0 <= since);
        !self.demands_all && self.since.is_none_or(is_older)
    }
}

/// Whether an object has notes that only this operator writes: without, it is one that is taken over from another one.
#[must_use]
pub fn has_own_notes(object: &Object) -> bool {
    let annotations = object.metadata.annotations.as_ref();
    annotations.is_some_and(|entries| OWN.iter().any(|name| entries.contains_key(*name)))
}

/// Of each text its length comes first, and of each note whether it is there, so no two inputs run together.
fn mac(key: &DigestKey, uid: &str, annotations: &BTreeMap<String, String>) -> Hmac<Sha256> {
    #[expect(clippy::expect_used, reason = "HMAC takes keys of any length")]
    let mut mac = Hmac::<Sha256>::new_from_slice(key.as_bytes()).expect("HMAC takes any key");
    mac.update(PURPOSE);
    let mut add = |text: &str| {
        mac.update(&(text.len() as u64).to_be_bytes());
        mac.update(text.as_bytes());
    };
    add(uid);
    for name in SIGNED {
        add(name);
        match annotations.get(name) {
            Some(text) => {
                add("=");
                add(text);
            }
            None => add("-"),
        }
    }
    mac
}

#[cfg(test)]
mod tests;
