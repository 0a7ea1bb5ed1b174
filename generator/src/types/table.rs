//! The table under construction: gives every type a name, and equal types of one name the same entry.

use std::collections::{BTreeMap, BTreeSet};

use crate::model::{ObjectType, Origin, TypeDef, TypeName, TypeTable, reachable};

/// Names that generated Rust needs for itself: what is in scope everywhere, and what fields are made of.
const TAKEN: [&str; 24] = [
    "AsMut", "AsRef", "BTreeMap", "Box", "Clone", "Copy", "Debug", "Default", "Drop", "Eq", "Err",
    "Fn", "From", "Into", "Iterator", "None", "Ok", "Option", "Result", "Self", "Some", "String",
    "Value", "Vec",
];

/// Whether generated Rust needs this name for itself.
pub(crate) fn is_taken(name: &str) -> bool {
    TAKEN.contains(&name)
}

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

    /// Enters a type under the first of `names` (then the last with a number) that is free or holds an equal
    /// type already.
    pub fn intern(&mut self, names: &[String], suffix: &str, def: TypeDef) -> TypeName {
        let facts = without_prose(&def);
        // A definition may have a name without a letter of ours.
        let names = names.iter().filter(|name| !name.is_empty());
        let base = names.clone().next_back().map_or("Type", String::as_str);
        let numbered = (2..).map(|number| format!("{base}{number}"));
        for candidate in names.cloned().chain(numbered) {
            let text = format!("{candidate}{suffix}");
            if self.reserved.contains(&text) || is_taken(&text) {
                continue;
            }
            let name = TypeName::new(text);
            match self.facts.get(&name) {
                Some(known) if *known == facts => return name,
                Some(_) => {}
                None => {
                    self.facts.insert(name.clone(), facts);
                    self.types.insert(name.clone(), def);
                    return name;
                }
            }
        }
        // The numbers above do not end.
        TypeName::new(base)
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
