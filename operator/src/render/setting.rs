//! What is known beside the manifests.

use armature_runtime::extension::Registry;
use armature_runtime::kind::KindInfo;

use crate::transports::recording::Resources;

pub use crate::worlds::manifests::inventory::PLACEHOLDER_SUBSCRIPTION;

/// What is known beside the manifests.
#[derive(Clone)]
pub struct Setting<'a> {
    /// The kinds that there are.
    pub kinds: &'a [&'static KindInfo],
    /// The subscription that every credential is for. [`PLACEHOLDER_SUBSCRIPTION`] says that it is not known: then
    /// owners by ARM id may be in any.
    pub subscription: &'a str,
    /// Extensions of the kinds.
    pub extensions: Registry,
    /// What Azure has beside the resources of the manifests.
    pub resources: Resources,
}

impl<'a> Setting<'a> {
    /// The setting of a command line: the operator's extensions, and an Azure with nothing in it.
    pub fn new(kinds: &'a [&'static KindInfo], subscription: &'a str) -> Self {
        let extensions = armature_customizations::registry();
        Self {
            kinds,
            subscription,
            // A test of the customizations registers them all; the operator could not start either.
            extensions: extensions.expect("no two extensions of one kind are for one point"),
            resources: Resources::new(),
        }
    }
}
