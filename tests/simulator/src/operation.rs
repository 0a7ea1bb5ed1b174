//! Long-running operations: how they are announced, how long they run and how they end (ARM RPC, async API).

use std::time::Duration;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::id::ResourceId;

/// How a resource provider announces a long-running operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Style {
    /// It does not: the answer is final.
    Immediate,
    /// 200 or 201 with the resource and `Azure-AsyncOperation`.
    AsyncOperation,
    /// 202 without body and `Location`; a new resource is not there until the end.
    Location,
    /// 202 with both headers; a new resource is not there until the end.
    Both,
    /// 200 or 201 with a `provisioningState` that is not final; the client polls the resource.
    ProvisioningState,
}

/// How operations on a type run. What is not set is decided by a more general rule.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct OperationRule {
    /// Style of PUT.
    pub put: Option<Style>,
    /// Style of PATCH.
    pub patch: Option<Style>,
    /// Style of DELETE.
    pub delete: Option<Style>,
    /// Polls that find the operation running before one finds it ended.
    pub polls: Option<u32>,
    /// Time that the operation runs at least.
    #[serde(default, with = "crate::duration::option")]
    pub latency: Option<Duration>,
    /// `Retry-After` in seconds.
    pub retry_after: Option<u64>,
}

impl OperationRule {
    /// This rule, completed from a more general one.
    #[must_use]
    pub fn or(&self, general: &Self) -> Self {
        Self {
            put: self.put.or(general.put),
            patch: self.patch.or(general.patch),
            delete: self.delete.or(general.delete),
            polls: self.polls.or(general.polls),
            latency: self.latency.or(general.latency),
            retry_after: self.retry_after.or(general.retry_after),
        }
    }
}

/// What an operation does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub enum Verb {
    /// Makes a resource.
    Create,
    /// Changes a resource.
    Update,
    /// Removes a resource and everything below it.
    Delete,
}

/// How far an operation is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "status")]
pub enum Progress {
    /// Still at work.
    #[serde(rename = "InProgress")]
    Running,
    /// Ended well.
    Succeeded,
    /// Ended badly.
    Failed(Failure),
}

/// Why an operation failed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Failure {
    /// ARM error code.
    pub code: String,
    /// Text for people.
    pub message: String,
}

/// One long-running operation.
#[derive(Clone, Debug, Serialize)]
pub struct Operation {
    /// Name in its URL.
    pub id: String,
    /// What it works on.
    #[serde(serialize_with = "display")]
    pub resource: ResourceId,
    /// What it does.
    pub verb: Verb,
    /// How it was announced.
    pub style: Style,
    /// Path of its status without host: `/subscriptions/…/operationStatuses/{id}`.
    pub path: String,
    /// api-version of the request that started it.
    pub api_version: String,
    /// When it started.
    pub started: Timestamp,
    /// When it can end at the earliest.
    pub ready_at: Timestamp,
    /// Polls that will still find it running.
    pub polls_left: u32,
    /// `Retry-After` in seconds.
    pub retry_after: Option<u64>,
    /// How far it is.
    pub progress: Progress,
    /// Set when it is going to fail.
    #[serde(skip)]
    pub will_fail: Option<Failure>,
    /// Whether the provider found at the start that it cannot be done: a resource that was to be made does not come to be.
    #[serde(skip)]
    pub in_vain: bool,
    /// State to return to when an update fails.
    #[serde(skip)]
    pub before: Option<(Value, Value)>,
    /// Who started it; others cannot see it.
    pub principal: String,
    /// Correlation id of the request that started it.
    pub correlation: String,
}

fn display<S: serde::Serializer>(id: &ResourceId, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(id)
}

impl Operation {
    /// Whether it runs.
    pub fn is_running(&self) -> bool {
        self.progress == Progress::Running
    }

    /// Whether its time is over.
    pub fn is_due(&self, now: Timestamp) -> bool {
        self.is_running() && self.polls_left == 0 && now >= self.ready_at
    }
}
