//! Envelopes of resources that no spec tells about.

use std::collections::HashSet;

use super::pair::Paired;
use crate::load::{Additional, Schema, Source, SpecSet};
use crate::types::merge::merge;
use crate::types::one_of::variants;

/// Member that ARM's common envelope is.
const ENVELOPE: &str = "properties";

/// Flattens the envelope of a resource, and those of the parts in it: they have one beside an id or a name, as the
/// resource itself. What a spec tells of another resource with the same part goes before.
pub(super) fn flatten<'a>(set: &'a SpecSet, root: &'a Schema, paired: &mut Paired<'a>) {
    let root = set.resolve(root);
    if let Some(envelope) = root.properties.get(ENVELOPE) {
        paired.facts(envelope).flatten = true;
    }
    let mut seen = HashSet::<&'a Source>::new();
    let mut waiting = vec![root];
    while let Some(schema) = waiting.pop() {
        let merged = merge(set.into(), schema);
        if !seen.insert(&merged.schema.source) {
            continue;
        }
        let is_part = ["id", "name"]
            .iter()
            .any(|it| merged.properties.contains_key(it));
        if let Some(envelope) = merged.properties.get(ENVELOPE)
            && is_part
            && !paired.is_told(envelope)
            && !merge(set.into(), envelope).properties.is_empty()
        {
            paired.facts(envelope).flatten = true;
        }
        waiting.extend(merged.properties.values());
        waiting.extend(merged.value.items.as_deref());
        if let Additional::Of(item) = merged.additional {
            waiting.push(item);
        }
        if merged.schema.discriminator.is_some() {
            waiting.extend(variants(set, merged.schema));
        }
    }
}
