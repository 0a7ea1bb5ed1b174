//! `armature import`: manifests of what exists in Azure.
//!
//! What Azure shows of a resource becomes a spec by the same tables by which a spec becomes a request, and nothing in
//! between knows a service. What a kind does not want to be imported says its
//! [importer](armature_runtime::extension::Importer).
//!
//! | module | what lives here |
//! |---|---|
//! | [`known`] | which kind and version an ARM id is imported as, and what may be below it |
//! | [`draft`] | from one answer of Azure to a spec |
//! | [`defaults`] | a spec without what Azure sets by itself |
//! | [`secrets`] | references to Secrets where Azure has secrets |
//! | [`mend`], [`left_out`] | a spec that the API server takes, and what had to go for it |
//! | [`names`] | names in Kubernetes |
//! | [`links`] | owners and references by name |
//! | [`manifest`] | drafts together become manifests |
//! | [`reader`] | reads within the budget |
//! | [`discover`] | what there is: the Graph, lists, children |
//! | [`importer`] | one import, from ids to manifests |
//! | [`text`] | manifests and reports as text |
//! | [`kustomization`] | which files of a folder are of an import |
//!
//! But for [`reader`], [`discover`] and [`importer`], all are pure. What does not live here: flags and files (see [`crate::command`]).

pub mod defaults;
pub mod discover;
pub mod draft;
pub mod importer;
pub mod known;
pub mod kustomization;
mod left_out;
mod links;
pub mod manifest;
mod mend;
pub mod names;
pub mod reader;
mod secrets;
mod steps;
pub mod text;

pub use draft::{Draft, Resource, draft};
pub use left_out::LeftOut;
pub use manifest::{Imported, SecretKey, Wanted, manifests};

#[cfg(test)]
mod tests;
