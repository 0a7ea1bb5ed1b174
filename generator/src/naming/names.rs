//! What types are called in Rust. It follows from their identities, the specs' words and the kinds of the group.

use std::borrow::Cow;
use std::collections::BTreeMap;

use super::claims::Claims;
use super::endings::{OPERATOR_SPEC, of_root};
use super::reserved::of_kind;
use crate::model::{
    ApiVersion, Group, Identity, MissingType, Side, TypeId, TypeName, TypeTable, Version,
};

/// Names of all types of a group.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Names {
    versions: BTreeMap<ApiVersion, TypeNames>,
    /// Names of the types of hubs, each within its kind.
    pub hub: TypeNames,
}

impl Names {
    /// Names the types of all versions of a group, and those of its kinds' hubs.
    ///
    /// # Errors
    /// When a hub type is of a type that no version has.
    pub fn of(group: &Group, hub: &TypeTable) -> Result<Self, MissingType> {
        let versions = group.versions.iter();
        let versions = versions
            .map(|(api_version, version)| (api_version.clone(), TypeNames::of_version(version)));
        let versions = versions.collect();
        Ok(Self {
            hub: TypeNames::of_hub(hub, &versions)?,
            versions,
        })
    }

    /// Names of the types of a version; of a version that the group does not have, none.
    pub fn of_version(&self, api_version: &ApiVersion) -> &TypeNames {
        const NONE: &TypeNames = &TypeNames {
            place: Cow::Borrowed("the group"),
            names: BTreeMap::new(),
        };
        self.versions.get(api_version).unwrap_or(NONE)
    }
}

/// Names of the types of a table.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TypeNames {
    /// The table, for messages.
    place: Cow<'static, str>,
    names: BTreeMap<TypeId, TypeName>,
}

impl TypeNames {
    /// Names the types of an api-version. The kinds' own are called after these; every other type has its word, unless a
    /// kind takes that, which the curation file called neither as its ARM type nor as its definition.
    pub fn of_version(version: &Version) -> Self {
        let mut names = BTreeMap::new();
        for resource in &version.resources {
            let roots = [
                (&resource.spec, Side::Spec),
                (&resource.status, Side::Status),
            ];
            for (root, side) in roots {
                if version.types.contains_key(root) {
                    let name = format!("{}{}", resource.kind, of_root(side));
                    names.insert(root.clone(), TypeName::new(name));
                }
            }
        }
        let kinds = version.resources.iter().map(|it| it.kind.as_str());
        let reserved = kinds.flat_map(of_kind).chain([OPERATOR_SPEC.to_owned()]);
        let mut claims = Claims::reserving(reserved);
        let mut others = Vec::new();
        for id in version.types.keys() {
            if names.contains_key(id) {
                continue;
            }
            let is_operators = matches!(id.identity(), Identity::Operator { .. });
            if is_operators || claims.is_free(id.word()) {
                claims.claim(id.word().to_owned());
                names.insert(id.clone(), TypeName::new(id.word()));
            } else {
                others.push(id);
            }
        }
        version.words.iter().for_each(|it| claims.claim(it.clone()));
        for id in others {
            let name = claims.free(id.word().to_owned());
            claims.claim(name.clone());
            names.insert(id.clone(), TypeName::new(name));
        }
        Self {
            place: format!("api-version {}", version.api_version).into(),
            names,
        }
    }

    /// Names hub types. Each kind has names of its own, so that none depends on what other kinds there are. A class has the
    /// name of its newest type; where a newer one has that already, its api-version tells it apart.
    fn of_hub(
        types: &TypeTable,
        versions: &BTreeMap<ApiVersion, TypeNames>,
    ) -> Result<Self, MissingType> {
        let mut kinds = BTreeMap::<&str, Vec<(&ApiVersion, &TypeName, &TypeId)>>::new();
        for id in types.keys() {
            if let Identity::Hub {
                kind,
                version,
                newest,
            } = id.identity()
            {
                let names = versions.get(version);
                let name = names.ok_or_else(|| missing(newest, &format!("api-version {version}")));
                let name = name?.get(newest)?;
                kinds.entry(kind).or_default().push((version, name, id));
            }
        }
        let mut names = BTreeMap::new();
        for mut classes in kinds.into_values() {
            let mut claims = Claims::default();
            classes.sort_by(|left, right| right.cmp(left));
            for (version, name, id) in classes {
                let mut chosen = name.to_string();
                if !claims.is_free(&chosen) {
                    chosen = claims.free(format!("{name}V{}", version.compact()));
                }
                claims.claim(chosen.clone());
                names.insert(id.clone(), TypeName::new(chosen));
            }
        }
        let place = Cow::Borrowed("the hub");
        Ok(Self { place, names })
    }

    /// Name of a type.
    ///
    /// # Errors
    /// When the table that was named does not have the type.
    pub fn get(&self, id: &TypeId) -> Result<&TypeName, MissingType> {
        let name = self.names.get(id);
        name.ok_or_else(|| self.lacking(id))
    }

    /// The error for a type that the table does not have.
    pub fn lacking(&self, id: &TypeId) -> MissingType {
        missing(id, &self.place)
    }

    /// All types with their names, in order of these.
    pub fn by_name(&self) -> BTreeMap<&TypeName, &TypeId> {
        self.names.iter().map(|(id, name)| (name, id)).collect()
    }
}

fn missing(ty: &TypeId, place: &str) -> MissingType {
    MissingType {
        ty: ty.clone(),
        place: place.to_owned(),
    }
}

/// Types with what they are called.
#[derive(Clone, Copy, Debug)]
pub struct Named<'a> {
    /// The types.
    pub types: &'a TypeTable,
    /// What they are called.
    pub names: &'a TypeNames,
}
