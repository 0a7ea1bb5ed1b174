//! Owners and references by name, where what they point at is imported too.
//!
//! Two objects that name each other would wait for each other, and an owner that names what is in it would wait for that. So a
//! name is written only where it closes no circle; otherwise the ARM id stays, which waits for nobody.

use std::collections::{HashMap, HashSet};

use armature_runtime::id::ResourceId;
use armature_runtime::shape::{Semantic, StructShape, Type};
use serde_json::{Value, json};

use super::names::Name;

/// Which object names which.
pub struct Links<'n> {
    names: &'n HashMap<ResourceId, Name>,
    waits_for: HashMap<&'n Name, Vec<&'n Name>>,
}

impl<'n> Links<'n> {
    /// No object names another yet.
    pub fn new(names: &'n HashMap<ResourceId, Name>) -> Self {
        Self {
            names,
            waits_for: HashMap::new(),
        }
    }

    /// The name of what an object points at, if it may be called by it.
    pub fn link(&mut self, from: &ResourceId, to: &ResourceId) -> Option<&'n Name> {
        let (from, to) = (self.names.get(from)?, self.names.get(to)?);
        if self.reaches(to, from) {
            return None;
        }
        self.waits_for.entry(from).or_default().push(to);
        Some(to)
    }

    fn reaches(&self, from: &'n Name, to: &Name) -> bool {
        let (mut open, mut seen) = (vec![from], HashSet::new());
        while let Some(name) = open.pop() {
            if name == to {
                return true;
            }
            if seen.insert(name) {
                open.extend(self.waits_for.get(name).into_iter().flatten());
            }
        }
        false
    }

    /// Writes names for the ids of references within a value.
    pub fn write(&mut self, from: &ResourceId, ty: Type, value: &mut Value) {
        match (ty, value) {
            (Type::Struct(shape), value)
                if matches!(
                    shape.semantic,
                    Semantic::Reference | Semantic::WellKnownReference
                ) =>
            {
                self.write_reference(from, value);
            }
            (Type::Struct(shape), Value::Object(_)) if is_reference_to_data(shape) => {}
            (Type::Struct(shape), Value::Object(members)) => {
                for (name, value) in members {
                    // The owner has a form of its own.
                    let field = shape.field(name).filter(|field| field.name != "owner");
                    if let Some(field) = field {
                        self.write(from, field.ty, value);
                    }
                }
            }
            (Type::List(list), Value::Array(items)) => {
                for item in items {
                    self.write(from, list.item, item);
                }
            }
            (Type::Map(map), Value::Object(members)) => {
                for member in members.values_mut() {
                    self.write(from, map.value, member);
                }
            }
            _ => {}
        }
    }

    fn write_reference(&mut self, from: &ResourceId, reference: &mut Value) {
        let id = reference.get("armId").and_then(Value::as_str);
        let id = id.and_then(|id| ResourceId::parse(id).ok());
        if let Some(name) = id.and_then(|id| self.link(from, &id)) {
            *reference = json!({"group": name.group, "kind": name.kind, "name": name.name});
        }
    }
}

fn is_reference_to_data(shape: &StructShape) -> bool {
    matches!(
        shape.semantic,
        Semantic::SecretReference | Semantic::SecretMapReference | Semantic::ConfigMapReference
    )
}
