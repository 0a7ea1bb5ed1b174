//! The port through which the driver reaches what objects stand for: a remote knows how to name, read, write and remove it,
//! and how to follow what goes on after a write.
//!
//! | module | what lives here |
//! |---|---|
//! | [`operation`] | a write that a remote works on, and what became of it |
//! | [`refusal`] | why a remote did not do what was asked |
//! | `credential` | whose name requests are sent in |
//! | `access` | what extensions reach a remote by |
//!
//! Azure Resource Manager is one; kinds say with [`armature_shapes::kind::Remote`] which is theirs. A second one, in memory,
//! is in the tests: it shows all that a remote has to do.
//!
//! What does not live here: what to do when (see [`mod@crate::decide`]), what is kept in the object
//! (see [`crate::driver`]), and any remote's protocol.

mod access;
mod credential;
pub mod operation;
pub mod refusal;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use armature_shapes::id::RemoteId;
use armature_shapes::kind::{KindInfo, VersionInfo};
use armature_shapes::resource::Object;
use async_trait::async_trait;
use jiff::Timestamp;
use serde_json::Value;

use crate::allowed_scopes::Bound;
use crate::condition::reason;
use crate::outcome::Failure;
use crate::time::Clock;
use crate::urgency::Urgency;

pub use access::Access;
pub use credential::CredentialRef;
pub use operation::{Begun, Operation, Progress, Verb};
pub use refusal::{Refusal, RemoteError};

/// What one request is about.
#[derive(Clone, Copy, Debug)]
pub struct Target<'a> {
    /// The kind.
    pub kind: &'static KindInfo,
    /// The version that the user wrote.
    pub version: &'static VersionInfo,
    /// What the remote calls it.
    pub id: &'a RemoteId,
    /// For whom.
    pub credential: &'a CredentialRef,
}

/// What a credential is for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Credential {
    /// Its subscription.
    pub subscription: String,
}

/// What `properties.provisioningState` says (ARM RPC: `Succeeded`, `Failed` and `Canceled` are final, absent
/// is `Succeeded`).
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Provisioning {
    /// Nothing is going on.
    Settled,
    /// Something is going on, in Azure's word.
    Running(String),
    /// The latest operation failed or was cancelled, in Azure's word.
    Failed(String),
}

/// What a remote has.
#[derive(Clone, Debug, PartialEq)]
pub struct Reading {
    /// Whether the remote is still at work on it.
    pub provisioning: Provisioning,
    /// All of it, in the names on the wire that the kind's shapes have; nothing where the remote only tells that it is there.
    pub body: Option<Value>,
    /// Which state it is, for a write that must not undo another one.
    pub etag: Option<String>,
    /// When it was asked for, by the remote's own clock: all of it that was there then is in the answer. Nothing where that clock
    /// is not known.
    pub at: Option<Timestamp>,
}

/// Something that resources live in.
pub trait Remote: Send + Sync {
    /// The way there, for one pass over this object.
    fn open(&self, object: &Object, urgency: Urgency, clock: &Arc<dyn Clock>) -> Arc<dyn Session>;
}

/// The way of one pass to a remote. One call is one look or one write; nothing waits for the end of what runs on, and nothing
/// is tried again.
#[async_trait]
pub trait Session: Send + Sync {
    /// Finds out for what account this credential is, before anything else is asked. What follows stays within it.
    async fn sign_in(&self, credential: &CredentialRef) -> Result<Credential, Failure>;

    /// What a resource of this kind is called that has this name, and this owner where the kind has one. `account` is what
    /// [`Session::sign_in`] found.
    ///
    /// # Errors
    /// A sentence about the name or the owner, when there can be no such resource.
    fn identify(
        &self,
        kind: &'static KindInfo,
        owner: Option<&RemoteId>,
        account: &str,
        name: &str,
    ) -> Result<RemoteId, String>;

    /// One look at what is there; nothing when the remote says that there is none.
    async fn read(&self, target: Target<'_>) -> Result<Option<Reading>, Refusal>;

    /// Brings it about: afterwards there is what the body says, and nothing else. With an etag only where it still has that.
    async fn write(&self, target: Target<'_>, body: Value, etag: Option<String>) -> Begun;

    /// Removes it. What is not there is removed.
    async fn remove(&self, target: Target<'_>) -> Begun;

    /// One look at what runs on.
    async fn follow(&self, target: Target<'_>, operation: &Operation) -> Progress;

    /// What runs on, from what an object keeps of it; nothing when that cannot be read.
    fn resume(&self, id: &str, token: &str) -> Option<Operation>;

    /// Asks for what the account lacks for this kind, after a write was refused for that.
    async fn enrol(&self, _target: Target<'_>, _account: &str) -> Result<(), Refusal> {
        Ok(())
    }

    /// Something that has to come before a write, as an extension asks for it: an action at this address of the remote.
    async fn prepare(&self, _credential: &CredentialRef, _address: &str) -> Begun {
        let message = "there is nothing that could be sent to this remote before a write";
        Begun::Refused(Failure::error(reason::FAILED, message).into())
    }

    /// What an action of a resource answers at this address of the remote, to the end of its list: keys and other secrets.
    ///
    /// # Errors
    /// When the remote refuses, or has no actions.
    async fn list(
        self: Arc<Self>,
        _credential: &CredentialRef,
        _address: &str,
    ) -> Result<Value, Refusal> {
        let message = "this remote has no actions that could be asked for values";
        Err(Failure::error(reason::FAILED, message).into())
    }

    /// Whether what runs on is followed at the resource's own place, or where it tells no more than how it went. Where else one is
    /// followed that somebody else wrote down is his choice.
    fn is_own(&self, _id: &RemoteId, _operation: &Operation) -> bool {
        false
    }

    /// Where the remote is that answers this credential, as it calls itself in what it answers; empty where it does not.
    async fn endpoint(&self, _credential: &CredentialRef) -> String {
        String::new()
    }

    /// From here on requests stay within these scopes.
    fn bind(&self, _bound: Option<Bound>) {}

    /// What is to be told of requests that were sent although they are outside of the scopes.
    fn take_outside(&self) -> Vec<String> {
        Vec::new()
    }

    /// What the remote has recorded the latest write under, where it has taken it; asked once.
    fn take_correlation(&self) -> Option<String> {
        None
    }

    /// Lets no further write begin; whether one has no answer yet.
    fn ends_writes(&self) -> bool {
        false
    }

    /// What extensions reach the remote by, in the name of this credential.
    fn access(self: Arc<Self>, _credential: &CredentialRef) -> Access {
        Access::default()
    }

    /// From here on nothing is put off: the remote is ahead of what the object says.
    fn commit(&self) {}

    /// How long the pass has to wait, when a request was put off: nothing else may follow.
    fn put_off(&self) -> Option<Duration> {
        None
    }
}

/// What resources live in: the main remote, and others by the name that kinds have for them.
#[derive(Clone)]
pub struct Remotes {
    main: Arc<dyn Remote>,
    others: BTreeMap<&'static str, Arc<dyn Remote>>,
}

impl Remotes {
    /// The main remote alone: the one of all kinds that name no other, and of extensions.
    pub fn new(main: Arc<dyn Remote>) -> Self {
        Self {
            main,
            others: BTreeMap::new(),
        }
    }

    /// With one more.
    #[must_use]
    pub fn with(mut self, name: &'static str, remote: Arc<dyn Remote>) -> Self {
        self.others.insert(name, remote);
        self
    }

    /// The main one.
    pub fn main(&self) -> &Arc<dyn Remote> {
        &self.main
    }

    /// The remote of this name.
    pub fn get(&self, name: &str) -> Option<&Arc<dyn Remote>> {
        self.others.get(name)
    }
}
