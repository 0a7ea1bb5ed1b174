//! The operator against a real API server and the simulated Azure; one world for all tests.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "helpers of tests fail as tests do"
)]

mod crds;
mod kusto;
mod lifecycle;
mod private_endpoint;
mod rules;
mod typed;

use std::time::Duration;

use serde_json::Value;

/// Subscription of the simulated Azure.
const SUBSCRIPTION: &str = "/subscriptions/00000000-0000-0000-0000-000000000001";

/// Longest wait for a state that is expected at once. Generous: machines that run tests are busy.
const LIMIT: Duration = Duration::from_secs(60);

fn is_ready(condition: &Value) -> bool {
    condition["status"] == "True"
}

fn has_reason(reason: &str) -> impl Fn(&Value) -> bool {
    move |condition| condition["reason"] == reason
}

/// Manifest of a resource group.
fn resource_group(name: &str, namespace: &str) -> String {
    format!(
        "
apiVersion: resources.azure.com/v1api20200601
kind: ResourceGroup
metadata: {{name: {name}, namespace: {namespace}}}
spec: {{location: westeurope}}
"
    )
}
