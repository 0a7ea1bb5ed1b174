//! Structural fingerprints of types.

use std::collections::BTreeMap;

use sha2::{Digest, Sha256};

use crate::model::{
    Absent, ArmPlace, ObjectType, Property, Rules, TypeDef, TypeName, TypeRef, TypeTable,
};

/// SHA-256 over name and structure of a type.
pub type Fingerprint = [u8; 32];

/// Fingerprints of all types of a table. Types that lead to each other differ as soon as one of them does.
pub fn fingerprints(types: &TypeTable) -> BTreeMap<TypeName, Fingerprint> {
    let mut walk = Walk {
        types,
        done: BTreeMap::new(),
        open: Vec::new(),
    };
    for name in types.keys() {
        walk.visit(name);
    }
    walk.done
}

/// Tarjan's walk: it finds the rings, types that lead to each other, each after all that it leads to.
struct Walk<'a> {
    types: &'a TypeTable,
    done: BTreeMap<TypeName, Fingerprint>,
    /// Types whose ring is not complete yet, in the order in which they were met.
    open: Vec<&'a TypeName>,
}

impl<'a> Walk<'a> {
    /// Visits a type and all that it leads to. Returns the place of the first open type that it leads to, if any.
    fn visit(&mut self, name: &'a TypeName) -> Option<usize> {
        if self.done.contains_key(name) {
            return None;
        }
        if let Some(place) = self.open.iter().position(|open| *open == name) {
            return Some(place);
        }
        let own = self.open.len();
        self.open.push(name);
        let mut first = own;
        if let Some(TypeDef::Object(object)) = self.types.get(name) {
            for inner in object.properties.iter().filter_map(|it| it.ty.named()) {
                first = self.visit(inner).map_or(first, |place| first.min(place));
            }
        }
        if first < own {
            return Some(first);
        }
        let ring = self.open.split_off(own);
        self.close(ring);
        None
    }

    /// Gives the types of a ring their fingerprints. Nearly every ring is one type.
    fn close(&mut self, mut ring: Vec<&TypeName>) {
        ring.sort();
        let mut hash = Sha256::new();
        for name in &ring {
            self.add(name, &mut hash);
        }
        let whole: Fingerprint = hash.finalize().into();
        if let [name] = ring[..] {
            self.done.insert(name.clone(), whole);
            return;
        }
        for name in ring {
            let own = Sha256::new().chain_update(name.as_str());
            let own = own.chain_update(whole).finalize();
            self.done.insert(name.clone(), own.into());
        }
    }

    /// Adds a type's name and structure; of the types of its own ring, the names.
    fn add(&self, name: &TypeName, hash: &mut Sha256) {
        hash.update(name.as_str());
        match self.types.get(name) {
            Some(TypeDef::Object(object)) => self.object(object, hash),
            Some(TypeDef::Enum(definition)) => {
                let facts = (&definition.values, definition.extensible);
                hash.update(format!("enum {facts:?}"));
            }
            None => {}
        }
    }

    fn object(&self, object: &ObjectType, hash: &mut Sha256) {
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
                match self.done.get(name) {
                    Some(fingerprint) => hash.update(fingerprint),
                    None => hash.update(format!("ring {name}")),
                }
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
        absent,
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
        (&(*absent == Absent::Null), "explicit"),
        (&(*absent == Absent::Empty), "explicit_empty"),
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
