//! Variants of a schema with a discriminator.

use std::collections::{BTreeMap, BTreeSet};

use super::build::{Builder, Position, definition};
use super::error::TypesError;
use super::merge::{Merged, merge};
use super::one_of::{value, variants};
use crate::load::{Schema, Source};
use crate::model::{
    ArmPlace, Decision, Discriminated, EnumType, ObjectType, Origin, Property, Side, TypeDef,
    TypeRef, VariantType,
};
use crate::naming::{lower_camel, pascal};

/// The name, or the name with a number where it is taken.
fn distinct(name: String, taken: &mut BTreeSet<String>) -> String {
    let numbered = (2..).map(|number| format!("{name}{number}"));
    let mut names = [name.clone()].into_iter().chain(numbered);
    let free = names.find(|it| !taken.contains(it)).unwrap_or(name.clone());
    taken.insert(free.clone());
    free
}

impl<'a> Builder<'a, '_> {
    /// An object of variants. The members of the base are in each variant.
    pub fn one_of(
        &mut self,
        merged: &Merged<'a>,
        position: Position,
    ) -> Result<Option<ObjectType>, TypesError> {
        let mut object = ObjectType {
            description: merged.schema.description.clone(),
            source: merged.schema.source.to_string(),
            definition: definition(self.set.said(merged.schema), self.side),
            ..ObjectType::default()
        };
        let hoists = position == Position::Root && self.side == Side::Status;
        let mut known = Vec::new();
        let mut by_value: BTreeMap<String, &Source> = BTreeMap::new();
        let mut names: BTreeSet<String> = hoists.then(|| "name".to_owned()).into_iter().collect();
        for schema in variants(self.set.loaded(), merged.schema) {
            let Some(ty) = self.variant(schema, position)? else {
                continue;
            };
            let value = value(self.set.said(schema));
            if let Some(first) = by_value.insert(value.clone(), &schema.source) {
                return Err(TypesError::VariantsAlike {
                    at: schema.source.clone(),
                    first: first.clone(),
                    value,
                });
            }
            let property = distinct(self.variant_name(schema, position), &mut names);
            known.push(VariantType {
                value: value.clone(),
                property: property.clone(),
            });
            object.properties.push(Property {
                description: schema.description.clone(),
                origin: Origin {
                    source: schema.source.to_string(),
                    decisions: vec![Decision::spec(format!(
                        "the variant for `{}` = `{}`",
                        merged.discriminator.unwrap_or_default(),
                        value
                    ))],
                },
                ..Property::with_place(property, ArmPlace::Variant, ty)
            });
        }
        if known.is_empty() {
            return Ok(None);
        }
        if hoists {
            self.hoist_name(merged, &mut object);
        }
        object.discriminated = Some(Discriminated {
            property: merged.discriminator.unwrap_or_default().to_owned(),
            variants: known,
        });
        Ok(Some(object))
    }

    /// Type of one variant.
    fn variant(
        &mut self,
        schema: &'a Schema,
        position: Position,
    ) -> Result<Option<TypeRef>, TypesError> {
        if self.recurs(&schema.source) {
            return Ok(None);
        }
        let is_whole = position == Position::Root;
        let is_usual = is_whole == self.rule.is_variant_of_resource(schema)
            && !(is_whole && self.rule.keeps_envelope(self.resource));
        let variant = merge(self.set, schema);
        let stem = self.stem(schema, None);
        self.enclosed(schema, &stem, |it| {
            it.around.resource |= !is_usual;
            if schema.discriminator.is_some() && it.is_one_of(&variant) {
                it.one_of(&variant, position)
            } else {
                it.object(&variant, stem.word(), position)
            }
        })
    }

    /// ASO names a variant after its type in the spec of a resource, and after the discriminator's value elsewhere.
    fn variant_name(&self, schema: &Schema, position: Position) -> String {
        let said = self.set.said(schema);
        if position == Position::Root && self.side == Side::Spec {
            lower_camel(&pascal(said.definition_name()))
        } else {
            lower_camel(&pascal(&value(said)))
        }
    }

    /// The name of a resource is beside its variants, as it is the same in each.
    fn hoist_name(&self, merged: &Merged<'a>, object: &mut ObjectType) {
        if let Some(schema) = merged.properties.get("name") {
            let facts = self.facts(schema);
            let name = self.property("name", schema, TypeRef::String, facts, merged);
            object.properties.insert(0, name);
        }
    }

    /// In a variant the discriminator has one value and must be there.
    pub fn fix_discriminator(&mut self, property: &mut Property, merged: &Merged<'a>, owner: &str) {
        if merged.schema.discriminator.is_some() && merged.schema.discriminator_value.is_none() {
            return;
        }
        let def = TypeDef::Enum(EnumType {
            values: vec![value(self.set.said(merged.schema))],
            extensible: false,
            description: property.description.clone(),
            source: merged.schema.source.to_string(),
        });
        let own = merged.properties.get(property.name.as_str()).copied();
        let id = self.words.member(owner, &property.name, own);
        property.ty = TypeRef::Named(self.table.intern(id, def));
        property.required = true;
        let why = "discriminator of a variant: one value, required";
        property.origin.decisions.push(Decision::spec(why));
    }
}
