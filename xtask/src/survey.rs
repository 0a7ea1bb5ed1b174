//! `cargo xtask survey`: how much of Azure the front ends understand, over every spec file on this machine.
//!
//! The run is `armature_generator::survey`; here is only finding the trees and telling about the result.

use std::fmt::Write as _;
use std::process::ExitCode;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use armature_generator::load::SpecRoot;
use armature_generator::survey::{self, Counts, FileReport, Outcome};
use armature_progress::Progress;
use camino::{Utf8Path, Utf8PathBuf};
use clap::Args;
use serde_json::json;

use crate::output::{self, Format};
use crate::{sources, workspace};

/// The page that `--write` writes.
const PAGE: &str = "docs/survey.md";

/// Arguments of `survey`.
#[derive(Debug, Args)]
pub struct SurveyArguments {
    /// Format of the result.
    #[arg(short, long, value_enum, default_value_t)]
    output: Format,
    /// Also write the counts to docs/survey.md.
    #[arg(long)]
    write: bool,
    #[command(flatten)]
    copy: sources::CopyArguments,
}

/// One tree and what became of its files.
struct Tree {
    title: &'static str,
    reports: Vec<FileReport>,
}

/// Runs `survey`. Refused files are a result; a panic over one is a failure.
pub fn run(arguments: &SurveyArguments) -> anyhow::Result<ExitCode> {
    let started = Instant::now();
    let root = workspace::root()?;
    let trees = folders(&root, arguments.copy.from.as_deref())?
        .into_iter()
        .map(|(title, folder)| read_tree(title, folder))
        .collect::<anyhow::Result<Vec<Tree>>>()?;
    let text = match arguments.output {
        Format::Text => {
            let seconds = started.elapsed().as_secs_f64();
            format!("{}\n{seconds:.1} s\n", page(&trees))
        }
        Format::Jsonl => {
            let files: Vec<&FileReport> = trees.iter().flat_map(|it| &it.reports).collect();
            output::lines(&files)?
        }
        format => format.document(&machine(&trees))?,
    };
    output::print(&text)?;
    if arguments.write {
        workspace::write(&root.join(PAGE), page(&trees))?;
        eprintln!("{PAGE} is written");
    }
    let mut reports = trees.iter().flat_map(|tree| &tree.reports);
    let panicked = reports.any(|report| matches!(report.outcome, Outcome::Panicked { .. }));
    Ok(if panicked {
        ExitCode::FAILURE
    } else {
        ExitCode::SUCCESS
    })
}

/// The folders of specs on this machine, with what each holds.
pub fn folders(
    root: &Utf8Path,
    from: Option<&Utf8Path>,
) -> anyhow::Result<Vec<(&'static str, Utf8PathBuf)>> {
    let lock = sources::Lock::read(root)?;
    let openapi = sources::locate(root, lock.source(sources::AZURE_SPECS)?, from)?;
    let mut folders = vec![("OpenAPI specs", openapi.path)];
    let bicep = sources::data_folder(root, from)
        .0
        .join(sources::BICEP_TYPES);
    if bicep.is_dir() {
        folders.push(("Bicep types", bicep));
    }
    Ok(folders)
}

fn read_tree(title: &'static str, folder: Utf8PathBuf) -> anyhow::Result<Tree> {
    let root = SpecRoot::new(folder);
    let files = root.json_files()?;
    let progress = Progress::new();
    let done = AtomicUsize::new(0);
    let reports = survey::survey(&root, &files, &|report: &FileReport| {
        let done = 1 + done.fetch_add(1, Ordering::Relaxed);
        progress.update(&format!("{title}: {done}/{} {}", files.len(), report.file));
    });
    Ok(Tree { title, reports })
}

fn machine(trees: &[Tree]) -> serde_json::Value {
    let trees = trees.iter().map(|tree| {
        let (groups, total) = survey::counts(&tree.reports);
        json!({ "title": tree.title, "total": total, "groups": groups, "files": tree.reports })
    });
    trees.collect()
}

/// The counts and refusals as a page of the book.
fn page(trees: &[Tree]) -> String {
    let mut page = String::from(
        "# Survey of Azure's specs\n\n\
         For engineers who change the generator: which of Azure's spec files it understands.\n\n\
         Each file is loaded by itself, its resources are found and their types built, with no curation. Written by `cargo xtask survey --write`.\n\n\
         A *resource* is an ARM type in one api-version. Files of shared definitions are read and have none. *Types* are \
         counted\nonce per file.\n",
    );
    for tree in trees {
        section(&mut page, tree);
    }
    page
}

fn section(page: &mut String, tree: &Tree) {
    let (groups, total) = survey::counts(&tree.reports);
    let share = 100.0 * total.read as f64 / total.files.max(1) as f64;
    let _ = write!(
        page,
        "\n## {}\n\n{} of {} files give a result ({share:.1} %).\n\n",
        tree.title, total.read, total.files
    );
    page.push_str("| group | files | refused | api-versions | ARM types | resources | types |\n");
    page.push_str("|---|--:|--:|--:|--:|--:|--:|\n");
    for (group, counts) in &groups {
        page.push_str(&row(group, counts));
    }
    page.push_str(&row("**all**", &total));
    let mut faults = String::new();
    for report in &tree.reports {
        match &report.outcome {
            Outcome::Read(_) => {}
            Outcome::Unknown { .. } => {
                let _ = writeln!(faults, "- `{}` is no spec", report.file);
            }
            Outcome::Refused { pass, reason } => {
                let _ = writeln!(faults, "- `{}`, by {pass}: {reason}", report.file);
            }
            Outcome::Panicked { reason } => {
                let _ = writeln!(
                    faults,
                    "- `{}` makes the generator panic, which is a bug: {reason}",
                    report.file
                );
            }
        }
    }
    if !faults.is_empty() {
        let _ = write!(page, "\nWithout a result:\n\n{faults}");
    }
}

fn row(name: &str, counts: &Counts) -> String {
    format!(
        "| {name} | {} | {} | {} | {} | {} | {} |\n",
        counts.files,
        counts.refused + counts.panicked,
        counts.api_versions,
        counts.arm_types,
        counts.resources,
        counts.types
    )
}

#[cfg(test)]
mod tests {
    use armature_generator::survey::{Content, FoundResource, Pass};

    use super::*;

    fn report(file: &str, outcome: Outcome) -> FileReport {
        FileReport {
            file: file.to_owned(),
            outcome,
        }
    }

    fn tree() -> Tree {
        let resource = FoundResource {
            kind: "Widget".to_owned(),
            arm_type: "Example.Widgets/widgets".to_owned(),
        };
        let content = Content {
            api_version: Some("2024-01-01".to_owned()),
            resources: vec![resource],
            types: 3,
        };
        let refused = Outcome::Refused {
            pass: Pass::Load,
            reason: "nothing there".to_owned(),
        };
        Tree {
            title: "Small specs",
            reports: vec![
                report("specs/one/a.json", Outcome::Read(content.clone())),
                report("specs/one/b.json", Outcome::Read(content)),
                report("specs/two/c.json", refused),
            ],
        }
    }

    #[test]
    fn the_page_has_a_row_for_each_group_and_names_what_was_refused() {
        let page = page(&[tree()]);
        for line in [
            "2 of 3 files give a result (66.7 %).",
            "| one | 2 | 0 | 1 | 1 | 1 | 6 |",
            "| two | 1 | 1 | 0 | 0 | 0 | 0 |",
            "| **all** | 3 | 1 | 1 | 1 | 1 | 6 |",
            "- `specs/two/c.json`, by load: nothing there",
        ] {
            assert!(page.lines().any(|found| found == line), "{line}\n{page}");
        }
    }

    #[test]
    fn machines_get_the_same_counts_and_every_file() {
        let value = machine(&[tree()]);
        assert_eq!(value[0]["total"]["read"], 2);
        assert_eq!(value[0]["groups"]["two"]["refused"], 1);
        assert_eq!(value[0]["files"][0]["outcome"], "read");
        assert_eq!(value[0]["files"][0]["resources"][0]["kind"], "Widget");
        assert_eq!(value[0]["files"][2]["reason"], "nothing there");
    }
}
