//! The ground floor: what a kind is, as data, and what follows from that data alone. Generated crates see this crate
//! and nothing else, so it changes seldom.
//!
//! | module | what lives here |
//! |---|---|
//! | [`shape`] | static schema tables, the codec between JSON and typed structs |
//! | [`kind`] | static descriptors of kinds and their versions |
//! | [`resource`] | structs every kind shares: references, secrets, conditions, the typed object |
//! | [`conversion`] | an object in another version, or in stored form, by the plans of its kind |
//! | [`id`] | ARM resource ids |
//! | [`segment`] | what may stand between two slashes of an ARM id |
//! | [`names`] | names on the wire: finalizer, annotations, labels |
//! | [`quote`] | texts of users in messages |
//! | [`digest`] | JSON in one spelling, and short digests of it |
//! | `testing` | values of any shape and a few kinds, with the feature `testing` |
//!
//! What does not live here: I/O, and anything that only engines or the reconciler need.

pub mod conversion;
pub mod digest;
pub mod id;
pub mod kind;
pub mod names;
pub mod quote;
pub mod resource;
pub mod segment;
pub mod shape;
#[cfg(any(test, feature = "testing"))]
pub mod testing;
