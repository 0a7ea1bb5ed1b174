//! Requests go where the object says, or not at all.

use armature_azure::Method;

use super::*;

/// Segments that lead elsewhere.
const MISLEADING: [&str; 7] = ["..", ".", "%2e%2E", ".%2e", "x%2f..%2fy", "..\\y", "%252e."];

/// Applies a store and expects an Error condition and no request.
async fn refused(world: &World, key: &ObjectKey, what: &str) {
    assert_eq!(world.pass(key).await, Requeue::Never, "{what}");
    assert_eq!(world.requests(), [""; 0], "{what}");
    assert_eq!(world.ready(key), "False/Error/Failed", "{what}");
    let message = world.cluster.status(key)["conditions"][0]["message"].clone();
    let message = message.as_str().unwrap_or_default().to_owned();
    assert!(
        message.contains("lead to another resource"),
        "{what}: {message}"
    );
}

#[tokio::test]
async fn names_that_lead_elsewhere_are_refused() {
    for name in MISLEADING {
        let world = World::with_group().await;
        let store = world.store(json!({"azureName": name}));
        refused(&world, &store, name).await;
    }
}

#[tokio::test]
async fn owners_that_lead_elsewhere_are_refused() {
    for name in MISLEADING {
        let world = World::with_group().await;
        let id = format!("/subscriptions/s-1/resourceGroups/{name}");
        let spec = json!({"owner": {"armId": id}});
        let store = world.cluster.apply(&kinds::STORE, "s", &spec);
        refused(&world, &store, name).await;

        let (world, store) = World::with_store().await;
        let name_of_child = names::CHILD_RESOURCE_ID_OVERRIDE;
        world.cluster.annotate(
            &store,
            name_of_child,
            Some(&format!("{STORE}/boxes/{name}")),
        );
        let boxed = world.boxed();
        world.forget();
        refused(&world, &boxed, name).await;
    }
}

#[tokio::test]
async fn references_that_lead_elsewhere_are_refused() {
    for name in MISLEADING {
        let id = format!("{GROUP}/providers/Microsoft.Toys/stores/{name}");
        let world = World::with_group().await;
        let store = world.store(json!({"peerReference": {"armId": id}}));
        refused(&world, &store, name).await;

        let (world, peer) = World::with_store().await;
        world.cluster.annotate(&peer, names::RESOURCE_ID, Some(&id));
        let reference =
            json!({"group": kinds::STORE.group, "kind": kinds::STORE.kind, "name": "s"});
        let spec = json!({"owner": {"name": "g"}, "peerReference": reference});
        let store = world.cluster.apply(&kinds::STORE, "t", &spec);
        refused(&world, &store, name).await;
    }
}

#[tokio::test]
async fn stored_ids_that_lead_elsewhere_are_refused() {
    for name in MISLEADING {
        let (world, store) = World::with_store().await;
        let id = format!("{STORE}/../{name}");
        world
            .cluster
            .annotate(&store, names::RESOURCE_ID, Some(&id));
        refused(&world, &store, name).await;
    }
}

/// Such a URL is no operation: the resource is read instead.
#[tokio::test]
async fn stored_urls_that_lead_elsewhere_are_not_polled() {
    let (world, store) = World::with_store().await;
    let token = json!({"token": {"asyncURL": format!("{STORE}/%2e%2e/other")}}).to_string();
    for (name, value) in [
        (names::POLLER_RESUME_ID, "GenericClient.CreateOrUpdateByID"),
        (names::POLLER_RESUME_TOKEN, token.as_str()),
    ] {
        world.cluster.annotate(&store, name, Some(value));
    }
    assert_eq!(world.pass(&store).await, Requeue::Sync);
    assert_eq!(world.requests(), [format!("GET {STORE}")]);
}

/// The credential was checked for one subscription, so no operation leads into another.
#[tokio::test]
async fn an_operation_in_another_subscription_is_not_polled() {
    let world = World::with_group().await;
    let store = world.store(json!({"capacity": 5}));
    let elsewhere =
        "https://management.azure.com/subscriptions/s-2/providers/Microsoft.Toys/operations/1";
    let headers = [("azure-asyncoperation", elsewhere)];
    world
        .azure
        .script(Method::Put, STORE, response(201, &headers, None));
    world.pass(&store).await;
    world.forget();
    world.pass(&store).await;
    assert_eq!(world.requests(), [""; 0]);
    let message = world.cluster.status(&store)["conditions"][0]["message"].to_string();
    assert!(
        message.contains("subscription 's-2', but the credential is for s-1"),
        "{message}"
    );
}
