//! The files that are mapped into this process, for `pprof`, which walks stacks by their tables.
//!
//! It takes the place of the crate `findshlibs`, with as much of its interface as `pprof` 0.15 uses, and with nothing of its code. That crate says that a program
//! begins at its first segment, and `pprof` takes this for how far the program was moved: right for one that may be anywhere, and wrong by
//! the address of that segment for one at a fixed address, as ours are. Here a program begins where its address zero is. No C library is
//! asked, so there is no `unsafe` code.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::path::Path;

use object::endian::Endianness;
use object::read::elf::{FileHeader, ProgramHeader};
use object::{ReadCache, elf};

/// An address in the memory of this process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Avma(pub usize);

/// Here for the imports of `pprof`.
pub trait SharedLibrary {}

/// A mapped file that may hold code.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TargetSharedLibrary {
    name: OsString,
    /// Where its address zero is.
    zero: usize,
    segments: Vec<Segment>,
}

/// A part of a file in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Segment {
    start: usize,
    end: usize,
    offset: usize,
}

impl SharedLibrary for TargetSharedLibrary {}

impl TargetSharedLibrary {
    /// Calls this for each mapped ELF file; for none where the kernel does not say what is mapped.
    pub fn each(each: impl FnMut(&Self)) {
        let maps = std::fs::read_to_string("/proc/self/maps").unwrap_or_default();
        of_maps(&maps)
            .into_iter()
            .filter_map(|(name, segments)| Self::read(name, segments))
            .collect::<Vec<_>>()
            .iter()
            .for_each(each);
    }

    fn read(name: OsString, segments: Vec<Segment>) -> Option<Self> {
        let placed = placed(Path::new(&name))?;
        let first = segments.first()?;
        let (_, vaddr) = placed
            .into_iter()
            .find(|(offset, _)| page(*offset) == first.offset)?;
        Some(Self {
            zero: first.start.wrapping_sub(page(vaddr)),
            name,
            segments,
        })
    }

    /// The file.
    pub fn name(&self) -> &OsStr {
        &self.name
    }

    /// Where its address zero is.
    pub fn actual_load_addr(&self) -> Avma {
        Avma(self.zero)
    }

    /// Bytes from there to its end.
    #[allow(clippy::len_without_is_empty, reason = "none is empty")]
    pub fn len(&self) -> usize {
        let end = self.segments.iter().map(|segment| segment.end).max();
        end.unwrap_or(self.zero).wrapping_sub(self.zero)
    }

    /// Its parts.
    pub fn segments(&self) -> std::vec::IntoIter<Segment> {
        self.segments.clone().into_iter()
    }
}

impl Segment {
    /// Where it is.
    pub fn actual_virtual_memory_address(&self, _: &TargetSharedLibrary) -> Avma {
        Avma(self.start)
    }

    /// Its size.
    #[allow(clippy::len_without_is_empty, reason = "none is empty")]
    pub fn len(&self) -> usize {
        self.end - self.start
    }
}

/// Addresses within a page of 4 KiB count as its first: files are mapped in whole pages.
fn page(address: usize) -> usize {
    address & !0xfff
}

/// Mapped parts of files by name (proc_pid_maps(5)): `start-end permissions offset device inode file`.
fn of_maps(maps: &str) -> BTreeMap<OsString, Vec<Segment>> {
    let mut files: BTreeMap<OsString, Vec<Segment>> = BTreeMap::new();
    for line in maps.lines() {
        if let Some((name, segment)) = of_line(line) {
            files.entry(name.into()).or_default().push(segment);
        }
    }
    files
}

fn of_line(line: &str) -> Option<(&str, Segment)> {
    let number = |text: &str| usize::from_str_radix(text, 16).ok();
    let (_, name) = line.split_at(line.find('/')?);
    let mut words = line.split_whitespace();
    let (start, end) = words.next()?.split_once('-')?;
    let segment = Segment {
        start: number(start)?,
        end: number(end)?,
        offset: number(words.nth(1)?)?,
    };
    Some((name, segment))
}

/// Where the linker has placed the loaded parts of an ELF file: offset and address of each.
fn placed(path: &Path) -> Option<Vec<(usize, usize)>> {
    let file = ReadCache::new(File::open(path).ok()?);
    let header = elf::FileHeader64::<Endianness>::parse(&file).ok()?;
    let endian = header.endian().ok()?;
    let segments = header.program_headers(endian, &file).ok()?.iter();
    let loaded = segments.filter(|one| one.p_type(endian) == elf::PT_LOAD);
    let numbers = loaded.map(|one| {
        let offset = usize::try_from(one.p_offset(endian)).ok()?;
        Some((offset, usize::try_from(one.p_vaddr(endian)).ok()?))
    });
    numbers.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_files_and_nothing_else() {
        let maps = "00200000-00210000 r--p 00000000 fd:01 7    /a program\n\
                    00211000-00220000 r-xp 00010000 fd:01 7    /a program\n\
                    7f00-7f10 rw-p 00000000 00:00 0\n\
                    7fff-8000 r-xp 00000000 00:00 0    [vdso]\n";
        let found = of_maps(maps);
        let segment = |start, end, offset| Segment { start, end, offset };
        let expected = vec![
            segment(0x20_0000, 0x21_0000, 0),
            segment(0x21_1000, 0x22_0000, 0x1_0000),
        ];
        assert_eq!(found, BTreeMap::from([("/a program".into(), expected)]));
    }

    /// A program at a fixed address begins at zero, and one that was moved where it was moved to.
    #[test]
    fn this_program_begins_where_its_address_zero_is() {
        let program = std::env::current_exe().unwrap();
        let mut found = Vec::new();
        TargetSharedLibrary::each(|one| {
            if one.name() == program.as_os_str() {
                found.push(one.clone());
            }
        });
        let [own] = found.as_slice() else {
            panic!("{found:?}")
        };
        let here = this_program_begins_where_its_address_zero_is as fn() as usize;
        let zero = own.actual_load_addr().0;
        assert!((zero..zero + own.len()).contains(&here));
        // Where the linker has placed this function, by the table of symbols.
        let data = std::fs::read(&program).unwrap();
        let file = object::read::elf::ElfFile64::<Endianness>::parse(data.as_slice()).unwrap();
        use object::{Object, ObjectSymbol};
        let is_here = file.symbols().any(|one| {
            one.address() == (here - zero) as u64
                && one
                    .name()
                    .is_ok_and(|name| name.contains("address_zero_is"))
        });
        assert!(is_here, "{own:?}");
    }

    #[test]
    fn a_file_that_is_no_program_is_none() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("text");
        std::fs::write(&path, "no program").unwrap();
        assert_eq!(placed(&path), None);
        assert_eq!(placed(&folder.path().join("absent")), None);
    }
}
