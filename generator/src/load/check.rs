//! What must hold for a set before any pass reads it: references lead somewhere, and following them comes to an end
//! soon enough that a pass may follow them by recursion.

use std::collections::HashMap;
use std::ptr;

use super::bounds::{LONGEST_CHAIN, MOST_PARTS};
use super::document::Additional;
use super::set::{SpecSet, find_schema};
use super::{Document, LoadError, Parameter, Schema, Source};

/// Checks a set.
pub(super) fn check(set: &SpecSet) -> Result<(), LoadError> {
    for document in set.documents() {
        targets(set, document)?;
    }
    let mut measured = Measured {
        set,
        done: HashMap::new(),
        chain: Vec::new(),
    };
    for document in set.documents() {
        for root in roots(document) {
            let mut pending = vec![root];
            while let Some(schema) = pending.pop() {
                measured.measure(schema)?;
                pending.extend(inner(schema));
            }
        }
        for parameter in parameters(document) {
            ends(set, parameter)?;
        }
    }
    Ok(())
}

/// Every reference finds a schema or a parameter.
fn targets(set: &SpecSet, document: &Document) -> Result<(), LoadError> {
    for (from, target) in &document.references {
        let Some(held) = set.document(&target.file) else {
            continue;
        };
        if find_schema(held, &target.pointer).is_none()
            && !held.parameters.contains_key(&target.pointer)
        {
            return Err(LoadError::DanglingReference {
                from: from.clone(),
                target: target.clone(),
                nearest: nearest(held, &target.pointer),
            });
        }
    }
    Ok(())
}

fn nearest(document: &Document, pointer: &str) -> Option<String> {
    document
        .schemas
        .keys()
        .chain(document.parameters.keys())
        .map(|known| (strsim::normalized_levenshtein(known, pointer), known))
        .filter(|(likeness, _)| *likeness > 0.7)
        .max_by(|(left, _), (right, _)| left.total_cmp(right))
        .map(|(_, known)| known.clone())
}

/// All parameters of a document.
fn parameters(document: &Document) -> impl Iterator<Item = &Parameter> {
    let of_paths = document.paths.iter().flat_map(|path| {
        let operations = path.operations.iter();
        let own = operations.flat_map(|operation| &operation.parameters);
        path.parameters.iter().chain(own)
    });
    document.parameters.values().chain(of_paths)
}

/// Schemas that stand in no other.
fn roots(document: &Document) -> impl Iterator<Item = &Schema> {
    let operations = document.paths.iter().flat_map(|path| &path.operations);
    let answers = operations.flat_map(|operation| &operation.responses);
    document
        .schemas
        .values()
        .chain(parameters(document).map(|parameter| &parameter.schema))
        .chain(answers.map(|(_, schema)| schema))
}

/// Schemas that stand directly in this one.
fn inner(schema: &Schema) -> impl Iterator<Item = &Schema> {
    let additional = match &schema.additional {
        Additional::Of(inner) => Some(inner.as_ref()),
        _ => None,
    };
    schema
        .properties
        .values()
        .chain(&schema.all_of)
        .chain(schema.items.as_deref())
        .chain(additional)
}

/// What following references and `allOf`s of a schema comes to.
#[derive(Clone, Copy)]
struct Extent {
    /// Longest way.
    depth: usize,
    /// Schemas on all ways.
    parts: usize,
}

/// Extents so far. Recursion through properties is fine and no part of them.
struct Measured<'a> {
    set: &'a SpecSet,
    /// By address: a front end may give two schemas one place.
    done: HashMap<*const Schema, Extent>,
    /// Schemas on the way to the one at hand.
    chain: Vec<&'a Schema>,
}

impl<'a> Measured<'a> {
    fn measure(&mut self, schema: &'a Schema) -> Result<Extent, LoadError> {
        if let Some(extent) = self.done.get(&ptr::from_ref(schema)) {
            return Ok(*extent);
        }
        if let Some(start) = self.chain.iter().position(|it| ptr::eq(*it, schema)) {
            let members: Vec<&Source> = self.chain[start..].iter().map(|it| &it.source).collect();
            return Err(cycle(&members, &schema.source));
        }
        self.chain.push(schema);
        let mut extent = Extent { depth: 1, parts: 1 };
        let target = schema.reference.as_ref().and_then(|to| self.set.schema(to));
        for part in target.into_iter().chain(&schema.all_of) {
            check_depth(self.chain.len(), &self.chain[0].source)?;
            let below = self.measure(part)?;
            extent.depth = extent.depth.max(1 + below.depth);
            extent.parts += below.parts;
        }
        check_depth(extent.depth, &schema.source)?;
        if extent.parts > MOST_PARTS {
            return Err(LoadError::TooManyParts {
                at: schema.source.clone(),
            });
        }
        self.chain.pop();
        self.done.insert(schema, extent);
        Ok(extent)
    }
}

fn check_depth(depth: usize, at: &Source) -> Result<(), LoadError> {
    if depth > LONGEST_CHAIN {
        return Err(LoadError::ChainTooLong { at: at.clone() });
    }
    Ok(())
}

/// References of a parameter to others come to an end.
fn ends(set: &SpecSet, start: &Parameter) -> Result<(), LoadError> {
    let mut chain = vec![&start.source];
    let mut current = start;
    while let Some(next) = set.next_parameter(current) {
        if let Some(start) = chain.iter().position(|it| **it == next.source) {
            return Err(cycle(&chain[start..], &next.source));
        }
        check_depth(chain.len(), &start.source)?;
        chain.push(&next.source);
        current = next;
    }
    Ok(())
}

/// The cycle of `members`, which lead back to the first of them.
fn cycle(members: &[&Source], first: &Source) -> LoadError {
    let members = members.iter().copied().chain([first]);
    LoadError::ReferenceCycle {
        at: first.clone(),
        chain: members.map(ToString::to_string).collect(),
    }
}
