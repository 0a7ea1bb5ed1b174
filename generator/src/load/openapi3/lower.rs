//! Paths and components → document model.

use indexmap::IndexMap;
use openapiv3::{
    Components, MediaType, OpenAPI, Operation as RawOperation, Parameter as RawParameter,
    ParameterSchemaOrContent, PathItem, ReferenceOr, RequestBody, Response, Schema as RawSchema,
};
use serde_json::Value;

use super::schema::Schemas;
use super::{inside, invalid};
use crate::load::schema::{Lowering, child};
use crate::load::{
    Document, LoadError, Operation, Parameter, ParameterPlace, Path, Schema, Source, Verb,
};

const LONG_RUNNING: &str = "x-ms-long-running-operation";

/// Lowers one parsed file.
pub(super) fn lower(file: &str, raw: OpenAPI) -> Result<Document, LoadError> {
    let components = raw.components.unwrap_or_default();
    let mut file = File {
        lowering: Lowering::new(file),
        schemas: Schemas::new(&components),
    };
    let (mut schemas, parameters) = file.components(components)?;
    let mut paths = Vec::new();
    for (template, item) in raw.paths {
        paths.push(file.path(template, item)?);
    }
    let File {
        mut lowering,
        schemas: known,
    } = file;
    for variants in known.variants {
        variants.apply(&mut lowering, &mut schemas)?;
    }
    Ok(Document {
        file: lowering.file,
        api_version: Some(raw.info.version),
        paths,
        schemas,
        parameters,
        references: lowering.references,
    })
}

struct File {
    lowering: Lowering,
    schemas: Schemas,
}

type Named<T> = IndexMap<String, T>;

impl File {
    /// Components by pointer. A response is the schema of its body here, and a request body a parameter, so that
    /// references to them resolve as all others do.
    fn components(
        &mut self,
        components: Components,
    ) -> Result<(Named<Schema>, Named<Parameter>), LoadError> {
        let mut schemas = Named::new();
        for (name, schema) in components.schemas {
            let pointer = child("/components/schemas", &name);
            let at = self.lowering.source(pointer.clone());
            let raw = self.schemas.schema(schema, &at)?;
            let mut schema = self.lowering.named(raw, pointer.clone())?;
            schema.name = Some(name);
            schemas.insert(pointer, schema);
        }
        for (name, response) in components.responses {
            let pointer = child("/components/responses", &name);
            let at = self.lowering.source(pointer.clone());
            let body = self.response(response, &at)?;
            schemas.insert(pointer, body.unwrap_or_else(|| Schema::empty(at)));
        }
        let mut parameters = Named::new();
        for (name, parameter) in components.parameters {
            let pointer = child("/components/parameters", &name);
            let at = self.lowering.source(pointer.clone());
            parameters.insert(pointer, self.parameter(parameter, at)?);
        }
        for (name, body) in components.request_bodies {
            let pointer = child("/components/requestBodies", &name);
            let at = self.lowering.source(pointer.clone());
            parameters.insert(pointer, self.request_body(body, at)?);
        }
        Ok((schemas, parameters))
    }

    fn path(&mut self, template: String, item: ReferenceOr<PathItem>) -> Result<Path, LoadError> {
        let at = self.lowering.source(child("/paths", &template));
        let ReferenceOr::Item(item) = item else {
            let reason = "references in place of a path are not followed; write the path here";
            return Err(invalid(at, reason));
        };
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
                operations.push(self.operation(verb, operation, &inside(&at, name))?);
            }
        }
        Ok(Path {
            template,
            parameters: self.parameters(item.parameters, &at)?,
            source: at,
            operations,
        })
    }

    fn operation(
        &mut self,
        verb: Verb,
        raw: RawOperation,
        at: &Source,
    ) -> Result<Operation, LoadError> {
        let mut parameters = self.parameters(raw.parameters, at)?;
        if let Some(body) = raw.request_body {
            parameters.push(self.request_body(body, inside(at, "requestBody"))?);
        }
        let list = inside(at, "responses");
        let coded = raw.responses.responses.into_iter();
        let coded = coded.map(|(code, response)| (code.to_string(), response));
        let other = raw.responses.default.map(|it| ("default".to_owned(), it));
        let mut responses = Vec::new();
        for (code, response) in coded.chain(other) {
            if let Some(schema) = self.response(response, &inside(&list, &code))? {
                responses.push((code, schema));
            }
        }
        Ok(Operation {
            verb,
            parameters,
            responses,
            long_running: raw.extensions.get(LONG_RUNNING) == Some(&Value::Bool(true)),
        })
    }

    fn response(
        &mut self,
        raw: ReferenceOr<Response>,
        at: &Source,
    ) -> Result<Option<Schema>, LoadError> {
        match raw {
            ReferenceOr::Reference { reference } => self.refer(&reference, at).map(Some),
            ReferenceOr::Item(response) => self.content(response.content, at),
        }
    }

    fn request_body(
        &mut self,
        raw: ReferenceOr<RequestBody>,
        at: Source,
    ) -> Result<Parameter, LoadError> {
        let (reference, schema) = match raw {
            ReferenceOr::Reference { reference } => {
                (Some(self.lowering.reference(&reference, &at)?), None)
            }
            ReferenceOr::Item(body) => (None, self.content(body.content, &at)?),
        };
        Ok(Parameter {
            reference,
            name: "body".to_owned(),
            place: ParameterPlace::Body,
            schema: schema.unwrap_or_else(|| Schema::empty(at.clone())),
            source: at,
        })
    }

    fn parameters(
        &mut self,
        raw: Vec<ReferenceOr<RawParameter>>,
        at: &Source,
    ) -> Result<Vec<Parameter>, LoadError> {
        let list = inside(at, "parameters");
        raw.into_iter()
            .enumerate()
            .map(|(index, parameter)| self.parameter(parameter, inside(&list, &index.to_string())))
            .collect()
    }

    fn parameter(
        &mut self,
        raw: ReferenceOr<RawParameter>,
        at: Source,
    ) -> Result<Parameter, LoadError> {
        let raw = match raw {
            ReferenceOr::Item(raw) => raw,
            ReferenceOr::Reference { reference } => {
                return Ok(Parameter {
                    reference: Some(self.lowering.reference(&reference, &at)?),
                    name: String::new(),
                    place: ParameterPlace::Elsewhere,
                    schema: Schema::empty(at.clone()),
                    source: at,
                });
            }
        };
        let place = match &raw {
            RawParameter::Path { .. } => ParameterPlace::Path,
            _ => ParameterPlace::Elsewhere,
        };
        let data = raw.parameter_data();
        let schema = match data.format {
            ParameterSchemaOrContent::Schema(schema) => {
                Some(self.schema(schema, inside(&at, "schema"))?)
            }
            ParameterSchemaOrContent::Content(content) => self.content(content, &at)?,
        };
        Ok(Parameter {
            reference: None,
            name: data.name,
            place,
            schema: schema.unwrap_or_else(|| Schema::empty(at.clone())),
            source: at,
        })
    }

    /// Schema of the JSON among several media types.
    fn content(
        &mut self,
        content: IndexMap<String, MediaType>,
        at: &Source,
    ) -> Result<Option<Schema>, LoadError> {
        let Some((name, media_type)) = content.into_iter().find(|(name, _)| is_json(name)) else {
            return Ok(None);
        };
        let at = inside(&inside(&inside(at, "content"), &name), "schema");
        match media_type.schema {
            Some(schema) => self.schema(schema, at).map(Some),
            None => Ok(None),
        }
    }

    fn schema(&mut self, raw: ReferenceOr<RawSchema>, at: Source) -> Result<Schema, LoadError> {
        let raw = self.schemas.schema(raw, &at)?;
        self.lowering.place(raw, at.pointer)
    }

    fn refer(&mut self, reference: &str, at: &Source) -> Result<Schema, LoadError> {
        Ok(Schema {
            reference: Some(self.lowering.reference(reference, at)?),
            ..Schema::empty(at.clone())
        })
    }
}

fn is_json(media_type: &str) -> bool {
    let essence = media_type.split(';').next().unwrap_or_default().trim();
    let essence = essence.to_ascii_lowercase();
    essence == "application/json" || essence == "text/json" || essence.ends_with("+json")
}

#[cfg(test)]
mod tests {
    use super::is_json;

    #[test]
    fn json_is_told_by_the_media_type() {
        let table = [
            ("application/json", true),
            ("Application/JSON; charset=utf-8", true),
            ("text/json", true),
            ("application/merge-patch+json", true),
            ("application/octet-stream", false),
            ("application/xml", false),
        ];
        for (media_type, expected) in table {
            assert_eq!(is_json(media_type), expected, "{media_type}");
        }
    }
}
