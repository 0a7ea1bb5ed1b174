//! Swagger 2.0 → document model.

use std::sync::Arc;

use indexmap::IndexMap;
use serde_json::Value;

use super::raw::{PathItem, RawAdditional, RawOperation, RawParameter, RawSchema, Swagger};
use crate::load::root::resolve_file;
use crate::load::{
    Additional, Document, LoadError, Operation, Parameter, ParameterPlace, Path, Schema,
    SchemaType, Source, Target, Verb,
};
use crate::model::Rules;

/// Lowers one parsed file.
pub(super) fn lower(file: &str, raw: Swagger) -> Result<Document, LoadError> {
    let mut lowering = Lowering {
        file: Arc::from(file),
        references: Vec::new(),
    };
    let mut schemas = IndexMap::new();
    for (name, schema) in raw.definitions {
        let pointer = child("/definitions", &name);
        schemas.insert(pointer.clone(), lowering.schema(schema, pointer)?);
    }
    let mut parameters = IndexMap::new();
    for (name, parameter) in raw.parameters {
        let pointer = child("/parameters", &name);
        parameters.insert(pointer.clone(), lowering.parameter(parameter, pointer)?);
    }
    let mut paths = Vec::new();
    for (template, item) in raw.paths {
        paths.push(lowering.path(template, item)?);
    }
    Ok(Document {
        file: lowering.file,
        api_version: raw.info.and_then(|info| info.version),
        paths,
        schemas,
        parameters,
        references: lowering.references,
    })
}

struct Lowering {
    file: Arc<str>,
    references: Vec<(Source, Target)>,
}

impl Lowering {
    fn source(&self, pointer: String) -> Source {
        Source {
            file: Arc::clone(&self.file),
            pointer,
        }
    }

    fn reference(&mut self, text: &str, from: &Source) -> Result<Target, LoadError> {
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

    fn path(&mut self, template: String, item: PathItem) -> Result<Path, LoadError> {
        let pointer = child("/paths", &template);
        let verbs = [
            (Verb::Get, "get", item.get),
            (Verb::Head, "head", item.head),
            (Verb::Put, "put", item.put),
            (Verb::Patch, "patch", item.patch),
            (Verb::Delete, "delete", item.delete),
        ];
        let mut operations = Vec::new();
        for (verb, name, operation) in verbs {
            if let Some(operation) = operation {
                operations.push(self.operation(verb, operation, child(&pointer, name))?);
            }
        }
        Ok(Path {
            template,
            parameters: self.parameters(item.parameters, &pointer)?,
            source: self.source(pointer),
            operations,
        })
    }

    fn operation(
        &mut self,
        verb: Verb,
        raw: RawOperation,
        pointer: String,
    ) -> Result<Operation, LoadError> {
        let mut responses = Vec::new();
        for (code, response) in raw.responses {
            if let Some(schema) = response.schema {
                let at = child(&child(&child(&pointer, "responses"), &code), "schema");
                responses.push((code, self.schema(schema, at)?));
            }
        }
        Ok(Operation {
            verb,
            parameters: self.parameters(raw.parameters, &pointer)?,
            responses,
            long_running: raw.long_running,
        })
    }

    fn parameters(
        &mut self,
        raw: Vec<RawParameter>,
        pointer: &str,
    ) -> Result<Vec<Parameter>, LoadError> {
        let list = child(pointer, "parameters");
        raw.into_iter()
            .enumerate()
            .map(|(index, parameter)| self.parameter(parameter, child(&list, &index.to_string())))
            .collect()
    }

    fn parameter(&mut self, raw: RawParameter, pointer: String) -> Result<Parameter, LoadError> {
        let source = self.source(pointer);
        let reference = match &raw.reference {
            Some(text) => Some(self.reference(text, &source)?),
            None => None,
        };
        let place = match raw.place.as_deref() {
            Some("path") => ParameterPlace::Path,
            Some("body") => ParameterPlace::Body,
            _ => ParameterPlace::Elsewhere,
        };
        let schema = match raw.schema {
            Some(schema) => self.schema(schema, child(&source.pointer, "schema"))?,
            None => Schema {
                ty: raw.ty.map(schema_type),
                values: strings(raw.values),
                rules: Rules {
                    format: raw.format,
                    pattern: raw.pattern,
                    min_length: raw.min_length,
                    max_length: raw.max_length,
                    ..Rules::default()
                },
                ..Schema::empty(source.clone())
            },
        };
        Ok(Parameter {
            reference,
            name: raw.name.unwrap_or_default(),
            place,
            schema,
            source,
        })
    }

    fn schema(&mut self, mut raw: RawSchema, pointer: String) -> Result<Schema, LoadError> {
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
            },
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
            schema
                .properties
                .insert(name, self.schema(property, place)?);
        }
        for (index, part) in inner.all_of.into_iter().enumerate() {
            let place = child(&child(&at, "allOf"), &index.to_string());
            schema.all_of.push(self.schema(part, place)?);
        }
        if let Some(items) = inner.items {
            schema.items = Some(Box::new(self.schema(*items, child(&at, "items"))?));
        }
        schema.additional = match inner.additional {
            None => Additional::Unsaid,
            Some(RawAdditional::Flag(false)) => Additional::Forbidden,
            Some(RawAdditional::Flag(true)) => Additional::Any,
            Some(RawAdditional::Schema(inner)) => Additional::Of(Box::new(
                self.schema(*inner, child(&at, "additionalProperties"))?,
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

fn schema_type(text: String) -> SchemaType {
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
fn strings(values: Option<Vec<Value>>) -> Vec<String> {
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
fn child(pointer: &str, name: &str) -> String {
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
