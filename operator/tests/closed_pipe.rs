//! The binary, when whoever reads its output stops reading.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use std::io::Read;
use std::process::{Command, Stdio};

use armature_controlplane::program;

#[test]
fn a_closed_pipe_is_a_quiet_success() {
    for arguments in [&["crds"][..], &["crds", "-o", "json"], &["version"]] {
        let mut child = Command::new(program(env!("CARGO_BIN_EXE_armature")))
            .args(arguments)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        drop(child.stdout.take());
        let mut errors = String::new();
        let mut stderr = child.stderr.take().unwrap();
        stderr.read_to_string(&mut errors).unwrap();
        assert!(child.wait().unwrap().success(), "{arguments:?}: {errors}");
        assert_eq!(errors, "", "{arguments:?}");
    }
}
