//! `armature tree`, `armature why` and `armature status`: what runs in a cluster, how it hangs together, and what is in the way.
//!
//! | module | what lives here |
//! |---|---|
//! | [`node`] | an object, a Secret or a ConfigMap, and the state that it is in |
//! | [`relations`] | who owns, refers to, reads and writes what |
//! | [`followed`] | what there is, kept up to date by watches |
//! | [`why`] | the chain from an object to the one thing that is in the way |
//! | [`advice`] | what to do about it |
//! | [`text`] | all of it as text |
//! | [`screen`] | objects as a table that fits a terminal |
//!
//! What does not live here: how a state comes about; it is what the operator wrote into the objects.

pub mod advice;
pub mod followed;
pub mod node;
#[allow(clippy::module_inception, reason = "it is what the folder is about")]
pub mod relations;
pub mod screen;
pub mod text;
pub mod why;

pub use node::{Node, Ready};
pub use relations::Relations;
pub use why::Why;

#[cfg(test)]
mod tests;
