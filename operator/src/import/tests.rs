use std::collections::BTreeMap;
use std::sync::Arc;

use armature_progress::Progress;
use armature_runtime::azure::CredentialKey;
use armature_runtime::azure::budget::Budget;
use armature_runtime::id::ResourceId;
use armature_runtime::reconcile::time::Time;
use serde_json::{Value, json};

use super::discover::Types;
use super::importer::{Report, Setting, import};
use super::known::{Known, version};
use super::reader::Reader;
use super::{Draft, Imported, Resource, Wanted, draft, manifests, text};
use crate::transports::recording::Recording;

const GROUP: &str = "/subscriptions/s/resourceGroups/g";

fn try_draft(id: &str, body: Value) -> Result<Draft, String> {
    let id = ResourceId::parse(&format!("{GROUP}{id}")).unwrap();
    let kind = Known::new(armature_generated::KINDS).of(&id).unwrap();
    draft(Resource {
        id,
        kind,
        version: version(kind).unwrap(),
        body,
    })
}

fn spec<'i>(imported: &'i [Imported], kind: &str) -> &'i Value {
    let mut found = imported.iter().filter(|one| one.name.kind == kind);
    &found.next().unwrap().manifest["spec"]
}

#[test]
fn owners_and_references_are_names_where_that_closes_no_circle() {
    let network = "/providers/Microsoft.Network/virtualNetworks/net";
    let group = "/providers/Microsoft.Network/networkSecurityGroups/walls";
    let other = format!("{GROUP}/providers/Microsoft.Network/routeTables/elsewhere");
    let drafts = vec![
        try_draft(
            &format!("{network}/subnets/front"),
            json!({"properties": {
                "addressPrefix": "10.0.0.0/24",
                "networkSecurityGroup": {"id": format!("{GROUP}{group}").to_uppercase()},
                "routeTable": {"id": other},
            }}),
        )
        .unwrap(),
        try_draft(
            network,
            json!({"location": "l", "etag": "e", "properties": {
                "addressSpace": {"addressPrefixes": ["10.0.0.0/16"]},
                "subnets": [{"name": "front"}],
                "provisioningState": "Succeeded",
            }}),
        )
        .unwrap(),
        try_draft(group, json!({"location": "l", "properties": {}})).unwrap(),
    ];
    let imported = manifests(drafts, &Wanted::default());
    let kinds: Vec<&str> = imported.iter().map(|one| one.name.kind).collect();
    assert_eq!(
        kinds,
        [
            "NetworkSecurityGroup",
            "VirtualNetwork",
            "VirtualNetworksSubnet"
        ]
    );
    assert_eq!(
        spec(&imported, "VirtualNetwork"),
        &json!({
            "addressSpace": {"addressPrefixes": ["10.0.0.0/16"]}, "azureName": "net", "location": "l",
            "owner": {"armId": GROUP},
        })
    );
    let subnet = spec(&imported, "VirtualNetworksSubnet");
    assert_eq!(subnet["owner"], json!({"name": "net"}));
    assert_eq!(
        subnet["networkSecurityGroup"]["reference"],
        json!({"group": "network.azure.com", "kind": "NetworkSecurityGroup", "name": "walls"})
    );
    assert_eq!(subnet["routeTable"]["reference"], json!({ "armId": other }));
}

#[test]
fn items_that_are_objects_of_their_own_stand_there_alone() {
    let balancer = "/providers/Microsoft.Network/loadBalancers/lb";
    let rule = |name: &str| json!({"name": name, "id": format!("{GROUP}{balancer}/inboundNatRules/{name}"), "properties": {"frontendPort": 1}});
    let body =
        json!({"location": "l", "properties": {"inboundNatRules": [rule("own"), rule("other")]}});
    let drafts = || vec![try_draft(balancer, body.clone()).unwrap()];
    let names = |imported: &[Imported]| -> Vec<Value> {
        let rules = &spec(imported, "LoadBalancer")["inboundNatRules"];
        let rules = rules.as_array().into_iter().flatten();
        rules.map(|rule| rule["name"].clone()).collect()
    };
    let imported = manifests(drafts(), &Wanted::default());
    assert_eq!(names(&imported), ["own", "other"]);
    let mut with_rule = drafts();
    let path = format!("{balancer}/inboundNatRules/own");
    with_rule.push(try_draft(&path, rule("own")).unwrap());
    let imported = manifests(with_rule, &Wanted::default());
    assert_eq!(names(&imported), ["other"]);
}

#[test]
fn secrets_are_references_to_a_secret_that_is_to_be_filled() {
    let hub = "/providers/Microsoft.Devices/IotHubs/Hub_1";
    let container =
        json!({"containerName": "c", "connectionString": "****", "authenticationType": "keyBased"});
    let body = json!({
        "location": "l", "sku": {"name": "S1", "capacity": 1},
        "properties": {"storageEndpoints": {"$default": container, "second": {"containerName": "d"}}},
    });
    let wanted = Wanted {
        namespace: Some("team".to_owned()),
        labels: [("a".to_owned(), "b".to_owned())].into(),
        policy: Some("skip".to_owned()),
        ..Wanted::default()
    };
    let imported = manifests(vec![try_draft(hub, body).unwrap()], &wanted);
    let endpoints = &spec(&imported, "IotHub")["properties"]["storageEndpoints"];
    for (name, key) in [
        (
            "$default",
            "properties.storageEndpoints._default.connectionString",
        ),
        (
            "second",
            "properties.storageEndpoints.second.connectionString",
        ),
    ] {
        let reference = &endpoints[name]["connectionString"];
        assert_eq!(reference, &json!({"name": "hub-1-iothub", "key": key}));
    }
    let files = text::files(&imported, &wanted).unwrap();
    let names: Vec<&str> = files.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, ["iothub-hub-1.yaml", "secret-hub-1-iothub.yaml"]);
    let secret = &files[1].1;
    assert!(!secret.contains("****") && !files[0].1.contains("****"));
    for part in [
        "namespace: team",
        "a: b",
        "storageEndpoints.second.connectionString: \"\"",
    ] {
        assert!(secret.contains(part), "{part}: {secret}");
    }
    assert!(!secret.contains("skip"), "{secret}");
}

#[test]
fn what_is_no_object_of_its_kind_says_why() {
    let account = "/providers/Microsoft.Storage/storageAccounts/a";
    let error = try_draft(account, json!({"location": "l"})).unwrap_err();
    assert!(
        error.contains("required, and Azure does not show it"),
        "{error}"
    );
    assert!(error.starts_with("spec."), "{error}");
}

/// What an import of an id comes to, where Azure has these answers, by path.
async fn imported(id: &str, there: &[(&str, Value)], types: &[&str]) -> Report {
    imported_asking(id, there, types).await.0
}

/// The same, and what was asked for in vain.
async fn imported_asking(
    id: &str,
    there: &[(&str, Value)],
    types: &[&str],
) -> (Report, Vec<String>) {
    let there: BTreeMap<String, Value> = there
        .iter()
        .map(|(path, body)| (format!("{GROUP}{path}").to_lowercase(), body.clone()))
        .collect();
    let azure = Arc::new(Recording::new("s", Arc::new(there), None));
    let setting = Setting {
        kinds: armature_generated::KINDS,
        extensions: armature_customizations::registry().unwrap(),
        reader: Reader::new(
            azure.clone(),
            CredentialKey::Global,
            Budget::default(),
            Time::times(1000),
        )
        .await,
        types: Types::new(types.iter().map(|name| (*name).to_owned())),
        with_defaults: true,
        wanted: Wanted::default(),
        parallel: 3,
        progress: Progress::silent(),
    };
    let report = import(vec![ResourceId::parse(id).unwrap()], &setting).await;
    (report, azure.assumed_absent())
}

fn list(ids: &[&str]) -> Value {
    let items = ids.iter().map(|id| json!({"id": format!("{GROUP}{id}")}));
    json!({"value": items.collect::<Vec<_>>()})
}

#[tokio::test]
async fn without_the_graph_lists_tell_what_there_is_and_kinds_say_what_nobody_made() {
    const SERVER: &str = "/providers/Microsoft.DBforPostgreSQL/flexibleServers/pgshop";
    let below = |path: &str| format!("{SERVER}/{path}");
    let (databases, settings) = (below("databases"), below("configurations"));
    let (own, shop) = (below("databases/postgres"), below("databases/shop"));
    let (usual, chosen) = (
        below("configurations/usual"),
        below("configurations/chosen"),
    );
    let setting = |source: &str| json!({"properties": {"source": source, "value": "1"}});
    let there = [
        ("", json!({"location": "l", "name": "g"})),
        ("/resources", list(&[SERVER, "/providers/No.Body/knows/it"])),
        (
            SERVER,
            json!({"location": "l", "properties": {"version": "16"}}),
        ),
        (&databases, list(&[&own, &shop])),
        (&own, json!({"properties": {}})),
        (&shop, json!({"properties": {"charset": "UTF8"}})),
        (&settings, list(&[&usual, &chosen])),
        (&usual, setting("system-default")),
        (&chosen, setting("user-override")),
    ];
    let report = imported(GROUP, &there, &[]).await;
    let names: Vec<(&str, &str)> = report
        .imported
        .iter()
        .map(|one| (one.name.kind, one.name.name.as_str()))
        .collect();
    assert_eq!(
        names,
        [
            ("ResourceGroup", "g"),
            ("FlexibleServer", "pgshop"),
            ("FlexibleServersConfiguration", "chosen"),
            ("FlexibleServersDatabase", "shop"),
        ],
        "{:?} {:?}",
        report.failed,
        report.skipped
    );
    let skipped: Vec<&str> = report.skipped.iter().map(|(_, why)| why.as_str()).collect();
    let gone = "Azure has no such resource";
    let told: Vec<&&str> = skipped.iter().filter(|why| **why != gone).collect();
    assert_eq!(
        told,
        [
            &"this setting has the default of its server",
            &"every server has it"
        ]
    );
    assert_eq!(report.failed, []);
    let summary = text::summary(&report);
    assert!(summary.contains("every server has it"), "{summary}");

    // Of a type alone, by way of what it is in.
    let types = ["Microsoft.DBforPostgreSQL/flexibleServers/databases"];
    let report = imported(GROUP, &there, &types).await;
    let names: Vec<&str> = report.imported.iter().map(|one| one.name.kind).collect();
    assert_eq!(names, ["FlexibleServersDatabase"]);
    let owner = &report.imported[0].manifest["spec"]["owner"];
    assert_eq!(owner, &json!({"armId": format!("{GROUP}{SERVER}")}));
}

#[tokio::test]
async fn lists_that_tell_nothing_are_not_read() {
    let account = |name: &str| format!("/providers/Microsoft.Storage/storageAccounts/{name}");
    let (one, other) = (account("one"), account("other"));
    let roles = "/providers/Microsoft.Authorization/roleAssignments";
    let assignment = format!("{other}{roles}/11111111-1111-4111-8111-111111111111");
    let storage = json!({"location": "l", "kind": "StorageV2", "sku": {"name": "Standard_LRS"}});
    let there = [
        ("", json!({"location": "l", "name": "g"})),
        ("/resources", list(&[&one, &other])),
        (&one, storage.clone()),
        (&other, storage),
        (roles, list(&[&assignment])),
        (
            &assignment,
            json!({"properties": {
                "scope": format!("{GROUP}{other}"), "principalId": "22222222-2222-4222-8222-222222222222",
                "roleDefinitionId": "/providers/Microsoft.Authorization/roleDefinitions/reader",
            }}),
        ),
    ];
    let (report, asked) = imported_asking(GROUP, &there, &[]).await;
    let kinds: Vec<&str> = report.imported.iter().map(|one| one.name.kind).collect();
    let expected = [
        "ResourceGroup",
        "StorageAccount",
        "StorageAccount",
        "RoleAssignment",
    ];
    assert_eq!(kinds, expected, "{:?}", report.failed);
    assert_eq!(
        report.imported[3].manifest["spec"]["owner"]["name"],
        "other"
    );
    // One list of the group tells of roles, no account has extensions of clusters, and any may have settings for diagnostics.
    for (list, times) in [
        ("Microsoft.Authorization/roleAssignments", 0),
        ("Microsoft.Authorization/roleDefinitions", 1),
        ("Microsoft.KubernetesConfiguration/extensions", 0),
        ("Microsoft.Quota/quotas", 0),
        ("Microsoft.Insights/diagnosticSettings", 3),
    ] {
        let of_list = asked.iter().filter(|url| url.contains(list));
        assert_eq!(of_list.count(), times, "{list}: {asked:#?}");
    }
}

/// A cluster's own list has its system pools and an object has each of the others: what stands in both has two owners that
/// undo each other's changes.
#[tokio::test]
async fn each_pool_of_a_cluster_is_written_once() {
    const CLUSTER: &str = "/providers/Microsoft.ContainerService/managedClusters/shop";
    let pool = |name: &str, mode: &str| json!({"name": name, "count": 2, "vmSize": "Standard_D2s_v5", "type": "VirtualMachineScaleSets", "mode": mode});
    let pools = [("system", "System"), ("user1", "User"), ("user2", "User")];
    let profiles: Vec<Value> = pools.iter().map(|(name, mode)| pool(name, mode)).collect();
    let path = |name: &str| format!("{CLUSTER}/agentPools/{name}");
    let paths = pools.map(|(name, _)| path(name));
    let all = format!("{CLUSTER}/agentPools");
    let mut there = vec![
        ("", json!({"location": "l", "name": "g"})),
        ("/resources", list(&[CLUSTER])),
        (
            CLUSTER,
            json!({"location": "l", "properties": {"dnsPrefix": "shop", "agentPoolProfiles": profiles}}),
        ),
        (&all, list(&paths.each_ref().map(String::as_str))),
    ];
    for (path, (name, mode)) in paths.iter().zip(pools) {
        there.push((path, json!({"name": name, "properties": pool(name, mode)})));
    }
    let report = imported(GROUP, &there, &[]).await;
    assert_eq!(report.failed, []);
    let inline = &spec(&report.imported, "ManagedCluster")["agentPoolProfiles"];
    let inline = inline.as_array().into_iter().flatten();
    let inline: Vec<&str> = inline.filter_map(|pool| pool["name"].as_str()).collect();
    let objects = report.imported.iter();
    let objects = objects.filter(|one| one.name.kind == "ManagedClustersAgentPool");
    let objects: Vec<(&Value, &Value)> = objects
        .map(|one| {
            let spec = &one.manifest["spec"];
            (&one.manifest["metadata"]["name"], &spec["type"])
        })
        .collect();
    assert_eq!(inline, ["system"]);
    let (scale_set, names) = (
        json!("VirtualMachineScaleSets"),
        [json!("user1"), json!("user2")],
    );
    let expected = names.each_ref().map(|name| (name, &scale_set));
    assert_eq!(objects, expected);
}
