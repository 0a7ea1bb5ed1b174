//! Objects that Azure Service Operator could not read: they were written in versions that it does not have.

use std::collections::BTreeSet;

use armature_runtime::resource::Object;
use serde::Deserialize;

use super::record::Record;

/// An object that was written in a version which Azure Service Operator does not have.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Ahead {
    /// Kind, namespace and name.
    pub object: String,
    /// The version.
    pub version: String,
    /// The newest version that both have; `None` where there is none.
    pub instead: Option<&'static str>,
}

/// In which versions the objects were written.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Versions {
    /// Those that Azure Service Operator does not have.
    pub ahead: BTreeSet<Ahead>,
    /// Sentences about kinds whose objects cannot be read.
    pub unread: Vec<String>,
}

/// What is read of the stored form.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Written {
    original_version: Option<String>,
}

/// These of the objects, by the versions that CRDs had before the takeover. Kinds that came with Armature are left out:
/// Azure Service Operator does not look at them.
pub fn ahead(objects: &[Object], record: &Record) -> BTreeSet<Ahead> {
    let of = |object: &Object| {
        let kind = object.kind;
        let kept = record
            .crds
            .get(&format!("{}.{}", kind.plural, kind.group))?;
        let spec = object.spec.as_deref()?;
        let written = serde_json::from_str::<Written>(spec.get()).ok()?;
        let version = written.original_version?;
        if kept.versions.contains(&version) {
            return None;
        }
        let mut both = kind.versions.iter().rev().map(|version| version.name);
        Some(Ahead {
            object: object.key().to_string(),
            version,
            instead: both.find(|name| kept.versions.contains(*name)),
        })
    };
    objects.iter().filter_map(of).collect()
}
