//! Which schemas are the variants of another, and what tells each.

use crate::load::{Schema, SpecSet};
use crate::overlay::Said;

/// Schemas that stand for one variant each of `base`, nearest first: all that include it, directly or not.
/// A variant with a discriminator of its own is one variant here and tells its own ones apart inside.
pub(crate) fn variants<'a>(set: &'a SpecSet, base: &'a Schema) -> Vec<&'a Schema> {
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

/// Value of the discriminator that means a schema: what the spec says, else the definition's name.
pub(crate) fn value(said: Said<'_>) -> String {
    let told = said.schema().discriminator_value.clone();
    told.unwrap_or_else(|| said.definition_name().to_owned())
}
