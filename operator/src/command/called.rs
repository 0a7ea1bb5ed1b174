//! The names by which the program is called: its own, and those by which kubectl finds a plugin and what completes it.

use std::ffi::{OsStr, OsString};
use std::path::Path;
use std::process::ExitCode;

use clap::builder::Resettable;
use clap::{Command, CommandFactory, FromArgMatches};

use super::{Cli, aso_arguments, completions};

/// What kubectl calls as `kubectl armature`.
const PLUGIN: &str = "kubectl-armature";

/// What kubectl asks how the line of a plugin goes on.
const COMPLETES: &str = "kubectl_complete-armature";

/// Runs what the words of a command line say, of which the first is the program's name. The exit code is the command's
/// verdict; an error is what kept it from one. A mistake in the words, and what asks for help, end the process.
///
/// # Errors
/// Whatever the command says.
pub fn run(words: impl IntoIterator<Item = OsString>) -> anyhow::Result<ExitCode> {
    let words: Vec<OsString> = words.into_iter().collect();
    let name = words.first().map(|first| name(first));
    if name.as_deref() == Some(COMPLETES) {
        return completions::for_kubectl(&words[1..]);
    }
    if let Some(told) = aso_arguments::told(&words) {
        anyhow::bail!(told);
    }
    let command = match name.as_deref() {
        Some(PLUGIN) => as_plugin(Cli::command()),
        _ => Cli::command(),
    };
    let matches = without_empty(command).get_matches_from(words);
    Cli::from_arg_matches(&matches)
        .unwrap_or_else(|error| error.exit())
        .run()
}

/// The name of a program, without folder and `.exe`.
fn name(program: &OsStr) -> String {
    let name = Path::new(program).file_name().unwrap_or(program);
    let name = name.to_string_lossy();
    name.strip_suffix(".exe").unwrap_or(&name).to_owned()
}

/// The same command, to which a variable that is set to nothing says nothing: a pod has such ones from keys of a Secret that are empty.
fn without_empty(command: Command) -> Command {
    let command = command.mut_args(|argument| {
        let variable = argument.get_env().and_then(std::env::var_os);
        match variable.is_some_and(|value| value.is_empty()) {
            true => argument.env(Resettable::Reset),
            false => argument,
        }
    });
    command.mut_subcommands(without_empty)
}

/// The same commands, in the words of who types them behind `kubectl`.
fn as_plugin(command: Command) -> Command {
    with_kubectl(command).bin_name("kubectl armature")
}

fn with_kubectl(mut command: Command) -> Command {
    if let Some(help) = command.get_after_help() {
        let help = help.to_string().replace("armature ", "kubectl armature ");
        command = command.after_help(help);
    }
    command.mut_subcommands(with_kubectl)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_programs() {
        for program in ["/usr/local/bin/kubectl-armature", "kubectl-armature.exe"] {
            assert_eq!(name(OsStr::new(program)), PLUGIN);
        }
        assert_eq!(name(OsStr::new("armature")), "armature");
    }

    #[test]
    fn a_plugin_speaks_of_kubectl() {
        let mut command = as_plugin(Cli::command());
        command.build();
        let tree = command.find_subcommand_mut("tree").unwrap();
        let help = tree.render_long_help().to_string();
        assert!(help.contains("Usage: kubectl armature tree"), "{help}");
        assert!(
            help.contains("\n  kubectl armature tree -n shop "),
            "{help}"
        );
    }
}
