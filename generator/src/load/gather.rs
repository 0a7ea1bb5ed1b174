//! From a list of files to a set in which every reference resolves.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::check::check;
use super::{LoadError, SpecRoot, SpecSet};

/// Loads `files` (relative to the root of the tree) and what they refer to.
///
/// # Errors
/// The first fault found, in order of `files`: see [`LoadError`].
pub fn load(root: &SpecRoot, files: &[String]) -> Result<SpecSet, LoadError> {
    let mut listed = Vec::new();
    let mut documents = BTreeMap::new();
    let mut waiting = Vec::new();
    for file in files {
        let document = root.document(file)?;
        listed.push(Arc::clone(&document));
        waiting.push(document);
    }
    while let Some(document) = waiting.pop() {
        if documents.contains_key(&document.file) {
            continue;
        }
        documents.insert(Arc::clone(&document.file), Arc::clone(&document));
        let mut seen = BTreeSet::new();
        for (from, target) in &document.references {
            if seen.insert(Arc::clone(&target.file)) && !documents.contains_key(&target.file) {
                waiting.push(root.referenced(&target.file, from)?);
            }
        }
    }
    let mut set = SpecSet::new(listed, documents);
    check(&set)?;
    set.index_derived();
    Ok(set)
}
