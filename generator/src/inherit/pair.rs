//! Schemas of two sources side by side, from a resource's body down: what one says and the other cannot.

use std::collections::{BTreeMap, HashSet};

use crate::discover::item::is_resource;
use crate::load::{Additional, Schema, SchemaType, Source, SpecSet};
use crate::model::{ApiVersion, Rules};
use crate::types::merge::merge;
use crate::types::one_of::{value, variants};

/// What OpenAPI says of a schema at its place.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Facts {
    pub flatten: bool,
    secret: bool,
    sent: bool,
    written: bool,
    answered: bool,
    free_object: bool,
    fraction: bool,
    format: Option<String>,
    /// Of a string with known values, of which Bicep only says the values.
    enum_rules: Option<Rules>,
    multiple_of: Option<f64>,
    mutability: Vec<String>,
    identifiers: Vec<String>,
    variant_name: Option<String>,
    /// The same definition there; the first one met counts.
    origin: Option<Source>,
    /// That definition is an ARM resource.
    azure_resource: bool,
    /// The api-version that told it; the first one met counts.
    pub from: Option<ApiVersion>,
}

impl Facts {
    /// Adds the facts to a schema that does not say the same things itself.
    pub fn apply(&self, schema: &mut Schema) {
        schema.flatten |= self.flatten;
        schema.secret |= self.secret;
        schema.azure_resource |= self.azure_resource;
        schema.origin = schema.origin.take().or_else(|| self.origin.clone());
        schema.write_only &= !self.answered;
        schema.read_only &= !self.written;
        if schema.mutability.is_empty() {
            schema.mutability.clone_from(&self.mutability);
        }
        if schema.identifiers.is_empty() {
            schema.identifiers.clone_from(&self.identifiers);
        }
        if self.variant_name.is_some() {
            schema.name.clone_from(&self.variant_name);
        }
        if schema.reference.is_none() {
            if self.fraction && schema.ty == Some(SchemaType::Integer) {
                schema.ty = Some(SchemaType::Number);
            }
            if self.free_object && schema.ty.is_none() {
                schema.ty = Some(SchemaType::Object);
            }
            if let Some(rules) = &self.enum_rules
                && !schema.values.is_empty()
                && schema.rules == Rules::default()
            {
                schema.rules = rules.clone();
            }
            let rules = &mut schema.rules;
            rules.format = rules.format.take().or_else(|| self.format.clone());
            rules.multiple_of = rules.multiple_of.or(self.multiple_of);
        }
    }

    /// Adds what a schema says at its place and behind its references; the first word counts.
    fn learn(&mut self, set: &SpecSet, theirs: &Schema, answer: bool) {
        let mut current = Some(theirs);
        while let Some(schema) = current {
            // Bicep has one schema for both sides. Where OpenAPI has two, what users write counts.
            self.flatten |= schema.flatten && !(answer && self.sent);
            self.secret |= schema.secret;
            if self.mutability.is_empty() && !(answer && self.sent) {
                self.mutability.clone_from(&schema.mutability);
            }
            if self.identifiers.is_empty() {
                self.identifiers.clone_from(&schema.identifiers);
            }
            current = schema.reference.as_ref().and_then(|to| set.schema(to));
        }
        let merged = merge(set, theirs);
        self.free_object |= merged.ty == Some(&SchemaType::Object) && merged.properties.is_empty();
        // Bicep takes a definition's word for read-only; only the place has one.
        self.written |= !answer && !theirs.read_only;
        self.fraction |= merged.ty == Some(&SchemaType::Number);
        let rules = &merged.value.rules;
        if !merged.value.values.is_empty() && self.enum_rules.is_none() {
            self.enum_rules = Some(rules.clone());
        }
        self.format = self.format.take().or_else(|| rules.format.clone());
        self.multiple_of = self.multiple_of.or(rules.multiple_of);
    }
}

/// The walk over one resource.
pub(super) struct Pairing<'a, 'f> {
    ours: &'a SpecSet,
    theirs: &'a SpecSet,
    version: &'a ApiVersion,
    facts: &'f mut BTreeMap<Source, Facts>,
    seen: HashSet<(Source, Source)>,
    answer: bool,
}

impl<'a, 'f> Pairing<'a, 'f> {
    pub fn new(
        ours: &'a SpecSet,
        (version, theirs): (&'a ApiVersion, &'a SpecSet),
        facts: &'f mut BTreeMap<Source, Facts>,
    ) -> Self {
        Self {
            ours,
            theirs,
            version,
            facts,
            seen: HashSet::new(),
            answer: false,
        }
    }

    /// Pairs the bodies of PUT.
    pub fn body(&mut self, ours: &'a Schema, theirs: &'a Schema) {
        self.answer = false;
        self.seen.clear();
        self.inside(ours, theirs);
    }

    /// Pairs the answers of GET.
    pub fn answer(&mut self, ours: &'a Schema, theirs: &'a Schema) {
        self.answer = true;
        self.seen.clear();
        self.inside(ours, theirs);
    }

    fn place(&mut self, ours: &'a Schema, theirs: &'a Schema) {
        let facts = self.facts.entry(ours.source.clone()).or_default();
        facts.learn(self.theirs, theirs, self.answer);
        facts.from.get_or_insert_with(|| self.version.clone());
        facts.answered |= self.answer;
        facts.sent |= !self.answer;
        self.inside(ours, theirs);
    }

    fn inside(&mut self, ours: &'a Schema, theirs: &'a Schema) {
        let (left, right) = (merge(self.ours, ours), merge(self.theirs, theirs));
        let key = (left.schema.source.clone(), right.schema.source.clone());
        if !self.seen.insert(key) {
            return;
        }
        self.definition(left.schema, right.schema);
        for (name, property) in &left.properties {
            if let Some(other) = right.properties.get(name) {
                self.place(property, other);
            }
        }
        if let (Some(item), Some(other)) = (&left.value.items, &right.value.items) {
            self.place(item, other);
        }
        if let (Additional::Of(item), Additional::Of(other)) = (left.additional, right.additional) {
            self.place(item, other);
        }
        if left.schema.discriminator.is_some() {
            self.variants(left.schema, right.schema);
        }
    }

    /// What becomes of a resource within another one is told by its definition.
    fn definition(&mut self, ours: &Schema, theirs: &Schema) {
        let facts = self.facts.entry(ours.source.clone()).or_default();
        if facts.origin.is_none() {
            facts.origin = Some(theirs.source.clone());
            facts.azure_resource = is_resource(self.theirs, theirs);
            facts.from.get_or_insert_with(|| self.version.clone());
        }
    }

    fn variants(&mut self, ours: &'a Schema, theirs: &'a Schema) {
        let theirs = variants(self.theirs, theirs);
        for variant in variants(self.ours, ours) {
            let known = value(variant);
            if let Some(other) = theirs.iter().find(|other| value(other) == known) {
                let facts = self.facts.entry(variant.source.clone()).or_default();
                facts.variant_name = Some(other.definition_name().to_owned());
                self.inside(variant, other);
            }
        }
    }
}
