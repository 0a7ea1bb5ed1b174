//! `armature kinds` and `armature explain`: what there is to write in a manifest, from shapes and kinds alone.
//!
//! | module | what lives here |
//! |---|---|
//! | [`find`] | kinds by what people call them |
//! | [`fixed`] | what of a kind cannot change |
//! | [`kind`] | a kind: versions, ARM type, owner, name, exports |
//! | [`property`] | a property: type, rules, place in ARM, versions that have it |
//! | [`wording`] | types and rules in words |
//! | [`text`] | all of it for a terminal |
//!
//! What does not live here: what Azure's own documentation says about a property.

pub mod find;
mod fixed;
pub mod kind;
pub mod property;
pub mod text;
mod wording;

pub use find::{Topic, matching};
pub use kind::KindPage;
pub use property::PropertyPage;

#[cfg(test)]
mod tests;
