//! The control endpoints under `/simulator`: the log, faults, and the hand of somebody else in Azure.
//!
//! They need no token and answer on the same port; the README lists them.

use http::Method;
use jiff::Timestamp;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use crate::behaviour::{
    ConnectionDecision, KUSTO_CLUSTER, PRIVATE_ENDPOINT, decide_connections, set_cluster_state,
};
use crate::error::ArmError;
use crate::exchange::{Answer, Request};
use crate::fault::FaultRule;
use crate::id::ResourceId;
use crate::json;
use crate::log::Query;
use crate::operation::Failure;
use crate::state::{Handled, State};
use crate::store::Resource;

/// New states of a Kusto cluster; what is not set stays.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ClusterState {
    /// Id of the cluster, or its name where that is unique.
    pub cluster: String,
    /// `provisioningState`: Succeeded, Updating, Failed …
    pub provisioning_state: Option<String>,
    /// `state`: Running, Stopped, Unavailable …
    pub state: Option<String>,
}

/// What to do with a running operation.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct OperationEnd {
    failure: Option<Failure>,
}

/// Whether a path belongs to the control endpoints.
pub fn is_control(path: &str) -> bool {
    path == "/simulator" || path.starts_with("/simulator/")
}

/// Answers a control request.
pub fn answer(state: &mut State, request: &Request, now: Timestamp) -> Answer {
    state.settle(now);
    route(state, request, now).unwrap_or_else(Answer::from)
}

fn route(state: &mut State, request: &Request, now: Timestamp) -> Handled {
    let path = request
        .path
        .trim_start_matches("/simulator")
        .trim_matches('/');
    let (first, rest) = path.split_once('/').unwrap_or((path, ""));
    match (request.method.as_str(), first, rest) {
        ("GET", "", _) => Ok(Answer::json(200, state.about(request))),
        ("GET", "requests", "") => {
            let found = state.log.find(&query_of(request)?);
            Ok(Answer::json(200, json!({ "value": found })))
        }
        ("DELETE", "requests", "") => {
            state.log.clear();
            Ok(Answer::empty(204))
        }
        ("GET", "stats", "") => Ok(Answer::json(200, state.stats())),
        ("POST", "reset", "") => {
            state.reset();
            Ok(Answer::empty(204))
        }
        (_, "faults", number) => faults(state, request, number),
        (_, "operations", name) => operations(state, request, name, now),
        (_, "resources", id) => resources(state, request, id, now),
        ("POST", "act", "") => state.answer_act(&body_of(request)?),
        ("POST", "private-endpoint-connections", "") => {
            state.decide_connections(&body_of(request)?)
        }
        ("POST", "kusto-clusters", "") => state.set_cluster_state(&body_of(request)?),
        (method, _, _) => Err(ArmError::method_not_allowed(method, &request.path)),
    }
}

fn body_of<T: DeserializeOwned>(request: &Request) -> Result<T, ArmError> {
    serde_json::from_slice(&request.body).map_err(|error| {
        ArmError::new(
            400,
            "InvalidControlRequest",
            format!("The body of {} is not as expected: {error}", request.path),
        )
    })
}

fn query_of(request: &Request) -> Result<Query, ArmError> {
    let mut query = Query::default();
    for (name, value) in &request.query {
        let number = || {
            value.parse::<u64>().map_err(|_| {
                let message = format!("Query parameter '{name}' must be a number, not '{value}'.");
                ArmError::new(400, "InvalidControlRequest", message)
            })
        };
        match name.as_str() {
            "path" => query.path = Some(value.clone()),
            "method" => query.method = Some(value.clone()),
            "status" => query.status = u16::try_from(number()?).ok(),
            "after" => query.after = Some(number()?),
            other => {
                let message = format!(
                    "Unknown query parameter '{other}'; known are path, method, status, after."
                );
                return Err(ArmError::new(400, "InvalidControlRequest", message));
            }
        }
    }
    Ok(query)
}

fn faults(state: &mut State, request: &Request, number: &str) -> Handled {
    match (&request.method, number) {
        (&Method::GET, "") => Ok(Answer::json(200, json!({ "value": state.faults.rules() }))),
        (&Method::POST, "") => {
            let rule = body_of::<FaultRule>(request)?;
            rule.check()
                .map_err(|error| ArmError::new(400, "InvalidControlRequest", error.to_string()))?;
            let id = state.faults.add(rule);
            Ok(Answer::json(201, json!({ "id": id })))
        }
        (&Method::DELETE, "") => {
            state.faults.clear();
            Ok(Answer::empty(204))
        }
        (&Method::DELETE, number) => {
            let removed = number.parse().is_ok_and(|id| state.faults.remove(id));
            Ok(Answer::empty(if removed { 204 } else { 404 }))
        }
        (method, _) => Err(ArmError::method_not_allowed(method.as_str(), &request.path)),
    }
}

fn operations(state: &mut State, request: &Request, name: &str, now: Timestamp) -> Handled {
    match (&request.method, name) {
        (&Method::GET, "") => {
            let all: Vec<_> = state.operations.values().collect();
            Ok(Answer::json(200, json!({ "value": all })))
        }
        (&Method::POST, name) if !name.is_empty() => {
            let end: OperationEnd = match request.body.is_empty() {
                true => OperationEnd::default(),
                false => body_of(request)?,
            };
            let ended = state.finish_operation(name, end.failure, now);
            Ok(Answer::empty(if ended { 204 } else { 404 }))
        }
        (method, _) => Err(ArmError::method_not_allowed(method.as_str(), &request.path)),
    }
}

fn resources(state: &mut State, request: &Request, id: &str, now: Timestamp) -> Handled {
    if id.is_empty() {
        let wanted = request.parameter("type");
        let all = state.store.all().filter(|resource| {
            wanted.is_none_or(|wanted| resource.id.arm_type().eq_ignore_ascii_case(wanted))
        });
        let bodies: Vec<Value> = all.map(|resource| resource.body.clone()).collect();
        return Ok(Answer::json(200, json!({ "value": bodies })));
    }
    let id = ResourceId::parse(id).ok_or_else(|| ArmError::invalid_path(id))?;
    let missing = || ArmError::resource_not_found(&id);
    match request.method {
        Method::GET => {
            let resource = state.store.get(&id).ok_or_else(missing)?;
            Ok(Answer::json(200, resource.body.clone()))
        }
        Method::PUT => Ok(state.place(&id, body_of(request)?)),
        Method::PATCH => state.drift(&id, &body_of::<Value>(request)?),
        Method::DELETE => {
            state.store.get(&id).ok_or_else(missing)?;
            state.remove(&id, now);
            Ok(Answer::empty(204))
        }
        ref method => Err(ArmError::method_not_allowed(method.as_str(), &request.path)),
    }
}

impl State {
    fn about(&self, request: &Request) -> Value {
        json!({
            "endpoint": request.origin,
            "tenant": self.settings.tenant,
            "subscriptions": self.settings.subscriptions,
            "types": self.catalog.count(),
            "control": [
                "GET DELETE /simulator/requests?path=&method=&status=&after=",
                "GET POST DELETE /simulator/faults[/{id}]",
                "GET /simulator/operations, POST /simulator/operations/{name}",
                "GET PUT PATCH DELETE /simulator/resources[/{ARM id}]?type=",
                "POST /simulator/act",
                "POST /simulator/private-endpoint-connections",
                "POST /simulator/kusto-clusters",
                "GET /simulator/stats",
                "POST /simulator/reset",
            ],
        })
    }

    fn stats(&self) -> Value {
        let mut statuses = std::collections::BTreeMap::<u16, u64>::new();
        for entry in self.log.all() {
            *statuses.entry(entry.status).or_default() += 1;
        }
        json!({
            "requests": self.log.total(),
            "byMethod": self.log.methods(),
            "byStatus": statuses,
            "resources": self.store.count(),
            "operationsRunning": self.running.len(),
            "tokensIssued": self.tokens.issued(),
        })
    }

    fn find_id(&self, arm_type: &str, id_or_name: &str) -> Result<ResourceId, ArmError> {
        let found = self.store.find(arm_type, id_or_name);
        found.map(|resource| resource.id.clone()).ok_or_else(|| {
            ArmError::new(
                404,
                "ResourceNotFound",
                format!("There is no '{arm_type}' with the id or the unique name '{id_or_name}'."),
            )
        })
    }

    /// Approves or rejects private endpoint connections, as the owner of the service would.
    pub fn decide_connections(&mut self, decision: &ConnectionDecision) -> Handled {
        let known = ["Approved", "Rejected", "Disconnected", "Pending"];
        if !known.contains(&decision.status.as_str()) {
            let message = format!(
                "status '{}' is not one of {}.",
                decision.status,
                known.join(", ")
            );
            return Err(ArmError::new(400, "InvalidControlRequest", message));
        }
        let id = self.find_id(PRIVATE_ENDPOINT, &decision.endpoint)?;
        let mut body = self.body_of(&id);
        let changed = decide_connections(&mut body, decision);
        if changed == 0 {
            let message = format!("'{id}' has no such connection.");
            return Err(ArmError::new(404, "ConnectionNotFound", message));
        }
        self.overwrite(&id, body);
        Ok(Answer::json(200, self.body_of(&id)))
    }

    /// Sets the states of a Kusto cluster.
    pub fn set_cluster_state(&mut self, wanted: &ClusterState) -> Handled {
        let id = self.find_id(KUSTO_CLUSTER, &wanted.cluster)?;
        let mut body = self.body_of(&id);
        set_cluster_state(
            &mut body,
            wanted.provisioning_state.as_deref(),
            wanted.state.as_deref(),
        );
        self.overwrite(&id, body);
        Ok(Answer::json(200, self.body_of(&id)))
    }

    /// Changes a resource behind everybody's back: a JSON merge patch on what Azure shows.
    pub fn drift(&mut self, id: &ResourceId, patch: &Value) -> Handled {
        if self.store.get(id).is_none() {
            return Err(ArmError::resource_not_found(id));
        }
        let mut body = self.body_of(id);
        json::merge_patch(&mut body, patch);
        self.overwrite(id, body);
        if let Some(resource) = self.store.get_mut(id) {
            json::merge_patch(&mut resource.desired, patch);
        }
        Ok(Answer::json(200, self.body_of(id)))
    }

    /// Puts a resource into Azure as it is, without checks: something that was there before.
    pub fn place(&mut self, id: &ResourceId, body: Value) -> Answer {
        let id = self.spell(id);
        let newest = self
            .catalog
            .get(&id.arm_type())
            .and_then(|entry| entry.api_versions().next_back());
        let mut shown = json!({"id": id.to_string(), "name": id.name(), "type": id.arm_type()});
        json::merge_patch(&mut shown, &body);
        self.store.insert(Resource {
            api_version: newest.unwrap_or_default().to_owned(),
            body: shown.clone(),
            desired: body,
            visible: true,
            revision: 1,
            operation: None,
            id,
        });
        Answer::json(200, shown)
    }

    fn body_of(&self, id: &ResourceId) -> Value {
        self.store
            .get(id)
            .map(|resource| resource.body.clone())
            .unwrap_or_default()
    }
}
