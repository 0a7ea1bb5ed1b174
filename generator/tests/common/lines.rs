//! Models as text for golden tests: one line per property.

use armature_generator::model::{
    Absent, Meaning, Property, Resource, TypeDef, TypeRef, TypeTable, Version,
};

pub fn version(version: &Version) -> String {
    let resources = version.resources.iter().map(resource).collect::<String>();
    format!(
        "# {}\n{resources}\n{}",
        version.api_version,
        types(&version.types)
    )
}

fn resource(resource: &Resource) -> String {
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
    format!(
        "{kind} ({plural}) as {version_names:?}: {spec}, {status}; secrets {secrets:?}; config maps {config_maps:?}; child lists {child_lists:?}\n"
    )
}

pub fn types(types: &TypeTable) -> String {
    let mut text = String::new();
    for (name, definition) in types {
        match definition {
            TypeDef::Enum(definition) => {
                text.push_str(&format!("{name} = {}\n\n", definition.values.join(" | ")));
            }
            TypeDef::Object(object) => {
                text.push_str(&format!("{name} {{\n"));
                for property in &object.properties {
                    text.push_str(&format!("  {}\n", self::property(property)));
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

fn property(property: &Property) -> String {
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
    format!("{}: {}{flags}{arm}", property.name, ty(&property.ty))
}

fn ty(ty: &TypeRef) -> String {
    match ty {
        TypeRef::Named(name) => name.to_string(),
        TypeRef::List(item) => format!("[{}]", self::ty(item)),
        TypeRef::Map(item) => format!("{{{}}}", self::ty(item)),
        other => format!("{other:?}"),
    }
}
