//! `cargo xtask parity`: our CRDs against the schema paths of Azure Service Operator's, the compatibility target.
//!
//! | module | what lives here |
//! |---|---|
//! | [`target`] | reading the target |
//! | [`schema`] | our CRDs in the same form |
//! | [`compare`] | what differs |
//! | [`reasons`] | why: the reviewed lists `specs/<group>/parity.toml` |
//! | [`totals`] | sums, and the shares that are asked for |
//! | [`report`], [`page`] | telling: text, data, `docs/parity.md` and a page for each group |
//!
//! The target's data lie beside the clone (`crd-shapes/`), not in it.

mod compare;
mod page;
mod reasons;
mod report;
mod schema;
mod target;
mod totals;

use std::collections::BTreeMap;
use std::process::ExitCode;

use anyhow::Context;
use camino::{Utf8Path, Utf8PathBuf};
use clap::Args;

use crate::output::{self, Format};
use crate::{sources, workspace};

/// Folder of the pages that `--write` writes.
const DOCS: &str = "docs";

/// Arguments of `parity`.
#[derive(Debug, Default, Args)]
pub struct ParityArguments {
    /// Only this group, for example `kusto`; may be repeated.
    #[arg(long, value_name = "GROUP", conflicts_with_all = ["write", "check"])]
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
    let (folder, origin) = shapes(&root, arguments.from.as_deref());
    anyhow::ensure!(
        folder.is_dir(),
        "{folder} ({origin}) is not there: point --from or $ARMATURE_AZURE_DATA at a folder that holds crd-shapes/"
    );
    let text = match &arguments.crds {
        Some(file) => workspace::read(file)?,
        None => print_crds(&root, &arguments.group).await?,
    };
    let ours = select(schema::parse_crds(&text)?, &arguments.group)?;
    let mut compared = Vec::new();
    for (group, kinds) in &ours {
        let target = read_target(&folder.join(format!("{group}.json")))?;
        compared.extend(compare::group(group, kinds, &target));
    }
    let reasons = reasons::read(&root)?;
    let explanation = reasons::explain(&reasons, &compared);
    let text = match arguments.output {
        Format::Text => report::text(&compared, arguments.all),
        Format::Jsonl => output::lines(&compared)?,
        format => format.document(&report::document(&compared))?,
    };
    output::print(&text)?;
    let mut faults = report::faults(&compared, &explanation, arguments.group.is_empty());
    let pages = page::pages(&compared, &explanation);
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
    let (folder, _) = shapes(&workspace::root()?, None);
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

/// Folder of the target's shapes, and where it comes from.
fn shapes(root: &Utf8Path, from: Option<&Utf8Path>) -> (Utf8PathBuf, sources::Origin) {
    let (data, origin) = sources::data_folder(root, from);
    (data.join("crd-shapes"), origin)
}

/// The target of a group, for who wants to be like it; none where there are no shapes of the group.
pub fn target_of(
    root: &Utf8Path,
    from: Option<&Utf8Path>,
    group: &str,
) -> anyhow::Result<Option<schema::Group>> {
    let file = shapes(root, from).0.join(format!("{group}.azure.com.json"));
    file.is_file().then(|| read_target(&file)).transpose()
}

/// The groups that are wanted, all when none is named, each in full or by its first word.
fn select<T>(
    mut groups: BTreeMap<String, T>,
    wanted: &[String],
) -> anyhow::Result<BTreeMap<String, T>> {
    let is = |group: &str, wanted: &str| wanted == group || Some(wanted) == group.split('.').next();
    anyhow::ensure!(!groups.is_empty(), "there are no CRDs to compare");
    for wanted in wanted {
        anyhow::ensure!(
            groups.keys().any(|group| is(group, wanted)),
            "there are no CRDs of group `{wanted}`; there are: {}",
            groups.keys().cloned().collect::<Vec<_>>().join(", ")
        );
    }
    groups.retain(|group, _| wanted.is_empty() || wanted.iter().any(|wanted| is(group, wanted)));
    Ok(groups)
}

/// The target of a group; a group that the target does not have has no kinds there.
fn read_target(file: &Utf8Path) -> anyhow::Result<schema::Group> {
    if !file.is_file() {
        return Ok(schema::Group::new());
    }
    target::parse(&workspace::read(file)?)
        .with_context(|| format!("{file} is not in the form of crd-shapes"))
}

/// What `armature crds -o json` prints, built if need be.
async fn print_crds(root: &Utf8Path, groups: &[String]) -> anyhow::Result<String> {
    let mut command = tokio::process::Command::new(workspace::cargo());
    command.args(["run", "--package", "armature", "--"]);
    command.args(["crds", "--output", "json"]);
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_are_chosen_by_name_and_an_unknown_one_is_told_with_all_there_are() {
        let groups = || ["a.azure.com", "b.azure.com"].map(|name| (name.to_owned(), ()));
        let chosen = |wanted: &[&str]| {
            let wanted: Vec<_> = wanted.iter().map(|name| (*name).to_owned()).collect();
            select(BTreeMap::from(groups()), &wanted)
                .map(|groups| groups.into_keys().collect::<Vec<_>>().join(" "))
                .map_err(|error| error.to_string())
        };
        assert_eq!(chosen(&[]).as_deref(), Ok("a.azure.com b.azure.com"));
        assert_eq!(chosen(&["b"]).as_deref(), Ok("b.azure.com"));
        assert_eq!(chosen(&["a.azure.com"]).as_deref(), Ok("a.azure.com"));
        let error = "there are no CRDs of group `c`; there are: a.azure.com, b.azure.com";
        assert_eq!(chosen(&["a", "c"]), Err(error.to_owned()));
    }
}
