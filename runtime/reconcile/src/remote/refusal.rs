//! Why a remote did not do what was asked.

use std::time::Duration;

use armature_azure::CloudError;

use crate::outcome::Failure;

/// Why a remote did not do what was asked.
#[derive(Clone, Debug, PartialEq)]
pub enum Refusal {
    /// An error of Azure: the kind's table of errors and its classifier say what it means.
    Azure {
        /// The error.
        error: Box<CloudError>,
        /// When Azure asked to try again.
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
