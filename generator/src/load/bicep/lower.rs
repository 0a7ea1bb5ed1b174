//! Bicep types → document model.

use std::sync::Arc;

use indexmap::IndexMap;

use super::raw::{
    RawArray, RawDiscriminated, RawObject, RawProperty, RawResource, RawString, RawType, Reference,
};
use crate::load::{Additional, Document, LoadError, Path, Schema, SchemaType, Source, Target};
use crate::model::Rules;

/// Member of every resource body that only Bicep knows.
const API_VERSION: &str = "apiVersion";
/// Member of every resource body that the path sets.
const NAME: &str = "name";
/// How Bicep types write `format: uuid`.
const UUID_PATTERN: &str = "^[0-9a-fA-F]{8}-([0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}$";

/// Lowers one parsed file.
pub(super) fn lower(file: &str, types: &[RawType]) -> Result<Document, LoadError> {
    let mut lowering = Lowering {
        file: Arc::from(file),
        types,
        references: Vec::new(),
    };
    let mut schemas = IndexMap::new();
    let mut paths = Vec::new();
    let mut api_version = None;
    for (index, ty) in types.iter().enumerate() {
        let pointer = format!("/{index}");
        match ty {
            RawType::Object(object) => {
                schemas.insert(pointer.clone(), lowering.object(object, pointer)?);
            }
            RawType::Array(array) => {
                schemas.insert(pointer.clone(), lowering.array(array, pointer)?);
            }
            RawType::DiscriminatedObject(object) => {
                for schema in lowering.discriminated(object, pointer)? {
                    schemas.insert(schema.source.pointer.clone(), schema);
                }
            }
            RawType::Resource(resource) => {
                api_version = api_version.or_else(|| resource.api_version().map(str::to_owned));
                paths.extend(lowering.paths(resource, &pointer)?);
            }
            _ => {}
        }
    }
    for target in body_targets(&paths) {
        if let Some(body) = schemas.get_mut(&target.pointer) {
            body.azure_resource = true;
            if let Some(name) = body.properties.get_mut(NAME) {
                name.read_only = true;
            }
            body.properties.shift_remove(API_VERSION);
            body.required.retain(|name| name != API_VERSION);
        }
    }
    strip_variants(&mut schemas);
    Ok(Document {
        file: lowering.file,
        api_version,
        paths,
        schemas,
        parameters: IndexMap::new(),
        references: lowering.references,
    })
}

/// What the bodies of all paths refer to.
fn body_targets(paths: &[Path]) -> Vec<Target> {
    paths
        .iter()
        .flat_map(|path| &path.operations)
        .flat_map(|operation| &operation.responses)
        .filter_map(|(_, schema)| schema.reference.clone())
        .collect()
}

/// Variants of a body repeat its members, the one for Bicep alone included.
fn strip_variants(schemas: &mut IndexMap<String, Schema>) {
    let bodies: Vec<Source> = schemas
        .values()
        .filter(|schema| schema.azure_resource)
        .map(|schema| schema.source.clone())
        .collect();
    for schema in schemas.values_mut() {
        let mut bases = schema.all_of.iter().filter_map(|it| it.reference.as_ref());
        if bases.any(|base| bodies.contains(base)) {
            schema.properties.shift_remove(API_VERSION);
        }
    }
}

impl RawString {
    fn rules(&self) -> Rules {
        if self.pattern.as_deref() == Some(UUID_PATTERN) {
            return Rules {
                format: Some("uuid".to_owned()),
                ..Rules::default()
            };
        }
        Rules {
            pattern: self.pattern.clone(),
            min_length: self.min_length,
            max_length: self.max_length,
            ..Rules::default()
        }
    }
}

impl RawResource {
    /// The api-version behind the `@` of the name.
    fn api_version(&self) -> Option<&str> {
        self.name.split_once('@').map(|(_, version)| version)
    }
}

pub(super) struct Lowering<'t> {
    file: Arc<str>,
    pub types: &'t [RawType],
    references: Vec<(Source, Target)>,
}

impl<'t> Lowering<'t> {
    pub fn source(&self, pointer: String) -> Source {
        Source {
            file: Arc::clone(&self.file),
            pointer,
        }
    }

    /// The element that a reference names, with its place.
    pub fn element(
        &self,
        reference: &Reference,
        from: &Source,
    ) -> Result<(&'t RawType, Target), LoadError> {
        let index = reference
            .text
            .strip_prefix("#/")
            .and_then(|index| index.parse::<usize>().ok())
            .ok_or_else(|| LoadError::UnsupportedReference {
                from: from.clone(),
                reference: reference.text.clone(),
            })?;
        let target = self.source(format!("/{index}"));
        match self.types.get(index) {
            Some(ty) => Ok((ty, target)),
            None => Err(LoadError::DanglingReference {
                from: from.clone(),
                target,
                nearest: None,
            }),
        }
    }

    /// The schema that a reference stands for at its place. Objects stay references; what has no name of its own is
    /// written out, so that each place can say more about it.
    pub fn schema(&mut self, reference: &Reference, pointer: String) -> Result<Schema, LoadError> {
        let source = self.source(pointer);
        let (ty, target) = self.element(reference, &source)?;
        match ty {
            RawType::Object(_) | RawType::DiscriminatedObject(_) => Ok(self.refer(source, target)),
            // Arrays within arrays might lead back to themselves.
            RawType::Array(array) => match self.element(&array.item_type, &source)?.0 {
                RawType::Array(_) => Ok(self.refer(source, target)),
                _ => self.array(array, source.pointer),
            },
            ty => self.scalar(ty, source),
        }
    }

    pub fn refer(&mut self, source: Source, target: Target) -> Schema {
        self.references.push((source.clone(), target.clone()));
        Schema {
            reference: Some(target),
            ..Schema::empty(source)
        }
    }

    pub fn scalar(&self, ty: &RawType, source: Source) -> Result<Schema, LoadError> {
        let mut schema = Schema::empty(source);
        match ty {
            RawType::Boolean => schema.ty = Some(SchemaType::Boolean),
            RawType::Integer {
                min_value,
                max_value,
            } => {
                schema.ty = Some(SchemaType::Integer);
                schema.rules.minimum = *min_value;
                schema.rules.maximum = *max_value;
            }
            RawType::String(string) => {
                schema.ty = Some(SchemaType::String);
                schema.secret = string.sensitive;
                schema.rules = string.rules();
            }
            RawType::StringLiteral { value } => {
                schema.ty = Some(SchemaType::String);
                schema.values.push(value.clone());
            }
            RawType::Union { elements } => return self.union(elements, schema),
            // Any JSON; types of functions and resources are no values.
            _ => {}
        }
        Ok(schema)
    }

    /// A union of literals is an enum, extensible if any other string may stand for them. What mixes kinds of values
    /// can be any JSON.
    fn union(&self, elements: &[Reference], mut schema: Schema) -> Result<Schema, LoadError> {
        let any = Schema::empty(schema.source.clone());
        schema.ty = Some(SchemaType::String);
        for element in elements {
            match self.element(element, &schema.source)?.0 {
                RawType::StringLiteral { value } if schema.values.contains(value) => {}
                RawType::StringLiteral { value } => schema.values.push(value.clone()),
                ty @ RawType::String(_) => {
                    let open = self.scalar(ty, schema.source.clone())?;
                    schema.rules = open.rules;
                    schema.secret |= open.secret;
                    schema.extensible = true;
                }
                RawType::Null => {}
                _ => return Ok(any),
            }
        }
        Ok(schema)
    }

    fn array(&mut self, array: &RawArray, pointer: String) -> Result<Schema, LoadError> {
        let source = self.source(pointer);
        let items = self.schema(&array.item_type, format!("{}/itemType", source.pointer))?;
        let identifiers = match self.element(&array.item_type, &source)?.0 {
            RawType::Object(object) => identifiers(&object.properties),
            RawType::DiscriminatedObject(object) => identifiers(&object.base_properties),
            _ => Vec::new(),
        };
        Ok(Schema {
            ty: Some(SchemaType::Array),
            items: Some(Box::new(items)),
            identifiers,
            rules: Rules {
                min_items: array.min_length,
                max_items: array.max_length,
                ..Rules::default()
            },
            ..Schema::empty(source)
        })
    }

    fn object(&mut self, object: &RawObject, pointer: String) -> Result<Schema, LoadError> {
        let additional = match &object.additional_properties {
            None => Additional::Unsaid,
            Some(inner) => {
                let place = format!("{pointer}/additionalProperties");
                Additional::Of(Box::new(self.schema(inner, place)?))
            }
        };
        let mut schema = Schema {
            name: Some(object.name.clone()),
            ty: Some(SchemaType::Object),
            secret: object.sensitive,
            additional,
            ..Schema::empty(self.source(pointer))
        };
        self.properties(&object.properties, "properties", &mut schema)?;
        Ok(schema)
    }

    /// The base, and one schema for each variant that includes the base.
    fn discriminated(
        &mut self,
        object: &RawDiscriminated,
        pointer: String,
    ) -> Result<Vec<Schema>, LoadError> {
        let mut base = Schema {
            name: Some(object.name.clone()),
            ty: Some(SchemaType::Object),
            discriminator: Some(object.discriminator.clone()),
            ..Schema::empty(self.source(pointer.clone()))
        };
        self.properties(&object.base_properties, "baseProperties", &mut base)?;
        let target = base.source.clone();
        let mut schemas = vec![base];
        for (value, reference) in &object.elements {
            let part = value.replace('~', "~0").replace('/', "~1");
            let place = format!("{pointer}/elements/{part}");
            let source = self.source(place.clone());
            let (ty, named) = self.element(reference, &source)?;
            let RawType::Object(element) = ty else {
                return Err(LoadError::VariantNotAnObject {
                    from: source,
                    target: named,
                });
            };
            let mut variant = self.object(element, place.clone())?;
            variant.discriminator_value = Some(value.clone());
            if let Some(property) = variant.properties.get_mut(&object.discriminator) {
                property.values.clear();
            }
            let includes = self.source(format!("{place}/base"));
            variant.all_of.push(self.refer(includes, target.clone()));
            schemas.push(variant);
        }
        Ok(schemas)
    }

    fn properties(
        &mut self,
        properties: &IndexMap<String, RawProperty>,
        member: &str,
        schema: &mut Schema,
    ) -> Result<(), LoadError> {
        for (name, property) in properties {
            let part = name.replace('~', "~0").replace('/', "~1");
            let place = format!("{}/{member}/{part}", schema.source.pointer);
            let mut lowered = self.schema(&property.ty, place)?;
            lowered.read_only = property.is_read_only();
            lowered.write_only = property.is_write_only();
            lowered.description.clone_from(&property.description);
            if property.is_required() {
                schema.required.push(name.clone());
            }
            schema.properties.insert(name.clone(), lowered);
        }
        Ok(())
    }
}

fn identifiers(properties: &IndexMap<String, RawProperty>) -> Vec<String> {
    properties
        .iter()
        .filter(|(_, property)| property.is_identifier())
        .map(|(name, _)| name.clone())
        .collect()
}
