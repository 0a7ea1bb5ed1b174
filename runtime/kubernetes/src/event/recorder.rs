//! Records events in the background, as Kubernetes' own recorder does: what happens again is counted in the event's series. No pass
//! waits for one.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use armature_reconcile::port::EventNote;
use armature_shapes::resource::Object;
use futures::StreamExt;
use futures::stream::FuturesUnordered;
use jiff::Timestamp;
use k8s_openapi::api::core::v1::ObjectReference;
use kube::{Client, Resource};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::task::JoinHandle;
use tokio::time::Instant;

use super::figures::EventFigures;
use super::ledger::{Ledger, Note};
use super::write::event;
use crate::stored::object::StoredObject;

/// Events that are written at the same time.
const AT_ONCE: usize = 4;

/// How often it is looked what has become due.
const SWEEP: Duration = Duration::from_secs(5);

/// Records events without making the caller wait. Nothing is dropped: what cannot be written at once waits, and repeats of
/// what waits are counted.
#[derive(Clone)]
pub struct EventRecorder {
    messages: UnboundedSender<Message>,
    figures: EventFigures,
    writer: Arc<Mutex<Option<JoinHandle<()>>>>,
}

/// What the writer is told.
enum Message {
    /// Something happened.
    Note(Box<Note>),
    /// Nothing more does, and all is to be written by then.
    End(Instant),
}

impl EventRecorder {
    /// Starts the writer; it ends when it is told to, or when the last recorder is dropped, and all is written. Needs a tokio
    /// runtime.
    pub fn start(client: Client) -> Self {
        let (messages, receiver) = unbounded_channel();
        let figures = EventFigures::default();
        let writer = tokio::spawn(run(client, receiver, figures.clone()));
        Self {
            messages,
            figures,
            writer: Arc::new(Mutex::new(Some(writer))),
        }
    }

    /// Has all that was recorded written until then, and takes no more. What is not written by then is counted as lost.
    pub async fn finish(&self, until: Instant) {
        // Nobody listens where the writer has ended, and there is nothing to wait for.
        self.messages.send(Message::End(until)).ok();
        let writer = self
            .writer
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .take();
        if let Some(writer) = writer
            && let Err(error) = writer.await
        {
            tracing::error!(%error, "events could not be written");
        }
    }

    /// What became of all events so far.
    pub fn figures(&self) -> &EventFigures {
        &self.figures
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
        let note = Note {
            regarding,
            warning: note.warning,
            reason: note.reason,
            message: note.message,
            at: Timestamp::now(),
        };
        // Nobody listens any more: the process ends.
        self.messages.send(Message::Note(Box::new(note))).ok();
    }
}

async fn run(client: Client, mut messages: UnboundedReceiver<Message>, figures: EventFigures) {
    let mut ledger = Ledger::default();
    let mut writes = FuturesUnordered::new();
    let mut sweep = tokio::time::interval(SWEEP);
    // The end: when everything that is known then has been tried once more, or at this time.
    let mut end = None;
    loop {
        while writes.len() < AT_ONCE
            && let Some(job) = ledger.next()
        {
            writes.push(event(&client, job));
        }
        if end.is_some() && writes.is_empty() {
            break;
        }
        tokio::select! {
            message = messages.recv(), if end.is_none() => match message {
                Some(Message::Note(note)) => ledger.note(*note),
                told => {
                    let until = match told {
                        Some(Message::End(until)) => Some(until),
                        _ => None,
                    };
                    end = Some(until);
                    ledger.try_all();
                }
            },
            Some((key, outcome)) = writes.next() => {
                ledger.written(&key, outcome, Timestamp::now());
                if end.is_some() {
                    ledger.flush();
                }
            },
            _ = sweep.tick(), if end.is_none() => ledger.sweep(Timestamp::now()),
            () = at(end.flatten()) => break,
        }
        ledger.tell(&figures);
    }
    let lost = ledger.give_up();
    ledger.tell(&figures);
    if lost > 0 {
        tracing::warn!(lost, "events were not written before the end");
    }
}

/// At that time, or never.
async fn at(time: Option<Instant>) {
    match time {
        Some(time) => tokio::time::sleep_until(time).await,
        None => std::future::pending().await,
    }
}

#[cfg(test)]
mod tests;
