//! `armature completions`: what shells, and kubectl for its plugins, need to complete a line.

use std::ffi::OsString;
use std::io;
use std::process::ExitCode;

use anyhow::Context;
use clap::{Args, CommandFactory};
use clap_complete::Shell;
use clap_complete::engine::{CompletionCandidate, complete};

use super::{Cli, output};

/// What cobra, which kubectl reads lines with, is told behind the candidates: no names of files beside them.
const NO_FILES: u8 = 4;

/// The same, and no space behind what is completed, because a folder goes on.
const NO_SPACE: u8 = 2;

/// Arguments of `armature completions`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  armature completions bash > /etc/bash_completion.d/armature
  armature completions zsh > ~/.zfunc/_armature                       With ~/.zfunc in fpath
  armature completions fish > ~/.config/fish/completions/armature.fish
  armature completions powershell >> $PROFILE

kubectl completes `kubectl armature` by a program named kubectl_complete-armature: a link to this one.")]
pub struct CompletionsArguments {
    /// The shell.
    #[arg(value_enum)]
    shell: Shell,
}

impl CompletionsArguments {
    /// Prints a script for the shell.
    ///
    /// # Errors
    /// When it cannot be printed.
    pub fn run(&self) -> anyhow::Result<ExitCode> {
        let mut script = Vec::new();
        clap_complete::generate(self.shell, &mut Cli::command(), "armature", &mut script);
        output::print(&String::from_utf8(script).context("a script is not UTF-8")?)?;
        Ok(ExitCode::SUCCESS)
    }
}

/// Prints what the last word of a line may become, in the form that kubectl asks plugins for.
///
/// # Errors
/// When the folder that one is in cannot be read, or nothing can be printed.
pub fn for_kubectl(words: &[OsString]) -> anyhow::Result<ExitCode> {
    let candidates = candidates(words).context("cannot complete the line")?;
    output::print(&lines(&candidates))?;
    Ok(ExitCode::SUCCESS)
}

fn candidates(words: &[OsString]) -> io::Result<Vec<CompletionCandidate>> {
    let mut line = vec![OsString::from("armature")];
    line.extend_from_slice(words);
    if words.is_empty() {
        line.push(OsString::new());
    }
    let last = line.len() - 1;
    let folder = std::env::current_dir().ok();
    complete(&mut Cli::command(), line, last, folder.as_deref())
}

/// A candidate on each line, with a tab before its help, and what cobra is told on the last one.
fn lines(candidates: &[CompletionCandidate]) -> String {
    let mut text = String::new();
    let mut told = NO_FILES;
    for candidate in candidates.iter().filter(|one| !one.is_hide_set()) {
        let value = candidate.get_value().to_string_lossy();
        if value.ends_with('/') {
            told |= NO_SPACE;
        }
        text.push_str(&value);
        let help = candidate.get_help().map(ToString::to_string);
        if let Some(first) = help.as_deref().and_then(|help| help.lines().next()) {
            text.push('\t');
            text.push_str(first);
        }
        text.push('\n');
    }
    format!("{text}:{told}\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(line: &str) -> String {
        let words: Vec<OsString> = line.split(' ').map(OsString::from).collect();
        lines(&candidates(&words).unwrap())
    }

    #[test]
    fn commands_flags_and_values_are_completed_for_kubectl() {
        let text = told("pl");
        assert!(text.starts_with("plan\tShow what"), "{text}");
        assert!(text.ends_with("\n:4\n"), "{text}");
        let text = told("tree --kube");
        assert!(text.starts_with("--kubeconfig\tThe kubeconfig"), "{text}");
        assert_eq!(told("plan --output m"), "markdown\n:4\n");
        assert_eq!(told("nothing-like-this"), ":4\n");
    }

    #[test]
    fn folders_go_on() {
        let text = told("plan -f sr");
        assert!(text.contains("src/\n") && text.ends_with(":6\n"), "{text}");
    }

    #[test]
    fn each_shell_has_a_script() {
        for shell in [Shell::Bash, Shell::Zsh, Shell::Fish, Shell::PowerShell] {
            let mut script = Vec::new();
            clap_complete::generate(shell, &mut Cli::command(), "armature", &mut script);
            let script = String::from_utf8(script).unwrap();
            assert!(script.contains("kubeconfig"), "{shell}");
        }
    }
}
