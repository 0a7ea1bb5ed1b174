//! The `kustomization.yaml` of a folder: what kustomize reads of it, and which of its files are of an import. Everything else in it
//! is somebody's own, and stays.

use std::collections::BTreeSet;
use std::path::Path;

use serde_json::{Map, Value, json};

/// Its name in a folder.
pub const FILE: &str = "kustomization.yaml";

/// Annotation with the names of the files that an import has written, one a line. They alone are replaced by the next one.
const IMPORTED: &str = "armature.azure.com/imported";

/// What a `kustomization.yaml` says.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Kustomization(Map<String, Value>);

impl Kustomization {
    /// Reads one.
    ///
    /// # Errors
    /// What is wrong with it, as a sentence.
    pub fn read(text: &str) -> Result<Self, String> {
        let value: Value = serde_saphyr::from_str(text)
            .map_err(|error| format!("it cannot be read as YAML: {error}"))?;
        let members = match value {
            Value::Object(members) => members,
            Value::Null => Map::new(),
            _ => return Err("it is not an object, as a Kustomization is".to_owned()),
        };
        let is_list = members.get("resources").is_none_or(|resources| {
            resources.is_null()
                || resources
                    .as_array()
                    .is_some_and(|items| items.iter().all(Value::is_string))
        });
        if !is_list {
            return Err("its `resources` are not a list of names".to_owned());
        }
        let may_be =
            |value: Option<&Value>| value.is_none_or(|value| value.is_null() || value.is_object());
        let metadata = members.get("metadata");
        let annotations = metadata.and_then(|metadata| metadata.get("annotations"));
        match may_be(metadata) && may_be(annotations) {
            true => Ok(Self(members)),
            false => Err("its `metadata` or their annotations are not an object".to_owned()),
        }
    }

    /// Files that an import has written into the folder.
    pub fn imported(&self) -> BTreeSet<String> {
        let annotations = self
            .0
            .get("metadata")
            .map(|metadata| &metadata["annotations"]);
        let names = annotations.and_then(|annotations| annotations[IMPORTED].as_str());
        let names = names.into_iter().flat_map(str::lines);
        // What lies elsewhere no import has written.
        let plain = names.filter(|name| Path::new(name).components().count() == 1 && *name != "..");
        plain.map(str::to_owned).collect()
    }

    /// The same after an import of these files: with them in place of those of the import before.
    #[must_use]
    pub fn with_imported(&self, names: &[&str]) -> Self {
        let former = self.imported();
        let resources = self.0.get("resources").and_then(Value::as_array);
        let listed = resources.into_iter().flatten().filter_map(Value::as_str);
        let stays = |name: &&str| !former.contains(*name) || names.contains(name);
        let mut resources: Vec<&str> = listed.filter(stays).collect();
        for name in names {
            if !resources.contains(name) {
                resources.push(name);
            }
        }
        let mut members = self.0.clone();
        let usual = [
            ("apiVersion", "kustomize.config.k8s.io/v1beta1"),
            ("kind", "Kustomization"),
        ];
        for (name, value) in usual {
            members.entry(name).or_insert_with(|| json!(value));
        }
        // What is read has objects here, or nothing, which becomes one.
        let metadata = members.entry("metadata").or_insert(Value::Null);
        metadata["annotations"][IMPORTED] = json!(names.join("\n"));
        members.insert("resources".to_owned(), json!(resources));
        Self(members)
    }

    /// What it says, to be written.
    pub fn members(&self) -> &Map<String, Value> {
        &self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_person_has_added_stays() {
        let first = Kustomization::default().with_imported(&["a.yaml", "b.yaml"]);
        let names = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
        assert_eq!(first.imported(), names(&["a.yaml", "b.yaml"]));
        let mut edited = first.0.clone();
        edited["resources"] = json!(["mine.yaml", "a.yaml", "b.yaml", "../base"]);
        edited.insert("namespace".to_owned(), json!("team"));
        edited["metadata"]["name"] = json!("shop");
        let second = Kustomization(edited).with_imported(&["b.yaml", "c.yaml"]);
        assert_eq!(
            Value::from(second.0.clone()),
            json!({
                "apiVersion": "kustomize.config.k8s.io/v1beta1", "kind": "Kustomization", "namespace": "team",
                "metadata": {"name": "shop", "annotations": {IMPORTED: "b.yaml\nc.yaml"}},
                "resources": ["mine.yaml", "b.yaml", "../base", "c.yaml"],
            })
        );
        assert_eq!(second.with_imported(&["b.yaml", "c.yaml"]), second);
    }

    #[test]
    fn what_is_read_is_checked() {
        let table = [
            ("", Ok(0)),
            ("kind: Kustomization\nresources: [a.yaml]\n", Ok(0)),
            (
                "metadata:\n  annotations:\n    armature.azure.com/imported: |-\n      a.yaml\n      ../b.yaml\n",
                Ok(1),
            ),
            ("- a.yaml\n", Err("it is not an object")),
            (
                "resources: a.yaml\n",
                Err("its `resources` are not a list of names"),
            ),
            ("metadata: a\n", Err("its `metadata`")),
            ("metadata: {annotations: [a]}\n", Err("its `metadata`")),
            ("metadata:\nresources:\n", Ok(0)),
            ("resources: [\n", Err("it cannot be read as YAML")),
        ];
        for (text, expected) in table {
            match (Kustomization::read(text), expected) {
                (Ok(read), Ok(imported)) => assert_eq!(read.imported().len(), imported, "{text}"),
                (Err(why), Err(start)) => assert!(why.starts_with(start), "{text}: {why}"),
                (read, _) => panic!("{text}: {read:?}"),
            }
        }
    }
}
