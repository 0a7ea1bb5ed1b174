//! Deleting: ASO behaviour §1.9.

use armature_azure::Method;

use super::*;

const OPERATION: &str = "/subscriptions/s-1/providers/Microsoft.Toys/locations/westus/operations/9";

#[tokio::test]
async fn deletes_in_azure_then_lets_the_object_go() {
    let (world, store) = World::with_store().await;
    world.cluster.delete(&store);
    assert_eq!(world.pass(&store).await, Requeue::Never);
    assert_eq!(
        world.journal.take(),
        [
            format!("GET {STORE}"),
            format!("DELETE {STORE}"),
            "metadata Store default/s".to_owned(),
        ]
    );
    assert_eq!(world.azure.get(STORE), None);
    assert!(world.cluster.object(&store).is_none());
    assert_eq!(world.cluster.take_events()[0].0, "BeginDelete");
}

#[tokio::test]
async fn follows_a_long_delete_over_restarts() {
    let (world, store) = World::with_store().await;
    world.cluster.delete(&store);
    let headers = [("location", OPERATION), ("retry-after", "15")];
    world
        .azure
        .script(Method::Delete, STORE, response(202, &headers, None));
    assert_eq!(world.pass(&store).await, seconds(15));
    assert_eq!(world.ready(&store), "False/Info/Deleting");
    let id = world.cluster.annotation(&store, names::POLLER_RESUME_ID);
    assert_eq!(id.as_deref(), Some("GenericClient.DeleteByID"));
    world.azure.script(
        Method::Get,
        OPERATION,
        response(202, &[("retry-after", "7")], None),
    );
    assert_eq!(world.pass(&store).await, seconds(7));
    world
        .azure
        .script(Method::Get, OPERATION, response(204, &[], None));
    assert_eq!(world.pass(&store).await, Requeue::Never);
    assert!(world.cluster.object(&store).is_none());
}

/// The DELETE takes the place of whatever the PUT has come to.
#[tokio::test]
async fn a_put_that_fails_meanwhile_holds_no_deletion_back() {
    let world = World::with_group().await;
    let store = world.store(json!({"capacity": 5}));
    let headers = [("azure-asyncoperation", OPERATION)];
    world
        .azure
        .script(Method::Put, STORE, response(201, &headers, None));
    world.pass(&store).await;
    world.cluster.delete(&store);
    let failed = json!({"status": "Failed", "error": {"code": "Conflict", "message": "no"}});
    world
        .azure
        .script(Method::Get, OPERATION, response(200, &[], Some(failed)));
    world.azure.set(STORE, json!({"id": STORE}));
    world.pass(&store).await;
    assert_eq!(world.azure.get(STORE), None);
    assert!(world.cluster.object(&store).is_none());
}

/// The record of the PUT is written into what the API server has by then, and its end is not that of a DELETE.
#[tokio::test]
async fn an_object_that_is_deleted_while_its_put_ends_takes_the_resource_along() {
    let world = World::with_group().await;
    let store = world.store(json!({"capacity": 5}));
    let operator = world.reconciler();
    let headers = [("azure-asyncoperation", OPERATION)];
    world
        .azure
        .script(Method::Put, STORE, response(201, &headers, None));
    operator.reconcile(&store).await;
    let done = response(200, &[], Some(json!({"status": "Succeeded"})));
    world.azure.script(Method::Get, OPERATION, done);
    let properties = json!({"capacity": 5, "provisioningState": "Succeeded"});
    let made = json!({"id": STORE, "location": "westus", "properties": properties});
    world.azure.set(STORE, made);
    world.cluster.lag(&store);
    world.cluster.delete(&store);
    operator.reconcile(&store).await;
    operator.reconcile(&store).await;
    let requests = world.requests();
    assert_eq!(world.azure.get(STORE), None, "{requests:?}");
    assert!(world.cluster.object(&store).is_none());
}

#[tokio::test]
async fn what_is_not_in_azure_needs_no_delete() {
    let (world, store) = World::with_store().await;
    world
        .azure
        .script(Method::Get, STORE, error(404, "ResourceNotFound"));
    world.cluster.delete(&store);
    assert_eq!(world.pass(&store).await, Requeue::Never);
    assert_eq!(world.requests(), [format!("GET {STORE}")]);
    assert!(world.cluster.object(&store).is_none());
}

#[tokio::test]
async fn an_object_that_was_never_claimed_goes_at_once() {
    let world = World::new();
    let store = world.store(json!({}));
    world.pass(&store).await;
    world.cluster.delete(&store);
    assert!(
        world.cluster.object(&store).is_none(),
        "no finalizer holds it"
    );
    assert_eq!(world.pass(&store).await, Requeue::Never);
}

#[tokio::test]
async fn policies_and_observe_leave_the_resource() {
    let rows = [
        (names::RECONCILE_POLICY, "skip"),
        (names::RECONCILE_POLICY, "detach-on-delete"),
        (names::OBSERVE, "true"),
    ];
    for (name, value) in rows {
        let (world, store) = World::with_store().await;
        world.cluster.annotate(&store, name, Some(value));
        world.cluster.delete(&store);
        assert_eq!(world.pass(&store).await, Requeue::Never, "{value}");
        assert_eq!(world.requests(), Vec::<String>::new(), "{value}");
        assert!(world.azure.get(STORE).is_some(), "{value}");
        assert!(world.cluster.object(&store).is_none(), "{value}");
    }
}

#[tokio::test]
async fn a_refused_delete_is_tried_for_ever() {
    let (world, store) = World::with_store().await;
    world.cluster.delete(&store);
    world
        .azure
        .script(Method::Delete, STORE, error(400, "LocationRequired"));
    assert_eq!(world.pass(&store).await, Requeue::Backoff(RetryClass::Slow));
    assert_eq!(world.ready(&store), "False/Warning/LocationRequired");
    assert_eq!(world.pass(&store).await, Requeue::Never);
    assert!(world.cluster.object(&store).is_none());
}
