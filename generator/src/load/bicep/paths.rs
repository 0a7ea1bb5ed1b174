//! Resource types → the paths that they stand for.
//!
//! A resource type says where it can be read and written, by bits for tenant, management group, subscription, resource
//! group and any other resource. Each becomes a path with GET and PUT of the body, or with HEAD and PUT where nothing can be
//! read: an association of two others has nothing to tell. Bicep never deletes, so its types do
//! not say whether DELETE exists: nearly every resource has it, and so has each path here.

use super::lower::Lowering;
use super::raw::{RawResource, RawType};
use crate::load::{
    LoadError, Operation, Parameter, ParameterPlace, Path, Schema, Source, Target, Verb,
};

/// Bits of scopes, with the path that each stands for.
const SCOPES: [(u32, &str); 5] = [
    (ANY, "/{scope}"),
    (1, ""),
    (
        2,
        "/providers/Microsoft.Management/managementGroups/{managementGroupId}",
    ),
    (4, "/subscriptions/{subscriptionId}"),
    (
        8,
        "/subscriptions/{subscriptionId}/resourceGroups/{resourceGroupName}",
    ),
];
/// Below any resource. Such a path includes all others.
const ANY: u32 = 16;
/// Its path names no provider.
const RESOURCE_GROUP: &str = "Microsoft.Resources/resourceGroups";

impl Lowering<'_> {
    /// The paths of a resource type.
    pub fn paths(&mut self, resource: &RawResource, pointer: &str) -> Result<Vec<Path>, LoadError> {
        let source = self.source(pointer.to_owned());
        let (body, target) = self.element(&resource.body, &source)?;
        let arm_type = arm_type(resource);
        // Variants that differ by name are resources with a name of their own.
        let bodies: Vec<(Option<String>, Target)> = match body {
            RawType::DiscriminatedObject(object) if object.discriminator == "name" => object
                .elements
                .iter()
                .map(|(name, element)| {
                    let target = self.element(element, &source)?.1;
                    Ok((Some(name.clone()), target))
                })
                .collect::<Result<_, LoadError>>()?,
            _ => vec![(None, target)],
        };
        let mut paths = Vec::new();
        for (fixed, body) in bodies {
            let name = self.name(resource, &source)?;
            let fixed = fixed.or_else(|| fixed_value(name.as_ref()));
            for (bit, before) in scopes(resource.readable_scopes | resource.writable_scopes) {
                let (template, parameter) = self.template(before, arm_type, fixed.as_deref());
                paths.push(Path {
                    parameters: vec![Parameter {
                        reference: None,
                        source: source.clone(),
                        name: parameter,
                        place: ParameterPlace::Path,
                        schema: name
                            .clone()
                            .unwrap_or_else(|| Schema::empty(source.clone())),
                    }],
                    operations: self.operations(resource, bit, &body, &source),
                    source: self.source(format!("{pointer}/paths/{}", paths.len())),
                    template,
                });
            }
        }
        Ok(paths)
    }

    fn operations(
        &mut self,
        resource: &RawResource,
        bit: u32,
        body: &Target,
        source: &Source,
    ) -> Vec<Operation> {
        let at = self.source(format!("{}/body", source.pointer));
        let schema = self.refer(at, body.clone());
        let operation = |verb, parameters, responses| Operation {
            verb,
            parameters,
            responses,
            long_running: false,
        };
        let answer = || vec![("200".to_owned(), schema.clone())];
        let mut operations = Vec::new();
        if resource.readable_scopes & bit != 0 {
            operations.push(operation(Verb::Get, Vec::new(), answer()));
        }
        let is_written = resource.writable_scopes & bit != 0;
        if resource.readable_scopes == 0 && is_written {
            // Specs have HEAD for such types, by which one asks whether there is one; they tell which do.
            operations.push(operation(Verb::Head, Vec::new(), Vec::new()));
        }
        if is_written {
            let parameter = Parameter {
                reference: None,
                source: source.clone(),
                name: "body".to_owned(),
                place: ParameterPlace::Body,
                schema: schema.clone(),
            };
            operations.push(operation(Verb::Put, vec![parameter], answer()));
            operations.push(operation(Verb::Delete, Vec::new(), Vec::new()));
        }
        operations
    }

    /// Path template, and the name of its last parameter.
    fn template(&self, before: &str, arm_type: &str, fixed: Option<&str>) -> (String, String) {
        if arm_type.eq_ignore_ascii_case(RESOURCE_GROUP) {
            let parameter = "resourceGroupName".to_owned();
            return (
                format!("{before}/resourceGroups/{{{parameter}}}"),
                parameter,
            );
        }
        let mut segments = arm_type.split('/');
        let mut known = segments.next().unwrap_or_default().to_owned();
        let mut template = format!("{before}/providers/{known}");
        let mut parameter = String::new();
        for segment in segments {
            known = format!("{known}/{segment}");
            parameter = format!("{segment}Name");
            if template.contains(&format!("{{{parameter}}}")) {
                parameter = format!("{parameter}{}", known.matches('/').count());
            }
            let value = if known == arm_type {
                fixed.map(str::to_owned)
            } else {
                self.fixed_name(&known)
            };
            let value = value.unwrap_or_else(|| format!("{{{parameter}}}"));
            template = format!("{template}/{segment}/{value}");
        }
        (template, parameter)
    }

    /// The one name that resources of a type can have, where the file says so.
    fn fixed_name(&self, of: &str) -> Option<String> {
        let resource = self.types.iter().find_map(|ty| match ty {
            RawType::Resource(resource) if arm_type(resource).eq_ignore_ascii_case(of) => {
                Some(resource)
            }
            _ => None,
        })?;
        let source = self.source(String::new());
        fixed_value(self.name(resource, &source).ok()?.as_ref())
    }

    /// Schema of the name of a resource.
    fn name(&self, resource: &RawResource, source: &Source) -> Result<Option<Schema>, LoadError> {
        let properties = match self.element(&resource.body, source)?.0 {
            RawType::Object(object) => &object.properties,
            RawType::DiscriminatedObject(object) => &object.base_properties,
            _ => return Ok(None),
        };
        let Some(name) = properties.get("name") else {
            return Ok(None);
        };
        let ty = self.element(&name.ty, source)?.0;
        Ok(Some(self.scalar(ty, source.clone())?))
    }
}

fn fixed_value(name: Option<&Schema>) -> Option<String> {
    match name?.values.as_slice() {
        [value] if !name?.extensible => Some(value.clone()),
        _ => None,
    }
}

fn arm_type(resource: &RawResource) -> &str {
    resource
        .name
        .split_once('@')
        .map_or(resource.name.as_str(), |(ty, _)| ty)
}

fn scopes(bits: u32) -> Vec<(u32, &'static str)> {
    SCOPES
        .into_iter()
        .filter(|(bit, _)| bits & bit != 0 && (bits & ANY == 0 || *bit == ANY))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::scopes;

    #[test]
    fn any_resource_includes_all_other_scopes() {
        let table: [(u32, &[u32]); 5] = [
            (0, &[]),
            (8, &[8]),
            (12, &[4, 8]),
            (31, &[16]),
            (3, &[1, 2]),
        ];
        for (bits, expected) in table {
            let found: Vec<u32> = scopes(bits).into_iter().map(|(bit, _)| bit).collect();
            assert_eq!(found, expected, "{bits}");
        }
    }
}
