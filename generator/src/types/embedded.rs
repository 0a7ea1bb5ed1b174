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
//! - it is defined in the file that describes the resource, or in one that describes none at all,
//! - it can be written: neither it nor anything around it is read-only.
//!
//! The id of such a part is not for users to set where it has a name, from which Azure makes the id.
//!
//! So the IP configurations of a private link service stay, the application-gateway configurations of a subnet
//! and all links that Azure sets become ids.
//! A definition of a Bicep version stands as its twin does in the OpenAPI version that it inherits from: only there is
//! it known which file defines what. The group's TOML can overrule both ways ([`Embedding`]).

use std::collections::{BTreeMap, BTreeSet};

use super::merge::merge;
use super::one_of::variants;
use crate::discover::{DiscoveredResource, item};
use crate::load::{Schema, Source};
use crate::overlay::Overlaid;

/// Choices about resource-like schemas, by name of the definition. A name with `Status` behind it is for that side
/// only.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Embedding {
    /// Definitions that stay whole inside resources of these ARM types, in lower case, or inside any if there is none.
    pub whole: BTreeMap<String, Vec<String>>,
    /// Definitions of which only the id stays, wherever they stand and [`Self::whole`] says nothing else.
    pub id_only: BTreeSet<String>,
    /// Members of [`ENVELOPE`] that the spec of a resource keeps, by ARM type in lower case.
    pub envelope: BTreeMap<String, BTreeSet<String>>,
    /// Resources in which nothing is flattened, by ARM type in lower case.
    pub unflattened: BTreeSet<String>,
}

/// Members of ARM's envelope that a spec does without: the operator makes them of name and owner.
pub const ENVELOPE: [&str; 3] = ["id", "name", "type"];

/// Why a part has no `id`: a part is told by its name, and Azure makes an id of that.
pub const NAMED_BY_AZURE: &str = "Azure makes it of the part's name";

/// Why a spec has none of [`ENVELOPE`].
pub const DERIVED: &str = "the operator makes it of name and owner";

/// Whether a member is the id of a resource.
pub(super) fn is_id(member: &str) -> bool {
    member.eq_ignore_ascii_case("id")
}

/// What becomes of a schema inside a resource.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Standing {
    /// It stays as it is.
    Whole,
    /// It would not, and the group's TOML says that it does.
    Kept,
    /// It stays, and looks like a resource: where it has a name, its id is Azure's.
    Part,
    /// Only its id stays.
    IdOnly,
    /// It would stay, and the group's TOML leaves only its id.
    Reduced,
}

/// The rule, ready to ask.
pub(super) struct Rule<'a> {
    set: Overlaid<'a>,
    made: BTreeSet<&'a Source>,
    /// Variants that stand for whole resources.
    variants: BTreeSet<&'a Source>,
    /// Files that describe resources.
    homes: BTreeSet<&'a str>,
    choices: &'a Embedding,
}

impl<'a> Rule<'a> {
    /// Prepares the rule for the resources of a set.
    pub fn new(
        set: Overlaid<'a>,
        discovered: &'a [DiscoveredResource<'a>],
        choices: &'a Embedding,
    ) -> Self {
        let homes = discovered
            .iter()
            .map(|resource| resource.home.as_ref())
            .collect();
        let roots = discovered
            .iter()
            .flat_map(|resource| resource.body.into_iter().chain([resource.item]))
            .map(|schema| set.resolve(schema));
        let made = roots
            .clone()
            .map(|root| set.said(root).identity())
            .collect();
        let variants = roots
            .filter(|root| merge(set, root).discriminator.is_some())
            .flat_map(|root| variants(set.loaded(), root))
            .map(|schema| &schema.source)
            .collect();
        Self {
            set,
            made,
            variants,
            homes,
            choices,
        }
    }

    /// Whether the spec of a resource does without a member because the operator makes it of name and owner.
    pub fn derives(&self, member: &str, resource: &DiscoveredResource<'_>) -> bool {
        let arm_type = resource.arm_type.to_lowercase();
        let kept = self.choices.envelope.get(&arm_type);
        ENVELOPE.contains(&member) && !kept.is_some_and(|kept| kept.contains(member))
    }

    /// Whether the group's TOML lets nothing in a resource be flattened.
    pub fn keeps_properties(&self, resource: &DiscoveredResource<'_>) -> bool {
        let arm_type = resource.arm_type.to_lowercase();
        self.choices.unflattened.contains(&arm_type)
    }

    /// Whether the group's TOML keeps members of ARM's envelope in the spec of a resource.
    pub fn keeps_envelope(&self, resource: &DiscoveredResource<'_>) -> bool {
        let arm_type = resource.arm_type.to_lowercase();
        self.choices.envelope.contains_key(&arm_type)
    }

    /// Whether a schema is a variant of a whole resource.
    pub fn is_variant_of_resource(&self, schema: &Schema) -> bool {
        self.variants.contains(&schema.source)
    }

    /// What becomes of `schema` inside `resource`. `read_only` tells whether it stands below something that Azure
    /// sets; `suffix` is that of the side's type names.
    pub fn standing(
        &self,
        schema: &Schema,
        resource: &DiscoveredResource<'_>,
        read_only: bool,
        suffix: &str,
    ) -> Standing {
        let schema = self.set.resolve(schema);
        let file = &self.set.said(schema).identity().file;
        let at_home = *file == resource.home || !self.homes.contains(file.as_ref());
        let by_itself = self.by_itself(schema, at_home && !read_only);
        let arm_type = resource.arm_type.to_lowercase();
        self.chosen(schema, suffix, by_itself, Some(&arm_type))
    }

    /// What becomes of `schema` inside a resource of its own file, below nothing that Azure sets.
    pub fn usual(&self, schema: &Schema, suffix: &str) -> Standing {
        let schema = self.set.resolve(schema);
        self.chosen(schema, suffix, self.by_itself(schema, true), None)
    }

    /// What the group's TOML makes of a standing, inside resources of an ARM type, or inside any.
    fn chosen(
        &self,
        schema: &Schema,
        suffix: &str,
        by_itself: Standing,
        arm_type: Option<&String>,
    ) -> Standing {
        let name = self.set.said(schema).definition_name();
        let sided = format!("{name}{suffix}");
        let names = [name, sided.as_str()];
        let is_reduced = names.iter().any(|it| self.choices.id_only.contains(*it))
            && merge(self.set, schema)
                .properties
                .keys()
                .any(|member| is_id(member));
        let mut whole = names
            .iter()
            .filter_map(|name| self.choices.whole.get(*name));
        let is_kept = whole.any(|it| it.is_empty() || arm_type.is_some_and(|own| it.contains(own)));
        match by_itself {
            Standing::Part | Standing::IdOnly if is_kept => Standing::Kept,
            Standing::Whole if is_kept && is_reduced => Standing::Kept,
            Standing::Part | Standing::Whole if is_reduced => Standing::Reduced,
            standing => standing,
        }
    }

    /// The name under which the group's TOML leaves only the id of a definition, if it does.
    pub fn reduced_as(&self, schema: &Schema, suffix: &str) -> Option<String> {
        let name = self.set.said(schema).definition_name();
        let names = [name.to_owned(), format!("{name}{suffix}")];
        let mut names = names.into_iter();
        names.find(|name| self.choices.id_only.contains(name))
    }

    /// What becomes of `schema` where the group's TOML says nothing. `can_be_part` tells whether it stands where parts
    /// do.
    fn by_itself(&self, schema: &Schema, can_be_part: bool) -> Standing {
        if !item::is_resource(self.set, schema) {
            Standing::Whole
        } else if can_be_part && !self.made.contains(self.set.said(schema).identity()) {
            Standing::Part
        } else {
            Standing::IdOnly
        }
    }
}
