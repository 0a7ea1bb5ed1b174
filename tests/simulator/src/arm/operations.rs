//! Long-running operations: starting, announcing, polling and ending them (ARM RPC, async API).

use std::time::Duration;

use jiff::SignedDuration;
use jiff::Timestamp;
use serde_json::{Value, json};

use super::read::resource_answer;
use crate::behaviour::Scene;
use crate::error::ArmError;
use crate::exchange::Answer;
use crate::id::ResourceId;
use crate::json;
use crate::operation::{Failure, Operation, OperationRule, Progress, Style, Verb};
use crate::state::{Call, Handled, State};
use crate::store::Cause;

const STATE: [&str; 2] = ["properties", "provisioningState"];
/// Last but one segment of the URL whose answer has the operation's status.
const STATUSES: &str = "operationStatuses";
/// Last but one segment of the URL that answers as the finished request would.
const RESULTS: &str = "operationResults";

impl Operation {
    /// Absolute URL of the operation's status.
    pub(super) fn url(&self, call: &Call<'_>) -> String {
        self.link(call, STATUSES)
    }

    fn link(&self, call: &Call<'_>, view: &str) -> String {
        format!(
            "{}{}/{view}/{}?api-version={}",
            call.request.origin, self.path, self.id, self.api_version
        )
    }

    /// The headers that tell a client where to poll.
    pub(super) fn announce(&self, call: &Call<'_>) -> Vec<(&'static str, String)> {
        let asynchronous = ("azure-asyncoperation", self.link(call, STATUSES));
        let location = ("location", self.link(call, RESULTS));
        let mut headers = match self.style {
            Style::AsyncOperation => vec![asynchronous],
            Style::Location => vec![location],
            Style::Both => vec![asynchronous, location],
            Style::Immediate | Style::ProvisioningState => Vec::new(),
        };
        if let Some(seconds) = self.retry_after {
            headers.push(("retry-after", seconds.to_string()));
        }
        headers
    }

    fn status_body(&self) -> Value {
        let mut body = json!({
            "id": format!("{}/{STATUSES}/{}", self.path, self.id),
            "name": self.id,
            "startTime": self.started.to_string(),
        });
        match &self.progress {
            Progress::Running => {
                body["status"] = json!("InProgress");
                body["percentComplete"] = json!(50.0);
            }
            Progress::Succeeded => {
                body["status"] = json!("Succeeded");
                body["percentComplete"] = json!(100.0);
                body["endTime"] = json!(self.ready_at.to_string());
            }
            Progress::Failed(failure) => {
                body["status"] = json!("Failed");
                body["endTime"] = json!(self.ready_at.to_string());
                body["error"] = json!(failure);
            }
        }
        body
    }
}

impl State {
    /// Starts an operation on a stored resource.
    pub(super) fn start_operation(
        &mut self,
        call: &Call<'_>,
        id: &ResourceId,
        verb: Verb,
        style: Style,
        rule: &OperationRule,
        before: Option<(Value, Value)>,
    ) -> &Operation {
        let name = self.fresh_id();
        let latency = match call.effect.endless {
            true => Duration::MAX,
            false => rule.latency.unwrap_or(Duration::ZERO),
        };
        // A latency too long for the calendar never ends, which is what it asks for.
        let ready_at = SignedDuration::try_from(latency)
            .ok()
            .and_then(|latency| call.now.checked_add(latency).ok())
            .unwrap_or(Timestamp::MAX);
        if let Some(resource) = self.store.get_mut(id) {
            resource.operation = Some(name.clone());
        }
        let found = self.ends_badly(id, verb);
        let operation = Operation {
            id: name.clone(),
            path: self.operation_path(id),
            resource: id.clone(),
            verb,
            style,
            api_version: call
                .request
                .parameter("api-version")
                .unwrap_or_default()
                .to_owned(),
            started: call.now,
            ready_at,
            polls_left: rule.polls.unwrap_or(0),
            // The contract allows 10 s and more; a simulator is asked to be quick.
            retry_after: Some(rule.retry_after.unwrap_or(0)),
            progress: Progress::Running,
            in_vain: found.is_some(),
            will_fail: call.effect.fail_operation.clone().or(found),
            before,
            principal: call.principal.clone(),
            correlation: call.correlation.clone(),
        };
        self.running.insert(name.clone());
        self.operations.entry(name).or_insert(operation)
    }

    /// What the provider has against a write that has just been stored.
    fn ends_badly(&self, id: &ResourceId, verb: Verb) -> Option<Failure> {
        if verb == Verb::Delete {
            return None;
        }
        let arm_type = id.arm_type();
        let mut behaviours = self.behaviours.of(&arm_type);
        behaviours.find_map(|behaviour| behaviour.ends_badly(&self.store, id))
    }

    /// `/subscriptions/{s}/providers/{namespace}/locations/{location}`, where providers keep operations.
    fn operation_path(&self, id: &ResourceId) -> String {
        let scope = id
            .subscription()
            .map(|name| format!("/subscriptions/{name}"))
            .unwrap_or_default();
        if id.is_group() {
            return scope;
        }
        let arm_type = id.arm_type();
        let namespace = arm_type.split('/').next().unwrap_or_default();
        let mut at = Some(id.clone());
        let mut location = None;
        while let (Some(id), None) = (&at, &location) {
            location = self
                .store
                .get(id)
                .and_then(|resource| json::text(&resource.body, &["location"]))
                .map(|text| text.to_ascii_lowercase().replace(' ', ""));
            at = id.parent();
        }
        let location = location.unwrap_or_else(|| "global".to_owned());
        format!("{scope}/providers/{namespace}/locations/{location}")
    }

    /// Answers a poll. `None` when the path is not one of an operation.
    pub(super) fn operation_status(&mut self, call: &Call<'_>) -> Option<Handled> {
        let mut segments = call.request.path.rsplit('/');
        let name = segments.next()?;
        let view = segments.next()?;
        let wants_status = view.eq_ignore_ascii_case(STATUSES);
        if !wants_status && !view.eq_ignore_ascii_case(RESULTS) {
            return None;
        }
        let known = self.operations.get_mut(name);
        let Some(operation) = known.filter(|found| found.principal == call.principal) else {
            return Some(Err(ArmError::new(
                404,
                "OperationNotFound",
                format!("The operation '{name}' was not found."),
            )));
        };
        let snapshot = operation.clone();
        operation.polls_left = operation.polls_left.saturating_sub(1);
        let waiting = snapshot
            .is_running()
            .then_some(snapshot.retry_after)
            .flatten();
        Some(Ok(if wants_status {
            Answer::json(200, snapshot.status_body()).with_some("retry-after", waiting)
        } else {
            self.operation_result(call, &snapshot)
        }))
    }

    /// What the request itself would have answered, had it been synchronous.
    fn operation_result(&self, call: &Call<'_>, operation: &Operation) -> Answer {
        match (&operation.progress, operation.verb) {
            (Progress::Running, _) => Answer::empty(202)
                .with("location", operation.link(call, RESULTS))
                .with_some("retry-after", operation.retry_after),
            (Progress::Failed(failure), _) => {
                ArmError::new(409, &failure.code, &failure.message).into()
            }
            (Progress::Succeeded, Verb::Delete) => Answer::empty(200),
            (Progress::Succeeded, _) => match self.store.visible(&operation.resource) {
                Some(resource) => resource_answer(200, resource),
                None => ArmError::resource_not_found(&operation.resource).into(),
            },
        }
    }

    /// Ends every operation whose time is over.
    pub(crate) fn settle(&mut self, now: Timestamp) {
        let due: Vec<String> = self
            .running
            .iter()
            .filter(|name| {
                self.operations
                    .get(*name)
                    .is_some_and(|found| found.is_due(now))
            })
            .cloned()
            .collect();
        for name in due {
            self.finish_operation(&name, None, now);
        }
    }

    /// Ends the running operations on what is at or below an id, badly where there is a failure; how many those were.
    pub(crate) fn finish_operations(
        &mut self,
        id: &ResourceId,
        failure: Option<Failure>,
        now: Timestamp,
    ) -> usize {
        let (key, below) = (id.key(), format!("{}/", id.key()));
        let concerned = |name: &&String| {
            let operation = self.operations.get(*name);
            let resource = operation.map(|found| found.resource.key());
            resource.is_some_and(|resource| resource == key || resource.starts_with(&below))
        };
        let names: Vec<String> = self.running.iter().filter(concerned).cloned().collect();
        for name in &names {
            self.finish_operation(name, failure.clone(), now);
        }
        names.len()
    }

    /// Ends an operation now, well or badly. False when there is none of this name that runs.
    pub(crate) fn finish_operation(
        &mut self,
        name: &str,
        failure: Option<Failure>,
        now: Timestamp,
    ) -> bool {
        let Some(operation) = self
            .operations
            .get_mut(name)
            .filter(|found| found.is_running())
        else {
            return false;
        };
        self.running.remove(name);
        let failure = failure.or_else(|| operation.will_fail.clone());
        operation.progress = match &failure {
            Some(failure) => Progress::Failed(failure.clone()),
            None => Progress::Succeeded,
        };
        let in_vain = operation.in_vain && operation.verb == Verb::Create;
        let (id, verb, before) = (
            operation.resource.clone(),
            operation.verb,
            operation.before.take(),
        );
        let cause = Cause {
            correlation: operation.correlation.clone(),
            principal: operation.principal.clone(),
        };
        let during = self.store.cause.replace(cause);
        match (failure, verb) {
            (None, Verb::Delete) => self.remove(&id, now),
            (None, _) => self.complete(&id, verb, now),
            (Some(_), _) if in_vain => self.remove(&id, now),
            (Some(_), _) => self.fail(&id, before),
        }
        self.note_changes(now);
        self.store.cause = during;
        true
    }

    fn complete(&mut self, id: &ResourceId, verb: Verb, now: Timestamp) {
        let arm_type = id.arm_type();
        let Some(resource) = self.store.get(id) else {
            return;
        };
        let version = self
            .catalog
            .get(&arm_type)
            .and_then(|entry| entry.version(&resource.api_version).ok());
        let mut body = resource.body.clone();
        if let Some(version) = version {
            let scene = Scene {
                store: &self.store,
                settings: &self.settings,
                now,
                id,
                version,
                verb,
                long_running: true,
            };
            for behaviour in self.behaviours.of(&arm_type) {
                behaviour.completed(&scene, &mut body);
            }
        }
        self.overwrite(id, body);
        if let Some(resource) = self.store.get_mut(id) {
            resource.visible = true;
            resource.operation = None;
        }
        self.refresh_parent(id);
    }

    /// A failed update or delete leaves the old state, a failed create a resource to PUT again.
    fn fail(&mut self, id: &ResourceId, before: Option<(Value, Value)>) {
        if let Some(resource) = self.store.get_mut(id) {
            if let Some((body, desired)) = before {
                resource.body = body;
                resource.desired = desired;
            }
            if json::at(&resource.body, &STATE).is_some() {
                json::set(&mut resource.body, &STATE, json!("Failed"));
            }
            resource.visible = true;
            resource.operation = None;
            resource.revision += 1;
            if resource.body.get("etag").is_some() {
                resource.body["etag"] = json!(resource.etag());
            }
        }
        self.refresh_parent(id);
    }
}
