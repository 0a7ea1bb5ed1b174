//! Resources within resources.
//!
//! Azure's specs often type a property as a whole resource where only its id counts: the subnet of a private
//! endpoint is a `Subnet` with all its properties. Sent as such it would let one object own what belongs to
//! another, so only the id stays (ASO behaviour §4.2 step 17).
//!
//! The rule, found from the shapes that ASO publishes. A schema that looks like a resource (see
//! [`crate::discover::item::is_resource`]) and stands inside a resource keeps only its `id`, unless it is a part
//! that has no life of its own. It is such a part if all of this holds:
//! - no path of the set makes it (none has it as body or answer of PUT),
//! - it is defined in the file that describes the resource,
//! - it can be written: neither it nor anything around it is read-only.
//!
//! So the IP configurations of a private link service stay, the application-gateway configurations of a subnet
//! and all links that Azure sets become ids. The group's TOML can overrule both ways ([`Embedding`]).

use std::collections::{BTreeMap, BTreeSet};

use crate::discover::{DiscoveredResource, item};
use crate::load::{Schema, Source, SpecSet};

/// Choices about resource-like schemas, by name of the definition.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Embedding {
    /// Definitions that stay whole inside the kinds named, or inside any if none is.
    pub whole: BTreeMap<String, Vec<String>>,
    /// Definitions of which only the id stays, wherever they stand.
    pub id_only: BTreeSet<String>,
}

/// The rule, ready to ask.
pub(super) struct Rule<'a> {
    set: &'a SpecSet,
    made: BTreeSet<&'a Source>,
    choices: &'a Embedding,
}

impl<'a> Rule<'a> {
    /// Prepares the rule for the resources of a set.
    pub fn new(
        set: &'a SpecSet,
        discovered: &[DiscoveredResource<'a>],
        choices: &'a Embedding,
    ) -> Self {
        let made = discovered
            .iter()
            .flat_map(|resource| resource.body.into_iter().chain([resource.item]))
            .map(|schema| &set.resolve(schema).source)
            .collect();
        Self { set, made, choices }
    }

    /// Whether only the id of `schema` stays inside `resource`. `read_only` tells whether it stands below
    /// something that Azure sets.
    pub fn only_id(
        &self,
        schema: &Schema,
        resource: &DiscoveredResource<'_>,
        read_only: bool,
    ) -> bool {
        let schema = self.set.resolve(schema);
        let name = super::variants::definition_name(schema);
        if self.choices.id_only.contains(name) {
            return true;
        }
        if let Some(kinds) = self.choices.whole.get(name)
            && (kinds.is_empty() || kinds.contains(&resource.kind))
        {
            return false;
        }
        if !item::is_resource(self.set, schema) {
            return false;
        }
        let own_part = !self.made.contains(&schema.source)
            && schema.source.file == resource.source.file
            && !read_only;
        !own_part
    }
}
