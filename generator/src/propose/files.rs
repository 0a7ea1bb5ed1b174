//! Files of specs and Bicep types by the parts of their paths, and the providers that they are of.

use std::collections::BTreeSet;

use super::error::{ProposeError, hint};
use crate::curation::GroupConfig;
use crate::load::{SpecRoot, SpecSet, is_bicep_file};

/// A spec file, or one of Bicep types, by the parts of its path.
pub(super) struct SpecFile<'p> {
    pub path: &'p str,
    /// Folder above `stable` and `preview`; of Bicep types, that above the api-version.
    pub folder: &'p str,
    pub version: &'p str,
}

impl<'p> SpecFile<'p> {
    pub fn read(path: &'p str) -> Option<Self> {
        let (folder, version) = if is_bicep_file(path) {
            path.rsplit_once('/')?.0.rsplit_once('/')?
        } else {
            let staged = path.split_once("/stable/");
            let (folder, rest) = staged.or_else(|| path.split_once("/preview/"))?;
            (folder, rest.split_once('/')?.0)
        };
        Some(Self {
            path,
            folder,
            version,
        })
    }

    pub fn provider(&self) -> Option<&'p str> {
        provider_of(self.folder)
    }

    pub fn is_bicep(&self) -> bool {
        is_bicep_file(self.path)
    }
}

/// Providers whose specs a group reads, each once, in the order of its file.
pub(super) fn providers_of(config: &GroupConfig) -> Vec<&str> {
    let mut providers = Vec::new();
    for (_, source) in config.sources() {
        if let Some(provider) = provider_of(&source.folder)
            && !providers.contains(&provider)
        {
            providers.push(provider);
        }
    }
    providers
}

/// A provider and its files.
pub(super) struct Provider<'f, 'p> {
    pub name: &'p str,
    pub files: Vec<&'f SpecFile<'p>>,
}

impl<'f, 'p> Provider<'f, 'p> {
    /// The provider of this name, or of this last word.
    pub fn read(all: &'f [SpecFile<'p>], named: &str) -> Result<Self, ProposeError> {
        let is_meant = |file: &&SpecFile<'_>| file.provider().is_some_and(|it| is_named(it, named));
        let files: Vec<&SpecFile<'_>> = all.iter().filter(is_meant).collect();
        if let Some(name) = files.first().and_then(|file| file.provider()) {
            return Ok(Self { name, files });
        }
        let known: BTreeSet<&str> = all.iter().filter_map(SpecFile::provider).collect();
        let short = known.iter().map(|it| short(it));
        let short: Vec<&str> = short.chain(known.iter().copied()).collect();
        Err(ProposeError::UnknownProvider {
            provider: named.to_owned(),
            hint: hint(named, &short),
        })
    }
}

/// The part of a path or an ARM type that names a provider.
pub(super) fn provider_of(path: &str) -> Option<&str> {
    path.split('/').find(|part| part.contains('.'))
}

/// Last word of a provider.
pub(super) fn short(provider: &str) -> &str {
    provider.rsplit('.').next().unwrap_or(provider)
}

/// Whether a provider is meant by its name or the last part of it.
pub(super) fn is_named(provider: &str, name: &str) -> bool {
    provider.eq_ignore_ascii_case(name) || short(provider).eq_ignore_ascii_case(name)
}

/// A spec file and those beside it that it needs, its own first, relative to its folder. Only files with resources count:
/// they tell which nested resources are made on their own.
pub(super) fn spec_files(
    path: &str,
    set: &SpecSet,
    has_resources: impl Fn(&str) -> bool,
) -> Vec<String> {
    let (folder, name) = path.rsplit_once('/').unwrap_or_default();
    let mut files = vec![name.to_owned()];
    for document in set.documents() {
        let beside = document
            .file
            .strip_prefix(folder)
            .and_then(|it| it.strip_prefix('/'));
        let Some(beside) = beside.filter(|it| *it != name) else {
            continue;
        };
        if has_resources(&document.file) {
            files.push(beside.to_owned());
        }
    }
    files
}

/// All files of a tree that are specs or Bicep types, by path.
pub(super) fn all_files(specs: &SpecRoot) -> Result<Vec<String>, ProposeError> {
    let mut all = specs.json_files()?;
    all.extend(specs.bicep_files()?);
    Ok(all)
}
