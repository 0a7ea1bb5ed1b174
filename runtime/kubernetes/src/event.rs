//! Events of objects, written in the background.
//!
//! kube's recorder shows the first message of a repeated event for ever. Here the latest message is shown, and
//! repeats of one reason on one object are counted on one Event. Losing an event is harmless: a full queue
//! drops, a failed write is logged.

use std::collections::HashMap;
use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash, Hasher};

use armature_reconcile::port::EventNote;
use armature_shapes::resource::Object;
use jiff::Timestamp;
use k8s_openapi::api::core::v1::{Event, EventSource, ObjectReference};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{ObjectMeta, Time};
use kube::api::{Api, Patch, PatchParams, PostParams};
use kube::{Client, Resource};
use serde_json::json;
use tokio::sync::mpsc;

use super::names::FIELD_MANAGER;
use super::stored::StoredObject;

/// Events that may wait to be written.
const QUEUE: usize = 1024;

/// Repeats are counted for this many events; older counts are forgotten together.
const COUNTED: usize = 4096;

/// Longest message that an Event holds (Kubernetes API: 1 KiB).
const MESSAGE_LIMIT: usize = 1000;

/// Records events without making the caller wait.
#[derive(Clone)]
pub struct EventRecorder {
    queue: mpsc::Sender<Pending>,
}

struct Pending {
    regarding: ObjectReference,
    note: EventNote,
    at: Timestamp,
}

impl EventRecorder {
    /// Starts the writer; it ends when the last recorder is dropped. Needs a tokio runtime.
    pub fn start(client: Client) -> Self {
        let (queue, mut pending) = mpsc::channel(QUEUE);
        tokio::spawn(async move {
            let mut writer = Writer {
                client,
                counts: HashMap::new(),
            };
            while let Some(event) = pending.recv().await {
                writer.write(event).await;
            }
        });
        Self { queue }
    }

    /// Records an event about the object.
    pub fn record(&self, object: &Object, note: EventNote) {
        let regarding = ObjectReference {
            api_version: Some(StoredObject::api_version(&object.kind).into_owned()),
            kind: Some(object.kind.0.kind.to_owned()),
            name: object.metadata.name.clone(),
            namespace: object.metadata.namespace.clone(),
            uid: object.metadata.uid.clone(),
            resource_version: object.metadata.resource_version.clone(),
            field_path: None,
        };
        let pending = Pending {
            regarding,
            note,
            at: Timestamp::now(),
        };
        if let Err(error) = self.queue.try_send(pending) {
            tracing::warn!(object = %object.key(), %error, "an event was dropped");
        }
    }
}

struct Writer {
    client: Client,
    counts: HashMap<String, i32>,
}

impl Writer {
    async fn write(&mut self, mut event: Pending) {
        truncate(&mut event.note.message);
        let namespace = event.regarding.namespace.clone().unwrap_or_default();
        let api: Api<Event> = Api::namespaced(self.client.clone(), &namespace);
        let name = event_name(&event);
        if self.counts.len() >= COUNTED {
            self.counts.clear();
        }
        let written = match self.counts.get(&name) {
            Some(count) => repeat(&api, &name, &event, count + 1).await,
            None => create(&api, &name, &event).await,
        };
        match written {
            Ok(count) => {
                self.counts.insert(name, count);
            }
            Err(error) => {
                tracing::warn!(event = name, namespace, %error, "an event was not written")
            }
        }
    }
}

async fn create(api: &Api<Event>, name: &str, event: &Pending) -> kube::Result<i32> {
    let body = Event {
        metadata: ObjectMeta {
            name: Some(name.to_owned()),
            namespace: event.regarding.namespace.clone(),
            ..ObjectMeta::default()
        },
        involved_object: event.regarding.clone(),
        type_: Some(
            if event.note.warning {
                "Warning"
            } else {
                "Normal"
            }
            .to_owned(),
        ),
        reason: Some(event.note.reason.clone()),
        message: Some(event.note.message.clone()),
        count: Some(1),
        first_timestamp: Some(Time(event.at)),
        last_timestamp: Some(Time(event.at)),
        source: Some(EventSource {
            component: Some(FIELD_MANAGER.to_owned()),
            host: None,
        }),
        reporting_component: Some(FIELD_MANAGER.to_owned()),
        ..Event::default()
    };
    let parameters = PostParams {
        field_manager: Some(FIELD_MANAGER.to_owned()),
        ..PostParams::default()
    };
    match api.create(&parameters, &body).await {
        Err(kube::Error::Api(status)) if status.is_already_exists() || status.is_conflict() => {
            // Written before a restart: go on counting from there.
            let count = api.get(name).await?.count.unwrap_or(1) + 1;
            patch(api, name, event, count).await
        }
        created => created.map(|_| 1),
    }
}

async fn repeat(api: &Api<Event>, name: &str, event: &Pending, count: i32) -> kube::Result<i32> {
    match patch(api, name, event, count).await {
        // Events expire, after an hour by default.
        Err(kube::Error::Api(status)) if status.is_not_found() => create(api, name, event).await,
        patched => patched,
    }
}

async fn patch(api: &Api<Event>, name: &str, event: &Pending, count: i32) -> kube::Result<i32> {
    let body = json!({
        "message": event.note.message,
        "count": count,
        "lastTimestamp": Time(event.at),
    });
    api.patch(name, &PatchParams::default(), &Patch::Merge(body))
        .await
        .map(|_| count)
}

/// One name per object, type and reason, so that repeats meet.
fn event_name(event: &Pending) -> String {
    let mut hasher = DefaultHasher::new();
    (&event.regarding.uid, &event.note.reason, event.note.warning).hash(&mut hasher);
    let object = event.regarding.name.as_deref().unwrap_or_default();
    let short: String = object.chars().take(200).collect();
    format!("{short}.{:016x}", hasher.finish())
}

fn truncate(message: &mut String) {
    if message.len() > MESSAGE_LIMIT {
        let mut end = MESSAGE_LIMIT;
        while !message.is_char_boundary(end) {
            end -= 1;
        }
        message.truncate(end);
        message.push('…');
    }
}
