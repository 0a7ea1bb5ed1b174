//! What of which file is mapped where in this process, of what can run.

use std::io;

use crate::platform::memory_maps;

/// A part of a file in memory that can run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mapping {
    /// The first address.
    pub start: u64,
    /// The address after the last.
    pub end: u64,
    /// Where it is in the file.
    pub offset: u64,
    /// The file, or a word such as `[vdso]`.
    pub file: String,
}

/// Those of this process.
///
/// # Errors
/// When the kernel does not say.
pub fn executable() -> io::Result<Vec<Mapping>> {
    let text = memory_maps()?;
    Ok(text.lines().filter_map(line).collect())
}

/// A line of it (proc_pid_maps(5)): `start-end permissions offset device inode file`.
fn line(line: &str) -> Option<Mapping> {
    let number = |text: &str| u64::from_str_radix(text, 16).ok();
    let mut words = line.split_whitespace();
    let (start, end) = words.next()?.split_once('-')?;
    let can_run = words.next()?.contains('x');
    let offset = number(words.next()?)?;
    let file = words.skip(2).collect::<Vec<_>>().join(" ");
    can_run.then_some(Mapping {
        start: number(start)?,
        end: number(end)?,
        offset,
        file,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_the_kernel() {
        let found = "55d0-55f0 r-xp 00001000 fd:01 42 /a program (deleted)";
        let expected = Mapping {
            start: 0x55d0,
            end: 0x55f0,
            offset: 0x1000,
            file: "/a program (deleted)".to_owned(),
        };
        assert_eq!(line(found), Some(expected));
        assert_eq!(line("55d0-55f0 rw-p 00000000 00:00 0"), None);
        assert_eq!(line("nothing"), None);
        let own = executable().unwrap();
        let here = lines_of_the_kernel as fn() as usize as u64;
        let is_here = |one: &&Mapping| (one.start..one.end).contains(&here);
        let own = own.iter().find(is_here).unwrap();
        let program = std::env::current_exe().unwrap();
        assert_eq!(own.file, program.to_str().unwrap());
    }
}
