//! Drafts together become manifests: names, owners, references and Secrets.

use std::collections::{BTreeMap, HashMap};

use armature_runtime::id::ResourceId;
use armature_runtime::kind::{OwnerRule, VersionInfo};
use armature_runtime::names;
use armature_runtime::shape::arm_json::find;
use armature_runtime::shape::path::Path;
use armature_runtime::shape::{ArmPlace, Semantic, StructShape, Type};
use serde_json::{Map, Value, json};

use super::draft::{Draft, Resource};
use super::left_out::LeftOut;
use super::links::Links;
use super::names::{Name, names as names_of};
use super::secrets::UNNAMED;

/// How manifests are to be.
#[derive(Clone, Debug, Default)]
pub struct Wanted {
    /// Their namespace; without one they say none.
    pub namespace: Option<String>,
    /// Labels of all.
    pub labels: BTreeMap<String, String>,
    /// Annotations of all.
    pub annotations: BTreeMap<String, String>,
    /// The reconcile policy of all: `manage`, `skip` or `detach-on-delete`.
    pub policy: Option<String>,
}

/// A manifest.
#[derive(Clone, Debug)]
pub struct Imported {
    /// The resource that it is of.
    pub id: ResourceId,
    /// Its name.
    pub name: Name,
    /// The manifest.
    pub manifest: Value,
    /// Keys of Secrets that it names and nobody has filled.
    pub secrets: Vec<SecretKey>,
    /// Values that Azure shows and the manifest does not have.
    pub left_out: Vec<LeftOut>,
}

/// A place for a secret.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct SecretKey {
    /// Name of the Secret.
    pub secret: String,
    /// The key; without one the resource takes all keys that the Secret has.
    pub key: Option<String>,
    /// Where the manifest names it.
    pub path: String,
}

/// The manifests of all drafts, what others are in before them.
pub fn manifests(drafts: Vec<Draft>, wanted: &Wanted) -> Vec<Imported> {
    let mut drafts = drafts;
    drafts.sort_by_key(|draft| draft.resource.id.as_str().to_lowercase());
    drafts.dedup_by(|one, other| one.resource.id == other.resource.id);
    let resources = drafts.iter().map(|draft| &draft.resource);
    let names = names_of(resources.map(|resource| (resource.kind, &resource.id)));
    let mut links = Links::new(&names);
    for draft in &mut drafts {
        link_owner(draft, &mut links);
    }
    drafts
        .into_iter()
        .filter_map(|draft| finished(draft, &names, &mut links, wanted))
        .collect()
}

/// An owner that is imported is named; any other keeps its ARM id.
fn link_owner(draft: &mut Draft, links: &mut Links<'_>) {
    let Resource { id, kind, .. } = &draft.resource;
    let name = draft.owner.as_ref().and_then(|owner| links.link(id, owner));
    let (Some(name), Some(own)) = (name, draft.spec.get_mut("owner")) else {
        return;
    };
    match kind.owner {
        OwnerRule::Kind { group, kind } if (group, kind) == (name.group, name.kind) => {
            *own = json!({ "name": name.name });
        }
        OwnerRule::Any => {
            *own = json!({"group": name.group, "kind": name.kind, "name": name.name});
        }
        OwnerRule::Kind { .. } | OwnerRule::None => {}
    }
}

fn finished(
    draft: Draft,
    names: &HashMap<ResourceId, Name>,
    links: &mut Links<'_>,
    wanted: &Wanted,
) -> Option<Imported> {
    let Draft {
        resource,
        mut spec,
        left_out,
        ..
    } = draft;
    let Resource {
        id, kind, version, ..
    } = &resource;
    let name = names.get(id)?;
    without_children(&resource, names, &mut spec);
    links.write(id, Type::Struct(version.spec), &mut spec);
    let mut secrets = Vec::new();
    let base = format!("{}-{}", name.name, kind.kind.to_lowercase());
    name_secrets(
        Type::Struct(version.spec),
        &mut spec,
        &Path::Root("spec"),
        &base,
        &mut secrets,
    );
    let mut manifest = Map::new();
    manifest.insert(
        "apiVersion".to_owned(),
        json!(format!("{}/{}", kind.group, version.name)),
    );
    manifest.insert("kind".to_owned(), json!(kind.kind));
    manifest.insert("metadata".to_owned(), metadata(&name.name, wanted));
    manifest.insert("spec".to_owned(), spec);
    Some(Imported {
        id: id.clone(),
        name: name.clone(),
        manifest: Value::Object(manifest),
        secrets,
        left_out,
    })
}

/// The metadata of an object of this name.
pub(super) fn metadata(name: &str, wanted: &Wanted) -> Value {
    let mut metadata = Map::new();
    metadata.insert("name".to_owned(), json!(name));
    if let Some(namespace) = &wanted.namespace {
        metadata.insert("namespace".to_owned(), json!(namespace));
    }
    if !wanted.labels.is_empty() {
        metadata.insert("labels".to_owned(), json!(wanted.labels));
    }
    let mut annotations = wanted.annotations.clone();
    if let Some(policy) = &wanted.policy {
        annotations.insert(names::RECONCILE_POLICY.to_owned(), policy.clone());
    }
    if !annotations.is_empty() {
        metadata.insert("annotations".to_owned(), json!(annotations));
    }
    Value::Object(metadata)
}

/// Items of a list that are imported as objects of their own do not stand in the spec as well: two objects would write them.
fn without_children(resource: &Resource, names: &HashMap<ResourceId, Name>, spec: &mut Value) {
    let (Value::Object(body), Value::Object(spec)) = (&resource.body, spec) else {
        return;
    };
    let version: &VersionInfo = resource.version;
    for path in version.keep_unknown {
        let mut fields = version.spec.fields.iter();
        let Some(field) = fields.find(|field| field.arm == ArmPlace::At(path)) else {
            continue;
        };
        let (Some(Value::Array(shown)), Some(Value::Array(items))) =
            (find(body, path), spec.get_mut(field.name))
        else {
            continue;
        };
        if shown.len() != items.len() {
            continue;
        }
        let is_own = |item: &Value| {
            let id = item.get("id").and_then(Value::as_str);
            let id = id.and_then(|id| ResourceId::parse(id).ok());
            let name = item.get("name").and_then(Value::as_str);
            match (id, name, path.last()) {
                (Some(id), ..) => names.contains_key(&id),
                (None, Some(name), Some(list)) => {
                    let mut children = names.keys();
                    children.any(|child| is_item(&resource.id, list, name, child))
                }
                _ => false,
            }
        };
        let mut own = shown.iter().map(is_own);
        items.retain(|_| !own.next().unwrap_or_default());
        if items.is_empty() {
            spec.shift_remove(field.name);
        }
    }
}

/// Whether a resource is the item of this name in a list of its parent: `subnets` in `subnets`, `agentPools` in
/// `agentPoolProfiles`.
fn is_item(parent: &ResourceId, list: &str, name: &str, child: &ResourceId) -> bool {
    let below = child.as_str().get(parent.as_str().len()..);
    let is_below = child
        .as_str()
        .to_lowercase()
        .starts_with(&parent.as_str().to_lowercase());
    let Some((ty, own)) = below.and_then(|below| below.strip_prefix('/')?.split_once('/')) else {
        return false;
    };
    let stem = ty.trim_end_matches('s').to_lowercase();
    is_below && own.eq_ignore_ascii_case(name) && list.to_lowercase().starts_with(&stem)
}

/// Gives the Secrets of a spec their names, and tells where they are named.
fn name_secrets(
    ty: Type,
    value: &mut Value,
    path: &Path<'_>,
    base: &str,
    found: &mut Vec<SecretKey>,
) {
    match (ty, value) {
        (Type::Struct(shape), Value::Object(members)) => match shape.semantic {
            Semantic::SecretReference | Semantic::SecretMapReference => {
                name_secret(shape, members, path, base, found);
            }
            _ => {
                for (name, value) in members {
                    if let Some(field) = shape.field(name) {
                        name_secrets(field.ty, value, &path.member(name), base, found);
                    }
                }
            }
        },
        (Type::List(list), Value::Array(items)) => {
            for (index, item) in items.iter_mut().enumerate() {
                name_secrets(list.item, item, &path.item(index), base, found);
            }
        }
        (Type::Map(map), Value::Object(members)) => {
            for (name, member) in members {
                name_secrets(map.value, member, &path.member(name), base, found);
            }
        }
        _ => {}
    }
}

fn name_secret(
    shape: &StructShape,
    reference: &mut Map<String, Value>,
    path: &Path<'_>,
    base: &str,
    found: &mut Vec<SecretKey>,
) {
    if reference.get("name").and_then(Value::as_str) != Some(UNNAMED) {
        return;
    }
    let key = reference.get("key").and_then(Value::as_str);
    let key = key.map(str::to_owned);
    let secret = match (shape.semantic, &key) {
        // All of its keys are taken, so it holds nothing else.
        (Semantic::SecretMapReference, _) | (_, None) => {
            let place = super::secrets::key(&path.to_string()).to_lowercase();
            format!("{base}-{}", place.replace(['.', '_'], "-"))
        }
        _ => base.to_owned(),
    };
    reference.insert("name".to_owned(), json!(secret));
    found.push(SecretKey {
        secret,
        key,
        path: path.to_string(),
    });
}
