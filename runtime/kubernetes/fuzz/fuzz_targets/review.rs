//! A ConversionReview of any text: refused, or answered with what the API server's own checks let pass.
#![no_main]

use armature_kubernetes::testing::check_review;
use armature_shapes::testing::gadget::MODEL;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|body: &[u8]| {
    if let Err(problem) = check_review(body, &[&MODEL]) {
        panic!("{problem}");
    }
});
