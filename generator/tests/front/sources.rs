//! Api-versions that OpenAPI and Bicep types both describe: after inheritance the models agree, but for what is listed
//! with a reason. Prose apart, all of the model counts.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use armature_generator::discover::discover;
use armature_generator::inherit::inherit;
use armature_generator::load::{SpecRoot, SpecSet, load};
use armature_generator::model::{
    ApiVersion, ObjectType, Property, Resource, TypeDef, TypeName, TypeRef, Version,
};
use armature_generator::types::build;

use crate::real::{data, files};
use crate::render;

/// Place and aspect → what the model says.
type Facts = BTreeMap<(String, &'static str), String>;

fn resource_facts(resource: &Resource, facts: &mut Facts) {
    for (aspect, text) in [
        ("arm type", resource.arm_type.clone()),
        ("scope", format!("{:?}", resource.scope)),
        ("owner", format!("{:?}", resource.owner)),
        ("name", render::name(&resource.name)),
        ("verbs", render::verbs(resource)),
    ] {
        facts.insert((resource.kind.clone(), aspect), text);
    }
}

fn property_facts(version: &Version, property: &Property, place: &str, facts: &mut Facts) {
    let named = property.ty.named().and_then(|name| version.types.get(name));
    let ty = match named {
        Some(TypeDef::Enum(known)) => {
            let mut values = known.values.clone();
            values.sort();
            let ty = property.ty.with_core(TypeRef::String);
            let more = if known.extensible { " …" } else { "" };
            format!("{ty:?} {}{more}", values.join("|"))
        }
        Some(TypeDef::Object(_)) => format!("object {:?}", property.ty.with_core(TypeRef::Json)),
        None => format!("{:?}", property.ty),
    };
    for (aspect, text) in [
        ("type", ty),
        ("place in ARM", property.arm.join("/")),
        ("meaning", format!("{:?}", property.meaning)),
        ("required", property.required.to_string()),
        ("read-only", property.read_only.to_string()),
        ("write-only", property.write_only.to_string()),
        ("create-only", property.create_only.to_string()),
        ("secret", property.secret.to_string()),
        ("rules", render::rules("", &property.rules)),
        ("rules of items", render::rules("", &property.item_rules)),
        ("identifiers", property.identifiers.join(",")),
    ] {
        facts.insert((place.to_owned(), aspect), text);
    }
}

fn object_facts(version: &Version, object: &ObjectType, place: &str, facts: &mut Facts) {
    let notes = render::notes(object);
    facts.insert((place.to_owned(), "object"), notes);
    for property in &object.properties {
        let place = format!("{place}.{}", property.name);
        property_facts(version, property, &place, facts);
        if let Some(inner) = property.ty.named() {
            type_facts(version, inner, &place, facts);
        }
    }
}

fn type_facts(version: &Version, name: &TypeName, place: &str, facts: &mut Facts) {
    if let Some(TypeDef::Object(object)) = version.types.get(name) {
        object_facts(version, object, place, facts);
    }
}

/// Everything that the model says, by place.
fn facts(set: &SpecSet, api_version: &ApiVersion) -> Facts {
    let resources = discover(set).expect("resources");
    let version = build(set, api_version.clone(), &resources).expect("types");
    let mut facts = Facts::new();
    for resource in &version.resources {
        resource_facts(resource, &mut facts);
        for (side, root) in [("spec", &resource.spec), ("status", &resource.status)] {
            let place = format!("{}.{side}", resource.kind);
            type_facts(&version, root, &place, &mut facts);
        }
    }
    facts
}

/// What both sources describe.
struct Pair {
    /// Folder of the Bicep types: `microsoft.storage/2023-01-01`.
    bicep: String,
    api_version: ApiVersion,
    /// Folders of OpenAPI files by api-version.
    openapi: BTreeMap<ApiVersion, String>,
}

/// Folders directly within a folder, by name.
fn folders(at: &Path) -> Vec<(String, PathBuf)> {
    let entries = std::fs::read_dir(at).into_iter().flatten().flatten();
    let mut found: Vec<(String, PathBuf)> = entries
        .filter(|entry| entry.path().is_dir())
        .map(|entry| {
            (
                entry.file_name().to_string_lossy().into_owned(),
                entry.path(),
            )
        })
        .collect();
    found.sort();
    found
}

/// Folders of OpenAPI files by provider in lower case and api-version.
fn openapi_folders(specs: &Path) -> BTreeMap<String, BTreeMap<ApiVersion, String>> {
    let mut found: BTreeMap<String, BTreeMap<ApiVersion, String>> = BTreeMap::new();
    for (_, service) in folders(specs) {
        for (provider, at) in folders(&service.join("resource-manager")) {
            for stage in ["stable", "preview"] {
                for (version, folder) in folders(&at.join(stage)) {
                    let relative = folder.strip_prefix(specs).expect("below the root");
                    let relative = relative.to_string_lossy().into_owned();
                    let versions = found.entry(provider.to_ascii_lowercase()).or_default();
                    versions.insert(ApiVersion::new(version), relative);
                }
            }
        }
    }
    found
}

fn pairs(specs: &Path, bicep: &Path) -> Vec<Pair> {
    let openapi = openapi_folders(specs);
    let mut found = Vec::new();
    for (provider, at) in folders(bicep) {
        for (version, _) in folders(&at) {
            let api_version = ApiVersion::new(&*version);
            match openapi.get(&provider) {
                Some(versions) if versions.contains_key(&api_version) => found.push(Pair {
                    bicep: format!("{provider}/{version}"),
                    api_version,
                    openapi: versions.clone(),
                }),
                _ => {}
            }
        }
    }
    found
}

/// What differs, by place and aspect. Of what only one side has, only the top.
fn differences(ours: &Facts, theirs: &Facts) -> Vec<(String, &'static str, String)> {
    let places = |facts: &Facts| -> BTreeSet<String> {
        facts.keys().map(|(place, _)| place.clone()).collect()
    };
    let (left, right) = (places(ours), places(theirs));
    let is_below = |place: &str, missing: &BTreeSet<&String>| {
        let mut ends = place.match_indices('.');
        ends.any(|(end, _)| missing.contains(&place[..end].to_owned()))
    };
    let missing: BTreeSet<&String> = left.symmetric_difference(&right).collect();
    let mut found = Vec::new();
    for place in &missing {
        if !is_below(place, &missing) {
            let only = if left.contains(*place) {
                "Bicep"
            } else {
                "OpenAPI"
            };
            found.push(((*place).clone(), "presence", format!("only {only}")));
        }
    }
    for (key, ours) in ours {
        if let Some(theirs) = theirs.get(key)
            && ours != theirs
        {
            let text = format!("Bicep {ours:?}, OpenAPI {theirs:?}");
            found.push((key.0.clone(), key.1, text));
        }
    }
    found
}

#[test]
fn both_sources_give_the_same_model() {
    let folders = data().map(|data| {
        (
            data.join("azure-rest-api-specs/specification"),
            data.join("bicep-types"),
        )
    });
    let Some((specs, bicep)) = folders.filter(|(left, right)| left.is_dir() && right.is_dir())
    else {
        eprintln!("skipped: no specs with Bicep types on this machine");
        return;
    };
    let tree = |path: &Path| SpecRoot::new(path.to_string_lossy().into_owned());
    let (spec_tree, bicep_tree) = (tree(&specs), tree(&bicep));
    for pair in pairs(&specs, &bicep) {
        let ours = load(&bicep_tree, &files(&bicep, &pair.bicep)).expect("loads");
        let openapi: BTreeMap<ApiVersion, SpecSet> = pair
            .openapi
            .iter()
            .map(|(version, folder)| {
                let set = load(&spec_tree, &files(&specs, folder)).expect("loads");
                (version.clone(), set)
            })
            .collect();
        let theirs = facts(&openapi[&pair.api_version], &pair.api_version);
        let (same, others): (BTreeMap<_, _>, BTreeMap<_, _>) = openapi
            .into_iter()
            .partition(|(version, _)| *version == pair.api_version);
        for (from, openapi) in [("same", same), ("neighbour", others)] {
            if openapi.is_empty() {
                continue;
            }
            let inherited = inherit(&ours, &pair.api_version, &openapi).expect("resources");
            let ours = facts(&inherited, &pair.api_version);
            let found = differences(&ours, &theirs);
            println!(
                "## {} from {from}: {} facts, {} differ",
                pair.bicep,
                theirs.len(),
                found.len()
            );
            for (place, aspect, text) in found {
                println!("{from} {} | {place} | {aspect} | {text}", pair.bicep);
            }
        }
    }
}
