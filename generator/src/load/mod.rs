//! Pass 1: spec files → documents with resolved references.
//!
//! Here: finding, reading and caching files ([`SpecRoot`]), following references to other files, and the document
//! model that every front end lowers to ([`document`]). Front ends are one module each, chosen by [`format`];
//! [`swagger`] reads Swagger 2.0, [`openapi3`] OpenAPI 3.0 and [`bicep`] the types of Bicep; what the first two write
//! alike is in [`schema`]. Not here: what an ARM resource is (`discover`) and what its types are (`types`).

mod bicep;
mod bounds;
mod check;
pub mod document;
mod error;
mod format;
mod gather;
mod json;
mod members;
mod openapi3;
mod relative;
mod root;
mod schema;
mod set;
mod swagger;

pub use document::{
    Additional, Document, Operation, Parameter, ParameterPlace, Path, Schema, SchemaType, Source,
    Target, Verb,
};
pub use error::LoadError;
pub use gather::load;
pub(crate) use relative::resolve_file;
pub use root::{BICEP_FOLDER, SpecRoot, is_bicep_file, path_in_copy};
pub use set::SpecSet;
