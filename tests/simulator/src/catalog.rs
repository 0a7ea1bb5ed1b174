//! What the simulator serves: ARM types and their api-versions, read from kind descriptors.

use std::collections::BTreeMap;

use armature_runtime::kind::{KindInfo, VersionInfo};

use crate::error::ArmError;

/// One ARM type.
#[derive(Debug)]
pub struct ArmType {
    /// The type with the casing of the spec.
    pub name: &'static str,
    /// The kind behind the type.
    pub kind: &'static KindInfo,
    /// Descriptors by api-version.
    versions: BTreeMap<&'static str, &'static VersionInfo>,
}

impl ArmType {
    /// The descriptor for an api-version, or ARM's refusal.
    pub fn version(&self, api_version: &str) -> Result<&'static VersionInfo, ArmError> {
        // Azure compares api-versions without regard to case (`2020-08-01-Preview`).
        let found = self
            .versions
            .iter()
            .find(|(name, _)| name.eq_ignore_ascii_case(api_version));
        found.map(|(_, version)| *version).ok_or_else(|| {
            let supported: Vec<&str> = self.versions.keys().copied().collect();
            ArmError::unsupported_api_version(self.name, api_version, &supported)
        })
    }

    /// The api-versions, oldest first.
    pub fn api_versions(&self) -> impl DoubleEndedIterator<Item = &'static str> {
        self.versions.keys().copied()
    }

    /// The descriptors, that of the oldest api-version first.
    pub fn versions(&self) -> impl Iterator<Item = &'static VersionInfo> {
        self.versions.values().copied()
    }

    /// The newest api-version's descriptor.
    pub fn newest(&self) -> Option<&'static VersionInfo> {
        self.versions.values().next_back().copied()
    }

    /// The last segment of the type: `blobServices`.
    pub fn segment(&self) -> &'static str {
        self.kind.arm_type_segment()
    }
}

/// Every ARM type that the simulator serves.
#[derive(Debug)]
pub struct Catalog {
    types: BTreeMap<String, ArmType>,
}

impl Catalog {
    /// The types behind these kinds. Kinds that share an ARM type share its api-versions.
    pub fn new(kinds: &'static [&'static KindInfo]) -> Self {
        let mut types: BTreeMap<String, ArmType> = BTreeMap::new();
        for kind in kinds {
            let entry = types
                .entry(kind.remote_type().to_ascii_lowercase())
                .or_insert_with(|| ArmType {
                    name: kind.remote_type(),
                    kind,
                    versions: BTreeMap::new(),
                });
            for version in kind.versions {
                entry.versions.insert(version.api_version, version);
            }
        }
        Self { types }
    }

    /// The type, in any casing.
    pub fn get(&self, arm_type: &str) -> Option<&ArmType> {
        self.types.get(&arm_type.to_ascii_lowercase())
    }

    /// The type, or ARM's refusal.
    pub fn find(&self, arm_type: &str, api_version: &str) -> Result<&ArmType, ArmError> {
        self.get(arm_type).ok_or_else(|| {
            let (namespace, rest) = arm_type.split_once('/').unwrap_or((arm_type, ""));
            if self.in_namespace(namespace).next().is_some() {
                ArmError::unknown_type(namespace, rest, api_version)
            } else {
                ArmError::unknown_namespace(namespace)
            }
        })
    }

    /// The type as a GET finds it, or ARM's refusal. A kind is made of some api-versions only, and its provider has the
    /// type in others too: in an api-version of another type of the provider the nearest earlier one answers.
    pub fn find_to_read(
        &self,
        arm_type: &str,
        api_version: &str,
    ) -> Result<(&ArmType, &'static VersionInfo), ArmError> {
        let entry = self.find(arm_type, api_version)?;
        let version = entry.version(api_version).or_else(|refused| {
            let mut others = self.in_namespace(entry.kind.provider());
            if !others.any(|other| other.version(api_version).is_ok()) {
                return Err(refused);
            }
            let mut earlier = entry.versions.range(..api_version);
            let nearest = earlier.next_back().or(entry.versions.first_key_value());
            nearest.map(|(_, version)| *version).ok_or(refused)
        })?;
        Ok((entry, version))
    }

    /// The types of a provider namespace.
    pub fn in_namespace(&self, namespace: &str) -> impl Iterator<Item = &ArmType> {
        let namespace = namespace.to_ascii_lowercase();
        self.types
            .values()
            .filter(move |entry| entry.kind.provider().to_ascii_lowercase() == namespace)
    }

    /// The types directly below a type.
    pub fn children(&self, arm_type: &str) -> impl Iterator<Item = &ArmType> {
        let parent = arm_type.to_ascii_lowercase();
        self.types.values().filter(move |entry| {
            entry
                .name
                .rsplit_once('/')
                .is_some_and(|(above, _)| above.to_ascii_lowercase() == parent)
        })
    }

    /// The provider namespaces, without repetition.
    pub fn namespaces(&self) -> Vec<&'static str> {
        let mut names: Vec<&'static str> = self
            .types
            .values()
            .map(|entry| entry.kind.provider())
            .collect();
        names.sort_unstable();
        names.dedup();
        names
    }

    /// How many ARM types there are.
    pub fn count(&self) -> usize {
        self.types.len()
    }
}
