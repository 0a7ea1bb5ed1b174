//! An answer of Azure Resource Manager: status and header, its value, and the body, in lines. It means something, whatever it says.
#![no_main]

use armature_arm::testing::answers::check_answer_text;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &[u8]| {
    if let Err(broken) = check_answer_text(text) {
        panic!("{broken}");
    }
});
