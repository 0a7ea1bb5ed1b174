//! A child process that never outlives its owner.
//!
//! The child runs under a small shell in a process group of its own. The shell holds one end of a pipe whose other
//! end is ours; when that closes, because we stop, drop, crash or are killed, the shell kills the child. A signal
//! handler alone could not promise that, and the kernel's parent-death signal needs unsafe code.

use std::{
    path::{Path, PathBuf},
    process::{ExitStatus, Stdio},
    time::Duration,
};

use rustix::process::{Pid, Signal, kill_process_group};
use tokio::{
    io::AsyncWriteExt,
    process::{Child, ChildStdin, Command},
};

use crate::{Error, Usage, waiting::LIMIT};

/// `$1` is a folder to remove if the owner is gone (empty: none); the rest is the command. A line on standard input
/// asks to kill the child; its end without a line means that the owner is gone. A TERM for the group reaches the
/// child, which may take its time; shell and watcher wait for it.
const SUPERVISOR: &str = r#"
folder=$1; shift
exec 3<&0
"$@" </dev/null 3<&- &
child=$!
{ trap '' TERM
  if read -r line <&3; then
    kill -9 "$child" 2>/dev/null
  else
    kill -9 "$$" "$child" 2>/dev/null
    if [ -n "$folder" ]; then sleep 1; rm -rf "$folder"; fi
  fi
} &
watcher=$!
exec 3<&-
trap : TERM
wait "$child"; status=$?
while kill -0 "$child" 2>/dev/null; do wait "$child"; status=$?; done
kill -9 "$watcher" 2>/dev/null
exit "$status"
"#;

/// A running child with its log file. Killed, with everything in its process group, when
/// dropped or when the owner dies.
#[derive(Debug)]
pub struct Supervised {
    child: Child,
    /// Kept apart from `child`, because waiting for a child closes its standard input.
    lifeline: Option<ChildStdin>,
    log: PathBuf,
}

impl Supervised {
    /// Starts `program`; its output goes to the file `log`. If the owner dies without stopping it, the child is
    /// killed and `remove_if_orphaned` deleted.
    ///
    /// # Errors
    /// The log file cannot be written, or there is no shell.
    pub fn spawn(
        program: &Path,
        arguments: &[String],
        environment: &[(String, String)],
        log: &Path,
        remove_if_orphaned: Option<&Path>,
    ) -> Result<Self, Error> {
        let output = std::fs::OpenOptions::new()
            .create(true)
            .append(true)
            .open(log)
            .map_err(Error::file("write", log))?;
        let errors = output.try_clone().map_err(Error::file("write", log))?;
        let mut child = Command::new("sh")
            .args(["-c", SUPERVISOR, "sh"])
            .arg(remove_if_orphaned.unwrap_or(Path::new("")))
            .arg(program)
            .args(arguments)
            .envs(environment.iter().map(|(name, value)| (name, value)))
            .stdin(Stdio::piped())
            .stdout(output)
            .stderr(errors)
            .process_group(0)
            .kill_on_drop(true)
            .spawn()
            .map_err(|source| Error::Spawn {
                program: program.display().to_string(),
                source,
            })?;
        Ok(Self {
            lifeline: child.stdin.take(),
            child,
            log: log.to_owned(),
        })
    }

    /// The exit status if the child has ended.
    pub fn exited(&mut self) -> Option<ExitStatus> {
        self.child.try_wait().ok().flatten()
    }

    /// Asks the child to end and waits up to `grace`, then kills it and whatever is left of its group. The child is
    /// gone when this returns, its ports included.
    pub async fn stop(mut self, grace: Duration) {
        if !grace.is_zero() && self.signal(Signal::TERM) {
            let _ = tokio::time::timeout(grace, self.child.wait()).await;
        }
        // The shell kills the child and waits for it, which a signal to the whole group would not do.
        if let Some(mut lifeline) = self.lifeline.take() {
            let _ = lifeline.write_all(b"stop\n").await;
            let _ = tokio::time::timeout(LIMIT, self.child.wait()).await;
        }
        self.signal(Signal::KILL);
        let _ = self.child.wait().await;
    }

    /// What the kernel counts for the program now; nothing when it has ended, or off Linux.
    #[must_use]
    pub fn usage(&self) -> Option<Usage> {
        Usage::of(self.program()?)
    }

    /// Process id of the program: the first child of the shell.
    fn program(&self) -> Option<u32> {
        let shell = self.child.id()?;
        let children =
            std::fs::read_to_string(format!("/proc/{shell}/task/{shell}/children")).ok()?;
        children.split_whitespace().next()?.parse().ok()
    }

    /// The log file.
    #[must_use]
    pub fn log(&self) -> &Path {
        &self.log
    }

    fn signal(&self, signal: Signal) -> bool {
        let group = self
            .child
            .id()
            .and_then(|id| i32::try_from(id).ok())
            .and_then(Pid::from_raw);
        group.is_some_and(|group| kill_process_group(group, signal).is_ok())
    }
}

impl Drop for Supervised {
    fn drop(&mut self) {
        self.signal(Signal::KILL);
        let _ = self.child.try_wait();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{LogTail, waiting};

    fn shell(script: &str, folder: &Path, remove: Option<&Path>) -> Supervised {
        let arguments = ["-c".to_owned(), script.to_owned()];
        let log = folder.join("log");
        Supervised::spawn(Path::new("sh"), &arguments, &[], &log, remove).unwrap()
    }

    async fn until(what: &str, mut done: impl FnMut() -> bool) {
        waiting::until(what, async || done()).await;
    }

    #[tokio::test]
    async fn reports_the_exit_status_and_keeps_the_log() {
        let folder = tempfile::tempdir().unwrap();
        let mut child = shell("echo said; exit 7", folder.path(), None);
        let mut status = None;
        until("the child ends", || {
            status = child.exited();
            status.is_some()
        })
        .await;
        assert_eq!(status.and_then(|status| status.code()), Some(7));
        assert!(LogTail::of_file(child.log()).contains("said"));
    }

    #[tokio::test]
    async fn usage_is_the_programs_own() {
        let folder = tempfile::tempdir().unwrap();
        let mut child = shell("while :; do :; done", folder.path(), None);
        let mut usage = None;
        until("the child has used 50 ms", || {
            usage = child.usage();
            usage.is_some_and(|usage| usage.cpu >= Duration::from_millis(50))
        })
        .await;
        assert!(usage.is_some_and(|usage| usage.resident > 100_000));
        assert!(child.exited().is_none());
    }

    #[tokio::test]
    async fn a_polite_stop_lets_the_child_finish() {
        let folder = tempfile::tempdir().unwrap();
        let done = folder.path().join("done");
        let script = format!(
            "trap 'sleep 0.3; echo x > {0}; exit 0' TERM; echo > {1}; while :; do sleep 0.05; done",
            done.display(),
            folder.path().join("up").display()
        );
        let child = shell(&script, folder.path(), None);
        until("the child runs", || folder.path().join("up").exists()).await;
        child.stop(LIMIT).await;
        assert!(done.exists());
    }

    #[tokio::test]
    async fn a_stubborn_child_is_killed() {
        let folder = tempfile::tempdir().unwrap();
        let child = shell(
            "trap '' TERM; while :; do sleep 0.05; done",
            folder.path(),
            None,
        );
        let stopped = child.stop(Duration::from_millis(200));
        waiting::until_ended("the end of what ends by no request", stopped).await;
    }

    #[tokio::test]
    async fn the_child_and_its_folder_go_when_the_owner_is_gone() {
        let folder = tempfile::tempdir().unwrap();
        let data = folder.path().join("data");
        std::fs::create_dir(&data).unwrap();
        let alive = data.join("alive");
        let script = format!("while echo x > {}; do sleep 0.05; done", alive.display());
        let mut child = shell(&script, folder.path(), Some(&data));
        until("the child runs", || alive.exists()).await;
        // What the kernel does for an owner that is killed.
        child.lifeline = None;
        until("the folder is removed", || !data.exists()).await;
        until("the shell ends", || child.exited().is_some()).await;
    }
}
