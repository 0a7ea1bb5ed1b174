//! Events of objects.
//!
//! | module | what it does |
//! |---|---|
//! | `recorder` | the recorder, which never makes a pass wait, and the task that writes |
//! | `figures` | what became of them, for metrics |
//! | `ledger` | which events there are, and what is due to be written: without clock and network |
//! | `write` | one event to the API server |
//!
//! What does not live here: which events there are ([`armature_reconcile`]).

mod figures;
mod ledger;
mod recorder;
mod write;

pub use figures::EventFigures;
pub use recorder::EventRecorder;
