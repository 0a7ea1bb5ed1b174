//! Variants of a schema with a discriminator.

use crate::load::{Schema, SpecSet};

/// Schemas that stand for one variant each of `base`, nearest first: all that include it, directly or not.
/// A variant with a discriminator of its own is one variant here and tells its own ones apart inside.
pub(super) fn variants<'a>(set: &'a SpecSet, base: &'a Schema) -> Vec<&'a Schema> {
    let mut found: Vec<&Schema> = Vec::new();
    let mut waiting: Vec<&Schema> = set.derived(&base.source).collect();
    waiting.reverse();
    while let Some(schema) = waiting.pop() {
        if schema.source == base.source || found.iter().any(|known| known.source == schema.source) {
            continue;
        }
        found.push(schema);
        if schema.discriminator.is_none() {
            let mut further: Vec<&Schema> = set.derived(&schema.source).collect();
            further.reverse();
            waiting.extend(further);
        }
    }
    found
}

/// Value of the discriminator that means `schema`: what the spec says, else the definition's name.
pub(super) fn value(schema: &Schema) -> String {
    schema
        .discriminator_value
        .clone()
        .unwrap_or_else(|| definition_name(schema).to_owned())
}

/// Last part of a schema's pointer.
pub(super) fn definition_name(schema: &Schema) -> &str {
    schema.source.pointer.rsplit('/').next().unwrap_or_default()
}
