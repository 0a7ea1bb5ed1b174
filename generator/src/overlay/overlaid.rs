//! A set as it is with an overlay.

use super::{Addition, Overlay};
use crate::load::{Schema, SchemaType, Source, SpecSet};
use crate::model::{ApiVersion, Rules, Side};

/// A set that is seen with what other specs add to it, if anything does.
#[derive(Clone, Copy, Debug)]
pub struct Overlaid<'a> {
    set: &'a SpecSet,
    overlay: Option<&'a Overlay>,
}

impl<'a> From<&'a SpecSet> for Overlaid<'a> {
    fn from(set: &'a SpecSet) -> Self {
        Self { set, overlay: None }
    }
}

impl<'a> Overlaid<'a> {
    /// A set with an overlay of its schemas.
    pub fn new(set: &'a SpecSet, overlay: &'a Overlay) -> Self {
        let overlay = Some(overlay);
        Self { set, overlay }
    }

    /// The set as it was loaded, for its structure.
    pub fn loaded(self) -> &'a SpecSet {
        self.set
    }

    /// The schema behind all references of `schema`.
    pub fn resolve<'s>(self, schema: &'s Schema) -> &'s Schema
    where
        'a: 's,
    {
        self.set.resolve(schema)
    }

    /// What is said of a schema at its place, behind no reference.
    pub fn said<'s>(self, schema: &'s Schema) -> Said<'s>
    where
        'a: 's,
    {
        let added = self.overlay.map(|overlay| &overlay.schemas);
        Said {
            schema,
            added: added.and_then(|schemas| schemas.get(&schema.source)),
        }
    }
}

/// What is said of a schema, by itself or by an overlay.
#[derive(Clone, Copy, Debug)]
pub struct Said<'a> {
    schema: &'a Schema,
    added: Option<&'a Addition>,
}

/// What a schema says by itself.
impl<'a> From<&'a Schema> for Said<'a> {
    fn from(schema: &'a Schema) -> Self {
        let added = None;
        Self { schema, added }
    }
}

impl<'a> Said<'a> {
    /// The schema, for its structure.
    pub fn schema(self) -> &'a Schema {
        self.schema
    }

    /// Whether its members appear in the enclosing object.
    pub fn flatten(self) -> bool {
        self.schema.flatten || self.is_added(|it| it.flatten)
    }

    /// Whether it is a secret.
    pub fn secret(self) -> bool {
        self.schema.secret || self.is_added(|it| it.secret)
    }

    /// Whether it is called an ARM resource.
    pub fn azure_resource(self) -> bool {
        self.schema.azure_resource || self.is_added(|it| it.azure_resource)
    }

    /// Whether Azure sets it and nobody sends it.
    pub fn read_only(self) -> bool {
        self.schema.read_only && !self.is_added(|it| it.is_sent)
    }

    /// Whether it is sent and never answered.
    pub fn write_only(self) -> bool {
        self.schema.write_only && !self.is_added(|it| it.is_answered)
    }

    /// Operations that may carry it; empty if nothing says.
    pub fn mutability(self) -> &'a [String] {
        self.own_or_added(&self.schema.mutability, |it| &it.mutability)
    }

    /// Names of the item properties that identify an item of the array.
    pub fn identifiers(self) -> &'a [String] {
        self.own_or_added(&self.schema.identifiers, |it| &it.identifiers)
    }

    /// Declared type, where there is one.
    pub fn ty(self) -> Option<&'a SchemaType> {
        let added = self.added.and_then(|it| it.ty.as_ref());
        added.or(self.schema.ty.as_ref())
    }

    /// Constraints.
    pub fn rules(self) -> &'a Rules {
        let added = self.added.and_then(|it| it.rules.as_ref());
        added.unwrap_or(&self.schema.rules)
    }

    /// Name of the definition: its own, else the last part of its pointer.
    pub fn definition_name(self) -> &'a str {
        let added = self.added.and_then(|it| it.name.as_deref());
        added.unwrap_or_else(|| self.schema.definition_name())
    }

    /// Whether it has a name of its own, rather than that of its place.
    pub fn is_definition(self) -> bool {
        self.schema.is_definition() || self.is_added(|it| it.name.is_some())
    }

    /// What tells whether two definitions are the same, also across specs.
    pub fn identity(self) -> &'a Source {
        let added = self.added.and_then(|it| it.identity.as_ref());
        added.unwrap_or(&self.schema.source)
    }

    /// The same definition in the other spec, on a side of the resource.
    pub fn twin(self, side: Side) -> Option<&'a Source> {
        let added = self.added?;
        let answer = added.answer.as_ref().filter(|_| side == Side::Status);
        answer.or(added.identity.as_ref())
    }

    /// What the overlay adds, in words, and the api-version that it is from.
    pub fn news(self) -> (&'a [&'static str], Option<&'a ApiVersion>) {
        let news = self.added.map_or(&[][..], |it| &it.news);
        (news, self.added.and_then(|it| it.from.as_ref()))
    }

    fn is_added(self, fact: impl Fn(&Addition) -> bool) -> bool {
        self.added.is_some_and(fact)
    }

    fn own_or_added(self, own: &'a [String], added: fn(&Addition) -> &Vec<String>) -> &'a [String] {
        match self.added {
            Some(it) if own.is_empty() => added(it),
            _ => own,
        }
    }
}
