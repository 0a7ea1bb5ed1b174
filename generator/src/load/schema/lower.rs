//! Schemas and references → document model.

use std::sync::Arc;

use indexmap::IndexMap;
use serde_json::Value;

use super::raw::{RawAdditional, RawSchema};
use crate::load::relative::resolve_file;
use crate::load::{Additional, LoadError, Schema, SchemaType, Source, Target};
use crate::model::Rules;

/// The lowering of one file.
pub(in crate::load) struct Lowering {
    pub file: Arc<str>,
    /// References met so far.
    pub references: Vec<(Source, Target)>,
}

impl Lowering {
    pub fn new(file: &str) -> Self {
        Self {
            file: Arc::from(file),
            references: Vec::new(),
        }
    }

    pub fn source(&self, pointer: String) -> Source {
        Source {
            file: Arc::clone(&self.file),
            pointer,
        }
    }

    /// Reads a reference, and keeps it for the check that it leads somewhere.
    pub fn reference(&mut self, text: &str, from: &Source) -> Result<Target, LoadError> {
        let (relative, pointer) = text.split_once('#').unwrap_or((text, ""));
        let unsupported = || LoadError::UnsupportedReference {
            from: from.clone(),
            reference: text.to_owned(),
        };
        let file = resolve_file(&self.file, relative).ok_or_else(unsupported)?;
        if !pointer.starts_with('/') {
            return Err(unsupported());
        }
        let target = Target {
            file: Arc::from(file),
            pointer: percent_decoded(pointer),
        };
        self.references.push((from.clone(), target.clone()));
        Ok(target)
    }

    /// Lowers a schema at a place. Where facts cannot stand beside a reference, it is wrapped in an `allOf` of one: a
    /// reference all the same.
    pub fn place(&mut self, mut raw: RawSchema, pointer: String) -> Result<Schema, LoadError> {
        if raw.all_of.len() == 1 && raw.all_of[0].reference.is_some() && raw.says_no_more() {
            raw.reference = raw.all_of.remove(0).reference;
            raw.ty = None;
        }
        self.named(raw, pointer)
    }

    /// Lowers a schema that has a name, and all that stands within it.
    pub fn named(&mut self, mut raw: RawSchema, pointer: String) -> Result<Schema, LoadError> {
        let source = self.source(pointer);
        let reference = match &raw.reference {
            Some(text) => Some(self.reference(text, &source)?),
            None => None,
        };
        let inner = Nested {
            properties: std::mem::take(&mut raw.properties),
            all_of: std::mem::take(&mut raw.all_of),
            items: raw.items.take(),
            additional: raw.additional.take(),
        };
        let mut schema = Schema {
            reference,
            required: raw.required,
            ty: raw.ty.map(schema_type),
            values: strings(raw.values),
            extensible: raw
                .ms_enum
                .as_ref()
                .is_some_and(|known| known.model_as_string),
            enum_name: raw.ms_enum.and_then(|known| known.name),
            discriminator: raw.discriminator,
            discriminator_value: raw.discriminator_value,
            flatten: raw.flatten,
            azure_resource: raw.azure_resource,
            read_only: raw.read_only,
            write_only: raw.write_only,
            secret: raw.secret,
            mutability: raw.mutability,
            identifiers: raw.identifiers,
            rules: Rules {
                format: raw.format,
                pattern: raw.pattern,
                min_length: raw.min_length,
                max_length: raw.max_length,
                minimum: raw.minimum,
                maximum: raw.maximum,
                multiple_of: raw.multiple_of,
                min_items: raw.min_items,
                max_items: raw.max_items,
                slash: None,
            },
            default: raw.default,
            description: raw.description,
            ..Schema::empty(source)
        };
        self.nested(&mut schema, inner)?;
        Ok(schema)
    }

    /// Lowers what stands within a schema.
    fn nested(&mut self, schema: &mut Schema, inner: Nested) -> Result<(), LoadError> {
        let at = schema.source.pointer.clone();
        for (name, property) in inner.properties {
            let place = child(&child(&at, "properties"), &name);
            schema.properties.insert(name, self.place(property, place)?);
        }
        for (index, part) in inner.all_of.into_iter().enumerate() {
            let place = child(&child(&at, "allOf"), &index.to_string());
            schema.all_of.push(self.place(part, place)?);
        }
        if let Some(items) = inner.items {
            schema.items = Some(Box::new(self.place(*items, child(&at, "items"))?));
        }
        schema.additional = match inner.additional {
            None => Additional::Unsaid,
            Some(RawAdditional::Flag(false)) => Additional::Forbidden,
            Some(RawAdditional::Flag(true)) => Additional::Any,
            Some(RawAdditional::Schema(inner)) => Additional::Of(Box::new(
                self.place(*inner, child(&at, "additionalProperties"))?,
            )),
        };
        Ok(())
    }
}

/// The schemas within a schema.
struct Nested {
    properties: IndexMap<String, RawSchema>,
    all_of: Vec<RawSchema>,
    items: Option<Box<RawSchema>>,
    additional: Option<RawAdditional>,
}

/// Type by its name.
pub(in crate::load) fn schema_type(text: String) -> SchemaType {
    match text.as_str() {
        "object" => SchemaType::Object,
        "array" => SchemaType::Array,
        "string" => SchemaType::String,
        "integer" => SchemaType::Integer,
        "number" => SchemaType::Number,
        "boolean" => SchemaType::Boolean,
        "file" => SchemaType::File,
        _ => SchemaType::Unknown(text),
    }
}

/// Known values as text. Specs quote some numbers and leave others bare; `null` stands for absence.
pub(in crate::load) fn strings(values: Option<Vec<Value>>) -> Vec<String> {
    let mut texts = Vec::new();
    for value in values.into_iter().flatten() {
        let text = match value {
            Value::Null => continue,
            Value::String(text) => text,
            other => other.to_string(),
        };
        if !texts.contains(&text) {
            texts.push(text);
        }
    }
    texts
}

/// Pointer to the member `name` of what `pointer` points at.
pub(in crate::load) fn child(pointer: &str, name: &str) -> String {
    format!("{pointer}/{}", name.replace('~', "~0").replace('/', "~1"))
}

/// References are URI fragments, in which a few specs encode brackets of type names.
fn percent_decoded(text: &str) -> String {
    if !text.contains('%') {
        return text.to_owned();
    }
    let bytes = text.as_bytes();
    let mut decoded = Vec::with_capacity(bytes.len());
    let mut index = 0;
    while index < bytes.len() {
        let code = (bytes[index] == b'%')
            .then(|| text.get(index + 1..index + 3))
            .flatten()
            .and_then(|digits| u8::from_str_radix(digits, 16).ok());
        match code {
            Some(byte) => {
                decoded.push(byte);
                index += 3;
            }
            None => {
                decoded.push(bytes[index]);
                index += 1;
            }
        }
    }
    String::from_utf8_lossy(&decoded).into_owned()
}
