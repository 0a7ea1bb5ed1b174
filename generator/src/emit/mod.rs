//! Pass 7: the model as files in memory: Rust with `quote` and `prettyplease`, other text with `askama`.
//! Deterministic to the byte.
//!
//! A group becomes a crate: a module per api-version ([`module`], [`types`]), the module `hub`, and the kinds'
//! descriptors ([`kinds`]). Over all groups stands one crate that names them all ([`crates`]). Every group also
//! has a page in the reference ([`reference`]). What is written are facts; Azure's prose is left out.

mod crates;
pub(crate) mod facts;
mod format;
mod ident;
mod kinds;
mod module;
mod reference;
mod types;

use std::collections::BTreeMap;

use camino::Utf8PathBuf;
use rayon::prelude::*;

pub use crates::umbrella;
pub use format::FormatError;
use module::{Home, Module, ModuleKind};

use crate::hub::{Hubs, KindHub};
use crate::model::{ApiVersion, Group, Resource, TypeName, Version};
use crate::share::{Sharing, fingerprints};

/// The command that writes generated files, for their first line.
const WRITER: &str = "cargo xtask gen";

/// A kind with its versions, oldest first, and its hub.
struct KindVersions<'a> {
    kind: &'a str,
    versions: Vec<(&'a Version, &'a Resource)>,
    hub: &'a KindHub,
}

impl<'a> KindVersions<'a> {
    /// The newest version. A kind has at least one.
    fn newest(&self) -> (&'a Version, &'a Resource) {
        self.versions[self.versions.len() - 1]
    }
}

/// Name of the module of an api-version: `v20230101`, whatever the version is served as.
fn module_name(version: &ApiVersion) -> String {
    format!("v{}", version.compact())
}

/// Name of a group's crate: `armature-storage`.
fn crate_name(group: &str) -> String {
    format!("armature-{}", group.replace('.', "-"))
}

/// Folder of a group's crate, relative to the workspace.
fn folder(group: &str) -> Utf8PathBuf {
    Utf8PathBuf::from(format!("generated/{}", group.replace('.', "-")))
}

/// Writes a group's crate and reference page: path relative to the workspace → text.
///
/// # Errors
/// [`FormatError`] when a name of the model gives no valid Rust.
pub fn emit(
    group: &Group,
    sharing: &Sharing,
    hubs: &Hubs,
) -> Result<BTreeMap<Utf8PathBuf, String>, FormatError> {
    let kinds = kind_versions(group, hubs);
    let folder = folder(&group.name);
    let mut files = BTreeMap::new();
    let versions = group.versions.values().collect::<Vec<_>>();
    let modules = versions.par_iter().map(|version| {
        let written = module::module(&version_module(group, version, sharing))?;
        Ok((module_name(&version.api_version), written))
    });
    for written in modules.collect::<Vec<Result<_, FormatError>>>() {
        let (name, written) = written?;
        for (file, text) in written {
            files.insert(folder.join("src").join(&name).join(file), text);
        }
    }
    for (file, text) in module::module(&hub_module(group, sharing, hubs, &kinds))? {
        files.insert(folder.join("src/hub").join(file), text);
    }
    files.extend(crates::group(group, &kinds)?);
    let page = Utf8PathBuf::from(format!("docs/reference/{}.md", group.name));
    files.insert(page, reference::page(group, &kinds));
    Ok(files)
}

/// Names of the descriptors' constants, in order of kind.
pub fn kind_constants(hubs: &Hubs) -> Vec<String> {
    hubs.kinds
        .keys()
        .map(|kind| ident::constant(kind))
        .collect()
}

/// Number of hub types that no version has alike.
pub fn own_hub_types(sharing: &Sharing, hubs: &Hubs) -> usize {
    hubs.types.len() - hub_homes(sharing, hubs).len()
}

/// Hub types that a version has alike: the name there and the version.
fn hub_homes<'a>(
    sharing: &'a Sharing,
    hubs: &Hubs,
) -> BTreeMap<TypeName, (&'a TypeName, &'a ApiVersion)> {
    let own = fingerprints(&hubs.types);
    own.into_iter()
        .filter_map(|(name, fingerprint)| {
            // A hub type that had to leave its name to another kind's is known to versions under the first one.
            let key = hubs.origins.get(&name).cloned();
            let key = key.unwrap_or_else(|| (name.clone(), fingerprint));
            let ((there, _), home) = sharing.distinct.get_key_value(&key)?;
            Some((name, (there, home)))
        })
        .collect()
}

fn kind_versions<'a>(group: &'a Group, hubs: &'a Hubs) -> Vec<KindVersions<'a>> {
    let mut kinds = BTreeMap::<&str, Vec<(&Version, &Resource)>>::new();
    for version in group.versions.values() {
        for resource in &version.resources {
            let versions = kinds.entry(&resource.kind).or_default();
            versions.push((version, resource));
        }
    }
    kinds
        .into_iter()
        .filter_map(|(kind, versions)| {
            let hub = hubs.kinds.get(kind)?;
            Some(KindVersions {
                kind,
                versions,
                hub,
            })
        })
        .collect()
}

fn version_module<'a>(group: &Group, version: &'a Version, sharing: &Sharing) -> Module<'a> {
    let api_version = &version.api_version;
    let sources = version.sources.iter();
    let sources = sources.map(|source| format!("- {}", source.0));
    let elsewhere = version
        .types
        .keys()
        .filter_map(|name| {
            let home = sharing.home(api_version, name);
            let module = module_name(home);
            let name = name.clone();
            (home != api_version).then(|| (name.clone(), Home { module, name }))
        })
        .collect();
    let mut resources = version.resources.iter().collect::<Vec<_>>();
    resources.sort_by(|left, right| left.kind.cmp(&right.kind));
    Module {
        header: format!("Generated by `{WRITER}` from specs of api-version {api_version}."),
        sources: sources.collect(),
        about: vec![
            format!("`{}` with ARM api-version {api_version}.", group.api_group),
            "A type that is the same in an older version is defined there.".to_owned(),
        ],
        types: &version.types,
        elsewhere,
        kinds: resources
            .into_iter()
            .map(|resource| ModuleKind {
                kind: &resource.kind,
                spec: &resource.spec,
                status: &resource.status,
                // Of twins, the name that Kubernetes prefers.
                version: resource.version_names.last().cloned().unwrap_or_default(),
            })
            .collect(),
    }
}

fn hub_module<'a>(
    group: &Group,
    sharing: &Sharing,
    hubs: &'a Hubs,
    kinds: &[KindVersions<'a>],
) -> Module<'a> {
    let elsewhere = hub_homes(sharing, hubs).into_iter();
    let elsewhere = elsewhere.map(|(name, (there, home))| {
        let (module, there) = (module_name(home), there.clone());
        (
            name,
            Home {
                module,
                name: there,
            },
        )
    });
    let versions = group.versions.keys().map(ApiVersion::as_str);
    let versions = format!("- {}", versions.collect::<Vec<_>>().join(", "));
    Module {
        header: format!("Generated by `{WRITER}` from all api-versions."),
        sources: vec![versions],
        about: vec![
            "The stored form of every kind: the union of its versions, the newest shape winning."
                .to_owned(),
            "A type that is the same in an api-version is defined there.".to_owned(),
        ],
        types: &hubs.types,
        elsewhere: elsewhere.collect(),
        kinds: kinds
            .iter()
            .map(|kind| ModuleKind {
                kind: kind.kind,
                spec: &kind.hub.spec,
                status: &kind.hub.status,
                version: kind.hub.storage_version.clone(),
            })
            .collect(),
    }
}
