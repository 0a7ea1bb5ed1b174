//! Structural fingerprints of types.

use std::collections::BTreeMap;

use sha2::{Digest, Sha256};

use crate::model::{
    ArmPlace, MissingType, ObjectType, Property, Rules, TypeDef, TypeId, TypeRef, TypeTable,
};
use crate::naming::TypeNames;

/// SHA-256 over name and structure of a type.
pub type Fingerprint = [u8; 32];

/// Fingerprints of all types of a table. Types that lead to each other differ as soon as one of them does.
///
/// # Errors
/// When a type refers to one that the table does not have.
pub fn fingerprints(
    types: &TypeTable,
    names: &TypeNames,
) -> Result<BTreeMap<TypeId, Fingerprint>, MissingType> {
    let mut walk = Walk {
        types,
        names,
        done: BTreeMap::new(),
        open: Vec::new(),
    };
    for ty in types.keys() {
        walk.visit(ty)?;
    }
    Ok(walk.done)
}

/// Tarjan's walk: it finds the rings, types that lead to each other, each after all that it leads to.
struct Walk<'a> {
    types: &'a TypeTable,
    names: &'a TypeNames,
    done: BTreeMap<TypeId, Fingerprint>,
    /// Types whose ring is not complete yet, in the order in which they were met.
    open: Vec<&'a TypeId>,
}

impl<'a> Walk<'a> {
    /// Visits a type and all that it leads to. Returns the place of the first open type that it leads to, if any.
    fn visit(&mut self, ty: &'a TypeId) -> Result<Option<usize>, MissingType> {
        if self.done.contains_key(ty) {
            return Ok(None);
        }
        if let Some(place) = self.open.iter().position(|open| *open == ty) {
            return Ok(Some(place));
        }
        let own = self.open.len();
        self.open.push(ty);
        let mut first = own;
        if let Some(TypeDef::Object(object)) = self.types.get(ty) {
            for inner in object.properties.iter().filter_map(|it| it.ty.named()) {
                first = self.visit(inner)?.map_or(first, |place| first.min(place));
            }
        }
        if first < own {
            return Ok(Some(first));
        }
        let ring = self.open.split_off(own);
        self.close(&ring)?;
        Ok(None)
    }

    /// Gives the types of a ring their fingerprints. Nearly every ring is one type.
    fn close(&mut self, ring: &[&TypeId]) -> Result<(), MissingType> {
        let named = ring
            .iter()
            .map(|ty| Ok((self.names.get(ty)?.as_str(), *ty)));
        let mut ring = named.collect::<Result<Vec<(&str, &TypeId)>, MissingType>>()?;
        ring.sort();
        let mut hash = Sha256::new();
        for (name, ty) in &ring {
            hash.update(name);
            self.add(ty, &mut hash)?;
        }
        let whole: Fingerprint = hash.finalize().into();
        if let [(_, ty)] = ring[..] {
            self.done.insert(ty.clone(), whole);
            return Ok(());
        }
        for (name, ty) in ring {
            let own = Sha256::new().chain_update(name);
            let own = own.chain_update(whole).finalize();
            self.done.insert(ty.clone(), own.into());
        }
        Ok(())
    }

    /// Adds a type's structure; of the types of its own ring, the names.
    fn add(&self, ty: &TypeId, hash: &mut Sha256) -> Result<(), MissingType> {
        match self.types.get(ty) {
            Some(TypeDef::Object(object)) => self.object(object, hash)?,
            Some(TypeDef::Enum(definition)) => {
                let facts = (&definition.values, definition.extensible);
                hash.update(format!("enum {facts:?}"));
            }
            None => {}
        }
        Ok(())
    }

    fn object(&self, object: &ObjectType, hash: &mut Sha256) -> Result<(), MissingType> {
        // Variants are told apart by their values; their order says nothing.
        let mut discriminated = object.discriminated.clone();
        if let Some(one_of) = &mut discriminated {
            one_of.variants.sort_by(|l, r| l.property.cmp(&r.property));
        }
        hash.update(format!("object {discriminated:?}"));
        for property in &object.properties {
            hash.update(facts(property));
            hash.update(shape(&property.ty));
            if let Some(inner) = property.ty.named() {
                match self.done.get(inner) {
                    Some(fingerprint) => hash.update(fingerprint),
                    None => hash.update(format!("ring {}", self.names.get(inner)?)),
                }
            }
        }
        Ok(())
    }
}

/// The type without what it refers to: the fingerprint of that follows.
fn shape(ty: &TypeRef) -> String {
    match ty {
        TypeRef::Named(_) => "named".to_owned(),
        TypeRef::List(item) => format!("list {}", shape(item)),
        TypeRef::Map(item) => format!("map {}", shape(item)),
        other => format!("{other:?}"),
    }
}

/// Everything about a property but its type, its prose and its history. Destructured, so that a new fact is not
/// forgotten.
fn facts(property: &Property) -> String {
    let Property {
        name,
        place,
        ty: _,
        meaning,
        required,
        read_only,
        write_only,
        create_only,
        secret,
        rules,
        item_rules,
        identifiers,
        explicit,
        was: _,
        stashed,
        description: _,
        origin: _,
    } = property;
    // Only what is so counts, and only what says something: what a later generator knows of further facts changes no
    // fingerprint of types that are without them.
    let flags = [
        (required, "required"),
        (read_only, "read_only"),
        (write_only, "write_only"),
        (create_only, "create_only"),
        (secret, "secret"),
        (explicit, "explicit"),
        (stashed, "stashed"),
    ];
    // What the operator has of its own has no meaning in ARM.
    let meaning = match place {
        ArmPlace::Operator => "Operator".to_owned(),
        _ => format!("{meaning:?}"),
    };
    let mut text = format!("{name} {:?} {meaning} {identifiers:?}", place.path());
    for (_, flag) in flags.iter().filter(|(is_set, _)| **is_set) {
        text.push_str(&format!(" {flag}"));
    }
    for (rules, whose) in [(rules, "rules"), (item_rules, "item_rules")] {
        if *rules != Rules::default() {
            text.push_str(&format!(" {whose} {rules:?}"));
        }
    }
    text
}
