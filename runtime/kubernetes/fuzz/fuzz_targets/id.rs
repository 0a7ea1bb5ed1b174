//! An ARM id, scopes, or a text with ids in it: read as what they are, or refused.
#![no_main]

use armature_reconcile::testing::front_door::ids::check_id;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &[u8]| {
    if let Err(broken) = check_id(&String::from_utf8_lossy(text)) {
        panic!("{broken}");
    }
});
