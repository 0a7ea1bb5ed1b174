//! Structs with their shapes, and enums.

use proc_macro2::{Literal, TokenStream};
use quote::quote;

use super::facts;
use super::format::{FormatError, doc, ident, item};
use super::ident::{constant, distinct, snake, type_name};
use crate::model::{
    CommonType, EnumType, Meaning, ObjectType, Property, Rules, TypeDef, TypeName, TypeRef,
    TypeTable,
};

/// A type as formatted text: one or more items.
pub fn definition(
    name: &TypeName,
    definition: &TypeDef,
    types: &TypeTable,
) -> Result<String, FormatError> {
    match definition {
        TypeDef::Object(object) => structure(name, object, types),
        TypeDef::Enum(definition) => Ok(enumeration(name, definition)),
    }
}

/// Macro calls are not formatted by `prettyplease`, so an enum is written as text.
fn enumeration(name: &TypeName, definition: &EnumType) -> String {
    let values = definition.values.iter().map(String::as_str);
    let values = values.collect::<Vec<_>>();
    let mut text = format!(
        "string_enum! {{\n    /// {}\n    {} {{\n",
        facts::enumeration(definition),
        type_name(name)
    );
    for (constant, value) in distinct(&values, constant).iter().zip(&values) {
        text.push_str(&format!(
            "        {constant} = {},\n",
            Literal::string(value)
        ));
    }
    text.push_str("    }\n}\n");
    text
}

fn structure(
    name: &TypeName,
    object: &ObjectType,
    types: &TypeTable,
) -> Result<String, FormatError> {
    let text = type_name(name);
    let rust_name = ident(&text);
    let names = object.properties.iter().map(|p| p.name.as_str());
    let members = distinct(&names.collect::<Vec<_>>(), snake);
    let fields = object.properties.iter().zip(&members).map(|(p, member)| {
        let doc = doc(&facts::property(p, types));
        let (member, ty) = (ident(member), field_type(&p.ty, types));
        quote!(#doc pub #member: Option<#ty>)
    });
    let entries = object
        .properties
        .iter()
        .zip(&members)
        .map(|(p, member)| entry(&text, p, member));
    let doc = doc(&facts::object(object));
    let structure = quote! {
        #doc
        #[derive(Clone, Debug, Default, PartialEq)]
        pub struct #rust_name { #(#fields,)* }
    };
    let one_of = one_of(object);
    let shape = quote! {
        impl shape::Shaped for #rust_name {
            const SHAPE: &'static shape::StructShape = {
                static FIELDS: &[shape::FieldOf<#rust_name>] = &[#(#entries,)*];
                static SHAPE: shape::StructShape =
                    shape::StructShape::of::<#rust_name>(#text, FIELDS) #one_of;
                &SHAPE
            };
        }
    };
    Ok(format!(
        "{}\n{}",
        item(&text, structure)?,
        item(&text, shape)?
    ))
}

/// The Rust type of a field's value.
fn field_type(ty: &TypeRef, types: &TypeTable) -> TokenStream {
    let inner = item_type(ty);
    let is_struct = match ty {
        TypeRef::Named(name) => matches!(types.get(name), Some(TypeDef::Object(_))),
        TypeRef::Reference
        | TypeRef::WellKnownReference
        | TypeRef::Secret
        | TypeRef::SecretMap
        | TypeRef::ConfigMap(_)
        | TypeRef::Common(_) => true,
        _ => false,
    };
    if is_struct {
        quote!(Box<#inner>)
    } else {
        inner
    }
}

/// The Rust type of an item of a list or map.
fn item_type(ty: &TypeRef) -> TokenStream {
    match ty {
        TypeRef::Bool => quote!(bool),
        TypeRef::Integer(_) => quote!(i64),
        TypeRef::Number => quote!(f64),
        TypeRef::String => quote!(String),
        TypeRef::Json => quote!(shape::Json),
        TypeRef::Named(name) => {
            let name = ident(&type_name(name));
            quote!(#name)
        }
        TypeRef::List(item) => {
            let item = item_type(item);
            quote!(Vec<#item>)
        }
        TypeRef::Map(item) => {
            let item = item_type(item);
            quote!(BTreeMap<String, #item>)
        }
        TypeRef::Reference => quote!(resource::ResourceReference),
        TypeRef::WellKnownReference => quote!(resource::WellKnownResourceReference),
        TypeRef::ArmIdKeyed => quote!(Vec<resource::UserAssignedIdentityDetails>),
        TypeRef::Secret => quote!(resource::SecretReference),
        TypeRef::SecretMap => quote!(resource::SecretMapReference),
        TypeRef::ConfigMap(_) => quote!(resource::ConfigMapReference),
        TypeRef::Common(common) => common_type(*common),
    }
}

fn common_type(common: CommonType) -> TokenStream {
    match common {
        CommonType::KnownResourceReference => quote!(resource::KnownResourceReference),
        CommonType::ArbitraryOwnerReference => quote!(resource::ArbitraryOwnerReference),
        CommonType::Condition => quote!(resource::Condition),
        CommonType::DestinationExpression => quote!(resource::DestinationExpression),
        CommonType::SecretDestination => quote!(resource::SecretDestination),
        CommonType::ConfigMapDestination => quote!(resource::ConfigMapDestination),
    }
}

/// The shape's entry for a property.
fn entry(owner: &str, property: &Property, member: &str) -> TokenStream {
    let (owner, member, name) = (ident(owner), ident(member), &property.name);
    let mut tokens = quote!(field!(#owner, #member, #name));
    if !property.arm.is_empty() {
        let path = &property.arm;
        tokens.extend(quote!(.at(&[#(#path),*])));
    } else if property.meaning != Meaning::Operator {
        tokens.extend(quote!(.inline()));
    }
    if let TypeRef::Integer(Some(format)) = &property.ty {
        match format.as_str() {
            "int32" => tokens.extend(quote!(.integer(shape::IntegerFormat::Int32))),
            "int64" => tokens.extend(quote!(.integer(shape::IntegerFormat::Int64))),
            _ => {}
        }
    }
    if property.required {
        tokens.extend(quote!(.required()));
    }
    for flag in flags(property) {
        let flag = ident(flag);
        tokens.extend(quote!(.flags(shape::Flags::#flag)));
    }
    if let Some(rules) = rules(&property.rules) {
        tokens.extend(quote!(.rules(&#rules)));
    }
    if let Some(rules) = rules(&property.item_rules) {
        tokens.extend(quote!(.item_rules(&#rules)));
    }
    if !property.identifiers.is_empty() {
        let names = &property.identifiers;
        tokens.extend(quote!(.identifiers(&[#(#names),*])));
    }
    tokens
}

fn flags(property: &Property) -> Vec<&'static str> {
    let is_reference = matches!(
        property.ty,
        TypeRef::Reference | TypeRef::WellKnownReference
    );
    [
        (property.read_only, "READ_ONLY"),
        (property.write_only, "WRITE_ONLY"),
        (property.create_only, "CREATE_ONLY"),
        (property.secret, "SECRET"),
        (property.meaning == Meaning::ArmId || is_reference, "ARM_ID"),
        (property.meaning == Meaning::Location, "LOCATION"),
        (property.explicit, "EXPLICIT"),
        (property.stashed, "STASHED"),
    ]
    .into_iter()
    .filter_map(|(is_set, flag)| is_set.then_some(flag))
    .collect()
}

/// `Rules { … }`, or nothing when there is no constraint.
pub(super) fn rules(rules: &Rules) -> Option<TokenStream> {
    if *rules == Rules::default() {
        return None;
    }
    let mut members = Vec::new();
    for (name, value) in [("format", &rules.format), ("pattern", &rules.pattern)] {
        if let Some(value) = value {
            let name = ident(name);
            members.push(quote!(#name: Some(#value)));
        }
    }
    for (name, value) in [
        ("min_length", rules.min_length),
        ("max_length", rules.max_length),
        ("min_items", rules.min_items),
        ("max_items", rules.max_items),
    ] {
        if let Some(value) = value {
            let (name, value) = (ident(name), Literal::u64_unsuffixed(value));
            members.push(quote!(#name: Some(#value)));
        }
    }
    for (name, value) in [
        ("minimum", rules.minimum),
        ("maximum", rules.maximum),
        ("multiple_of", rules.multiple_of),
    ] {
        if let Some(value) = value {
            let sign = value.is_sign_negative().then(|| quote!(-));
            let (name, value) = (ident(name), Literal::f64_unsuffixed(value.abs()));
            members.push(quote!(#name: Some(#sign #value)));
        }
    }
    Some(quote!(shape::Rules { #(#members,)* ..shape::Rules::NONE }))
}

/// `.one_of(…)` of a struct whose fields are variants, in the order of its fields.
fn one_of(object: &ObjectType) -> Option<TokenStream> {
    let one_of = object.discriminated.as_ref()?;
    let discriminator = &one_of.property;
    let variants = object.properties.iter().filter_map(|property| {
        let mut variants = one_of.variants.iter();
        let variant = variants.find(|variant| variant.property == property.name)?;
        let (value, field) = (&variant.value, &variant.property);
        Some(quote!(shape::Variant { value: #value, field: #field }))
    });
    Some(quote! {
        .one_of(shape::OneOf { discriminator: #discriminator, variants: &[#(#variants),*] })
    })
}
