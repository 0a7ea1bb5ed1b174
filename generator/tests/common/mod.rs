//! What tests of several passes need: small specs, Azure's specs, models by hand, and models as text.

pub mod lines;
pub mod models;
pub mod outline;
pub mod places;
pub mod real;

use std::collections::BTreeMap;

use armature_generator::discover::{discover, overlaid};
use armature_generator::inherit::{Known, inherit};
use armature_generator::load::{LoadError, SpecRoot, SpecSet, load};
use armature_generator::model::{ApiVersion, Version};
use armature_generator::overlay::Overlaid;
use armature_generator::types::build;

/// The folder of small specs.
pub fn specs() -> SpecRoot {
    SpecRoot::new(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/specs"))
}

/// Loads small specs.
pub fn load_specs(files: &[&str]) -> Result<SpecSet, LoadError> {
    let files: Vec<String> = files.iter().map(|file| (*file).to_owned()).collect();
    load(&specs(), &files)
}

/// The model of Bicep types with what these versions of OpenAPI add.
pub fn inherited(
    set: &SpecSet,
    api_version: &ApiVersion,
    openapi: &BTreeMap<ApiVersion, SpecSet>,
) -> Version {
    let resources = discover(set).expect("resources");
    let found = openapi.iter().map(|(version, set)| {
        let resources = discover(set).expect("resources of OpenAPI");
        (version, set, resources)
    });
    let found: Vec<_> = found.collect();
    let known = found.iter().map(|(version, set, resources)| {
        let known = Known { set, resources };
        ((*version).clone(), vec![known])
    });
    let ours = Known {
        set,
        resources: &resources,
    };
    let overlay = inherit(ours, api_version, &known.collect());
    let resources = overlaid(resources.clone(), &overlay);
    let set = Overlaid::new(set, &overlay);
    build(set, api_version.clone(), &resources).expect("types")
}
