//! `cargo xtask parity`: our CRDs against the schema paths of Azure Service Operator's, the compatibility target.
//!
//! [`target`] reads the target, [`schema`] flattens our CRDs to the same form, [`compare`] compares, [`report`] prints.
//! The target's data lie beside the clone (`crd-shapes/`), not in it.

mod compare;
mod report;
mod schema;
mod target;

use std::collections::BTreeMap;
use std::process::ExitCode;

use anyhow::Context;
use camino::{Utf8Path, Utf8PathBuf};
use clap::{Args, ValueEnum};

use crate::{output, specs, workspace};

/// Arguments of `parity`.
#[derive(Debug, Args)]
pub struct ParityArguments {
    /// Only this group, for example `kusto`; may be repeated.
    #[arg(long, value_name = "GROUP")]
    group: Vec<String>,
    /// Format of the result.
    #[arg(short, long, value_enum, default_value_t = Format::Text)]
    output: Format,
    /// List every path; without it, the first ten of each list.
    #[arg(long)]
    all: bool,
    /// CRDs to compare, as `armature crds -o json` prints them. Default: build and run that.
    #[arg(long, value_name = "FILE")]
    crds: Option<Utf8PathBuf>,
    /// Folder that holds crd-shapes. Default: $ARMATURE_AZURE_DATA, else ../shared/azure beside the workspace.
    #[arg(long, value_name = "DIR")]
    from: Option<Utf8PathBuf>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Format {
    Text,
    Json,
}

/// Runs `parity`. Differences are a result, not a failure.
pub async fn run(arguments: &ParityArguments) -> anyhow::Result<ExitCode> {
    let root = workspace::root()?;
    let (data, origin) = specs::data_folder(&root, arguments.from.as_deref());
    let folder = data.join("crd-shapes");
    anyhow::ensure!(
        folder.is_dir(),
        "{folder} ({origin}) is not there: point --from or $ARMATURE_AZURE_DATA at a folder that holds crd-shapes/"
    );
    let text = match &arguments.crds {
        Some(file) => workspace::read(file)?,
        None => print_crds(&root, &arguments.group).await?,
    };
    let ours = select(schema::parse_crds(&text)?, &arguments.group)?;
    let mut kinds = Vec::new();
    for (group, group_kinds) in &ours {
        let target = read_target(&folder.join(format!("{group}.json")))?;
        kinds.extend(compare::group(group, group_kinds, &target));
    }
    let text = match arguments.output {
        Format::Text => report::text(&kinds, arguments.all),
        Format::Json => serde_json::to_string_pretty(&report::json(&kinds))? + "\n",
    };
    output::print(&text)?;
    Ok(ExitCode::SUCCESS)
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
fn read_target(file: &Utf8Path) -> anyhow::Result<target::Group> {
    if !file.is_file() {
        return Ok(target::Group::new());
    }
    target::parse(&workspace::read(file)?)
        .with_context(|| format!("{file} is not in the form of crd-shapes"))
}

/// What `armature crds -o json` prints, built if need be.
async fn print_crds(root: &Utf8Path, groups: &[String]) -> anyhow::Result<String> {
    let mut command = tokio::process::Command::new(workspace::cargo());
    command.args(["run", "--quiet", "--package", "armature", "--"]);
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
