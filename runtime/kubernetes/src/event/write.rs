//! One event to the API server (`events.k8s.io/v1`).

use std::sync::Arc;

use k8s_openapi::api::events::v1::{Event, EventSeries};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{MicroTime, ObjectMeta};
use kube::Client;
use kube::api::{Api, Patch, PatchParams, PostParams};
use serde_json::json;

use super::ledger::{Job, Key, Outcome};
use crate::names::FIELD_MANAGER;

/// Makes the event, or counts in its series.
pub(super) async fn event(client: &Client, job: Job) -> (Arc<Key>, Outcome) {
    let namespace = job.regarding.namespace.as_deref().unwrap_or_default();
    let api: Api<Event> = Api::namespaced(client.clone(), namespace);
    let answer = match job.is_new {
        true => create(&api, &job).await,
        false => count(&api, &job).await,
    };
    let outcome = match answer {
        Ok(()) => Outcome::Written(job.count),
        Err(error) => outcome_of(&error, &job),
    };
    (job.key, outcome)
}

async fn create(api: &Api<Event>, job: &Job) -> kube::Result<()> {
    let key = &job.key;
    let series = (job.count > 1).then_some(EventSeries {
        count: job.count,
        last_observed_time: MicroTime(job.last),
    });
    let body = Event {
        metadata: ObjectMeta {
            name: Some(job.name.clone()),
            namespace: job.regarding.namespace.clone(),
            ..ObjectMeta::default()
        },
        event_time: Some(MicroTime(job.first)),
        type_: Some(if key.warning { "Warning" } else { "Normal" }.to_owned()),
        // What was done is the reason to tell of it.
        action: Some(key.reason.clone()),
        reason: Some(key.reason.clone()),
        note: Some(key.message.clone()),
        regarding: Some(job.regarding.clone()),
        reporting_controller: Some(FIELD_MANAGER.to_owned()),
        reporting_instance: Some(FIELD_MANAGER.to_owned()),
        series,
        ..Event::default()
    };
    let parameters = PostParams {
        field_manager: Some(FIELD_MANAGER.to_owned()),
        ..PostParams::default()
    };
    match api.create(&parameters, &body).await {
        // An answer was lost, and it is there already.
        Err(kube::Error::Api(status)) if status.is_already_exists() => Ok(()),
        created => created.map(drop),
    }
}

async fn count(api: &Api<Event>, job: &Job) -> kube::Result<()> {
    let series = json!({
        "series": {"count": job.count, "lastObservedTime": MicroTime(job.last)},
    });
    api.patch(&job.name, &PatchParams::default(), &Patch::Merge(series))
        .await
        .map(drop)
}

/// What an error means for the event.
fn outcome_of(error: &kube::Error, job: &Job) -> Outcome {
    let (object, event) = (job.regarding.name.as_deref(), &job.name);
    match error {
        kube::Error::Api(status) if status.is_not_found() && !job.is_new => Outcome::Expired,
        kube::Error::Api(status) if matches!(status.code, 400..=404 | 422) => {
            tracing::warn!(object, event, %error, "an event was not taken");
            Outcome::Refused
        }
        error => {
            tracing::debug!(object, event, %error, "an event is written later");
            Outcome::Failed
        }
    }
}
