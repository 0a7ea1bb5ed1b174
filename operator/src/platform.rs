//! All that depends on the operating system, behind functions that there are everywhere: nothing else of the command names Unix, Linux or
//! their files, so that it can be built for other systems. `armature-tidy` looks for it.
//!
//! What does not live here: when memory is given back ([`crate::memory`]), and what is done on the way to the end of a process.

use std::io;
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

/// Where the code of this program is in memory.
pub struct ProgramCode(Vec<Range<usize>>);

impl ProgramCode {
    /// Looks for it; finds nothing where the system does not say.
    pub fn find() -> Self {
        let program = std::fs::read_link("/proc/self/exe");
        let found = program.and_then(|program| Ok((memory_maps()?, program)));
        let found = found.map(|(maps, program)| code_of(&maps, &program.to_string_lossy()));
        Self(found.unwrap_or_default())
    }

    /// Takes it out of this process' memory. What runs next is there again with its next instruction, from the file or, as a rule,
    /// from the system's cache of it; the rest, such as what only a start needs, is the first that the system can do without.
    #[cfg(target_os = "linux")]
    #[allow(unsafe_code, reason = "the system's function has no safe form")]
    pub fn release(&self) {
        for range in &self.0 {
            for advice in [libc::MADV_COLD, libc::MADV_DONTNEED] {
                // SAFETY: the range is one whole mapping of the program's own file that cannot be written (madvise(2)), so that each of
                // its pages is read again as it was, by whatever thread comes to it. Such a mapping stays as long as the process.
                // An older system that refuses the advice leaves everything as it is.
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
    pub fn release(&self) {}
}

/// Mappings of a program that can be run and not written: `start-end permissions offset device inode file` (proc_pid_maps(5)).
fn code_of(maps: &str, program: &str) -> Vec<Range<usize>> {
    let code = maps.lines().filter_map(|line| {
        let (rest, _) = line.split_once(program).filter(|(_, end)| end.is_empty())?;
        let mut words = rest.split_whitespace();
        let (range, permissions) = (words.next()?, words.next()?);
        let (start, end) = range.split_once('-')?;
        let address = |text| usize::from_str_radix(text, 16).ok();
        (permissions == "r-xp").then_some(address(start)?..address(end)?)
    });
    code.collect()
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
    fn code_is_what_can_be_run_and_not_written() {
        let maps = "\
00200000-0078c000 r--p 00000000 fe:00 12  /bin/armature
0078c000-02005000 r-xp 0058b000 fe:00 12  /bin/armature
02005000-025bc000 r--p 01e03000 fe:00 12  /bin/armature
025bc000-025c1000 rwxp 023b9000 fe:00 12  /bin/armature
7f0000000000-7f0000001000 r-xp 00000000 fe:00 13  /bin/armature.old
7f0000002000-7f0000003000 r-xp 00000000 00:00 0  [vdso]
";
        assert_eq!(code_of(maps, "/bin/armature"), [0x0078_c000..0x0200_5000]);
        assert!(code_of(maps, "/bin/other").is_empty());
    }

    #[test]
    fn code_that_was_released_still_runs() {
        let code = ProgramCode::find();
        assert!(!code.0.is_empty());
        // Others of this process run meanwhile, and what they run comes back.
        let is_smaller = || {
            let before = resident("RssFile:");
            code.release();
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
