//! From one answer of Azure to a spec: what a PUT could say, and no more.

use armature_runtime::engine::status::spec_from_arm;
use armature_runtime::id::ResourceId;
use armature_runtime::kind::{KindInfo, OwnerRule, VersionInfo};
use armature_runtime::shape::arm_tree::ArmTree;
use armature_runtime::shape::path::Path;
use armature_runtime::shape::{ArmPlace, Field, Flags, Semantic, StructShape, Type, check};
use serde_json::{Map, Value, json};

use super::left_out::LeftOut;
use super::mend::mend;
use super::secrets::add_secrets;

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
            // `name` stands in the body of every resource.
            let is_name = |name: &str| at.is_empty() && name == "name";
            let is_shown = |name: &str| known.is_some_and(|known| known.member(name).is_some());
            further.retain(|name, _| !(is_name(name) || is_shown(name)));
        }
    }
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
