//! Swagger 2.0 → document model.

use indexmap::IndexMap;

use super::raw::{PathItem, RawOperation, RawParameter, Swagger};
use crate::load::schema::{Lowering, child, schema_type, strings};
use crate::load::{Document, LoadError, Operation, Parameter, ParameterPlace, Path, Schema, Verb};
use crate::model::Rules;

/// Lowers one parsed file.
pub(super) fn lower(file: &str, raw: Swagger) -> Result<Document, LoadError> {
    let mut lowering = Lowering::new(file);
    let mut schemas = IndexMap::new();
    for (name, schema) in raw.definitions {
        let pointer = child("/definitions", &name);
        schemas.insert(pointer.clone(), lowering.named(schema, pointer)?);
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

impl Lowering {
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
                responses.push((code, self.place(schema, at)?));
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
            Some(schema) => self.place(schema, child(&source.pointer, "schema"))?,
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
}
