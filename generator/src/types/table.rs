//! The table under construction, in which equal types of one name are one entry.

use std::collections::{BTreeMap, BTreeSet};

use sha2::{Digest, Sha256};

use crate::model::{ObjectType, Origin, TypeDef, TypeName, TypeTable, reachable};

/// Types so far. A type enters after all that it names, so equal types have equal definitions.
#[derive(Default)]
pub(super) struct Table {
    types: TypeTable,
    facts: BTreeMap<TypeName, TypeDef>,
    reserved: BTreeSet<String>,
}

impl Table {
    /// Keeps `name` for a root type.
    pub fn reserve(&mut self, name: String) {
        self.reserved.insert(name);
    }

    /// Enters a root type under its reserved name.
    pub fn root(&mut self, name: &str, object: ObjectType) -> TypeName {
        let name = TypeName::new(name);
        self.types.insert(name.clone(), TypeDef::Object(object));
        name
    }

    /// Enters a type under a name that a schema gives it. Where the name stands for another type, its own structure tells
    /// it apart.
    pub fn intern(&mut self, name: String, def: TypeDef) -> TypeName {
        let facts = without_prose(&def);
        let mut name = TypeName::new(name);
        while let Some(known) = self.facts.get(&name) {
            if *known == facts {
                return name;
            }
            name = TypeName::new(marked(name.as_str(), &def));
        }
        self.facts.insert(name.clone(), facts);
        self.types.insert(name.clone(), def);
        name
    }

    /// The object type of this name.
    pub fn object(&self, name: &TypeName) -> Option<&ObjectType> {
        match self.types.get(name)? {
            TypeDef::Object(object) => Some(object),
            TypeDef::Enum(_) => None,
        }
    }

    /// Every type that a root reaches. Flattening leaves behind types that nothing names any more.
    pub fn finish(self) -> TypeTable {
        let roots: Vec<TypeName> = self
            .reserved
            .iter()
            .map(|name| TypeName::new(name.clone()))
            .collect();
        let reached = reachable(&self.types, &roots);
        self.types
            .into_iter()
            .filter(|(name, _)| reached.contains(name))
            .collect()
    }
}

/// A name that also tells the structure, for a type that what is around it made other than its schema is by itself. So
/// it does not depend on what else there is.
pub(super) fn marked(name: &str, def: &TypeDef) -> String {
    let digest = Sha256::digest(format!("{:?}", without_prose(def)));
    format!("{name}X{:02X}{:02X}", digest[0], digest[1])
}

fn without_prose(def: &TypeDef) -> TypeDef {
    let mut facts = def.clone();
    match &mut facts {
        TypeDef::Object(object) => {
            object.description = None;
            object.source.clear();
            object.left_out.clear();
            object.definition = None;
            for property in &mut object.properties {
                property.description = None;
                property.origin = Origin::default();
            }
        }
        TypeDef::Enum(known) => {
            known.description = None;
            known.source.clear();
        }
    }
    facts
}
