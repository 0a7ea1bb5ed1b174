//! The model as text: short, and in the model's own order.

use std::fmt::Write;

use armature_generator::model::{
    Meaning, NameRule, ObjectType, Property, Resource, Rules, TypeDef, TypeRef, Version,
};
use armature_generator::naming::TypeNames;

/// Every resource and type of a version.
pub fn version(version: &Version) -> String {
    let mut text = String::new();
    for resource in &version.resources {
        line(&mut text, &head(resource));
    }
    let names = TypeNames::of_version(version);
    for (name, id) in names.by_name() {
        match &version.types[id] {
            TypeDef::Enum(known) => {
                let more = if known.extensible { " …" } else { "" };
                line(
                    &mut text,
                    &format!("\n{name} = {}{more}", known.values.join(" | ")),
                );
            }
            TypeDef::Object(object) => {
                line(&mut text, &format!("\n{name} {{{}", notes(object)));
                for property in &object.properties {
                    line(&mut text, &format!("  {}", member(property, &names)));
                }
                line(&mut text, "}");
            }
        }
    }
    text
}

/// What discovery says of a resource.
pub fn head(resource: &Resource) -> String {
    format!(
        "{}: {}, {:?}, owner {:?}, name {}, {} → {} / {}",
        resource.kind,
        resource.arm_type,
        resource.scope,
        resource.owner,
        name(&resource.name),
        verbs(resource),
        resource.spec,
        resource.status
    )
}

/// How a name is chosen.
pub fn name(rule: &NameRule) -> String {
    match rule {
        NameRule::Free(of) => format!("free{}", rules("", of)),
        NameRule::Uuid { rules: of, text } => format!("uuid {text:?}{}", rules("", of)),
        NameRule::OneOf(values) => format!("one of {}", values.join(", ")),
        NameRule::Fixed(value) => format!("always {value}"),
    }
}

pub fn verbs(resource: &Resource) -> String {
    let verbs = resource.verbs;
    [
        (verbs.get, "GET"),
        (verbs.head, "HEAD"),
        (verbs.put, "PUT"),
        (verbs.put_long_running, "(long)"),
        (verbs.patch, "PATCH"),
        (verbs.delete, "DELETE"),
        (verbs.delete_long_running, "(long)"),
    ]
    .into_iter()
    .filter_map(|(there, word)| there.then_some(word))
    .collect::<Vec<_>>()
    .join(" ")
}

pub fn notes(object: &ObjectType) -> String {
    let mut text = String::new();
    if object.arm_resource {
        text.push_str(" (id of a resource)");
    }
    if let Some(one_of) = &object.discriminated {
        let variants: Vec<String> = one_of
            .variants
            .iter()
            .map(|variant| format!("{} = {:?}", variant.property, variant.value))
            .collect();
        let _ = write!(text, " by {}: {}", one_of.property, variants.join(", "));
    }
    text
}

fn member(property: &Property, names: &TypeNames) -> String {
    let mut text = format!("{}: {}", property.name, ty(&property.ty, names));
    if property.place.path() != std::slice::from_ref(&property.name) {
        let _ = write!(text, " at [{}]", property.place.path().join("/"));
    }
    for (set, word) in [
        (property.required, "required"),
        (property.read_only, "read-only"),
        (property.write_only, "write-only"),
        (property.create_only, "create-only"),
        (property.secret, "secret"),
        (property.meaning == Meaning::ArmId, "arm-id"),
    ] {
        if set {
            let _ = write!(text, " {word}");
        }
    }
    if !property.identifiers.is_empty() {
        let _ = write!(text, " by {}", property.identifiers.join(","));
    }
    text + &rules("", &property.rules) + &rules(" items", &property.item_rules)
}

pub fn rules(of: &str, rules: &Rules) -> String {
    if *rules == Rules::default() {
        return String::new();
    }
    let text = [
        rules.format.clone(),
        rules.pattern.clone(),
        rules.min_length.map(|length| format!("length≥{length}")),
        rules.max_length.map(|length| format!("length≤{length}")),
        rules.minimum.map(|least| format!("≥{least}")),
        rules.maximum.map(|most| format!("≤{most}")),
        rules.multiple_of.map(|of| format!("n×{of}")),
        rules.min_items.map(|count| format!("items≥{count}")),
        rules.max_items.map(|count| format!("items≤{count}")),
    ];
    let text: Vec<String> = text.into_iter().flatten().collect();
    format!("{of} <{}>", text.join(" "))
}

fn ty(ty_of: &TypeRef, names: &TypeNames) -> String {
    match ty_of {
        TypeRef::Bool => "bool".to_owned(),
        TypeRef::Integer(_) => "integer".to_owned(),
        TypeRef::Number => "number".to_owned(),
        TypeRef::String => "string".to_owned(),
        TypeRef::Json => "json".to_owned(),
        TypeRef::Named(id) => names.get(id).expect("a name").to_string(),
        TypeRef::List(item) => format!("[{}]", ty(item, names)),
        TypeRef::Map(item) => format!("{{{}}}", ty(item, names)),
        other => format!("{other:?}"),
    }
}

fn line(text: &mut String, line: &str) {
    text.push_str(line);
    text.push('\n');
}
