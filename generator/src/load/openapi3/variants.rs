//! Variants as OpenAPI 3.0 names them.
//!
//! Swagger 2.0 knows a variant by what it includes (`allOf`), and its value by an extension on the variant. OpenAPI 3
//! can say both at the base: `discriminator.mapping` gives values, `oneOf` or `anyOf` lists variants. Both are moved to
//! the variant, which must be in the same file.

use indexmap::IndexMap;
use openapiv3::{ReferenceOr, Schema as OpenApiSchema};

use super::{inside, invalid};
use crate::load::schema::Lowering;
use crate::load::{LoadError, Schema, Source, Target};

/// What one discriminator says of its variants.
pub(super) struct Variants {
    /// The schema that has the discriminator.
    base: Source,
    /// Value → reference to, or name of, the schema it means.
    mapping: IndexMap<String, String>,
    /// References to the schemas that the base can be.
    members: Vec<String>,
}

impl Variants {
    pub fn new(
        base: &Source,
        mapping: IndexMap<String, String>,
        members: Vec<ReferenceOr<OpenApiSchema>>,
    ) -> Self {
        let reference = |member| match member {
            ReferenceOr::Reference { reference } => Some(reference),
            // A schema without a name cannot be told from others.
            ReferenceOr::Item(_) => None,
        };
        Self {
            base: base.clone(),
            mapping,
            members: members.into_iter().filter_map(reference).collect(),
        }
    }

    /// Moves what the base says to the variants.
    pub fn apply(
        self,
        lowering: &mut Lowering,
        schemas: &mut IndexMap<String, Schema>,
    ) -> Result<(), LoadError> {
        let at = inside(&inside(&self.base, "discriminator"), "mapping");
        for (value, text) in self.mapping {
            let is_name = !text.contains(['#', '/']);
            let text = if is_name {
                format!("#/components/schemas/{text}")
            } else {
                text
            };
            let target = same_file(lowering, &text, &inside(&at, &value))?;
            if let Some(variant) = schemas.get_mut(&target.pointer) {
                variant.discriminator_value.get_or_insert(value);
            }
        }
        for text in self.members {
            let target = same_file(lowering, &text, &self.base)?;
            if includes(schemas, &target, &self.base, 0) {
                continue;
            }
            if let Some(variant) = schemas.get_mut(&target.pointer) {
                variant.all_of.push(Schema {
                    reference: Some(self.base.clone()),
                    ..Schema::empty(self.base.clone())
                });
            }
        }
        Ok(())
    }
}

fn same_file(lowering: &mut Lowering, text: &str, from: &Source) -> Result<Target, LoadError> {
    let target = lowering.reference(text, from)?;
    if target.file == from.file {
        return Ok(target);
    }
    Err(invalid(
        from.clone(),
        format!("variant `{text}` is in another file than its base; move it beside the base"),
    ))
}

/// Whether `schema` includes `base`, directly or not. A cycle is found later and has an error of its own.
fn includes(
    schemas: &IndexMap<String, Schema>,
    schema: &Source,
    base: &Source,
    depth: usize,
) -> bool {
    if schema == base || depth > schemas.len() {
        return true;
    }
    let Some(schema) = schemas.get(&schema.pointer) else {
        return false;
    };
    schema
        .all_of
        .iter()
        .filter_map(|part| part.reference.as_ref())
        .any(|part| includes(schemas, part, base, depth + 1))
}
