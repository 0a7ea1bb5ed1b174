//! From one answer of Azure to a spec: what a PUT could say, and no more.

use armature_runtime::engine::status::spec_from_arm;
use armature_runtime::id::ResourceId;
use armature_runtime::kind::{KindInfo, OwnerRule, VersionInfo};
use armature_runtime::shape::arm_json::find;
use armature_runtime::shape::arm_tree::ArmTree;
use armature_runtime::shape::path::Path;
use armature_runtime::shape::{ArmPlace, Field, Flags, Semantic, StructShape, Type, check};
use serde_json::{Map, Value, json};

use super::mend::mend;

/// Field with the name in Azure.
const AZURE_NAME: &str = "azureName";
/// Field with the owner.
const OWNER: &str = "owner";

/// A resource as Azure shows it in the version that it is imported in.
#[derive(Clone, Debug)]
pub struct Resource {
    /// Its id.
    pub id: ResourceId,
    /// Its kind.
    pub kind: &'static KindInfo,
    /// The version that it was asked for in.
    pub version: &'static VersionInfo,
    /// The answer.
    pub body: Value,
}

/// A value that Azure shows and the manifest does not have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LeftOut {
    /// Where it would stand.
    pub path: String,
    /// Why it does not.
    pub why: String,
}

/// A resource with the spec that its manifest will have, but for names in Kubernetes: owner and references are ARM ids, and
/// Secrets have no name yet.
#[derive(Clone, Debug)]
pub struct Draft {
    /// The resource.
    pub resource: Resource,
    /// The spec.
    pub spec: Value,
    /// What it is in or on, where the kind has an owner.
    pub owner: Option<ResourceId>,
    /// Values that had to go.
    pub left_out: Vec<LeftOut>,
}

/// The spec of a resource.
///
/// # Errors
/// Why it cannot be imported, as a sentence.
pub fn draft(resource: Resource) -> Result<Draft, String> {
    let Resource {
        kind,
        version,
        body,
        ..
    } = &resource;
    let id = own_id(&resource);
    let owner = owner(kind, &id);
    check_place(kind, &id, owner.as_ref())?;
    let Value::Object(read) = spec_from_arm(version, body) else {
        return Err("Azure's answer is no object".to_owned());
    };
    let mut spec = read;
    keep_to_further(version, body, &mut spec);
    let mut open = Vec::new();
    if let Value::Object(body) = body {
        add_secrets(
            version.spec,
            body,
            &mut spec,
            &Path::Root("spec"),
            &mut open,
        );
    }
    prune(version.spec, &mut spec);
    if version.spec.field(AZURE_NAME).is_some() {
        spec.insert(AZURE_NAME.to_owned(), Value::from(id.name()));
    }
    if let Some(owner) = owner.as_ref()
        && version.spec.field(OWNER).is_some()
    {
        spec.insert(OWNER.to_owned(), json!({ "armId": owner.as_str() }));
    }
    let mut spec = Value::Object(spec);
    open.extend(mend(version.spec, &mut spec)?);
    Ok(Draft {
        spec: in_order(version.spec, spec),
        owner,
        left_out: open,
        resource: Resource { id, ..resource },
    })
}

/// The id as Azure writes it, where that is the one that was asked for.
fn own_id(resource: &Resource) -> ResourceId {
    let shown = resource.body.get("id").and_then(Value::as_str);
    let shown = shown.and_then(|id| ResourceId::parse(id).ok());
    shown
        .filter(|shown| *shown == resource.id)
        .unwrap_or_else(|| resource.id.clone())
}

/// What a resource is in or on.
fn owner(kind: &KindInfo, id: &ResourceId) -> Option<ResourceId> {
    if matches!(kind.owner, OwnerRule::None) {
        return None;
    }
    let text = id.as_str();
    let provider = text.to_ascii_lowercase().rfind("/providers/")?;
    let below = text[provider..].split('/').skip(3).count();
    let above = match below {
        // A type and a name.
        0..=2 => &text[..provider],
        _ => text.rsplitn(3, '/').last()?,
    };
    ResourceId::parse(above).ok()
}

/// Whether an object of the kind would be this very resource.
fn check_place(
    kind: &'static KindInfo,
    id: &ResourceId,
    owner: Option<&ResourceId>,
) -> Result<(), String> {
    let subscription = id.subscription().unwrap_or_default();
    let made = ResourceId::of(kind, owner, subscription, id.name());
    match made {
        Ok(made) if made == *id => Ok(()),
        Ok(made) => Err(format!(
            "an object of {} would be {made}, which is another resource",
            kind.kind
        )),
        Err(error) => Err(error.to_string()),
    }
}

/// What an answer has beside the members that can be written is for a large part what only Azure sets: that is no further member.
fn keep_to_further(version: &'static VersionInfo, body: &Value, spec: &mut Map<String, Value>) {
    let Value::Object(body) = body else { return };
    let shown = ArmTree::of(version.status, body);
    for field in version.spec.fields {
        let ArmPlace::Further(at) = field.arm else {
            continue;
        };
        let known = at.iter().try_fold(&shown, |tree, name| tree.member(name));
        if let Some(Value::Object(further)) = spec.get_mut(field.name) {
            further.retain(|name, _| {
                let is_known = known.is_some_and(|known| known.member(name).is_some());
                !is_known && !(at.is_empty() && name == "name")
            });
        }
    }
}

/// Puts a reference to a Secret wherever Azure shows that there is a secret. Secrets that the kind takes in the manifest itself
/// are told instead; ids are none, whatever the schema says.
fn add_secrets(
    shape: &'static StructShape,
    arm: &Map<String, Value>,
    spec: &mut Map<String, Value>,
    path: &Path<'_>,
    open: &mut Vec<LeftOut>,
) {
    for field in shape.fields {
        let below = path.member(field.name);
        match (field.arm, field.ty) {
            (ArmPlace::At(at), ty) => {
                let Some(shown) = find(arm, at).filter(|_| !has_twin(shape, field, spec)) else {
                    continue;
                };
                if let Some(reference) = secret(ty, shown, &below) {
                    spec.insert(field.name.to_owned(), reference);
                } else if field.flags.has(Flags::SECRET) {
                    match open_reference(ty, shown) {
                        Some(reference) => {
                            spec.insert(field.name.to_owned(), reference);
                        }
                        None => open.push(LeftOut {
                            path: below.to_string(),
                            why: OPEN_SECRET.to_owned(),
                        }),
                    }
                } else if let Some(value) = spec.get_mut(field.name) {
                    add_secrets_in(ty, shown, value, &below, open);
                }
            }
            (ArmPlace::Variant, Type::Struct(variant)) => {
                if let Some(Value::Object(members)) = spec.get_mut(field.name) {
                    add_secrets(variant, arm, members, &below, open);
                }
            }
            _ => {}
        }
    }
}

/// Why a value is left out.
const OPEN_SECRET: &str = "it is a secret that the manifest would show";

/// A reference by the id that Azure shows.
fn open_reference(ty: Type, shown: &Value) -> Option<Value> {
    match ty {
        Type::Struct(shape) if shape.semantic == Semantic::Reference => {
            let id = shown.as_str().filter(|id| !id.is_empty())?;
            Some(json!({ "armId": id }))
        }
        _ => None,
    }
}

fn add_secrets_in(
    ty: Type,
    arm: &Value,
    spec: &mut Value,
    path: &Path<'_>,
    open: &mut Vec<LeftOut>,
) {
    match (ty, arm, spec) {
        (Type::Struct(shape), Value::Object(arm), Value::Object(spec))
            if shape.semantic == Semantic::Plain =>
        {
            add_secrets(shape, arm, spec, path, open);
        }
        (Type::List(list), Value::Array(arm), Value::Array(spec)) if arm.len() == spec.len() => {
            for (index, (arm, spec)) in arm.iter().zip(spec).enumerate() {
                add_secrets_in(list.item, arm, spec, &path.item(index), open);
            }
        }
        (Type::Map(map), Value::Object(arm), Value::Object(spec)) => {
            for (name, spec) in spec {
                if let Some(arm) = arm.get(name) {
                    add_secrets_in(map.value, arm, spec, &path.member(name), open);
                }
            }
        }
        _ => {}
    }
}

/// Whether another field has the same value openly.
fn has_twin(shape: &StructShape, field: &Field, spec: &Map<String, Value>) -> bool {
    let mut others = shape.fields.iter();
    others.any(|other| {
        other.name != field.name && other.arm == field.arm && spec.contains_key(other.name)
    })
}

/// A reference to a Secret without a name, where the type is one and Azure shows something.
pub(super) fn secret(ty: Type, shown: &Value, path: &Path<'_>) -> Option<Value> {
    let is_there = match shown {
        Value::Null => false,
        Value::String(text) => !text.is_empty(),
        Value::Array(items) => !items.is_empty(),
        Value::Object(members) => !members.is_empty(),
        _ => true,
    };
    match (ty, shown) {
        _ if !is_there => None,
        (Type::Struct(shape), _) => match shape.semantic {
            Semantic::SecretReference => {
                Some(json!({"name": UNNAMED, "key": key(&path.to_string())}))
            }
            Semantic::SecretMapReference => Some(json!({ "name": UNNAMED })),
            _ => None,
        },
        (Type::List(list), Value::Array(items)) => {
            let items = items.iter().enumerate();
            let items: Option<Vec<Value>> = items
                .map(|(index, shown)| secret(list.item, shown, &path.item(index)))
                .collect();
            items.map(Value::Array)
        }
        (Type::Map(map), Value::Object(members)) => {
            let members = members.iter().map(|(name, shown)| {
                let reference = secret(map.value, shown, &path.member(name))?;
                Some((name.clone(), reference))
            });
            let members: Option<Map<String, Value>> = members.collect();
            members.map(Value::Object)
        }
        _ => None,
    }
}

/// Name of a Secret that has none yet. No Secret can be called so.
pub(super) const UNNAMED: &str = "?";

/// The key of a Secret for a path: `properties.list[0].value` is `properties.list.0.value`.
pub(super) fn key(path: &str) -> String {
    let path = path.strip_prefix("spec.").unwrap_or(path);
    let letters = path.chars().filter(|letter| !matches!(letter, ']' | '"'));
    letters
        .map(|letter| match letter {
            '[' => '.',
            letter if letter.is_ascii_alphanumeric() || "._-".contains(letter) => letter,
            _ => '_',
        })
        .collect()
}

/// Takes out what says nothing: empty lists, maps and objects, but for those that have to be there, and what only Azure sets.
fn prune(shape: &'static StructShape, members: &mut Map<String, Value>) {
    without_twins(shape, members);
    for field in shape.fields {
        let Some(value) = members.get_mut(field.name) else {
            continue;
        };
        prune_value(field.ty, value);
        let is_kept = field.flags.has(Flags::REQUIRED) || field.arm == ArmPlace::Variant;
        let is_empty = match (field.ty, &*value) {
            (_, Value::Null) => true,
            (Type::Json, _) => false,
            (_, Value::Array(items)) => items.is_empty() && !is_kept,
            (_, Value::Object(members)) => members.is_empty() && !is_kept,
            _ => false,
        };
        if is_empty || field.flags.has(Flags::READ_ONLY) {
            members.shift_remove(field.name);
        }
    }
}

/// Where one ARM path is two fields, an id as text and as a reference, one of them says it: the reference, if it can.
fn without_twins(shape: &'static StructShape, members: &mut Map<String, Value>) {
    let is_reference = |field: &&Field| {
        matches!(field.ty, Type::Struct(inner) if matches!(
            inner.semantic,
            Semantic::Reference | Semantic::WellKnownReference
        ))
    };
    for reference in shape.fields.iter().filter(is_reference) {
        let mut others = shape.fields.iter();
        let twin = others.find(|other| {
            let is_other = other.name != reference.name && other.arm == reference.arm;
            is_other && members.contains_key(other.name)
        });
        let (Some(twin), Some(value), Type::Struct(inner)) =
            (twin, members.get(reference.name), reference.ty)
        else {
            continue;
        };
        let spare = match check(inner, value, "").is_empty() {
            true => twin.name,
            false => reference.name,
        };
        members.shift_remove(spare);
    }
}

fn prune_value(ty: Type, value: &mut Value) {
    match (ty, value) {
        (Type::Struct(shape), Value::Object(members)) => prune(shape, members),
        (Type::List(list), Value::Array(items)) => {
            for item in items {
                prune_value(list.item, item);
            }
        }
        (Type::Map(map), Value::Object(members)) => {
            for member in members.values_mut() {
                prune_value(map.value, member);
            }
        }
        _ => {}
    }
}

/// The members of the spec as the schema has them.
fn in_order(shape: &StructShape, spec: Value) -> Value {
    let Value::Object(mut members) = spec else {
        return spec;
    };
    let fields = shape.fields.iter();
    let ordered: Map<String, Value> = fields
        .filter_map(|field| Some((field.name.to_owned(), members.shift_remove(field.name)?)))
        .collect();
    Value::Object(ordered)
}
