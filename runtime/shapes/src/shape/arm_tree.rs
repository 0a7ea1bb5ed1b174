//! The fields of a struct by their place in ARM's JSON: for engines that walk ARM's side.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use super::arm_json::member;
use super::{ArmPlace, Field, StructShape, Type};

/// One place in ARM's JSON: the fields that sit there, or what lies below.
#[derive(Debug, Default)]
pub struct ArmTree {
    /// Fields with this path. Several when a value and its twin from a ConfigMap or Secret share it.
    pub fields: Vec<&'static Field>,
    /// The map of the members that are not among those below.
    pub further: Option<&'static Field>,
    /// The member that tells variants apart.
    pub discriminator: bool,
    /// Members below.
    pub below: BTreeMap<&'static str, ArmTree>,
}

impl ArmTree {
    /// The places of a struct's fields. Of a discriminated object, those of the variant that `members` holds;
    /// of all variants when it holds none of them.
    pub fn of(shape: &'static StructShape, members: &Map<String, Value>) -> Self {
        let mut tree = Self::default();
        tree.add(shape, members);
        tree
    }

    fn add(&mut self, shape: &'static StructShape, members: &Map<String, Value>) {
        if let Some(one_of) = &shape.one_of {
            self.below
                .entry(one_of.discriminator)
                .or_default()
                .discriminator = true;
        }
        let chosen = chosen_variant(shape, members);
        for field in shape.fields {
            match (field.arm, field.ty) {
                (ArmPlace::At(path), _) => self.at(path).fields.push(field),
                (ArmPlace::Further(path), _) => self.at(path).further = Some(field),
                (ArmPlace::Variant, Type::Struct(variant))
                    if chosen.is_none_or(|chosen| chosen == field.name) =>
                {
                    self.add(variant, members);
                }
                _ => {}
            }
        }
    }

    fn at(&mut self, path: &'static [&'static str]) -> &mut Self {
        let mut tree = self;
        for name in path {
            tree = tree.below.entry(name).or_default();
        }
        tree
    }

    /// What lies at a member, in any casing.
    pub fn member(&self, name: &str) -> Option<&ArmTree> {
        self.below.get(name).or_else(|| {
            let mut below = self.below.iter();
            below
                .find(|(known, _)| known.eq_ignore_ascii_case(name))
                .map(|(_, tree)| tree)
        })
    }
}

/// Name of the field with the variant that the discriminator names.
pub fn chosen_variant(shape: &StructShape, members: &Map<String, Value>) -> Option<&'static str> {
    let one_of = shape.one_of.as_ref()?;
    let value = member(members, one_of.discriminator)?.as_str()?;
    let mut variants = one_of.variants.iter();
    variants
        .find(|variant| variant.value.eq_ignore_ascii_case(value))
        .map(|variant| variant.field)
}
