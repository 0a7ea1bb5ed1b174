//! What a step finds out in the cluster: the value, or why there is none.

use crate::condition::reason;
use crate::outcome::Failure;
use crate::port::KubernetesError;

/// Found out, or why not; outside of it, Kubernetes refused.
pub(super) type Found<T> = Result<Result<T, Failure>, KubernetesError>;

/// The value; without it the step ends with why there is none.
macro_rules! found {
    ($found:expr) => {
        match $found {
            Ok(value) => value,
            Err(failure) => return Ok(Err(failure)),
        }
    };
}

pub(super) use found;

/// Nothing that passes by itself.
pub(super) fn fatal(message: impl Into<String>) -> Failure {
    Failure::error(reason::FAILED, message)
}
