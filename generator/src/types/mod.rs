//! Pass 3: schemas → the type table.
//!
//! Each resource gets two root types: one from the body of PUT and one from the answer of GET. What cannot be read has
//! nothing in its status.
//! Spec and status sides are separate types from here on: the spec side has no read-only properties and keeps all
//! constraints; on the status side everything is optional and nothing is checked (ASO behaviour §3.5, §4.2).
//!
//! Here: merging of `allOf` ([`merge`]), the walk from schemas to types ([`build`], [`objects`]), flattening
//! ([`flatten`]), variants ([`variants`]), resources within resources ([`embedded`]), words ([`words`]), what is around a type ([`around`]) and the table itself
//! ([`table`]). Not here: anything that is our choice rather than the spec's word (`curate`).

mod around;
mod bounds;
mod build;
pub mod embedded;
mod error;
pub(crate) mod flatten;
pub(crate) mod merge;
mod objects;
pub(crate) mod one_of;
mod table;
mod variants;
mod words;

use std::collections::{BTreeMap, BTreeSet};

use crate::discover::DiscoveredResource;
use crate::model::{ApiVersion, Resource, Side, SourceFile, TypeId, Version};
use crate::naming::identities;
use crate::overlay::Overlaid;
use build::Builder;
use embedded::Embedding;
pub use error::TypesError;
use table::Table;
use words::Words;

/// Name of a source where there is only one and no curation file has given it another.
pub const ONLY_SOURCE: &str = "specs";

/// What one source describes of an api-version.
#[derive(Clone, Copy, Debug)]
pub struct Described<'a> {
    /// Name of the source.
    pub source: &'a str,
    /// Its files, with what other specs add to them.
    pub set: Overlaid<'a>,
    /// The resources in them.
    pub resources: &'a [DiscoveredResource<'a>],
}

/// Builds every type that the resources reach.
///
/// # Errors
/// When a schema that a resource reaches cannot be a type: see [`TypesError`].
pub fn build<'a>(
    set: impl Into<Overlaid<'a>>,
    api_version: ApiVersion,
    discovered: &'a [DiscoveredResource<'a>],
) -> Result<Version, TypesError> {
    build_with(set, api_version, discovered, &Embedding::default())
}

/// As [`build`], with choices that the group's TOML makes about resources within resources.
///
/// # Errors
/// As [`build`].
pub fn build_with<'a>(
    set: impl Into<Overlaid<'a>>,
    api_version: ApiVersion,
    discovered: &'a [DiscoveredResource<'a>],
    embedding: &Embedding,
) -> Result<Version, TypesError> {
    let described = Described {
        source: ONLY_SOURCE,
        set: set.into(),
        resources: discovered,
    };
    build_all(&[described], api_version, embedding, |_, _| true)
}

/// As [`build_with`], of several sources, and only the resources that are wanted of each. Types are called the same
/// whichever these are.
///
/// # Errors
/// As [`build`].
pub fn build_all(
    described: &[Described<'_>],
    api_version: ApiVersion,
    embedding: &Embedding,
    is_wanted: impl Fn(&str, &DiscoveredResource<'_>) -> bool,
) -> Result<Version, TypesError> {
    let mut table = Table::default();
    let words = Words::of(described);
    let wanted =
        |part: &Described<'_>, resource: &DiscoveredResource<'_>| is_wanted(part.source, resource);
    let mut resources = Vec::new();
    for part in described {
        let rule = embedded::Rule::new(part.set, part.resources, embedding);
        for resource in part.resources.iter().filter(|it| wanted(part, it)) {
            resources.push(sides(part.set, (&rule, &words), &mut table, resource)?);
        }
    }
    resources
        .sort_by(|left, right| (&left.arm_type, &left.path).cmp(&(&right.arm_type, &right.path)));
    let files: BTreeSet<SourceFile> = described
        .iter()
        .flat_map(|part| part.set.loaded().documents())
        .map(|document| SourceFile(document.file.to_string()))
        .collect();
    Ok(Version {
        api_version,
        sources: files.into_iter().collect(),
        arm_types: arm_types(described),
        resources,
        types: table.finish(),
        words: words.taken(),
    })
}

/// The ARM types of each source.
pub fn arm_types(described: &[Described<'_>]) -> BTreeMap<String, Vec<String>> {
    let of = |part: &Described<'_>| {
        let types = part.resources.iter().map(|it| it.arm_type.clone());
        let types: BTreeSet<String> = types.collect();
        (part.source.to_owned(), types.into_iter().collect())
    };
    described.iter().map(of).collect()
}

/// A resource with both of its root types.
fn sides<'a>(
    set: Overlaid<'a>,
    rules: (&embedded::Rule<'a>, &Words<'a>),
    table: &mut Table,
    resource: &DiscoveredResource<'a>,
) -> Result<Resource, TypesError> {
    let spec = match resource.body {
        Some(body) => Builder::new(set, rules, table, resource, Side::Spec).root(body)?,
        None => empty(table, resource, Side::Spec),
    };
    let status = if resource.verbs.get {
        Builder::new(set, rules, table, resource, Side::Status).root(resource.item)?
    } else {
        empty(table, resource, Side::Status)
    };
    Ok(finish(resource, spec, status))
}

fn empty(table: &mut Table, resource: &DiscoveredResource<'_>, side: Side) -> TypeId {
    table.root(identities::root(&resource.kind, side), Default::default())
}

fn finish(resource: &DiscoveredResource<'_>, spec: TypeId, status: TypeId) -> Resource {
    Resource {
        kind: resource.kind.clone(),
        plural: String::new(),
        arm_type: resource.arm_type.clone(),
        path: resource.path.clone(),
        inherited_from: resource.inherited_from.cloned(),
        source: (
            SourceFile(resource.source.file.to_string()),
            resource.source.pointer.clone(),
        ),
        scope: resource.scope,
        owner: resource.owner.clone(),
        name: resource.name.clone(),
        verbs: resource.verbs,
        spec,
        status,
        version_names: Vec::new(),
        is_on_request: false,
        retirement: None,
        secrets: Vec::new(),
        config_maps: Vec::new(),
        child_lists: Vec::new(),
        keep_unknown: Vec::new(),
    }
}
