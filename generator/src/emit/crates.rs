//! Files around the modules: manifests, crate roots, descriptors.

use std::collections::{BTreeMap, BTreeSet};

use askama::Template;
use camino::Utf8PathBuf;

use super::format::FormatError;
use super::module::marker;
use super::{GroupKinds, KindVersions, WRITER, crate_name, folder, kinds, module_name, page_of};
use crate::model::Group;

/// The chart's lists of API groups and of CRDs.
pub const CHART_FILES: [&str; 2] = ["deploy/chart/files/groups", "deploy/chart/files/crds"];

#[derive(Template)]
#[template(path = "group_manifest.toml", escape = "none")]
struct GroupManifest<'a> {
    writer: &'a str,
    name: &'a str,
}

#[derive(Template)]
#[template(path = "group_lib.rs", escape = "none")]
struct GroupLib<'a> {
    writer: &'a str,
    api_group: &'a str,
    modules: Vec<String>,
    has_types: bool,
    aliases: Vec<(String, String)>,
    /// Module of an api-version and marker type of a kind.
    kinds: Vec<(String, String)>,
}

#[derive(Template)]
#[template(path = "umbrella_manifest.toml", escape = "none")]
struct UmbrellaManifest<'a> {
    writer: &'a str,
    crates: Vec<(String, String)>,
}

#[derive(Template)]
#[template(path = "umbrella_lib.rs", escape = "none")]
struct UmbrellaLib<'a> {
    writer: &'a str,
    /// Crate, module and feature.
    groups: Vec<(String, String, String)>,
    /// Module, feature and constant.
    kinds: Vec<(String, String, String)>,
}

/// Manifest, crate root and descriptors of a group's crate.
pub(super) fn group(
    group: &Group,
    kind_versions: &[KindVersions<'_>],
    has_types: bool,
) -> Result<BTreeMap<Utf8PathBuf, String>, FormatError> {
    let folder = folder(&group.name);
    let name = crate_name(&group.name);
    let manifest = GroupManifest {
        writer: WRITER,
        name: &name,
    };
    let mut modules = group.versions.keys().map(module_name).collect::<Vec<_>>();
    modules.push("hub".to_owned());
    modules.push("kinds".to_owned());
    modules.sort();
    let aliases = group.versions.values().flat_map(|version| {
        let module = module_name(&version.api_version);
        let names = version
            .resources
            .iter()
            .flat_map(|r| r.version_names.iter());
        let names = names
            .filter(|name| **name != module)
            .collect::<BTreeSet<_>>();
        names
            .into_iter()
            .map(move |name| (module.clone(), name.clone()))
            .collect::<Vec<_>>()
    });
    let kinds_of = kind_versions.iter().flat_map(|kind| {
        let versions = kind.versions.iter();
        versions.map(|(version, _)| {
            let module = module_name(&version.api_version);
            (module, marker(kind.kind))
        })
    });
    let lib = GroupLib {
        writer: WRITER,
        api_group: &group.api_group,
        modules,
        has_types,
        aliases: aliases.collect(),
        kinds: kinds_of.collect(),
    };
    let descriptors = kinds::files(group, kind_versions)?.into_iter();
    let mut files = descriptors
        .map(|(file, text)| (folder.join("src/kinds").join(file), text))
        .collect::<BTreeMap<_, _>>();
    files.insert(folder.join("Cargo.toml"), rendered(&manifest));
    files.insert(folder.join("src/lib.rs"), rendered(&lib));
    Ok(files)
}

#[derive(Template)]
#[template(path = "reference_index.md", escape = "none")]
struct ReferenceIndex<'a> {
    writer: &'a str,
    groups: Vec<GroupOfIndex<'a>>,
}

struct GroupOfIndex<'a> {
    name: &'a str,
    /// Kind, file of its page and ARM type.
    kinds: Vec<(&'a str, String, &'a str)>,
}

/// What stands over all groups: their crate, the first page of the reference, and what the chart gives the operator rights
/// on. `groups` are by name.
pub fn umbrella(groups: &BTreeMap<String, GroupKinds>) -> BTreeMap<Utf8PathBuf, String> {
    let folder = Utf8PathBuf::from("generated/all");
    let feature = |group: &str| group.replace('.', "-");
    let crates = groups
        .keys()
        .map(|group| (crate_name(group), feature(group)));
    let manifest = UmbrellaManifest {
        writer: WRITER,
        crates: crates.collect(),
    };
    let module = |group: &str| group.replace('.', "_");
    let lib = UmbrellaLib {
        writer: WRITER,
        groups: groups
            .keys()
            .map(|group| {
                let crate_name = crate_name(group).replace('-', "_");
                (crate_name, module(group), feature(group))
            })
            .collect(),
        kinds: groups
            .iter()
            .flat_map(|(group, kinds)| {
                let kinds = kinds.constants.iter();
                kinds.map(|kind| (module(group), feature(group), kind.clone()))
            })
            .collect(),
    };
    let index = ReferenceIndex {
        writer: WRITER,
        groups: groups
            .iter()
            .map(|(name, kinds)| GroupOfIndex {
                name,
                kinds: kinds
                    .arm_types
                    .iter()
                    .map(|(kind, arm_type)| (kind.as_str(), page_of(kind), arm_type.as_str()))
                    .collect(),
            })
            .collect(),
    };
    let api_groups = groups.values().map(|kinds| kinds.api_group.clone());
    let crds = groups.values().flat_map(|kinds| {
        let plurals = kinds.plurals.iter();
        plurals.map(|plural| format!("{plural}.{}", kinds.api_group))
    });
    BTreeMap::from([
        (Utf8PathBuf::from(CHART_FILES[0]), lines(api_groups)),
        (Utf8PathBuf::from(CHART_FILES[1]), lines(crds)),
        (folder.join("Cargo.toml"), rendered(&manifest)),
        (folder.join("src/lib.rs"), rendered(&lib)),
        (
            Utf8PathBuf::from("docs/reference/index.md"),
            rendered(&index),
        ),
    ])
}

/// A line for each, sorted.
fn lines(items: impl Iterator<Item = String>) -> String {
    let items = items.collect::<BTreeSet<_>>().into_iter();
    items.map(|item| format!("{item}\n")).collect()
}

/// Renders a template. Ours hold plain values only, so rendering cannot fail: a `String` takes any text.
pub(super) fn rendered(template: &impl Template) -> String {
    let mut text = template.render().unwrap_or_default();
    text.push('\n');
    text
}
