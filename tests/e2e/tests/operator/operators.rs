//! Several operators in one cluster: each object has one of them.

use armature::{Operator, OperatorConfig};
use armature_e2e::{OPERATOR_NAMESPACE, World, identity};
use k8s_openapi::api::core::v1::Event;
use kube::api::{Api, ListParams, Patch, PatchParams};
use serde_json::{Value, json};

use crate::{is_ready, resource_group, wait_until, workers};

const NAMESPACE: &str = "tenant";
const ANNOTATION: &str = "serviceoperator.azure.com/operator-namespace";
const WORLD: &str = "00000000-0000-0000-0000-00000000000a";
const TENANT: &str = "00000000-0000-0000-0000-0000000000b1";

/// Messages of the events that say that an object is another operator's.
async fn overlaps(events: &Api<Event>, object: &str) -> Vec<String> {
    let events = events.list(&ListParams::default()).await.unwrap().items;
    events
        .into_iter()
        .filter(|event| event.involved_object.name.as_deref() == Some(object))
        .filter(|event| event.reason.as_deref() == Some("Overlap"))
        .filter(|event| event.type_.as_deref() == Some("Warning"))
        .filter_map(|event| event.message)
        .collect()
}

#[test]
fn operators_leave_the_objects_of_others_alone() {
    World::shared().run(NAMESPACE, async |world, objects| {
        let events: Api<Event> = Api::namespaced(world.client().clone(), NAMESPACE);
        let manifest = resource_group("tenant-world", NAMESPACE);
        objects.apply(&manifest).await.unwrap();
        objects
            .wait_ready("ResourceGroup", "tenant-world", is_ready)
            .await;
        let taken = objects
            .get("ResourceGroup", "v1api20200601", "tenant-world")
            .await
            .unwrap();
        let owner = &taken["metadata"]["annotations"][ANNOTATION];
        assert_eq!(owner, &Value::from(OPERATOR_NAMESPACE));

        let mut config: OperatorConfig = world.operator_config(NAMESPACE);
        config.arm.identity = identity(TENANT).unwrap().into();
        let operator = Operator::start(config).await.unwrap();
        wait_until("the tenant's operator warns", async || {
            !overlaps(&events, "tenant-world").await.is_empty()
        })
        .await;
        let message = overlaps(&events, "tenant-world").await.remove(0);
        assert!(message.contains(OPERATOR_NAMESPACE), "{message}");

        let owned = format!("metadata: {{annotations: {{{ANNOTATION}: {NAMESPACE}}}, ");
        let manifest = resource_group("tenant-own", NAMESPACE).replace("metadata: {", &owned);
        objects.apply(&manifest).await.unwrap();
        objects
            .wait_ready("ResourceGroup", "tenant-own", is_ready)
            .await;
        wait_until("the world's operator warns", async || {
            !overlaps(&events, "tenant-own").await.is_empty()
        })
        .await;
        let message = overlaps(&events, "tenant-own").await.remove(0);
        assert!(message.contains(NAMESPACE), "{message}");
        assert_eq!(workers(world, "tenant-world"), [WORLD]);

        let group = objects.api("ResourceGroup", "v1api20200601");
        let handed = json!({"metadata": {"annotations": {ANNOTATION: NAMESPACE}}});
        let handed = Patch::Merge(handed);
        group
            .patch("tenant-world", &PatchParams::default(), &handed)
            .await
            .unwrap();
        wait_until(
            "the tenant's operator works on what it was given",
            async || workers(world, "tenant-world") == [WORLD, TENANT],
        )
        .await;
        operator.stop().await;
        assert_eq!(workers(world, "tenant-own"), [TENANT]);
    });
}
