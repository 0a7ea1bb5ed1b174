//! What one thing that was tried has come to: words that the reconciler and the extensions share.
//!
//! What does not live here: what a pass has found out in all ([`crate::observed`]), what an Azure error means
//! ([`crate::classify`]), and results that only one extension point has ([`crate::extension`]).

mod failure;
mod write;

pub use failure::Failure;
pub use write::{Poll, Write};
