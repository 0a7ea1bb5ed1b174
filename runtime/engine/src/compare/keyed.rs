//! Keyed digests: what was sent and seen, kept beside the object without giving any of it away.
//!
//! The key is the operator's own and secret. With a key that stands beside the digest, a short password could be
//! guessed from it.

use std::fmt;

use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;

/// Bytes of the key: as many as the digest has.
const KEY: usize = 32;

/// Bytes kept of each digest of a whole: 128 bits are far beyond chance, and there is one annotation per object.
pub(super) const LENGTH: usize = 16;

/// The operator's secret key of all digests.
#[derive(Clone, PartialEq, Eq)]
pub struct DigestKey([u8; KEY]);

impl DigestKey {
    /// How many bytes a key has.
    pub const LENGTH: usize = KEY;

    /// A new one.
    pub fn random() -> Self {
        Self(rand::random())
    }

    /// The key with these bytes; nothing where their number is another one than [`DigestKey::LENGTH`].
    pub fn from_bytes(bytes: &[u8]) -> Option<Self> {
        bytes.try_into().ok().map(Self)
    }

    /// Its bytes, to be stored where Secrets are.
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }

    /// The digests of one object. `uid` is the object's, so that equal values of different objects cannot be told
    /// from their digests, and the record of one object says nothing about a copy of it.
    pub fn of<'a>(&'a self, uid: &'a str) -> Keyed<'a> {
        Keyed {
            key: &self.0,
            object: Some(uid),
        }
    }
}

impl fmt::Debug for DigestKey {
    /// Never shows the key.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("DigestKey")
    }
}

/// What digests of one object are made with.
#[derive(Clone, Copy)]
pub struct Keyed<'a> {
    key: &'a [u8],
    object: Option<&'a str>,
}

impl fmt::Debug for Keyed<'_> {
    /// Never shows the key.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Keyed")
    }
}

impl<'a> Keyed<'a> {
    /// As releases before the operator had a key of its own made them.
    pub(super) fn with_uid(uid: &'a str) -> Self {
        Self {
            key: uid.as_bytes(),
            object: None,
        }
    }

    pub(super) fn digest(&self, purpose: &str) -> Digest {
        #[expect(clippy::expect_used, reason = "HMAC takes keys of any length")]
        let mac = Hmac::<Sha256>::new_from_slice(self.key).expect("HMAC takes any key");
        let mut digest = Digest(mac);
        if let Some(object) = self.object {
            digest.add(&[object]);
        }
        digest.add(&[purpose]);
        digest
    }

    /// The digest of one text.
    pub(super) fn of<const COUNT: usize>(&self, purpose: &str, text: &str) -> [u8; COUNT] {
        let mut digest = self.digest(purpose);
        digest.add(&[text]);
        digest.finish()
    }
}

/// A digest of lists of texts. Every text is preceded by its length, so no two inputs run together.
pub(super) struct Digest(Hmac<Sha256>);

impl Digest {
    pub fn add(&mut self, texts: &[&str]) {
        self.0.update(&(texts.len() as u64).to_be_bytes());
        for text in texts {
            self.0.update(&(text.len() as u64).to_be_bytes());
            self.0.update(text.as_bytes());
        }
    }

    /// The first bytes of the digest.
    pub fn finish<const COUNT: usize>(self) -> [u8; COUNT] {
        let digest = self.0.finalize().into_bytes();
        std::array::from_fn(|at| digest[at])
    }
}

/// Takes bytes from the front; nothing where there are too few.
pub(super) fn take<const COUNT: usize>(rest: &mut &[u8]) -> Option<[u8; COUNT]> {
    let (first, others) = rest.split_first_chunk()?;
    *rest = others;
    Some(*first)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_and_objects_tell_digests_apart() {
        let (one, other) = (DigestKey::random(), DigestKey::random());
        let digest = |key: &DigestKey, uid: &str| key.of(uid).of::<LENGTH>("body", "text");
        assert_eq!(digest(&one, "a"), digest(&one, "a"));
        assert_ne!(digest(&one, "a"), digest(&one, "b"));
        assert_ne!(digest(&one, "a"), digest(&other, "a"));
        assert_eq!(format!("{one:?} {:?}", one.of("a")), "DigestKey Keyed");
        assert_eq!(DigestKey::from_bytes(one.as_bytes()), Some(one));
        assert_eq!(DigestKey::from_bytes(b"short"), None);
    }
}
