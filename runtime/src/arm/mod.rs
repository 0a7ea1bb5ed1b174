//! Azure Resource Manager: ids, one request at a time, errors, long-running operations, credentials.
//!
//! What does not live here: what to send when (see [`crate::reconcile`]) and any retry loop; every wait is a
//! requeue decided there.

mod transport;

pub use transport::{CredentialKey, Method, Request, Response, Transport, TransportError};
