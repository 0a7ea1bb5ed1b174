//! The operator against a real API server and the simulated Azure; one world for all tests.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "helpers of tests fail as tests do"
)]

mod ahead;
mod annotations;
mod applies;
mod certificate;
mod children;
mod crds;
mod credentials;
mod drift;
mod edits;
mod expressions;
mod faults;
mod graph;
mod identities;
mod inputs;
mod kusto;
mod leader;
mod leaks;
mod lifecycle;
mod moment;
mod namespaces;
mod observe;
mod operators;
mod pending;
mod policy;
mod pools;
mod private_endpoint;
mod restart;
mod role_assignments;
mod roots;
mod rule_places;
mod rules;
mod samples;
mod scopes;
mod secrets;
mod traces;
mod typed;
mod vault;
mod watches;

use armature_controlplane::waiting::LIMIT;
use armature_controlplane::waiting::until as wait_until;
use armature_e2e::World;
use armature_simulator::Query;
use serde_json::Value;

/// Subscription of the simulated Azure.
const SUBSCRIPTION: &str = "/subscriptions/00000000-0000-0000-0000-000000000001";

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

/// How often a request of a method was sent for exactly this resource.
fn sent(world: &World, method: &str, id: &str) -> usize {
    let query = Query {
        method: Some(method.to_owned()),
        path: Some(id.to_owned()),
        ..Query::default()
    };
    let requests = world.azure().requests(&query);
    let same = |path: &str| path.eq_ignore_ascii_case(id);
    requests
        .iter()
        .filter(|request| same(&request.path))
        .count()
}

/// Client ids of the operators that sent requests for a resource group.
fn workers(world: &World, name: &str) -> Vec<String> {
    let query = Query {
        path: Some(format!("{SUBSCRIPTION}/resourceGroups/{name}")),
        ..Query::default()
    };
    let requests = world.azure().requests(&query).into_iter();
    let mut workers: Vec<String> = requests.map(|request| request.principal).collect();
    workers.sort();
    workers.dedup();
    workers
}
