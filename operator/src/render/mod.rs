//! `armature render`: the ARM requests that manifests would lead to, without a cluster and without Azure.
//!
//! Each object has a pass of the one reconciler there is, over a [world of manifests](crate::worlds::manifests) and a
//! [transport that records](crate::transports::recording).
//!
//! | module | what lives here |
//! |---|---|
//! | [`passes`] | the passes of all objects |
//! | [`assumed`] | owners that are in no manifest and that may stand elsewhere |
//! | [`outcome`] | what a pass has come to: a request, nothing, or a problem |
//! | [`setting`] | what is known beside the manifests |
//! | [`request`] | what is printed |
//!
//! What does not live here: printing (see [`crate::command`]), and anything about how a request is made.

mod assumed;
pub mod outcome;
pub mod passes;
pub mod request;
pub mod setting;

use std::path::PathBuf;
use std::sync::Arc;

use armature_runtime::kind::KindInfo;

pub use crate::worlds::manifests::manifest;
pub use crate::worlds::manifests::problem::{Origin, Problem};
pub use request::RenderedRequest;
pub use setting::{PLACEHOLDER_SUBSCRIPTION, Setting};

use crate::worlds::manifests::inventory::Manifests;
use crate::worlds::manifests::relevant::relevant;
use assumed::Assumed;
use passes::{Outcome, Passes};

/// What came of the inputs: every request that could be made, and everything that is wrong.
#[derive(Debug, Default)]
pub struct Rendering {
    /// Requests in the order of the inputs.
    pub requests: Vec<RenderedRequest>,
    /// Problems in the order of the inputs.
    pub errors: Vec<Problem>,
    /// What is sent all the same and may be a slip, in the order of the inputs.
    pub warnings: Vec<Problem>,
}

/// Renders files and folders. Of an owner that is in no manifest and has none itself, such as a resource group, the name is
/// taken to be that of the object; this is among the problems.
pub fn render_paths(
    paths: &[PathBuf],
    kinds: &[&'static KindInfo],
    subscription: &str,
) -> Rendering {
    let (documents, errors) = manifest::read(paths);
    let mut documents = relevant(&documents, kinds, None);
    let mut assumed = Assumed::of(&documents, kinds);
    documents.append(&mut assumed.documents);
    let mut rendering = assumed.tell(render(documents, kinds, subscription));
    rendering.errors.splice(0..0, errors);
    rendering
}

/// Renders documents that are read already, as if nothing of them were in Azure yet.
pub fn render(
    documents: Vec<manifest::Document>,
    kinds: &[&'static KindInfo],
    subscription: &str,
) -> Rendering {
    render_in(&documents, &Setting::new(kinds, subscription))
}

/// Renders documents. Owners and references are looked for among them alone.
pub fn render_in(documents: &[manifest::Document], setting: &Setting<'_>) -> Rendering {
    let (manifests, mut errors) = Manifests::new(documents, setting.kinds);
    let passes = Passes::new(Arc::new(manifests), setting);
    let mut requests = Vec::new();
    let mut waiting = Vec::new();
    let mut warnings = Vec::new();
    for resource in passes.resources() {
        warnings.extend(resource.warnings.iter().cloned());
        match passes.outcome(resource) {
            Outcome::Sent(request) => requests.extend(request),
            Outcome::Wrong(problems) => errors.extend(problems),
            Outcome::Waits(one) => waiting.push(one),
        }
    }
    errors.extend(outcome::without_told(waiting));
    errors.sort_by_key(|error| (error.origin.order, error.origin.document, error.origin.item));
    Rendering {
        requests,
        errors,
        warnings,
    }
}

#[cfg(test)]
mod tests;
