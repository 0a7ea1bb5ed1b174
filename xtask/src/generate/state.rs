//! One side of a comparison: curation files and copies of the spec sources.

use anyhow::Context;
use armature_generator::{curation::GroupConfig, load::SpecRoot, model::Group, pipeline};
use camino::{Utf8Path, Utf8PathBuf};

use super::{curation_paths, group_configs, parse_configs};
use crate::{git, sources};

/// What groups are built from.
#[derive(Debug)]
pub struct State {
    /// For people: `HEAD`, `the working tree`.
    pub name: String,
    /// Curation files.
    pub configs: Vec<GroupConfig>,
    /// Spec files.
    pub specs: SpecRoot,
}

impl State {
    /// What is committed at a revision, with copies of exactly the files that are pinned there.
    pub fn committed(root: &Utf8Path, revision: &str, groups: &[String]) -> anyhow::Result<Self> {
        let lock = sources::Lock::committed(root, revision)?;
        let mut files = Vec::new();
        for path in curation_paths(git::files_in(root, revision, "specs")?)? {
            let text = git::read(root, revision, &path)?;
            files.push((path, text));
        }
        let configs = parse_configs(files, groups)
            .with_context(|| format!("the curation files of {revision} cannot be read"))?;
        let specs = spec_root(&lock, |source| sources::pinned(root, source)).with_context(|| {
            format!("cannot compare with {revision}; `cargo xtask specs fetch --base {revision}` gets its files")
        })?;
        Ok(Self {
            name: revision.to_owned(),
            configs,
            specs,
        })
    }

    /// The working tree with copies of exactly the files that it pins.
    pub fn pinned(root: &Utf8Path) -> anyhow::Result<Self> {
        let lock = sources::Lock::read(root)?;
        let specs = spec_root(&lock, |source| sources::pinned(root, source)).context(
            "cannot compare with what is pinned; `cargo xtask specs fetch` gets its files",
        )?;
        Ok(Self {
            name: "the working tree".to_owned(),
            configs: group_configs(root, &[])?,
            specs,
        })
    }

    /// The working tree with the copies that `gen` would use, pinned or not.
    pub fn working(
        root: &Utf8Path,
        from: Option<&Utf8Path>,
        groups: &[String],
    ) -> anyhow::Result<Self> {
        let lock = sources::Lock::read(root)?;
        let specs = spec_root(&lock, |source| {
            let folder = sources::current(root, source, from)?;
            Ok(folder.path)
        })?;
        Ok(Self {
            name: "the working tree".to_owned(),
            configs: group_configs(root, groups)?,
            specs,
        })
    }

    /// The groups as users see them.
    pub fn groups(&self) -> anyhow::Result<Vec<Group>> {
        pipeline::curated_groups(&self.specs, &self.configs)
            .with_context(|| format!("the model of {} cannot be built", self.name))
    }
}

/// The sources of a lock as one tree, each in the folder that `folder` says.
pub fn spec_root(
    lock: &sources::Lock,
    folder: impl Fn(&sources::Source) -> anyhow::Result<Utf8PathBuf>,
) -> anyhow::Result<SpecRoot> {
    let specs = SpecRoot::new(folder(lock.source(sources::AZURE_SPECS)?)?);
    // A lock without Bicep types is one of groups that need none.
    Ok(match lock.source(sources::BICEP_TYPES) {
        Ok(bicep) => specs.with_bicep(folder(bicep)?),
        Err(_) => specs,
    })
}

/// Files that the curation files list, relative to the root of their source; each at all places where it may be.
pub fn listed_files(configs: &[GroupConfig]) -> Vec<String> {
    let files = configs.iter().flat_map(|config| {
        let sources = config.sources().into_iter();
        let files = sources.flat_map(|(_, source)| {
            let versions = source.read_versions().into_iter();
            versions.flat_map(|version| {
                let mut files = source.files(&version);
                files.extend(source.files_elsewhere(&version));
                files
            })
        });
        files.collect::<Vec<_>>()
    });
    files.collect()
}
