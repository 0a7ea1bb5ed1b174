//! Azure's own descriptions of properties, and their defaults, as a text file for each group beside its crate: not in Rust, because prose is most of the
//! size of a CRD and nobody needs it to reconcile. The operator's build compresses all of them into one asset.
//!
//! A file has a line for each thing, and lines are numbered from 0 by their first letter:
//!
//! | line | what it says |
//! |---|---|
//! | `G group` | the API group |
//! | `T text` | a description |
//! | `D value` | a default, as JSON |
//! | `O name:text:object=default …` | an object's properties, each with the numbers of its description, of the object that it holds and of its default; the first two may be empty, and the last is left out where there is none |
//! | `E kind rule` | what becomes of an edit, as curation says |
//! | `V kind versions date successor page` | versions that Azure retires, joined by commas: the day, the version to use and the page that says so |
//! | `R kind versions spec status` | a resource's versions, joined by commas, and the numbers of its objects; `-` for none |
//!
//! Each text, default and object stands there once, however many versions have it.

use std::collections::BTreeMap;
use std::hash::Hash;

use camino::Utf8PathBuf;
use indexmap::IndexSet;
use serde_json::Value;

use super::{WRITER, folder};
use crate::model::{Group, Property, Resource, Retirement, TypeDef, TypeId, TypeRef, TypeTable};

/// Path and text of a group's file; nothing where nothing is described.
pub fn descriptions(group: &Group) -> Option<(Utf8PathBuf, String)> {
    let mut known = Known::default();
    let mut resources = String::new();
    let mut retirements = String::new();
    for version in group.versions.values() {
        let mut done = BTreeMap::new();
        for resource in &version.resources {
            let mut object = |id| known.object(&version.types, id, &mut done);
            let sides = [object(&resource.spec), object(&resource.status)];
            let [spec, status] = sides.map(|side| side.map_or("-".to_owned(), |at| at.to_string()));
            let names = resource.version_names.join(",");
            resources.push_str(&format!("R {} {names} {spec} {status}\n", resource.kind));
            retirements.extend(retirement(resource));
        }
    }
    let edits = edits(group);
    if known.texts.is_empty()
        && known.defaults.is_empty()
        && edits.is_empty()
        && retirements.is_empty()
    {
        return None;
    }
    let mut file = format!(
        "# Azure's own descriptions of properties, and their defaults, by `{WRITER}`.\nG {}\n",
        group.api_group
    );
    for text in &known.texts {
        file.push_str(&format!("T {text}\n"));
    }
    for default in &known.defaults {
        file.push_str(&format!("D {default}\n"));
    }
    for object in &known.objects {
        file.push_str(&format!("O{object}\n"));
    }
    let path = folder(&group.name).join("descriptions.txt");
    Some((path, file + &resources + &retirements + &edits))
}

/// The line of a resource whose api-version Azure retires.
fn retirement(resource: &Resource) -> Option<String> {
    let Retirement {
        date,
        page,
        successor,
    } = resource.retirement.as_ref()?;
    let names = resource.version_names.join(",");
    Some(format!(
        "V {} {names} {date} {successor} {page}\n",
        resource.kind
    ))
}

/// What becomes of edits of each kind.
fn edits(group: &Group) -> String {
    let values = group.values.iter();
    let lines = values.flat_map(|(kind, values)| {
        let rules = values.edits.iter();
        rules.map(move |rule| format!("E {kind} {rule}\n"))
    });
    lines.collect()
}

/// What has a number.
#[derive(Default)]
struct Known {
    texts: IndexSet<String>,
    defaults: IndexSet<String>,
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
                    let default = default(types, property);
                    let default = default.map(|it| number(&mut self.defaults, it.to_string()));
                    if text.is_some() || below.is_some() || default.is_some() {
                        let [text, below] = [text, below]
                            .map(|at| at.map_or_else(String::new, |at| at.to_string()));
                        let default = default.map_or_else(String::new, |at| format!("={at}"));
                        line.push_str(&format!(" {}:{text}:{below}{default}", property.name));
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

/// The default of a property, where it is a value that the property can have: curation may have made it something else, and some
/// specs write `"true"` of a boolean. Of a secret it would be none that anybody sets.
fn default<'p>(types: &TypeTable, property: &'p Property) -> Option<&'p Value> {
    let value = property.default.as_ref().filter(|_| !property.secret)?;
    let fits = match &property.ty {
        TypeRef::String => value.is_string(),
        TypeRef::Bool => value.is_boolean(),
        TypeRef::Integer(_) => value.as_f64().is_some_and(|number| number.fract() == 0.0),
        TypeRef::Number => value.is_number(),
        TypeRef::Named(id) => match types.get(id) {
            Some(TypeDef::Enum(known)) => value.as_str().is_some_and(|value| {
                let mut values = known.values.iter();
                values.any(|one| one.eq_ignore_ascii_case(value))
            }),
            _ => false,
        },
        _ => false,
    };
    fits.then_some(value)
}

fn number<T: Hash + Eq>(known: &mut IndexSet<T>, value: T) -> usize {
    known.insert_full(value).0
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::model::{EnumType, ObjectType};

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

    #[test]
    fn a_default_is_one_that_the_property_can_have() {
        let tier = TypeId::of_schema("Tier");
        let known = EnumType {
            values: vec!["Hot".to_owned()],
            ..EnumType::default()
        };
        let types = TypeTable::from([(tier.clone(), TypeDef::Enum(known))]);
        let named = || TypeRef::Named(tier.clone());
        for (ty, value, expected) in [
            (TypeRef::String, json!("a"), true),
            (TypeRef::String, json!(1), false),
            (TypeRef::Bool, json!(false), true),
            (TypeRef::Bool, json!("false"), false),
            (named(), json!("hot"), true),
            (named(), json!("Cold"), false),
            (TypeRef::List(Box::new(TypeRef::String)), json!("a"), false),
        ] {
            let mut property = Property::new("p", &["p"], ty);
            property.default = Some(value);
            let found = default(&types, &property).is_some();
            assert_eq!(found, expected, "{property:?}");
            property.secret = true;
            assert_eq!(default(&types, &property), None);
        }
    }

    #[test]
    fn a_default_stands_beside_the_property() {
        let id = TypeId::of_schema("Spec");
        let defaulted = |name: &str, value| Property {
            default: Some(value),
            ..Property::new(name, &[name], TypeRef::String)
        };
        let spec = ObjectType {
            properties: vec![
                defaulted("a", json!("x y")),
                Property {
                    description: Some("B.".to_owned()),
                    ..defaulted("b", json!("x y"))
                },
            ],
            ..ObjectType::default()
        };
        let types = TypeTable::from([(id.clone(), TypeDef::Object(spec))]);
        let mut known = Known::default();
        known.object(&types, &id, &mut BTreeMap::new());
        assert_eq!(known.defaults, IndexSet::from(["\"x y\"".to_owned()]));
        let objects = [" a::=0 b:0:=0".to_owned()];
        assert_eq!(known.objects, IndexSet::from(objects));
    }
}
