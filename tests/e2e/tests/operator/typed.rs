//! A Rust program's view: generated types through `kube::Api`.

use armature_e2e::World;
use armature_generated::storage::{hub, v20210401, v20230101};
use armature_runtime::resource::KnownResourceReference;
use kube::api::{Api, Patch, PatchParams};

use crate::{is_ready, resource_group};

fn account() -> v20230101::StorageAccount {
    let spec = v20230101::StorageAccountSpec {
        access_tier: Some(v20230101::AccessTier::COOL),
        kind: Some(v20230101::Kind::STORAGE_V2),
        location: Some("westeurope".to_owned()),
        owner: Some(Box::new(KnownResourceReference {
            name: Some("typed-rg".to_owned()),
            ..KnownResourceReference::default()
        })),
        sku: Some(Box::new(v20230101::Sku {
            name: Some(v20230101::SkuName::STANDARD_LRS),
            ..v20230101::Sku::default()
        })),
        ..v20230101::StorageAccountSpec::default()
    };
    v20230101::StorageAccount::new("typedsa", spec)
}

#[test]
fn typed_objects_are_applied_and_read_at_every_version() {
    World::shared().run("typed", async |world, objects| {
        objects
            .apply(&resource_group("typed-rg", "typed"))
            .await
            .unwrap();
        let client = world.client().clone();
        let newest: Api<v20230101::StorageAccount> = Api::namespaced(client.clone(), "typed");
        let written = account();
        let parameters = PatchParams::apply("typed-test");
        newest
            .patch("typedsa", &parameters, &Patch::Apply(&written))
            .await
            .unwrap();
        objects
            .wait_ready("StorageAccount", "typedsa", is_ready)
            .await;

        let read = newest.get("typedsa").await.unwrap();
        assert_eq!(read.spec.access_tier, written.spec.access_tier);
        let status = read.status.unwrap();
        assert!(status.primary_endpoints.unwrap().blob.is_some());

        let oldest: Api<v20210401::StorageAccount> = Api::namespaced(client.clone(), "typed");
        let oldest = oldest.get("typedsa").await.unwrap();
        assert_eq!(oldest.spec.access_tier, Some(v20210401::AccessTier::COOL));
        assert_eq!(oldest.status.unwrap().id, status.id);

        // The hub is served too: that is what the operator itself reads.
        let hubs: Api<hub::StorageAccount> = Api::namespaced(client, "typed");
        let hub = hubs.get("typedsa").await.unwrap();
        assert_eq!(hub.spec.original_version.as_deref(), Some("v20230101"));
        assert_eq!(hub.status.unwrap().id, status.id);
    });
}
