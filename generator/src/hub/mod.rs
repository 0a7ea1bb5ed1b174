//! Pass 5: one hub per kind, and per version what differs from it.
//!
//! The hub is the union of all versions, the newest shape winning. It is also the stored form: properties that
//! the storage version lacks are marked as stashed. Types that stand at the same place in different versions
//! form a *class* and become one hub type ([`classes`]), merged property by property ([`merge`]); a plan says
//! what the merge could not keep under one name ([`plan`]). Hub types of all kinds of a group stand in one table.

mod classes;
mod merge;
mod plan;
mod step;

use std::collections::BTreeMap;

pub use step::{Plan, Step};

use crate::model::{
    ApiVersion, ArmPlace, Group, MissingType, Property, Resource, TypeDef, TypeId, TypeRef,
    TypeTable, Version,
};

/// Hubs of a group.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Hubs {
    /// Hub types of all kinds.
    pub types: TypeTable,
    /// Hubs by kind.
    pub kinds: BTreeMap<String, KindHub>,
}

/// The hub of one kind.
#[derive(Clone, Debug, PartialEq)]
pub struct KindHub {
    /// Name of the version that objects are stored in: `v1api20230101storage`.
    pub storage_version: String,
    /// Root of the desired state, in [`Hubs::types`].
    pub spec: TypeId,
    /// Root of the observed state.
    pub status: TypeId,
    /// Plans of spec and status per api-version.
    pub plans: BTreeMap<ApiVersion, (Plan, Plan)>,
}

/// A kind in one api-version.
#[derive(Clone, Copy)]
struct Member<'a> {
    version: &'a Version,
    resource: &'a Resource,
}

/// Computes the hub of every kind.
///
/// # Errors
/// When a type refers to one that its version does not have: a fault of the passes before.
pub fn hubs(group: &Group) -> Result<Hubs, MissingType> {
    let mut kinds = BTreeMap::<&str, Vec<Member<'_>>>::new();
    for version in group.versions.values() {
        for resource in &version.resources {
            let member = Member { version, resource };
            kinds.entry(&resource.kind).or_default().push(member);
        }
    }
    let mut hubs = Hubs::default();
    for (kind, members) in kinds {
        if let Some((hub, types)) = kind_hub(&members)? {
            hubs.types.extend(types);
            hubs.kinds.insert(kind.to_owned(), hub);
        }
    }
    Ok(hubs)
}

/// The hub of a kind from its versions, oldest first; nothing from none.
fn kind_hub(members: &[Member<'_>]) -> Result<Option<(KindHub, TypeTable)>, MissingType> {
    let versions = members
        .iter()
        .map(|member| (&member.version.api_version, member.resource));
    let storage = stored(versions);
    let (Some(stored), Some(newest)) = (members.get(storage), members.last()) else {
        return Ok(None);
    };
    let classes = classes::Classes::of(members);
    let mut merged = merge::merge(members, &classes, storage)?;
    let mut plans = BTreeMap::new();
    for (index, member) in members.iter().enumerate() {
        let plan = |root: &TypeId| plan::plan(index, root, &classes, &merged);
        let both = (plan(&member.resource.spec)?, plan(&member.resource.status)?);
        plans.insert(member.version.api_version.clone(), both);
    }
    let hub_root = |root: &TypeId| classes.hub_type(members.len() - 1, root).cloned();
    let hub = KindHub {
        storage_version: storage_name(stored.resource),
        spec: hub_root(&newest.resource.spec)?,
        status: hub_root(&newest.resource.status)?,
        plans,
    };
    if let Some(TypeDef::Object(spec)) = merged.types.get_mut(&hub.spec) {
        let place = spec
            .properties
            .partition_point(|p| p.name.as_str() < "originalVersion");
        spec.properties.insert(place, original_version());
    }
    Ok(Some((hub, merged.types)))
}

/// Stored specs name the version that the user wrote (ASO behaviour §3.2).
fn original_version() -> Property {
    Property::with_place("originalVersion", ArmPlace::Operator, TypeRef::String)
}

/// Name of the version that a kind is stored in: that of `versions`, oldest first, which [`hubs`] chooses. `None` when
/// there are no versions.
pub fn storage_version<'a>(
    versions: impl IntoIterator<Item = (&'a ApiVersion, &'a Resource)>,
) -> Option<String> {
    let versions = versions.into_iter().collect::<Vec<_>>();
    let (_, resource) = versions.get(stored(versions.iter().copied()))?;
    Some(storage_name(resource))
}

/// Index of the version that objects are stored in, of all versions, oldest first: the newest that is no preview, else the
/// newest (ASO behaviour §3.1). Those that are served on request never are: a cluster can be given back without them.
fn stored<'a>(versions: impl IntoIterator<Item = (&'a ApiVersion, &'a Resource)>) -> usize {
    let versions = versions.into_iter().collect::<Vec<_>>();
    let newest = |is_wanted: &dyn Fn(&ApiVersion) -> bool| {
        let mut versions = versions.iter();
        versions.rposition(|(version, resource)| !resource.is_on_request && is_wanted(version))
    };
    newest(&|version| !version.is_preview())
        .or_else(|| newest(&|_| true))
        .unwrap_or(versions.len().saturating_sub(1))
}

/// Where one date is served under two names, the storage version is that of the newer name, `v…`: Kubernetes
/// sorts it first, and older operators that know only `v1api…` do not meet it.
fn storage_name(resource: &Resource) -> String {
    let name = resource.version_names.last();
    format!("{}storage", name.map_or("", String::as_str))
}
