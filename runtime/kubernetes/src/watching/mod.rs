//! Watches, which fill the cache and wake the queue.
//!
//! | module | what it does |
//! |---|---|
//! | `watch` | all watches of the operator |
//! | `follow` | one watch, begun again until it is told to stop |
//! | `fails_alone` | a list that fails in one namespace alone |
//! | `listed_secrets` | what the watch of Secrets tells of credentials |
//!
//! What does not live here: what a change means ([`crate::cache`]).

pub(crate) mod fails_alone;
pub(crate) mod follow;
pub(crate) mod listed_secrets;
pub(crate) mod watch;
