//! Providers that take changes only while what they concern is ready for them, and resources that are made in steps.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test that cannot go on fails"
)]

mod common;

use armature_simulator::{Answer, OperationRule, Settings, Style};
use common::{Bench, SUBSCRIPTION, code, in_group};
use serde_json::{Value, json};

fn bench() -> Bench {
    let bench = Bench::serving(armature_generated::KINDS, Settings::default());
    let group = format!("{SUBSCRIPTION}/resourceGroups/group?api-version=2020-06-01");
    let made = bench.put(&group, json!({"location": "westus2"}));
    assert_eq!(made.status, 201);
    let rule = OperationRule {
        put: Some(Style::Immediate),
        ..OperationRule::default()
    };
    for arm_type in [
        "Microsoft.ContainerService/managedClusters",
        "Microsoft.ContainerService/managedClusters/agentPools",
        "Microsoft.DBforPostgreSQL/flexibleServers",
        "Microsoft.DBforPostgreSQL/flexibleServers/databases",
        "Microsoft.Network/networkWatchers",
    ] {
        bench
            .simulator
            .set_operation_rule(Some(arm_type), rule.clone());
    }
    bench
}

#[test]
fn a_managed_cluster_does_one_thing_at_a_time() {
    let bench = bench();
    let id = in_group("Microsoft.ContainerService/managedClusters/busy");
    let api = "?api-version=2024-09-01";
    let cluster = json!({"location": "westus2", "properties": {"dnsPrefix": "busy"}});
    let url = format!("{id}{api}");
    assert_eq!(bench.put(&url, cluster.clone()).status, 201);
    let pool = json!({"properties": {"count": 1, "vmSize": "Standard_DS2_v2"}});
    let below = format!("{id}/agentPools/user{api}");
    let set_state = |state: &str| {
        let patch = json!({"properties": {"provisioningState": state}});
        bench.simulator.drift(&id, &patch).unwrap();
    };
    set_state("Updating");
    for refused in [bench.put(&url, cluster), bench.put(&below, pool.clone())] {
        assert_eq!(
            (refused.status, code(&refused)),
            (409, "OperationNotAllowed")
        );
    }
    set_state("Succeeded");
    assert_eq!(bench.put(&below, pool).status, 201);
}

const POSTGRESQL: &str = "Microsoft.DBforPostgreSQL/flexibleServers";

/// What a poll of the operation says that the answer names.
fn outcome(bench: &Bench, answer: &Answer) -> Value {
    let poll = answer.header("azure-asyncoperation").unwrap();
    bench.get(poll).body.unwrap()
}

/// As in recordings dbforpostgresql-v1api20240801 and dbforpostgresql-v20250801.
#[test]
fn settings_and_endpoints_of_a_busy_server_come_to_nothing() {
    let bench = bench();
    let backups = format!("{POSTGRESQL}/backups");
    let long = OperationRule {
        put: Some(Style::Both),
        latency: Some(std::time::Duration::from_secs(60)),
        ..OperationRule::default()
    };
    bench.simulator.set_operation_rule(Some(&backups), long);
    let id = in_group(&format!("{POSTGRESQL}/busy"));
    let api = "?api-version=2025-08-01";
    let server = json!({"location": "westus2", "properties": {"version": "17"}});
    let made = bench.put(&format!("{id}{api}"), server).body.unwrap();
    assert_eq!(made["properties"]["state"], "Ready");
    let domain = &made["properties"]["fullyQualifiedDomainName"];
    assert_eq!(domain, "busy.postgres.database.azure.com");
    let setting = format!("{id}/configurations/pgaudit.log{api}");
    let endpoint = format!("{id}/virtualendpoints/reads{api}");
    let on = json!({"properties": {"value": "READ", "source": "user-override"}});
    let reads = json!({"properties": {"endpointType": "ReadWrite", "members": ["busy"]}});
    let database = format!("{id}/databases/orders{api}");

    let backup = bench.put(&format!("{id}/backups/first{api}"), json!({}));
    assert_eq!(backup.status, 202);
    for (url, body, refusal) in [
        (&setting, &on, "ServerIsBusy"),
        (
            &endpoint,
            &reads,
            "VirtualEndpointOwnerServerNotInReadyState",
        ),
    ] {
        let taken = bench.put(url, body.clone());
        assert_eq!(taken.status, 202, "{taken:?}");
        let ended = outcome(&bench, &taken);
        assert_eq!(ended["status"], "Failed", "{ended}");
        assert_eq!(ended["error"]["code"], refusal);
        assert_eq!(bench.get(url).status, 404, "it did not come to be");
    }
    let made = bench.put(&database, json!({"properties": {}}));
    assert_eq!(made.status, 201, "databases are no matter");

    bench.pass(61);
    for (url, body) in [(&setting, on), (&endpoint, reads)] {
        let taken = bench.put(url, body);
        assert_eq!(outcome(&bench, &taken)["status"], "Succeeded");
        assert_eq!(bench.get(url).status, 200);
    }
}

/// As in recordings dbforpostgresql-v1api20240801 and dbforpostgresql-v20250801.
#[test]
fn a_backup_comes_to_nothing_beside_a_virtual_endpoint() {
    let bench = bench();
    let long = OperationRule {
        put: Some(Style::Both),
        latency: Some(std::time::Duration::from_secs(60)),
        ..OperationRule::default()
    };
    let endpoints = format!("{POSTGRESQL}/virtualendpoints");
    bench.simulator.set_operation_rule(Some(&endpoints), long);
    let id = in_group(&format!("{POSTGRESQL}/busy"));
    let api = "?api-version=2025-08-01";
    let server = json!({"location": "westus2", "properties": {"version": "17"}});
    assert_eq!(bench.put(&format!("{id}{api}"), server).status, 201);
    let reads = json!({"properties": {"endpointType": "ReadWrite", "members": ["busy"]}});
    let taken = bench.put(&format!("{id}/virtualendpoints/reads{api}"), reads);
    assert_eq!(taken.status, 202);

    let backup = format!("{id}/backups/first{api}");
    let taken = bench.put(&backup, json!({}));
    let ended = outcome(&bench, &taken);
    assert_eq!(ended["error"]["code"], "InternalServerError", "{ended}");
    assert_eq!(bench.get(&backup).status, 404, "it did not come to be");
    bench.pass(61);
    let taken = bench.put(&backup, json!({}));
    assert_eq!(outcome(&bench, &taken)["status"], "Succeeded");
}

/// As in the recordings app-* and network-v1api20241001.
#[test]
fn what_uses_another_resource_waits_until_that_is_made() {
    let bench = bench();
    let long = OperationRule {
        latency: Some(std::time::Duration::from_secs(60)),
        ..OperationRule::default()
    };
    for arm_type in [
        "Microsoft.App/managedEnvironments",
        "Microsoft.Storage/storageAccounts",
    ] {
        bench
            .simulator
            .set_operation_rule(Some(arm_type), long.clone());
    }
    let environment = in_group("Microsoft.App/managedEnvironments/shops");
    let account = in_group("Microsoft.Storage/storageAccounts/logs");
    let west = json!({"location": "westus2"});
    let app = json!({"location": "westus2", "properties": {"environmentId": environment}});
    let job = json!({"location": "westus2", "properties": {
        "environmentId": environment,
        "configuration": {"replicaTimeout": 10, "triggerType": "Manual"},
    }});
    let log = json!({"location": "westus2", "properties": {
        "storageId": account,
        "targetResourceId": in_group("Microsoft.Network/virtualNetworks/n"),
    }});
    let stored =
        json!({"location": "westus2", "kind": "StorageV2", "sku": {"name": "Standard_LRS"}});
    let watcher = in_group("Microsoft.Network/networkWatchers/watcher");
    let made = bench.put(&format!("{watcher}?api-version=2024-10-01"), west.clone());
    assert_eq!(made.status, 201);
    for (url, body) in [
        (in_group("Microsoft.App/containerApps/shop"), &app),
        (in_group("Microsoft.App/jobs/nightly"), &job),
    ] {
        let refused = bench.put(&format!("{url}?api-version=2025-01-01"), body.clone());
        assert_eq!(
            (refused.status, code(&refused)),
            (404, "ManagedEnvironmentNotFound")
        );
    }
    bench.put(&format!("{environment}?api-version=2025-01-01"), west);
    bench.put(&format!("{account}?api-version=2023-01-01"), stored);
    let apps = in_group("Microsoft.App/containerApps/shop");
    let jobs = in_group("Microsoft.App/jobs/nightly");
    let rows = [
        (
            format!("{apps}?api-version=2025-01-01"),
            app,
            "ManagedEnvironmentNotProvisioned",
        ),
        (
            format!("{jobs}?api-version=2025-01-01"),
            job,
            "ManagedEnvironmentNotProvisioned",
        ),
        (
            format!("{watcher}/flowLogs/all?api-version=2024-10-01"),
            log,
            "StorageProvisioningStateNotSucceeded",
        ),
    ];
    for (url, body, refusal) in &rows {
        let refused = bench.put(url, body.clone());
        assert_eq!((refused.status, code(&refused)), (400, *refusal));
    }
    bench.pass(61);
    for (url, body, _) in rows {
        let taken = bench.put(&url, body);
        assert!(taken.status < 300, "{taken:?}");
    }
}

/// As in recordings cache-v20250401 and cache-v20250701.
#[test]
fn a_redis_cluster_says_that_it_is_being_made() {
    let bench = bench();
    let id = in_group("Microsoft.Cache/redisEnterprise/carts");
    let url = format!("{id}?api-version=2025-07-01");
    let body = json!({"location": "westus2", "sku": {"name": "Balanced_B0"},
        "properties": {"publicNetworkAccess": "Enabled"}});
    let answer = bench.put(&url, body);
    assert_eq!(answer.status, 201, "{answer:?}");
    let made = answer.body.unwrap();
    let states = |body: &Value| {
        let state = |name: &str| body["properties"][name].as_str().map(str::to_owned);
        (state("provisioningState"), state("resourceState"))
    };
    let both = |state: &str| Some(state.to_owned());
    assert_eq!(states(&made), (both("Creating"), both("Creating")));
    let shown = bench.get(&url).body.unwrap();
    assert_eq!(states(&shown), (both("Succeeded"), both("Running")));
}

/// As in recording compute-v1api.
#[test]
fn an_image_waits_for_its_snapshot() {
    let bench = bench();
    let snapshot = in_group("Microsoft.Compute/snapshots/monday");
    let image = in_group("Microsoft.Compute/images/builder");
    let url = format!("{image}?api-version=2022-03-01");
    let body = json!({"location": "westus2", "properties": {"storageProfile": {"osDisk": {
        "osType": "Linux", "osState": "Generalized", "snapshot": {"id": snapshot},
    }}}});
    let refused = bench.put(&url, body.clone());
    assert_eq!((refused.status, code(&refused)), (404, "NotFound"));
    let disk = json!({"location": "westus2", "properties": {
        "creationData": {"createOption": "Empty"}, "diskSizeGB": 32,
    }});
    bench.put(&format!("{snapshot}?api-version=2020-09-30"), disk);
    assert_eq!(bench.put(&url, body).status, 201);
}
