//! Small models, built by hand.

use std::collections::BTreeMap;

use armature_generator::model::{
    ApiVersion, EnumType, Group, NameRule, ObjectType, Owner, Property, Resource, Rules, Scope,
    SourceFile, TypeDef, TypeId, TypeRef, TypeTable, Verbs, Version,
};
use armature_generator::types::ONLY_SOURCE;

pub fn string(name: &str) -> Property {
    Property::new(name, &[name], TypeRef::String)
}

/// A property below `properties` in ARM.
pub fn inner(name: &str, ty: TypeRef) -> Property {
    Property::new(name, &["properties", name], ty)
}

pub fn named(name: &str) -> TypeRef {
    TypeRef::Named(TypeId::of_schema(name))
}

pub fn list(item: TypeRef) -> TypeRef {
    TypeRef::List(Box::new(item))
}

pub fn map(item: TypeRef) -> TypeRef {
    TypeRef::Map(Box::new(item))
}

pub fn object(name: &str, properties: Vec<Property>) -> (TypeId, TypeDef) {
    let definition = name.strip_suffix("Status").unwrap_or(name);
    let object = ObjectType {
        properties,
        source: format!("specification/test/test.json#/definitions/{definition}"),
        definition: Some(definition.to_owned()),
        ..ObjectType::default()
    };
    (TypeId::of_schema(name), TypeDef::Object(object))
}

pub fn enumeration(name: &str, values: &[&str]) -> (TypeId, TypeDef) {
    let definition = EnumType {
        values: values.iter().map(|value| (*value).to_owned()).collect(),
        extensible: true,
        ..EnumType::default()
    };
    (TypeId::of_schema(name), TypeDef::Enum(definition))
}

/// A resource below a resource group, or below `Microsoft.Test/parents` when its type has two segments.
pub fn resource(kind: &str, arm_type: &str) -> Resource {
    let is_child = arm_type.matches('/').count() > 1;
    Resource {
        kind: kind.to_owned(),
        plural: String::new(),
        arm_type: arm_type.to_owned(),
        path: String::new(),
        source: (SourceFile("test.json".to_owned()), "/paths/x".to_owned()),
        inherited_from: None,
        scope: Scope::ResourceGroup,
        owner: if is_child {
            Owner::Parent("Microsoft.Test/parents".to_owned())
        } else {
            Owner::ResourceGroup
        },
        name: NameRule::Free(Rules {
            min_length: Some(3),
            ..Rules::default()
        }),
        verbs: Verbs {
            get: true,
            put: true,
            delete: true,
            put_long_running: true,
            ..Verbs::default()
        },
        spec: TypeId::of_schema(format!("{kind}Spec")),
        status: TypeId::of_schema(format!("{kind}Status")),
        version_names: Vec::new(),
        is_on_request: false,
        retirement: None,
        secrets: Vec::new(),
        config_maps: Vec::new(),
        child_lists: Vec::new(),
        keep_unknown: Vec::new(),
    }
}

pub fn version(
    api_version: &str,
    resources: Vec<Resource>,
    types: Vec<(TypeId, TypeDef)>,
) -> Version {
    let arm_types = resources.iter().map(|it| it.arm_type.clone());
    Version {
        api_version: ApiVersion::new(api_version),
        sources: vec![SourceFile(format!(
            "specification/test/{api_version}/test.json"
        ))],
        arm_types: BTreeMap::from([(ONLY_SOURCE.to_owned(), arm_types.collect())]),
        resources,
        words: types.iter().map(|(id, _)| id.to_string()).collect(),
        types: types.into_iter().collect::<TypeTable>(),
    }
}

pub fn group(versions: Vec<Version>) -> Group {
    let versions = versions.into_iter();
    let versions = versions.map(|version| (version.api_version.clone(), version));
    Group {
        name: "test".to_owned(),
        api_group: "test.azure.com".to_owned(),
        versions: versions.collect::<BTreeMap<_, _>>(),
        errors: Vec::new(),
        values: BTreeMap::new(),
        types_by_letter: false,
    }
}
