//! Tables of properties: all below a root by their paths, or, where these would be too many, each type once.

use std::collections::BTreeSet;

use super::super::facts::{rule_words, type_words};
use crate::model::{ArmPlace, Meaning, Property, TypeDef, TypeId, TypeRef, TypeTable};

/// Deepest nesting that a page shows.
const DEEPEST: usize = 12;

/// Values of an enum that a row tells.
const VALUES: usize = 40;

/// A property.
pub struct Row {
    pub path: String,
    pub ty: String,
    pub required: &'static str,
    pub notes: String,
    /// Whether it cannot be changed: Azure takes it on creation only, or it is the place of the resource.
    pub is_fixed: bool,
}

/// The properties of a type.
pub struct Section {
    pub title: String,
    pub anchor: String,
    pub rows: Vec<Row>,
}

/// Everything below a root, by path.
pub fn by_path(types: &TypeTable, root: &TypeId) -> Vec<Row> {
    let mut rows = Vec::new();
    collect(types, root, "", 0, &mut rows);
    rows
}

fn collect(types: &TypeTable, ty: &TypeId, prefix: &str, depth: usize, rows: &mut Vec<Row>) {
    let Some(TypeDef::Object(object)) = types.get(ty) else {
        return;
    };
    for property in &object.properties {
        let path = format!("{prefix}{}", property.name);
        let below = format!("{path}{}.", collection_suffix(&property.ty));
        rows.push(row(property, types, path));
        if let Some(inner) = property.ty.named()
            && depth < DEEPEST
        {
            collect(types, inner, &below, depth + 1, rows);
        }
    }
}

/// The properties of a root itself, and those of each type below it in a section of its own.
pub fn by_type(types: &TypeTable, root: &TypeId) -> (Vec<Row>, Vec<Section>) {
    let mut seen = BTreeSet::from([root]);
    let mut waiting = Vec::new();
    let rows = members(types, root, &mut seen, &mut waiting);
    let mut sections = Vec::new();
    let mut next = 0;
    while let Some(&ty) = waiting.get(next) {
        next += 1;
        let rows = members(types, ty, &mut seen, &mut waiting);
        sections.push(Section {
            title: ty.word().to_owned(),
            anchor: anchor(ty),
            rows,
        });
    }
    (rows, sections)
}

fn members<'a>(
    types: &'a TypeTable,
    ty: &TypeId,
    seen: &mut BTreeSet<&'a TypeId>,
    waiting: &mut Vec<&'a TypeId>,
) -> Vec<Row> {
    let Some(TypeDef::Object(object)) = types.get(ty) else {
        return Vec::new();
    };
    let properties = object.properties.iter();
    properties
        .map(|property| {
            let mut row = row(property, types, property.name.clone());
            let inner = property.ty.named();
            if let Some(inner) = inner
                && let Some(TypeDef::Object(_)) = types.get(inner)
            {
                if seen.insert(inner) {
                    waiting.push(inner);
                }
                let link = format!("[{}](#{})", inner.word(), anchor(inner));
                row.notes = joined([link, row.notes]);
            }
            row
        })
        .collect()
}

fn anchor(ty: &TypeId) -> String {
    format!("type-{}", ty.word().to_lowercase())
}

fn collection_suffix(ty: &TypeRef) -> String {
    match ty {
        TypeRef::List(item) => format!("[]{}", collection_suffix(item)),
        TypeRef::Map(item) => format!("{{}}{}", collection_suffix(item)),
        _ => String::new(),
    }
}

fn row(property: &Property, types: &TypeTable, path: String) -> Row {
    let mut words = Vec::new();
    if let Some(TypeDef::Enum(definition)) = property.ty.named().and_then(|id| types.get(id)) {
        let only = if definition.is_open() { "" } else { "only " };
        words.push(format!("{only}{}", values(&definition.values)));
    }
    words.extend(rule_words(&property.rules));
    words.extend(rule_words(&property.item_rules));
    words.extend(other_name(property));
    words.extend(property.description.as_deref().map(one_line));
    if property.create_only {
        words.push("on creation only".to_owned());
    }
    let is_place = path == "location" && property.meaning == Meaning::Location;
    Row {
        path,
        ty: type_words(&property.ty, types),
        required: if property.required { "yes" } else { "" },
        notes: words.join("; ").replace('|', "\\|"),
        is_fixed: property.create_only || is_place,
    }
}

/// The first values, and how many more there are.
fn values(values: &[String]) -> String {
    let shown = values.iter().take(VALUES);
    let shown = shown.map(|value| format!("`{value}`"));
    let shown = shown.collect::<Vec<_>>().join(", ");
    match values.len().saturating_sub(VALUES) {
        0 => shown,
        more => format!("{shown} and {more} more"),
    }
}

/// What the property is called in ARM, where it is not its own name.
fn other_name(property: &Property) -> Option<String> {
    let (ArmPlace::At(path) | ArmPlace::Further(path)) = &property.place else {
        return None;
    };
    let last = path.last()?;
    (*last != property.name).then(|| format!("in ARM `{last}`"))
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn joined(parts: [String; 2]) -> String {
    let parts = parts.into_iter().filter(|part| !part.is_empty());
    parts.collect::<Vec<_>>().join("; ")
}
