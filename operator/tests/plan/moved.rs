//! What Azure moves by itself is neither an update nor a replacement.

use std::collections::BTreeMap;

use armature_simulator::Query;
use serde_json::{Value, json};

use super::commands::World;
use super::{GROUP, plan, writes};

/// A resource: kind with version, name, ARM id below the group, spec, and what Azure has.
struct Case {
    kind: (&'static str, &'static str, &'static str),
    name: &'static str,
    owner: Value,
    id: String,
    spec: Value,
    azure: Value,
    /// Paths that are left to Azure.
    left: &'static [&'static str],
}

fn with(mut one: Value, other: &Value) -> Value {
    let members = one.as_object_mut().unwrap();
    for (name, value) in other.as_object().unwrap() {
        members.insert(name.clone(), value.clone());
    }
    one
}

fn pool(name: &'static str, spec: Value, azure: Value, left: &'static [&'static str]) -> Case {
    let common = json!({"mode": "User", "vmSize": "Standard_D2s_v5", "osType": "Linux", "type": "VirtualMachineScaleSets"});
    let answer = json!({"provisioningState": "Succeeded", "orchestratorVersion": "1.33"});
    let properties = with(with(common.clone(), &answer), &azure);
    Case {
        kind: (
            "containerservice",
            "v1api20250801",
            "ManagedClustersAgentPool",
        ),
        name,
        owner: json!({"name": "kube"}),
        id: format!("Microsoft.ContainerService/managedClusters/kube/agentPools/{name}"),
        spec: with(common, &spec),
        azure: json!({ "properties": properties }),
        left,
    }
}

fn cases() -> Vec<Case> {
    let inline = |count: i64| json!({"name": "system", "mode": "System", "count": count, "enableAutoScaling": true, "minCount": 1, "maxCount": 5, "vmSize": "Standard_D2s_v5", "osType": "Linux", "type": "VirtualMachineScaleSets"});
    let shop = json!({"name": "shop"});
    let bounds = json!({"enableAutoScaling": true, "minCount": 1, "maxCount": 5});
    let west = json!({"location": "westeurope"});
    vec![
        Case {
            kind: ("containerservice", "v1api20250801", "ManagedCluster"),
            name: "kube",
            owner: shop.clone(),
            id: "Microsoft.ContainerService/managedClusters/kube".to_owned(),
            spec: with(
                west.clone(),
                &json!({"dnsPrefix": "kube", "kubernetesVersion": "1.33.2", "autoUpgradeProfile": {"upgradeChannel": "stable"}, "agentPoolProfiles": [inline(2)]}),
            ),
            azure: with(
                west.clone(),
                &json!({"properties": {"provisioningState": "Succeeded", "dnsPrefix": "kube", "kubernetesVersion": "1.34.1", "autoUpgradeProfile": {"upgradeChannel": "stable"}, "agentPoolProfiles": [inline(4), {"name": "auto", "count": 4}]}}),
            ),
            left: &[
                "properties.agentPoolProfiles.system.count",
                "properties.kubernetesVersion",
            ],
        },
        pool(
            "auto",
            with(json!({"count": 2}), &bounds),
            with(json!({"count": 4}), &bounds),
            &["properties.count"],
        ),
        pool(
            "spot",
            json!({"count": 1, "nodeTaints": ["team=shop:NoSchedule"]}),
            json!({"count": 1, "nodeLabels": {"kubernetes.azure.com/scalesetpriority": "spot"}, "nodeTaints": ["kubernetes.azure.com/scalesetpriority=spot:NoSchedule", "team=shop:NoSchedule"]}),
            &[],
        ),
        Case {
            kind: ("dbforpostgresql", "v20250801", "FlexibleServer"),
            name: "orders",
            owner: shop.clone(),
            id: "Microsoft.DBforPostgreSQL/flexibleServers/orders".to_owned(),
            spec: with(
                west.clone(),
                &json!({"version": "17", "availabilityZone": "1", "highAvailability": {"mode": "ZoneRedundant", "standbyAvailabilityZone": "2"}, "storage": {"storageSizeGB": 128, "autoGrow": "Enabled"}}),
            ),
            azure: with(
                west.clone(),
                &json!({"properties": {"state": "Ready", "version": "17", "availabilityZone": "2", "highAvailability": {"mode": "ZoneRedundant", "standbyAvailabilityZone": "1"}, "storage": {"storageSizeGB": 256, "autoGrow": "Enabled"}}}),
            ),
            left: &[
                "properties.availabilityZone",
                "properties.highAvailability.standbyAvailabilityZone",
                "properties.storage.storageSizeGB",
            ],
        },
        Case {
            kind: ("eventhub", "v1api20240101", "Namespace"),
            name: "events",
            owner: shop.clone(),
            id: "Microsoft.EventHub/namespaces/events".to_owned(),
            spec: with(
                west.clone(),
                &json!({"sku": {"name": "Standard", "capacity": 2}, "isAutoInflateEnabled": true, "maximumThroughputUnits": 10}),
            ),
            azure: with(
                west.clone(),
                &json!({"sku": {"name": "Standard", "capacity": 7}, "properties": {"provisioningState": "Succeeded", "isAutoInflateEnabled": true, "maximumThroughputUnits": 10}}),
            ),
            left: &["sku.capacity"],
        },
        Case {
            kind: ("kusto", "v1api20240413", "Cluster"),
            name: "logs",
            owner: shop,
            id: "Microsoft.Kusto/clusters/logs".to_owned(),
            spec: with(
                west.clone(),
                &json!({"sku": {"name": "Standard_E2ads_v5", "tier": "Standard", "capacity": 2}, "optimizedAutoscale": {"isEnabled": true, "version": 1, "minimum": 2, "maximum": 6}}),
            ),
            azure: with(
                west,
                &json!({"sku": {"name": "Standard_E2ads_v5", "tier": "Standard", "capacity": 5}, "properties": {"provisioningState": "Succeeded", "state": "Running", "optimizedAutoscale": {"isEnabled": true, "version": 1, "minimum": 2, "maximum": 6}}}),
            ),
            left: &["sku.capacity"],
        },
    ]
}

fn manifest(case: &Case) -> Value {
    let (group, version, kind) = case.kind;
    let group = format!("{group}.azure.com");
    json!({
        "apiVersion": format!("{group}/{version}"), "kind": kind, "metadata": {"name": case.name},
        "spec": with(case.spec.clone(), &json!({"owner": case.owner})),
    })
}

#[tokio::test(flavor = "multi_thread")]
async fn what_azure_moves_by_itself_is_left_to_it() {
    let world = World::start_without_operator("plan.md").await;
    let place = |id: &str, body: Value| world.azure().place(id, body).unwrap();
    place(
        GROUP,
        json!({"location": "westeurope", "properties": {"provisioningState": "Succeeded"}}),
    );
    let mut manifests = vec![json!({
        "apiVersion": "resources.azure.com/v1api20200601", "kind": "ResourceGroup",
        "metadata": {"name": "shop"}, "spec": {"location": "westeurope"},
    })];
    let cases = cases();
    for case in &cases {
        place(
            &format!("{GROUP}/providers/{}", case.id),
            case.azure.clone(),
        );
        manifests.push(manifest(case));
    }
    let list = json!({"apiVersion": "v1", "kind": "List", "items": manifests});
    world.write("moved.json", &list.to_string());
    let found = plan(&world, "-f moved.json -n shop --detailed-exitcode", 0).await;
    let resources = found["resources"].as_array().unwrap();
    let by_name: BTreeMap<&str, &Value> = resources
        .iter()
        .map(|one| (one["name"].as_str().unwrap(), one))
        .collect();
    for case in &cases {
        let one = by_name[case.name];
        assert_eq!(one["action"], "adopt", "{one:#}");
        let left = one["leftAlone"].as_array().cloned().unwrap_or_default();
        let left: Vec<&str> = left
            .iter()
            .map(|one| one["path"].as_str().unwrap())
            .collect();
        assert_eq!(left, case.left, "{one:#}");
    }
    let text = world.run("armature plan -f moved.json -n shop", 0).await;
    let told = "sku.capacity  Azure has 7, the manifest says 2 (rule: sku.capacity from spec to properties.maximumThroughputUnits while properties.isAutoInflateEnabled)";
    assert!(text.contains(told), "{text}");
    // Beyond the bounds, and without the condition, the manifest counts.
    let other = list
        .to_string()
        .replace("\"maxCount\":5", "\"maxCount\":3")
        .replace(
            "\"isAutoInflateEnabled\":true",
            "\"isAutoInflateEnabled\":false",
        );
    world.write("moved.json", &other);
    let found = plan(&world, "-f moved.json -n shop --detailed-exitcode", 2).await;
    let all = found["resources"].to_string();
    for expected in [
        r#""path":"properties.count","old":4,"new":3"#,
        r#""path":"sku.capacity","old":7,"new":2"#,
    ] {
        assert!(all.contains(expected), "{expected} in {found:#}");
    }
    assert_eq!(writes(&world), 0);
    assert!(!world.azure().requests(&Query::default()).is_empty());
}
