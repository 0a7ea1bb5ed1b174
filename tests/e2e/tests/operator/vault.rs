//! A vault with a `createMode` that Azure does not have.

use armature_e2e::World;
use armature_simulator::Query;

use crate::{LIMIT, SUBSCRIPTION, is_ready, resource_group};

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
        objects
            .wait_ready("Vault", "vault-kv", LIMIT, is_ready)
            .await;
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
