//! A request as it is printed.

use serde::Serialize;
use serde_json::Value;

/// The request that the operator would send for an object that Azure does not have yet.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RenderedRequest {
    /// API group of the object: several groups have a kind of one name.
    pub group: &'static str,
    /// Kind of the object.
    pub kind: &'static str,
    /// Its namespace.
    pub namespace: String,
    /// Its name in Kubernetes.
    pub name: String,
    /// `PUT`.
    pub method: &'static str,
    /// Path and api-version.
    pub url: String,
    /// Body.
    pub body: Value,
    /// URLs of what the operator would ask Azure for before, and what was taken for absent here: with another answer
    /// the request may be another one. Not printed.
    #[serde(skip)]
    pub assumed_absent: Vec<String>,
}
