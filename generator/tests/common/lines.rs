//! Models as text for golden tests: one line per property.

use std::collections::BTreeMap;

use armature_generator::hub::Hubs;
use armature_generator::model::{
    Absent, Identity, Meaning, Property, Resource, TypeDef, TypeId, TypeRef, TypeTable, Version,
};
use armature_generator::naming::{Names, TypeNames};

pub fn version(version: &Version) -> String {
    let names = TypeNames::of_version(version);
    let name = |id: &TypeId| names.get(id).expect("a name").to_string();
    let resources = version.resources.iter().map(|it| resource(it, &name));
    let resources = resources.collect::<String>();
    format!(
        "# {}\n{resources}\n{}",
        version.api_version,
        types(&version.types, &name)
    )
}

/// What a hub type is called: roots after their kind, others within it.
pub fn hub_name(id: &TypeId, hubs: &Hubs, names: &Names) -> String {
    let name = names.hub.get(id).expect("a name");
    let mut kinds = hubs.kinds.values();
    match id.identity() {
        Identity::Hub { kind, .. } if !kinds.any(|it| [&it.spec, &it.status].contains(&id)) => {
            format!("{kind}_{name}")
        }
        _ => name.to_string(),
    }
}

fn resource(resource: &Resource, name: &dyn Fn(&TypeId) -> String) -> String {
    let Resource {
        kind,
        plural,
        version_names,
        secrets,
        config_maps,
        child_lists,
        spec,
        status,
        ..
    } = resource;
    let (spec, status) = (name(spec), name(status));
    format!(
        "{kind} ({plural}) as {version_names:?}: {spec}, {status}; secrets {secrets:?}; config maps {config_maps:?}; child lists {child_lists:?}\n"
    )
}

pub fn types(types: &TypeTable, name: &dyn Fn(&TypeId) -> String) -> String {
    let mut text = String::new();
    let by_name = types.iter().map(|(id, definition)| (name(id), definition));
    for (called, definition) in by_name.collect::<BTreeMap<_, _>>() {
        match definition {
            TypeDef::Enum(definition) => {
                text.push_str(&format!("{called} = {}\n\n", definition.values.join(" | ")));
            }
            TypeDef::Object(object) => {
                text.push_str(&format!("{called} {{\n"));
                for property in &object.properties {
                    text.push_str(&format!("  {}\n", self::property(property, name)));
                }
                if let Some(one_of) = &object.discriminated {
                    let variants = one_of.variants.iter();
                    let variants = variants.map(|v| format!("{} is {}", v.property, v.value));
                    let variants = variants.collect::<Vec<_>>().join(", ");
                    text.push_str(&format!("  by {}: {variants}\n", one_of.property));
                }
                text.push_str("}\n\n");
            }
        }
    }
    text
}

fn property(property: &Property, name: &dyn Fn(&TypeId) -> String) -> String {
    let flags = [
        (property.required, "required"),
        (property.read_only, "read-only"),
        (property.secret, "secret"),
        (property.absent == Absent::Null, "explicit"),
        (property.absent == Absent::Empty, "explicit-empty"),
        (property.stashed, "stashed"),
        (property.meaning == Meaning::ArmId, "arm-id"),
        (property.meaning == Meaning::Location, "location"),
    ];
    let flags = flags.iter().filter(|(set, _)| *set);
    let flags = flags
        .map(|(_, flag)| format!(" {flag}"))
        .collect::<String>();
    let arm = match property.place.path() {
        [] => String::new(),
        path => format!(" <- {}", path.join(".")),
    };
    let ty = ty(&property.ty, name);
    format!("{}: {ty}{flags}{arm}", property.name)
}

fn ty(ty: &TypeRef, name: &dyn Fn(&TypeId) -> String) -> String {
    match ty {
        TypeRef::Named(id) => name(id),
        TypeRef::List(item) => format!("[{}]", self::ty(item, name)),
        TypeRef::Map(item) => format!("{{{}}}", self::ty(item, name)),
        other => format!("{other:?}"),
    }
}
