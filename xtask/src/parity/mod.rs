//! `cargo xtask parity`: our CRDs against the schema paths of Azure Service Operator's, the compatibility target.
//!
//! | module | what lives here |
//! |---|---|
//! | [`target`], [`selection`] | reading the target; the groups that are wanted |
//! | [`schema`] | our CRDs in the same form |
//! | [`compare`] | what differs |
//! | [`reasons`] | why: the reviewed lists `specs/<group>/exceptions.toml` |
//! | [`lacking`] | versions, kinds and groups of the target that are not here, and why: `specs/lacking.toml` |
//! | [`releases`] | what later releases of the target have changed: `specs/releases.toml` |
//! | [`totals`] | sums, and the shares that are asked for |
//! | [`report`], [`page`] | telling: text, data, `docs/parity.md` and a page for each group |
//! | [`curated`] | what curation files come to, without a build |
//!
//! The target's data lie beside the clone (`crd-shapes/`), not in it.

mod compare;
mod curated;
mod lacking;
mod page;
mod reasons;
mod releases;
mod report;
mod schema;
mod selection;
pub mod target;
mod totals;

use std::collections::BTreeMap;
use std::process::ExitCode;

use anyhow::Context;
use camino::{Utf8Path, Utf8PathBuf};
use clap::Args;

use crate::output::{self, Format};
use crate::workspace;

/// Folder of the pages that `--write` writes.
const DOCS: &str = "docs";

/// Arguments of `parity`.
#[derive(Debug, Default, Args)]
pub struct ParityArguments {
    /// Only this group, for example `kusto`; may be repeated.
    #[arg(long, value_name = "GROUP", conflicts_with = "check")]
    group: Vec<String>,
    /// Format of the result; jsonl has a line for each version.
    #[arg(short, long, value_enum, default_value_t = Format::Text)]
    output: Format,
    /// List every difference; without it, the first ten of each version.
    #[arg(long)]
    all: bool,
    /// Also write docs/parity.md and docs/parity/.
    #[arg(long, conflicts_with = "check")]
    write: bool,
    /// Fail also when a page is not what --write would write.
    #[arg(long)]
    check: bool,
    /// Compare what the curation files come to now; nothing has to be generated or built for that.
    #[arg(long, conflicts_with_all = ["check", "crds", "write"])]
    curated: bool,
    /// CRDs to compare, as `armature crds -o json` prints them. Default: build and run that.
    #[arg(long, value_name = "FILE")]
    crds: Option<Utf8PathBuf>,
    /// Folder that holds crd-shapes. Default: $ARMATURE_AZURE_DATA, else ../shared/azure beside the workspace.
    #[arg(long, value_name = "DIR")]
    from: Option<Utf8PathBuf>,
}

/// Runs `parity`. Fails when too few paths match, and when differences and reasons do not go together.
pub async fn run(arguments: &ParityArguments) -> anyhow::Result<ExitCode> {
    let root = workspace::root()?;
    anyhow::ensure!(
        !arguments.write || arguments.group.is_empty(),
        "the pages are written of all groups at once: leave out --group"
    );
    let (folder, origin) = target::folder(&root, arguments.from.as_deref());
    anyhow::ensure!(
        folder.is_dir(),
        "{folder} ({origin}) is not there: point --from or $ARMATURE_AZURE_DATA at a folder that holds crd-shapes/"
    );
    let crds = crds(&root, arguments).await?;
    let ours = selection::select(crds, &arguments.group)?;
    let mut compared = Vec::new();
    for (group, kinds) in &ours {
        let target = target::read(&folder.join(format!("{group}.json")))?;
        compared.extend(compare::group(group, kinds, &target));
    }
    let target = target::read_all(&folder, &arguments.group)?;
    let causes = lacking::read(&root)?;
    let lacking = lacking::lacking(&ours, &target, &causes);
    let reasons = reasons::read(&root)?;
    let explanation = reasons::explain(&reasons, &compared);
    let text = match arguments.output {
        Format::Text => report::text(&compared, &lacking, arguments.all),
        Format::Jsonl => output::lines(&compared)?,
        format => format.document(&report::document(&compared, &lacking))?,
    };
    output::print(&text)?;
    let is_whole = arguments.group.is_empty();
    let mut faults = report::faults(&compared, &lacking, &explanation, is_whole);
    faults.extend(lacking::faults(&lacking, &causes, is_whole));
    let releases = releases::read(&root)?;
    faults.extend(releases.faults(&ours, &target, is_whole));
    let pages = page::pages(&compared, &explanation, &lacking, &releases.section(&ours));
    if arguments.write {
        write(&root, &pages)?;
    } else if arguments.check {
        faults.extend(stale(&root, &pages)?);
    }
    for fault in &faults {
        eprintln!("error: {fault}");
    }
    Ok(match faults.is_empty() {
        true => ExitCode::SUCCESS,
        false => ExitCode::FAILURE,
    })
}

/// The CRDs to compare.
async fn crds(root: &Utf8Path, arguments: &ParityArguments) -> anyhow::Result<schema::Crds> {
    match &arguments.crds {
        Some(file) => schema::parse_crds(&workspace::read(file)?),
        None if arguments.curated => {
            curated::crds(root, &arguments.group, arguments.from.as_deref())
        }
        None => schema::parse_crds(&print_crds(root, &arguments.group).await?),
    }
}

/// Writes the pages, and deletes those of groups that are gone.
fn write(root: &Utf8Path, pages: &BTreeMap<String, String>) -> anyhow::Result<()> {
    for (name, page) in pages {
        workspace::write(&root.join(DOCS).join(name), page)?;
    }
    for name in leftovers(root, pages)? {
        workspace::remove(&root.join(DOCS).join(name))?;
    }
    eprintln!("{} pages are written in {DOCS}", pages.len());
    Ok(())
}

/// What is wrong with the pages in the tree.
fn stale(root: &Utf8Path, pages: &BTreeMap<String, String>) -> anyhow::Result<Vec<String>> {
    let is_stale = |(name, page): &(&String, &String)| {
        workspace::read(&root.join(DOCS).join(name)).ok().as_ref() != Some(*page)
    };
    let stale = pages.iter().filter(is_stale).map(|(name, _)| name.clone());
    let wrong = stale.chain(leftovers(root, pages)?);
    let told =
        wrong.map(|name| format!("{DOCS}/{name} is stale: run `cargo xtask parity --write`"));
    Ok(told.collect())
}

/// Pages of groups that are gone.
fn leftovers(root: &Utf8Path, pages: &BTreeMap<String, String>) -> anyhow::Result<Vec<String>> {
    let files = workspace::files_below(&root.join(DOCS).join(page::FOLDER))?;
    let names = files.iter().map(|file| format!("{}/{file}", page::FOLDER));
    Ok(names.filter(|name| !pages.contains_key(name)).collect())
}

/// Runs `parity --check` after other checks; says so plainly when there is nothing to compare with.
pub async fn check() -> anyhow::Result<ExitCode> {
    let (folder, _) = target::folder(&workspace::root()?, None);
    if !folder.is_dir() {
        eprintln!("skipped: parity, because {folder} is not there; set $ARMATURE_AZURE_DATA");
        return Ok(ExitCode::SUCCESS);
    }
    run(&ParityArguments {
        check: true,
        ..ParityArguments::default()
    })
    .await
}

/// What `armature crds -o json` prints, built if need be.
async fn print_crds(root: &Utf8Path, groups: &[String]) -> anyhow::Result<String> {
    let mut command = tokio::process::Command::new(workspace::cargo());
    // By the name of the program, as in .cargo/config.toml: what the tests have built is not built once more.
    command.args(["run", "--bin", "armature", "--"]);
    command.args(["crds", "--output", "json", "--known-values"]);
    for group in groups {
        command.args(["--group", group]);
    }
    let output = command
        .current_dir(root)
        .stderr(std::process::Stdio::inherit())
        .output()
        .await
        .context("cannot run cargo")?;
    anyhow::ensure!(output.status.success(), "`armature crds` failed, see above");
    String::from_utf8(output.stdout).context("`armature crds` printed something that is not UTF-8")
}
