//! Why a group's files cannot be written.

use super::format::FormatError;
use crate::model::MissingType;

/// Why a group's files could not be written: a problem of the generator itself.
#[derive(Debug, thiserror::Error)]
pub enum EmitError {
    /// It wrote something that is no Rust.
    #[error(transparent)]
    Format(#[from] FormatError),
    /// A type refers to one that is not there.
    #[error(transparent)]
    Missing(#[from] MissingType),
}
