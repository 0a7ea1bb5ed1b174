//! `armature render`: the ARM requests that manifests would lead to, without a cluster and without Azure.
//!
//! | module | what lives here |
//! |---|---|
//! | [`manifest`] | files and folders become documents |
//! | [`inventory`] | documents become objects, Secrets and ConfigMaps that can be found by name |
//! | [`request`] | one object becomes one request |
//! | [`error`] | what is wrong, and where |
//!
//! What does not live here: printing (see [`crate::command`]) and the payload itself
//! ([`armature_runtime::engine::payload`]), which is the one that the operator sends.

pub mod error;
pub mod inventory;
pub mod manifest;
pub mod request;

use std::path::PathBuf;

use armature_runtime::kind::KindInfo;

pub use error::{Origin, RenderError};
pub use request::RenderedRequest;

use inventory::Inventory;

/// Subscription in rendered ids when none is given.
pub const PLACEHOLDER_SUBSCRIPTION: &str = "00000000-0000-0000-0000-000000000000";

/// What came of the inputs: every request that could be made, and everything that is wrong.
#[derive(Debug, Default)]
pub struct Rendering {
    /// Requests in the order of the inputs.
    pub requests: Vec<RenderedRequest>,
    /// Problems in the order of the inputs.
    pub errors: Vec<RenderError>,
}

/// Renders files and folders.
pub fn render_paths(
    paths: &[PathBuf],
    kinds: &[&'static KindInfo],
    subscription: &str,
) -> Rendering {
    let (documents, errors) = manifest::read(paths);
    let mut rendering = render(documents, kinds, subscription);
    rendering.errors.splice(0..0, errors);
    rendering
}

/// Renders documents that are read already. Owners and references are looked for among them alone.
pub fn render(
    documents: Vec<manifest::Document>,
    kinds: &[&'static KindInfo],
    subscription: &str,
) -> Rendering {
    let (inventory, mut errors) = Inventory::new(documents, kinds);
    let mut requests = Vec::new();
    for object in inventory.objects() {
        match request::render(object, &inventory, subscription) {
            Ok(request) => requests.extend(request),
            Err(more) => errors.extend(more),
        }
    }
    errors.sort_by_key(|error| (error.origin.order, error.origin.document));
    Rendering { requests, errors }
}

#[cfg(test)]
mod tests;
