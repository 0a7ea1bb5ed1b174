//! A set of documents in which every reference resolves.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::document::Additional;
use super::{Document, Parameter, Schema, Source, Target};

/// The files of one api-version of one group, and every file that these refer to.
///
/// [`load`](super::load) has checked all references, so resolving one cannot fail.
#[derive(Clone, Debug)]
pub struct SpecSet {
    listed: Vec<Arc<Document>>,
    documents: BTreeMap<Arc<str>, Arc<Document>>,
    derived: BTreeMap<Source, Vec<Source>>,
}

impl SpecSet {
    /// A set of these documents, which has not been checked yet.
    pub(super) fn new(
        listed: Vec<Arc<Document>>,
        documents: BTreeMap<Arc<str>, Arc<Document>>,
    ) -> Self {
        Self {
            listed,
            documents,
            derived: BTreeMap::new(),
        }
    }

    /// The listed documents, in the order given to [`load`](super::load).
    pub fn listed(&self) -> impl Iterator<Item = &Document> {
        self.listed.iter().map(AsRef::as_ref)
    }

    /// Every document of the set by file, referenced ones included.
    pub fn documents(&self) -> impl Iterator<Item = &Document> {
        self.documents.values().map(AsRef::as_ref)
    }

    /// The schema that stands at `target`.
    pub fn schema(&self, target: &Target) -> Option<&Schema> {
        find_schema(self.documents.get(&target.file)?, &target.pointer)
    }

    /// The schema behind all references of `schema`.
    pub fn resolve<'a>(&'a self, schema: &'a Schema) -> &'a Schema {
        let mut current = schema;
        while let Some(next) = current.reference.as_ref().and_then(|to| self.schema(to)) {
            current = next;
        }
        current
    }

    /// The parameter behind all references of `parameter`.
    pub fn resolve_parameter<'a>(&'a self, parameter: &'a Parameter) -> &'a Parameter {
        let mut current = parameter;
        while let Some(next) = self.next_parameter(current) {
            current = next;
        }
        current
    }

    /// Schemas whose `allOf` names `base` directly, by file and then in the file's order.
    pub fn derived(&self, base: &Source) -> impl Iterator<Item = &Schema> {
        self.derived
            .get(base)
            .into_iter()
            .flatten()
            .filter_map(|source| self.schema(source))
    }

    /// The document of this file.
    pub(super) fn document(&self, file: &str) -> Option<&Document> {
        self.documents.get(file).map(AsRef::as_ref)
    }

    /// The parameter that a reference of `parameter` leads to.
    pub(super) fn next_parameter(&self, parameter: &Parameter) -> Option<&Parameter> {
        let target = parameter.reference.as_ref()?;
        self.document(&target.file)?.parameters.get(&target.pointer)
    }

    /// Notes which schemas include which, once references are known to lead somewhere.
    pub(super) fn index_derived(&mut self) {
        let mut derived: BTreeMap<Source, Vec<Source>> = BTreeMap::new();
        for document in self.documents.values() {
            for schema in document.schemas.values() {
                for part in &schema.all_of {
                    if part.reference.is_some() {
                        derived
                            .entry(self.resolve(part).source.clone())
                            .or_default()
                            .push(schema.source.clone());
                    }
                }
            }
        }
        self.derived = derived;
    }
}

/// The schema at `pointer`: a named one, or one inside a named one.
pub(super) fn find_schema<'a>(document: &'a Document, pointer: &str) -> Option<&'a Schema> {
    if let Some(schema) = document.schemas.get(pointer) {
        return Some(schema);
    }
    let (named, mut schema) = pointer.match_indices('/').find_map(|(end, _)| {
        let named = document.schemas.get(&pointer[..end])?;
        Some((end, named))
    })?;
    let mut parts = pointer[named + 1..].split('/');
    while let Some(part) = parts.next() {
        schema = match part {
            "properties" => schema.properties.get(&unescape(parts.next()?))?,
            "items" => schema.items.as_deref()?,
            "allOf" => schema.all_of.get(parts.next()?.parse::<usize>().ok()?)?,
            "additionalProperties" => match &schema.additional {
                Additional::Of(inner) => inner,
                _ => return None,
            },
            _ => return None,
        };
    }
    Some(schema)
}

fn unescape(part: &str) -> String {
    part.replace("~1", "/").replace("~0", "~")
}
