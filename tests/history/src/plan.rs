//! What a history is: how Azure behaves, and the steps that users, Azure, other clients and the machines take.
//!
//! A plan says nothing of the objects that it meets: every step has a meaning in every state, or none. So steps can be
//! taken out of a plan one by one, which is how a failure becomes small.

use serde::{Deserialize, Serialize};

/// A history that can be run, and run again.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct History {
    /// Kind that it is about: `StorageAccount`.
    pub kind: String,
    /// How Azure behaves.
    pub azure: Manner,
    /// The steps.
    pub steps: Vec<Step>,
}

impl History {
    /// How Azure behaves.
    pub fn manner(&self) -> Manner {
        self.azure
    }
}

/// How Azure behaves.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Manner {
    /// Locations, ids, names and the order of lists come back in another form.
    pub rewrites: bool,
    /// A PUT leaves in place what it does not name.
    pub keeps: bool,
    /// Seconds that an operation takes.
    pub seconds: u8,
    /// Whether PUTs are long-running where the spec does not say so.
    pub asynchronous: bool,
    /// A policy adds a tag to whatever is PUT and has tags.
    #[serde(default)]
    pub policy: bool,
}

/// A spec that is drawn: the same seed and size give the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Draw {
    /// Seed of the values.
    pub seed: u64,
    /// About how many values; 0 is what is required.
    pub size: u8,
}

/// Whose object a step is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Who {
    /// The object of the kind.
    Target,
    /// Its owner; the object itself where it has none.
    Owner,
}

/// What an edit does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Change {
    /// A field, a key of a map or an item of a list comes in.
    Add,
    /// One gets another value.
    Change,
    /// One goes.
    Remove,
    /// A list is turned round.
    Reorder,
}

/// Words of the reconcile policy.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum PolicyWord {
    /// No annotation.
    None,
    /// `manage`.
    Manage,
    /// `skip`.
    Skip,
    /// `detach-on-delete`.
    Detach,
}

/// What happens to the Secret and the ConfigMap that specs refer to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum DataChange {
    /// Another value under the key that is used.
    Content,
    /// A key that no reference names.
    OtherKey,
    /// A label: the content stays.
    Label,
    /// Written again with the same content.
    Same,
    /// Gone.
    Removed,
}

/// What goes wrong on the way to Azure or in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Trouble {
    /// 429 with `Retry-After`.
    Throttled,
    /// 500.
    Internal,
    /// 502 without ARM's words.
    BadGateway,
    /// 503 with `Retry-After`.
    Busy,
    /// 403.
    Forbidden,
    /// The request never arrives.
    Cut,
    /// The request arrives and its answer is lost.
    Lost,
    /// The answer has half a body.
    Truncated,
    /// The operation that the request starts ends badly.
    FailedOperation,
    /// A GET shows what was there before the last write.
    Stale,
}

/// Method of the requests that meet trouble.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Verb {
    /// PUT.
    Put,
    /// GET of the resource and of its operations.
    Get,
    /// DELETE.
    Delete,
}

/// A pass of the process that ends in the middle of it: the n-th of its writes and requests, and on which side.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cut {
    /// Writes and requests that went well before.
    pub at: u8,
    /// Whether this one was done, and nobody heard of it.
    pub done: bool,
}

/// What is done to the operator's work.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Run {
    /// This many passes of what is due now.
    Passes(u8),
    /// Time passes, and all that becomes due is done.
    Seconds(u16),
    /// Until nothing is due but syncs.
    Quiet,
    /// The same, and every object is synced once.
    Sync,
}

/// One step.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Step {
    /// The object is created, or gets a whole new spec.
    Apply(Draw),
    /// One thing in a spec changes; values come from the draw.
    Edit(Who, Change, Draw),
    /// The same spec is written in another version.
    Version(u8),
    /// The policy of the object.
    Policy(PolicyWord),
    /// The policy of the namespace.
    NamespacePolicy(PolicyWord),
    /// Observing is switched on or off.
    Observe(bool),
    /// The Secret changes.
    Secret(DataChange),
    /// The ConfigMap changes.
    ConfigMap(DataChange),
    /// The object is deleted.
    Delete,
    /// The object is deleted and made anew under another name; the resource keeps its own, or gets the new one too.
    Rename(bool),
    /// Somebody else creates the resource while there is no object.
    Precede(Draw),
    /// The object comes as Azure Service Operator left it; with an edit that it has not sent yet.
    FromAso(Draw, Option<Draw>),
    /// Somebody changes the resource in Azure.
    Drift(Who, Change, u16),
    /// Azure does something by itself, one of what it does to the type; the number says what and how. Every other number has
    /// it watched: nothing may be written for it.
    Act(Who, u32),
    /// An edit after which Azure may own a value, or no longer may.
    Permit(Who, bool, Draw),
    /// Somebody changes one thing again and again, whatever the operator does.
    Fight(Who, u16),
    /// Somebody removes the resource from Azure.
    Vanish(Who),
    /// The next requests of a method meet trouble.
    Trouble(Who, Verb, Trouble, u8),
    /// The next writes of objects come too late.
    Conflicts(u8),
    /// The process ends, and another starts with nothing.
    Restart,
    /// The process ends in the middle of a pass, and another starts.
    Crash(Who, Cut),
    /// The process hangs in the middle of a pass; another takes over, and then the last write of the first one arrives.
    FailOver(Who, u8),
    /// The operator works.
    Run(Run),
}
