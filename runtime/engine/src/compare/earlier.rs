//! The record as the first release stored it: read, so that an upgrade sends nothing; never written.
//!
//! It knows neither the order of lists nor write-only values nor the generation, and its key is the object's uid.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD_NO_PAD as BASE64;
use serde_json::Value;

use super::equal::normal;
use super::keyed::{Keyed, LENGTH, take};
use super::leaf::Leaf;
use super::look::{Look, Rewritten, SHORT};
use super::{Comparison, SecretVersion};

/// Stands before the digests.
const FORM: &str = "2:";

/// In place of a value that changes by itself.
const UNSTABLE: [u8; SHORT] = [0; SHORT];

/// What desired was and what Azure returned for it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EarlierRecord {
    desired: [u8; LENGTH],
    secrets: [u8; LENGTH],
    observed: [u8; LENGTH],
    rewritten: Vec<Rewritten>,
}

impl EarlierRecord {
    /// Reads the annotation; nothing where it is no record of this form.
    pub fn parse(text: &str) -> Option<Self> {
        let bytes = BASE64.decode(text.strip_prefix(FORM)?).ok()?;
        let mut rest = bytes.as_slice();
        let mut record = Self {
            desired: take(&mut rest)?,
            secrets: take(&mut rest)?,
            observed: take(&mut rest)?,
            rewritten: Vec::new(),
        };
        while !rest.is_empty() {
            record.rewritten.push(Rewritten {
                path: take(&mut rest)?,
                value: take(&mut rest)?,
            });
        }
        Some(record)
    }

    /// Whether the Secrets that desired is built with are the same in the same versions.
    pub fn has_secrets(&self, secrets: &[SecretVersion], uid: &str) -> bool {
        let mut digest = Keyed::with_uid(uid).digest("secrets");
        let mut sorted: Vec<_> = secrets.iter().collect();
        sorted.sort();
        for secret in sorted {
            digest.add(&[&secret.name, &secret.uid, &secret.resource_version]);
        }
        self.secrets == digest.finish()
    }

    /// Whether Azure still has all that it returned for this desired.
    pub(super) fn is_unchanged(&self, comparison: &Comparison<'_>, uid: &str) -> bool {
        self.is_of(comparison, uid)
            && Look::at(comparison, Keyed::with_uid(uid)).observed == self.observed
    }

    /// Whether it was made for what is desired.
    pub(super) fn is_of(&self, comparison: &Comparison<'_>, uid: &str) -> bool {
        let mut desired = Keyed::with_uid(uid).digest("desired");
        // On its own: how items of lists are named depends on those that Azure has.
        let alone = Comparison {
            observed: &Value::Null,
            ..*comparison
        };
        alone.leaves(&mut |leaf| {
            if let Some(value) = leaf.desired.as_deref() {
                desired.add(&[&leaf.path, &normal(leaf.rule, value)]);
            }
        });
        self.desired == desired.finish()
    }

    /// Whether Azure had the leaf's value then, or never has the same one twice.
    pub(super) fn expects(&self, leaf: &Leaf<'_>, uid: &str) -> bool {
        let seen = Rewritten::of(leaf, Keyed::with_uid(uid));
        self.rewritten.iter().any(|entry| {
            entry.path == seen.path && (entry.value == seen.value || entry.value == UNSTABLE)
        })
    }
}
