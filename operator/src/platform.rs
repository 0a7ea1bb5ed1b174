//! All that depends on the operating system, behind functions that there are everywhere: nothing else of the command names Unix, Linux or
//! their files, so that it can be built for other systems. `armature-tidy` looks for it.
//!
//! What does not live here: when memory is given back ([`crate::memory`]), and what is done on the way to the end of a process.

use std::io;

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

#[cfg(all(test, target_os = "linux", target_env = "gnu"))]
mod tests {
    use super::*;

    /// Resident memory of this process, in kilobytes.
    fn resident() -> u64 {
        let status = std::fs::read_to_string("/proc/self/status").expect("Linux has it");
        let line = status.lines().find(|line| line.starts_with("VmRSS:"));
        let mut words = line.expect("it is there").split_whitespace();
        let size = words.nth(1).expect("a size");
        size.parse().expect("a number")
    }

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
        let before = resident();
        give_memory_back();
        let after = resident();
        assert!(after + 50_000 < before, "{before} kB, then {after} kB");
        assert_eq!(kept.len(), 4_000);
    }
}
