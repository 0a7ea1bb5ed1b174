//! `armature man`: pages of the manual, from the words of `--help`.

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Context;
use clap::{Args, Command, CommandFactory};
use clap_mangen::Man;

use super::{Cli, output};

/// Arguments of `armature man`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  armature man plan | man -l -                       The page of a command
  armature man --output-folder /usr/share/man/man1   All pages, each in a file")]
pub struct ManArguments {
    /// The command: `plan`, or `plan show`. The page of the program when it is left out.
    #[arg(value_name = "COMMAND")]
    command: Vec<String>,

    /// Write all pages to files of this folder, armature.1 and one for each command.
    #[arg(long, value_name = "FOLDER", conflicts_with = "command")]
    output_folder: Option<PathBuf>,
}

impl ManArguments {
    /// Prints a page, or writes all of them.
    ///
    /// # Errors
    /// When there is no such command, or a page cannot be written.
    pub fn run(&self) -> anyhow::Result<ExitCode> {
        let mut program = Cli::command().disable_help_subcommand(true);
        program.build();
        match &self.output_folder {
            Some(folder) => {
                std::fs::create_dir_all(folder)
                    .with_context(|| format!("cannot make the folder {}", folder.display()))?;
                for (name, page) in pages(&program)? {
                    let path = folder.join(name);
                    std::fs::write(&path, page)
                        .with_context(|| format!("cannot write {}", path.display()))?;
                }
            }
            None => {
                let mut command = &program;
                for name in &self.command {
                    let found = command.find_subcommand(name);
                    command = found.with_context(|| {
                        format!(
                            "there is no command '{}'; `armature --help` lists them",
                            self.command.join(" ")
                        )
                    })?;
                }
                output::print(&page(command)?.1)?;
            }
        }
        Ok(ExitCode::SUCCESS)
    }
}

/// Names and texts of the pages of a command and all below it.
fn pages(command: &Command) -> anyhow::Result<Vec<(String, String)>> {
    let mut all = vec![page(command)?];
    for below in command.get_subcommands().filter(|one| !one.is_hide_set()) {
        all.extend(pages(below)?);
    }
    Ok(all)
}

/// Name and text of a page. Examples stay as they are laid out, which the library would run together.
fn page(command: &Command) -> anyhow::Result<(String, String)> {
    let man = Man::new(command.clone()).source(concat!("armature ", env!("CARGO_PKG_VERSION")));
    let mut text = Vec::new();
    man.render_title(&mut text)
        .and_then(|()| man.render_name_section(&mut text))
        .and_then(|()| man.render_synopsis_section(&mut text))
        .and_then(|()| man.render_description_section(&mut text))
        .and_then(|()| man.render_options_section(&mut text))
        .and_then(|()| match command.has_subcommands() {
            true => man.render_subcommands_section(&mut text),
            false => Ok(()),
        })
        .context("cannot write a page")?;
    let mut text = String::from_utf8(text).context("a page is not UTF-8")?;
    if let Some(help) = command.get_after_help() {
        text.push_str(&verbatim(&help.to_string()));
    }
    Ok((man.get_filename(), text))
}

/// A section of roff whose lines are left as they are.
fn verbatim(help: &str) -> String {
    let (heading, help) = match help.strip_prefix("Examples:\n") {
        Some(examples) => ("EXAMPLES", examples),
        None => ("NOTES", help),
    };
    let mut text = format!(".SH {heading}\n.nf\n");
    for line in help.lines() {
        let line = line.replace('\\', "\\e").replace('-', "\\-");
        if line.starts_with(['.', '\'']) {
            text.push_str("\\&");
        }
        text.push_str(&line);
        text.push('\n');
    }
    text + ".fi\n"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_command_has_a_page() {
        let mut program = Cli::command().disable_help_subcommand(true);
        program.build();
        let pages = pages(&program).unwrap();
        let find = |name: &str| pages.iter().find(|(known, _)| known == name);
        for name in ["armature.1", "armature-run.1", "armature-plan-show.1"] {
            assert!(find(name).is_some(), "{name}");
        }
        let (_, plan) = find("armature-plan.1").unwrap();
        assert!(
            plan.contains(".SH EXAMPLES\n.nf\n  armature plan \\-f"),
            "{plan}"
        );
        assert!(plan.contains("\\-\\-detailed\\-exitcode"), "{plan}");
    }

    #[test]
    fn a_line_is_no_request_to_roff() {
        assert_eq!(verbatim(".x\na\\b"), ".SH NOTES\n.nf\n\\&.x\na\\eb\n.fi\n");
    }
}
