//! Names of functions by address.
//!
//! A program has them in its table of symbols. The image's has none, since they are half as large as the rest: beside it is a file
//! with them (`cargo xtask image`), compressed, whose lines are `START SIZE NAME`, the first two in hexadecimal and as the linker
//! has placed them. Its first line is the build id of the program; the names of another build are passed over.

use std::collections::{BTreeSet, HashMap};
use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};

use flate2::read::GzDecoder;
use object::endian::Endianness;
use object::read::elf::{ElfFile64, FileHeader, ProgramHeader};
use object::{Object, ObjectSymbol, ReadCache, SymbolKind, elf};

use super::mappings::Mapping;

/// What the name of the file with symbols ends with.
const SYMBOLS: &str = ".symbols";

/// Names of the functions at these addresses, where they are known.
pub fn of(addresses: &BTreeSet<u64>, mappings: &[Mapping]) -> HashMap<u64, String> {
    let Ok(program) = std::env::current_exe() else {
        return HashMap::new();
    };
    let found = in_program(&program, addresses, mappings);
    found.unwrap_or_else(|error| {
        tracing::warn!(%error, program = %program.display(), "functions have no names in the profile");
        HashMap::new()
    })
}

/// Why a program gives no names.
#[derive(Debug, thiserror::Error)]
enum NamesError {
    #[error("the program cannot be read: {0}")]
    Read(#[from] std::io::Error),
    #[error("the program is no ELF file as expected: {0}")]
    Elf(#[from] object::read::Error),
}

fn in_program(
    program: &Path,
    addresses: &BTreeSet<u64>,
    mappings: &[Mapping],
) -> Result<HashMap<u64, String>, NamesError> {
    // Of the file only what is asked for is read.
    let file = ReadCache::new(File::open(program)?);
    let read = ElfFile64::<Endianness, _>::parse(&file)?;
    let moved = moved(&read, &file, program, mappings)?;
    let wanted = addresses.iter().map(|one| one.wrapping_sub(moved));
    let mut names = Names {
        wanted: wanted.collect(),
        found: HashMap::new(),
    };
    let functions = read
        .symbols()
        .filter(|symbol| symbol.kind() == SymbolKind::Text);
    let mut has_table = false;
    for symbol in functions {
        has_table = true;
        if let (true, Ok(name)) = (names.wants(symbol.address(), symbol.size()), symbol.name()) {
            let name = format!("{:#}", rustc_demangle::demangle(name));
            names.take(symbol.address(), symbol.size(), &name);
        }
    }
    if !has_table {
        names.take_file(&beside(program), crate::build_id::build_id().as_deref())?;
    }
    let found = names.found.into_iter();
    Ok(found
        .map(|(address, name)| (address.wrapping_add(moved), name))
        .collect())
}

/// How far the program is in memory from where the linker has placed it.
fn moved<'file>(
    read: &ElfFile64<'file, Endianness, &'file ReadCache<File>>,
    file: &'file ReadCache<File>,
    program: &Path,
    mappings: &[Mapping],
) -> Result<u64, object::read::Error> {
    let endian = read.endian();
    let own = mappings
        .iter()
        .filter(|mapping| Path::new(&mapping.file) == program);
    for segment in read.elf_header().program_headers(endian, file)? {
        if segment.p_type(endian) != elf::PT_LOAD {
            continue;
        }
        let placed = segment
            .p_vaddr(endian)
            .wrapping_sub(segment.p_offset(endian));
        let (start, size) = (segment.p_offset(endian), segment.p_filesz(endian));
        // It is mapped in whole pages: the first begins before it.
        let is_of = |mapping: &&Mapping| {
            mapping.offset < start + size && mapping.offset + (mapping.end - mapping.start) > start
        };
        if let Some(mapping) = own.clone().find(is_of)
            && segment.p_flags(endian) & elf::PF_X != 0
        {
            let is_placed = placed.wrapping_add(mapping.offset);
            return Ok(mapping.start.wrapping_sub(is_placed));
        }
    }
    Ok(0)
}

fn beside(program: &Path) -> PathBuf {
    let mut path = program.as_os_str().to_owned();
    path.push(SYMBOLS);
    path.into()
}

/// Names that are looked for.
struct Names {
    wanted: BTreeSet<u64>,
    found: HashMap<u64, String>,
}

impl Names {
    fn wants(&self, start: u64, size: u64) -> bool {
        let end = start.saturating_add(size);
        start < end && self.wanted.range(start..end).next().is_some()
    }

    fn take(&mut self, start: u64, size: u64, name: &str) {
        let of_function = self.wanted.range(start..start.saturating_add(size));
        self.found
            .extend(of_function.map(|address| (*address, name.to_owned())));
    }

    /// Takes them from the file beside a program of this build. Where there is none, functions have no names.
    fn take_file(&mut self, path: &Path, build: Option<&str>) -> std::io::Result<()> {
        let file = match File::open(path) {
            Ok(file) => file,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(()),
            Err(error) => return Err(error),
        };
        let mut lines = BufReader::new(GzDecoder::new(file)).lines();
        if lines.next().transpose()?.as_deref() != build {
            tracing::warn!(path = %path.display(), "these are the names of another build: functions have none in the profile");
            return Ok(());
        }
        for line in lines {
            let line = line?;
            let mut words = line.splitn(3, ' ');
            let mut number = || u64::from_str_radix(words.next()?, 16).ok();
            if let (Some(start), Some(size)) = (number(), number())
                && let Some(name) = words.next()
                && self.wants(start, size)
            {
                self.take(start, size, name);
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use flate2::Compression;
    use flate2::write::GzEncoder;

    use super::super::mappings;
    use super::*;

    #[inline(never)]
    fn a_function_of_this_test() -> u64 {
        std::hint::black_box(a_function_of_this_test as fn() -> u64 as usize as u64)
    }

    #[test]
    fn functions_of_this_program_have_names() {
        let inside = a_function_of_this_test() + 1;
        let mappings = mappings::executable().unwrap();
        let names = of(&BTreeSet::from([inside, 7]), &mappings);
        assert_eq!(names.len(), 1, "{names:?}");
        let name = &names[&inside];
        assert!(name.ends_with("::a_function_of_this_test"), "{name}");
    }

    #[test]
    fn names_of_the_same_build_are_taken_from_the_file() {
        let folder = tempfile::tempdir().unwrap();
        let path = beside(&folder.path().join("armature"));
        let text = "b1\n10 10 one\n20 8 two::<a b>\n40 0 empty\n";
        let mut file = GzEncoder::new(File::create(&path).unwrap(), Compression::best());
        file.write_all(text.as_bytes()).unwrap();
        file.finish().unwrap();
        for (build, expected) in [
            (
                Some("b1"),
                vec![(0x10, "one"), (0x1f, "one"), (0x27, "two::<a b>")],
            ),
            (Some("b2"), vec![]),
            (None, vec![]),
        ] {
            let mut names = Names {
                wanted: BTreeSet::from([0xf, 0x10, 0x1f, 0x27, 0x28, 0x40]),
                found: HashMap::new(),
            };
            names.take_file(&path, build).unwrap();
            let mut found: Vec<_> = names.found.iter().collect();
            found.sort();
            let found: Vec<_> = found
                .iter()
                .map(|(at, name)| (**at, name.as_str()))
                .collect();
            assert_eq!(found, expected, "{build:?}");
        }
        let mut names = Names {
            wanted: BTreeSet::from([0x10]),
            found: HashMap::new(),
        };
        names
            .take_file(&folder.path().join("none"), Some("b1"))
            .unwrap();
        assert!(names.found.is_empty());
    }
}
