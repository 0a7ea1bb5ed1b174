//! Azure's own descriptions of properties, as a text file for each group beside its crate: not in Rust, because prose is most of the
//! size of a CRD and nobody needs it to reconcile. The operator's build compresses all of them into one asset.
//!
//! A file has a line for each thing, and lines are numbered from 0 by their first letter:
//!
//! | line | what it says |
//! |---|---|
//! | `G group` | the API group |
//! | `T text` | a description |
//! | `O name:text:object …` | an object's properties, each with the numbers of its description and of the object that it holds; either may be empty |
//! | `R kind versions spec status` | a resource's versions, joined by commas, and the numbers of its objects; `-` for none |
//!
//! Each text and object stands there once, however many versions have it.

use std::collections::BTreeMap;
use std::hash::Hash;

use camino::Utf8PathBuf;
use indexmap::IndexSet;

use super::{WRITER, folder};
use crate::model::{Group, Property, TypeDef, TypeId, TypeTable};

/// Path and text of a group's file; nothing where nothing is described.
pub fn descriptions(group: &Group) -> Option<(Utf8PathBuf, String)> {
    let mut known = Known::default();
    let mut resources = String::new();
    for version in group.versions.values() {
        let mut done = BTreeMap::new();
        for resource in &version.resources {
            let mut object = |id| known.object(&version.types, id, &mut done);
            let sides = [object(&resource.spec), object(&resource.status)];
            let [spec, status] = sides.map(|side| side.map_or("-".to_owned(), |at| at.to_string()));
            let names = resource.version_names.join(",");
            resources.push_str(&format!("R {} {names} {spec} {status}\n", resource.kind));
        }
    }
    if known.texts.is_empty() {
        return None;
    }
    let mut file = format!(
        "# Azure's own descriptions of properties, by `{WRITER}`.\nG {}\n",
        group.api_group
    );
    for text in &known.texts {
        file.push_str(&format!("T {text}\n"));
    }
    for object in &known.objects {
        file.push_str(&format!("O{object}\n"));
    }
    let path = folder(&group.name).join("descriptions.txt");
    Some((path, file + &resources))
}

/// What has a number.
#[derive(Default)]
struct Known {
    texts: IndexSet<String>,
    objects: IndexSet<String>,
}

impl Known {
    /// The number of an object; nothing where none of its properties is described.
    fn object<'a>(
        &mut self,
        types: &'a TypeTable,
        id: &'a TypeId,
        done: &mut BTreeMap<&'a TypeId, Option<usize>>,
    ) -> Option<usize> {
        if let Some(known) = done.get(id) {
            return *known;
        }
        let number = match types.get(id) {
            Some(TypeDef::Object(object)) => {
                let mut line = String::new();
                for property in &object.properties {
                    let below = property.ty.named();
                    let below = below.and_then(|id| self.object(types, id, done));
                    let text = self.text(property);
                    if text.is_some() || below.is_some() {
                        let [text, below] = [text, below]
                            .map(|at| at.map_or_else(String::new, |at| at.to_string()));
                        line.push_str(&format!(" {}:{text}:{below}", property.name));
                    }
                }
                (!line.is_empty()).then(|| number(&mut self.objects, line))
            }
            Some(TypeDef::Enum(_)) | None => None,
        };
        done.insert(id, number);
        number
    }

    fn text(&mut self, property: &Property) -> Option<usize> {
        let text = property.description.as_ref()?;
        let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
        (!text.is_empty()).then(|| number(&mut self.texts, text))
    }
}

fn number<T: Hash + Eq>(known: &mut IndexSet<T>, value: T) -> usize {
    known.insert_full(value).0
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{ObjectType, TypeRef};

    fn described(name: &str, ty: TypeRef, text: &str) -> Property {
        Property {
            description: Some(text.to_owned()),
            ..Property::new(name, &[name], ty)
        }
    }

    #[test]
    fn equal_texts_and_objects_stand_there_once() {
        let ids = ["Spec", "Sku", "Tier"].map(TypeId::of_schema);
        let sku = ObjectType {
            properties: vec![
                described("name", TypeRef::String, "The\n name."),
                Property::new("tier", &["tier"], TypeRef::String),
            ],
            ..ObjectType::default()
        };
        let spec = ObjectType {
            properties: vec![
                Property::new("sku", &["sku"], TypeRef::Named(ids[1].clone())),
                described(
                    "others",
                    TypeRef::List(Box::new(TypeRef::Named(ids[2].clone()))),
                    "The name.",
                ),
            ],
            ..ObjectType::default()
        };
        let types = TypeTable::from([
            (ids[0].clone(), TypeDef::Object(spec)),
            (ids[1].clone(), TypeDef::Object(sku.clone())),
            (ids[2].clone(), TypeDef::Object(sku)),
        ]);
        let mut known = Known::default();
        let number = known.object(&types, &ids[0], &mut BTreeMap::new());
        assert_eq!(number, Some(1));
        assert_eq!(known.texts, IndexSet::from(["The name.".to_owned()]));
        let objects = [" name:0:", " sku::0 others:0:0"].map(str::to_owned);
        assert_eq!(known.objects, IndexSet::from(objects));
    }
}
