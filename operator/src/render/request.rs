//! One object of the inputs becomes one request.

use armature_runtime::engine::collect::{self, KeyReference, ReferenceTarget, Use};
use armature_runtime::engine::payload::{self, Resolved};
use armature_runtime::id::{ResourceId, segment};
use armature_runtime::kind::{NameRule, OwnerRule};
use armature_runtime::reconcile::port::DataKind;
use serde::Serialize;
use serde_json::Value;

use super::RenderError;
use super::inventory::{InputObject, Inventory};

/// Owners of owners of owners: no ARM type is nested this deep, so a longer chain is a circle.
const DEEPEST_OWNER: usize = 20;
/// Path of the owner.
const OWNER: &str = "spec.owner";
/// Annotation that keeps the operator from writing.
const RECONCILE_POLICY: &str = "serviceoperator.azure.com/reconcile-policy";

/// The request that the operator would send for an object that Azure does not have yet.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RenderedRequest {
    /// Kind of the object.
    pub kind: &'static str,
    /// Its namespace.
    pub namespace: String,
    /// Its name in Kubernetes.
    pub name: String,
    /// `PUT`.
    pub method: &'static str,
    /// Path and api-version.
    pub url: String,
    /// Body.
    pub body: Value,
}

/// The request for an object; `None` for one whose reconcile policy is `skip`.
///
/// # Errors
/// Everything that is wrong with the object.
pub fn render(
    object: &InputObject,
    inventory: &Inventory,
    subscription: &str,
) -> Result<Option<RenderedRequest>, Vec<RenderError>> {
    let mut unresolved = Vec::new();
    let id = resource_id(object, inventory, subscription, 0)
        .map_err(|error| unresolved.push(error))
        .ok();
    let resolved = resolve(object, inventory, subscription, &mut unresolved);
    let errors = merge(object, check(object), unresolved);
    let Some(id) = id.filter(|_| errors.is_empty()) else {
        return Err(errors);
    };
    if object.annotations.get(RECONCILE_POLICY).map(String::as_str) == Some("skip") {
        return Ok(None);
    }
    let body = payload::arm_body(object.version, id.name(), &object.spec, &resolved)
        .map_err(|error| vec![object.error("", error.to_string())])?;
    Ok(Some(RenderedRequest {
        kind: object.kind.kind,
        namespace: object.namespace.clone(),
        name: object.name.clone(),
        method: "PUT",
        url: id.url(object.version.api_version),
        body,
    }))
}

/// All problems, with one for what is both wrong by itself and therefore not resolved.
fn merge(
    object: &InputObject,
    mut errors: Vec<RenderError>,
    unresolved: Vec<RenderError>,
) -> Vec<RenderError> {
    for error in unresolved {
        let is_absent = error.path == OWNER && object.spec.get("owner").is_none();
        if is_absent {
            // That it is required says less than what to set.
            errors.retain(|known| known.path != OWNER);
        }
        if !errors.iter().any(|known| known.path == error.path) {
            errors.push(error);
        }
    }
    errors
}

/// Unknown fields, wrong types and broken rules. A name that is taken over from the metadata has to keep the
/// rules of the Azure name as well.
fn check(object: &InputObject) -> Vec<RenderError> {
    const AZURE_NAME: &str = "azureName";
    let unknown = object
        .unknown
        .iter()
        .map(|member| object.error(member.as_str(), "no such field"));
    let mut spec = object.spec.clone();
    let takes_name = object.version.spec.field(AZURE_NAME).is_some();
    let mut is_taken_over = false;
    if let Some(members) = spec.as_object_mut().filter(|_| takes_name)
        && !members.contains_key(AZURE_NAME)
        && !members.contains_key("azureNameFromConfig")
    {
        members.insert(AZURE_NAME.to_owned(), Value::from(object.name.as_str()));
        is_taken_over = true;
    }
    let problems = armature_runtime::shape::check(object.version.spec, &spec, "spec");
    let problems = problems.into_iter().map(|problem| {
        if is_taken_over && problem.path == format!("spec.{AZURE_NAME}") {
            let message = format!("as the Azure name: {}; set spec.azureName", problem.kind);
            return object.error("metadata.name", message);
        }
        object.error(problem.path, problem.kind.to_string())
    });
    unknown.chain(problems).collect()
}

/// The ARM id that the object has, from its owners among the inputs.
fn resource_id(
    object: &InputObject,
    inventory: &Inventory,
    subscription: &str,
    depth: usize,
) -> Result<ResourceId, RenderError> {
    if depth > DEEPEST_OWNER {
        return Err(object.error(OWNER, "the owners form a circle"));
    }
    let owner = owner_id(object, inventory, subscription, depth)?;
    let name = azure_name(object, inventory)?;
    segment::check_segment(&name)
        .map_err(|error| object.error("spec.azureName", error.to_string()))?;
    ResourceId::of(object.kind, owner.as_ref(), subscription, &name)
        .map_err(|error| object.error(OWNER, error.to_string()))
}

fn owner_id(
    object: &InputObject,
    inventory: &Inventory,
    subscription: &str,
    depth: usize,
) -> Result<Option<ResourceId>, RenderError> {
    let text = |pointer: &str| object.spec.pointer(pointer).and_then(Value::as_str);
    let (group, kind) = match object.kind.owner {
        OwnerRule::None => return Ok(None),
        OwnerRule::Kind { group, kind } => (Some(group), Some(kind)),
        OwnerRule::Any => (text("/owner/group"), text("/owner/kind")),
    };
    if let Some(id) = text("/owner/armId") {
        let id = ResourceId::parse(id)
            .map_err(|error| object.error("spec.owner.armId", error.to_string()))?;
        return Ok(Some(id));
    }
    let (Some(group), Some(kind), Some(name)) = (group, kind, text("/owner/name")) else {
        let message = match object.kind.owner {
            OwnerRule::Any => "is missing: set armId, or group, kind and name",
            _ => "is missing: set name or armId",
        };
        return Err(object.error(OWNER, message));
    };
    let owner = find(object, inventory, group, kind, name)
        .map_err(|message| object.error("spec.owner.name", message))?;
    match resource_id(owner, inventory, subscription, depth + 1) {
        Ok(id) => Ok(Some(id)),
        Err(reason) => Err(object.error(
            OWNER,
            format!("{} has no id: {}", owner.title(), reason.message),
        )),
    }
}

/// An object in the same namespace, or why there is none.
fn find<'a>(
    object: &InputObject,
    inventory: &'a Inventory,
    group: &str,
    kind: &str,
    name: &str,
) -> Result<&'a InputObject, String> {
    if let Some(found) = inventory.object(group, kind, &object.namespace, name) {
        return Ok(found);
    }
    if name.starts_with('/') {
        return Err(format!("'{name}' looks like an ARM id: give it as armId"));
    }
    if !inventory.knows(group, kind) {
        return Err(format!(
            "there is no kind {kind} in {group}; give the target's armId"
        ));
    }
    let namespace = &object.namespace;
    Err(format!(
        "{kind} {namespace}/{name} is not among the inputs; add its manifest or give its armId"
    ))
}

/// The last segment of the id.
fn azure_name(object: &InputObject, inventory: &Inventory) -> Result<String, RenderError> {
    if let NameRule::Fixed(name) = object.kind.name {
        return Ok(name.to_owned());
    }
    let from_config = object.spec.get("azureNameFromConfig");
    if let Some(key) = from_config.and_then(KeyReference::parse) {
        return value(DataKind::ConfigMap, object, inventory, &key)
            .map_err(|message| object.error("spec.azureNameFromConfig", message));
    }
    let given = object.spec.get("azureName").and_then(Value::as_str);
    let given = given.filter(|name| !name.is_empty());
    Ok(given.unwrap_or(&object.name).to_owned())
}

/// The value of a key, or the mark that stands for it.
fn value(
    kind: DataKind,
    object: &InputObject,
    inventory: &Inventory,
    key: &KeyReference,
) -> Result<String, String> {
    let found = inventory.value(kind, &object.namespace, key)?;
    Ok(found.unwrap_or_else(|| mark(kind, &key.name, &key.key)))
}

fn mark(kind: DataKind, name: &str, key: &str) -> String {
    let word = match kind {
        DataKind::Secret => "secret",
        DataKind::ConfigMap => "configmap",
    };
    format!("${{{word}:{name}/{key}}}")
}

/// Values for everything that the spec refers to.
fn resolve(
    object: &InputObject,
    inventory: &Inventory,
    subscription: &str,
    errors: &mut Vec<RenderError>,
) -> Resolved {
    let inputs = collect::inputs(object.version.spec, &object.spec);
    let mut resolved = Resolved::default();
    for path in &inputs.incomplete {
        let message = "is incomplete: set armId, or group, kind and name; a key needs name and key";
        errors.push(object.error(path.as_str(), message));
    }
    for Use { path, target } in &inputs.references {
        let (group, kind, name) = match target {
            ReferenceTarget::Named { group, kind, name } => (group, kind, name),
            ReferenceTarget::ArmId(id) => {
                if let Err(error) = segment::check_path(id) {
                    errors.push(object.error(path.as_str(), error.to_string()));
                }
                continue;
            }
            ReferenceTarget::WellKnown(_) => continue,
        };
        let id = find(object, inventory, group, kind, name).and_then(|found| {
            resource_id(found, inventory, subscription, 0)
                .map_err(|reason| format!("{} has no id: {}", found.title(), reason.message))
        });
        match id {
            Ok(id) => {
                let id = id.as_str().to_owned();
                resolved.references.insert(target.clone(), id);
            }
            Err(message) => errors.push(object.error(path.as_str(), message)),
        }
    }
    for (kind, uses) in [
        (DataKind::Secret, &inputs.secrets),
        (DataKind::ConfigMap, &inputs.config_maps),
    ] {
        for Use { path, target } in uses {
            let into = match kind {
                DataKind::Secret => &mut resolved.secrets,
                DataKind::ConfigMap => &mut resolved.config_maps,
            };
            match value(kind, object, inventory, target) {
                Ok(value) => {
                    into.insert(target.clone(), value);
                }
                Err(message) => errors.push(object.error(path.as_str(), message)),
            }
        }
    }
    for Use { target: name, .. } in &inputs.secret_maps {
        let values = inventory
            .all_values(DataKind::Secret, &object.namespace, name)
            .cloned()
            // The keys are not known either, so one mark stands for all.
            .unwrap_or_else(|| [("*".to_owned(), mark(DataKind::Secret, name, "*"))].into());
        resolved.secret_maps.insert(name.clone(), values);
    }
    resolved
}
