//! Manifests by chance, as a person would write them: with a name, an owner and references by name, and values that keep to the rules.

use std::collections::{BTreeMap, BTreeSet};

use armature::import::{Draft, Resource};
use armature_generated::KINDS;
use armature_runtime::engine::collect::{ReferenceTarget, inputs};
use armature_runtime::engine::payload::{Resolved, arm_body};
use armature_runtime::id::ResourceId;
use armature_runtime::kind::{KindInfo, NameRule, OwnerRule, Remote, Scope, VersionInfo};
use armature_runtime::shape::{ArmPlace, Flags, Semantic, StructShape, Type, check, check_rules};
use armature_runtime::testing::arbitrary::Arbitrary;
use serde_json::{Map, Value, json};

/// The value of every Secret.
pub const SECRET: &str = "hunter2";
/// What extensions stand on.
const SOMETHING: &str = "/subscriptions/s/resourceGroups/g/providers/P.Q/things";
/// The kind of what references lead to by name.
const NAMED: (&str, &str) = ("managedidentity.azure.com", "UserAssignedIdentity");
/// Where those are.
const NAMED_AT: &str =
    "/subscriptions/s/resourceGroups/g/providers/Microsoft.ManagedIdentity/userAssignedIdentities";

/// Letters of a name; Kubernetes takes 253, and an import leaves room for an ending.
const LONGEST: usize = 240;

/// A manifest, and what it stands among.
pub struct Written {
    pub kind: &'static KindInfo,
    pub version: &'static VersionInfo,
    /// The id that the resource has in Azure.
    pub id: ResourceId,
    /// Its spec, with the owner and some references by name.
    pub spec: Value,
    /// Ids of what references name.
    named: BTreeMap<ReferenceTarget, String>,
}

impl Written {
    /// A manifest; `None` where chance made none that anybody could apply.
    pub fn of(
        kind: &'static KindInfo,
        version: &'static VersionInfo,
        seed: u64,
        size: usize,
    ) -> Option<Self> {
        let mut spec = Arbitrary::valid(seed, size).object(version.spec);
        without_hidden(version.spec, &mut spec);
        let name = name(kind, version, &spec)?;
        // Rules that let a name through which no id can have are Azure's own.
        let id = id(kind, &name).filter(|id| id.name() == name)?;
        if !id.has_type(kind.remote_type()) {
            return None;
        }
        let mut named = BTreeMap::new();
        name_references(Type::Struct(version.spec), &mut spec, &mut named);
        let members = spec.as_object_mut()?;
        members.shift_remove("azureNameFromConfig");
        // No import knows which keys and ids somebody wants exported.
        members.shift_remove("operatorSpec");
        if version.spec.field("azureName").is_some() {
            members.insert("azureName".to_owned(), json!(name));
        }
        let mut written = Self {
            kind,
            version,
            id,
            spec,
            named,
        };
        if version.spec.field("owner").is_some() {
            written.spec["owner"] = written.owner();
        }
        // The text of a ConfigMap may be none that the schema takes.
        let takes_text = !inputs(version.spec, &written.spec).config_maps.is_empty();
        let is_taken = !takes_text && check(version.spec, &written.spec, "spec").is_empty();
        is_taken.then_some(written)
    }

    /// Its name in Azure.
    pub fn name(&self) -> &str {
        self.id.name()
    }

    /// The owner as a person names it: by name, or by its id where it may be of any kind, and this one is of none.
    fn owner(&self) -> Value {
        match self.owner_draft() {
            Some(owner) => json!({ "name": object_name(&owner.resource) }),
            None => json!({ "armId": above(&self.id) }),
        }
    }

    /// The owner, where it is of a kind.
    fn owner_draft(&self) -> Option<Draft> {
        let OwnerRule::Kind { group, kind } = self.kind.owner else {
            return None;
        };
        Some(other(kind_of(group, kind)?, &above(&self.id)))
    }

    /// The owner and all that references name, as an import finds them beside the resource.
    pub fn surroundings(&self) -> Vec<Draft> {
        let named = self.named.values();
        let kind = kind_of(NAMED.0, NAMED.1);
        let named = named.filter_map(|id| Some(other(kind?, id)));
        named.chain(self.owner_draft()).collect()
    }

    /// The id that a reference leads to.
    pub fn leads_to(&self, reference: &Value) -> Option<String> {
        match ReferenceTarget::parse(reference)? {
            ReferenceTarget::ArmId(id) => Some(id),
            target => self.named.get(&target).cloned(),
        }
    }

    /// The body of the PUT of a spec, with a value for everything that it refers to.
    pub fn body(&self, spec: &Value) -> Result<Value, String> {
        let used = inputs(self.version.spec, spec);
        let mut resolved = Resolved {
            references: self.named.clone(),
            ..Resolved::default()
        };
        for used in used.secrets {
            resolved.secrets.insert(used.target, SECRET.to_owned());
        }
        for used in used.secret_maps {
            let values = [("key".to_owned(), SECRET.to_owned())].into();
            resolved.secret_maps.insert(used.target, values);
        }
        for used in used.config_maps {
            resolved.config_maps.insert(used.target, "text".to_owned());
        }
        arm_body(self.version, self.name(), spec, &resolved).map_err(|error| error.to_string())
    }
}

/// The name that an object of a resource has: that in Azure as Kubernetes can have it, after that of what it is in where all of its
/// kind are called alike.
pub fn object_name(resource: &Resource) -> String {
    let id = resource.id.as_str();
    let own = id.rsplit('/').next().unwrap_or_default();
    let name = match (resource.kind.name, id.rsplit('/').nth(2)) {
        (NameRule::Fixed(_) | NameRule::OneOf(_), Some(above)) => format!("{above}-{own}"),
        _ => own.to_owned(),
    };
    let name = name.replace(|letter: char| !letter.is_ascii_alphanumeric(), "-");
    let name = name.trim_matches('-').to_ascii_lowercase();
    match name.get(..LONGEST).unwrap_or(&name).trim_matches('-') {
        "" => resource.kind.kind.to_lowercase(),
        name => name.to_owned(),
    }
}

fn kind_of(group: &str, kind: &str) -> Option<&'static KindInfo> {
    let mut kinds = KINDS.iter();
    kinds
        .find(|known| (known.group, known.kind) == (group, kind))
        .copied()
}

/// The id of what a resource is in or on.
fn above(id: &ResourceId) -> String {
    let text = id.as_str();
    let provider = text.rfind("/providers/").unwrap_or_default();
    match text[provider..].split('/').count() {
        // A provider, a type and a name.
        5 => text[..provider].to_owned(),
        _ => {
            let end = text.rmatch_indices('/').nth(1).map(|(end, _)| end);
            text[..end.unwrap_or_default()].to_owned()
        }
    }
}

/// A resource of which nothing but its id is known.
fn other(kind: &'static KindInfo, id: &str) -> Draft {
    let version = kind.versions.last().unwrap();
    let resource = Resource {
        id: ResourceId::parse(id).unwrap(),
        kind,
        version,
        body: json!({}),
    };
    Draft {
        resource,
        spec: json!({}),
        owner: None,
        left_out: Vec::new(),
    }
}

/// Turns every other reference into one by name.
fn name_references(ty: Type, value: &mut Value, named: &mut BTreeMap<ReferenceTarget, String>) {
    match (ty, value) {
        (Type::Struct(shape), value) if shape.semantic == Semantic::Reference => {
            let (group, kind) = NAMED;
            let name = format!("named{}", named.len());
            let by_name = json!({"group": group, "kind": kind, "name": name});
            let letters = value["armId"].as_str().map_or(0, str::len);
            if letters % 2 == 0
                && let Some(target) = ReferenceTarget::parse(&by_name)
            {
                named.insert(target, format!("{NAMED_AT}/{name}"));
                *value = by_name;
            }
        }
        (Type::Struct(shape), Value::Object(members)) => {
            without_twins(shape, members);
            for (name, value) in members {
                if let Some(field) = shape.field(name).filter(|field| field.name != "owner") {
                    name_references(field.ty, value, named);
                }
            }
        }
        (Type::List(list), Value::Array(items)) => {
            if matches!(list.item, Type::Struct(shape) if shape.semantic == Semantic::ArmIdKeyed) {
                // They are the keys of a map in Azure, and a person names each once.
                let mut seen = BTreeSet::new();
                items.retain(|item| seen.insert(item.to_string()));
            }
            for item in items {
                name_references(list.item, item, named);
            }
        }
        (Type::Map(map), Value::Object(members)) => {
            for member in members.values_mut() {
                name_references(map.value, member, named);
            }
        }
        _ => {}
    }
}

/// Where two fields are one in Azure, a person says one of them.
fn without_twins(shape: &StructShape, members: &mut Map<String, Value>) {
    for (position, field) in shape.fields.iter().enumerate() {
        let mut before = shape.fields[..position].iter();
        let is_said = before.any(|other| {
            matches!(field.arm, ArmPlace::At(_))
                && other.arm == field.arm
                && members.contains_key(other.name)
        });
        if is_said {
            members.shift_remove(field.name);
        }
    }
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

/// Without secrets that stand in the manifest itself: an import tells of them, and does not show them. Without what Azure never
/// shows, too.
fn without_hidden(shape: &'static StructShape, value: &mut Value) {
    let Value::Object(members) = value else {
        return;
    };
    members.retain(|name, _| {
        let Some(field) = shape.field(name) else {
            return true;
        };
        let is_open = field.flags.has(Flags::SECRET) && !is_reference(field.ty);
        let is_required = field.flags.has(Flags::REQUIRED);
        !is_open && (is_required || !field.flags.has(Flags::WRITE_ONLY))
    });
    for (name, value) in members {
        if let Some(field) = shape.field(name) {
            within(field.ty, value);
        }
    }
}

fn within(ty: Type, value: &mut Value) {
    match (ty, value) {
        (Type::Struct(shape), value) => without_hidden(shape, value),
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
