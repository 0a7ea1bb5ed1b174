//! The next step of a pass.

use armature_shapes::names;

use super::annotations::Adoption;
use super::backoff::Requeue;
use super::condition::Verdict;
use super::observed::Differences;
use super::outcome::Failure;
use super::port::EventNote;
use crate::extension::Prerequisite;
use crate::plain::plain;

/// One step. The driver performs it and asks again, with what it has found out as [`super::observed::Observed`].
#[derive(Clone, Debug, PartialEq)]
pub enum Action {
    /// Write our namespace into `operator-namespace`.
    TakeOwnership,
    /// Read the namespace's annotations from the server.
    ReadNamespace,
    /// Look for protected resources that a DELETE would take along.
    LookForProtected,
    /// Note whose the resource is, before what follows from it. An event tells of it, where there is one.
    NoteAdoption {
        /// Whose.
        adoption: Adoption,
        /// What to tell the user about it.
        event: Option<EventNote>,
    },
    /// Read the owner in the cluster.
    ReadOwner,
    /// Choose the credential and learn its subscription.
    SelectCredential,
    /// Resolve the ARM id, references, Secrets and ConfigMaps.
    ResolveInputs,
    /// Compare the recorded id with the one that owner and name give.
    CheckIdentity,
    /// Find out which of the objects for this id writes it.
    FindHolder,
    /// Write finalizer, resource id, owner labels and owner reference.
    Claim,
    /// Ask the kind's owner checker, with an owner fresh from Azure.
    CheckOwner,
    /// GET the resource and take its status over.
    Get,
    /// Ask the kind's pre-checker.
    PreCheck,
    /// POST what Azure has to do before the PUT, saving the operation's state when it runs on.
    Prepare(Prerequisite),
    /// Encode the body and let the kind's modifier change it.
    BuildPayload,
    /// Compare body and resource with each other and with the record.
    Compare,
    /// Find out whether Azure has all of an edit that the policy keeps from it.
    LookForEdit,
    /// PUT, saving the operation's state when it runs on.
    Put {
        /// What to tell the user about it.
        event: EventNote,
    },
    /// Register the type's provider with the subscription.
    RegisterProvider,
    /// Look once at the running operation.
    Poll,
    /// Remove the operation's state from the annotations.
    ForgetOperation,
    /// Note since when something in Azure holds the next write back.
    BeginHold,
    /// Record what is desired, and what Azure has for it.
    Record,
    /// Ask the kind's post-checker.
    PostCheck,
    /// Write Secrets and ConfigMaps.
    Export,
    /// Call the kind's success hook.
    SuccessHook,
    /// DELETE, saving the operation's state when it runs on.
    Delete,
    /// Let the object go.
    RemoveFinalizer,
    /// End the pass.
    Finish(Finish),
}

impl Action {
    /// Whether the step may change something outside of the object.
    pub fn changes_something(&self) -> bool {
        matches!(
            self,
            Self::Prepare(_)
                | Self::Put { .. }
                | Self::RegisterProvider
                | Self::Delete
                | Self::Export
                | Self::PostCheck
                | Self::SuccessHook
        )
    }

    /// Whether the step is a write to what the object stands for.
    pub fn writes(&self) -> bool {
        matches!(
            self,
            Self::Prepare(_) | Self::Put { .. } | Self::RegisterProvider | Self::Delete
        )
    }

    /// What the step does, in words for people.
    pub fn words(&self) -> &'static str {
        match self {
            Self::TakeOwnership | Self::NoteAdoption { .. } | Self::Claim | Self::BeginHold => {
                "write into the object"
            }
            Self::ReadNamespace => "read the namespace",
            Self::LookForProtected => "look for what is protected",
            Self::ReadOwner => "read the owner",
            Self::SelectCredential => "sign in",
            Self::ResolveInputs => "read what the spec refers to",
            Self::CheckIdentity => "find out which resource it is",
            Self::FindHolder => "find out which object writes the resource",
            Self::CheckOwner => "check the owner in Azure",
            Self::Get => "read from Azure",
            Self::PreCheck => "check before the PUT",
            Self::Prepare(_) => "prepare the PUT",
            Self::BuildPayload => "build the body of the PUT",
            Self::Compare | Self::LookForEdit => "compare with Azure",
            Self::Put { .. } => "PUT",
            Self::RegisterProvider => "register the provider",
            Self::Poll => "ask how far Azure is",
            Self::ForgetOperation | Self::Record => "note what Azure has done",
            Self::PostCheck => "check after the PUT",
            Self::Export => "write Secrets and ConfigMaps",
            Self::SuccessHook => "do what follows a success",
            Self::Delete => "DELETE",
            Self::RemoveFinalizer | Self::Finish(_) => "let the object go",
        }
    }

    /// Whether an extension of the kind may be called, which may want to see the owner.
    pub fn may_call_extension(&self) -> bool {
        matches!(
            self,
            Self::Claim
                | Self::PreCheck
                | Self::BuildPayload
                | Self::LookForEdit
                | Self::PostCheck
                | Self::Export
                | Self::SuccessHook
                | Self::Delete
        )
    }
}

/// The end of a pass.
#[derive(Clone, Debug, PartialEq)]
pub struct Finish {
    /// What the conditions are to say; `None` leaves them.
    pub verdict: Option<Verdict>,
    /// Text of the condition `Paused`. The others keep what they said.
    pub paused: Option<String>,
    /// When to look again.
    pub requeue: Requeue,
    /// An event to record.
    pub event: Option<EventNote>,
}

impl Finish {
    /// Nothing to say and nothing to wait for.
    pub fn silent() -> Self {
        Self {
            verdict: None,
            paused: None,
            requeue: Requeue::Never,
            event: None,
        }
    }

    /// With a verdict.
    pub fn with(verdict: Verdict, requeue: Requeue) -> Self {
        Self {
            verdict: Some(verdict),
            paused: None,
            requeue,
            event: None,
        }
    }

    /// Nothing is done for a while.
    pub fn paused(message: impl Into<String>, requeue: Requeue) -> Self {
        Self {
            paused: Some(message.into()),
            requeue,
            ..Self::silent()
        }
    }

    /// With a failure.
    pub fn failed(failure: &Failure) -> Self {
        Self::with(Verdict::from(failure), failure.requeue())
    }

    /// With a warning too.
    pub fn and_warn(self, reason: &str, message: impl Into<String>) -> Self {
        self.and(warning(reason, message))
    }

    /// With an event too.
    pub fn and(mut self, event: EventNote) -> Self {
        self.event = Some(event);
        self
    }
}

/// A `Warning` event.
pub fn warning(reason: &str, message: impl Into<String>) -> EventNote {
    EventNote {
        warning: true,
        reason: reason.to_owned(),
        message: plain(&message.into()).into_owned(),
        paths: Vec::new(),
    }
}

/// The event of drift.
pub fn drifted(differences: &Differences) -> EventNote {
    EventNote {
        paths: differences.paths.clone(),
        ..warning(names::event::DRIFTED, &differences.text)
    }
}

/// A `Normal` event.
pub fn normal(reason: &str, message: impl Into<String>) -> EventNote {
    EventNote {
        warning: false,
        ..warning(reason, message)
    }
}
