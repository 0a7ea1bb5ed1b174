//! Sentences about types and properties, composed from facts: never Azure's prose.

use crate::model::{
    ArmPlace, CommonType, EnumType, Meaning, ObjectType, Property, Rules, TypeDef, TypeRef,
    TypeTable,
};

/// What a value is: `string`, `list of integers`, `map of objects`.
pub fn type_words(ty: &TypeRef, types: &TypeTable) -> String {
    match ty {
        TypeRef::List(item) => format!("list of {}", plural(&type_words(item, types))),
        TypeRef::Map(item) => format!("map of {}", plural(&type_words(item, types))),
        other => singular(other, types).to_owned(),
    }
}

fn singular(ty: &TypeRef, types: &TypeTable) -> &'static str {
    match ty {
        TypeRef::Bool => "boolean",
        TypeRef::Integer(_) => "integer",
        TypeRef::Number => "number",
        TypeRef::String => "string",
        TypeRef::Json => "any JSON",
        TypeRef::Reference => "reference to a resource",
        TypeRef::WellKnownReference => "reference to a resource, or a well-known name",
        TypeRef::ArmIdKeyed => "list of user-assigned identities",
        TypeRef::Secret => "key of a Secret",
        TypeRef::SecretMap => "all keys of a Secret",
        TypeRef::ConfigMap(_) => "key of a ConfigMap",
        TypeRef::Common(CommonType::KnownResourceReference) => "owner",
        TypeRef::Common(CommonType::ArbitraryOwnerReference) => "owner of any kind",
        TypeRef::Common(CommonType::Condition) => "condition",
        TypeRef::Common(CommonType::DestinationExpression) => "export by CEL expression",
        TypeRef::Common(CommonType::SecretDestination) => "place in a Secret",
        TypeRef::Common(CommonType::ConfigMapDestination) => "place in a ConfigMap",
        TypeRef::Named(id) => match types.get(id) {
            Some(TypeDef::Enum(_)) => "enum",
            _ => "object",
        },
        TypeRef::List(_) | TypeRef::Map(_) => "collection",
    }
}

fn plural(words: &str) -> String {
    match words {
        "any JSON" => words.to_owned(),
        "key of a Secret" => "keys of Secrets".to_owned(),
        "reference to a resource" => "references to resources".to_owned(),
        "export by CEL expression" => "exports by CEL expression".to_owned(),
        _ => match words.split_once(" of ") {
            Some((head, tail)) => format!("{head}s of {tail}"),
            None => format!("{words}s"),
        },
    }
}

/// Constraints of a value, each a few words.
pub fn rule_words(rules: &Rules) -> Vec<String> {
    let mut words = Vec::new();
    if let Some(format) = &rules.format {
        words.push(format!("format `{format}`"));
    }
    words.extend(range(rules.min_length, rules.max_length, "character"));
    words.extend(range(rules.min_items, rules.max_items, "item"));
    match (rules.minimum, rules.maximum) {
        (Some(low), Some(high)) => words.push(format!("{low} to {high}")),
        (Some(low), None) => words.push(format!("at least {low}")),
        (None, Some(high)) => words.push(format!("at most {high}")),
        (None, None) => {}
    }
    if let Some(step) = rules.multiple_of {
        words.push(format!("multiple of {step}"));
    }
    if let Some(pattern) = &rules.pattern {
        words.push(format!("pattern `{}`", pattern.replace('`', "'")));
    }
    if let Some(slash) = &rules.slash {
        words.push(format!("`{slash}` for a slash"));
    }
    words
}

fn range(low: Option<u64>, high: Option<u64>, unit: &str) -> Option<String> {
    match (low, high) {
        (None, None) => None,
        (Some(low), Some(high)) if low == high => Some(format!("{low} {unit}s")),
        (Some(low), Some(high)) => Some(format!("{low} to {high} {unit}s")),
        (Some(low), None) => Some(format!("at least {low} {unit}s")),
        (None, Some(high)) => Some(format!("at most {high} {unit}s")),
    }
}

/// The type of a property, or what it is for where it has no place of its own in ARM's JSON.
fn what(property: &Property, owner: &ObjectType, types: &TypeTable) -> String {
    let purpose = match (&property.place, property.name.as_str()) {
        (ArmPlace::Operator, "azureName") => "name in Azure, by default that of the object",
        (ArmPlace::Operator, "azureNameFromConfig") => {
            "key of a ConfigMap with the name in Azure, in place of `azureName`"
        }
        (ArmPlace::Operator, "conditions") => "conditions, `Ready` first of all",
        (ArmPlace::Operator, "configMapExpressions") => "exports to ConfigMaps by CEL expression",
        (ArmPlace::Operator, "configMaps") => "ConfigMaps that the operator writes",
        (ArmPlace::Operator, "namingConvention") => {
            "how a UUID is made where `azureName` is absent: `stable` from names, which is the default, or `random`"
        }
        (ArmPlace::Operator, "operatorSpec") => "settings of the operator",
        (ArmPlace::Operator, "originalVersion") => "version of the manifest that was applied",
        (ArmPlace::Operator, "owner") => "resource that this one is part of",
        (ArmPlace::Operator, "secretExpressions") => "exports to Secrets by CEL expression",
        (ArmPlace::Operator, "secrets") => "Secrets that the operator writes",
        (ArmPlace::Variant, name) => return variant(name, owner),
        _ => return type_words(&property.ty, types),
    };
    purpose.to_owned()
}

/// When the variant is the one that counts.
fn variant(property: &str, owner: &ObjectType) -> String {
    let value = owner.discriminated.as_ref().and_then(|one_of| {
        let mut variants = one_of.variants.iter();
        let variant = variants.find(|variant| variant.property == property)?;
        Some(format!(" with `{}: {}`", one_of.property, variant.value))
    });
    format!("variant{}", value.unwrap_or_default())
}

/// The doc line of a property of `owner`: type, constraints, ARM path.
pub fn property(property: &Property, owner: &ObjectType, types: &TypeTable) -> String {
    let mut parts = vec![capitalised(&what(property, owner, types))];
    parts.extend(rule_words(&property.rules));
    let items = rule_words(&property.item_rules);
    parts.extend(items.into_iter().map(|words| format!("items: {words}")));
    for (is_set, words) in [
        (property.required, "required"),
        (property.read_only, "set by Azure"),
        (property.create_only, "settable on creation only"),
        (property.write_only, "never returned"),
        (property.free_text, "names no resource"),
        (property.stashed, "not in the storage version"),
    ] {
        if is_set {
            parts.push(words.to_owned());
        }
    }
    match property.meaning {
        Meaning::ArmId => parts.push("ARM id".to_owned()),
        Meaning::Location => parts.push("Azure location".to_owned()),
        Meaning::Plain => {}
    }
    let path = property.place.path();
    if !path.is_empty() {
        parts.push(format!("ARM `{}`", path.join(".")));
    }
    format!("{}.", parts.join("; "))
}

/// The doc line of an object type.
pub fn object(object: &ObjectType) -> String {
    let what = match &object.discriminated {
        Some(one_of) => format!(
            "Exactly one of the variants that ARM tells apart by `{}`,",
            one_of.property
        ),
        None if object.arm_resource => "Id of a resource".to_owned(),
        None if object.source.is_empty() => "Settings of the operator".to_owned(),
        None => "Object".to_owned(),
    };
    format!("{what}{}.", origin(&object.source))
}

/// The doc line of an enum type.
pub fn enumeration(definition: &EnumType) -> String {
    format!(
        "String with {}{}.",
        count(definition.values.len(), "known value"),
        origin(&definition.source)
    )
}

fn count(number: usize, what: &str) -> String {
    let ending = if number == 1 { "" } else { "s" };
    format!("{number} {what}{ending}")
}

/// Where a type was read from: the file's own name and the pointer in it.
fn origin(source: &str) -> String {
    if source.is_empty() {
        return String::new();
    }
    let (file, pointer) = source.split_once('#').unwrap_or((source, ""));
    let start = file.rfind('/').map_or(0, |slash| slash + 1);
    // Numbers of Bicep types change with every edition of their file, and tell a reader nothing.
    let is_number = pointer
        .trim_start_matches('/')
        .starts_with(|first: char| first.is_ascii_digit());
    let short = if pointer.is_empty() || is_number {
        &file[start..]
    } else {
        &source[start..]
    };
    // Names in specs may hold anything; a doc comment is one line.
    let line = short.replace(char::is_control, " ");
    format!(" from `{line}`")
}

fn capitalised(words: &str) -> String {
    let mut letters = words.chars();
    letters.next().map_or_else(String::new, |first| {
        first.to_uppercase().chain(letters).collect()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_property_in_one_line() {
        let types = TypeTable::new();
        let mut name = Property::new("name", &["properties", "name"], TypeRef::String);
        name.required = true;
        name.rules.min_length = Some(3);
        name.rules.max_length = Some(24);
        name.rules.pattern = Some("^[a-z]+$".to_owned());
        assert_eq!(
            property(&name, &ObjectType::default(), &types),
            "String; 3 to 24 characters; pattern `^[a-z]+$`; required; ARM `properties.name`."
        );
        let ids = Property::new("identities", &["ids"], TypeRef::ArmIdKeyed);
        assert_eq!(
            property(&ids, &ObjectType::default(), &types),
            "List of user-assigned identities; ARM `ids`."
        );
    }

    #[test]
    fn one_value_is_singular() {
        assert_eq!(count(1, "known value"), "1 known value");
        assert_eq!(count(2, "known value"), "2 known values");
    }
}
