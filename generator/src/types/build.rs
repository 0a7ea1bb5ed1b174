//! The walk from schemas to types, for one side of one resource.

use std::collections::HashMap;

use super::TypesError;
use super::embedded::Rule;
use super::flatten::{flatten, settle_names};
use super::merge::{Merged, merge};
use super::naming::{lower_camel, pascal};
use super::table::Table;
use super::variants::{definition_name, value, variants};
use crate::discover::DiscoveredResource;
use crate::load::{Additional, Schema, SchemaType, Source, SpecSet};
use crate::model::{
    Discriminated, EnumType, Meaning, ObjectType, Property, Rules, TypeDef, TypeName, TypeRef,
    VariantType,
};

/// Which side of a resource is built.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Side {
    /// Desired state: no read-only properties, all constraints.
    Spec,
    /// Observed state: everything, unchecked.
    Status,
}

/// Deepest nesting of objects; far beyond any real spec, and short of the stack's end.
const DEEPEST: usize = 64;

/// Builds the types of one side of one resource.
pub(super) struct Builder<'a, 'b> {
    set: &'a SpecSet,
    rule: &'b Rule<'a>,
    table: &'b mut Table,
    resource: &'b DiscoveredResource<'a>,
    side: Side,
    /// Object schemas being built, outermost first. One may stand twice: recursion is unrolled once.
    open: Vec<&'a Source>,
    /// Below something that Azure sets.
    read_only: bool,
    done: HashMap<(&'a Source, bool), Option<TypeRef>>,
}

/// Where a type is asked for: gives names to schemas that have none.
struct Place<'n> {
    owner: &'n str,
    property: &'n str,
}

impl<'a, 'b> Builder<'a, 'b> {
    pub fn new(
        set: &'a SpecSet,
        rule: &'b Rule<'a>,
        table: &'b mut Table,
        resource: &'b DiscoveredResource<'a>,
        side: Side,
    ) -> Self {
        Self {
            set,
            rule,
            table,
            resource,
            side,
            open: Vec::new(),
            read_only: false,
            done: HashMap::new(),
        }
    }

    /// Builds the root type of this side and all below it.
    pub fn root(mut self, schema: &'a Schema) -> Result<TypeName, TypesError> {
        let merged = merge(self.set, schema);
        if merged.properties.is_empty() && !matches!(merged.ty, None | Some(SchemaType::Object)) {
            return Err(TypesError::NotAnObject {
                at: merged.schema.source.clone(),
                kind: self.resource.kind.clone(),
            });
        }
        let side = match self.side {
            Side::Spec => "Spec",
            Side::Status => "Status",
        };
        let name = format!("{}{side}", self.resource.kind);
        self.open.push(&merged.schema.source);
        let object = if self.is_one_of(&merged) {
            self.one_of(&merged, true)?
        } else {
            self.object(&merged, &self.resource.kind.clone(), true)?
        };
        Ok(self.table.root(&name, object.unwrap_or_default()))
    }

    fn suffix(&self) -> &'static str {
        match self.side {
            Side::Spec => "",
            Side::Status => "Status",
        }
    }

    fn is_one_of(&self, merged: &Merged<'a>) -> bool {
        merged.discriminator.is_some() && self.set.derived(&merged.schema.source).next().is_some()
    }

    /// Type of a value, or nothing if no member of it is left on this side.
    fn type_of(
        &mut self,
        schema: &'a Schema,
        place: &Place<'_>,
    ) -> Result<Option<TypeRef>, TypesError> {
        let merged = merge(self.set, schema);
        let ty = match merged.ty {
            Some(SchemaType::File) => Err("file"),
            Some(SchemaType::Unknown(text)) => Err(text.as_str()),
            other => Ok(other),
        }
        .map_err(|ty| TypesError::UnknownType {
            at: merged.value.source.clone(),
            ty: ty.to_owned(),
        })?;
        Ok(match ty {
            Some(SchemaType::Array) => {
                let Some(items) = merged.value.items.as_deref() else {
                    return Ok(Some(TypeRef::List(Box::new(TypeRef::Json))));
                };
                self.type_of(items, place)?
                    .map(|item| TypeRef::List(Box::new(item)))
            }
            Some(SchemaType::Boolean) => Some(TypeRef::Bool),
            Some(SchemaType::Integer) => Some(TypeRef::Integer(merged.value.rules.format.clone())),
            Some(SchemaType::Number) => Some(self.number(&merged.value.rules)),
            Some(SchemaType::String) => Some(self.string(&merged, place)),
            None if !merged.value.values.is_empty() => Some(self.string(&merged, place)),
            _ => self.object_like(merged, place)?,
        })
    }

    /// A number that the spec checks is an integer in Kubernetes, whose conventions ask not to use fractions
    /// (ASO behaviour §3.5). Status is not checked, so there it stays what it is.
    fn number(&self, rules: &Rules) -> TypeRef {
        let checked =
            rules.minimum.is_some() || rules.maximum.is_some() || rules.multiple_of.is_some();
        if checked && self.side == Side::Spec {
            TypeRef::Integer(None)
        } else {
            TypeRef::Number
        }
    }

    fn string(&mut self, merged: &Merged<'a>, place: &Place<'_>) -> TypeRef {
        let schema = merged.value;
        if self.side == Side::Status || schema.values.is_empty() {
            return TypeRef::String;
        }
        let inline = format!("{}{}", place.owner, pascal(place.property));
        let mut names = Vec::new();
        if is_definition(schema) {
            names.push(pascal(definition_name(schema)));
        } else if let Some(name) = &schema.enum_name {
            names.push(pascal(name));
        }
        names.push(inline);
        let def = TypeDef::Enum(EnumType {
            values: schema.values.clone(),
            extensible: schema.extensible,
            description: schema.description.clone(),
            source: schema.source.to_string(),
        });
        TypeRef::Named(self.table.intern(&names, "", def))
    }

    fn object_like(
        &mut self,
        merged: Merged<'a>,
        place: &Place<'_>,
    ) -> Result<Option<TypeRef>, TypesError> {
        let one_of = self.is_one_of(&merged);
        if merged.properties.is_empty() && !one_of {
            return self.free_form(&merged, place);
        }
        if place.property != "properties"
            && self
                .rule
                .only_id(merged.schema, self.resource, self.read_only, self.suffix())
        {
            return Ok(self.id_only(&merged));
        }
        let source = &merged.schema.source;
        let key = (source, self.read_only);
        if let Some(done) = self.done.get(&key) {
            return Ok(done.clone());
        }
        let depth = self.open.iter().filter(|open| **open == source).count();
        if depth > 1 || self.open.len() > DEEPEST {
            return Ok(None);
        }
        self.open.push(source);
        let mut name = if is_definition(merged.schema) {
            pascal(definition_name(merged.schema))
        } else {
            format!("{}{}", place.owner, pascal(place.property))
        };
        if depth == 1 {
            name.push_str("Unrolled");
        }
        let object = if one_of {
            self.one_of(&merged, false)
        } else {
            self.object(&merged, &name, false)
        }?;
        self.open.pop();
        let ty = object.map(|object| {
            let names = [name.clone(), format!("{}{name}", self.resource.kind)];
            let suffix = self.suffix();
            TypeRef::Named(self.table.intern(&names, suffix, TypeDef::Object(object)))
        });
        if depth == 0 {
            self.done.insert(key, ty.clone());
        }
        Ok(ty)
    }

    /// An object without properties: a map, or any JSON.
    fn free_form(
        &mut self,
        merged: &Merged<'a>,
        place: &Place<'_>,
    ) -> Result<Option<TypeRef>, TypesError> {
        Ok(match (merged.additional, merged.ty) {
            // Users choose the keys only; all that the values hold is Azure's.
            (Additional::Of(_), _) if self.is_identity_map(place.property) => {
                Some(TypeRef::ArmIdKeyed)
            }
            (Additional::Of(inner), _) => self
                .map_item(inner, place)?
                .map(|item| TypeRef::Map(Box::new(item))),
            (Additional::Any, _) | (Additional::Unsaid, Some(SchemaType::Object)) => {
                Some(TypeRef::Map(Box::new(TypeRef::Json)))
            }
            (Additional::Forbidden, _) => None,
            (Additional::Unsaid, _) => Some(TypeRef::Json),
        })
    }

    fn is_identity_map(&self, member: &str) -> bool {
        self.side == Side::Spec && member.eq_ignore_ascii_case("userAssignedIdentities")
    }

    /// Type of a map's values. Values of which the spec only says that they are objects can be anything.
    fn map_item(
        &mut self,
        schema: &'a Schema,
        place: &Place<'_>,
    ) -> Result<Option<TypeRef>, TypesError> {
        let free = TypeRef::Map(Box::new(TypeRef::Json));
        let item = self.type_of(schema, place)?;
        Ok(item.map(|item| if item == free { TypeRef::Json } else { item }))
    }

    /// What is left of a resource inside another one.
    fn id_only(&mut self, merged: &Merged<'a>) -> Option<TypeRef> {
        let (name, schema) = merged
            .properties
            .iter()
            .find(|(name, _)| name.eq_ignore_ascii_case("id"))?;
        if self.side == Side::Spec && self.facts(schema).read_only {
            return None;
        }
        let object = ObjectType {
            properties: vec![Property {
                meaning: Meaning::ArmId,
                required: self.side == Side::Spec && merged.required.contains(name),
                ..Property::new("id", &[*name], TypeRef::String)
            }],
            source: merged.schema.source.to_string(),
            arm_resource: true,
            ..ObjectType::default()
        };
        let names = ["SubResource".to_owned(), "EmbeddedResource".to_owned()];
        let suffix = self.suffix();
        let name = self.table.intern(&names, suffix, TypeDef::Object(object));
        Some(TypeRef::Named(name))
    }

    /// An object of variants. The members of the base are in each variant.
    fn one_of(
        &mut self,
        merged: &Merged<'a>,
        root: bool,
    ) -> Result<Option<ObjectType>, TypesError> {
        let mut object = ObjectType {
            description: merged.schema.description.clone(),
            source: merged.schema.source.to_string(),
            ..ObjectType::default()
        };
        let mut known = Vec::new();
        for schema in variants(self.set, merged.schema) {
            let name = pascal(definition_name(schema));
            let variant = merge(self.set, schema);
            let own = schema.discriminator.is_some() && self.is_one_of(&variant);
            let depth = self
                .open
                .iter()
                .filter(|open| ***open == schema.source)
                .count();
            if depth > 1 {
                continue;
            }
            self.open.push(&schema.source);
            let built = if own {
                self.one_of(&variant, root)
            } else {
                self.object(&variant, &name, root)
            }?;
            self.open.pop();
            let Some(built) = built else { continue };
            let mut names = vec![name.clone(), format!("{}{name}", self.resource.kind)];
            if depth == 1 {
                names.insert(0, format!("{name}Unrolled"));
            }
            let suffix = self.suffix();
            let ty = TypeRef::Named(self.table.intern(&names, suffix, TypeDef::Object(built)));
            // ASO names a variant after its type in the spec of a resource, and after the value elsewhere.
            let property = if root && self.side == Side::Spec {
                lower_camel(&name)
            } else {
                lower_camel(&pascal(&value(schema)))
            };
            known.push(VariantType {
                value: value(schema),
                property: property.clone(),
            });
            object
                .properties
                .push(variant_property(property, ty, schema));
        }
        if known.is_empty() {
            return Ok(None);
        }
        if root && self.side == Side::Status {
            self.hoist_name(merged, &mut object);
        }
        object.discriminated = Some(Discriminated {
            property: merged.discriminator.unwrap_or_default().to_owned(),
            variants: known,
        });
        Ok(Some(object))
    }

    /// An object with its properties; nothing if none is left.
    fn object(
        &mut self,
        merged: &Merged<'a>,
        name: &str,
        root: bool,
    ) -> Result<Option<ObjectType>, TypesError> {
        let mut properties = Vec::new();
        let is_variant = merged.discriminator.is_some();
        for (member, schema) in &merged.properties {
            // ARM's own members of a resource: the name has rules of its own, the rest is known.
            let hoisted = match self.side {
                Side::Spec => matches!(*member, "id" | "name" | "type"),
                Side::Status => is_variant && *member == "name",
            };
            if root && hoisted {
                continue;
            }
            let facts = self.facts(schema);
            if facts.read_only && self.side == Side::Spec {
                continue;
            }
            let place = Place {
                owner: name,
                property: member,
            };
            let outside = self.read_only;
            self.read_only = outside || facts.read_only;
            let ty = self.type_of(schema, &place);
            self.read_only = outside;
            let Some(ty) = ty? else { continue };
            // Other envelopes stay, whatever the spec says (ASO behaviour §3.5).
            let flat = facts.flatten && *member == "properties";
            let mut property = self.property(member, schema, ty, facts, merged);
            if merged.discriminator == Some(*member) && self.side == Side::Spec {
                self.fix_discriminator(&mut property, merged, name);
            }
            let envelope = match &property.ty {
                TypeRef::Named(inner) if flat => self
                    .table
                    .object(inner)
                    .filter(|object| object.discriminated.is_none()),
                _ => None,
            };
            match envelope {
                Some(inner) => flatten(&property, inner, &mut properties),
                None => properties.push(property),
            }
        }
        if let Some(further) = self.further_members(merged, name)? {
            properties.push(further);
        }
        settle_names(&mut properties);
        if properties.is_empty() {
            return Ok(None);
        }
        Ok(Some(ObjectType {
            properties,
            description: merged.schema.description.clone(),
            source: merged.schema.source.to_string(),
            ..ObjectType::default()
        }))
    }

    /// Members beside the known ones, as a map of its own.
    fn further_members(
        &mut self,
        merged: &Merged<'a>,
        name: &str,
    ) -> Result<Option<Property>, TypesError> {
        const NAME: &str = "additionalProperties";
        let item = match merged.additional {
            Additional::Of(inner) => {
                let place = Place {
                    owner: name,
                    property: NAME,
                };
                self.map_item(inner, &place)?
            }
            Additional::Any => Some(TypeRef::Json),
            Additional::Unsaid | Additional::Forbidden => None,
        };
        Ok(item.map(|item| Property::new(NAME, &[], TypeRef::Map(Box::new(item)))))
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
    fn fix_discriminator(&mut self, property: &mut Property, merged: &Merged<'a>, name: &str) {
        if merged.schema.discriminator.is_some() && merged.schema.discriminator_value.is_none() {
            return;
        }
        let def = TypeDef::Enum(EnumType {
            values: vec![value(merged.schema)],
            extensible: false,
            description: property.description.clone(),
            source: merged.schema.source.to_string(),
        });
        let names = [format!("{name}{}", pascal(&property.name))];
        property.ty = TypeRef::Named(self.table.intern(&names, "", def));
        property.required = true;
    }

    fn property(
        &self,
        member: &str,
        schema: &'a Schema,
        ty: TypeRef,
        facts: Facts,
        merged: &Merged<'a>,
    ) -> Property {
        let spec = self.side == Side::Spec;
        let value = merge(self.set, schema).value;
        let says = |operation: &str| facts.mutability.iter().any(|known| known == operation);
        let told = !facts.mutability.is_empty();
        let arm_id = value.rules.format.as_deref() == Some("arm-id");
        Property {
            meaning: if arm_id && ty == TypeRef::String {
                Meaning::ArmId
            } else {
                Meaning::Plain
            },
            required: spec && merged.required.contains(member),
            read_only: facts.read_only,
            write_only: told && !says("read"),
            create_only: spec && told && says("create") && !says("update"),
            secret: facts.secret,
            rules: if spec {
                value.rules.clone()
            } else {
                Rules {
                    format: value.rules.format.clone(),
                    ..Rules::default()
                }
            },
            item_rules: if spec {
                self.item_rules(value)
            } else {
                Rules::default()
            },
            identifiers: facts.identifiers,
            description: facts.description,
            ..Property::new(member, &[member], ty)
        }
    }

    /// Constraints of the innermost item of a list or map.
    fn item_rules(&self, schema: &'a Schema) -> Rules {
        let mut rules = Rules::default();
        let mut current = schema;
        for _ in 0..DEEPEST {
            let inner = match (&current.items, &current.additional) {
                (Some(items), _) => items.as_ref(),
                (None, Additional::Of(inner)) => inner.as_ref(),
                _ => break,
            };
            current = merge(self.set, inner).value;
            rules = current.rules.clone();
        }
        rules
    }

    /// Facts about a property, from the place and from every schema that its references pass.
    fn facts(&self, schema: &'a Schema) -> Facts {
        let mut facts = Facts::default();
        let mut current = Some(schema);
        // Only the place can say read-only: a definition that does is meant as data elsewhere.
        facts.read_only = schema.read_only;
        while let Some(schema) = current {
            facts.secret |= schema.secret;
            facts.flatten |= schema.flatten;
            if facts.mutability.is_empty() {
                facts.mutability.clone_from(&schema.mutability);
            }
            if facts.identifiers.is_empty() {
                facts.identifiers.clone_from(&schema.identifiers);
            }
            if facts.description.is_none() {
                facts.description.clone_from(&schema.description);
            }
            current = schema
                .reference
                .as_ref()
                .and_then(|target| self.set.schema(target));
        }
        facts
    }
}

#[derive(Default)]
struct Facts {
    read_only: bool,
    secret: bool,
    flatten: bool,
    mutability: Vec<String>,
    identifiers: Vec<String>,
    description: Option<String>,
}

fn variant_property(name: String, ty: TypeRef, schema: &Schema) -> Property {
    Property {
        description: schema.description.clone(),
        ..Property::new(name, &[], ty)
    }
}

/// Whether a schema has a name of its own.
fn is_definition(schema: &Schema) -> bool {
    schema.source.pointer.matches('/').count() == 2
}
