//! A case for each point of each kind.

use std::future::Future;
use std::pin::Pin;

use armature_runtime::arm::testing::response;
use armature_runtime::azure::Method;
use armature_runtime::names::CHILD_RESOURCE_ID_OVERRIDE;
use armature_runtime::reconcile::port::DataKind;
use serde_json::{Value, json};

use crate::busy::{self, SENT, WAITS, owned};
use crate::world::{SUBSCRIPTION, World};

type Told = Pin<Box<dyn Future<Output = String>>>;

/// A course of events that an extension changes.
pub struct Case {
    /// The kind, as `kusto Cluster`.
    pub kind: &'static str,
    /// Where it is extended, in the words of the registry.
    pub point: &'static str,
    /// What happens, and what is told of it in the end.
    pub run: Box<dyn Fn(World) -> Told>,
    /// A part of that with the extension.
    pub ends: &'static str,
    /// A part of that without.
    pub else_ends: &'static str,
}

/// All of them.
pub fn all() -> Vec<Case> {
    [checks(), owner_checks(), bodies(), afterwards(), imports()]
        .into_iter()
        .flatten()
        .collect()
}

fn west(mut spec: Value) -> Value {
    spec["location"] = json!("westeurope");
    spec
}

fn check(kind: &'static str, run: fn(World) -> Told) -> Case {
    Case {
        kind,
        point: "pre-check",
        run: Box::new(run),
        ends: WAITS,
        else_ends: SENT,
    }
}

/// A resource of the kind takes no changes while this property says so.
fn busy(kind: &'static str, property: (&'static str, &'static str), spec: Value) -> Case {
    Case {
        kind,
        point: "pre-check",
        run: Box::new(move |world| {
            Box::pin(busy::changed(world, kind, property, west(spec.clone())))
        }),
        ends: WAITS,
        else_ends: SENT,
    }
}

/// Nothing of the kind can be made while this property of its owner says so.
fn busy_owner(
    (kind, spec): (&'static str, Value),
    (owner, owner_spec): (&'static str, Value),
    property: (&'static str, &'static str),
) -> Case {
    Case {
        kind,
        point: "owner check",
        run: Box::new(move |world| {
            let (owner_spec, spec) = (west(owner_spec.clone()), spec.clone());
            Box::pin(busy::filled(
                world,
                (owner, owner_spec),
                property,
                (kind, spec),
            ))
        }),
        ends: WAITS,
        else_ends: SENT,
    }
}

const AKS: &str = "containerservice ManagedCluster";
const POOL: &str = "containerservice ManagedClustersAgentPool";
const POSTGRESQL: &str = "dbforpostgresql FlexibleServer";
const KUSTO: &str = "kusto Cluster";

fn checks() -> Vec<Case> {
    let sku = json!({"sku": {"name": "Standard_E2a_v4", "tier": "Standard"}});
    let account = json!({"databaseAccountOfferType": "Standard", "locations": []});
    vec![
        busy(
            AKS,
            ("provisioningState", "Upgrading"),
            json!({"dnsPrefix": "shop"}),
        ),
        check(POOL, |world| Box::pin(changed_pool(world))),
        busy(POSTGRESQL, ("state", "Updating"), json!({"version": "17"})),
        Case {
            // Nothing would be sent either, but the object would say that all goes as it should.
            else_ends: "False/Info/Reconciling",
            ..busy(
                "documentdb DatabaseAccount",
                ("provisioningState", "Deleting"),
                account,
            )
        },
        busy(KUSTO, ("provisioningState", "Stopping"), sku),
        Case {
            ends: "set spec.azureName to AzureManagedDomain",
            ..check("communication Domain", |world| {
                Box::pin(misnamed_domain(world))
            })
        },
        Case {
            ends: "set spec.azureName to alerts",
            ..check("communication SenderUsername", |world| {
                Box::pin(misnamed_sender(world))
            })
        },
        Case {
            ends: "/purge",
            ..check("keyvault Vault", |world| Box::pin(purged_vault(world)))
        },
    ]
}

fn owner_checks() -> Vec<Case> {
    let server = || (POSTGRESQL, json!({"version": "17"}));
    let sku = json!({"sku": {"name": "Standard_E2a_v4", "tier": "Standard"}});
    let addresses = json!({"startIpAddress": "203.0.113.0", "endIpAddress": "203.0.113.1"});
    let database = json!({"readWriteDatabase": {"kind": "ReadWrite", "location": "westeurope"}});
    let nodes = json!({"properties": {"nodeCount": 3}});
    vec![
        busy_owner(
            (POOL, json!({"count": 1})),
            (AKS, json!({"dnsPrefix": "shop"})),
            ("provisioningState", "Upgrading"),
        ),
        busy_owner(
            ("dbforpostgresql FlexibleServersDatabase", json!({})),
            server(),
            ("state", "Starting"),
        ),
        busy_owner(
            ("dbforpostgresql FlexibleServersFirewallRule", addresses),
            server(),
            ("state", "Starting"),
        ),
        busy_owner(
            ("documentdb CassandraDataCenter", nodes),
            ("documentdb CassandraCluster", json!({})),
            ("provisioningState", "Updating"),
        ),
        busy_owner(
            ("kusto Database", database),
            (KUSTO, sku),
            ("provisioningState", "Stopping"),
        ),
    ]
}

fn bodies() -> Vec<Case> {
    vec![
        Case {
            kind: "authorization RoleAssignment",
            point: "modifier",
            run: Box::new(|world| Box::pin(named_role(world))),
            ends: "roleDefinitions/acdd72a7",
            else_ends: "Reader",
        },
        Case {
            kind: "keyvault Vault",
            point: "modifier",
            run: Box::new(|world| Box::pin(recovered_vault(world))),
            ends: r#""recover""#,
            else_ends: r#""createOrRecover""#,
        },
    ]
}

fn afterwards() -> Vec<Case> {
    vec![
        Case {
            kind: "dataprotection BackupVaultsBackupInstance",
            point: "post-check",
            run: Box::new(|world| Box::pin(unprotected(world))),
            ends: "False/Warning/PostReconciliationFailure",
            else_ends: "True",
        },
        Case {
            kind: "network PrivateEndpoint",
            point: "post-check",
            run: Box::new(|world| Box::pin(unapproved(world))),
            ends: "False/Warning/PostReconciliationFailure",
            else_ends: "True",
        },
        Case {
            kind: "network PrivateEndpoint",
            point: "config maps",
            run: Box::new(|world| Box::pin(exported_address(world))),
            ends: "10.0.0.4",
            else_ends: "None",
        },
        Case {
            kind: "subscription Alias",
            point: "success",
            run: Box::new(|world| Box::pin(aliased(world))),
            ends: "/subscriptions/bought",
            else_ends: "None",
        },
        Case {
            kind: "subscription Alias",
            point: "deletion",
            run: Box::new(|world| Box::pin(cancelled(world))),
            ends: "POST /subscriptions/bought/providers/Microsoft.Subscription/cancel",
            else_ends: "DELETE /providers/Microsoft.Subscription/aliases/development; gone",
        },
        Case {
            kind: "apimanagement Product",
            point: "deletion",
            run: Box::new(|world| Box::pin(deleted_product(world))),
            ends: "2 DELETE",
            else_ends: "1 DELETE",
        },
    ]
}

fn imports() -> Vec<Case> {
    let import = |kind, run: fn(World) -> Told| Case {
        kind,
        point: "import",
        run: Box::new(run),
        ends: "Skipped",
        else_ends: "Succeeded",
    };
    vec![
        import("authorization RoleAssignment", |world| {
            let id = "/subscriptions/s/resourceGroups/g/providers/Microsoft.Authorization/roleAssignments/r";
            let status = json!({"scope": "/subscriptions/s"});
            Box::pin(async move {
                let kind = "authorization RoleAssignment";
                world.import(kind, id, json!({}), status).await
            })
        }),
        import("authorization RoleDefinition", |world| {
            let id = "/subscriptions/s/providers/Microsoft.Authorization/roleDefinitions/r";
            let status = json!({"properties_type": "BuiltInRole"});
            Box::pin(async move {
                let kind = "authorization RoleDefinition";
                world.import(kind, id, json!({}), status).await
            })
        }),
        import("containerservice ManagedClustersAgentPool", |world| {
            Box::pin(async move {
                let id = "/subscriptions/s/resourceGroups/g/providers/Microsoft.ContainerService/managedClusters/c/agentPools/p";
                let kind = "containerservice ManagedClustersAgentPool";
                let spec = json!({"mode": "System"});
                world.import(kind, id, spec, json!({})).await
            })
        }),
        import("dbformysql FlexibleServersConfiguration", |world| {
            let kind = "dbformysql FlexibleServersConfiguration";
            Box::pin(setting(world, kind, "Microsoft.DBforMySQL"))
        }),
        import("dbforpostgresql FlexibleServersConfiguration", |world| {
            let kind = "dbforpostgresql FlexibleServersConfiguration";
            Box::pin(setting(world, kind, "Microsoft.DBforPostgreSQL"))
        }),
        import("dbforpostgresql FlexibleServersDatabase", |world| {
            let id = "/subscriptions/s/resourceGroups/g/providers/Microsoft.DBforPostgreSQL/flexibleServers/s/databases/postgres";
            let spec = json!({"azureName": "postgres"});
            Box::pin(async move {
                let kind = "dbforpostgresql FlexibleServersDatabase";
                world.import(kind, id, spec, json!({})).await
            })
        }),
    ]
}

async fn setting(world: World, kind: &'static str, provider: &str) -> String {
    let id = format!(
        "/subscriptions/s/resourceGroups/g/providers/{provider}/flexibleServers/s/configurations/c"
    );
    let status = json!({"source": "system-default"});
    world.import(kind, &id, json!({}), status).await
}

async fn changed_pool(world: World) -> String {
    world.group().await;
    let cluster = owned("shop", west(json!({"dnsPrefix": "shop"})));
    world.settle(AKS, "cluster", cluster).await;
    let pool = |count| owned("cluster", json!({"count": count}));
    let key = world.settle(POOL, "workers", pool(1)).await;
    world.change(&key, "provisioningState", json!("Scaling"));
    world.apply(POOL, "workers", pool(2));
    world.look(&key).await
}

async fn mail(world: &World) {
    world.group().await;
    let service = owned(
        "shop",
        json!({"location": "global", "dataLocation": "Europe"}),
    );
    world
        .settle("communication EmailService", "mail", service)
        .await;
}

async fn misnamed_domain(world: World) -> String {
    mail(&world).await;
    let spec = json!({"location": "global", "domainManagement": "AzureManaged"});
    let key = world.apply("communication Domain", "of-azure", owned("mail", spec));
    world.look(&key).await
}

async fn misnamed_sender(world: World) -> String {
    mail(&world).await;
    let spec = json!({"location": "global", "domainManagement": "CustomerManaged"});
    world
        .settle("communication Domain", "example.com", owned("mail", spec))
        .await;
    let spec = json!({"username": "alerts"});
    let key = world.apply(
        "communication SenderUsername",
        "news",
        owned("example.com", spec),
    );
    world.look(&key).await
}

const DELETED: &str = "/subscriptions/00000000-0000-0000-0000-000000000001/providers/Microsoft.KeyVault/locations/westeurope/deletedVaults/keys";

/// A vault is made in a place where Azure keeps a deleted one of its name.
async fn vault_again(world: &World, mode: &str) -> String {
    world.group().await;
    let id = format!(
        "/subscriptions/{SUBSCRIPTION}/resourceGroups/shop/providers/Microsoft.KeyVault/vaults/keys"
    );
    let kept = json!({"id": DELETED, "properties": {"vaultId": id}});
    world.azure.set(DELETED, kept);
    let purge = format!("{DELETED}/purge");
    world
        .azure
        .script(Method::Post, &purge, response(200, &[], None));
    let spec = west(json!({"properties": {
        "tenantId": SUBSCRIPTION,
        "sku": {"family": "A", "name": "standard"},
        "createMode": mode,
    }}));
    let key = world.apply("keyvault Vault", "keys", owned("shop", spec));
    world.look(&key).await
}

async fn purged_vault(world: World) -> String {
    vault_again(&world, "purgeThenCreate").await
}

async fn recovered_vault(world: World) -> String {
    world.azure.take_bodies();
    vault_again(&world, "createOrRecover").await;
    let body = world.azure.take_bodies().pop().unwrap();
    body["properties"]["createMode"].to_string()
}

async fn named_role(world: World) -> String {
    world.group().await;
    let role =
        "/providers/Microsoft.Authorization/roleDefinitions/acdd72a7-3385-48ef-bd42-f606fba81ae7";
    let reader = json!({"id": role, "name": "acdd72a7-3385-48ef-bd42-f606fba81ae7", "properties": {
        "roleName": "Reader", "type": "BuiltInRole",
    }});
    world.azure.set(
        "/providers/Microsoft.Authorization/roleDefinitions",
        json!({"value": [reader]}),
    );
    let spec = json!({
        "owner": {"group": "resources.azure.com", "kind": "ResourceGroup", "name": "shop"},
        "principalId": SUBSCRIPTION,
        "roleDefinitionReference": {"wellKnownName": "Reader"},
    });
    let key = world.apply("authorization RoleAssignment", "reads", spec);
    world.look(&key).await;
    let body = world.azure.take_bodies().pop().unwrap();
    body["properties"]["roleDefinitionId"].to_string()
}

async fn unprotected(world: World) -> String {
    world.group().await;
    let vault = json!({"location": "westeurope", "properties": {"storageSettings": []}});
    world
        .settle(
            "dataprotection BackupVault",
            "backups",
            owned("shop", vault),
        )
        .await;
    let spec = json!({"properties": {"objectType": "BackupInstance", "friendlyName": "disk"}});
    let key = world
        .settle(
            "dataprotection BackupVaultsBackupInstance",
            "disk",
            owned("backups", spec),
        )
        .await;
    let state = json!({"status": "ConfiguringProtection"});
    world.change(&key, "protectionStatus", state);
    world.look(&key).await
}

async fn endpoint(world: &World, spec: Value) -> armature_runtime::resource::ObjectKey {
    world.group().await;
    let spec = owned("shop", west(spec));
    world
        .settle("network PrivateEndpoint", "partner", spec)
        .await
}

async fn unapproved(world: World) -> String {
    let key = endpoint(&world, json!({})).await;
    let connection = json!({"name": "partner", "properties": {
        "privateLinkServiceConnectionState": {"status": "Pending"},
    }});
    world.change(
        &key,
        "manualPrivateLinkServiceConnections",
        json!([connection]),
    );
    world.look(&key).await
}

async fn exported_address(world: World) -> String {
    let spec = json!({"operatorSpec": {"configMaps": {
        "primaryNicPrivateIpAddress": {"name": "partner", "key": "address"},
    }}});
    let key = endpoint(&world, spec).await;
    let card = format!(
        "/subscriptions/{SUBSCRIPTION}/resourceGroups/shop/providers/Microsoft.Network/networkInterfaces/card"
    );
    let configuration = json!({"properties": {"primary": true, "privateIPAddress": "10.0.0.4"}});
    world.azure.set(
        &card,
        json!({"id": card, "properties": {"ipConfigurations": [configuration]}}),
    );
    world.change(&key, "networkInterfaces", json!([{"id": card}]));
    world.passes(&key).await;
    let address = world
        .cluster
        .data(DataKind::ConfigMap, "partner", "address");
    format!("{address:?}")
}

/// An alias of a subscription that is in use.
async fn alias(world: &World) -> armature_runtime::resource::ObjectKey {
    world
        .azure
        .set("/subscriptions/bought", json!({"state": "Enabled"}));
    let spec = json!({"properties": {"displayName": "Development", "workload": "DevTest"}});
    let key = world
        .settle("subscription Alias", "development", spec)
        .await;
    world.change(&key, "subscriptionId", json!("bought"));
    world.look(&key).await;
    key
}

async fn aliased(world: World) -> String {
    let key = alias(&world).await;
    let owned_from = world.cluster.annotation(&key, CHILD_RESOURCE_ID_OVERRIDE);
    format!("{owned_from:?}")
}

async fn cancelled(world: World) -> String {
    let key = alias(&world).await;
    let cancel = "/subscriptions/bought/providers/Microsoft.Subscription/cancel";
    world
        .azure
        .script(Method::Post, cancel, response(200, &[], None));
    world.cluster.delete(&key);
    world.look(&key).await
}

/// Subscriptions go with the first request; the second finds nothing.
async fn deleted_product(world: World) -> String {
    world.group().await;
    let sku = json!({"name": "Developer", "capacity": 1});
    let service =
        json!({"sku": sku, "publisherName": "Contoso", "publisherEmail": "a@contoso.com"});
    world
        .settle(
            "apimanagement Service",
            "apis",
            owned("shop", west(service)),
        )
        .await;
    let spec = owned("apis", json!({"displayName": "Partners"}));
    let key = world
        .settle("apimanagement Product", "partners", spec)
        .await;
    world.cluster.delete(&key);
    let told = world.look(&key).await;
    format!("{} DELETE; {told}", told.matches("DELETE ").count())
}
