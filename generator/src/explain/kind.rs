//! What made a kind what it is.

use std::collections::BTreeMap;

use serde::Serialize;
use toml::Spanned;

use crate::curation::{GroupConfig, KindRules};
use crate::model::{ApiVersion, Group, NameRule, Owner, Resource, Rules, Scope, SecretSource};

/// All about a kind.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct KindExplanation {
    /// Group.
    pub group: String,
    /// Kind.
    pub kind: String,
    /// ARM type.
    pub arm_type: String,
    /// File and line of the rule that exports it.
    pub exported_by: String,
    /// api-versions, oldest first.
    pub versions: Vec<KindVersion>,
    /// What is known of it, and for which api-versions, oldest first.
    pub facts: Vec<KindFacts>,
}

/// One api-version of a kind.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct KindVersion {
    /// api-version.
    pub api_version: String,
    /// Names in Kubernetes.
    pub served_as: Vec<String>,
    /// Spec file and JSON pointer.
    pub source: String,
    /// What Bicep types could not tell of the kind, and the OpenAPI version that did.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub inherited: Option<String>,
}

/// Facts that some api-versions share.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct KindFacts {
    /// These api-versions.
    pub api_versions: Vec<String>,
    /// Name of each fact and what it is.
    pub facts: BTreeMap<&'static str, String>,
}

/// Explains a kind of a curated group.
pub(super) fn explain(
    group: &Group,
    config: &GroupConfig,
    (kind, rules): (&Spanned<String>, &KindRules),
) -> KindExplanation {
    let found: Vec<(&ApiVersion, &Resource)> = group
        .versions
        .iter()
        .flat_map(|(api_version, version)| {
            version
                .resources
                .iter()
                .map(move |resource| (api_version, resource))
        })
        .filter(|(_, resource)| resource.kind == *kind.get_ref())
        .collect();
    let mut all = Vec::<KindFacts>::new();
    for (api_version, resource) in &found {
        let facts = facts(resource);
        match all.iter_mut().find(|known| known.facts == facts) {
            Some(known) => known.api_versions.push(api_version.to_string()),
            None => all.push(KindFacts {
                api_versions: vec![api_version.to_string()],
                facts,
            }),
        }
    }
    let version = |(api_version, resource): &(&ApiVersion, &Resource)| KindVersion {
        api_version: api_version.to_string(),
        served_as: resource.version_names.clone(),
        source: format!("{}#{}", resource.source.0.0, resource.source.1),
        inherited: resource.inherited_from.as_ref().map(inherited),
    };
    KindExplanation {
        group: group.name.clone(),
        kind: kind.get_ref().clone(),
        arm_type: rules.arm_type.get_ref().clone(),
        exported_by: config.at(kind),
        versions: found.iter().map(version).collect(),
        facts: all,
    }
}

fn inherited(from: &ApiVersion) -> String {
    format!("from OpenAPI {from}, the nearest version: verbs, what takes long, rules of the name")
}

fn facts(resource: &Resource) -> BTreeMap<&'static str, String> {
    let mut facts = BTreeMap::from([
        ("scope", scope(resource.scope).to_owned()),
        ("owner", owner(&resource.owner)),
        ("name", name(&resource.name)),
        ("verbs", verbs(resource)),
    ]);
    let secrets = resource.secrets.iter();
    let secrets: Vec<String> = secrets
        .map(|(key, source)| format!("{key} from {}", secret(source)))
        .collect();
    let config_maps = resource.config_maps.iter();
    let config_maps: Vec<String> = config_maps
        .map(|(key, path)| match path.as_slice() {
            [] => format!("{key} from a handwritten exporter"),
            path => format!("{key} from status.{}", path.join(".")),
        })
        .collect();
    let lists = resource.child_lists.iter().map(|path| path.join("."));
    let lists: Vec<String> = lists.collect();
    let kept = resource.keep_unknown.iter().map(|path| path.join("."));
    for (fact, values) in [
        ("secrets", secrets),
        ("config maps", config_maps),
        ("lists of children", lists),
        ("what others add is kept in", kept.collect()),
    ] {
        if !values.is_empty() {
            facts.insert(fact, values.join(", "));
        }
    }
    facts
}

fn scope(scope: Scope) -> &'static str {
    match scope {
        Scope::ResourceGroup => "resource group, told by the path",
        Scope::Subscription => "subscription, told by the path",
        Scope::Tenant => "tenant, told by the path",
        Scope::Extension => "extension of any resource, told by the path",
    }
}

fn owner(owner: &Owner) -> String {
    match owner {
        Owner::None => "none".to_owned(),
        Owner::ResourceGroup => "a resource group".to_owned(),
        Owner::Parent(arm_type) => format!("a {arm_type}"),
        Owner::Any => "any resource".to_owned(),
    }
}

fn name(rule: &NameRule) -> String {
    match rule {
        NameRule::Fixed(name) => format!("always `{name}`: no azureName"),
        NameRule::OneOf(names) => format!("one of {}", names.join(", ")),
        NameRule::Free(rules) => free_name(rules),
        NameRule::Uuid { rules, .. } => {
            format!("{}; a UUID where azureName is absent", free_name(rules))
        }
    }
}

fn free_name(rules: &Rules) -> String {
    let length = |what: &str, length: Option<u64>| {
        length.map(|length| format!(", {what} {length} characters"))
    };
    let pattern = rules.pattern.as_ref();
    let rules = [
        length("at least", rules.min_length),
        length("at most", rules.max_length),
        pattern.map(|it| format!(", pattern `{it}`")),
    ];
    format!("free{}", rules.into_iter().flatten().collect::<String>())
}

fn verbs(resource: &Resource) -> String {
    let verbs = &resource.verbs;
    let long = |long| if long { " (long-running)" } else { "" };
    let offered = [
        (verbs.get, "GET".to_owned()),
        (verbs.head, "HEAD".to_owned()),
        (verbs.put, format!("PUT{}", long(verbs.put_long_running))),
        (verbs.patch, "PATCH".to_owned()),
        (
            verbs.delete,
            format!("DELETE{}", long(verbs.delete_long_running)),
        ),
    ];
    let offered = offered.into_iter().filter(|(offered, _)| *offered);
    offered.map(|(_, verb)| verb).collect::<Vec<_>>().join(", ")
}

fn secret(source: &SecretSource) -> String {
    match source {
        SecretSource::Status(path) => format!("status.{}", path.join(".")),
        SecretSource::Subscription => "the subscription in the ARM id".to_owned(),
        SecretSource::Action { action, .. } => format!("the answer to POST {action}"),
        SecretSource::Extension => "a handwritten exporter".to_owned(),
    }
}
