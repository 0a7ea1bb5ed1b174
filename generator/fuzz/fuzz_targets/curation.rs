//! A curation file of any text over small specs: applied, or refused with its line.
#![no_main]

use std::sync::LazyLock;

use armature_generator::curation::GroupConfig;
use armature_generator::load::SpecRoot;
use armature_generator::pipeline::{NoProgress, generate};
use armature_generator_fuzz::SPECS;
use libfuzzer_sys::fuzz_target;

/// The small specs, with one also where curation files look for it: `specs = "small"`, api-version 2024-01-01.
static ROOT: LazyLock<SpecRoot> = LazyLock::new(|| {
    let widgets = std::fs::read_to_string(format!("{SPECS}/widgets/widgets.json"));
    let widgets = widgets.expect("the small specs are in the repository");
    let widgets = widgets.replace("../common", "../../../common");
    SpecRoot::new(SPECS).with_text("small/stable/2024-01-01/widgets.json", widgets)
});

fuzz_target!(|text: &str| {
    let error = match GroupConfig::parse("specs/test.toml", text) {
        Ok(config) => {
            let result = generate(&ROOT, &[config], &NoProgress);
            result.err().map(|error| error.to_string())
        }
        Err(error) => Some(error.to_string()),
    };
    if let Some(error) = error {
        let named = ["specs/test.toml", ".json"];
        assert!(named.iter().any(|it| error.contains(it)), "the error names no file: {error}");
    }
});
