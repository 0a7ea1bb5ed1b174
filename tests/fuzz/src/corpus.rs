//! The specs that cases start from.

use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};

use armature_generator::discover::discover;
use armature_generator::load::{LoadError, SpecRoot, SpecSet, load};
use armature_generator::model::{ApiVersion, Version};
use armature_generator::types::build;
use camino::Utf8Path;

use crate::Choices;

/// Api-version of a subject as it is; what a case makes of it is the next one, so that a hub has two to join.
pub(crate) const OLDER: &str = "2023-01-01";

/// A spec file to start from, in its tree.
#[derive(Debug)]
pub struct Subject {
    /// The file, relative to the root of its tree.
    pub file: String,
    pub(crate) root: Arc<SpecRoot>,
    /// OpenAPI files of the same provider, for Bicep types to inherit from.
    openapi: Option<(Arc<SpecRoot>, Vec<String>)>,
    read: OnceLock<Read>,
}

/// What a subject gives before it is changed.
#[derive(Debug, Default)]
pub(crate) struct Read {
    /// The file and all that it refers to.
    pub files: Vec<String>,
    /// Its model, if it gives one.
    pub version: Option<Version>,
    /// OpenAPI versions that Bicep types inherit from.
    pub openapi: BTreeMap<ApiVersion, SpecSet>,
}

impl Subject {
    /// What the subject gives before it is changed; read when first asked for.
    pub(crate) fn read(&self) -> &Read {
        self.read.get_or_init(|| {
            let mut read = Read {
                files: vec![self.file.clone()],
                ..Read::default()
            };
            if let Ok(set) = load(&self.root, std::slice::from_ref(&self.file)) {
                read.files = set.documents().map(|it| it.file.to_string()).collect();
                read.version = discover(&set)
                    .ok()
                    .and_then(|found| build(&set, ApiVersion::new(OLDER), &found).ok());
            }
            if let Some((root, files)) = &self.openapi
                && let Ok(set) = load(root, files)
            {
                read.openapi.insert(ApiVersion::new(OLDER), set);
            }
            read
        })
    }
}

/// Trees of specs, each with the files to start from.
#[derive(Debug, Default)]
pub struct Corpus {
    trees: Vec<Vec<Subject>>,
}

impl Corpus {
    /// Adds every JSON file below `folder`, but for those in folders called `faults`. Where the files are Bicep types, those of a provider inherit from its newest
    /// files in the trees that were added before.
    ///
    /// # Errors
    /// When a folder cannot be read.
    pub fn add(&mut self, folder: &Utf8Path) -> Result<(), LoadError> {
        let root = Arc::new(SpecRoot::new(folder));
        let mut files = root.json_files()?;
        // What is faulty already gets no further.
        files.retain(|file| !file.split('/').any(|folder| folder == "faults"));
        let subjects = files.into_iter().map(|file| Subject {
            openapi: self.openapi(&file),
            file,
            root: Arc::clone(&root),
            read: OnceLock::new(),
        });
        let subjects: Vec<Subject> = subjects.collect();
        if !subjects.is_empty() {
            self.trees.push(subjects);
        }
        Ok(())
    }

    /// Number of files.
    pub fn len(&self) -> usize {
        self.trees.iter().map(Vec::len).sum()
    }

    /// Whether there is nothing to start from.
    pub fn is_empty(&self) -> bool {
        self.trees.is_empty()
    }

    /// Any file; all trees are equally likely. The corpus must not be empty.
    pub(crate) fn pick(&self, choices: &mut Choices<'_>) -> &Subject {
        let tree = choices.of(&self.trees);
        choices.of(tree)
    }

    /// The newest folder of files of the provider that the first folder of a file of Bicep types names.
    fn openapi(&self, file: &str) -> Option<(Arc<SpecRoot>, Vec<String>)> {
        let (provider, _) = file.split_once('/')?;
        let of_provider = |subject: &&Subject| {
            let mut folders = subject.file.split('/').skip(1);
            folders.any(|folder| folder.eq_ignore_ascii_case(provider))
        };
        let subjects = || self.trees.iter().flatten().filter(of_provider);
        let folder = |subject: &Subject| {
            Utf8Path::new(&subject.file)
                .parent()
                .map(Utf8Path::to_owned)
        };
        let newest = subjects().filter_map(folder).max()?;
        let files = subjects().filter(|it| folder(it).as_ref() == Some(&newest));
        let root = Arc::clone(&subjects().next()?.root);
        Some((root, files.map(|it| it.file.clone()).collect()))
    }
}
