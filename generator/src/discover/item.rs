//! What makes a schema an ARM resource.

use crate::load::{Schema, SchemaType};
use crate::overlay::Overlaid;

/// Whether a schema says of itself or of anything in its `allOf` that it is a resource (`x-ms-azure-resource`),
/// or has `id`, `name` and `type` as strings (ASO behaviour §4.1).
pub fn is_resource(set: Overlaid<'_>, schema: &Schema) -> bool {
    let mut members = [false; 3];
    says_so(set, schema, &mut members) || members == [true; 3]
}

fn says_so(set: Overlaid<'_>, schema: &Schema, members: &mut [bool; 3]) -> bool {
    let schema = set.resolve(schema);
    if set.said(schema).azure_resource() {
        return true;
    }
    for (index, name) in ["id", "name", "type"].into_iter().enumerate() {
        let text = schema
            .properties
            .get(name)
            .map(|property| set.said(set.resolve(property)))
            .is_some_and(|property| property.ty() == Some(&SchemaType::String));
        members[index] |= text;
    }
    schema.all_of.iter().any(|part| says_so(set, part, members))
}
