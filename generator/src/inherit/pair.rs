//! Schemas of two sources side by side, from a resource's body down: what one says and the other cannot.

use std::collections::{BTreeMap, HashMap, HashSet};

use super::facts::Facts;
use crate::discover::item::is_resource;
use crate::load::{Additional, Schema, Source, SpecSet};
use crate::model::ApiVersion;
use crate::overlay::{Addition, Said};
use crate::types::merge::merge;
use crate::types::one_of::{value, variants};

/// What is known of schemas, by their places.
#[derive(Default)]
pub(super) struct Paired<'a>(BTreeMap<&'a Source, (&'a Schema, Facts)>);

impl<'a> Paired<'a> {
    /// What is known of a schema so far.
    pub fn facts(&mut self, schema: &'a Schema) -> &mut Facts {
        let known = self.0.entry(&schema.source);
        &mut known.or_insert_with(|| (schema, Facts::default())).1
    }

    /// Whether another spec told something of a schema.
    pub fn is_told(&self, schema: &Schema) -> bool {
        let known = self.0.get(&schema.source);
        known.is_some_and(|(_, facts)| facts.from.is_some())
    }

    /// What all that adds to the schemas.
    pub fn additions(self) -> HashMap<Source, Addition> {
        let additions = self.0.into_iter();
        additions
            .map(|(source, (schema, facts))| (source.clone(), facts.addition(schema)))
            .collect()
    }
}

/// The walk over one resource.
pub(super) struct Pairing<'a, 'f> {
    ours: &'a SpecSet,
    theirs: &'a SpecSet,
    version: &'a ApiVersion,
    paired: &'f mut Paired<'a>,
    seen: HashSet<(Source, Source)>,
    answer: bool,
}

impl<'a, 'f> Pairing<'a, 'f> {
    pub fn new(
        ours: &'a SpecSet,
        (version, theirs): (&'a ApiVersion, &'a SpecSet),
        paired: &'f mut Paired<'a>,
    ) -> Self {
        Self {
            ours,
            theirs,
            version,
            paired,
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
        let facts = self.paired.facts(ours);
        facts.learn(self.theirs, theirs, self.answer);
        facts.from.get_or_insert_with(|| self.version.clone());
        facts.answered |= self.answer;
        facts.sent |= !self.answer;
        self.inside(ours, theirs);
    }

    fn inside(&mut self, ours: &'a Schema, theirs: &'a Schema) {
        let (left, right) = (
            merge(self.ours.into(), ours),
            merge(self.theirs.into(), theirs),
        );
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
    fn definition(&mut self, ours: &'a Schema, theirs: &'a Schema) {
        let facts = self.paired.facts(ours);
        if self.answer && facts.answer.is_none() {
            facts.answer = Some(theirs.source.clone());
        }
        if facts.identity.is_none() {
            facts.identity = Some(theirs.source.clone());
            facts.azure_resource = is_resource(self.theirs.into(), theirs);
            facts.from.get_or_insert_with(|| self.version.clone());
        }
    }

    fn variants(&mut self, ours: &'a Schema, theirs: &'a Schema) {
        let theirs = variants(self.theirs, theirs);
        for variant in variants(self.ours, ours) {
            let known = value(Said::from(variant));
            if let Some(other) = theirs.iter().find(|it| value(Said::from(**it)) == known) {
                let facts = self.paired.facts(variant);
                facts.variant_name = Some(other.definition_name().to_owned());
                self.inside(variant, other);
            }
        }
    }
}
