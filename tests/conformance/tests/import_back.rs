//! The reverse of an import, over every version: a manifest becomes a request, Azure shows what it took, and the import of that
//! is the same manifest; what it leaves out says nothing to Azure.
#![allow(
    clippy::panic,
    clippy::unwrap_used,
    reason = "helpers of tests may panic as tests do"
)]

use armature::import::{Resource, draft};
use armature_conformance::properties::{for_all, same, versions};
use armature_runtime::engine::collect::inputs;
use armature_runtime::engine::payload::{Resolved, arm_body};
use armature_runtime::id::ResourceId;
use armature_runtime::kind::{KindInfo, NameRule, OwnerRule, Remote, Scope, VersionInfo};
use armature_runtime::shape::{Flags, Semantic, StructShape, Type, check, check_rules};
use armature_runtime::testing::arbitrary::Arbitrary;
use serde_json::{Map, Value};

/// Values per version.
const CASES: u32 = 24;
/// What extensions stand on, and what references of any form lead to.
const SOMETHING: &str = "/subscriptions/s/resourceGroups/g/providers/P.Q/things";

/// The body of the PUT, with a value for everything that the spec refers to.
fn body(version: &VersionInfo, name: &str, spec: &Value) -> Result<Value, String> {
    let used = inputs(version.spec, spec);
    let mut resolved = Resolved::default();
    for (index, used) in used.references.into_iter().enumerate() {
        let is_id = matches!(
            used.target,
            armature_runtime::engine::collect::ReferenceTarget::ArmId(_)
        );
        if !is_id {
            let id = format!("{SOMETHING}/{index}");
            resolved.references.insert(used.target, id);
        }
    }
    for used in used.secrets {
        resolved.secrets.insert(used.target, "hunter2".to_owned());
    }
    for used in used.secret_maps {
        let values = [("key".to_owned(), "hunter2".to_owned())].into();
        resolved.secret_maps.insert(used.target, values);
    }
    for used in used.config_maps {
        resolved.config_maps.insert(used.target, "text".to_owned());
    }
    arm_body(version, name, spec, &resolved).map_err(|error| error.to_string())
}

/// A name that a resource of the kind can have: that of the spec, where it has one.
fn name(kind: &KindInfo, version: &VersionInfo, spec: &Value) -> Option<String> {
    let own = spec["azureName"].as_str();
    let candidates = match kind.name {
        NameRule::Fixed(name) => vec![name],
        NameRule::OneOf(names) => names.to_vec(),
        _ => vec![
            "name",
            "name12345678",
            "11111111-1111-4111-8111-111111111111",
        ],
    };
    let rules = version.spec.field("azureName").map(|field| field.rules);
    let keeps =
        |name: &&str| rules.is_none_or(|rules| check_rules(rules, &Value::from(*name)).is_empty());
    own.or_else(|| candidates.into_iter().find(keeps))
        .map(str::to_owned)
}

/// An id of a resource of the kind.
fn id(kind: &KindInfo, name: &str) -> Option<ResourceId> {
    let Remote::Arm { arm_type, scope } = kind.remote else {
        return None;
    };
    let (provider, rest) = arm_type.split_once('/')?;
    let segments: Vec<&str> = rest.split('/').collect();
    let (last, above) = segments.split_last()?;
    let mut path = match (scope, kind.owner) {
        (Scope::Tenant, _) => String::new(),
        (Scope::Subscription, OwnerRule::None) => "/subscriptions/s".to_owned(),
        (Scope::Extension, _) => format!("{SOMETHING}/a"),
        _ => "/subscriptions/s/resourceGroups/g".to_owned(),
    };
    if kind.kind == "ResourceGroup" {
        return ResourceId::parse(&format!("/subscriptions/s/resourceGroups/{name}")).ok();
    }
    path.push_str(&format!("/providers/{provider}"));
    for segment in above {
        path.push_str(&format!("/{segment}/parent"));
    }
    ResourceId::parse(&format!("{path}/{last}/{name}")).ok()
}

/// Without secrets that stand in the manifest itself: an import tells of them, and does not show them.
fn without_open_secrets(shape: &'static StructShape, value: &mut Value) {
    let Value::Object(members) = value else {
        return;
    };
    members.retain(|name, _| {
        let field = shape.field(name);
        field.is_none_or(|field| !field.flags.has(Flags::SECRET) || is_reference(field.ty))
    });
    for (name, value) in members {
        if let Some(field) = shape.field(name) {
            within(field.ty, value);
        }
    }
}

fn within(ty: Type, value: &mut Value) {
    match (ty, value) {
        (Type::Struct(shape), value) => without_open_secrets(shape, value),
        (Type::List(list), Value::Array(items)) => {
            for item in items {
                within(list.item, item);
            }
        }
        (Type::Map(map), Value::Object(members)) => {
            for member in members.values_mut() {
                within(map.value, member);
            }
        }
        _ => {}
    }
}

fn is_reference(ty: Type) -> bool {
    match ty {
        Type::Struct(shape) => matches!(
            shape.semantic,
            Semantic::SecretReference | Semantic::SecretMapReference | Semantic::Reference
        ),
        Type::List(list) => is_reference(list.item),
        Type::Map(map) => is_reference(map.value),
        _ => false,
    }
}

/// Without what says nothing.
fn telling(value: &Value) -> Value {
    match value {
        Value::Object(members) => {
            let members = members.iter().map(|(name, value)| (name, telling(value)));
            let members = members.filter(|(_, value)| !says_nothing(value));
            let members = members.map(|(name, value)| (name.clone(), value));
            Value::Object(members.collect::<Map<_, _>>())
        }
        Value::Array(items) => items.iter().map(telling).collect(),
        value => value.clone(),
    }
}

fn says_nothing(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::String(text) => text.is_empty(),
        Value::Array(items) => items.is_empty(),
        Value::Object(members) => members.is_empty(),
        _ => false,
    }
}

#[test]
fn what_was_made_of_a_manifest_is_imported_as_that_manifest() {
    for (kind, version) in versions() {
        for_all(
            &format!("{} {}", kind.kind, version.name),
            CASES,
            |seed, size| {
                let mut spec = Arbitrary::valid(seed, size).object(version.spec);
                without_open_secrets(version.spec, &mut spec);
                let Some(name) = name(kind, version, &spec) else {
                    return Ok(());
                };
                // Rules that let a name through which no id can have are Azure's own.
                let Some(id) = id(kind, &name).filter(|id| id.name() == name) else {
                    return Ok(());
                };
                if !id.has_type(kind.remote_type()) {
                    return Ok(());
                }
                spec.as_object_mut()
                    .unwrap()
                    .shift_remove("azureNameFromConfig");
                // The text of a ConfigMap may be none that the schema takes.
                let takes_text = !inputs(version.spec, &spec).config_maps.is_empty();
                if takes_text || !check(version.spec, &spec, "spec").is_empty() {
                    return Ok(());
                }
                let sent = body(version, &name, &spec)?;
                let resource = Resource {
                    id,
                    kind,
                    version,
                    body: sent.clone(),
                };
                let draft = draft(resource).map_err(|why| format!("{why}: {sent}"))?;
                if let Some(left_out) = draft.left_out.first() {
                    return Err(format!("{}: {}\n{sent}", left_out.path, left_out.why));
                }
                let again = body(version, &name, &draft.spec)?;
                same(&telling(&sent), &telling(&again))
            },
        );
    }
}
