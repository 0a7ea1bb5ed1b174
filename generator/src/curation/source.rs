//! Where specs of a group are. Azure keeps what makes up one group in several folders, each with api-versions of its own.

use std::collections::{BTreeMap, BTreeSet};

use serde::Deserialize;
use toml::Spanned;

use super::retirement::RetirementRules;
use super::words::SpecFormat;
use crate::load::{BICEP_FOLDER, resolve_file};
use crate::model::ApiVersion;

/// One folder of specs and what of it is read.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct SourceRules {
    /// The folder, relative to the root of the spec tree; the folders `stable` and `preview` are below it. Tells where
    /// the Bicep types are, too.
    pub folder: String,
    /// Spec files of each api-version that is read from OpenAPI and lists no others.
    #[serde(default)]
    pub files: Vec<Spanned<String>>,
    /// What each api-version is read from.
    #[serde(default)]
    pub versions: BTreeMap<Spanned<String>, Spanned<ReadFrom>>,
    /// As [`Self::versions`]: api-versions that are served only when a user names them, and never stored. Azure Service
    /// Operator does not have them.
    #[serde(default)]
    pub on_request: BTreeMap<Spanned<String>, Spanned<ReadFrom>>,
    /// api-versions of the specs that no kind is exported from, and that tell what Bicep types of near ones leave out.
    #[serde(default)]
    pub inherit_from: Vec<Spanned<String>>,
    /// api-versions that Azure retires.
    #[serde(default)]
    pub retires: BTreeMap<Spanned<String>, RetirementRules>,
}

/// What an api-version is read from: a word, or spec files of its own.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(untagged)]
pub enum ReadFrom {
    /// A format by its name.
    Named(SpecFormat),
    /// These spec files, relative to the folder of the api-version; `..` leads to that of another one.
    Files(Vec<String>),
}

impl From<SpecFormat> for ReadFrom {
    fn from(format: SpecFormat) -> Self {
        Self::Named(format)
    }
}

impl SourceRules {
    /// Files of an api-version, relative to the root of their repository.
    pub fn files(&self, version: &ApiVersion) -> Vec<String> {
        self.files_in(version, version.is_preview())
    }

    /// [`Self::files`], in their order, where they are if not there: some dates without `-preview` are below `preview`
    /// all the same.
    pub fn files_elsewhere(&self, version: &ApiVersion) -> Vec<String> {
        self.files_in(version, !version.is_preview())
    }

    fn files_in(&self, version: &ApiVersion, is_preview: bool) -> Vec<String> {
        let stage = if is_preview { "preview" } else { "stable" };
        let folder = format!("{}/{stage}/{version}/", self.folder);
        // What leaves the tree stays as it is written: then the error about a missing file names it.
        let path = |file: &String| {
            resolve_file(&folder, file).unwrap_or_else(|| format!("{folder}{file}"))
        };
        match self.read_from(version) {
            ReadFrom::Named(SpecFormat::Bicep) => vec![bicep_file(&self.folder, version)],
            ReadFrom::Named(SpecFormat::OpenApi) => {
                let files = self.files.iter();
                files.map(|file| path(file.get_ref())).collect()
            }
            ReadFrom::Files(files) => files.iter().map(path).collect(),
        }
    }

    /// What an api-version is read from; specs, where the file does not say.
    fn read_from(&self, version: &ApiVersion) -> &ReadFrom {
        let listed = self.versions.get(version.as_str());
        listed
            .or_else(|| self.on_request.get(version.as_str()))
            .map_or(&ReadFrom::Named(SpecFormat::OpenApi), Spanned::get_ref)
    }

    /// Whether an api-version is read from Bicep types.
    pub fn is_bicep(&self, version: &ApiVersion) -> bool {
        *self.read_from(version) == ReadFrom::Named(SpecFormat::Bicep)
    }

    /// Where the file names an api-version.
    pub fn place(&self, version: &ApiVersion) -> Option<&Spanned<String>> {
        let mut names = self
            .listed()
            .map(|(name, _)| name)
            .chain(&self.inherit_from);
        names.find(|name| name.get_ref() == version.as_str())
    }

    /// api-versions that kinds are exported from, oldest first.
    pub fn api_versions(&self) -> BTreeSet<ApiVersion> {
        let names = self.listed().map(|(name, _)| name);
        names.map(|name| ApiVersion::new(name.get_ref())).collect()
    }

    /// api-versions that kinds are exported from, and what each is read from.
    pub(crate) fn listed(&self) -> impl Iterator<Item = (&Spanned<String>, &Spanned<ReadFrom>)> {
        self.versions.iter().chain(&self.on_request)
    }

    /// All api-versions that are read, oldest first; also those that no kind is exported from.
    pub fn read_versions(&self) -> BTreeSet<ApiVersion> {
        let further = self.inherit_from.iter();
        let mut versions = self.api_versions();
        versions.extend(further.map(|name| ApiVersion::new(name.get_ref())));
        versions
    }
}

/// The file of Bicep types beside a folder of specs. Its folders are named after those of the specs:
/// `generated/<service>/<provider>/<api-version>`.
pub(crate) fn bicep_file(folder: &str, version: &ApiVersion) -> String {
    let folders = || folder.split('/').skip(1);
    let service = folders().next().unwrap_or_default();
    // Some providers have folders below their own: `Microsoft.ContainerService/aks`.
    let provider = folders().find(|folder| folder.contains('.'));
    let provider = provider.or(folders().last()).unwrap_or(service);
    let provider = provider.to_lowercase();
    format!("{BICEP_FOLDER}/{service}/{provider}/{version}/types.json")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_api_version_may_be_read_from_the_file_of_another_one() {
        let source = |file: &str| SourceRules {
            folder: "specification/music/Example.Music".to_owned(),
            files: Vec::new(),
            versions: BTreeMap::from([(
                Spanned::new(0..0, "2024-01-01".to_owned()),
                Spanned::new(0..0, ReadFrom::Files(vec![file.to_owned()])),
            )]),
            on_request: BTreeMap::new(),
            inherit_from: Vec::new(),
            retires: BTreeMap::new(),
        };
        let table = [
            ("music.json", "stable/2024-01-01/music.json"),
            ("../2023-01-01/music.json", "stable/2023-01-01/music.json"),
            (
                "../../preview/2023-01-01/music.json",
                "preview/2023-01-01/music.json",
            ),
        ];
        for (file, expected) in table {
            let files = source(file).files(&ApiVersion::new("2024-01-01"));
            assert_eq!(
                files,
                [format!("specification/music/Example.Music/{expected}")]
            );
        }
        let outside = "../../../../../../music.json";
        let files = source(outside).files(&ApiVersion::new("2024-01-01"));
        assert!(files[0].ends_with(outside), "{files:?}");
    }
}
