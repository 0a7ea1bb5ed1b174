//! What desired was and what Azure returned after the last good PUT, as keyed digests.

use std::fmt;
use std::str::FromStr;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD_NO_PAD as BASE64;
use hmac::{Hmac, KeyInit, Mac};
use serde_json::Value;
use sha2::Sha256;

use super::equal::normal;
use super::leaves::{Leaf, normal_observed};
use super::{Comparison, is_rewritten};

/// Bytes kept of each digest: 128 bits are far beyond chance, and there is one annotation per object.
const LENGTH: usize = 16;

/// Version of what is digested. A baseline of another version counts as absent.
const FORM: &str = "2";

/// Digests of desired, of the Secrets in it, of what Azure returned on desired's paths, and of the paths on which that
/// is something else. Keyed with the
/// object's uid, so that equal values of different objects cannot be told from their digests.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Baseline {
    desired: [u8; LENGTH],
    secrets: [u8; LENGTH],
    observed: [u8; LENGTH],
    rewritten: Vec<Rewritten>,
}

/// Bytes kept of the digests of one path and one value: chance has 2^-48.
const SHORT: usize = 6;

/// Most paths that are remembered one by one, so that the annotation stays small. Beyond them the digest of all
/// that Azure returned decides.
const REWRITTEN: usize = 16;

/// A path on which Azure has something else than what was sent, and what it has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Rewritten {
    path: [u8; SHORT],
    value: [u8; SHORT],
}

impl Rewritten {
    /// In place of a value that changes by itself.
    const UNSTABLE: [u8; SHORT] = [0; SHORT];

    fn of(leaf: &Leaf<'_>, uid: &str) -> Self {
        let mut path = Digest::new(uid, "path");
        path.add(&[&leaf.path]);
        let mut value = Digest::new(uid, "value");
        match normal_observed(leaf) {
            Some(text) => value.add(&[&text]),
            None => value.add(&[]),
        }
        Self {
            path: path.finish(),
            value: value.finish(),
        }
    }
}

/// A text that is no baseline of this version. Treat it as absent.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not a baseline: expected {FORM}: and digests")]
pub struct BaselineError;

impl Baseline {
    pub(super) fn of(comparison: &Comparison<'_>, uid: &str) -> Self {
        let mut desired = Digest::new(uid, "desired");
        let mut observed = Digest::new(uid, "observed");
        let mut rewritten = Vec::new();
        comparison.leaves(&mut |leaf| {
            if is_rewritten(&leaf) {
                rewritten.push(Rewritten::of(&leaf, uid));
            }
            match normal_observed(&leaf) {
                Some(text) => observed.add(&[&leaf.path, &text]),
                None => observed.add(&[&leaf.path]),
            }
        });
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
        let mut secrets = Digest::new(uid, "secrets");
        let mut sorted: Vec<_> = comparison.secrets.iter().collect();
        sorted.sort();
        for secret in sorted {
            secrets.add(&[&secret.name, &secret.uid, &secret.resource_version]);
        }
        Self {
            desired: desired.finish(),
            secrets: secrets.finish(),
            observed: observed.finish(),
            rewritten,
        }
    }

    /// With what was remembered of the same spec.
    pub(super) fn remembering(self, before: Option<Self>) -> Self {
        let before = before.filter(|before| before.is_of_same_spec(&self));
        Self {
            rewritten: before.map(|before| before.rewritten).unwrap_or_default(),
            ..self
        }
    }

    /// Marks what another look at the same spec has seen otherwise.
    pub(super) fn unstable_where(mut self, looks: [Option<&Self>; 2]) -> Self {
        let spec = self.clone();
        let looks = looks.into_iter().flatten();
        for other in looks.filter(|other| other.is_of_same_spec(&spec)) {
            for entry in &mut self.rewritten {
                let mut seen = other.rewritten.iter();
                if seen.any(|seen| seen.path == entry.path && seen.value != entry.value) {
                    entry.value = Rewritten::UNSTABLE;
                }
            }
        }
        self.rewritten
            .sort_by_key(|entry| entry.value != Rewritten::UNSTABLE);
        self.rewritten.truncate(REWRITTEN);
        self
    }

    /// Whether Azure had the leaf's value when the baseline was made, or never has the same one twice.
    pub(super) fn expects(&self, leaf: &Leaf<'_>, uid: &str) -> bool {
        let seen = Rewritten::of(leaf, uid);
        self.rewritten.iter().any(|entry| {
            let same = entry.value == seen.value || entry.value == Rewritten::UNSTABLE;
            entry.path == seen.path && same
        })
    }

    /// Whether both are of the same desired state, Secrets included.
    pub fn is_of_same_spec(&self, other: &Self) -> bool {
        self.same_desired(other) && self.same_secrets(other)
    }

    /// Whether nothing has changed, neither what is desired nor what Azure returns for it.
    pub(super) fn is_same_state(&self, other: &Self) -> bool {
        self.is_of_same_spec(other) && self.observed == other.observed
    }

    /// Whether both are of the same desired state, Secrets aside.
    pub(super) fn same_desired(&self, other: &Self) -> bool {
        self.desired == other.desired
    }

    /// Whether both were made with the same Secrets in the same versions.
    pub(super) fn same_secrets(&self, other: &Self) -> bool {
        self.secrets == other.secrets
    }

    /// The text for the annotation.
    pub fn encode(&self) -> String {
        self.to_string()
    }

    /// Reads the annotation.
    ///
    /// # Errors
    /// [`BaselineError`] for any other text, which is to be treated as no baseline.
    pub fn parse(text: &str) -> Result<Self, BaselineError> {
        text.parse()
    }
}

impl fmt::Display for Baseline {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut bytes = [self.desired, self.secrets, self.observed].concat();
        for entry in self.rewritten.iter().take(REWRITTEN) {
            bytes.extend(entry.path);
            bytes.extend(entry.value);
        }
        write!(formatter, "{FORM}:{}", BASE64.encode(bytes))
    }
}

impl FromStr for Baseline {
    type Err = BaselineError;

    fn from_str(text: &str) -> Result<Self, BaselineError> {
        let digests = text
            .strip_prefix(FORM)
            .and_then(|rest| rest.strip_prefix(':'));
        let bytes = BASE64.decode(digests.ok_or(BaselineError)?);
        let bytes = bytes.map_err(|_| BaselineError)?;
        let mut rest = bytes.as_slice();
        let baseline = Self {
            desired: take(&mut rest)?,
            secrets: take(&mut rest)?,
            observed: take(&mut rest)?,
            rewritten: Vec::new(),
        };
        let mut rewritten = Vec::new();
        while !rest.is_empty() && rewritten.len() < REWRITTEN {
            rewritten.push(Rewritten {
                path: take(&mut rest)?,
                value: take(&mut rest)?,
            });
        }
        match rest {
            [] => Ok(Self {
                rewritten,
                ..baseline
            }),
            _ => Err(BaselineError),
        }
    }
}

/// Takes bytes from the front.
fn take<const COUNT: usize>(rest: &mut &[u8]) -> Result<[u8; COUNT], BaselineError> {
    let (first, others) = rest.split_first_chunk().ok_or(BaselineError)?;
    *rest = others;
    Ok(*first)
}

/// A keyed digest of lists of texts. Every text is preceded by its length, so no two inputs run together.
struct Digest(Hmac<Sha256>);

impl Digest {
    fn new(uid: &str, purpose: &str) -> Self {
        #[expect(clippy::expect_used, reason = "HMAC takes keys of any length")]
        let mac = Hmac::<Sha256>::new_from_slice(uid.as_bytes()).expect("HMAC takes any key");
        let mut digest = Self(mac);
        digest.add(&[purpose]);
        digest
    }

    fn add(&mut self, texts: &[&str]) {
        self.0.update(&(texts.len() as u64).to_be_bytes());
        for text in texts {
            self.0.update(&(text.len() as u64).to_be_bytes());
            self.0.update(text.as_bytes());
        }
    }

    /// The first bytes of the digest.
    fn finish<const COUNT: usize>(self) -> [u8; COUNT] {
        let digest = self.0.finalize().into_bytes();
        std::array::from_fn(|at| digest[at])
    }
}
