//! What desired was and what Azure returned after the last good PUT, as keyed digests.

use std::fmt;
use std::str::FromStr;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD_NO_PAD as BASE64;
use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;

use super::Comparison;
use super::equal::normal;
use super::leaves::normal_observed;

/// Bytes kept of each digest: 128 bits are far beyond chance, and there is one annotation per object.
const LENGTH: usize = 16;

/// Version of what is digested. A baseline of another version counts as absent.
const FORM: &str = "1";

/// Digests of desired, of the Secrets in it, and of what Azure returned on desired's paths. Keyed with the
/// object's uid, so that equal values of different objects cannot be told from their digests.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Baseline {
    desired: [u8; LENGTH],
    secrets: [u8; LENGTH],
    observed: [u8; LENGTH],
}

/// A text that is no baseline of this version. Treat it as absent.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not a baseline: expected {FORM}: and three digests")]
pub struct BaselineError;

impl Baseline {
    pub(super) fn of(comparison: &Comparison<'_>, uid: &str) -> Self {
        let mut desired = Digest::new(uid, "desired");
        let mut observed = Digest::new(uid, "observed");
        comparison.leaves(&mut |leaf| {
            if let Some(value) = leaf.desired.as_deref() {
                desired.add(&[&leaf.path, &normal(leaf.rule, value)]);
            }
            match normal_observed(&leaf) {
                Some(text) => observed.add(&[&leaf.path, &text]),
                None => observed.add(&[&leaf.path]),
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
        }
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
        let bytes = [self.desired, self.secrets, self.observed].concat();
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
        let mut parts = bytes.chunks_exact(LENGTH);
        let mut next = || {
            let part = parts.next().and_then(|part| part.try_into().ok());
            part.ok_or(BaselineError)
        };
        let baseline = Self {
            desired: next()?,
            secrets: next()?,
            observed: next()?,
        };
        (bytes.len() == 3 * LENGTH)
            .then_some(baseline)
            .ok_or(BaselineError)
    }
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

    fn finish(self) -> [u8; LENGTH] {
        let digest = self.0.finalize().into_bytes();
        let mut kept = [0; LENGTH];
        kept.copy_from_slice(&digest[..LENGTH]);
        kept
    }
}
