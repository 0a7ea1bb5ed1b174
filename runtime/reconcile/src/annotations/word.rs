//! The annotations that users write: the name of each, what its text means, and what is expected of it.

use armature_shapes::names;

use super::value::{
    Adopt, Pause, SyncPeriod, adopt, client_ids, flag, paths, pause, protect, sync_period,
};
use crate::allowed_scopes::AllowedScopes;
use crate::policy::Policy;

/// Annotations that hold on a namespace too, for its objects that do not have them.
///
/// [`names::ALLOWED_SCOPES`] is none of them: it holds for all objects of a namespace, whatever they say.
pub const OF_NAMESPACES: [&str; 5] = [
    names::RECONCILE_POLICY,
    names::PAUSED,
    names::SYNC_PERIOD,
    names::ADOPT,
    names::PROTECT,
];

/// Annotation of a namespace: client ids of the identities that its Secrets may name without a proof of their own.
pub const ALLOWED_IDENTITIES: &str = "armature.azure.com/allowed-identities";

/// One annotation: its name, what its text means, and what is expected of it.
pub(super) struct Word<T> {
    pub name: &'static str,
    pub parse: fn(&str) -> Option<T>,
    pub expected: &'static str,
}

pub(super) const POLICY: Word<Policy> = Word {
    name: names::RECONCILE_POLICY,
    parse: Policy::parse,
    expected: "manage, skip or detach-on-delete",
};

pub(super) const OBSERVE: Word<bool> = Word {
    name: names::OBSERVE,
    parse: flag,
    expected: "true or false",
};

pub(super) const ALWAYS_PUT: Word<bool> = Word {
    name: names::ALWAYS_PUT,
    parse: flag,
    expected: "true or false",
};

pub(super) const PAUSED: Word<Option<Pause>> = Word {
    name: names::PAUSED,
    parse: pause,
    expected: "true, false, or the time of its end such as 2030-01-31T18:00:00Z",
};

pub(super) const SYNC_PERIOD: Word<SyncPeriod> = Word {
    name: names::SYNC_PERIOD,
    parse: sync_period,
    expected: "never, or a duration between 10s and a year such as 15m or 2h",
};

pub(super) const IGNORE_PATHS: Word<()> = Word {
    name: names::IGNORE_PATHS,
    parse: paths,
    expected: "at most 100 paths of at most 1000 bytes, with commas",
};

pub(super) const KEEP_UNKNOWN: Word<()> = Word {
    name: names::KEEP_UNKNOWN,
    ..IGNORE_PATHS
};

pub(super) const ADOPT: Word<Adopt> = Word {
    name: names::ADOPT,
    parse: adopt,
    expected: "always, if-equal or never",
};

pub(super) const PROTECT: Word<bool> = Word {
    name: names::PROTECT,
    parse: protect,
    expected: "delete or none",
};

pub(super) const ALLOWED_SCOPES: Word<AllowedScopes> = Word {
    name: names::ALLOWED_SCOPES,
    parse: |text| AllowedScopes::parse(text).ok(),
    expected: "ARM ids such as /subscriptions/ID/resourceGroups/NAME, with commas or spaces between them, or none; remove the \
               annotation to allow what the operator's default allows",
};

pub(super) const IDENTITIES: Word<()> = Word {
    name: ALLOWED_IDENTITIES,
    parse: client_ids,
    expected: "client ids such as 00000000-0000-0000-0000-000000000000, with commas or spaces between them, or none; remove the \
               annotation to allow all",
};
