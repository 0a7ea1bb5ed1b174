//! Vaults with a `createMode` that Azure does not have.

use armature_e2e::World;
use armature_simulator::{OperationRule, Query};

use crate::{SUBSCRIPTION, is_ready, resource_group, sent};

const VAULT: &str = "
apiVersion: keyvault.azure.com/v1api20230701
kind: Vault
metadata: {name: vault-kv, namespace: vault}
spec:
  location: westeurope
  owner: {name: vault-rg}
  properties:
    createMode: createOrRecover
    tenantId: 00000000-0000-0000-0000-000000000002
    sku: {family: A, name: standard}
    accessPolicies: []
";

#[test]
fn a_vault_to_create_or_recover_is_created_where_none_was_deleted() {
    World::shared().run("vault", async |world, objects| {
        objects
            .apply(&resource_group("vault-rg", "vault"))
            .await
            .unwrap();
        objects.apply(VAULT).await.unwrap();
        objects.wait_ready("Vault", "vault-kv", is_ready).await;
        let id = format!(
            "{SUBSCRIPTION}/resourceGroups/vault-rg/providers/Microsoft.KeyVault/vaults/vault-kv"
        );
        let puts = world.azure().requests(&Query {
            method: Some("PUT".into()),
            path: Some(id),
            ..Query::default()
        });
        assert_eq!(puts.len(), 1, "{puts:#?}");
        let body = puts[0].body.as_ref().expect("a PUT has a body");
        assert_eq!(body["properties"]["createMode"], "default");
    });
}

/// One after the other: a vault is created, deleted, recovered, deleted again, and made anew after a purge.
#[test]
fn a_deleted_vault_is_recovered_or_purged_first() {
    World::shared().run("purge", async |world, objects| {
        // Everything takes a few polls: whoever waits in between must not wait in a worker.
        let slow = OperationRule {
            polls: Some(3),
            ..OperationRule::default()
        };
        let arm_type = "Microsoft.KeyVault/vaults";
        world.azure().set_operation_rule(Some(arm_type), slow);
        let group = resource_group("purge-rg", "purge");
        objects.apply(&group).await.unwrap();
        let id = format!("{SUBSCRIPTION}/resourceGroups/purge-rg/providers/{arm_type}/purge-kv");
        let deleted = format!(
            "{SUBSCRIPTION}/providers/Microsoft.KeyVault/locations/westeurope/deletedVaults/purge-kv"
        );
        let purges = || sent(world, "POST", &format!("{deleted}/purge"));
        let recover = VAULT
            .replace("vault-kv", "purge-kv")
            .replace("namespace: vault", "namespace: purge")
            .replace("vault-rg", "purge-rg");
        let purge = recover.replace("createOrRecover", "purgeThenCreate");
        for (manifest, mode, purged) in [
            (&recover, "default", 0),
            (&recover, "recover", 0),
            (&purge, "default", 1),
        ] {
            let before = sent(world, "PUT", &id);
            objects.apply(manifest).await.unwrap();
            objects
                .wait_ready("Vault", "purge-kv", is_ready)
                .await;
            let puts = world.azure().requests(&Query {
                method: Some("PUT".into()),
                path: Some(id.clone()),
                ..Query::default()
            });
            assert_eq!(puts.len(), before + 1, "{puts:#?}");
            let body = puts[before].body.as_ref().expect("a PUT has a body");
            assert_eq!(body["properties"]["createMode"], mode);
            assert_eq!(purges(), purged);
            objects.delete("Vault", "purge-kv").await.unwrap();
            objects.wait_gone("Vault", "purge-kv").await;
            assert!(world.azure().resource(&id).is_none());
        }
    });
}
