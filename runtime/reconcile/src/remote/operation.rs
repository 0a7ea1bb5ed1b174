//! A write that a remote works on, and what became of it.

use std::time::Duration;

use super::Refusal;
use crate::outcome::Failure;

/// What a write was for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verb {
    /// To bring about what is desired.
    Write,
    /// To remove it.
    Remove,
    /// Something that has to come before a write.
    Prepare,
}

/// A write that a remote works on, as an object keeps it over a restart.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Operation {
    /// What it is for.
    pub verb: Verb,
    /// Whether the remote tells how far it is. Of one that only its result shows, it does not say the end.
    pub is_reported: bool,
    /// Value of the annotation `poller-resume-id`.
    pub id: String,
    /// Value of the annotation `poller-resume-token`.
    pub token: String,
}

/// What the answer to a write means.
#[derive(Clone, Debug)]
pub enum Begun {
    /// Finished at once.
    Done,
    /// Runs on.
    Running {
        /// What to follow.
        operation: Operation,
        /// When the remote asked to look again.
        after: Option<Duration>,
    },
    /// Nothing was done: it no longer has the etag that was asked for.
    Overtaken(Refusal),
    /// Refused, or no answer.
    Refused(Refusal),
    /// No answer, and it may have been done all the same.
    Unheard(Refusal),
}

/// What one look at an operation found.
#[derive(Clone, Debug)]
pub enum Progress {
    /// It runs, says the remote.
    Running {
        /// What to follow from now on: the same operation, unless it was moved.
        operation: Operation,
        /// When the remote asked to look again.
        after: Option<Duration>,
    },
    /// The remote does not say whether it runs.
    Unreported {
        /// When it asked to look again.
        after: Option<Duration>,
    },
    /// It cannot be asked about.
    Doubtful(Refusal),
    /// The look failed; the operation may well run on.
    Unknown(Failure),
    /// Finished well.
    Succeeded,
    /// Finished badly.
    Failed(Refusal),
    /// The remote no longer knows it: only the result can tell.
    Lost,
}
