//! `armature plan`: what manifests, or what runs in a cluster, would change in Azure.
//!
//! Each object has passes of the one reconciler there is, over [a world](crate::worlds::applied) whose writes stay in memory
//! and [a transport](crate::transports::reading) that refuses whatever writes. A pass is stopped at the step that would be the
//! first to change something ([`armature_runtime::reconcile::driver::foresight`]).
//!
//! | module | what lives here |
//! |---|---|
//! | [`planner`] | from inputs to a plan |
//! | [`input`] | which objects are planned, and which are only seen |
//! | [`order`] | what has to come before what |
//! | [`look`] | the passes of one object |
//! | [`outcome`] | what a foreseen step means for the resource |
//! | [`edits`] | what Azure makes of an edit, by its value |
//! | [`left_out`] | what a PUT leaves out of what Azure has |
//! | [`resource`] | a plan and its parts, as they are written and read |
//! | [`text`], [`markdown`] | a plan for people |
//!
//! What does not live here: flags and files (see [`crate::command`]), and any decision about a resource.

pub mod edits;
pub mod input;
pub mod left_out;
pub mod look;
pub mod markdown;
pub mod order;
pub mod outcome;
pub mod planner;
pub mod resource;
pub mod text;

pub use input::Input;
pub use planner::{Setting, Way, plan};
pub use resource::{Action, LeftOut, Name, Plan, Property, Resource};

#[cfg(test)]
mod tests;
