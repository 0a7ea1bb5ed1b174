//! All that depends on the operating system, behind functions that there are everywhere: nothing else of the command names Unix, Linux or
//! their files, so that it can be built for other systems. `armature-tidy` looks for it.
//!
//! What does not live here: when memory is given back ([`crate::memory`]), and what is done on the way to the end of a process.

use std::io;
#[cfg(target_os = "linux")]
use std::ops::Range;

/// What asks the process to end: SIGTERM and Ctrl-C on Unix, Ctrl-C elsewhere.
#[cfg(unix)]
pub struct StopSignals {
    terminate: tokio::signal::unix::Signal,
    interrupt: tokio::signal::unix::Signal,
}

#[cfg(unix)]
impl StopSignals {
    /// Listens from now on: the signals no longer end the process by themselves.
    ///
    /// # Errors
    /// When the system does not let this process listen.
    pub fn listen() -> io::Result<Self> {
        use tokio::signal::unix::{SignalKind, signal};
        Ok(Self {
            terminate: signal(SignalKind::terminate())?,
            interrupt: signal(SignalKind::interrupt())?,
        })
    }

    /// Waits for the next one.
    pub async fn next(&mut self) {
        tokio::select! { _ = self.terminate.recv() => {}, _ = self.interrupt.recv() => {} }
    }
}

/// What asks the process to end: SIGTERM and Ctrl-C on Unix, Ctrl-C elsewhere.
#[cfg(not(unix))]
pub struct StopSignals(());

#[cfg(not(unix))]
impl StopSignals {
    /// Listens as soon as [`Self::next`] is waited for.
    ///
    /// # Errors
    /// None.
    pub fn listen() -> io::Result<Self> {
        Ok(Self(()))
    }

    /// Waits for the next one.
    pub async fn next(&mut self) {
        if tokio::signal::ctrl_c().await.is_err() {
            // Nobody can ask for the end, so nobody does.
            std::future::pending::<()>().await;
        }
    }
}

/// What of which file is mapped where in this process, as the kernel of Linux writes it (proc_pid_maps(5)).
///
/// # Errors
/// Where the system does not say.
pub fn memory_maps() -> io::Result<String> {
    if cfg!(target_os = "linux") {
        return std::fs::read_to_string("/proc/self/maps");
    }
    Err(io::ErrorKind::Unsupported.into())
}

/// Why stacks are not sampled.
#[derive(Debug, thiserror::Error)]
pub enum SamplerError {
    /// They are being sampled already.
    #[error("stacks are being sampled already")]
    Running,
    /// What samples does not begin, or has no result.
    #[error("{0}")]
    Fails(String),
}

/// What samples the stacks of this process while it is there.
#[cfg(unix)]
pub struct Sampler(pprof::ProfilerGuard<'static>);

#[cfg(unix)]
impl Sampler {
    /// Begins, with so many samples in a second of CPU time.
    ///
    /// # Errors
    /// When another one is there, or signals and temporary files cannot be had.
    pub fn begin(frequency: i32) -> Result<Self, SamplerError> {
        let begun = pprof::ProfilerGuardBuilder::default().frequency(frequency);
        begun.build().map(Self).map_err(Self::failed)
    }

    /// Ends: stacks, each as addresses of instructions from the one that ran to its callers, and how often each was met.
    ///
    /// # Errors
    /// When the samples cannot be read.
    pub fn end(self) -> Result<Vec<(Vec<u64>, usize)>, SamplerError> {
        let report = self.0.report().build_unresolved().map_err(Self::failed)?;
        let stacks = report.data.into_iter().map(|(sampled, count)| {
            let addresses = sampled.frames.iter().map(|frame| frame.ip as u64);
            (addresses.collect(), usize::try_from(count).unwrap_or(0))
        });
        Ok(stacks.collect())
    }

    fn failed(error: pprof::Error) -> SamplerError {
        match error {
            pprof::Error::Running => SamplerError::Running,
            error => SamplerError::Fails(error.to_string()),
        }
    }
}

/// Stacks are not sampled here.
#[cfg(not(unix))]
pub struct Sampler(std::convert::Infallible);

#[cfg(not(unix))]
impl Sampler {
    /// Begins nothing.
    ///
    /// # Errors
    /// Always.
    pub fn begin(_: i32) -> Result<Self, SamplerError> {
        Err(SamplerError::Fails(
            "this system has no signals by which stacks are sampled".to_owned(),
        ))
    }

    /// Never called.
    ///
    /// # Errors
    /// None.
    pub fn end(self) -> Result<Vec<(Vec<u64>, usize)>, SamplerError> {
        match self.0 {}
    }
}

/// Gives pages back to the system that hold nothing but freed memory.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
#[allow(unsafe_code, reason = "the C library's function has no safe form")]
pub fn give_memory_back() {
    // SAFETY: it takes no pointer, may be called by any thread at any time (malloc_trim(3)), and frees nothing that is in use.
    unsafe {
        libc::malloc_trim(0);
    }
}

/// Other allocators do it by themselves.
#[cfg(not(all(target_os = "linux", target_env = "gnu")))]
pub fn give_memory_back() {}

/// Takes the code of this program out of this process' memory. What runs next is there again with its next instruction, from the file or,
/// as a rule, from the system's cache of it; the rest, such as what only a start needs, is the first that the system can do without.
/// Where somebody has changed the code, such as a debugger or an agent, or the system does not say, it stays.
#[cfg(target_os = "linux")]
#[allow(unsafe_code, reason = "the system's function has no safe form")]
pub fn release_code() {
    let program = std::fs::read_link("/proc/self/exe");
    let found = program.and_then(|program| {
        let maps = std::fs::read_to_string("/proc/self/smaps")?;
        Ok(unchanged_code(&maps, &program.to_string_lossy()))
    });
    for range in found.unwrap_or_default() {
        for advice in [libc::MADV_COLD, libc::MADV_DONTNEED] {
            // SAFETY: the range is one whole mapping of the program's own file, which stays as long as the process, cannot be written, and
            // of which no page is a copy of its own: each is read again as it was, by whatever thread comes to it (madvise(2)). An older
            // system that refuses the advice leaves everything as it is.
            unsafe {
                libc::madvise(
                    std::ptr::without_provenance_mut(range.start),
                    range.len(),
                    advice,
                );
            }
        }
    }
}

/// Leaves that to the system.
#[cfg(not(target_os = "linux"))]
pub fn release_code() {}

/// Mappings of a program that can be run and not written, and have no page of their own (proc_pid_smaps(5)): first
/// `start-end permissions offset device inode file`, then a line for each count.
#[cfg(target_os = "linux")]
fn unchanged_code(maps: &str, program: &str) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let mut code = None;
    for line in maps.lines() {
        let mut words = line.split_whitespace();
        let (first, second) = (words.next().unwrap_or(""), words.next().unwrap_or(""));
        if first == "Anonymous:" {
            code = code.filter(|_| second == "0");
        } else if first == "Swap:" {
            found.extend(code.take().filter(|_| second == "0"));
        } else if !first.ends_with(':') {
            let name = line.splitn(6, ' ').nth(5).map(str::trim_start);
            code = (second == "r-xp" && name == Some(program))
                .then(|| range_of(first))
                .flatten();
        }
    }
    found
}

#[cfg(target_os = "linux")]
fn range_of(text: &str) -> Option<Range<usize>> {
    let (start, end) = text.split_once('-')?;
    let address = |text| usize::from_str_radix(text, 16).ok();
    Some(address(start)?..address(end)?)
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    /// Resident memory of this process, in kilobytes.
    fn resident(which: &str) -> u64 {
        let status = std::fs::read_to_string("/proc/self/status").expect("Linux has it");
        let line = status.lines().find(|line| line.starts_with(which));
        let mut words = line.expect("it is there").split_whitespace();
        let size = words.nth(1).expect("a size");
        size.parse().expect("a number")
    }

    #[test]
    fn code_is_what_can_be_run_and_nobody_has_changed() {
        let of = |file: &str, permissions: &str, anonymous: u32| {
            format!(
                "0078c000-02005000 {permissions} 0058b000 fe:00 12                     {file}\nSize:  100 kB\nRss: 8 kB\n\
                 Anonymous:             {anonymous} kB\nSwap: 0 kB\nVmFlags: rd ex mr mw me\n"
            )
        };
        let code = 0x0078_c000..0x0200_5000;
        for (file, permissions, anonymous, is_found) in [
            ("/bin/armature", "r-xp", 0, true),
            ("/bin/armature", "r-xp", 4, false),
            ("/bin/armature", "r--p", 0, false),
            ("/bin/armature", "rwxp", 0, false),
            ("/bin/armature.old", "r-xp", 0, false),
            ("/opt/bin/armature", "r-xp", 0, false),
            ("[vdso]", "r-xp", 0, false),
        ] {
            let others = of("/lib/libc.so.6", "r-xp", 4);
            let maps = others.clone() + &of(file, permissions, anonymous) + &others;
            let found = unchanged_code(&maps, "/bin/armature");
            assert_eq!(found.first(), is_found.then_some(&code), "{maps}");
            assert!(found.len() < 2, "{maps}");
        }
        let spaces = of("/my programs/armature (deleted)", "r-xp", 0);
        assert_eq!(
            unchanged_code(&spaces, "/my programs/armature (deleted)").len(),
            1
        );
    }

    #[test]
    fn code_that_was_released_still_runs() {
        // Others of this process run meanwhile, and what they run comes back.
        let is_smaller = || {
            let before = resident("RssFile:");
            release_code();
            resident("RssFile:") + 500 < before
        };
        assert!((0..10).any(|_| is_smaller()));
    }

    #[cfg(target_env = "gnu")]
    #[test]
    fn what_was_freed_between_what_is_used_goes_back() {
        // Too small for pages of their own, and every hundredth is kept, so that no heap ends in free memory.
        let mut small: Vec<Vec<u8>> = (0..400_000).map(|_| vec![1; 256]).collect();
        let mut kept = Vec::new();
        for (position, one) in small.drain(..).enumerate() {
            if position % 100 == 0 {
                kept.push(one);
            }
        }
        let before = resident("VmRSS:");
        give_memory_back();
        let after = resident("VmRSS:");
        assert!(after + 50_000 < before, "{before} kB, then {after} kB");
        assert_eq!(kept.len(), 4_000);
    }
}
