//! Types of one api-version that came from one definition and are equal.
//!
//! Types that Azure defines apart stay apart, however equal: the next api-version may change one of them, and their
//! names tell what they are for.

use std::collections::BTreeMap;

use super::fingerprint::{Fingerprint, structures};
use crate::model::{Group, TypeDef, TypeName, TypeRef, TypeTable, reachable};

/// Unites the types of each version; the shortest name stays.
pub fn unite(group: &mut Group) {
    for version in group.versions.values_mut() {
        let resources = version.resources.iter();
        let spec_side = reachable(&version.types, resources.clone().map(|it| &it.spec));
        // Roots are named after their kinds.
        let roots = resources.flat_map(|it| [&it.spec, &it.status]);
        let roots = roots.collect::<Vec<_>>();
        let mut equal = BTreeMap::<(&str, bool, Fingerprint), Vec<&TypeName>>::new();
        for (name, structure) in structures(&version.types) {
            let Some((name, definition)) = version.types.get_key_value(&name) else {
                continue;
            };
            if roots.contains(&name) {
                continue;
            }
            let key = (source(definition), spec_side.contains(name), structure);
            equal.entry(key).or_default().push(name);
        }
        let mut names = BTreeMap::new();
        for ((source, ..), mut twins) in equal {
            // Types of the operator's own have no source and are named on purpose.
            if source.is_empty() {
                continue;
            }
            twins.sort_by_key(|name| (name.as_str().len(), name.as_str()));
            let others = twins.iter().skip(1);
            names.extend(others.map(|name| ((*name).clone(), twins[0].clone())));
        }
        rename(&mut version.types, &names);
    }
}

fn source(definition: &TypeDef) -> &str {
    match definition {
        TypeDef::Object(object) => &object.source,
        TypeDef::Enum(definition) => &definition.source,
    }
}

/// Drops the types that `names` maps to others, and lets what refers to them refer to those.
fn rename(types: &mut TypeTable, names: &BTreeMap<TypeName, TypeName>) {
    types.retain(|name, _| !names.contains_key(name));
    for definition in types.values_mut() {
        let TypeDef::Object(object) = definition else {
            continue;
        };
        for property in &mut object.properties {
            if let Some(name) = property.ty.named().and_then(|name| names.get(name)) {
                property.ty = property.ty.with_core(TypeRef::Named(name.clone()));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{ApiVersion, ObjectType, Property, Version};

    fn object(source: &str, properties: Vec<Property>) -> TypeDef {
        TypeDef::Object(ObjectType {
            properties,
            source: source.to_owned(),
            ..ObjectType::default()
        })
    }

    fn property(name: &str, ty: &str) -> Property {
        let ty = TypeRef::List(Box::new(TypeRef::Named(TypeName::new(ty))));
        Property::new(name, &[name], ty)
    }

    #[test]
    fn one_definition_gives_one_type_unless_what_came_of_it_differs() {
        let id = || Property::new("id", &["id"], TypeRef::String);
        let etag = || Property::new("etag", &["etag"], TypeRef::String);
        let root = ["Part", "HousePart", "GardenPart", "Twin", "Box", "HouseBox"]
            .map(|name| property(name, name));
        let types = [
            ("Root", object("#/Root", root.to_vec())),
            ("Part", object("#/Part", vec![id(), etag()])),
            ("HousePart", object("#/Part", vec![id()])),
            ("GardenPart", object("#/Part", vec![id()])),
            ("Twin", object("#/Twin", vec![id()])),
            ("Box", object("#/Box", vec![property("part", "HousePart")])),
            (
                "HouseBox",
                object("#/Box", vec![property("part", "GardenPart")]),
            ),
        ];
        let version = Version {
            api_version: ApiVersion::new("2024-01-01"),
            sources: Vec::new(),
            resources: Vec::new(),
            arm_types: BTreeMap::new(),
            types: types
                .into_iter()
                .map(|(name, definition)| (TypeName::new(name), definition))
                .collect(),
        };
        let mut group = Group {
            name: "test".to_owned(),
            api_group: "test.azure.com".to_owned(),
            versions: BTreeMap::from([(version.api_version.clone(), version)]),
            errors: Vec::new(),
        };
        unite(&mut group);
        let types = &group.versions[&ApiVersion::new("2024-01-01")].types;
        let names = types.keys().map(TypeName::as_str).collect::<Vec<_>>();
        // `HousePart` is shorter than `GardenPart`.
        assert_eq!(names, ["Box", "HousePart", "Part", "Root", "Twin"]);
        let TypeDef::Object(root) = &types[&TypeName::new("Root")] else {
            panic!("the root stays an object");
        };
        let used = root.properties.iter().filter_map(|it| it.ty.named());
        let used = used.map(TypeName::as_str).collect::<Vec<_>>();
        assert_eq!(
            used,
            ["Part", "HousePart", "HousePart", "Twin", "Box", "Box"]
        );
    }
}
