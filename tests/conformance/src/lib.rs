//! Comparing what Armature would send with what was recorded between a peer and the real Azure, and what must
//! hold for every generated kind and version.
//!
//! | module | what lives here |
//! |---|---|
//! | [`data`] | where samples and recordings are, and reading them |
//! | [`renaming`] | bringing samples into the form in which the recorded test applied them |
//! | [`run`] | every recorded PUT of our kinds, and what became of it |
//! | [`comparison`] | one recorded PUT against one rendered request |
//! | [`replay`] | the operator against recordings that answer |
//! | [`imports`] | every recorded resource, imported, and what is wrong with it |
//! | [`page`] | the result of rendering as a page of the book |
//! | [`book`] | where pages are kept |
//! | [`exceptions`] | the checked-in lists of what is known to differ, with reasons |
//! | [`properties`] | running properties over arbitrary values of all kinds and versions |
//!
//! The recorded data is not part of the project; tests say so and pass when it is absent.

pub mod book;
pub mod comparison;
pub mod data;
pub mod exceptions;
pub mod imports;
pub mod page;
pub mod properties;
pub mod renaming;
pub mod replay;
pub mod run;
