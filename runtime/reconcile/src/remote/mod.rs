//! The port through which the driver reaches what objects stand for: a remote knows how to name, read, write and remove it,
//! and how to follow what goes on after a write.
//!
//! | module | what lives here |
//! |---|---|
//! | [`operation`] | a write that a remote works on, and what became of it |
//! | [`refusal`] | why a remote did not do what was asked |
//! | `arm` | Azure Resource Manager as a remote |
//! | `gate` | the budget of requests on the way to it |
//!
//! Azure Resource Manager is one; kinds say with [`armature_shapes::kind::Remote`] which is theirs. A second one, in memory,
//! is in the tests: it shows all that a remote has to do.
//!
//! What does not live here: what to do when (see [`mod@crate::decide`]), and what is kept in the object
//! (see [`crate::driver`]).

mod arm;
mod gate;
pub mod operation;
pub mod refusal;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use armature_shapes::id::RemoteId;
use armature_shapes::kind::{KindInfo, VersionInfo};
use armature_shapes::resource::ObjectKey;
use async_trait::async_trait;
use jiff::Timestamp;
use serde_json::Value;

use crate::observed::{Credential, Provisioning};
use crate::outcome::Failure;

pub(crate) use arm::transport_failure;
pub use armature_azure::CredentialKey;
pub(crate) use gate::Gate;
pub use operation::{Begun, Operation, Progress, Verb};
pub use refusal::Refusal;

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
    pub credential: &'a CredentialKey,
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
    /// The way there, for one pass over this object. Nobody waits for the outcome of a pass in the background.
    fn open(&self, object: &ObjectKey, in_background: bool) -> Arc<dyn Session>;
}

/// The way of one pass to a remote. One call is one look or one write; nothing waits for the end of what runs on, and nothing
/// is tried again.
#[async_trait]
pub trait Session: Send + Sync {
    /// Finds out for what account this credential is, before anything else is asked. What follows stays within it.
    async fn sign_in(&self, credential: &CredentialKey) -> Result<Credential, Failure>;

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

    /// From here on nothing is put off: the remote is ahead of what the object says.
    fn commit(&self) {}

    /// How long the pass has to wait, when a request was put off: nothing else may follow.
    fn put_off(&self) -> Option<Duration> {
        None
    }
}

/// Remotes beside Azure Resource Manager, by the name that kinds have for them.
#[derive(Clone, Default)]
pub struct Remotes(BTreeMap<&'static str, Arc<dyn Remote>>);

impl Remotes {
    /// With one more.
    #[must_use]
    pub fn with(mut self, name: &'static str, remote: Arc<dyn Remote>) -> Self {
        self.0.insert(name, remote);
        self
    }

    /// The remote of this name.
    pub fn get(&self, name: &str) -> Option<&Arc<dyn Remote>> {
        self.0.get(name)
    }
}
