//! Pass 8: the model as files in memory: Rust with `quote` and `prettyplease`, other text with `askama`.
//! Deterministic to the byte.
//!
//! A group becomes a crate: a file per api-version ([`module`]), one for the hub, one for the types that these hold
//! ([`shared`], [`types`]), and one per kind with its descriptor ([`kinds`]). Over all groups stands one crate that names them all ([`crates`]). Every kind also
//! has a page in the reference ([`reference`]). What is written are facts; Azure's prose is left out.

mod crates;
mod descriptions;
mod error;
pub(crate) mod facts;
mod format;
mod kinds;
mod module;
mod reference;
mod shared;
mod types;
mod uses;

use std::collections::{BTreeMap, BTreeSet};

use camino::Utf8PathBuf;
use rayon::prelude::*;

pub use crates::{CHART_FILES, umbrella};
pub use descriptions::descriptions;
pub use error::EmitError;
pub use format::FormatError;
use module::{Module, ModuleKind};
pub use reference::{Example, Extension, KindNotes, LARGEST_PAGE, Notes};
use shared::{Layout, Table};
use uses::{Imports, Uses};

use crate::hub::{Hubs, KindHub, Plan};
use crate::model::{ApiVersion, Group, MissingType, Resource, TypeId, TypeName, Version};
use crate::naming::{Names, TypeNames, constant, snake};
use crate::share::Sharing;

/// The command that writes generated files, for their first line.
const WRITER: &str = "cargo xtask gen";

/// A kind with its versions, oldest first, and its hub.
struct KindVersions<'a> {
    kind: &'a str,
    versions: Vec<(&'a Version, &'a Resource)>,
    /// The last one of them.
    newest: (&'a Version, &'a Resource),
    hub: &'a KindHub,
    /// What the roots of each version are called, and what differs from the hub in each.
    version_roots: Vec<(RootNames<'a>, &'a (Plan, Plan))>,
    hub_roots: RootNames<'a>,
}

/// What the roots of a kind are called.
#[derive(Clone, Copy)]
struct RootNames<'a> {
    spec: &'a TypeName,
    status: &'a TypeName,
}

impl<'a> RootNames<'a> {
    fn of(names: &'a TypeNames, spec: &TypeId, status: &TypeId) -> Result<Self, MissingType> {
        let (spec, status) = (names.get(spec)?, names.get(status)?);
        Ok(Self { spec, status })
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

/// Name of the page of a kind, in the folder of its group.
fn page_of(kind: &str) -> String {
    format!("{}.md", kind.to_lowercase())
}

/// Writes a group's crate and the pages of its kinds: path relative to the workspace → text.
///
/// # Errors
/// [`EmitError`] when a name of the model gives no valid Rust, or a type is missing in its table.
pub fn emit(
    group: &Group,
    hubs: &Hubs,
    names: &Names,
    sharing: &Sharing,
    notes: &Notes,
) -> Result<BTreeMap<Utf8PathBuf, String>, EmitError> {
    let kinds = kind_versions(group, hubs, names)?;
    let folder = folder(&group.name);
    let mut files = BTreeMap::new();
    let versions = group.versions.values().collect::<Vec<_>>();
    let layout = Layout {
        sharing,
        by_letter: group.types_by_letter,
    };
    let tables = versions
        .par_iter()
        .map(|version| Table::of_version(version, layout, names))
        .collect::<Result<Vec<_>, MissingType>>()?;
    let modules = versions.par_iter().zip(&tables).map(|(version, table)| {
        let module = version_module(group, version, sharing, table)?;
        let file = format!("src/{}.rs", module_name(&version.api_version));
        Ok((folder.join(file), module::text(&module)))
    });
    let modules = modules.collect::<Result<Vec<_>, MissingType>>()?;
    files.extend(modules);
    let hub_tables = kinds.iter();
    let hub_tables = hub_tables.map(|kind| Table::of_hub(hubs, kind.hub, layout, names));
    let hub_tables = hub_tables.collect::<Result<Vec<_>, MissingType>>()?;
    let hub = hub_module(group, sharing, &kinds, &hub_tables)?;
    files.insert(folder.join("src/hub.rs"), module::text(&hub));
    let tables = tables.iter().chain(&hub_tables).collect::<Vec<_>>();
    let types = shared::files(&group.api_group, &tables)?;
    files.extend(crates::group(group, &kinds, !types.is_empty())?);
    let types = types.into_iter();
    files.extend(types.map(|(file, text)| (folder.join("src").join(file), text)));
    files.extend(reference::pages(group, &kinds, notes));
    Ok(files)
}

/// What is said of a group's kinds where those of all groups are named.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GroupKinds {
    /// `storage.azure.com`.
    pub api_group: String,
    /// Names of the descriptors' constants, in order of kind.
    pub constants: Vec<String>,
    /// Plurals, which name the CRDs together with the API group.
    pub plurals: BTreeSet<String>,
    /// ARM types by kind.
    pub arm_types: BTreeMap<String, String>,
}

impl GroupKinds {
    /// Of a group and its hubs.
    pub fn of(group: &Group, hubs: &Hubs) -> Self {
        let resources = group.versions.values().flat_map(|it| &it.resources);
        Self {
            api_group: group.api_group.clone(),
            constants: hubs.kinds.keys().map(|kind| constant(kind)).collect(),
            plurals: resources.clone().map(|it| it.plural.clone()).collect(),
            arm_types: resources
                .map(|it| (it.kind.clone(), it.arm_type.clone()))
                .collect(),
        }
    }
}

fn kind_versions<'a>(
    group: &'a Group,
    hubs: &'a Hubs,
    names: &'a Names,
) -> Result<Vec<KindVersions<'a>>, MissingType> {
    let mut kinds = BTreeMap::<&str, Vec<(&Version, &Resource)>>::new();
    for version in group.versions.values() {
        for resource in &version.resources {
            let versions = kinds.entry(&resource.kind).or_default();
            versions.push((version, resource));
        }
    }
    let kinds = kinds.into_iter().map(|(kind, versions)| {
        let Some(newest) = versions.last().copied() else {
            return Ok(None);
        };
        let missing = |ty: &TypeId| {
            let (ty, place) = (ty.clone(), format!("the hub of `{kind}`"));
            MissingType { ty, place }
        };
        let hub = hubs.kinds.get(kind);
        let hub = hub.ok_or_else(|| missing(&newest.1.spec))?;
        let roots = versions.iter().map(|(version, resource)| {
            let names = names.of_version(&version.api_version);
            let plans = hub.plans.get(&version.api_version);
            let plans = plans.ok_or_else(|| missing(&resource.spec))?;
            Ok((
                RootNames::of(names, &resource.spec, &resource.status)?,
                plans,
            ))
        });
        Ok(Some(KindVersions {
            kind,
            version_roots: roots.collect::<Result<Vec<_>, MissingType>>()?,
            versions,
            newest,
            hub_roots: RootNames::of(&names.hub, &hub.spec, &hub.status)?,
            hub,
        }))
    });
    kinds.filter_map(Result::transpose).collect()
}

fn version_module<'a>(
    group: &Group,
    version: &'a Version,
    sharing: &Sharing,
    table: &Table<'a>,
) -> Result<Module<'a>, MissingType> {
    let api_version = &version.api_version;
    let made_from = format!("Generated by `{WRITER}` from specs of api-version {api_version}.");
    let sources = version.sources.iter();
    let sources = sources.map(|source| format!("- {}", source.0));
    let mut resources = version.resources.iter().collect::<Vec<_>>();
    resources.sort_by(|left, right| left.kind.cmp(&right.kind));
    let mut module = Module {
        header: [made_from].into_iter().chain(sources).collect(),
        about: vec![
            format!("`{}` with ARM api-version {api_version}.", group.api_group),
            "A root that is the same in an older version is defined there.".to_owned(),
        ],
        roots: Vec::new(),
        uses: Uses::default(),
        elsewhere: Imports::new(),
        types: table.exports()?,
        parts: BTreeMap::new(),
        kinds: Vec::new(),
    };
    for resource in &resources {
        let called = RootNames::of(table.named.names, &resource.spec, &resource.status)?;
        for root in [&resource.spec, &resource.status] {
            let home = sharing.home(api_version, root);
            let home = (home != api_version).then_some(home);
            let name = |ty: &TypeId| Ok(table.named.names.get(ty)?.to_string());
            module.add_root(root, table, home, &name)?;
        }
        module.kinds.push(ModuleKind {
            kind: &resource.kind,
            spec: called.spec,
            status: called.status,
            // Of twins, the name that Kubernetes prefers.
            version: resource.version_names.last().cloned().unwrap_or_default(),
        });
    }
    Ok(module)
}

fn hub_module<'a>(
    group: &Group,
    sharing: &Sharing,
    kinds: &[KindVersions<'a>],
    tables: &[Table<'_>],
) -> Result<Module<'a>, MissingType> {
    let made_from = format!("Generated by `{WRITER}` from all api-versions.");
    let versions = group.versions.keys().map(ApiVersion::as_str);
    let versions = format!("- {}", versions.collect::<Vec<_>>().join(", "));
    let mut module = Module {
        header: vec![made_from, versions],
        about: vec![
            "The stored form of every kind: the union of its versions, the newest shape winning."
                .to_owned(),
            "A root that is the same in an api-version is defined there.".to_owned(),
            "What the roots of a kind are made of is in a module of the kind.".to_owned(),
        ],
        roots: Vec::new(),
        uses: Uses::default(),
        elsewhere: Imports::new(),
        types: Imports::new(),
        parts: BTreeMap::new(),
        kinds: Vec::new(),
    };
    for (kind, table) in kinds.iter().zip(tables) {
        let part = snake(kind.kind);
        for root in [&kind.hub.spec, &kind.hub.status] {
            let name = |ty: &TypeId| Ok(format!("{part}::{}", table.named.names.get(ty)?));
            module.add_root(root, table, sharing.home_of_hub(root), &name)?;
        }
        let exports = table.exports()?;
        if !exports.is_empty() {
            module.parts.insert(part, exports);
        }
        module.kinds.push(ModuleKind {
            kind: kind.kind,
            spec: kind.hub_roots.spec,
            status: kind.hub_roots.status,
            version: kind.hub.storage_version.clone(),
        });
    }
    Ok(module)
}
