//! Credentials that are known to fail, so that not every pass tries them again: reading a certificate with a password takes as
//! long as whoever made it wished, and Entra ID counts what it refuses.
//!
//! Everything is by the version of the credential: another one is tried at once.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

use super::CredentialKey;
use super::credential::CredentialError;
use super::kept::{Kept, Weighed};

/// How long a refusal of Entra ID counts: a new secret of an application takes about a minute until it is known everywhere.
const REFUSED: Duration = Duration::from_secs(30);

/// Bytes of all that is known of them.
const MOST_BYTES: usize = 16 << 20;

/// What Entra ID said of a credential.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Refusal {
    /// What is told of it.
    pub(super) message: String,
    /// How long it asks to wait, where it refused nothing and only wants to be asked later.
    pub(super) wait: Option<Duration>,
}

/// What is known of one credential.
struct Failed {
    version: String,
    /// Why the Secret holds none, for as long as this version is there.
    unusable: Option<CredentialError>,
    /// What Entra ID said of it, and until when that counts.
    refused: Option<(Instant, Refusal)>,
}

impl Weighed for Failed {
    fn bytes(&self) -> usize {
        let unusable = self.unusable.iter().map(|error| error.to_string().len());
        let refused = self.refused.iter().map(|(_, it)| it.message.len());
        size_of::<Self>() + self.version.len() + unusable.chain(refused).sum::<usize>()
    }
}

/// Credentials that fail: one entry at most for each that is in use.
pub(super) struct FailedCredentials(Mutex<Kept<Failed>>);

impl Default for FailedCredentials {
    fn default() -> Self {
        Self(Mutex::new(Kept::new(MOST_BYTES)))
    }
}

impl FailedCredentials {
    /// Why this version of a Secret holds no credential, if that is known.
    pub(super) fn unusable(&self, key: &CredentialKey, version: &str) -> Option<CredentialError> {
        let mut known = self.lock();
        let failed = known.get(key).filter(|it| it.version == version)?;
        failed.unusable.clone()
    }

    /// Keeps why a Secret holds no credential.
    pub(super) fn is_unusable(&self, key: &CredentialKey, version: &str, error: &CredentialError) {
        let failed = Failed {
            version: version.to_owned(),
            unusable: Some(error.clone()),
            refused: None,
        };
        self.lock().insert(key.clone(), failed);
    }

    /// What Entra ID has just said of this version, where it refused it or wants to be asked later: with how long is left of that.
    pub(super) fn refused(&self, key: &CredentialKey, version: &str) -> Option<Refusal> {
        let mut known = self.lock();
        let failed = known.get(key).filter(|it| it.version == version)?;
        let (until, refusal) = failed.refused.as_ref()?;
        let left = until.checked_duration_since(Instant::now())?;
        (!left.is_zero()).then(|| Refusal {
            message: refusal.message.clone(),
            wait: refusal.wait.map(|_| left),
        })
    }

    /// Keeps what Entra ID says of this version.
    pub(super) fn is_refused(&self, key: &CredentialKey, version: &str, refusal: Refusal) {
        let until = Instant::now() + refusal.wait.unwrap_or(REFUSED);
        let failed = Failed {
            version: version.to_owned(),
            unusable: None,
            refused: Some((until, refusal)),
        };
        self.lock().insert(key.clone(), failed);
    }

    /// Forgets a credential: its Secret is gone or another one.
    pub(super) fn forget(&self, key: &CredentialKey) {
        self.lock().remove(key);
    }

    fn lock(&self) -> MutexGuard<'_, Kept<Failed>> {
        // A panic while the map was held leaves a map that is still valid.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::credential::Place;

    #[tokio::test(start_paused = true)]
    async fn a_refusal_counts_for_a_while_and_for_its_version() {
        let (failed, key) = (FailedCredentials::default(), CredentialKey::Global);
        let refusal = |wait: Option<u64>| Refusal {
            message: "no".to_owned(),
            wait: wait.map(Duration::from_secs),
        };
        failed.is_refused(&key, "1", refusal(None));
        assert_eq!(failed.refused(&key, "1"), Some(refusal(None)));
        assert_eq!(failed.refused(&key, "2"), None);
        tokio::time::advance(REFUSED).await;
        assert_eq!(failed.refused(&key, "1"), None);
        // As long as it says itself.
        failed.is_refused(&key, "1", refusal(Some(90)));
        tokio::time::advance(Duration::from_secs(60)).await;
        assert_eq!(failed.refused(&key, "1"), Some(refusal(Some(30))));
        tokio::time::advance(Duration::from_secs(30)).await;
        assert_eq!(failed.refused(&key, "1"), None);
    }

    #[tokio::test(start_paused = true)]
    async fn a_secret_without_a_credential_is_known_until_it_is_another_one() {
        let (failed, key) = (FailedCredentials::default(), CredentialKey::Global);
        failed.is_unusable(&key, "1", &CredentialError::Missing(Place::Operator));
        tokio::time::advance(REFUSED).await;
        assert!(failed.unusable(&key, "1").is_some());
        assert!(failed.unusable(&key, "2").is_none());
        failed.forget(&key);
        assert!(failed.unusable(&key, "1").is_none());
    }
}
