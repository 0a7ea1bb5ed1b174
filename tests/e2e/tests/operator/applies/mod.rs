//! Server-side apply, as Flux, Argo CD and kubectl do it: manifests move between api-versions with nothing lost and nothing
//! left behind.
//!
//! | module | what it tries |
//! |---|---|
//! | [`histories`] | random applies of two field managers at any version, against a model of who owns what |
//! | [`kubectl`] | kubectl's apply, on the server and moved there from the client |
//! | [`nulls`] | members without a value |
//! | [`flux`] | Flux's own library: after an apply its diff says no change |
//!
//! The objects name another operator, so that only the API server and the webhook have a part in what they become; where
//! the operator is to take part, a test says so.

mod flux;
mod histories;
mod kubectl;
mod nulls;

use serde_json::Value;

/// Annotation that leaves an object to an operator of another namespace.
const OPERATOR: &str = "serviceoperator.azure.com/operator-namespace";

/// Leaves the object to an operator that does not run.
pub(super) fn leave_alone(object: &mut Value) {
    object["metadata"]["annotations"][OPERATOR] = "nobody".into();
}
