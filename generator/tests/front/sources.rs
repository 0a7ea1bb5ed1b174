//! Api-versions that both sources describe: after inheritance the models agree, but for what is listed with a reason.

use std::collections::BTreeMap;

use armature_generator::discover::discover;
use armature_generator::inherit::inherit;
use armature_generator::load::{SpecRoot, SpecSet, load};
use armature_generator::model::{ApiVersion, Property, TypeDef, TypeName, TypeRef, Version};
use armature_generator::types::build;

use crate::real::{data, files};

/// Provider folder of the Bicep types, api-version, folder of the specs, and the end of file names that count.
const BOTH: [(&str, &str, &str, &str); 5] = [
    (
        "microsoft.keyvault",
        "2023-07-01",
        "keyvault/resource-manager/Microsoft.KeyVault",
        ".json",
    ),
    (
        "microsoft.managedidentity",
        "2023-01-31",
        "msi/resource-manager/Microsoft.ManagedIdentity",
        ".json",
    ),
    (
        "microsoft.kusto",
        "2023-08-15",
        "azure-kusto/resource-manager/Microsoft.Kusto",
        ".json",
    ),
    (
        "microsoft.storage",
        "2023-01-01",
        "storage/resource-manager/Microsoft.Storage",
        ".json",
    ),
    (
        "microsoft.resources",
        "2020-06-01",
        "resources/resource-manager/Microsoft.Resources",
        "/resources.json",
    ),
];

const ONE_SCHEMA: &str = "OpenAPI flattens the answer and not the body; Bicep has one schema for both, and the body counts";
const ONE_PATH: &str = "OpenAPI has a path for each scope, Bicep one for all";

/// Starts of places that differ, and why.
const REASONS: [(&str, &str); 6] = [
    ("VaultsKey.status.", ONE_SCHEMA),
    ("ManagedHSMsKey.status.", ONE_SCHEMA),
    ("ExtensionDeployment.", ONE_PATH),
    ("ManagementGroupDeployment.", ONE_PATH),
    ("SubscriptionDeployment.", ONE_PATH),
    ("TenantDeployment.", ONE_PATH),
];

fn describe(version: &Version, property: &Property) -> String {
    let named = property.ty.named().and_then(|name| version.types.get(name));
    let ty = match named {
        Some(TypeDef::Enum(known)) => {
            let mut values = known.values.clone();
            values.sort();
            let ty = property.ty.with_core(TypeRef::String);
            format!("{ty:?} {} {}", values.join("|"), known.extensible)
        }
        Some(TypeDef::Object(_)) => format!("object {:?}", property.ty.with_core(TypeRef::Json)),
        None => format!("{:?}", property.ty),
    };
    format!(
        "{ty} at {} required {} secret {} create-only {} {:?}",
        property.arm.join("/"),
        property.required,
        property.secret,
        property.create_only,
        property.meaning
    )
}

fn walk(version: &Version, name: &TypeName, at: &str, found: &mut BTreeMap<String, String>) {
    let Some(TypeDef::Object(object)) = version.types.get(name) else {
        return;
    };
    for property in &object.properties {
        let place = format!("{at}.{}", property.name);
        found.insert(place.clone(), describe(version, property));
        if let Some(inner) = property.ty.named() {
            walk(version, inner, &place, found);
        }
    }
}

/// Every property of every resource, by its place.
fn places(set: &SpecSet, api_version: &str) -> BTreeMap<String, String> {
    let resources = discover(set).expect("resources");
    let version = build(set, ApiVersion::new(api_version), &resources).expect("types");
    let mut found = BTreeMap::new();
    for resource in &version.resources {
        for (side, root) in [("spec", &resource.spec), ("status", &resource.status)] {
            let at = format!("{}.{side}", resource.kind);
            walk(&version, root, &at, &mut found);
        }
    }
    found
}

fn differences(
    ours: &BTreeMap<String, String>,
    theirs: &BTreeMap<String, String>,
) -> Vec<(String, String)> {
    let mut all: Vec<&String> = ours.keys().chain(theirs.keys()).collect();
    all.sort();
    all.dedup();
    all.into_iter()
        .filter(|place| ours.get(*place) != theirs.get(*place))
        .map(|place| {
            let text = format!(
                "{place}: Bicep {:?}, OpenAPI {:?}",
                ours.get(place),
                theirs.get(place)
            );
            (place.clone(), text)
        })
        .collect()
}

#[test]
fn both_sources_give_the_same_model() {
    let Some(data) = data().filter(|data| data.join("bicep-types").is_dir()) else {
        eprintln!("no Bicep types on this machine; nothing to compare");
        return;
    };
    let root = |path: &str| data.join(path);
    let specs = root("azure-rest-api-specs/specification");
    let bicep = root("bicep-types");
    let tree = |path: &std::path::Path| SpecRoot::new(path.to_string_lossy().into_owned());
    let mut unexplained = Vec::new();
    let mut used = std::collections::BTreeSet::new();
    for (provider, api_version, folder, end) in BOTH {
        let version = ApiVersion::new(api_version);
        let mut list = files(&specs, &format!("{folder}/stable/{api_version}"));
        list.retain(|file| file.ends_with(end));
        let openapi = load(&tree(&specs), &list).expect("loads");
        let list = files(&bicep, &format!("{provider}/{api_version}"));
        let ours = load(&tree(&bicep), &list).expect("loads");
        let openapi = BTreeMap::from([(version.clone(), openapi)]);
        let inherited = inherit(&ours, &version, &openapi).expect("resources");
        let ours = places(&inherited, api_version);
        let theirs = places(&openapi[&version], api_version);
        let found = differences(&ours, &theirs);
        println!(
            "{provider}: {} places, {} differ",
            theirs.len(),
            found.len()
        );
        for (place, text) in found {
            match REASONS.iter().find(|(start, _)| place.starts_with(start)) {
                Some((start, _)) => {
                    used.insert(*start);
                }
                None => unexplained.push(text),
            }
        }
    }
    assert!(unexplained.is_empty(), "{}", unexplained.join("\n"));
    for (start, reason) in REASONS {
        assert!(used.contains(start), "{start} differs no more: {reason}");
    }
}
