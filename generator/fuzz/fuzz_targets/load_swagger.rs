//! Text in place of a Swagger file: read, or refused with a place.
#![no_main]

use std::sync::LazyLock;

use armature_generator::load::SpecRoot;
use armature_generator_fuzz::{SPECS, read};
use libfuzzer_sys::fuzz_target;

static ROOT: LazyLock<SpecRoot> = LazyLock::new(|| SpecRoot::new(SPECS));

fuzz_target!(|text: &[u8]| read(&ROOT, "widgets/widgets.json", text));
