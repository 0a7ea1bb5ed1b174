//! Every pass over small specs, changed as the bytes say.
#![no_main]

use std::sync::LazyLock;

use armature_fuzz::{Choices, Corpus};
use armature_generator_fuzz::SPECS;
use libfuzzer_sys::fuzz_target;

static CORPUS: LazyLock<Corpus> = LazyLock::new(|| {
    let mut corpus = Corpus::default();
    corpus.add(SPECS.as_ref()).expect("the small specs are in the repository");
    corpus
});

fuzz_target!(|bytes: &[u8]| {
    if let Err(fault) = armature_fuzz::run(&CORPUS, &mut Choices::of_bytes(bytes)) {
        panic!("{fault}");
    }
});
