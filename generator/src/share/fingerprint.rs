//! Structural fingerprints of types.

use std::collections::BTreeMap;

use sha2::{Digest, Sha256};

use crate::model::facts::{enumeration, object, property, shape};
use crate::model::{MissingType, ObjectType, TypeDef, TypeId, TypeTable};
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
            Some(TypeDef::Object(definition)) => self.object(definition, hash)?,
            Some(TypeDef::Enum(definition)) => hash.update(enumeration(definition)),
            None => {}
        }
        Ok(())
    }

    fn object(&self, definition: &ObjectType, hash: &mut Sha256) -> Result<(), MissingType> {
        hash.update(object(definition));
        for member in &definition.properties {
            hash.update(property(member));
            hash.update(shape(&member.ty));
            if let Some(inner) = member.ty.named() {
                match self.done.get(inner) {
                    Some(fingerprint) => hash.update(fingerprint),
                    None => hash.update(format!("ring {}", self.names.get(inner)?)),
                }
            }
        }
        Ok(())
    }
}
