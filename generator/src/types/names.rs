//! Names of types, decided from the specs alone.
//!
//! Every schema of an api-version that can become a type has a name, whether a kind reaches it or not. So no type is
//! called otherwise because another kind is exported. Who comes first in the specs chooses first:
//! - a definition is called as it is. Where another one of the same name was before it, its source's name stands in
//!   front, or a number behind;
//! - an enum has the name that the spec gives it, unless one with other values was before it;
//! - a schema without a name of its own is called after the first place that holds it.
//!
//! What stands for an observed state ends with `Status`. Names that kinds of the specs take, or would, if they were
//! exported, and those that Rust needs, are left alone.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use super::Described;
use crate::load::{Additional, Document, Schema, Source};
use crate::naming::{EMBEDDED, OPERATOR_SPEC, is_taken, of_kind, pascal};
use crate::overlay::{Overlaid, Said};

/// Ending of the names of observed states.
const STATUS: &str = "Status";

/// Ending of a name that would be another's otherwise.
const OTHER: &str = "Value";

/// Values of an enum and whether others may appear.
type Values<'a> = (&'a [String], bool);

/// Names of all schemas of an api-version.
#[derive(Default)]
pub(super) struct Names<'a> {
    of: HashMap<&'a Source, String>,
    /// Enums by the names that the spec gives them.
    enums: BTreeMap<String, Values<'a>>,
    /// All of the above, for what users write.
    taken: BTreeSet<String>,
    /// What kinds take.
    reserved: BTreeSet<String>,
}

impl<'a> Names<'a> {
    /// Names of all that the parts of an api-version describe.
    pub fn of(parts: &[Described<'a>]) -> Self {
        let mut names = Self {
            reserved: reserved(parts),
            ..Self::default()
        };
        for (index, part) in parts.iter().enumerate() {
            let source = (index > 0).then(|| pascal(part.source));
            for said in definitions(part.set) {
                names.definition(said, source.as_deref().unwrap_or_default());
            }
        }
        for part in parts {
            definitions(part.set).for_each(|it| names.note_enums(it.schema()));
        }
        let (taken, reserved) = (&names.taken, &names.reserved);
        names
            .enums
            .retain(|name, _| !taken.contains(name) && !reserved.contains(name) && !is_taken(name));
        names.taken.extend(names.enums.keys().cloned());
        for part in parts {
            for (kind, root) in roots(part) {
                names.within(part.set, root.schema(), kind);
            }
        }
        for part in parts {
            for schema in definitions(part.set).map(Said::schema) {
                let name = names.of[&schema.source].clone();
                names.within(part.set, schema, &name);
            }
        }
        names
    }

    /// All names for what users write.
    pub fn taken(self) -> BTreeSet<String> {
        self.taken
    }

    /// Name of a schema's type, if the specs have the schema.
    pub fn name(&self, schema: &Schema) -> Option<&str> {
        self.of.get(&schema.source).map(String::as_str)
    }

    /// Name of an enum: that of its definition, else the one that the spec gives, else that of its place.
    pub fn enumeration(&self, said: Said<'_>) -> Option<String> {
        let schema = said.schema();
        let given = self.given(schema).filter(|_| !said.is_definition());
        given.or_else(|| self.name(schema).map(str::to_owned))
    }

    /// Name that the spec gives an enum, if it is this one's.
    fn given(&self, schema: &Schema) -> Option<String> {
        let (name, values) = given(schema)?;
        (self.enums.get(&name) == Some(&values)).then_some(name)
    }

    /// Name of what `owner` holds under `property`, and that no schema stands for. `own` is the property's schema, whose
    /// place it takes.
    pub fn below(&self, owner: &str, property: &str, own: Option<&Schema>) -> String {
        let name = format!("{owner}{}", pascal(property));
        if own.and_then(|own| self.name(own)) == Some(name.as_str()) {
            return name;
        }
        self.free(name)
    }

    /// Name of a type within itself.
    pub fn unrolled(&self, name: &str) -> String {
        self.free(format!("{name}Unrolled"))
    }

    /// Name of the observed state of what has this name for users to write.
    pub fn status(&self, name: &str) -> String {
        let observed = format!("{name}{STATUS}");
        if self.is_free(&observed) {
            observed
        } else {
            format!("{observed}{OTHER}")
        }
    }

    fn is_free(&self, name: &str) -> bool {
        !self.taken.contains(name) && !self.reserved.contains(name) && !is_taken(name)
    }

    fn free(&self, mut name: String) -> String {
        while !self.is_free(&name) {
            name.push_str(OTHER);
        }
        name
    }

    fn definition(&mut self, said: Said<'a>, source: &str) {
        // A definition may have a name without a letter of ours.
        let mut name = match pascal(said.definition_name()) {
            name if name.is_empty() => "Type".to_owned(),
            name => name,
        };
        if self.reserved.contains(&name) || is_taken(&name) {
            name.push_str(OTHER);
        }
        let numbered = (2..).map(|number| format!("{name}{number}"));
        let names = [name.clone(), format!("{source}{name}")];
        let free = names
            .into_iter()
            .chain(numbered)
            .find(|name| self.is_free(name));
        // The numbers above do not end.
        let name = free.unwrap_or(name);
        self.taken.insert(name.clone());
        self.of.insert(&said.schema().source, name);
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
            self.place(set, inner, format!("{name}{}", pascal(property)));
        }
        for part in &schema.all_of {
            if part.reference.is_none() {
                self.within(set, part, name);
            }
        }
        if let Additional::Of(inner) = &schema.additional {
            self.place(set, inner, format!("{name}AdditionalProperties"));
        }
        if let Some(items) = &schema.items {
            self.place(set, items, format!("{name}Item"));
        }
    }

    /// Names what stands at a place, lists and maps aside, if it has no name yet.
    fn place(&mut self, set: Overlaid<'a>, schema: &'a Schema, name: String) {
        let schema = set.resolve(schema);
        if set.said(schema).is_definition() || self.of.contains_key(&schema.source) {
            return;
        }
        let name = self.free(name);
        self.of.insert(&schema.source, name.clone());
        let is_map = schema.properties.is_empty() && schema.all_of.is_empty();
        match (&schema.items, &schema.additional) {
            (Some(items), _) => self.place(set, items, name),
            (None, Additional::Of(inner)) if is_map => {
                self.place(set, inner, name);
            }
            _ => {
                let is_enum = !schema.values.is_empty() && self.given(schema).is_none();
                if is_enum || !is_map {
                    self.taken.insert(name.clone());
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
