//! What a pass has found out, each thing once and beside what it belongs to. Steps fill it; what the decision asks is computed
//! from it.
//!
//! What does not live here: how it is found out, what the object says by itself ([`super::forms`]), and what the next write is to
//! say ([`super::pending`]).

use std::sync::Arc;

use armature_engine::compare::{Difference, SecretVersion};
use armature_engine::owned::Scaled;
use armature_engine::payload::Resolved;
use armature_shapes::id::RemoteId;
use armature_shapes::resource::Object;
use jiff::Timestamp;
use serde_json::Value;

use crate::annotations::Annotations;
use crate::extension::{PostCheck, PreCheck};
use crate::observed::{
    Comparison, Contest, Holder, Identity, Leaving, NamedBy, Observed, OwnerState, Recorded,
    Resource,
};
use crate::outcome::{Failure, Poll, Write};
use crate::port::Protection;
use crate::remote::{Credential, CredentialRef, Reading};

/// All that a pass has found out. What is not there was not asked yet.
#[derive(Default)]
pub(super) struct Findings {
    /// The object's namespace.
    pub namespace: Namespace,
    /// The object's owner.
    pub owner: Owner,
    /// For whom requests are sent.
    pub sign_in: Option<SignIn>,
    /// Which resource it is.
    pub place: Place,
    /// What the payload is made from.
    pub inputs: Inputs,
    /// What extensions say.
    pub checks: Checks,
    /// What is there.
    pub seen: Seen,
    /// What there is to be.
    pub payload: Payload,
    /// What was written in this pass, or went on.
    pub writes: Writes,
    /// Secrets and ConfigMaps written.
    pub export: Option<Result<(), Failure>>,
    /// Hook after success.
    pub success_hook: Option<Result<(), Failure>>,
}

/// The object's namespace.
#[derive(Default)]
pub(super) struct Namespace {
    /// Its annotations.
    pub annotations: Annotations,
    /// They are those that the API server had in this pass, not those of the watch.
    pub is_live: bool,
}

/// The object's owner.
#[derive(Default)]
pub(super) struct Owner {
    /// Whether it can be built on, when it was read in the cluster.
    pub state: Option<OwnerState>,
    /// The owner itself, with the status that was read last.
    pub object: Option<Arc<Object>>,
}

/// The credential that was chosen, and whose it is.
pub(super) struct SignIn {
    /// Where it comes from.
    pub key: CredentialRef,
    /// Its account.
    pub account: Result<Credential, Failure>,
}

/// Which resource it is, and who else stands for it or is below it.
#[derive(Default)]
pub(super) struct Place {
    /// What the remote calls it: as the object recorded it, or as its spec says.
    pub id: Option<RemoteId>,
    /// A name in Azure that was made up in this pass, and is to be in the spec from the claim on.
    pub new_name: Option<String>,
    /// The recorded id against the spec.
    pub identity: Option<Result<Identity, Failure>>,
    /// The recorded id is the one that the spec gives, or was made from it.
    pub is_proven: bool,
    /// Who of several objects writes the resource.
    pub holder: Option<Holder>,
    /// The claim, when it was tried.
    pub claim: Option<Result<(), Failure>>,
    /// Whether something below the resource must not be deleted.
    pub protection: Option<Protection>,
    /// Whether the spec of the parent's object names the resource as an item of its own.
    pub named_by: Option<NamedBy>,
}

/// References, Secrets and ConfigMaps that the payload needs.
#[derive(Default)]
pub(super) struct Inputs {
    /// Whether all of them are there.
    pub outcome: Option<Result<(), Failure>>,
    /// Those that are there, even where others are not: what Azure quotes of them must be covered.
    pub resolved: Resolved,
    /// Secrets among them, as records of earlier releases know them.
    pub secret_versions: Vec<SecretVersion>,
}

/// What extensions say.
#[derive(Default)]
pub(super) struct Checks {
    /// Check of the owner.
    pub owner: Option<Result<PreCheck, Failure>>,
    /// Check before the PUT.
    pub before_put: Option<Result<PreCheck, Failure>>,
    /// Check after the PUT.
    pub after_put: Option<Result<PostCheck, Failure>>,
}

/// What is there, as the remote tells.
#[derive(Default)]
pub(super) struct Seen {
    /// What the remote last told; nothing where there is none.
    pub answer: Option<Reading>,
    /// When it was asked for, by our clock.
    pub since: Option<Timestamp>,
    /// What that is worth now.
    pub look: Look,
}

/// What the latest look has come to.
#[derive(Default)]
pub(super) enum Look {
    /// There was none, or none since something was written.
    #[default]
    Due,
    /// The answer is what is there.
    Answered,
    /// There is none; the answer is an earlier one.
    Failed(Failure),
}

/// What there is to be, and how it compares with what is there.
#[derive(Default)]
pub(super) struct Payload {
    /// Body to be sent, without lists of children that are kinds of their own.
    pub body: Option<Result<Value, Failure>>,
    /// What is to be told of it when it is sent: ids outside of the namespace's scopes.
    pub outside: Option<String>,
    /// Something else is desired than what was sent last; only looked at after operations that failed.
    pub is_edited: bool,
    /// Whether another resource changes how many units this one has.
    pub scaled: Scaled,
    /// Desired against observed.
    pub comparison: Option<Comparison>,
    /// Whether Azure has all of an edit that the policy keeps from it.
    pub has_edit: Option<bool>,
    /// Whether the drift was put right before.
    pub contest: Option<Contest>,
    /// What is drift, to be put right.
    pub drift: Vec<Difference>,
    /// The PUT leaves items out that have waited long enough.
    pub removes: bool,
    /// Drift that is put right later: a PUT repeats what Azure has there.
    pub carried: Vec<String>,
    /// Items that are to go, but not yet.
    pub leaving: Option<Leaving>,
    /// Whether what is desired and what Azure has for it is recorded.
    pub recorded: Option<Recorded>,
}

/// What was written in this pass, or went on.
#[derive(Default)]
pub(super) struct Writes {
    /// What Azure was asked to do before the PUT.
    pub prerequisite: Option<Write>,
    /// The PUT.
    pub put: Option<Write>,
    /// How often the resource changed between being read and being written, or may have.
    pub overtaken: usize,
    /// Registration of the type's provider, when the PUT lacked it.
    pub registration: Option<Result<(), Failure>>,
    /// The look at a running operation.
    pub poll: Option<Poll>,
    /// The DELETE.
    pub delete: Option<Write>,
}

impl Findings {
    /// The key of the credential; the operator's own until another one is chosen.
    pub fn credential(&self) -> &CredentialRef {
        let chosen = self.sign_in.as_ref();
        chosen.map_or(&CredentialRef::Global, |sign_in| &sign_in.key)
    }

    /// The credential's account: its subscription.
    pub fn account(&self) -> &str {
        let account = self.sign_in.as_ref();
        let account = account.and_then(|sign_in| sign_in.account.as_ref().ok());
        account.map_or("", |account| &account.subscription)
    }

    /// The body to be sent; null while there is none.
    pub fn desired(&self) -> &Value {
        match &self.payload.body {
            Some(Ok(body)) => body,
            _ => &Value::Null,
        }
    }

    /// What the remote last told of the resource.
    pub fn remote_body(&self) -> Option<&Value> {
        self.seen.answer.as_ref()?.body.as_ref()
    }
}

impl SignIn {
    /// No credential may be used.
    pub fn refused(failure: Failure) -> Self {
        Self {
            key: CredentialRef::Global,
            account: Err(failure),
        }
    }
}

impl Seen {
    /// Something was written: what was seen before says nothing any more of what is there, but still of what was.
    pub fn expire(&mut self) {
        self.look = Look::Due;
    }

    fn resource(&self) -> Option<Result<Resource, Failure>> {
        match (&self.look, &self.answer) {
            (Look::Due, _) => None,
            (Look::Failed(failure), _) => Some(Err(failure.clone())),
            (Look::Answered, None) => Some(Ok(Resource::Missing)),
            (Look::Answered, Some(answer)) => {
                Some(Ok(Resource::Found(answer.provisioning.clone())))
            }
        }
    }
}

impl From<&Findings> for Observed {
    fn from(findings: &Findings) -> Self {
        let Findings {
            namespace,
            owner,
            sign_in,
            place,
            inputs,
            checks,
            seen,
            payload,
            writes,
            export,
            success_hook,
        } = findings;
        let body = payload.body.as_ref();
        Self {
            namespace_is_live: namespace.is_live,
            owner: owner.state.clone(),
            credential: sign_in.as_ref().map(|sign_in| sign_in.account.clone()),
            inputs: inputs.outcome.clone(),
            identity: place.identity.clone(),
            holder: place.holder.clone(),
            claim: place.claim.clone(),
            owner_check: checks.owner.clone(),
            resource: seen.resource(),
            pre_check: checks.before_put.clone(),
            prerequisite: writes.prerequisite.clone(),
            payload: body.map(|body| body.as_ref().map(|_| ()).map_err(Failure::clone)),
            comparison: payload.comparison.clone(),
            has_edit: payload.has_edit,
            contest: payload.contest.clone(),
            leaving: payload.leaving.clone(),
            carries_drift: !payload.carried.is_empty(),
            put: writes.put.clone(),
            registration: writes.registration.clone(),
            poll: writes.poll.clone(),
            recorded: payload.recorded,
            post_check: checks.after_put.clone(),
            export: export.clone(),
            success_hook: success_hook.clone(),
            protection: place.protection.clone(),
            named_by: place.named_by.clone(),
            delete: writes.delete.clone(),
        }
    }
}

#[cfg(test)]
mod tests;
