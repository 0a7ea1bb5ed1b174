//! Api-versions that OpenAPI and Bicep types both describe: after inheritance the models agree, but for what is listed
//! with a reason in `sources.toml`. All of the model counts but prose and order. Each version that both have is compared
//! twice: inheriting from its own OpenAPI, and from that of the versions around it, as versions without OpenAPI do.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::path::{Path, PathBuf};

use armature_generator::discover::discover;
use armature_generator::load::{SpecRoot, SpecSet, load};
use armature_generator::model::{
    ApiVersion, ObjectType, Property, Resource, TypeDef, TypeId, TypeRef, Version,
};
use armature_generator::types::build;
use serde::Deserialize;

use crate::common::real::{data, files};
use crate::common::{inherited, outline as render};

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
    let named = property.ty.named().and_then(|id| version.types.get(id));
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
        ("place in ARM", property.place.path().join("/")),
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
    // Bicep types sort variants by value.
    let mut object = object.clone();
    if let Some(one_of) = &mut object.discriminated {
        one_of.variants.sort_by(|l, r| l.value.cmp(&r.value));
    }
    let notes = render::notes(&object);
    facts.insert((place.to_owned(), "object"), notes);
    for property in &object.properties {
        let place = format!("{place}.{}", property.name);
        property_facts(version, property, &place, facts);
        if let Some(inner) = property.ty.named() {
            type_facts(version, inner, &place, facts);
        }
    }
}

fn type_facts(version: &Version, id: &TypeId, place: &str, facts: &mut Facts) {
    if let Some(TypeDef::Object(object)) = version.types.get(id) {
        object_facts(version, object, place, facts);
    }
}

/// Everything that the model says, by place.
fn facts(version: &Version) -> Facts {
    let mut facts = Facts::new();
    for resource in &version.resources {
        resource_facts(resource, &mut facts);
        for (side, root) in [("spec", &resource.spec), ("status", &resource.status)] {
            let place = format!("{}.{side}", resource.kind);
            type_facts(version, root, &place, &mut facts);
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

/// One difference.
struct Difference {
    /// `storage`.
    provider: String,
    from: Inherited,
    place: String,
    aspect: &'static str,
    text: String,
}

/// Which version's OpenAPI the Bicep types inherit from.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Inherited {
    Same,
    Neighbour,
}

/// What differs, by place and aspect. Of what only one side has, only the top.
fn differences(ours: &Facts, theirs: &Facts) -> Vec<(String, &'static str, String)> {
    let places = |facts: &Facts| -> BTreeSet<String> {
        facts.keys().map(|(place, _)| place.clone()).collect()
    };
    let (left, right) = (places(ours), places(theirs));
    let missing: BTreeSet<&str> = left
        .symmetric_difference(&right)
        .map(String::as_str)
        .collect();
    let is_top = |place: &str| {
        let mut ends = place.match_indices('.');
        !ends.any(|(end, _)| missing.contains(&place[..end]))
    };
    let mut found = Vec::new();
    for place in missing.iter().filter(|place| is_top(place)) {
        let is_ours = left.contains(*place);
        let text = if is_ours {
            "only Bicep"
        } else {
            "only OpenAPI"
        };
        found.push(((*place).to_owned(), "presence", text.to_owned()));
    }
    for ((place, aspect), ours) in ours {
        if let Some(theirs) = theirs.get(&(place.clone(), *aspect))
            && ours != theirs
        {
            let text = format!("Bicep {ours:?}, OpenAPI {theirs:?}");
            found.push((place.clone(), *aspect, text));
        }
    }
    found
}

/// Differences of one pair: inherited from the same version, and from the versions around it where there are any.
fn compare(pair: &Pair, specs: &Path, bicep: &Path) -> Vec<Difference> {
    let tree = |path: &Path| SpecRoot::new(path.to_string_lossy().into_owned());
    let ours = load(&tree(bicep), &files(bicep, &pair.bicep)).expect("loads");
    let tree = tree(specs);
    let load_folder = |(version, folder): (&ApiVersion, &String)| {
        let set = load(&tree, &files(specs, folder)).expect("loads");
        (version.clone(), set)
    };
    let openapi: BTreeMap<ApiVersion, SpecSet> = pair.openapi.iter().map(load_folder).collect();
    for document in ours.listed().chain(openapi[&pair.api_version].listed()) {
        let said = document.api_version.as_deref();
        assert_eq!(said, Some(pair.api_version.as_str()), "{}", document.file);
    }
    let same = &openapi[&pair.api_version];
    let resources = discover(same).expect("resources");
    let theirs = build(same, pair.api_version.clone(), &resources).expect("types");
    let theirs = facts(&theirs);
    let (same, neighbours): (BTreeMap<_, _>, BTreeMap<_, _>) = openapi
        .into_iter()
        .partition(|(version, _)| *version == pair.api_version);
    let mut found = Vec::new();
    for (from, openapi) in [(Inherited::Same, same), (Inherited::Neighbour, neighbours)] {
        if openapi.is_empty() {
            continue;
        }
        let version = inherited(&ours, &pair.api_version, &openapi);
        let differing = differences(&facts(&version), &theirs);
        println!(
            "{} from {from:?}: {} facts, {} differ",
            pair.bicep,
            theirs.len(),
            differing.len()
        );
        let provider = pair.bicep.split('/').next().unwrap_or_default();
        found.extend(
            differing
                .into_iter()
                .map(|(place, aspect, text)| Difference {
                    provider: provider.trim_start_matches("microsoft.").to_owned(),
                    from,
                    place,
                    aspect,
                    text,
                }),
        );
    }
    found
}

/// The list of differences with reasons.
#[derive(Deserialize)]
struct Listed {
    /// Folders of the Bicep types that are compared.
    compared: BTreeSet<String>,
    reason: Vec<Reason>,
}

#[derive(Deserialize)]
struct Reason {
    because: String,
    differences: Vec<Line>,
}

/// Provider, version inherited from, place, aspect and number.
#[derive(Deserialize)]
struct Line(String, String, String, String, usize);

impl fmt::Display for Line {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self(provider, from, place, aspect, count) = self;
        write!(
            formatter,
            "{provider} from {from}: {place}, {aspect}, {count} times"
        )
    }
}

impl Line {
    fn has(&self, difference: &Difference) -> bool {
        let from = match difference.from {
            Inherited::Same => "same",
            Inherited::Neighbour => "neighbour",
        };
        self.0 == difference.provider
            && (self.1 == "any" || self.1 == from)
            && is_like(&difference.place, &self.2)
            && self.3 == difference.aspect
    }
}

/// Whether text has the form of a pattern, in which `*` is any text.
fn is_like(text: &str, pattern: &str) -> bool {
    let Some((start, rest)) = pattern.split_once('*') else {
        return text == pattern;
    };
    text.strip_prefix(start).is_some_and(|text| {
        let mut ends = text.char_indices().map(|(end, _)| end).chain([text.len()]);
        ends.any(|end| is_like(&text[end..], rest))
    })
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
    let listed: Listed = toml::from_str(include_str!("sources.toml")).expect("a list");
    let (pairs, others): (Vec<Pair>, Vec<Pair>) = pairs(&specs, &bicep)
        .into_iter()
        .partition(|pair| listed.compared.contains(&pair.bicep));
    for other in &others {
        println!("{} is in both sources and not compared", other.bicep);
    }
    assert_eq!(
        pairs.len(),
        listed.compared.len(),
        "sources.toml lists a version that one of the sources lacks"
    );
    let found: Vec<Difference> = pairs
        .iter()
        .flat_map(|pair| compare(pair, &specs, &bicep))
        .collect();
    let mut faults = Vec::new();
    for difference in &found {
        let lines = || listed.reason.iter().flat_map(|reason| &reason.differences);
        if !lines().any(|line| line.has(difference)) {
            let Difference {
                provider,
                from,
                place,
                aspect,
                text,
            } = difference;
            faults.push(format!(
                "no reason for {provider} from {from:?}: {place}, {aspect}: {text}"
            ));
        }
    }
    for reason in &listed.reason {
        for line in &reason.differences {
            let count = found.iter().filter(|it| line.has(it)).count();
            if count != line.4 {
                let because = &reason.because;
                faults.push(format!(
                    "{line}: found {count} times (listed because: {because})"
                ));
            }
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}
