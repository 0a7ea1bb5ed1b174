//! Properties that look like more than their spec says: ARM ids without a format, secrets that nobody marked, lists of
//! resources that have a life of their own.

use std::borrow::Cow;
use std::collections::BTreeSet;

use crate::model::{
    Group, Meaning, Property, Resource, TypeDef, TypeId, TypeRef, Version, reachable,
};

/// Ends of names that are ids of something other than a resource.
const OTHER_IDS: [&str; 8] = [
    "tenantid",
    "clientid",
    "objectid",
    "principalid",
    "subscriptionid",
    "applicationid",
    "appid",
    "versionid",
];

/// Parts of the names of secrets.
const SECRETS: [&str; 7] = [
    "password",
    "secret",
    "connectionstring",
    "accesskey",
    "sharedkey",
    "privatekey",
    "token",
];

/// Ends of names that hold a part of a secret's name and are where to find one, or what it is called.
const ABOUT_SECRETS: [&str; 5] = ["name", "id", "uri", "url", "identifier"];

/// A property and what it may be.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Suspicion {
    /// Name that rules use for its type.
    pub type_name: String,
    /// Name in ARM.
    pub property: String,
    /// What a rule would say, in TOML: a word, or a table.
    pub says: String,
    /// Why.
    pub why: Cow<'static, str>,
    /// Whether it is likely enough to be proposed as a line.
    pub is_likely: bool,
}

impl Suspicion {
    /// The rule.
    pub fn rule(&self) -> String {
        format!("{} = {}", key(&self.property), self.says)
    }

    /// Its line: a remark, where it is not likely.
    pub fn line(&self) -> String {
        let mark = if self.is_likely { "" } else { "# " };
        format!("{mark}{} # {}\n", self.rule(), self.why)
    }
}

/// A word as a value in TOML.
pub(super) fn quoted(word: &str) -> String {
    format!("\"{word}\"")
}

/// A key in TOML, in quotes where it needs them.
pub(super) fn key(name: &str) -> String {
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "-_".contains(letter);
    if !name.is_empty() && name.chars().all(is_plain) {
        return name.to_owned();
    }
    quoted(name)
}

/// Suspects among what only `kinds` reach, by type and property.
pub(super) fn suspects(group: &Group, kinds: &[&str]) -> Vec<Suspicion> {
    let mut found = BTreeSet::new();
    for version in group.versions.values() {
        let roots = |is_new: bool| {
            let resources = version.resources.iter();
            let wanted = resources.filter(move |it| kinds.contains(&it.kind.as_str()) == is_new);
            wanted.map(|resource| &resource.spec)
        };
        let settled = reachable(&version.types, roots(false));
        for ty in reachable(&version.types, roots(true)).difference(&settled) {
            object(version, ty, &mut found);
        }
    }
    found.into_iter().collect()
}

fn object(version: &Version, ty: &TypeId, found: &mut BTreeSet<Suspicion>) {
    let Some(TypeDef::Object(object)) = version.types.get(ty) else {
        return;
    };
    let resource = version.resources.iter().find(|it| it.spec == *ty);
    for property in &object.properties {
        let Some((word, why, is_likely)) = suspect(version, resource, property) else {
            continue;
        };
        let type_name = resource.map_or(ty.word(), |resource| resource.kind.as_str());
        found.insert(Suspicion {
            type_name: type_name.to_owned(),
            property: property.name.clone(),
            says: quoted(word),
            why: why.into(),
            is_likely,
        });
    }
}

/// What a property may be: the word of a rule, why, and whether it is likely.
fn suspect(
    version: &Version,
    resource: Option<&Resource>,
    property: &Property,
) -> Option<(&'static str, &'static str, bool)> {
    if property.meaning != Meaning::Plain {
        return None;
    }
    if let (Some(resource), TypeRef::List(_)) = (resource, &property.ty) {
        let child = format!("{}/{}", resource.arm_type, property.name);
        if version
            .arm_types
            .values()
            .flatten()
            .any(|it| it.eq_ignore_ascii_case(&child))
        {
            // Of the lists that are like this in Azure, Azure Service Operator leaves out one in three.
            let why = "its items are an ARM type of their own; if the list is to be left to those";
            return Some(("child-kind", why, false));
        }
    }
    if core(&property.ty) != &TypeRef::String {
        return None;
    }
    let name = property.name.to_lowercase();
    let ends = |endings: &[&str]| endings.iter().any(|end| name.ends_with(end));
    if SECRETS.iter().any(|part| name.contains(part)) && !ends(&ABOUT_SECRETS) {
        return Some(("secret", "named like a secret", false));
    }
    let is_id = ends(&["id", "ids"]) && !ends(&OTHER_IDS);
    if !is_id || property.rules.format.is_some() {
        return None;
    }
    let text = property
        .description
        .as_deref()
        .unwrap_or_default()
        .to_lowercase();
    let says = ["resource id", "arm id", "resource uri", "/subscriptions/"];
    let is_likely = ends(&["resourceid", "resourceids"]) || says.iter().any(|it| text.contains(it));
    let why = if is_likely {
        "its name or text says that it is an ARM id"
    } else {
        "named like an id; a reference if it is an ARM id"
    };
    Some(("reference", why, is_likely))
}

/// The type within lists and maps.
fn core(ty: &TypeRef) -> &TypeRef {
    match ty {
        TypeRef::List(item) | TypeRef::Map(item) => core(item),
        other => other,
    }
}
