//! For tests, of this crate and of those above it.
//!
//! | module | what it has |
//! |---|---|
//! | [`arbitrary`] | values of any shape, as people and services write them |
//! | [`by_shape`] | Rust types by their shapes |
//! | [`everything`] | a struct with every type of field |
//! | [`gadget`] | a kind in two versions with every semantic and every step of a plan |
//! | [`plain`] | a kind of which nothing matters but its ARM type and scope |
//! | [`kinds`] | kinds that the reconciler's tests reconcile |
//! | [`processor`] | how long a thread has had a processor |
//! | [`shown`] | whether a text shows a secret, in whatever form |
//!
//! What does not live here: anything that runs outside tests.

pub mod arbitrary;
pub mod by_shape;
pub mod everything;
pub mod gadget;
pub mod kinds;
pub mod plain;
pub mod processor;
pub mod shown;
