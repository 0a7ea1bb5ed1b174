//! Which build of the program runs: two with the same number have the same code and the same tables.

use std::fs::File;

use object::ReadCache;
use object::elf::{ELF_NOTE_GNU, FileHeader64, NT_GNU_BUILD_ID};
use object::endian::Endianness;
use object::read::elf::{FileHeader, ProgramHeader};

use armature_runtime::digest::hexadecimal;

/// The number that the linker has made of the program's contents (`ld --build-id`, a note of ELF); nothing where it has made none.
pub fn build_id() -> Option<String> {
    // Of the file only what is asked for is read.
    let file = ReadCache::new(File::open(std::env::current_exe().ok()?).ok()?);
    let header = FileHeader64::<Endianness>::parse(&file).ok()?;
    let endian = header.endian().ok()?;
    for segment in header.program_headers(endian, &file).ok()? {
        let Ok(Some(mut notes)) = segment.notes(endian, &file) else {
            continue;
        };
        while let Ok(Some(note)) = notes.next() {
            if note.name() == ELF_NOTE_GNU && note.n_type(endian) == NT_GNU_BUILD_ID {
                return Some(hexadecimal(note.desc()));
            }
        }
    }
    None
}

#[cfg(all(test, target_os = "linux", target_env = "gnu"))]
mod tests {
    use super::*;

    #[test]
    fn a_program_has_one() {
        let id = build_id().expect("linkers of Linux make one");
        assert!(id.len() >= 16, "{id}");
        assert_eq!(build_id(), Some(id));
    }
}
