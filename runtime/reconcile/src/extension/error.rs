//! Why an extension could not do its work.

use std::sync::Arc;
use std::time::Duration;

use crate::outcome::Failure;
use crate::port::KubernetesError;
use crate::remote::RemoteError;

/// An extension could not find out, or could not do, what it was asked. A finding is never an error: checks
/// return it as a result.
#[derive(Debug, thiserror::Error)]
pub enum ExtensionError {
    /// Azure answered with an error; it is classified like any other.
    #[error("Azure refused {request}: {error}")]
    Azure {
        /// Method and path.
        request: String,
        /// The error.
        error: Arc<dyn RemoteError>,
        /// How long Azure asked to wait.
        retry_after: Option<Duration>,
    },
    /// Azure gave no usable answer.
    #[error("{message}")]
    Unanswered {
        /// What was asked, and what happened.
        message: String,
        /// What that means for the object.
        failure: Box<Failure>,
    },
    /// Kubernetes refused.
    #[error(transparent)]
    Kubernetes(#[from] KubernetesError),
    /// An object is not of the kind that the extension is written for.
    #[error("expected a {expected}, found the {found}; point the reference at a {expected}")]
    WrongKind {
        /// Kind and group.
        expected: String,
        /// Kind, namespace and name.
        found: String,
    },
    /// The stored object does not fit its kind.
    #[error("{object} cannot be read: {message}")]
    Unreadable {
        /// Kind, namespace and name.
        object: String,
        /// What does not fit, with its path.
        message: String,
    },
    /// The operator is stopping.
    #[error("the operator is stopping; the object is looked at again after the restart")]
    Cancelled,
    /// Anything else, as a sentence that says what to do.
    #[error("{0}")]
    Other(String),
}
