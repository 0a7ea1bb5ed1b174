//! A curation file for whatever a mutated spec describes: it exports all that can be, and has some rules.

use std::collections::{BTreeMap, BTreeSet};

use armature_generator::model::{Group, Owner, Resource, TypeDef, Version};
use armature_generator::types::ONLY_SOURCE;
use toml::{Table, Value};

use crate::Choices;

/// Words for a property.
const TREATMENTS: [&str; 9] = [
    "reference",
    "well-known-reference",
    "plain",
    "secret",
    "secret-map",
    "config-map",
    "config-map-required",
    "child-kind",
    "remove",
];

/// Words for a type.
const TYPES: [&str; 6] = [
    "boolean",
    "integer",
    "number",
    "string",
    "json",
    "string-map",
];

/// The text of a file for `group`.
pub(crate) fn file(group: &Group, choices: &mut Choices<'_>) -> String {
    let mut kinds = Table::new();
    for (kind, resource) in exported(group) {
        kinds.insert(kind, kind_rules(resource, choices));
    }
    let versions = group.versions.keys();
    let versions = versions.map(|it| (it.to_string(), Value::from(vec!["spec.json"])));
    let source = Table::from_iter([
        ("folder".to_owned(), "specs".into()),
        ("versions".to_owned(), Value::Table(versions.collect())),
    ]);
    let sources = Table::from_iter([(ONLY_SOURCE.to_owned(), source.into())]);
    let mut file = Table::from_iter([
        ("group".to_owned(), group.name.as_str().into()),
        (
            "naming".to_owned(),
            (*choices.of(&["legacy", "hybrid", "new"])).into(),
        ),
        ("sources".to_owned(), Value::Table(sources)),
        ("kinds".to_owned(), kinds.into()),
    ]);
    if choices.once_in(4) {
        file.insert("explicit-collections".to_owned(), true.into());
    }
    if choices.once_in(2) {
        file.insert("types".to_owned(), rules(group, choices).into());
    }
    file.to_string()
}

/// Resources by kind: those with a name that can be one, a type of their own and an owner that is exported.
fn exported(group: &Group) -> BTreeMap<String, &Resource> {
    let mut kinds: BTreeMap<String, &Resource> = BTreeMap::new();
    let mut seen = BTreeSet::new();
    for resource in group.versions.values().flat_map(|it| &it.resources) {
        let mut kind: String = resource
            .kind
            .chars()
            .filter(char::is_ascii_alphanumeric)
            .collect();
        if !kind.starts_with(|first: char| first.is_ascii_uppercase()) {
            kind = format!("Kind{kind}");
        }
        if seen.insert(resource.arm_type.to_lowercase()) && !kinds.contains_key(&kind) {
            kinds.insert(kind, resource);
        }
    }
    loop {
        let types: Vec<&str> = kinds.values().map(|it| it.arm_type.as_str()).collect();
        let is_orphan = |resource: &Resource| match &resource.owner {
            Owner::Parent(parent) => !types.iter().any(|it| it.eq_ignore_ascii_case(parent)),
            _ => false,
        };
        let orphans: Vec<String> = kinds
            .iter()
            .filter(|(_, resource)| is_orphan(resource))
            .map(|(kind, _)| kind.clone())
            .collect();
        if orphans.is_empty() {
            return kinds;
        }
        kinds.retain(|kind, _| !orphans.contains(kind));
    }
}

fn kind_rules(resource: &Resource, choices: &mut Choices<'_>) -> Value {
    let mut rules = Table::from_iter([("type".to_owned(), resource.arm_type.as_str().into())]);
    if choices.once_in(3) {
        let secret = Table::from_iter([("status".to_owned(), "properties.key".into())]);
        let action = Table::from_iter([
            ("action".to_owned(), "listKeys".into()),
            ("value".to_owned(), "keys[keyName=key1].value".into()),
        ]);
        let secrets = Table::from_iter([
            ("key".to_owned(), Value::Table(secret)),
            ("key1".to_owned(), Value::Table(action)),
        ]);
        rules.insert("secrets".to_owned(), secrets.into());
    }
    if choices.once_in(3) {
        let maps = Table::from_iter([("id".to_owned(), "id".into())]);
        rules.insert("config-maps".to_owned(), maps.into());
    }
    rules.into()
}

/// A few rules for properties that exist.
fn rules(group: &Group, choices: &mut Choices<'_>) -> Table {
    let versions: Vec<&Version> = group.versions.values().collect();
    let mut rules = Table::new();
    for _ in 0..choices.below(4) {
        let version = choices.of(&versions);
        let number = choices.below(version.types.len());
        let Some((name, TypeDef::Object(object))) = version.types.iter().nth(number) else {
            continue;
        };
        let Some(property) = object
            .properties
            .get(choices.below(object.properties.len()))
        else {
            continue;
        };
        let rule = match choices.below(6) {
            0..=2 => (*choices.of(&TREATMENTS)).into(),
            3 => Value::Table(Table::from_iter([(
                "type".to_owned(),
                (*choices.of(&TYPES)).into(),
            )])),
            4 => Value::Table(Table::from_iter([(
                "values".to_owned(),
                vec!["a", "A", "", "b-"].into(),
            )])),
            _ => Value::Table(Table::from_iter([
                (
                    "rename".to_owned(),
                    (*choices.of(&["other", "owner", "conditions", "type"])).into(),
                ),
                ("required".to_owned(), true.into()),
            ])),
        };
        let properties = Table::from_iter([(property.name.clone(), rule)]);
        rules.insert(name.to_string(), properties.into());
    }
    rules
}
