//! By which versions an object was written: all that is read of it.

use std::collections::{BTreeMap, BTreeSet};

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;

use armature_shapes::kind::KindInfo;

use crate::stored::metadata;

/// A stored object, without what does not tell of versions.
#[derive(Clone, Debug, Deserialize)]
pub struct WrittenObject {
    #[serde(default, deserialize_with = "metadata::with_owners")]
    metadata: ObjectMeta,
    #[serde(default, deserialize_with = "original_version", rename = "spec")]
    original_version: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct WrittenSpec {
    original_version: Option<Box<RawValue>>,
}

/// The version of the last write. Whatever else stands in its place is no version, and hides no other object.
fn original_version<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<String>, D::Error> {
    let spec = Option::<WrittenSpec>::deserialize(deserializer)?;
    let version = spec.and_then(|spec| spec.original_version);
    Ok(version.and_then(|version| serde_json::from_str(version.get()).ok()))
}

/// By which versions the objects of a kind were written.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Written {
    /// How many objects there are.
    pub objects: usize,
    /// How many of them each version wrote last.
    pub last: BTreeMap<String, usize>,
    /// Those versions, and all by which anybody owns fields.
    pub versions: BTreeSet<String>,
}

impl Written {
    /// Counts an object.
    pub fn add(&mut self, kind: &KindInfo, object: &WrittenObject) {
        self.objects += 1;
        if let Some(last) = &object.original_version {
            *self.last.entry(last.clone()).or_default() += 1;
        }
        self.versions.extend(object.versions(kind));
    }
}

impl WrittenObject {
    /// The version of the last write, and of the kind's versions those by which somebody owns fields: whoever
    /// applies a manifest owns fields at its version, and will apply it again.
    pub fn versions(&self, kind: &KindInfo) -> impl Iterator<Item = String> {
        let owners = self.metadata.managed_fields.iter().flatten();
        let owners = owners.filter_map(|entry| {
            let (group, version) = entry.api_version.as_deref()?.split_once('/')?;
            let mut known = kind.versions.iter();
            let is_known = group == kind.group && known.any(|known| known.name == version);
            is_known.then(|| version.to_owned())
        });
        self.original_version.iter().cloned().chain(owners)
    }
}

#[cfg(test)]
mod tests {
    use armature_shapes::testing::gadget::MODEL;
    use serde_json::json;

    use super::*;

    #[test]
    fn versions_of_the_last_write_and_of_who_owns_fields() {
        let object = json!({
            "metadata": {"managedFields": [
                {"apiVersion": "toys.azure.com/v1api20200101", "manager": "flux"},
                {"apiVersion": "toys.azure.com/v20210101storage", "manager": "armature"},
                {"apiVersion": "toys.azure.com/v20300101", "manager": "gone"},
            ]},
            "spec": {"originalVersion": "v20400101", "size": 1},
        });
        let object: WrittenObject = serde_json::from_str(&object.to_string()).unwrap();
        let versions: Vec<_> = object.versions(&MODEL).collect();
        assert_eq!(versions, ["v20400101", "v1api20200101"]);
        let mut written = Written::default();
        written.add(&MODEL, &object);
        written.add(&MODEL, &object);
        assert_eq!(written.objects, 2);
        assert_eq!(written.last, BTreeMap::from([("v20400101".to_owned(), 2)]));
        assert_eq!(written.versions.len(), 2);
    }

    #[test]
    fn what_is_no_version_hides_no_object() {
        let deep = format!("{}1{}", r#"{"a":"#.repeat(200), "}".repeat(200));
        let specs = [
            r#"{"originalVersion":7}"#.to_owned(),
            r#"{"originalVersion":null}"#.to_owned(),
            format!(r#"{{"originalVersion":{deep}}}"#),
            format!(r#"{{"more":{deep}}}"#),
            "null".to_owned(),
        ];
        for spec in specs {
            let text = format!(r#"{{"metadata":{{"name":"a"}},"spec":{spec}}}"#);
            let object: WrittenObject = serde_json::from_str(&text).unwrap();
            assert_eq!(object.versions(&MODEL).count(), 0, "{spec}");
        }
    }
}
