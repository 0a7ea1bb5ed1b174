//! Providers that take changes below a resource only while it is ready for them.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test that cannot go on fails"
)]

mod common;

use armature_simulator::{OperationRule, Settings, Style};
use common::{Bench, SUBSCRIPTION, code, in_group};
use serde_json::json;

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

#[test]
fn a_server_takes_databases_when_it_is_ready() {
    let bench = bench();
    let id = in_group("Microsoft.DBforPostgreSQL/flexibleServers/busy");
    let api = "?api-version=2022-12-01";
    let server = json!({"location": "westus2", "properties": {"version": "13"}});
    let made = bench.put(&format!("{id}{api}"), server).body.unwrap();
    assert_eq!(made["properties"]["state"], "Ready");
    let domain = &made["properties"]["fullyQualifiedDomainName"];
    assert_eq!(domain, "busy.postgres.database.azure.com");
    let below = format!("{id}/databases/orders{api}");
    let set_state = |state: &str| {
        let patch = json!({"properties": {"state": state}});
        bench.simulator.drift(&id, &patch).unwrap();
    };
    set_state("Stopped");
    let refused = bench.put(&below, json!({"properties": {}}));
    assert_eq!(code(&refused), "ServerIsBusy");
    set_state("Ready");
    assert_eq!(bench.put(&below, json!({"properties": {}})).status, 201);
}
