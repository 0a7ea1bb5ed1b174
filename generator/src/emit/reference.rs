//! The reference page of a group: kinds, versions, fields.

use askama::Template;

use super::KindVersions;
use super::crates::rendered;
use super::facts::{rule_words, type_words};
use crate::model::{
    ArmPlace, Group, NameRule, Owner, Property, Scope, TypeDef, TypeId, TypeRef, TypeTable,
};

/// Deepest nesting that a page shows.
const DEEPEST: usize = 12;

#[derive(Template)]
#[template(path = "reference.md", escape = "none")]
struct Page<'a> {
    group: &'a str,
    api_group: &'a str,
    kinds: Vec<KindSection>,
}

struct KindSection {
    kind: String,
    arm_type: String,
    versions: Vec<(String, String)>,
    storage_version: String,
    owner: String,
    name: String,
    secrets: String,
    config_maps: String,
    newest: String,
    spec: Vec<Row>,
    status: Vec<Row>,
}

struct Row {
    path: String,
    ty: String,
    required: &'static str,
    rules: String,
    arm: String,
}

/// Writes the page.
pub(super) fn page(group: &Group, kinds: &[KindVersions<'_>]) -> String {
    rendered(&Page {
        group: &group.name,
        api_group: &group.api_group,
        kinds: kinds.iter().map(|kind| section(group, kind)).collect(),
    })
}

fn section(group: &Group, kind: &KindVersions<'_>) -> KindSection {
    let (version, resource) = kind.newest;
    let versions = kind.versions.iter().flat_map(|(version, resource)| {
        let api_version = version.api_version.to_string();
        let names = resource.version_names.iter();
        names.map(move |name| (name.clone(), api_version.clone()))
    });
    let listed = |names: Vec<&str>| names.join(", ");
    let secrets = resource.secrets.iter().map(|(key, _)| key.as_str());
    let config_maps = resource.config_maps.iter().map(|(key, _)| key.as_str());
    KindSection {
        kind: kind.kind.to_owned(),
        arm_type: resource.arm_type.clone(),
        versions: versions.collect(),
        storage_version: kind.hub.storage_version.clone(),
        owner: owner(group, &resource.owner, resource.scope),
        name: name(&resource.name),
        secrets: listed(secrets.collect()),
        config_maps: listed(config_maps.collect()),
        newest: resource.version_names.last().cloned().unwrap_or_default(),
        spec: rows(&version.types, &resource.spec),
        status: rows(&version.types, &resource.status),
    }
}

fn owner(group: &Group, owner: &Owner, scope: Scope) -> String {
    match owner {
        Owner::None if scope == Scope::Tenant => "none: the tenant".to_owned(),
        Owner::None => "none: the subscription of the credential".to_owned(),
        Owner::ResourceGroup => "`ResourceGroup`".to_owned(),
        Owner::Any => "any resource".to_owned(),
        Owner::Parent(arm_type) => {
            let mut resources = group.versions.values().flat_map(|v| &v.resources);
            let parent = resources.find(|r| r.arm_type.eq_ignore_ascii_case(arm_type));
            parent.map_or_else(
                || format!("any resource of type `{arm_type}`"),
                |parent| format!("`{}`", parent.kind),
            )
        }
    }
}

fn name(rule: &NameRule) -> String {
    match rule {
        NameRule::Free(rules) => {
            let words = rule_words(rules);
            if words.is_empty() {
                "free".to_owned()
            } else {
                words.join("; ")
            }
        }
        NameRule::OneOf(values) => format!("one of `{}`", values.join("`, `")),
        NameRule::Fixed(value) => format!("always `{value}`"),
    }
}

fn rows(types: &TypeTable, root: &TypeId) -> Vec<Row> {
    let mut rows = Vec::new();
    collect(types, root, "", &[], 0, &mut rows);
    rows
}

fn collect(
    types: &TypeTable,
    ty: &TypeId,
    prefix: &str,
    arm: &[String],
    depth: usize,
    rows: &mut Vec<Row>,
) {
    let Some(TypeDef::Object(object)) = types.get(ty) else {
        return;
    };
    for property in &object.properties {
        let suffix = collection_suffix(&property.ty);
        let path = format!("{prefix}{}", property.name);
        let mut arm = arm.to_vec();
        arm.extend(property.place.path().iter().cloned());
        rows.push(row(property, types, &path, &arm));
        if let Some(below) = property.ty.named()
            && depth < DEEPEST
        {
            let prefix = format!("{path}{suffix}.");
            if let (false, Some(last)) = (suffix.is_empty(), arm.last_mut()) {
                last.push_str(&suffix);
            }
            collect(types, below, &prefix, &arm, depth + 1, rows);
        }
    }
}

fn collection_suffix(ty: &TypeRef) -> String {
    match ty {
        TypeRef::List(item) => format!("[]{}", collection_suffix(item)),
        TypeRef::Map(item) => format!("{{}}{}", collection_suffix(item)),
        _ => String::new(),
    }
}

fn row(property: &Property, types: &TypeTable, path: &str, arm: &[String]) -> Row {
    let mut words = Vec::new();
    if let Some(TypeDef::Enum(values)) = property.ty.named().and_then(|id| types.get(id)) {
        words.push(format!("`{}`", values.values.join("`, `")));
    }
    words.extend(rule_words(&property.rules));
    words.extend(rule_words(&property.item_rules));
    if property.create_only {
        words.push("on creation only".to_owned());
    }
    Row {
        path: path.to_owned(),
        ty: type_words(&property.ty, types),
        required: if property.required { "yes" } else { "" },
        rules: words.join("; ").replace('|', "\\|"),
        arm: match &property.place {
            ArmPlace::At(path) | ArmPlace::Further(path) if !path.is_empty() => {
                format!("`{}`", arm.join("."))
            }
            _ => String::new(),
        },
    }
}
