//! Why a remote did not do what was asked.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use armature_shapes::kind::ErrorClass;

use crate::outcome::Failure;

/// An error in a remote's own words. Prints as one sentence.
pub trait RemoteError: fmt::Debug + fmt::Display + Send + Sync {
    /// The status of the answer, where there was one: an HTTP status.
    fn status(&self) -> Option<u16>;

    /// The remote's word for it; one that stands for all others where the remote gives none.
    fn code(&self) -> &str;

    /// Whether this error or one behind it has the code; casing does not count.
    fn has_code(&self, code: &str) -> bool {
        self.code().eq_ignore_ascii_case(code)
    }

    /// What it means for an object whose kind has no rule for it.
    fn class(&self) -> ErrorClass;

    /// The same error with these values covered wherever it quotes them: remotes repeat what they refuse.
    fn covering(&self, secrets: &[&str]) -> Arc<dyn RemoteError>;
}

/// Why a remote did not do what was asked.
#[derive(Clone, Debug)]
pub enum Refusal {
    /// An error that the remote answered with: the kind's table of errors and its classifier say what it means.
    Told {
        /// The error.
        error: Arc<dyn RemoteError>,
        /// When the remote asked to try again.
        retry_after: Option<Duration>,
        /// Why it does not mean what it says, where it says that something is not there.
        doubt: Option<String>,
    },
    /// Something whose meaning is known.
    Known(Failure),
}

impl From<Failure> for Refusal {
    fn from(failure: Failure) -> Self {
        Self::Known(failure)
    }
}
