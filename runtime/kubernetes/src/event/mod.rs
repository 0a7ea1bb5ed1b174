//! Events of objects, written in the background, as Kubernetes' own recorder does: what happens again is counted in the
//! event's series.
//!
//! | module | what lives here |
//! |---|---|
//! | this one | the recorder, which never makes a pass wait, and the task that writes |
//! | `ledger` | which events there are, and what is due to be written: without clock and network |
//! | `write` | one event to the API server |

mod ledger;
mod write;

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use armature_reconcile::port::EventNote;
use armature_shapes::resource::Object;
use futures::StreamExt;
use futures::stream::FuturesUnordered;
use jiff::Timestamp;
use k8s_openapi::api::core::v1::ObjectReference;
use kube::{Client, Resource};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

use self::ledger::{Ledger, Note};
use super::stored::StoredObject;

/// Events that are written at the same time.
const AT_ONCE: usize = 4;

/// How often it is looked what has become due.
const SWEEP: Duration = Duration::from_secs(5);

/// What became of the events that were recorded. Clones count together.
#[derive(Clone, Debug, Default)]
pub struct EventFigures(Arc<Counts>);

#[derive(Debug, Default)]
struct Counts {
    written: AtomicU64,
    merged: AtomicU64,
    lost: AtomicU64,
}

impl EventFigures {
    /// Requests that wrote one.
    pub fn written(&self) -> u64 {
        self.0.written.load(Ordering::Relaxed)
    }

    /// Those that are counted in another one's series.
    pub fn merged(&self) -> u64 {
        self.0.merged.load(Ordering::Relaxed)
    }

    /// Those that the API server did not take.
    pub fn lost(&self) -> u64 {
        self.0.lost.load(Ordering::Relaxed)
    }
}

/// Records events without making the caller wait. Nothing is dropped: what cannot be written at once waits, and repeats of
/// what waits are counted.
#[derive(Clone)]
pub struct EventRecorder {
    notes: UnboundedSender<Note>,
    figures: EventFigures,
}

impl EventRecorder {
    /// Starts the writer; it ends when the last recorder is dropped and all is written. Needs a tokio runtime.
    pub fn start(client: Client) -> Self {
        let (sender, receiver) = unbounded_channel();
        let figures = EventFigures::default();
        tokio::spawn(run(client, receiver, figures.clone()));
        Self {
            notes: sender,
            figures,
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
        self.notes.send(note).ok();
    }
}

async fn run(client: Client, mut notes: UnboundedReceiver<Note>, figures: EventFigures) {
    let mut ledger = Ledger::default();
    let mut writes = FuturesUnordered::new();
    let mut sweep = tokio::time::interval(SWEEP);
    let mut is_open = true;
    while is_open || !writes.is_empty() {
        while writes.len() < AT_ONCE
            && let Some(job) = ledger.next()
        {
            writes.push(write::event(&client, job));
        }
        tokio::select! {
            note = notes.recv(), if is_open => match note {
                Some(note) => ledger.note(note),
                None => {
                    is_open = false;
                    ledger.flush();
                }
            },
            Some((key, outcome)) = writes.next() => ledger.written(&key, outcome, Timestamp::now()),
            _ = sweep.tick() => ledger.sweep(Timestamp::now()),
        }
        ledger.tell(&figures);
    }
}

impl EventFigures {
    fn set(&self, written: u64, merged: u64, lost: u64) {
        let counts = &self.0;
        for (count, value) in [
            (&counts.written, written),
            (&counts.merged, merged),
            (&counts.lost, lost),
        ] {
            count.store(value, Ordering::Relaxed);
        }
    }
}
