//! What became of a write to Azure, and of looks at one that runs on.

use std::time::Duration;

use super::Failure;

/// Outcome of a PUT, a DELETE, or a POST that has to come first.
#[derive(Clone, Debug, PartialEq)]
pub enum Write {
    /// Finished at once.
    Completed,
    /// Runs on; its state is in the annotations. Azure may have said when to ask.
    Running(Option<Duration>),
    /// Refused, or no answer.
    Failed(Failure),
}

/// Outcome of one look at a running operation.
#[derive(Clone, Debug, PartialEq)]
pub enum Poll {
    /// Still running, as Azure says. It may have said when to ask again.
    Running(Option<Duration>),
    /// Azure does not say whether it runs: only the resource itself can be looked at, or the look failed.
    Unreported(Option<Duration>),
    /// It cannot be asked about: its URL is not ARM's, or what answers knows nothing about it.
    Doubtful(Failure),
    /// A PUT or DELETE finished well.
    Succeeded,
    /// What had to be done before the PUT is done.
    Prepared,
    /// Finished badly.
    Failed(Failure),
    /// Azure no longer knows the operation: only the resource itself can tell.
    Lost,
    /// The look failed, the operation may well run on.
    Unknown(Failure),
}
