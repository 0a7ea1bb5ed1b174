//! Schemas of OpenAPI 3.0 in the form that Swagger 2.0 has too.
//!
//! A union of strings is an enum; any other union can be any JSON, unless a discriminator tells its members apart
//! ([`super::variants`]).

use std::collections::BTreeMap;
use std::mem::take;

use openapiv3::{
    AdditionalProperties, AnySchema, Components, ReferenceOr, Schema, SchemaKind, StringType, Type,
    VariantOrUnknownOrEmpty,
};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::variants::Variants;
use super::{inside, invalid};
use crate::load::schema::{MsEnum, RawAdditional, RawSchema};
use crate::load::{LoadError, Source};

/// The way of the schemas of one file.
pub(super) struct Schemas {
    /// Components that are strings, by reference.
    strings: BTreeMap<String, StringType>,
    /// Discriminators met so far.
    pub variants: Vec<Variants>,
}

impl Schemas {
    pub fn new(components: &Components) -> Self {
        let string = |(name, schema): (&String, &ReferenceOr<Schema>)| match schema {
            ReferenceOr::Item(Schema {
                schema_kind: SchemaKind::Type(Type::String(string)),
                ..
            }) => Some((format!("#/components/schemas/{name}"), string.clone())),
            _ => None,
        };
        Self {
            strings: components.schemas.iter().filter_map(string).collect(),
            variants: Vec::new(),
        }
    }

    /// A schema and all that stands within it.
    pub fn schema(
        &mut self,
        schema: ReferenceOr<Schema>,
        at: &Source,
    ) -> Result<RawSchema, LoadError> {
        let Schema {
            schema_data: data,
            schema_kind,
        } = match schema {
            ReferenceOr::Item(schema) => schema,
            ReferenceOr::Reference { reference } => {
                return Ok(RawSchema {
                    reference: Some(reference),
                    ..RawSchema::default()
                });
            }
        };
        let extensions = Value::Object(data.extensions.into_iter().collect());
        let mut raw =
            RawSchema::deserialize(extensions).map_err(|error| invalid(at.clone(), error))?;
        let mut any = any_schema(schema_kind);
        self.parts(&mut any, &mut raw, at)?;
        raw = RawSchema {
            read_only: data.read_only,
            write_only: data.write_only,
            default: data.default,
            description: data.description,
            ty: any.typ,
            format: any.format,
            pattern: any.pattern,
            min_length: any.min_length.map(|length| length as u64),
            max_length: any.max_length.map(|length| length as u64),
            minimum: any.minimum,
            maximum: any.maximum,
            multiple_of: any.multiple_of,
            min_items: any.min_items.map(|count| count as u64),
            max_items: any.max_items.map(|count| count as u64),
            required: any.required,
            values: Some(any.enumeration),
            ..raw
        };
        let members = any.one_of.into_iter().chain(any.any_of).collect();
        match data.discriminator {
            Some(discriminator) => {
                raw.discriminator = Some(discriminator.property_name);
                self.variants
                    .push(Variants::new(at, discriminator.mapping, members));
            }
            None => self.union(members, &mut raw),
        }
        Ok(raw)
    }

    /// Moves the schemas that stand within one from `any` to `raw`.
    fn parts(
        &mut self,
        any: &mut AnySchema,
        raw: &mut RawSchema,
        at: &Source,
    ) -> Result<(), LoadError> {
        let list = inside(at, "properties");
        for (name, property) in take(&mut any.properties) {
            let property = self.schema(property.unbox(), &inside(&list, &name))?;
            raw.properties.insert(name, property);
        }
        let list = inside(at, "allOf");
        for (index, part) in take(&mut any.all_of).into_iter().enumerate() {
            let part = self.schema(part, &inside(&list, &index.to_string()))?;
            raw.all_of.push(part);
        }
        if let Some(items) = any.items.take() {
            let items = self.schema(items.unbox(), &inside(at, "items"))?;
            raw.items = Some(Box::new(items));
        }
        raw.additional = match any.additional_properties.take() {
            None => None,
            Some(AdditionalProperties::Any(flag)) => Some(RawAdditional::Flag(flag)),
            Some(AdditionalProperties::Schema(inner)) => {
                let inner = self.schema(*inner, &inside(at, "additionalProperties"))?;
                Some(RawAdditional::Schema(Box::new(inner)))
            }
        };
        Ok(())
    }

    /// A union without a discriminator. An enum that may grow is a union of known values and any string.
    fn union(&self, members: Vec<ReferenceOr<Schema>>, raw: &mut RawSchema) {
        if let [ReferenceOr::Reference { reference }] = members.as_slice() {
            raw.reference = Some(reference.clone());
            return;
        }
        let strings: Option<Vec<StringType>> =
            members.into_iter().map(|it| self.string(it)).collect();
        let Some(strings) = strings.filter(|strings| !strings.is_empty()) else {
            return;
        };
        raw.ty = Some("string".to_owned());
        let values = raw.values.get_or_insert_default();
        for string in strings {
            if string.enumeration.is_empty() {
                raw.ms_enum = Some(MsEnum {
                    name: raw.ms_enum.take().and_then(|known| known.name),
                    model_as_string: true,
                });
                raw.format = raw.format.take().or(text(&string.format));
                raw.pattern = raw.pattern.take().or(string.pattern);
                raw.min_length = raw.min_length.or(string.min_length.map(|it| it as u64));
                raw.max_length = raw.max_length.or(string.max_length.map(|it| it as u64));
            }
            values.extend(string.enumeration.into_iter().map(Value::from));
        }
    }

    /// The string that a schema is, or refers to in this file.
    fn string(&self, schema: ReferenceOr<Schema>) -> Option<StringType> {
        match schema {
            ReferenceOr::Reference { reference } => self.strings.get(&reference).cloned(),
            ReferenceOr::Item(schema) => match schema.schema_kind {
                SchemaKind::Type(Type::String(string)) => Some(string),
                _ => None,
            },
        }
    }
}

/// A schema of any kind in the most general form.
fn any_schema(kind: SchemaKind) -> AnySchema {
    let empty = AnySchema::default();
    match kind {
        SchemaKind::Any(any) => any,
        SchemaKind::OneOf { one_of } => AnySchema { one_of, ..empty },
        SchemaKind::AllOf { all_of } => AnySchema { all_of, ..empty },
        SchemaKind::AnyOf { any_of } => AnySchema { any_of, ..empty },
        SchemaKind::Not { .. } => empty,
        SchemaKind::Type(ty) => AnySchema {
            typ: Some(type_name(&ty).to_owned()),
            ..any_type(ty)
        },
    }
}

fn type_name(ty: &Type) -> &'static str {
    match ty {
        Type::String(_) => "string",
        Type::Number(_) => "number",
        Type::Integer(_) => "integer",
        Type::Object(_) => "object",
        Type::Array(_) => "array",
        Type::Boolean(_) => "boolean",
    }
}

fn any_type(ty: Type) -> AnySchema {
    let empty = AnySchema::default();
    match ty {
        Type::String(string) => AnySchema {
            format: text(&string.format),
            pattern: string.pattern,
            min_length: string.min_length,
            max_length: string.max_length,
            enumeration: values(string.enumeration),
            ..empty
        },
        Type::Number(number) => AnySchema {
            format: text(&number.format),
            multiple_of: number.multiple_of,
            minimum: number.minimum,
            maximum: number.maximum,
            enumeration: values(number.enumeration),
            ..empty
        },
        Type::Integer(integer) => AnySchema {
            format: text(&integer.format),
            multiple_of: integer.multiple_of.map(|of| of as f64),
            minimum: integer.minimum.map(|least| least as f64),
            maximum: integer.maximum.map(|most| most as f64),
            enumeration: values(integer.enumeration),
            ..empty
        },
        Type::Object(object) => AnySchema {
            properties: object.properties,
            required: object.required,
            additional_properties: object.additional_properties,
            ..empty
        },
        Type::Array(array) => AnySchema {
            items: array.items,
            min_items: array.min_items,
            max_items: array.max_items,
            ..empty
        },
        Type::Boolean(boolean) => AnySchema {
            enumeration: values(boolean.enumeration),
            ..empty
        },
    }
}

fn values<T: Into<Value>>(known: Vec<Option<T>>) -> Vec<Value> {
    known.into_iter().map(Value::from).collect()
}

/// A format as it stands in the file.
fn text<T: Serialize>(format: &VariantOrUnknownOrEmpty<T>) -> Option<String> {
    match serde_json::to_value(format) {
        Ok(Value::String(text)) => Some(text),
        _ => None,
    }
}
