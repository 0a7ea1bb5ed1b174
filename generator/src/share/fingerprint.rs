//! Structural fingerprints of types.

use std::collections::BTreeMap;

use sha2::{Digest, Sha256};

use crate::model::{ObjectType, Property, TypeDef, TypeName, TypeRef, TypeTable};

/// SHA-256 over name and structure of a type.
pub type Fingerprint = [u8; 32];

/// Fingerprints of all types of a table.
pub fn fingerprints(types: &TypeTable) -> BTreeMap<TypeName, Fingerprint> {
    walk(types, true)
}

/// Fingerprints that leave names of types out.
pub(super) fn structures(types: &TypeTable) -> BTreeMap<TypeName, Fingerprint> {
    walk(types, false)
}

fn walk(types: &TypeTable, with_names: bool) -> BTreeMap<TypeName, Fingerprint> {
    let mut walk = Walk {
        types,
        with_names,
        done: BTreeMap::new(),
    };
    for name in types.keys() {
        walk.fingerprint(name);
    }
    walk.done
        .into_iter()
        .filter_map(|(name, fingerprint)| Some((name, fingerprint?)))
        .collect()
}

struct Walk<'a> {
    types: &'a TypeTable,
    with_names: bool,
    /// `None` while a type is being looked at: a cycle, cut at its name.
    done: BTreeMap<TypeName, Option<Fingerprint>>,
}

impl Walk<'_> {
    fn fingerprint(&mut self, name: &TypeName) -> Fingerprint {
        match self.done.get(name) {
            Some(Some(fingerprint)) => return *fingerprint,
            Some(None) => return Sha256::digest(name.as_str()).into(),
            None => {}
        }
        self.done.insert(name.clone(), None);
        let mut hash = Sha256::new();
        if self.with_names {
            hash.update(name.as_str());
        }
        match self.types.get(name) {
            Some(TypeDef::Object(object)) => self.object(object, &mut hash),
            Some(TypeDef::Enum(definition)) => {
                let facts = (&definition.values, definition.extensible);
                hash.update(format!("enum {facts:?}"));
            }
            None => {}
        }
        let fingerprint = hash.finalize().into();
        self.done.insert(name.clone(), Some(fingerprint));
        fingerprint
    }

    fn object(&mut self, object: &ObjectType, hash: &mut Sha256) {
        // Variants are told apart by their values; their order says nothing.
        let mut discriminated = object.discriminated.clone();
        if let Some(one_of) = &mut discriminated {
            one_of.variants.sort_by(|l, r| l.property.cmp(&r.property));
        }
        hash.update(format!("object {discriminated:?}"));
        for property in &object.properties {
            hash.update(facts(property));
            hash.update(shape(&property.ty));
            if let Some(name) = property.ty.named() {
                let name = name.clone();
                hash.update(self.fingerprint(&name));
            }
        }
    }
}

/// The type with its name left out: the fingerprint of what it names follows.
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
        arm,
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
    let flags = [
        required,
        read_only,
        write_only,
        create_only,
        secret,
        explicit,
        stashed,
    ];
    format!("{name} {arm:?} {meaning:?} {flags:?} {rules:?} {item_rules:?} {identifiers:?}")
}
