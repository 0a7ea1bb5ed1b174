//! Schemas as Swagger 2.0 and OpenAPI 3.0 share them.
//!
//! Here: their form in a file ([`raw`]), and the lowering of schemas and references that both front ends do alike
//! ([`lower`]). Not here: paths, operations and parameters, in which the two formats differ.

mod lower;
mod raw;

pub(super) use lower::{Lowering, child, schema_type, strings};
pub(super) use raw::{MsEnum, RawAdditional, RawSchema};
