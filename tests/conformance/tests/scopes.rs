//! Namespaces that are bound to what a recorded test made for itself: nothing of what it asked for would be refused, and what
//! is outside is known.
#![allow(
    clippy::panic,
    clippy::unwrap_used,
    reason = "helpers of tests may panic as tests do"
)]

use std::collections::BTreeSet;
use std::path::Path;

use armature::render::{self, RenderedRequest};
use armature_conformance::data::{self, Exchange, Recording};
use armature_conformance::properties::versions;
use armature_runtime::arm::may_send;
use armature_runtime::azure::Method;
use armature_runtime::engine::named_ids::ids_named;
use armature_runtime::id::ResourceId;
use armature_runtime::reconcile::allowed_scopes::AllowedScopes;
use armature_runtime::shape::StructShape;
use serde_json::json;

const ENDPOINT: &str = "https://management.azure.com";

/// The subscription in ids of the samples.
const SUBSCRIPTION: &str = "00000000-0000-0000-0000-000000000000";

/// What is outside of what the tests made, by parts of the request or the id and of the place: an assignment in a sample names
/// an account of another test.
const KNOWN: &[(&str, &str)] = &[
    (
        "/databaseAccounts/sample-sqldb-account",
        "SqlRoleAssignmentSpec properties.scope",
    ),
    (
        "/databaseAccounts/sample-sqldb-account/sqlRoleDefinitions/",
        "SqlRoleAssignmentSpec properties.roleDefinitionId",
    ),
    // The vault's extension admits it: what is kept of a deleted vault is beside the group that it was in.
    (
        "GET /subscriptions/00000000-0000-0000-0000-000000000000/providers/Microsoft.KeyVault/locations/",
        "",
    ),
];

fn path(exchange: &Exchange) -> &str {
    exchange.url.split('?').next().unwrap()
}

/// The groups that the recorded test made, and what it made outside of groups.
fn scopes(recording: &Recording) -> Option<AllowedScopes> {
    let puts = recording.exchanges.iter().filter(|it| it.method == "PUT");
    made_by(puts.map(|exchange| exchange.url.as_str()))
}

/// The groups that PUTs to these URLs make, and what they make outside of groups.
fn made_by<'u>(urls: impl Iterator<Item = &'u str>) -> Option<AllowedScopes> {
    let made = urls.map(|url| {
        let path = url.split('?').next().unwrap();
        let segments: Vec<&str> = path.split('/').collect();
        let in_group = segments.len() > 4 && segments[3].eq_ignore_ascii_case("resourceGroups");
        let length = if in_group { 5 } else { segments.len() };
        segments[..length].join("/")
    });
    let made: BTreeSet<String> = made.collect();
    let text = made.into_iter().collect::<Vec<_>>().join("\n");
    AllowedScopes::parse(&text).ok()
}

fn method(name: &str) -> Method {
    match name {
        "GET" => Method::Get,
        "HEAD" => Method::Head,
        "PUT" => Method::Put,
        "PATCH" => Method::Patch,
        "POST" => Method::Post,
        "DELETE" => Method::Delete,
        other => panic!("{other}"),
    }
}

/// The shape of what is PUT at a URL, where a version of a kind is for it.
fn shape(exchange: &Exchange) -> Option<&'static StructShape> {
    let id = ResourceId::parse(path(exchange)).ok()?;
    let api_version = exchange.url.split("api-version=").nth(1)?;
    let mut all = versions();
    let found = all.find(|(kind, version)| {
        kind.remote_type().eq_ignore_ascii_case(&id.arm_type())
            && api_version.starts_with(version.api_version)
    });
    found.map(|(_, version)| version.spec)
}

/// The shape of a rendered request.
fn shape_of_sample(request: &RenderedRequest) -> &'static StructShape {
    let mut kinds = armature_generated::KINDS.iter();
    let kind = kinds.find(|kind| (kind.group, kind.kind) == (request.group, request.kind));
    let mut versions = kind.unwrap().versions.iter();
    let version = versions.find(|version| request.url.ends_with(version.api_version));
    version.unwrap_or_else(|| panic!("{}", request.url)).spec
}

#[test]
fn no_recorded_test_is_refused_what_it_made_for_itself() {
    let Some(folder) = data::folder() else {
        println!("skipped: no recordings, set ARMATURE_AZURE_DATA to their folder");
        return;
    };
    let (mut outside, mut requests, mut bodies) = (BTreeSet::new(), 0, 0);
    for recording in data::recordings(&folder).unwrap() {
        let Some(scopes) = scopes(&recording) else {
            continue;
        };
        for exchange in &recording.exchanges {
            requests += 1;
            if !may_send(&scopes, method(&exchange.method), &exchange.url) {
                let what = format!("{} {}", exchange.method, path(exchange));
                outside.insert((what, String::new()));
            }
            let Some(shape) = shape(exchange).filter(|_| exchange.method == "PUT") else {
                continue;
            };
            bodies += 1;
            for named in ids_named(shape, &exchange.request, ENDPOINT) {
                if !scopes.allow_in_body(&named.id) {
                    outside.insert((named.id, format!("{} {}", shape.name, named.path)));
                }
            }
        }
    }
    println!(
        "{requests} requests and {bodies} bodies, {} outside",
        outside.len()
    );
    let is_row = |(what, place): &(String, String), row: &(&str, &str)| {
        what.contains(row.0) && place == row.1
    };
    let is_known = |found: &&(String, String)| KNOWN.iter().any(|row| is_row(found, row));
    let new: Vec<_> = outside.iter().filter(|found| !is_known(found)).collect();
    assert!(new.is_empty(), "{new:#?}");
    let is_there = |row: &&(&str, &str)| outside.iter().any(|found| is_row(found, row));
    let gone: Vec<_> = KNOWN.iter().filter(|row| !is_there(row)).collect();
    assert!(gone.is_empty(), "no longer outside: {gone:#?}");
    assert!(requests > 5000 && bodies > 400);
}

/// What samples write down as the id of something that is there already, by parts of the id and by the place: these are refused
/// with right. Nothing else may be.
const BESIDE_SAMPLES: &[(&str, &str)] = &[
    (
        "/providers/Microsoft.Billing/billingAccounts/",
        "AliasSpec properties.billingScope",
    ),
    (
        "/resourceGroups/cache-north/",
        "RedisLinkedServerSpec properties.linkedRedisCacheId",
    ),
    (
        "/resourceGroups/certificates/",
        "SecretSpec properties.parameters.secretSource.id",
    ),
    (
        "/resourceGroups/dns/",
        "PrivateEndpointsPrivateDnsZoneGroupSpec properties.privateDnsZoneConfigs[0].properties.privateDnsZoneId",
    ),
    (
        "/resourceGroups/events/",
        "DataConnectionSpec properties.eventHubResourceId",
    ),
    (
        "/resourceGroups/firewalls/",
        "SecurityPolicySpec properties.parameters.wafPolicy.id",
    ),
    (
        "/resourceGroups/keys/",
        "DiskEncryptionSetSpec properties.activeKey.sourceVault.id",
    ),
    (
        "/resourceGroups/ledger-north/",
        "ServersFailoverGroupSpec properties.partnerServers[0].id",
    ),
    (
        "/resourceGroups/machines/",
        "BackupVaultsBackupInstanceSpec properties.dataSourceInfo.resourceID",
    ),
    (
        "/resourceGroups/openshift-samples-nodes",
        "OpenShiftClusterSpec properties.clusterProfile.resourceGroupId",
    ),
    (
        "/resourceGroups/training/",
        "TrustedAccessRoleBindingSpec properties.sourceResourceId",
    ),
];

/// Samples refer to those of other groups of kinds: all of them stay within the resource groups, and what else, that they make
/// together.
#[test]
fn no_sample_is_refused_what_samples_make() {
    let samples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../samples");
    let folders = std::fs::read_dir(samples).unwrap();
    let folders = folders.map(|entry| entry.unwrap().path());
    let folders = folders.filter(|path| path.is_dir());
    let render = |folder| render::render_paths(&[folder], armature_generated::KINDS, SUBSCRIPTION);
    let requests: Vec<RenderedRequest> = folders.flat_map(|it| render(it).requests).collect();
    let scopes = made_by(requests.iter().map(|request| request.url.as_str())).unwrap();
    let mut outside = BTreeSet::new();
    for request in &requests {
        if !may_send(&scopes, Method::Put, &request.url) {
            outside.insert((request.url.clone(), String::new()));
        }
        let shape = shape_of_sample(request);
        for named in ids_named(shape, &request.body, ENDPOINT) {
            if !scopes.allow_in_body(&named.id) {
                outside.insert((named.id, format!("{} {}", shape.name, named.path)));
            }
        }
    }
    println!("{} samples, {} outside", requests.len(), outside.len());
    let is_row = |(what, place): &(String, String), row: &(&str, &str)| {
        what.contains(row.0) && place == row.1
    };
    let is_known = |found: &&(String, String)| BESIDE_SAMPLES.iter().any(|row| is_row(found, row));
    let new: Vec<_> = outside.iter().filter(|found| !is_known(found)).collect();
    assert!(new.is_empty(), "{new:#?}");
    let is_there = |row: &&(&str, &str)| outside.iter().any(|found| is_row(found, row));
    let gone: Vec<_> = BESIDE_SAMPLES.iter().filter(|row| !is_there(row)).collect();
    assert!(gone.is_empty(), "no longer outside: {gone:#?}");
    assert!(requests.len() > 300, "{}", requests.len());
}

/// What curation calls free text is none.
#[test]
fn a_filter_names_no_resource() {
    const ID: &str = "/subscriptions/00000000-0000-0000-0000-000000000001/resourceGroups/prod";
    let body = json!({"properties": {
        "filter": {"subjectBeginsWith": ID, "advancedFilters": [{"operatorType": "StringIn", "values": [ID]}]},
        "deadLetterDestination": {"endpointType": "StorageBlob", "properties": {"resourceId": ID}},
    }});
    let mut checked = 0;
    for (kind, version) in versions() {
        if kind.kind == "EventSubscription" {
            let named = ids_named(version.spec, &body, ENDPOINT);
            let paths: Vec<&str> = named.iter().map(|named| named.path.as_str()).collect();
            assert_eq!(
                paths,
                ["properties.deadLetterDestination.properties.resourceId"]
            );
            checked += 1;
        }
    }
    assert!(checked >= 2, "{checked}");
}
