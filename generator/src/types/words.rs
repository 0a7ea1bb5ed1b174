//! Words for schemas, decided from the specs alone.
//!
//! Every schema of an api-version that can become a type has a word, whether a kind reaches it or not. So no type is
//! called otherwise because another kind is exported. Who comes first in the specs chooses first:
//! - a definition is called as it is. Where another one of the same name was before it, its source's name stands in
//!   front, or a number behind;
//! - an enum has the name that the spec gives it, unless one with other values was before it;
//! - a schema without a name of its own is called after the first place that holds it.
//!
//! Words that kinds of the specs take, or would, if they were exported, and those that Rust needs, are left alone. What
//! makes words distinct, and what is made of one for a type, is [`crate::naming`]'s.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use super::Described;
use crate::load::{Additional, Document, Schema, Source};
use crate::model::TypeId;
use crate::naming::identities::{self, place};
use crate::naming::{Claims, EMBEDDED, endings::OPERATOR_SPEC, of_kind, pascal};
use crate::overlay::{Overlaid, Said};

/// Values of an enum and whether others may appear.
type Values<'a> = (&'a [String], bool);

/// Words for all schemas of an api-version.
#[derive(Default)]
pub(super) struct Words<'a> {
    of: HashMap<&'a Source, String>,
    /// Enums by the names that the spec gives them.
    enums: BTreeMap<String, Values<'a>>,
    /// All of the above, for what users write. What kinds take is reserved.
    pub claims: Claims,
}

impl<'a> Words<'a> {
    /// Words for all that the parts of an api-version describe.
    pub fn of(parts: &[Described<'a>]) -> Self {
        let mut words = Self {
            claims: Claims::reserving(reserved(parts)),
            ..Self::default()
        };
        for (index, part) in parts.iter().enumerate() {
            let source = (index > 0).then(|| pascal(part.source));
            for said in definitions(part.set) {
                let source = source.as_deref().unwrap_or_default();
                let word = words.claims.definition(said.definition_name(), source);
                words.of.insert(&said.schema().source, word);
            }
        }
        for part in parts {
            definitions(part.set).for_each(|it| words.note_enums(it.schema()));
        }
        let claims = &mut words.claims;
        words.enums.retain(|name, _| claims.is_free(name));
        words.enums.keys().for_each(|it| claims.claim(it.clone()));
        for part in parts {
            for (kind, root) in roots(part) {
                words.within(part.set, root.schema(), kind);
            }
        }
        for part in parts {
            for schema in definitions(part.set).map(Said::schema) {
                let name = words.of[&schema.source].clone();
                words.within(part.set, schema, &name);
            }
        }
        words
    }

    /// All words for what users write.
    pub fn taken(self) -> BTreeSet<String> {
        self.claims.claimed()
    }

    /// Word for a schema, if the specs have the schema.
    pub fn word(&self, schema: &Schema) -> Option<&str> {
        self.of.get(&schema.source).map(String::as_str)
    }

    /// Word for an enum: that of its definition, else the one that the spec gives, else that of its place.
    pub fn enumeration(&self, said: Said<'_>) -> Option<String> {
        let schema = said.schema();
        let given = self.given(schema).filter(|_| !said.is_definition());
        given.or_else(|| self.word(schema).map(str::to_owned))
    }

    /// Name that the spec gives an enum, if it is this one's.
    fn given(&self, schema: &Schema) -> Option<String> {
        let (name, values) = given(schema)?;
        (self.enums.get(&name) == Some(&values)).then_some(name)
    }

    /// Word for what stands at a place, and that the specs do not know.
    pub fn place(&self, owner: &str, property: &str) -> String {
        self.claims.free(place(owner, property))
    }

    /// What `owner` holds under `property`, and that no schema stands for. `own` is the property's schema, whose place it
    /// takes.
    pub fn member(&self, owner: &str, property: &str, own: Option<&Schema>) -> TypeId {
        let word = place(owner, property);
        if own.and_then(|own| self.word(own)) == Some(word.as_str()) {
            return TypeId::of_schema(word);
        }
        identities::member(owner, property, &self.claims)
    }

    fn note_enums(&mut self, schema: &'a Schema) {
        if let Some((name, values)) = given(schema) {
            self.enums.entry(name).or_insert(values);
        }
        schema.inner().for_each(|inner| self.note_enums(inner));
    }

    /// Names what has no name of its own within a schema.
    fn within(&mut self, set: Overlaid<'a>, schema: &'a Schema, name: &str) {
        for (property, inner) in &schema.properties {
            self.at(set, inner, place(name, property));
        }
        for part in &schema.all_of {
            if part.reference.is_none() {
                self.within(set, part, name);
            }
        }
        if let Additional::Of(inner) = &schema.additional {
            self.at(set, inner, format!("{name}AdditionalProperties"));
        }
        if let Some(items) = &schema.items {
            self.at(set, items, format!("{name}Item"));
        }
    }

    /// Names what stands at a place, lists and maps aside, if it has no name yet.
    fn at(&mut self, set: Overlaid<'a>, schema: &'a Schema, name: String) {
        let schema = set.resolve(schema);
        if set.said(schema).is_definition() || self.of.contains_key(&schema.source) {
            return;
        }
        let name = self.claims.free(name);
        self.of.insert(&schema.source, name.clone());
        let is_map = schema.properties.is_empty() && schema.all_of.is_empty();
        match (&schema.items, &schema.additional) {
            (Some(items), _) => self.at(set, items, name),
            (None, Additional::Of(inner)) if is_map => {
                self.at(set, inner, name);
            }
            _ => {
                let is_enum = !schema.values.is_empty() && self.given(schema).is_none();
                if is_enum || !is_map {
                    self.claims.claim(name.clone());
                }
                self.within(set, schema, &name);
            }
        }
    }
}

/// Name that the spec gives an enum, and the enum.
fn given(schema: &Schema) -> Option<(String, Values<'_>)> {
    let name = schema.enum_name.as_deref();
    let name = name.filter(|_| !schema.values.is_empty());
    name.map(|name| (pascal(name), (schema.values.as_slice(), schema.extensible)))
}

/// Named schemas of a set: those of listed files, then those of files beside them, then of others, such as what all of
/// Azure shares.
fn definitions(overlaid: Overlaid<'_>) -> impl Iterator<Item = Said<'_>> {
    let set = overlaid.loaded();
    let folder = |file: &str| file.rsplit_once('/').map(|(folder, _)| folder.to_owned());
    let distance = |document: &&Document| {
        let mut listed = set.listed();
        if listed.any(|listed| listed.file == document.file) {
            return 0;
        }
        let own = folder(&document.file);
        let mut listed = set.listed();
        if listed.any(|listed| folder(&listed.file) == own) {
            1
        } else {
            2
        }
    };
    let (listed, all) = (set.listed(), set.documents());
    let mut documents = listed
        .chain(all.filter(|it| distance(it) > 0))
        .collect::<Vec<_>>();
    documents.sort_by_key(distance);
    let schemas = documents.into_iter().flat_map(|it| it.schemas.values());
    let definitions = schemas.filter(|schema| schema.reference.is_none());
    let definitions = definitions.map(move |schema| overlaid.said(schema));
    definitions.filter(|said| said.is_definition())
}

/// Schemas that stand for whole resources, each with the kind that discovery proposes: what is sent before what is
/// answered.
fn roots<'a>(part: &Described<'a>) -> impl Iterator<Item = (&'a str, Said<'a>)> {
    let (set, resources) = (part.set, part.resources);
    let sent = resources.iter().filter_map(|it| Some((it, it.body?)));
    let answered = resources.iter().map(|it| (it, it.item));
    let roots = sent.chain(answered);
    roots.map(move |(resource, schema)| {
        let root = set.resolve(schema);
        (resource.kind.as_str(), set.said(root))
    })
}

/// What kinds of the specs take, whether they are exported or not, and whether they are called as discovery proposes or
/// as their definitions; and what the operator adds.
fn reserved(parts: &[Described<'_>]) -> BTreeSet<String> {
    let mut taken = BTreeSet::from([OPERATOR_SPEC, EMBEDDED].map(str::to_owned));
    for (kind, root) in parts.iter().flat_map(roots) {
        taken.extend(of_kind(kind));
        if root.is_definition() {
            taken.extend(of_kind(&pascal(root.definition_name())));
        }
    }
    taken
}
