//! A position in ARM's JSON and the fields of shapes that can still match below it.

use armature_runtime::shape::{ArmPlace, Field, OneOf, StructShape, Type};
use serde_json::{Map, Value};

/// Fields that can match below one ARM object, each with the rest of its path.
#[derive(Clone, Default)]
pub struct Cursor {
    fields: Vec<(&'static Field, &'static [&'static str])>,
    discriminators: Vec<&'static str>,
}

/// What a member of an ARM object is to a cursor.
pub enum Step {
    /// No field has it.
    Unknown,
    /// The discriminator of a one-of.
    Discriminator,
    /// The value of these fields. More than one where several fields feed one place in ARM.
    Leaf(Vec<&'static Field>),
    /// An object on the way to further fields.
    Inner(Cursor),
    /// No field has it, and the object takes members of any name.
    Further,
}

/// A discriminated object whose discriminator selects no variant.
pub struct NoVariant {
    /// The one-of.
    pub one_of: OneOf,
    /// What the object has in the discriminator's place.
    pub found: Option<Value>,
}

impl Cursor {
    /// The fields of a shape as they apply to this ARM object, and the discriminators that select nothing.
    pub fn of(shape: &'static StructShape, object: &Map<String, Value>) -> (Self, Vec<NoVariant>) {
        let mut cursor = Self::default();
        let mut misses = Vec::new();
        cursor.add(shape, object, &mut misses);
        (cursor, misses)
    }

    fn add(
        &mut self,
        shape: &'static StructShape,
        object: &Map<String, Value>,
        misses: &mut Vec<NoVariant>,
    ) {
        for field in shape.fields {
            match field.arm {
                ArmPlace::At(path) if !path.is_empty() => self.fields.push((field, path)),
                ArmPlace::Further(path) => self.fields.push((field, path)),
                _ => {}
            }
        }
        let variants = shape
            .fields
            .iter()
            .filter(|field| field.arm == ArmPlace::Variant);
        let Some(one_of) = shape.one_of else {
            for field in variants {
                if let Type::Struct(inner) = field.ty {
                    self.add(inner, object, misses);
                }
            }
            return;
        };
        self.discriminators.push(one_of.discriminator);
        let found = object.get(one_of.discriminator);
        let chosen = found.and_then(Value::as_str).and_then(|text| {
            one_of
                .variants
                .iter()
                .find(|variant| variant.value.eq_ignore_ascii_case(text))
        });
        match chosen.and_then(|variant| shape.field(variant.field)) {
            Some(field) => {
                if let Type::Struct(inner) = field.ty {
                    self.add(inner, object, misses);
                }
            }
            None => misses.push(NoVariant {
                one_of,
                found: found.cloned(),
            }),
        }
    }

    /// Where a member leads.
    pub fn step(&self, member: &str) -> Step {
        let mut leaves = Vec::new();
        let mut inner = Vec::new();
        for (field, path) in &self.fields {
            match path {
                [name] if *name == member && !is_further(field) => leaves.push(*field),
                [name, rest @ ..] if *name == member => inner.push((*field, rest)),
                _ => {}
            }
        }
        if !inner.is_empty() {
            // A struct at the same place as deeper fields adds its own fields to them.
            for field in &leaves {
                if let Type::Struct(shape) = field.ty {
                    for nested in shape.fields {
                        if let ArmPlace::At(path) = nested.arm {
                            inner.push((nested, path));
                        }
                    }
                }
            }
            return Step::Inner(Self {
                fields: inner,
                discriminators: Vec::new(),
            });
        }
        if !leaves.is_empty() {
            return Step::Leaf(leaves);
        }
        if self.discriminators.contains(&member) {
            return Step::Discriminator;
        }
        // What is left of a path is none where its members are.
        match self.fields.iter().any(|(_, path)| path.is_empty()) {
            true => Step::Further,
            false => Step::Unknown,
        }
    }

    /// The fields that can match, each with its path below this object.
    pub fn fields(&self) -> &[(&'static Field, &'static [&'static str])] {
        &self.fields
    }

    /// Names of the members that this object can have, for messages.
    pub fn member_names(&self) -> Vec<&'static str> {
        let mut names: Vec<&'static str> = self
            .fields
            .iter()
            .filter_map(|(_, path)| path.first().copied())
            .collect();
        names.sort_unstable();
        names.dedup();
        names
    }
}

/// Whether a field has the members that no other field has.
fn is_further(field: &Field) -> bool {
    matches!(field.arm, ArmPlace::Further(_))
}
