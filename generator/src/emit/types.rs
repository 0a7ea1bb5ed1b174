//! Structs with their shapes, and enums: calls of the macros `shaped!` and `string_enum!` of the runtime.

use proc_macro2::Literal;

use super::facts;
use super::format::WIDTH;
use super::uses::{SHAPES, Uses};
use crate::model::{
    Absent, ArmPlace, CommonType, EnumType, Meaning, MissingType, ObjectType, Property, Rules,
    TypeDef, TypeId, TypeName, TypeRef, TypeTable,
};
use crate::naming::{constant, distinct, pascal, snake};

/// Steps of indentation: of the macro's item, of its members, of what belongs to a member.
const ITEM: &str = "    ";
const MEMBER: &str = "        ";
const CALL: &str = "            ";

/// Where a type is written.
#[derive(Clone, Copy)]
pub struct Scope<'a> {
    /// The types of its members.
    pub types: &'a TypeTable,
    /// Imports of the place.
    pub uses: &'a Uses,
    /// How the place names a type.
    pub named: &'a dyn Fn(&TypeId) -> Result<String, MissingType>,
}

/// A type as text, and what it takes from elsewhere.
pub fn definition(
    name: &TypeName,
    definition: &TypeDef,
    scope: Scope<'_>,
) -> Result<String, MissingType> {
    match definition {
        TypeDef::Object(object) => structure(name, object, scope),
        TypeDef::Enum(definition) => Ok(enumeration(name, definition, scope.uses)),
    }
}

fn enumeration(name: &TypeName, definition: &EnumType, uses: &Uses) -> String {
    uses.add(SHAPES, "string_enum");
    let values = definition.values.iter().map(String::as_str);
    let values = values.collect::<Vec<_>>();
    let closed = if definition.extensible { "" } else { " closed" };
    let mut text = format!(
        "string_enum! {{\n{ITEM}/// {}\n{ITEM}{name}{closed} {{\n",
        facts::enumeration(definition),
    );
    for (constant, value) in distinct(&values, constant).iter().zip(&values) {
        text.push_str(&format!("{MEMBER}{constant} = {},\n", quoted(value)));
    }
    text.push_str("    }\n}\n");
    text
}

fn structure(
    name: &TypeName,
    object: &ObjectType,
    scope: Scope<'_>,
) -> Result<String, MissingType> {
    scope.uses.add(SHAPES, "shaped");
    let names = object.properties.iter().map(|p| p.name.as_str());
    let members = distinct(&names.collect::<Vec<_>>(), snake);
    let fields = object.properties.iter().zip(&members);
    let fields = fields.map(|(property, member)| {
        let doc = facts::property(property, object, scope.types);
        let field = field(property, member, scope)?;
        Ok(format!("{MEMBER}/// {doc}\n{field}"))
    });
    let fields = fields.collect::<Result<String, MissingType>>()?;
    Ok(format!(
        "shaped! {{\n{ITEM}/// {}\n{ITEM}{}{}{} {{\n{}{ITEM}}}\n}}\n",
        facts::object(object),
        name,
        one_of(object, scope.uses),
        descriptions(object),
        fields
    ))
}

/// One field: `member: Type = "jsonName"` and what is to be said of it, on one line if it fits, else what is said on one.
fn field(property: &Property, member: &str, scope: Scope<'_>) -> Result<String, MissingType> {
    let ty = field_type(&property.ty, scope)?;
    let start = format!("{MEMBER}{member}: {ty} =");
    let name = quoted(&property.name);
    let calls = calls(property, scope.uses);
    let line = format!("{start} {name}{};\n", calls.concat());
    if line.chars().count() <= WIDTH + 1 && line.matches('\n').count() == 1 {
        return Ok(line);
    }
    let gap = if start.len() + " ".len() + name.len() <= WIDTH {
        " ".to_owned()
    } else {
        format!("\n{CALL}")
    };
    let together = format!("{CALL}{};", calls.concat());
    let is_short = together.chars().count() <= WIDTH + 1 && !together.contains('\n');
    let calls = match &calls[..] {
        [_, _, ..] if is_short => format!("\n{CALL}{}", calls.concat()),
        calls => calls.iter().map(|call| format!("\n{CALL}{call}")).collect(),
    };
    Ok(format!("{start}{gap}{name}{calls};\n"))
}

/// The Rust type of a field's value.
fn field_type(ty: &TypeRef, scope: Scope<'_>) -> Result<String, MissingType> {
    let inner = item_type(ty, scope)?;
    let is_struct = match ty {
        TypeRef::Named(id) => matches!(scope.types.get(id), Some(TypeDef::Object(_))),
        TypeRef::Reference
        | TypeRef::WellKnownReference
        | TypeRef::Secret
        | TypeRef::SecretMap
        | TypeRef::ConfigMap(_)
        | TypeRef::Common(_) => true,
        _ => false,
    };
    Ok(if is_struct {
        format!("Box<{inner}>")
    } else {
        inner
    })
}

/// The Rust type of an item of a list or map.
fn item_type(ty: &TypeRef, scope: Scope<'_>) -> Result<String, MissingType> {
    let uses = scope.uses;
    Ok(match ty {
        TypeRef::Named(id) => (scope.named)(id)?,
        TypeRef::List(item) => format!("Vec<{}>", item_type(item, scope)?),
        TypeRef::Map(item) => {
            uses.add("std::collections", "BTreeMap");
            format!("BTreeMap<String, {}>", item_type(item, scope)?)
        }
        TypeRef::Bool => "bool".to_owned(),
        TypeRef::Integer(_) => "i64".to_owned(),
        TypeRef::Number => "f64".to_owned(),
        TypeRef::String => "String".to_owned(),
        TypeRef::Json => shape("Json", uses),
        TypeRef::Reference => resource("ResourceReference", uses),
        TypeRef::WellKnownReference => resource("WellKnownResourceReference", uses),
        TypeRef::ArmIdKeyed => format!("Vec<{}>", resource("UserAssignedIdentityDetails", uses)),
        TypeRef::Secret => resource("SecretReference", uses),
        TypeRef::SecretMap => resource("SecretMapReference", uses),
        TypeRef::ConfigMap(_) => resource("ConfigMapReference", uses),
        TypeRef::Common(common) => resource(common_type(*common), uses),
    })
}

fn common_type(common: CommonType) -> &'static str {
    match common {
        CommonType::KnownResourceReference => "KnownResourceReference",
        CommonType::ArbitraryOwnerReference => "ArbitraryOwnerReference",
        CommonType::Condition => "Condition",
        CommonType::DestinationExpression => "DestinationExpression",
        CommonType::SecretDestination => "SecretDestination",
        CommonType::ConfigMapDestination => "ConfigMapDestination",
    }
}

/// A name of the module `shape`.
fn shape(name: &str, uses: &Uses) -> String {
    uses.add(SHAPES, "shape");
    format!("shape::{name}")
}

/// A name of the module `resource`.
fn resource(name: &str, uses: &Uses) -> String {
    uses.add(SHAPES, "resource");
    format!("resource::{name}")
}

/// What is said of a field beyond name and type: calls of builder methods.
fn calls(property: &Property, uses: &Uses) -> Vec<String> {
    let mut calls = Vec::new();
    match &property.place {
        ArmPlace::Operator => {}
        ArmPlace::At(path) => calls.push(format!(".at(&[{}])", list(path))),
        ArmPlace::Variant => calls.push(".variant()".to_owned()),
        ArmPlace::Further(path) => calls.push(format!(".further(&[{}])", list(path))),
    }
    let width = integer(property);
    if let Some((width, has_format)) = width {
        if has_format {
            calls.push(format!(".{width}()"));
        } else {
            let format = shape("IntegerFormat", uses);
            calls.push(format!(".integer({format}::{})", pascal(width)));
        }
    }
    calls.extend(flags(property).map(|flag| format!(".{flag}()")));
    let is_said = width.is_some_and(|(_, has_format)| has_format)
        && property.rules
            == Rules {
                format: property.rules.format.clone(),
                ..Rules::default()
            };
    if !is_said {
        calls.extend(rules_call("rules", &property.rules, uses));
    }
    calls.extend(rules_call("item_rules", &property.item_rules, uses));
    if !property.identifiers.is_empty() {
        calls.push(format!(".identifiers(&[{}])", list(&property.identifiers)));
    }
    calls
}

/// The width of an integer, and whether the constraints name it, too, as those of Azure's specs do.
fn integer(property: &Property) -> Option<(&'static str, bool)> {
    let TypeRef::Integer(Some(format)) = &property.ty else {
        return None;
    };
    let width = ["int32", "int64"].into_iter().find(|it| it == format)?;
    Some((width, property.rules.format.as_deref() == Some(width)))
}

fn flags(property: &Property) -> impl Iterator<Item = &'static str> {
    let is_reference = matches!(
        property.ty,
        TypeRef::Reference | TypeRef::WellKnownReference
    );
    [
        (property.required, "required"),
        (property.read_only, "read_only"),
        (property.write_only, "write_only"),
        (property.free_text, "free_text"),
        (property.create_only, "create_only"),
        (property.secret, "secret"),
        (property.meaning == Meaning::ArmId || is_reference, "arm_id"),
        (property.meaning == Meaning::Location, "location"),
        (property.absent == Absent::Null, "explicit"),
        (property.absent == Absent::Empty, "explicit_empty"),
        (property.stashed, "stashed"),
    ]
    .into_iter()
    .filter_map(|(is_set, flag)| is_set.then_some(flag))
}

/// `.rules(&shape::Rules { … })`, a constraint on each line where one line is too short; nothing without constraints.
fn rules_call(method: &str, rules: &Rules, uses: &Uses) -> Option<String> {
    let literal = rules_literal(rules)?;
    uses.add(SHAPES, "shape");
    let line = format!(".{method}(&{literal})");
    if CALL.len() + line.chars().count() <= WIDTH {
        return Some(line);
    }
    let members = rule_members(rules).into_iter();
    let members = members.map(|member| format!("{CALL}{ITEM}{member},\n"));
    Some(format!(
        ".{method}(&shape::Rules {{\n{}{CALL}{ITEM}..shape::Rules::NONE\n{CALL}}})",
        members.collect::<String>()
    ))
}

/// `shape::Rules { … }`, or nothing when there is no constraint.
pub(super) fn rules_literal(rules: &Rules) -> Option<String> {
    let members = rule_members(rules);
    (!members.is_empty()).then(|| {
        format!(
            "shape::Rules {{ {}, ..shape::Rules::NONE }}",
            members.join(", ")
        )
    })
}

/// Members of a `Rules` literal: `min_length: Some(3)`.
fn rule_members(rules: &Rules) -> Vec<String> {
    let texts = [
        ("format", &rules.format),
        ("pattern", &rules.pattern),
        ("slash", &rules.slash),
    ];
    let counts = [
        ("min_length", rules.min_length),
        ("max_length", rules.max_length),
        ("min_items", rules.min_items),
        ("max_items", rules.max_items),
    ];
    let numbers = [
        ("minimum", rules.minimum),
        ("maximum", rules.maximum),
        ("multiple_of", rules.multiple_of),
    ];
    let texts = texts
        .into_iter()
        .filter_map(|(name, value)| Some((name, quoted(value.as_ref()?))));
    let counts = counts
        .into_iter()
        .filter_map(|(name, value)| Some((name, value?.to_string())));
    let numbers = numbers
        .into_iter()
        .filter_map(|(name, value)| Some((name, number(value?))));
    texts
        .chain(counts)
        .chain(numbers)
        .map(|(name, value)| format!("{name}: Some({value})"))
        .collect()
}

/// A number as a literal with a fraction.
fn number(value: f64) -> String {
    let sign = if value.is_sign_negative() { "-" } else { "" };
    format!("{sign}{}", Literal::f64_unsuffixed(value.abs()))
}

/// `.one_of(…)` of a struct whose fields are variants, in the order of its fields.
fn one_of(object: &ObjectType, uses: &Uses) -> String {
    let Some(one_of) = &object.discriminated else {
        return String::new();
    };
    uses.add(SHAPES, "shape");
    let variants = object.properties.iter().filter_map(|property| {
        let mut variants = one_of.variants.iter();
        let variant = variants.find(|variant| variant.property == property.name)?;
        let (value, field) = (quoted(&variant.value), quoted(&variant.property));
        Some(format!(
            "{CALL}shape::Variant {{ value: {value}, field: {field} }},\n"
        ))
    });
    format!(
        ".one_of(shape::OneOf {{\n{MEMBER}discriminator: {},\n{MEMBER}variants: &[\n{}{MEMBER}],\n{ITEM}}})",
        quoted(&one_of.property),
        variants.collect::<String>()
    )
}

/// `.described(…)` with the spec's own text, where the model still has it.
fn descriptions(object: &ObjectType) -> String {
    let own = [("", &object.description)].into_iter();
    let texts = own
        .chain(
            object
                .properties
                .iter()
                .map(|property| (property.name.as_str(), &property.description)),
        )
        .filter_map(|(name, text)| {
            let words = text.as_ref()?.split_whitespace().collect::<Vec<_>>();
            let text = words.join(" ");
            let line = format!("{MEMBER}({}, {}),\n", quoted(name), quoted(&text));
            (!text.is_empty()).then_some(line)
        });
    let texts = texts.collect::<String>();
    if texts.is_empty() {
        texts
    } else {
        format!(".described(&[\n{texts}{ITEM}])")
    }
}

fn list(texts: &[String]) -> String {
    let texts = texts.iter().map(|text| quoted(text));
    texts.collect::<Vec<_>>().join(", ")
}

/// A text as a Rust literal.
fn quoted(text: &str) -> String {
    Literal::string(text).to_string()
}
