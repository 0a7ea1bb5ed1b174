//! What Bicep types inherit from OpenAPI.

mod sources;
