//! The table under construction, in which equal types of one word are one entry.

use std::collections::BTreeMap;

use sha2::{Digest as _, Sha256};

use crate::model::{Digest, ObjectType, TypeDef, TypeId, TypeTable, facts, reachable};
use crate::naming::identities::apart;

/// Types so far. A type enters after all that it refers to, so equal types have equal definitions.
#[derive(Default)]
pub(super) struct Table {
    types: TypeTable,
    /// By word.
    facts: BTreeMap<String, (TypeId, String)>,
    roots: Vec<TypeId>,
}

impl Table {
    /// Enters a root type.
    pub fn root(&mut self, id: TypeId, object: ObjectType) -> TypeId {
        self.types.insert(id.clone(), TypeDef::Object(object));
        self.roots.push(id.clone());
        id
    }

    /// Enters a type. Where its word stands for another one, its own structure tells it apart.
    pub fn intern(&mut self, mut id: TypeId, def: TypeDef) -> TypeId {
        let facts = facts(&def);
        while let Some((known, of_known)) = self.facts.get(id.word()) {
            if *of_known == facts {
                return known.clone();
            }
            id = apart(&id, structure(&def));
        }
        self.facts.insert(id.word().to_owned(), (id.clone(), facts));
        self.types.insert(id.clone(), def);
        id
    }

    /// The object type of this identity.
    pub fn object(&self, id: &TypeId) -> Option<&ObjectType> {
        match self.types.get(id)? {
            TypeDef::Object(object) => Some(object),
            TypeDef::Enum(_) => None,
        }
    }

    /// Every type that a root reaches. Flattening leaves behind types that nothing refers to any more.
    pub fn finish(self) -> TypeTable {
        let reached = reachable(&self.types, &self.roots);
        self.types
            .into_iter()
            .filter(|(id, _)| reached.contains(id))
            .collect()
    }
}

/// What tells a structure, for a type that what is around it made other than its schema is by itself. So it does not
/// depend on what else there is.
pub(super) fn structure(def: &TypeDef) -> Digest {
    Sha256::digest(facts(def)).into()
}

/// What counts of a type. What it refers to counts by word: that entered before, so one word is one type.
fn facts(def: &TypeDef) -> String {
    let object = match def {
        TypeDef::Enum(definition) => return facts::enumeration(definition),
        TypeDef::Object(object) => object,
    };
    let mut text = facts::object(object);
    if object.arm_resource {
        text.push_str(" resource");
    }
    for property in &object.properties {
        let (own, shape) = (facts::property(property), facts::shape(&property.ty));
        text.push_str(&format!("\n{own} {shape}"));
        let inner = property.ty.named().map(TypeId::word);
        text.extend(inner.map(|word| format!(" {word}")));
    }
    text
}
