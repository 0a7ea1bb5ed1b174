//! Versions ahead of Azure Service Operator: all that Azure publishes are here, and an API server takes each.
#![allow(
    clippy::panic,
    clippy::unwrap_used,
    reason = "helpers of tests may panic as tests do"
)]

use std::collections::{BTreeMap, BTreeSet};

use armature_conformance::data;
use armature_controlplane::ControlPlane;
use armature_generated::KINDS;
use armature_runtime::engine::crd::{CrdOptions, ServedVersions, custom_resource_definition};
use armature_runtime::kind::KindInfo;
use kube::client::Body;
use serde_json::Value;

/// Kinds of which the newest version in the Bicep types is not here, with the reason.
const EXCEPTIONS: [(&str, &str); 3] = [
    ("web.azure.com/ServerFarm 2025-03-01", OF_WEB),
    ("web.azure.com/Site 2025-03-01", OF_WEB),
    ("web.azure.com/SitesSourcecontrol 2025-03-01", OF_WEB),
];

const OF_WEB: &str =
    "Azure Service Operator has 2025-05-01, which is newer; docs/gaps.md says why that is not here";

fn name(kind: &KindInfo) -> String {
    format!("{}/{}", kind.group, kind.kind)
}

/// The newest stable api-version of each ARM type that can be written, by the type in lower case, as the Bicep types have
/// them: `<provider>/<api-version>/types*.json`.
fn newest_in_bicep(folder: &std::path::Path) -> BTreeMap<String, String> {
    let below = |folder: &std::path::Path| {
        let entries = std::fs::read_dir(folder).unwrap();
        entries
            .map(|entry| entry.unwrap().path())
            .collect::<Vec<_>>()
    };
    let mut newest = BTreeMap::<String, String>::new();
    let providers = below(folder).into_iter().filter(|path| path.is_dir());
    let versions = providers.flat_map(|provider| below(&provider));
    for file in versions.flat_map(|version| below(&version)) {
        let text = std::fs::read_to_string(&file).unwrap();
        let types: Vec<Value> = serde_json::from_str(&text).unwrap();
        for ty in types.iter().filter(|ty| ty["$type"] == "ResourceType") {
            let (arm_type, version) = ty["name"].as_str().unwrap().split_once('@').unwrap();
            let is_written = ty["writableScopes"] != 0;
            if !is_written || version.contains('-') && version.len() > "2026-01-01".len() {
                continue;
            }
            let known = newest.entry(arm_type.to_lowercase()).or_default();
            *known = known.clone().max(version.to_owned());
        }
    }
    newest
}

/// What `docs/ahead.md` says: of each kind the newest stable version is here.
#[test]
fn every_kind_has_the_newest_stable_version_of_azures_bicep_types() {
    let Some(folder) = data::folder() else {
        println!("skipped: no Bicep types, set ARMATURE_AZURE_DATA to the folder of bicep-types");
        return;
    };
    let newest = newest_in_bicep(&folder.join("bicep-types"));
    let mut lacking = BTreeSet::new();
    for kind in KINDS {
        let Some(newest) = newest.get(&kind.remote_type().to_lowercase()) else {
            continue;
        };
        // A preview of a later day has all of it, too.
        let has = |version: &str| match version.strip_suffix("-preview") {
            Some(day) => day > newest.as_str(),
            None => version >= newest.as_str(),
        };
        if !kind.versions.iter().any(|version| has(version.api_version)) {
            lacking.insert(format!("{} {newest}", name(kind)));
        }
    }
    let known = EXCEPTIONS.iter().map(|(what, _)| (*what).to_owned());
    assert_eq!(
        lacking,
        known.collect(),
        "left: kinds that Azure has a newer version of; add it under `on-request` in the group's group.toml"
    );
}

/// A CRD with every version that may be asked for is created as if in earnest, on a real API server: schemas, rules and
/// their costs are checked. It warns of nothing.
#[tokio::test]
async fn the_api_server_takes_every_version_on_request() {
    let plane = ControlPlane::start(Default::default()).await.unwrap();
    let client = plane.client().await.unwrap();
    let mut pairs = 0;
    for kind in KINDS {
        let ahead = kind.versions.iter().filter(|version| version.is_on_request);
        let also = ahead.map(|version| version.name.to_owned());
        let also = also.collect::<BTreeSet<_>>();
        if also.is_empty() {
            continue;
        }
        let options = CrdOptions {
            versions: ServedVersions::All { also: also.clone() },
            ..CrdOptions::default()
        };
        let crd = custom_resource_definition(kind, &options);
        let versions = crd["spec"]["versions"].as_array().unwrap();
        for version in &also {
            let served = versions.iter().find(|it| it["name"] == version.as_str());
            assert_eq!(served.unwrap()["served"], true, "{} {version}", name(kind));
            pairs += 1;
        }
        let request = http::Request::post(
            "/apis/apiextensions.k8s.io/v1/customresourcedefinitions?dryRun=All&fieldValidation=Strict",
        )
        .header("content-type", "application/json")
        .body(Body::from(serde_json::to_vec(&crd).unwrap()))
        .unwrap();
        let response = client.send(request).await.unwrap();
        let warnings = response.headers().get_all("warning").iter().count();
        let status = response.status();
        let answer = response.into_body().collect_bytes().await.unwrap();
        let answer = String::from_utf8_lossy(&answer).into_owned();
        assert!(status == 201, "{}: {status} {answer}", name(kind));
        assert_eq!(warnings, 0, "{}: the API server warns", name(kind));
    }
    let page = include_str!("../../../docs/ahead.md");
    let told = format!("{pairs} pairs of kind and version");
    assert!(page.contains(&told), "docs/ahead.md does not say {told}");
    plane.stop().await;
}
