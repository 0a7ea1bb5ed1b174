//! Taking over what exists must not write: right after a PUT that Azure took, its own answer to a GET must not
//! look like drift, without any baseline.

use std::collections::{BTreeMap, BTreeSet};

use armature_conformance::data;
use armature_runtime::engine::compare::Comparison;
use armature_runtime::kind::{KindInfo, VersionInfo};
use serde_json::Value;

/// Differences right after the PUT that Azure took: taking over sends one PUT there, and the record of its answer ends the
/// matter. Kind, path in the schema, and why Azure does not show what it was sent.
const ONE_PUT: [(&str, &str, &str); 13] = [
    (
        "app/ManagedEnvironment",
        "properties.workloadProfiles[]",
        ADDED,
    ),
    ("authorization/RoleDefinition", "properties.type", CASING),
    (
        "documentdb/MongodbDatabaseCollection",
        "properties.resource.indexes[].options.unique",
        UNSEEN,
    ),
    (
        "documentdb/MongodbRoleDefinition",
        "properties.type",
        REWRITTEN,
    ),
    (
        "documentdb/SqlDatabaseContainer",
        "properties.resource.indexingPolicy.excludedPaths[]",
        ADDED,
    ),
    (
        "documentdb/SqlRoleAssignment",
        "properties.roleDefinitionId",
        RECORDING,
    ),
    (
        "documentdb/SqlRoleAssignment",
        "properties.scope",
        RECORDING,
    ),
    ("keyvault/Vault", "properties.accessPolicies[]", ADDED),
    ("kubernetesconfiguration/Extension", "identity.type", UNSEEN),
    (
        "machinelearningservices/Workspace",
        "properties.allowPublicAccessWhenBehindVnet",
        REWRITTEN,
    ),
    ("machinelearningservices/Workspace", "sku.name", REWRITTEN),
    (
        "servicebus/NamespacesTopicsSubscriptionsRule",
        "properties.action.requiresPreprocessing",
        UNSEEN,
    ),
    (
        "servicebus/NamespacesTopicsSubscriptionsRule",
        "properties.correlationFilter.contentType",
        UNSEEN,
    ),
];

const ADDED: &str =
    "Azure adds an item of its own: to a vault the machine learning workspace that uses it";
const CASING: &str = "answered in another casing";
const RECORDING: &str = "the recording has other names in bodies than in answers";
const REWRITTEN: &str = "the service decides for itself";
const UNSEEN: &str = "taken, and not answered";

/// A PUT and the last GET of the same URL before the next write to it.
struct Pair {
    url: String,
    desired: Value,
    observed: Value,
}

fn pairs(lines: &str) -> Vec<Pair> {
    let mut desired: BTreeMap<String, Value> = BTreeMap::new();
    let mut pairs: BTreeMap<String, Pair> = BTreeMap::new();
    let mut done = Vec::new();
    for line in lines.lines() {
        let Ok(exchange) = serde_json::from_str::<Value>(line) else {
            continue;
        };
        let url = exchange["url"].as_str().unwrap_or("").to_owned();
        let good = exchange["status"]
            .as_u64()
            .is_some_and(|status| status < 300);
        match exchange["method"].as_str() {
            Some("PUT") => {
                done.extend(pairs.remove(&url));
                if good {
                    desired.insert(url, exchange["request"].clone());
                }
            }
            Some("GET") if good => {
                if let Some(body) = desired.get(&url) {
                    let pair = Pair {
                        url: url.clone(),
                        desired: body.clone(),
                        observed: exchange["response"].clone(),
                    };
                    pairs.insert(url, pair);
                }
            }
            _ => {}
        }
    }
    done.extend(pairs.into_values());
    done
}

/// The version that the URL is of.
fn version_of(url: &str) -> Option<(&'static KindInfo, &'static VersionInfo)> {
    let (path, query) = url.split_once('?')?;
    let api_version = query
        .split('&')
        .find_map(|part| part.strip_prefix("api-version="))?;
    let path = path.trim_start_matches("https://management.azure.com");
    let id = armature_runtime::id::ResourceId::parse(path).ok()?;
    armature_generated::KINDS.iter().find_map(|kind| {
        let version = kind
            .versions
            .iter()
            .find(|version| version.api_version == api_version)?;
        id.has_type(kind.remote_type()).then_some((*kind, version))
    })
}

#[test]
fn recorded_resources_are_in_sync_with_what_created_them() {
    let Some(folder) = data::folder() else {
        println!("skipped: no recordings, set ARMATURE_AZURE_DATA to their folder");
        return;
    };
    let (mut total, mut drifted) = (0, BTreeSet::new());
    let mut files: Vec<_> = std::fs::read_dir(folder.join("recordings"))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    files.sort();
    for file in files {
        let lines = std::fs::read_to_string(&file).unwrap();
        for pair in pairs(&lines) {
            let Some((kind, version)) = version_of(&pair.url) else {
                continue;
            };
            total += 1;
            let comparison = Comparison {
                equal_values: kind.equal_values,
                ..Comparison::new(version.spec, &pair.desired, &pair.observed)
            };
            let place = file.file_stem().unwrap().to_string_lossy().into_owned();
            for difference in comparison.differences() {
                println!("{place}: {} {}: {difference}", kind.kind, version.name);
                let kind = format!("{}/{}", kind.category, kind.kind);
                drifted.insert((kind, difference.schema_path));
            }
        }
    }
    println!(
        "adoption: {total} recorded resources, differences of {} kinds of place",
        drifted.len()
    );
    assert!(
        total > 0,
        "the recordings hold no resource of a generated kind"
    );
    let known = ONE_PUT.map(|(kind, path, _)| (kind.to_owned(), path.to_owned()));
    assert_eq!(drifted, known.into());
}
