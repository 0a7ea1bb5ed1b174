//! What the decision asks about: what a pass has found out so far, as far as it matters for the next step. `None` means
//! "not asked yet".
//!
//! What does not live here: what only steps need. The driver has that, and computes this from it.

use std::fmt;
use std::time::Duration;

use jiff::Timestamp;

use super::outcome::{Failure, Poll, Write};
use super::port::Protection;
use crate::extension::{PostCheck, PreCheck};
use crate::remote::{Credential, Provisioning};

/// State of the owner in the cluster.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OwnerState {
    /// It exists and its `Ready` is `True`.
    Ready,
    /// Why it cannot be built on yet.
    Waiting(String),
}

/// The resource in Azure.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Resource {
    /// It exists.
    Found(Provisioning),
    /// 404.
    Missing,
}

/// How desired, what was sent and observed compare.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Comparison {
    /// Nothing to send.
    Same,
    /// Nothing to send, and it is not yet remembered so: the resource was taken over, or what was edited is no part of
    /// the body.
    Unrecorded,
    /// The user edited the spec, or something that it refers to: it is to be sent, whatever Azure shows.
    Edited(Differences),
    /// Azure has something else than what is desired, and the user edited nothing.
    Differs(Differences),
    /// The user edited nothing, and yet this release of the operator would send something else than Azure has: that waits
    /// for an edit.
    Rebuilt(Differences),
}

/// What differs between desired and observed, without secrets.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Differences {
    /// Paths with old and new values, for people.
    pub text: String,
    /// Paths without keys, for figures.
    pub paths: Vec<String>,
}

impl Differences {
    /// Whether Azure shows all that is desired.
    pub fn is_empty(&self) -> bool {
        self.text.is_empty()
    }
}

impl fmt::Display for Differences {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.text)
    }
}

/// What became of the record after a PUT or an adoption.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Recorded {
    /// It is written: what was sent is what is desired.
    Current,
    /// Something else is desired by now than what was sent.
    Outdated,
}

/// Whether the recorded ARM id is the one that the spec stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Identity {
    /// It is, as far as can be told.
    Kept,
    /// It is not, and Azure never had anything there: name or owner were corrected.
    Moved,
    /// Somebody else may have written it, and what the spec's own one is made of is not there.
    Unproven,
}

/// Drift that was put right before.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Contest {
    /// When it is put right again.
    pub until: Timestamp,
    /// How long that is from now; nothing where it is now.
    pub wait: Option<Duration>,
    /// How often it was.
    pub times: u8,
    /// Who wrote the resource last, where Azure says so.
    pub by: Option<String>,
    /// Nobody has written the resource since: the value changes by itself.
    pub is_noise: bool,
}

/// Items of lists that are resources of their own and are to go, but not yet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Leaving {
    /// Which, for people.
    pub message: String,
    /// When to look again.
    pub after: Duration,
}

/// Whether the spec of the object for the parent in Azure names the resource as an item of its own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NamedBy {
    /// No object does.
    Nobody,
    /// This one does, in this list.
    Object(String, String),
    /// Not all objects are known, for this reason.
    Unknown(String),
}

/// Who writes the resource, where several objects stand for it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Holder {
    /// This object.
    Us,
    /// This object, as far as this operator can tell. Another one says that another operator writes the resource by it, and bears no
    /// signature that could be checked here.
    Disputed(String),
    /// Another one: kind, namespace and name.
    Other(String),
    /// Another one, which is being deleted itself.
    Leaving(String),
    /// Not all objects are known, for this reason.
    Unknown(String),
}

/// All that a pass knows beyond the object, as far as the next step depends on it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Observed {
    /// The namespace's annotations are those that the API server had in this pass, not those of the watch.
    pub namespace_is_live: bool,
    /// Owner in the cluster.
    pub owner: Option<OwnerState>,
    /// Credential.
    pub credential: Option<Result<Credential, Failure>>,
    /// Names, references, Secrets and ConfigMaps that the payload needs.
    pub inputs: Option<Result<(), Failure>>,
    /// The recorded id against the spec.
    pub identity: Option<Result<Identity, Failure>>,
    /// Who of several objects writes the resource.
    pub holder: Option<Holder>,
    /// The claim, when it was tried.
    pub claim: Option<Result<(), Failure>>,
    /// Check of the owner.
    pub owner_check: Option<Result<PreCheck, Failure>>,
    /// The resource in Azure: the latest GET.
    pub resource: Option<Result<Resource, Failure>>,
    /// Check before the PUT.
    pub pre_check: Option<Result<PreCheck, Failure>>,
    /// What this pass asked Azure to do before the PUT.
    pub prerequisite: Option<Write>,
    /// Body of the PUT.
    pub payload: Option<Result<(), Failure>>,
    /// Desired against observed.
    pub comparison: Option<Comparison>,
    /// Whether Azure has all of an edit that the policy keeps from it.
    pub has_edit: Option<bool>,
    /// Whether the drift was put right before.
    pub contest: Option<Contest>,
    /// Items that are to go, but not yet.
    pub leaving: Option<Leaving>,
    /// The PUT repeats values of Azure's that are put right later.
    pub carries_drift: bool,
    /// The PUT of this pass. Its completion makes `resource` unknown again.
    pub put: Option<Write>,
    /// Registration of the type's provider, when the PUT lacked it.
    pub registration: Option<Result<(), Failure>>,
    /// The look of this pass at a running operation.
    pub poll: Option<Poll>,
    /// Whether what is desired and what Azure has for it is recorded.
    pub recorded: Option<Recorded>,
    /// Check after the PUT.
    pub post_check: Option<Result<PostCheck, Failure>>,
    /// Secrets and ConfigMaps written.
    pub export: Option<Result<(), Failure>>,
    /// Hook after success.
    pub success_hook: Option<Result<(), Failure>>,
    /// Whether something below the resource must not be deleted.
    pub protection: Option<Protection>,
    /// Whether the parent's spec names it as an item of its own.
    pub named_by: Option<NamedBy>,
    /// The DELETE of this pass.
    pub delete: Option<Write>,
}

impl Observed {
    /// Whether this pass saw a write to Azure complete.
    pub fn wrote(&self) -> bool {
        self.put == Some(Write::Completed) || self.poll == Some(Poll::Succeeded)
    }

    /// Whether something in Azure holds writes back without an end in sight; `None` when this pass did not learn it.
    pub fn is_held(&self) -> Option<bool> {
        let writes = [&self.prerequisite, &self.put, &self.delete];
        if writes
            .iter()
            .any(|write| matches!(write, Some(Write::Running(_))))
        {
            // What runs now is noted with its operation.
            return None;
        }
        if self.wrote() || self.delete == Some(Write::Completed) {
            return Some(false);
        }
        match (&self.resource, &self.poll) {
            (Some(Ok(Resource::Found(Provisioning::Running(_)))), _) => Some(true),
            (_, Some(Poll::Unreported(_) | Poll::Doubtful(_))) => Some(true),
            (_, Some(Poll::Unknown(_))) | (None | Some(Err(_)), None) => None,
            _ => Some(false),
        }
    }
}
