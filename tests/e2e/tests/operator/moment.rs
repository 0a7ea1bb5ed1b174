//! Refusals of the moment: what another resource needs is still being made, or a server is busy. The operator asks again until
//! Azure takes it. The refusals are those of recordings, in `tests/simulator/src/behaviour`.

use armature_e2e::{Objects, World};
use armature_simulator::{FaultRule, Query};

use crate::{SUBSCRIPTION, is_ready, resource_group, sent, wait_until};

/// The PUT of a resource starts what runs until [`end`].
fn begin(world: &World, id: &str) {
    world.azure().add_fault(FaultRule {
        method: Some("PUT".to_owned()),
        path: Some(id.to_owned()),
        count: Some(1),
        endless: true,
        ..FaultRule::default()
    });
}

/// What runs on a resource ends well.
fn end(world: &World, id: &str) {
    assert_eq!(world.azure().finish_operations(id).unwrap(), 1, "{id}");
}

/// Codes of the refusals of a resource, each once.
fn refusals(world: &World, id: &str) -> Vec<String> {
    let requests = world.azure().requests(&Query {
        path: Some(id.to_owned()),
        method: Some("PUT".to_owned()),
        ..Query::default()
    });
    let own = requests.into_iter();
    let own = own.filter(|request| request.path.eq_ignore_ascii_case(id));
    let mut codes: Vec<String> = own.filter_map(|request| request.code).collect();
    codes.dedup();
    codes
}

async fn apply(objects: &Objects, manifests: &str) {
    for manifest in manifests.split("\n---\n") {
        objects.apply(manifest).await.unwrap();
    }
}

async fn ready(objects: &Objects, all: &[(&str, &str)]) {
    for (kind, name) in all {
        objects.wait_ready(kind, name, is_ready).await;
    }
}

const APPS: &str = "
apiVersion: app.azure.com/v20250101
kind: ManagedEnvironment
metadata: {name: moment-env, namespace: moment-apps}
spec: {location: westeurope, owner: {name: moment-apps-rg}}
---
apiVersion: app.azure.com/v20250101
kind: ContainerApp
metadata: {name: moment-app, namespace: moment-apps}
spec:
  location: westeurope
  owner: {name: moment-apps-rg}
  environmentReference: {group: app.azure.com, kind: ManagedEnvironment, name: moment-env}
---
apiVersion: app.azure.com/v20250101
kind: Job
metadata: {name: moment-job, namespace: moment-apps}
spec:
  location: westeurope
  owner: {name: moment-apps-rg}
  environmentReference: {group: app.azure.com, kind: ManagedEnvironment, name: moment-env}
  configuration: {replicaTimeout: 60, triggerType: Manual}
";

#[test]
fn apps_and_jobs_are_made_once_their_environment_is() {
    World::shared().run("moment-apps", async |world, objects| {
        let in_group =
            format!("{SUBSCRIPTION}/resourceGroups/moment-apps-rg/providers/Microsoft.App");
        let environment = format!("{in_group}/managedEnvironments/moment-env");
        begin(world, &environment);
        apply(&objects, &resource_group("moment-apps-rg", "moment-apps")).await;
        apply(&objects, APPS).await;
        let parts = ["containerApps/moment-app", "jobs/moment-job"];
        for path in parts {
            wait_until("a refusal", async || {
                !refusals(world, &format!("{in_group}/{path}")).is_empty()
            })
            .await;
        }
        end(world, &environment);
        let all = [
            ("ManagedEnvironment", "moment-env"),
            ("ContainerApp", "moment-app"),
            ("Job", "moment-job"),
        ];
        ready(&objects, &all).await;
        for path in parts {
            assert_eq!(
                refusals(world, &format!("{in_group}/{path}")),
                ["ManagedEnvironmentNotProvisioned"],
                "{path}"
            );
        }
    });
}

const LOGS: &str = "
apiVersion: network.azure.com/v1api20241001
kind: NetworkWatcher
metadata: {name: moment-watcher, namespace: moment-logs}
spec: {location: westeurope, owner: {name: moment-logs-rg}}
---
apiVersion: storage.azure.com/v20250601
kind: StorageAccount
metadata: {name: momentlogs, namespace: moment-logs}
spec:
  location: westeurope
  owner: {name: moment-logs-rg}
  kind: StorageV2
  sku: {name: Standard_LRS}
---
apiVersion: network.azure.com/v1api20241001
kind: NetworkWatchersFlowLog
metadata: {name: moment-log, namespace: moment-logs}
spec:
  location: westeurope
  owner: {name: moment-watcher}
  targetResourceReference: {armId: /subscriptions/s/resourceGroups/g/providers/Microsoft.Network/virtualNetworks/n}
  storageReference: {group: storage.azure.com, kind: StorageAccount, name: momentlogs}
";

#[test]
fn a_flow_log_is_made_once_its_account_is() {
    World::shared().run("moment-logs", async |world, objects| {
        let in_group = format!("{SUBSCRIPTION}/resourceGroups/moment-logs-rg/providers");
        let account = format!("{in_group}/Microsoft.Storage/storageAccounts/momentlogs");
        let log = "Microsoft.Network/networkWatchers/moment-watcher/flowLogs/moment-log";
        let log = format!("{in_group}/{log}");
        apply(&objects, &resource_group("moment-logs-rg", "moment-logs")).await;
        let (watcher, others) = LOGS.split_once("\n---\n").unwrap();
        apply(&objects, watcher).await;
        ready(&objects, &[("NetworkWatcher", "moment-watcher")]).await;
        begin(world, &account);
        apply(&objects, others).await;
        wait_until("a refusal", async || !refusals(world, &log).is_empty()).await;
        end(world, &account);
        let all = [
            ("StorageAccount", "momentlogs"),
            ("NetworkWatchersFlowLog", "moment-log"),
        ];
        ready(&objects, &all).await;
        assert_eq!(
            refusals(world, &log),
            ["StorageProvisioningStateNotSucceeded"]
        );
    });
}

const SERVER: &str = "
apiVersion: dbforpostgresql.azure.com/v20250801
kind: FlexibleServer
metadata: {name: moment-server, namespace: moment-server}
spec:
  location: westeurope
  owner: {name: moment-server-rg}
  version: '17'
  sku: {name: Standard_D2ds_v5, tier: GeneralPurpose}
";

const BACKUP: &str = "
apiVersion: dbforpostgresql.azure.com/v20250801
kind: FlexibleServersBackup
metadata: {name: moment-backup, namespace: moment-server}
spec: {owner: {name: moment-server}}
";

const PARTS: &str = "
apiVersion: dbforpostgresql.azure.com/v20250801
kind: FlexibleServersConfiguration
metadata: {name: moment-setting, namespace: moment-server}
spec: {owner: {name: moment-server}, azureName: pgaudit.log, source: user-override, value: READ}
---
apiVersion: dbforpostgresql.azure.com/v20250801
kind: FlexibleServersVirtualEndpoint
metadata: {name: moment-endpoint, namespace: moment-server}
spec: {owner: {name: moment-server}, endpointType: ReadWrite, members: [moment-server]}
";

/// Azure takes these, and says at the end of the operation that they could not be.
#[test]
fn settings_and_endpoints_of_a_busy_server_are_made_in_the_end() {
    World::shared().run("moment-server", async |world, objects| {
        const SERVERS: &str = "Microsoft.DBforPostgreSQL/flexibleServers";
        let server = format!(
            "{SUBSCRIPTION}/resourceGroups/moment-server-rg/providers/{SERVERS}/moment-server"
        );
        let backup = format!("{server}/backups/moment-backup");
        begin(world, &backup);
        let group = resource_group("moment-server-rg", "moment-server");
        apply(&objects, &group).await;
        apply(&objects, SERVER).await;
        ready(
            &objects,
            &[("dbforpostgresql/FlexibleServer", "moment-server")],
        )
        .await;
        apply(&objects, BACKUP).await;
        wait_until("a PUT of the backup", async || {
            sent(world, "PUT", &backup) > 0
        })
        .await;
        apply(&objects, PARTS).await;
        let parts = [
            "configurations/pgaudit.log",
            "virtualendpoints/moment-endpoint",
        ];
        for part in parts {
            wait_until("a PUT in vain", async || {
                sent(world, "PUT", &format!("{server}/{part}")) > 0
            })
            .await;
        }
        end(world, &backup);
        let all = [
            ("dbforpostgresql/FlexibleServersBackup", "moment-backup"),
            (
                "dbforpostgresql/FlexibleServersConfiguration",
                "moment-setting",
            ),
            (
                "dbforpostgresql/FlexibleServersVirtualEndpoint",
                "moment-endpoint",
            ),
        ];
        ready(&objects, &all).await;
        for part in parts {
            let id = format!("{server}/{part}");
            assert!(
                sent(world, "PUT", &id) > 1,
                "{part} came to nothing at first"
            );
            assert!(world.azure().resource(&id).is_some(), "{part}");
        }
    });
}

const CARTS: &str = "
apiVersion: cache.azure.com/v20250701
kind: RedisEnterprise
metadata: {name: moment-carts, namespace: moment-carts}
spec:
  location: westeurope
  owner: {name: moment-carts-rg}
  sku: {name: Balanced_B0}
  publicNetworkAccess: Enabled
";

#[test]
fn a_redis_cluster_that_is_ready_runs() {
    World::shared().run("moment-carts", async |world, objects| {
        let cluster = format!(
            "{SUBSCRIPTION}/resourceGroups/moment-carts-rg/providers/Microsoft.Cache/redisEnterprise/moment-carts"
        );
        begin(world, &cluster);
        apply(&objects, &resource_group("moment-carts-rg", "moment-carts")).await;
        apply(&objects, CARTS).await;
        wait_until("its PUT", async || sent(world, "PUT", &cluster) > 0).await;
        end(world, &cluster);
        ready(&objects, &[("RedisEnterprise", "moment-carts")]).await;
        let found = objects.get("RedisEnterprise", "v20250701", "moment-carts");
        assert_eq!(found.await.unwrap()["status"]["resourceState"], "Running");
    });
}
