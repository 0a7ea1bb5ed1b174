//! A list of any text, as the API server sends it: each item is read, or named as left out.
#![no_main]

use armature_kubernetes::testing::check_stored;
use armature_shapes::testing::kinds::STORE;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &[u8]| {
    if let Err(broken) = check_stored(text, &STORE) {
        panic!("{broken}");
    }
});
