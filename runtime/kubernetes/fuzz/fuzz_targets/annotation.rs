//! An annotation of any text: understood, or told as a mistake. The first byte says which.
#![no_main]

use armature_reconcile::testing::front_door::annotations::{WORDS, check_annotation};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: &[u8]| {
    let Some((name, text)) = input.split_first() else {
        return;
    };
    let name = WORDS[usize::from(*name) % WORDS.len()];
    if let Err(broken) = check_annotation(name, &String::from_utf8_lossy(text)) {
        panic!("{broken}");
    }
});
