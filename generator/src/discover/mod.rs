//! Pass 2: documents → ARM resources.
//!
//! A resource is a path with PUT and with GET or HEAD whose item is an ARM resource (ASO behaviour §4.1). Here:
//! recognising them ([`item`]), and what their path tells: ARM type, scope, owner, rules of the name ([`path`])
//! and a proposed kind ([`kind`]); and what another spec adds to that ([`mod@overlaid`]). Not here: their types (`types`), and which of them are exported (`curate`).

pub mod item;
mod kind;
mod overlaid;
mod path;

use std::collections::BTreeMap;
use std::sync::Arc;

pub use overlaid::overlaid;

use crate::load::{Operation, Parameter, ParameterPlace, Path, Schema, Source, SpecSet, Verb};
use crate::model::{ApiVersion, NameRule, Owner, Scope, Verbs};

/// One ARM resource as its path describes it.
#[derive(Clone, Debug)]
pub struct DiscoveredResource<'a> {
    /// Proposed kind: `StorageAccountsBlobService`. Curation decides.
    pub kind: String,
    /// ARM type with the path's casing.
    pub arm_type: String,
    /// Path template as the spec has it.
    pub path: String,
    /// Where the path stands.
    pub source: Source,
    /// File that describes the resource, or describes it in the source that a Bicep version inherits from.
    pub home: Arc<str>,
    /// The OpenAPI version that told of verbs, of what takes long and of the name, where Bicep types could not
    /// ([`crate::inherit`]).
    pub inherited_from: Option<&'a ApiVersion>,
    /// Where the resource hangs.
    pub scope: Scope,
    /// What it belongs to.
    pub owner: Owner,
    /// How the last segment of its id is chosen.
    pub name: NameRule,
    /// Verbs of the path.
    pub verbs: Verbs,
    /// Body of PUT. `None` for the few resources that are made without one.
    pub body: Option<&'a Schema>,
    /// What GET answers, or PUT where only HEAD exists.
    pub item: &'a Schema,
}

/// Why the resources of a set could not be told.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DiscoverError {
    /// Two paths differ in nothing but the names of their parameters.
    #[error("{second}: path is also described at {first}; list only one of the two files")]
    DuplicatePath {
        /// First place.
        first: Source,
        /// Second place.
        second: Source,
    },
    /// Parameters that stand for types have so many values that their resources cannot all be meant.
    #[error(
        "{at}: parameters in place of types make this path more than {} resources; shorten their enums",
        path::MOST_RESOURCES
    )]
    TooManyResources {
        /// The path.
        at: Source,
    },
    /// Two resources would have the same kind.
    #[error(
        "{second}: kind {kind} is also that of {first}; their ARM types differ in nothing that a \
         kind shows, so list only one of the two files"
    )]
    DuplicateKind {
        /// The kind.
        kind: String,
        /// First place.
        first: Source,
        /// Second place.
        second: Source,
    },
}

/// Finds the resources of the listed documents, in order of ARM type.
///
/// # Errors
/// When two paths or two kinds are the same: see [`DiscoverError`].
pub fn discover(set: &SpecSet) -> Result<Vec<DiscoveredResource<'_>>, DiscoverError> {
    let mut found = Vec::new();
    let mut by_path: BTreeMap<String, Source> = BTreeMap::new();
    for document in set.listed() {
        for path in &document.paths {
            let resources = resources_at(set, path)?;
            if resources.is_empty() {
                continue;
            }
            let key = path::without_parameter_names(&path.template);
            if let Some(first) = by_path.insert(key, path.source.clone()) {
                return Err(DiscoverError::DuplicatePath {
                    first,
                    second: path.source.clone(),
                });
            }
            found.extend(resources);
        }
    }
    found.sort_by(|left, right| (&left.arm_type, &left.path).cmp(&(&right.arm_type, &right.path)));
    kind::distinguish(&mut found);
    check_kinds(&found)?;
    Ok(found)
}

/// Checks that each kind is proposed for one resource.
///
/// # Errors
/// [`DiscoverError::DuplicateKind`] when it is not.
pub(crate) fn check_kinds<'r, 'a: 'r>(
    found: impl IntoIterator<Item = &'r DiscoveredResource<'a>>,
) -> Result<(), DiscoverError> {
    let mut by_kind: BTreeMap<&str, &Source> = BTreeMap::new();
    for resource in found {
        if let Some(first) = by_kind.insert(&resource.kind, &resource.source) {
            return Err(DiscoverError::DuplicateKind {
                kind: resource.kind.clone(),
                first: first.clone(),
                second: resource.source.clone(),
            });
        }
    }
    Ok(())
}

/// The resources of one path: none, one, or one for each value of an enum in place of a type.
fn resources_at<'a>(
    set: &'a SpecSet,
    path: &'a Path,
) -> Result<Vec<DiscoveredResource<'a>>, DiscoverError> {
    let Some(put) = path.operation(Verb::Put) else {
        return Ok(Vec::new());
    };
    let get = path.operation(Verb::Get);
    if get.is_none() && path.operation(Verb::Head).is_none() {
        return Ok(Vec::new());
    }
    let Some(item) = get
        .and_then(answer)
        .filter(|schema| item::is_resource(set.into(), schema))
        .or_else(|| answer(put).filter(|schema| item::is_resource(set.into(), schema)))
    else {
        return Ok(Vec::new());
    };
    let parameters = parameters(set, path, put);
    let body = parameters
        .iter()
        .find(|parameter| parameter.place == ParameterPlace::Body)
        .map(|parameter| &parameter.schema);
    let in_path: Vec<path::PathParameter<'_>> = parameters
        .iter()
        .filter(|parameter| parameter.place == ParameterPlace::Path)
        .map(|parameter| (parameter.name.as_str(), set.resolve(&parameter.schema)))
        .collect();
    let facts = path::read(&path.template, &in_path);
    let facts = facts.ok_or_else(|| DiscoverError::TooManyResources {
        at: path.source.clone(),
    })?;
    let resources = facts.into_iter().map(|facts| DiscoveredResource {
        kind: kind::propose(&facts.arm_type),
        arm_type: facts.arm_type,
        path: facts.template,
        source: path.source.clone(),
        home: Arc::clone(&path.source.file),
        inherited_from: None,
        scope: facts.scope,
        owner: facts.owner,
        name: facts.name,
        verbs: verbs(path),
        body,
        item,
    });
    Ok(resources.collect())
}

fn answer(operation: &Operation) -> Option<&Schema> {
    operation
        .response("200")
        .or_else(|| operation.response("201"))
}

/// Parameters of an operation: its own first, so that they win over those of the path.
fn parameters<'a>(
    set: &'a SpecSet,
    path: &'a Path,
    operation: &'a Operation,
) -> Vec<&'a Parameter> {
    operation
        .parameters
        .iter()
        .chain(&path.parameters)
        .map(|parameter| set.resolve_parameter(parameter))
        .collect()
}

fn verbs(path: &Path) -> Verbs {
    let long = |verb| {
        path.operation(verb)
            .is_some_and(|operation| operation.long_running)
    };
    Verbs {
        get: path.operation(Verb::Get).is_some(),
        head: path.operation(Verb::Head).is_some(),
        put: true,
        patch: path.operation(Verb::Patch).is_some(),
        delete: path.operation(Verb::Delete).is_some(),
        put_long_running: long(Verb::Put),
        delete_long_running: long(Verb::Delete),
    }
}
