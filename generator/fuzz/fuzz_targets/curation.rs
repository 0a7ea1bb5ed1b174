//! A curation file of any text over small specs: applied, or refused with its line.
#![no_main]

use std::sync::LazyLock;

use armature_generator::curate::GroupConfig;
use armature_generator::load::SpecRoot;
use armature_generator::pipeline::{NoProgress, generate};
use armature_generator_fuzz::SPECS;
use libfuzzer_sys::fuzz_target;

static ROOT: LazyLock<SpecRoot> = LazyLock::new(|| SpecRoot::new(SPECS));

fuzz_target!(|text: &str| {
    let error = match GroupConfig::parse("specs/test.toml", text) {
        Ok(config) => generate(&ROOT, &[config], &NoProgress).err().map(|it| it.to_string()),
        Err(error) => Some(error.to_string()),
    };
    if let Some(error) = error {
        let named = ["specs/test.toml", ".json"];
        assert!(named.iter().any(|it| error.contains(it)), "the error names no file: {error}");
    }
});
