//! Kusto clusters: states, start and stop; databases that wait for their cluster.
//!
//! Source: states and operations of recordings `kusto-v1api20230815`, `kusto-v1api20240413` and `kusto-v20240413`; actions
//! of spec `specification/azure-kusto/resource-manager/Microsoft.Kusto/stable/2023-08-15/kusto.json`; that a cluster that
//! is being changed refuses further changes, and the code, of https://learn.microsoft.com/azure/data-explorer/database-script.

use serde_json::{Value, json};

use super::provisioning::{self, is_final};
use super::{ActionOutcome, Behaviour, Scene, is_below};
use crate::error::ArmError;
use crate::id::ResourceId;
use crate::json;
use crate::operation::{OperationRule, Style, Verb};
use crate::store::Resource;

/// ARM type of clusters.
pub const CLUSTER: &str = "Microsoft.Kusto/clusters";

const STATE: [&str; 2] = ["properties", "state"];

/// `Microsoft.Kusto/clusters`.
#[derive(Debug)]
pub struct Cluster;

impl Behaviour for Cluster {
    fn applies_to(&self, arm_type: &str) -> bool {
        arm_type.eq_ignore_ascii_case(CLUSTER)
    }

    fn operations(&self) -> OperationRule {
        long_running()
    }

    fn admit(&self, scene: &Scene<'_>, _body: &Value) -> Result<(), ArmError> {
        // A state that was set from outside has no operation that ARM could name.
        match scene.store.visible(scene.id) {
            Some(cluster) => refuse_while_busy(cluster),
            None => Ok(()),
        }
    }

    fn stored(&self, scene: &Scene<'_>, _previous: Option<&Value>, body: &mut Value) {
        let name = scene.id.name();
        let location = json::text(body, &["location"])
            .unwrap_or_default()
            .to_ascii_lowercase()
            .replace(' ', "");
        let state = match (scene.verb, scene.long_running) {
            (Verb::Create, true) => "Creating",
            _ => "Running",
        };
        match scene.verb {
            Verb::Create => json::set(body, &STATE, json!(state)),
            // An update leaves a stopped cluster stopped.
            _ => json::set_default(body, &STATE, json!(state)),
        }
        let uri = format!("https://{name}.{location}.kusto.windows.net");
        let ingestion = format!("https://ingest-{name}.{location}.kusto.windows.net");
        json::set(body, &["properties", "uri"], json!(uri));
        json::set(body, &["properties", "dataIngestionUri"], json!(ingestion));
    }

    fn completed(&self, _scene: &Scene<'_>, body: &mut Value) {
        if json::text(body, &STATE) == Some("Creating") {
            json::set(body, &STATE, json!("Running"));
        }
    }

    fn action(
        &self,
        _scene: &Scene<'_>,
        resource: &Resource,
        action: &str,
        _body: &Value,
    ) -> Option<Result<ActionOutcome, ArmError>> {
        let state = match action.to_ascii_lowercase().as_str() {
            "start" => "Running",
            "stop" => "Stopped",
            _ => return None,
        };
        if let Err(refusal) = refuse_while_busy(resource) {
            return Some(Err(refusal));
        }
        let mut body = resource.body.clone();
        json::set(&mut body, &STATE, json!(state));
        Some(Ok(ActionOutcome {
            answer: None,
            resource: Some(body),
        }))
    }
}

/// What hangs below a cluster.
#[derive(Debug)]
pub struct Database;

impl Behaviour for Database {
    fn applies_to(&self, arm_type: &str) -> bool {
        is_below(arm_type, CLUSTER)
    }

    fn operations(&self) -> OperationRule {
        long_running()
    }

    fn admit(&self, scene: &Scene<'_>, _body: &Value) -> Result<(), ArmError> {
        let mut above = scene.id.parent();
        while let Some(id) = above {
            if id.arm_type().eq_ignore_ascii_case(CLUSTER)
                && let Some(cluster) = scene.store.visible(&id)
            {
                return refuse_while_busy(cluster);
            }
            above = id.parent();
        }
        Ok(())
    }

    fn stored(&self, scene: &Scene<'_>, _previous: Option<&Value>, body: &mut Value) {
        if scene.settings.normalise.names {
            json::set(body, &["name"], json!(full_name(scene.id)));
        }
    }
}

/// `cluster/database/connection`, as the provider names what hangs below a cluster.
fn full_name(id: &ResourceId) -> String {
    let mut names = vec![id.name().to_owned()];
    let mut above = id.parent();
    while let Some(parent) = above.filter(|parent| !parent.is_group()) {
        names.push(parent.name().to_owned());
        above = parent.parent();
    }
    names.reverse();
    names.join("/")
}

/// Sets the states of a cluster from outside; what is `None` stays.
pub fn set_cluster_state(body: &mut Value, provisioning: Option<&str>, state: Option<&str>) {
    if let Some(provisioning) = provisioning {
        json::set(body, &provisioning::PATH, json!(provisioning));
    }
    if let Some(state) = state {
        json::set(body, &STATE, json!(state));
    }
}

fn long_running() -> OperationRule {
    OperationRule {
        put: Some(Style::AsyncOperation),
        patch: Some(Style::AsyncOperation),
        delete: Some(Style::Both),
        ..OperationRule::default()
    }
}

fn refuse_while_busy(cluster: &Resource) -> Result<(), ArmError> {
    let state = json::text(&cluster.body, &provisioning::PATH).unwrap_or("Succeeded");
    if is_final(state) {
        return Ok(());
    }
    Err(ArmError::new(
        409,
        "ServiceIsInMaintenance",
        format!(
            "Cluster '{}' is in provisioning state '{state}'. Retry when the operation on it has ended.",
            cluster.id.name()
        ),
    ))
}
