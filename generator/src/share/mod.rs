//! Pass 7: equal types become one.
//!
//! A type is equal to another when name, properties, constraints and, recursively, the types of its properties are. Prose
//! does not count. Equal ones of all api-versions are one. What stands for a whole spec or status is at home in the
//! oldest version of its kind that has it; where any other type is, its name and fingerprint say ([`Sharing::prints`]).
//!
//! Types that Azure defines apart stay apart, however equal: the next api-version may change one of them, and their
//! names tell what they are for.

mod fingerprint;

use std::collections::{BTreeMap, BTreeSet};

pub use fingerprint::{Fingerprint, fingerprints};

use crate::hub::Hubs;
use crate::model::{ApiVersion, Group, MissingType, TypeId, TypeName};
use crate::naming::Names;

/// Where each type of a group is defined.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sharing {
    /// Version that defines the type of a version; the version itself when nothing older is equal.
    pub homes: BTreeMap<(ApiVersion, TypeId), ApiVersion>,
    /// Fingerprint of each type of a version.
    pub prints: BTreeMap<(ApiVersion, TypeId), Fingerprint>,
    /// Name and fingerprint of each hub type.
    pub hub: BTreeMap<TypeId, (TypeName, Fingerprint)>,
    /// Version that defines each distinct type.
    pub distinct: BTreeMap<(TypeName, Fingerprint), ApiVersion>,
    /// Of all types with one name, the one that has it without more: that of the oldest api-version. A newer api-version
    /// that changes the type takes the name from nobody.
    pub plain: BTreeMap<TypeName, Fingerprint>,
}

impl Sharing {
    /// Number of types over all versions.
    pub fn before(&self) -> usize {
        self.homes.len()
    }

    /// Number of types that are defined.
    pub fn after(&self) -> usize {
        self.distinct.len()
    }

    /// Number of hub types that no version has alike.
    pub fn of_hub_alone(&self) -> usize {
        let own = self.hub.values();
        let own = own.filter(|known| !self.distinct.contains_key(*known));
        own.collect::<BTreeSet<_>>().len()
    }

    /// Version that defines a type of a version.
    pub fn home<'a>(&'a self, version: &'a ApiVersion, ty: &TypeId) -> &'a ApiVersion {
        self.homes
            .get(&(version.clone(), ty.clone()))
            .unwrap_or(version)
    }

    /// Whether a type has its name without more.
    pub fn is_plain(&self, name: &TypeName, print: &Fingerprint) -> bool {
        self.plain.get(name) == Some(print)
    }

    /// Version that defines a type equal to one of the hub.
    pub fn home_of_hub(&self, ty: &TypeId) -> Option<&ApiVersion> {
        self.distinct.get(self.hub.get(ty)?)
    }
}

/// Finds the home of every type.
///
/// # Errors
/// When a type refers to one that is not there: a fault of the passes before.
pub fn share(group: &Group, hubs: &Hubs, names: &Names) -> Result<Sharing, MissingType> {
    let mut sharing = Sharing::default();
    for (api_version, version) in &group.versions {
        let names = names.of_version(api_version);
        for (ty, fingerprint) in fingerprints(&version.types, names)? {
            let name = names.get(&ty)?;
            let plain = sharing.plain.entry(name.clone());
            plain.or_insert(fingerprint);
            let home = sharing
                .distinct
                .entry((name.clone(), fingerprint))
                .or_insert_with(|| api_version.clone())
                .clone();
            let key = (api_version.clone(), ty);
            sharing.prints.insert(key.clone(), fingerprint);
            sharing.homes.insert(key, home);
        }
    }
    for (ty, fingerprint) in fingerprints(&hubs.types, &names.hub)? {
        let name = names.hub.get(&ty)?.clone();
        sharing.hub.insert(ty, (name, fingerprint));
    }
    Ok(sharing)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{EnumType, ObjectType, Property, TypeDef, TypeRef, TypeTable, Version};

    fn object(properties: Vec<Property>) -> TypeDef {
        TypeDef::Object(ObjectType {
            properties,
            ..ObjectType::default()
        })
    }

    fn named(name: &str) -> TypeRef {
        TypeRef::Named(TypeId::of_schema(name))
    }

    fn version(name: &str, types: Vec<(&str, TypeDef)>) -> (ApiVersion, Version) {
        let api_version = ApiVersion::new(name);
        let types = types
            .into_iter()
            .map(|(word, definition)| (TypeId::of_schema(word), definition))
            .collect::<TypeTable>();
        let version = Version {
            api_version: api_version.clone(),
            sources: Vec::new(),
            arm_types: BTreeMap::new(),
            resources: Vec::new(),
            words: BTreeSet::new(),
            types,
        };
        (api_version, version)
    }

    fn shared(group: &Group) -> Sharing {
        let hubs = Hubs::default();
        let names = Names::of(group, &hubs.types).expect("names");
        share(group, &hubs, &names).expect("types")
    }

    fn sku(values: &[&str]) -> TypeDef {
        TypeDef::Enum(EnumType {
            values: values.iter().map(|value| (*value).to_owned()).collect(),
            ..EnumType::default()
        })
    }

    #[test]
    fn a_change_deep_down_makes_all_that_hold_it_differ() {
        let outer = || object(vec![Property::new("inner", &["inner"], named("Inner"))]);
        let inner = || object(vec![Property::new("sku", &["sku"], named("Sku"))]);
        let mut same = Property::new("name", &["name"], TypeRef::String);
        let before = same.clone();
        same.description = Some("other words".to_owned());
        let group = Group {
            name: "test".to_owned(),
            api_group: "test.azure.com".to_owned(),
            errors: Vec::new(),
            values: BTreeMap::new(),
            types_by_letter: false,
            versions: BTreeMap::from([
                version(
                    "2021-01-01",
                    vec![
                        ("Outer", outer()),
                        ("Inner", inner()),
                        ("Sku", sku(&["A"])),
                        ("Same", object(vec![before])),
                    ],
                ),
                version(
                    "2022-01-01",
                    vec![
                        ("Outer", outer()),
                        ("Inner", inner()),
                        ("Sku", sku(&["A", "B"])),
                        ("Same", object(vec![same])),
                    ],
                ),
            ]),
        };
        let sharing = shared(&group);
        assert_eq!((sharing.before(), sharing.after()), (8, 7));
        let new = ApiVersion::new("2022-01-01");
        for (name, home) in [
            ("Outer", "2022-01-01"),
            ("Inner", "2022-01-01"),
            ("Sku", "2022-01-01"),
            ("Same", "2021-01-01"),
        ] {
            assert_eq!(sharing.home(&new, &TypeId::of_schema(name)).as_str(), home);
        }
    }

    /// `A { x, b: B }`, `B { a: A }`, and in the newer version one more property of `A`.
    fn ring(names: [&str; 2]) -> Group {
        let [first, second] = names;
        let version_with = |api_version: &str, more: &[Property]| {
            let mut properties = vec![
                Property::new("x", &["x"], TypeRef::String),
                Property::new("other", &["other"], named(second)),
            ];
            properties.extend(more.iter().cloned());
            let back = Property::new("back", &["back"], named(first));
            let types = vec![(first, object(properties)), (second, object(vec![back]))];
            version(api_version, types)
        };
        let more = Property::new("y", &["y"], TypeRef::String);
        Group {
            name: "test".to_owned(),
            api_group: "test.azure.com".to_owned(),
            versions: BTreeMap::from([
                version_with("2021-01-01", &[]),
                version_with("2022-01-01", &[]),
                version_with("2023-01-01", &[more]),
            ]),
            errors: Vec::new(),
            values: BTreeMap::new(),
            types_by_letter: false,
        }
    }

    #[test]
    fn types_that_refer_to_each_other_are_equal_only_together() {
        for names in [["A", "B"], ["B", "A"]] {
            let sharing = shared(&ring(names));
            assert_eq!((sharing.before(), sharing.after()), (6, 4), "{names:?}");
            for name in names.map(TypeId::of_schema) {
                let home = |version: &str| {
                    let version = ApiVersion::new(version);
                    sharing.home(&version, &name).to_string()
                };
                assert_eq!(home("2022-01-01"), "2021-01-01", "{name}");
                assert_eq!(home("2023-01-01"), "2023-01-01", "{name}");
            }
        }
    }
}
