//! Proposed kinds: singular of the path's segments, as ASO names them (ASO behaviour §3.1).

use std::collections::BTreeMap;

use super::DiscoveredResource;
use crate::model::{NameRule, Scope};
use crate::naming::{pascal, singular};

/// Kind for an ARM type: parents as the path has them, the last segment in the singular; `Resource` where that leaves no
/// letter.
pub(super) fn propose(arm_type: &str) -> String {
    let mut segments: Vec<String> = arm_type.split('/').skip(1).map(pascal).collect();
    if let Some(last) = segments.pop() {
        segments.push(singular(&last));
    }
    let kind = segments.concat();
    if kind.is_empty() {
        return "Resource".to_owned();
    }
    kind
}

/// Gives resources that share a proposed kind kinds of their own: by fixed name (`…/settings/signIn`), then by
/// scope, then by provider. Such types are rare, and the TOML renames those that are exported.
pub(super) fn distinguish(found: &mut [DiscoveredResource<'_>]) {
    for qualify in [by_name, by_scope, by_provider] {
        let mut count: BTreeMap<String, usize> = BTreeMap::new();
        for resource in found.iter() {
            *count.entry(resource.kind.clone()).or_default() += 1;
        }
        for resource in found.iter_mut() {
            if count.get(&resource.kind).is_some_and(|count| *count > 1) {
                resource.kind = qualify(resource);
            }
        }
    }
}

fn by_name(resource: &DiscoveredResource<'_>) -> String {
    match &resource.name {
        NameRule::Fixed(name) => format!("{}{}", resource.kind, pascal(name)),
        NameRule::Free(_) | NameRule::Uuid { .. } | NameRule::OneOf(_) => resource.kind.clone(),
    }
}

fn by_scope(resource: &DiscoveredResource<'_>) -> String {
    format!("{}{}", scope_word(resource), resource.kind)
}

fn by_provider(resource: &DiscoveredResource<'_>) -> String {
    let provider = resource.arm_type.split('/').next().unwrap_or_default();
    format!("{}{}", pascal(provider), resource.kind)
}

fn scope_word(resource: &DiscoveredResource<'_>) -> &'static str {
    match resource.scope {
        Scope::ResourceGroup => "",
        Scope::Subscription => "Subscription",
        Scope::Tenant => "Tenant",
        Scope::Extension if resource.path.contains("/managementGroups/") => "ManagementGroup",
        Scope::Extension => "Extension",
    }
}
