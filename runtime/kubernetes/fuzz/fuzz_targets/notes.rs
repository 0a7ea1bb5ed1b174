//! The operator's notes, whoever has written them: read, whatever they say. Each line is one, in the order of their names.
#![no_main]

use armature_arm::testing::notes::check_operation;
use armature_reconcile::testing::front_door::annotations::{NOTES, check_notes};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &[u8]| {
    let text = String::from_utf8_lossy(text);
    let lines = NOTES.iter().zip(text.lines()).filter(|(_, line)| !line.is_empty());
    let notes = lines.map(|(name, line)| ((*name).to_owned(), line.to_owned())).collect();
    if let Err(broken) = check_notes(&notes).and_then(|()| check_operation(&notes)) {
        panic!("{broken}");
    }
});
