//! The cluster as the driver sees it: one object after the other, by the port of [`armature_reconcile`].
//!
//! | module | what it does |
//! |---|---|
//! | `port` | the port |
//! | `credential` | Secrets with credentials |
//! | `digest_key` | the key of digests and of the notes' signature |
//! | `signing` | signs the notes of all objects |
//! | `namespace` | annotations of namespaces |
//! | `namespace_credential` | namespaces with a credential of their own |
//! | `secret_versions` | versions of Secrets with credentials |
//! | `protection` | what a deletion must not take along |
//! | `inventory` | all objects, for questions about all of them |
//! | `in_step` | which watches are in step |
//! | `wake` | who is told that an object needs a pass |
//!
//! What does not live here: watches, which fill what this reads ([`crate::watching`]).

pub(crate) mod credential;
pub(crate) mod digest_key;
pub(crate) mod in_step;
pub(crate) mod inventory;
pub(crate) mod namespace;
pub(crate) mod namespace_credential;
pub(crate) mod port;
pub(crate) mod protection;
pub(crate) mod secret_versions;
pub(crate) mod signing;
pub(crate) mod wake;
