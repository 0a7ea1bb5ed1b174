//! Types and rules in words.

use armature_runtime::shape::{Field, Flags, Rules, Semantic, StructShape, Type};

/// A type in words.
pub fn of_type(ty: Type) -> String {
    match ty {
        Type::Bool => "boolean".to_owned(),
        Type::Integer(_) => "integer".to_owned(),
        Type::Number => "number".to_owned(),
        Type::String | Type::Enum(_) => "string".to_owned(),
        Type::Json => "any JSON".to_owned(),
        Type::Struct(shape) => of_struct(shape).to_owned(),
        Type::List(list) => format!("list of {}", plural(list.item)),
        Type::Map(map) => format!("map of {}", plural(map.value)),
    }
}

fn of_struct(shape: &StructShape) -> &'static str {
    match shape.semantic {
        Semantic::Plain if shape.one_of.is_some() => "object with one of its members",
        Semantic::Plain => "object",
        Semantic::Reference => "reference: group, kind and name, or armId",
        Semantic::WellKnownReference => "reference: group, kind and name, armId, or wellKnownName",
        Semantic::SecretReference => "key of a Secret: name and key",
        Semantic::SecretMapReference => "Secret with all its keys: name",
        Semantic::ConfigMapReference => "key of a ConfigMap: name and key",
        Semantic::ArmIdKeyed => "reference to a resource",
    }
}

fn plural(ty: Type) -> String {
    match ty {
        Type::Bool => "booleans".to_owned(),
        Type::Integer(_) => "integers".to_owned(),
        Type::Number => "numbers".to_owned(),
        Type::String | Type::Enum(_) => "strings".to_owned(),
        Type::Json => "any JSON".to_owned(),
        Type::Struct(shape) => match shape.semantic {
            Semantic::Plain => "objects".to_owned(),
            Semantic::Reference | Semantic::WellKnownReference | Semantic::ArmIdKeyed => {
                "references".to_owned()
            }
            _ => "keys of Secrets or ConfigMaps".to_owned(),
        },
        Type::List(list) => format!("lists of {}", plural(list.item)),
        Type::Map(map) => format!("maps of {}", plural(map.value)),
    }
}

/// Known values of a type or its items.
pub fn values(ty: Type) -> &'static [&'static str] {
    match ty {
        Type::Enum(shape) => shape.values,
        Type::List(list) => values(list.item),
        Type::Map(map) => values(map.value),
        _ => &[],
    }
}

/// Whether the list of known values is open.
pub fn takes_others(ty: Type) -> bool {
    match ty {
        Type::Enum(shape) => !shape.values.is_empty() && shape.only().is_none(),
        Type::List(list) => takes_others(list.item),
        Type::Map(map) => takes_others(map.value),
        _ => false,
    }
}

/// The struct that a type or its items are, where people write its members.
pub fn inner(ty: Type) -> Option<&'static StructShape> {
    match ty {
        Type::Struct(shape) => Some(shape),
        Type::List(list) => inner(list.item),
        Type::Map(map) => inner(map.value),
        _ => None,
    }
}

/// Constraints of a field and of its items.
pub fn rules(field: &Field) -> Vec<String> {
    let mut found = of_rules(field.rules);
    let items = of_rules(field.item_rules).into_iter();
    found.extend(items.map(|rule| format!("each: {rule}")));
    found
}

/// Constraints in words.
pub fn of_rules(rules: &Rules) -> Vec<String> {
    let mut found = Vec::new();
    let mut range = |low: Option<String>, high: Option<String>, unit: &str| match (low, high) {
        (Some(low), Some(high)) if low == high => found.push(format!("exactly {low}{unit}")),
        (Some(low), Some(high)) => found.push(format!("{low} to {high}{unit}")),
        (Some(low), None) => found.push(format!("at least {low}{unit}")),
        (None, Some(high)) => found.push(format!("at most {high}{unit}")),
        (None, None) => {}
    };
    let text = |number: Option<u64>| number.map(|number| number.to_string());
    range(
        text(rules.min_length),
        text(rules.max_length),
        " characters",
    );
    range(text(rules.min_items), text(rules.max_items), " items");
    let text = |number: Option<f64>| number.map(|number| number.to_string());
    range(text(rules.minimum), text(rules.maximum), "");
    found.extend(
        rules
            .multiple_of
            .map(|factor| format!("a multiple of {factor}")),
    );
    found.extend(rules.format.map(|format| format!("format {format}")));
    found.extend(rules.pattern.map(|pattern| format!("matches {pattern}")));
    found.extend(rules.slash.map(|slash| format!("'{slash}' for a slash")));
    found
}

/// What is said of a property that cannot change.
pub const FIXED: &str = "can be set on creation only";

/// Facts about a field beside its type.
pub fn facts(field: &Field) -> Vec<&'static str> {
    let table = [
        (Flags::READ_ONLY, "set by Azure, never sent"),
        (Flags::WRITE_ONLY, "never answered by Azure"),
        (Flags::SECRET, "a secret"),
        (Flags::CREATE_ONLY, FIXED),
        (Flags::ARM_ID, "an ARM id"),
        (Flags::LOCATION, "an Azure location"),
    ];
    let held = table.iter().filter(|(flag, _)| field.flags.has(*flag));
    held.map(|(_, text)| *text).collect()
}
