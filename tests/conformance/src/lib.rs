//! Comparing what Armature would send with what was recorded between a peer and the real Azure.
//!
//! | module | what lives here |
//! |---|---|
//! | [`data`] | where samples and recordings are, and reading them |
//! | [`renaming`] | bringing samples into the form in which the recorded test applied them |
//! | [`comparison`] | one recorded PUT against one rendered request |
//! | [`differences`] | the checked-in list of differences that are known, with reasons |
//!
//! The data is not part of the project; tests say so and pass when it is absent.

pub mod comparison;
pub mod data;
pub mod differences;
pub mod renaming;
