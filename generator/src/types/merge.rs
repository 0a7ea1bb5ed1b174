//! A schema and everything in its `allOf` as one.

use std::collections::BTreeSet;

use indexmap::IndexMap;

use crate::load::{Additional, Schema, SchemaType};
use crate::overlay::Overlaid;

/// What a schema says with all that it includes. Own properties win over included ones of the same name.
pub(crate) struct Merged<'a> {
    /// The schema behind all references.
    pub schema: &'a Schema,
    /// Included properties first, in order.
    pub properties: IndexMap<&'a str, &'a Schema>,
    /// Names of required properties.
    pub required: BTreeSet<&'a str>,
    /// Schema of further members, where any part gives one.
    pub additional: &'a Additional,
    /// Declared type, own before included.
    pub ty: Option<&'a SchemaType>,
    /// Name of the property that tells variants apart, own or included.
    pub discriminator: Option<&'a str>,
    /// Where values, items and constraints come from: the schema itself, or the part that has a type.
    pub value: &'a Schema,
}

/// Merges. `load` has made sure that no `allOf` leads back to itself.
pub(crate) fn merge<'a>(set: Overlaid<'a>, schema: &'a Schema) -> Merged<'a> {
    let schema = set.resolve(schema);
    let mut merged = Merged {
        schema,
        properties: IndexMap::new(),
        required: BTreeSet::new(),
        additional: &schema.additional,
        ty: None,
        discriminator: None,
        value: schema,
    };
    add(set, schema, &mut merged);
    merged
}

fn add<'a>(set: Overlaid<'a>, schema: &'a Schema, merged: &mut Merged<'a>) {
    for part in &schema.all_of {
        add(set, set.resolve(part), merged);
    }
    for (name, property) in &schema.properties {
        merged.properties.insert(name, property);
    }
    merged
        .required
        .extend(schema.required.iter().map(String::as_str));
    if schema.additional != Additional::Unsaid {
        merged.additional = &schema.additional;
    }
    if let Some(ty) = set.said(schema).ty() {
        merged.ty = Some(ty);
        if *ty != SchemaType::Object || set.said(merged.value).ty().is_none() {
            merged.value = schema;
        }
    }
    if schema.discriminator.is_some() {
        merged.discriminator = schema.discriminator.as_deref();
    }
}
