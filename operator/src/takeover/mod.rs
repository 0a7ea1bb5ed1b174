//! Moving a cluster over from Azure Service Operator, and giving it back.
//!
//! | module | what |
//! |---|---|
//! | [`ahead`] | objects that Azure Service Operator could not read |
//! | [`found`] | what a cluster has of both operators |
//! | [`settings`] | what Azure Service Operator is told, and what becomes of it here |
//! | [`check`] | what the first passes over its objects would do, and what is no ordinary takeover |
//! | [`exception`] | what a takeover does not do without a word |
//! | [`answers`] | values of the chart that settle such things |
//! | [`standing`] | who applies Azure Service Operator's Deployment, and what rights its service account keeps |
//! | [`record`] | what the way back needs, kept in the cluster |
//! | [`steps`] | the steps there and back, and how far they are |
//! | [`carry_out`] | what is done for a step |
//! | [`text`] | all of it for people |
//!
//! What does not live here: what a pass does (see [`crate::plan`]), and how CRDs are taken over, which the operator does when
//! it starts (see [`crate::crds`]).

pub mod ahead;
pub mod answers;
pub mod carry_out;
pub mod check;
pub mod exception;
pub mod found;
pub mod record;
pub mod settings;
pub mod standing;
pub mod steps;
pub mod text;

#[cfg(test)]
mod tests;
