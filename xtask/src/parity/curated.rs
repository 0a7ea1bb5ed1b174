//! What the curation files come to, without anything generated or built.

use std::collections::BTreeMap;

use armature_generator::crd::definitions;
use armature_generator::curation::GroupConfig;
use armature_generator::pipeline;
use camino::Utf8Path;

use super::{schema, selection};
use crate::generate::{curation_files, state::spec_root};
use crate::sources;

/// CRDs of groups as their curation files have them, from the pinned specs and Bicep types.
pub fn crds(
    root: &Utf8Path,
    groups: &[String],
    from: Option<&Utf8Path>,
) -> anyhow::Result<BTreeMap<String, schema::Group>> {
    let lock = sources::Lock::read(root)?;
    let specs = spec_root(&lock, |source| {
        anyhow::Ok(sources::current(root, source, from)?.path)
    })?;
    let mut crds = Vec::new();
    for (path, text) in wanted(root, groups)? {
        let config = GroupConfig::parse(path.as_str(), &text)?;
        let group = pipeline::curated_group(&specs, &config)?;
        crds.extend(definitions(&group, |_| true)?);
    }
    schema::read_crds(&crds)
}

/// The curation files of groups with their text.
fn wanted(root: &Utf8Path, groups: &[String]) -> anyhow::Result<Vec<(String, String)>> {
    let files = curation_files(root)?.into_iter();
    let named = files.filter_map(|(path, text)| {
        let group = path.parent()?.file_name()?.to_owned();
        Some((group, (path.into_string(), text)))
    });
    let files = selection::select(named.collect(), groups)?;
    Ok(files.into_values().collect())
}
