//! What is remembered of PUTs, so that the Graph's news of them is no news.

use armature_azure::Method;
use jiff::{SignedDuration, Timestamp};

use super::*;

const OPERATION: &str = "/subscriptions/s-1/providers/Microsoft.Toys/locations/westus/operations/1";

fn body(state: &str) -> Value {
    json!({"id": STORE, "properties": {"capacity": 5, "provisioningState": state}})
}

/// An answer to a GET, by a clock that is three seconds ahead of ours.
fn seen(world: &World) -> armature_azure::Response {
    let azure = world.clock.now() + SignedDuration::from_secs(3);
    let date = azure.to_zoned(jiff::tz::TimeZone::UTC);
    let date = date.strftime("%a, %d %b %Y %H:%M:%S GMT").to_string();
    response(200, &[("date", &date)], Some(body("Succeeded")))
}

fn known(reconciler: &Reconciler, key: &ObjectKey) -> Option<(String, Option<Timestamp>)> {
    let put = reconciler.written.of(key)?;
    Some((put.correlation.to_string(), put.read))
}

#[tokio::test]
async fn a_put_is_remembered_with_the_read_after_it() {
    let world = World::with_group().await;
    let store = world.store(json!({"capacity": 5}));
    let put = [("x-ms-correlation-request-id", "c-1")];
    let put = response(201, &put, Some(body("Succeeded")));
    world.azure.script(Method::Put, STORE, put);
    world
        .azure
        .script(Method::Get, STORE, error(404, "ResourceNotFound"));
    world.azure.script(Method::Get, STORE, seen(&world));
    let reconciler = world.reconciler();
    assert_eq!(reconciler.reconcile(&store).await, Requeue::Sync);
    let at = world.clock.now() + SignedDuration::from_secs(3);
    assert_eq!(
        known(&reconciler, &store),
        Some(("c-1".to_owned(), Some(at)))
    );
    // It goes with the object.
    world.cluster.forget(&store);
    assert_eq!(reconciler.reconcile(&store).await, Requeue::Never);
    assert_eq!(known(&reconciler, &store), None);
}

/// While Azure works on nothing was seen; the read at its end counts.
#[tokio::test]
async fn a_put_that_takes_long_is_seen_when_it_is_done() {
    let world = World::with_group().await;
    let store = world.store(json!({"capacity": 5}));
    let put = [
        ("azure-asyncoperation", OPERATION),
        ("x-ms-correlation-request-id", "c-1"),
    ];
    let put = response(201, &put, Some(body("Creating")));
    world.azure.script(Method::Put, STORE, put);
    let reconciler = world.reconciler();
    reconciler.reconcile(&store).await;
    assert_eq!(known(&reconciler, &store), Some(("c-1".to_owned(), None)));
    world.clock.advance(60);
    let done = response(200, &[], Some(json!({"status": "Succeeded"})));
    world.azure.script(Method::Get, OPERATION, done);
    world.azure.script(Method::Get, STORE, seen(&world));
    assert_eq!(reconciler.reconcile(&store).await, Requeue::Sync);
    let at = world.clock.now() + SignedDuration::from_secs(3);
    assert_eq!(
        known(&reconciler, &store),
        Some(("c-1".to_owned(), Some(at)))
    );
}

/// What a policy makes of our own PUT has our correlation id. The read after the PUT shows it, and it is told by that.
#[tokio::test]
async fn what_a_policy_makes_of_our_put_is_seen_by_the_read_after_it() {
    let world = World::with_group().await;
    let store = world.store(json!({"capacity": 5}));
    let put = [("x-ms-correlation-request-id", "c-1")];
    let put = response(201, &put, Some(body("Succeeded")));
    world.azure.script(Method::Put, STORE, put);
    let edited =
        json!({"id": STORE, "properties": {"capacity": 4, "provisioningState": "Succeeded"}});
    world.azure.set(STORE, edited);
    world
        .azure
        .script(Method::Get, STORE, error(404, "ResourceNotFound"));
    let reconciler = world.reconciler();
    reconciler.reconcile(&store).await;
    assert_eq!(world.cluster.status(&store)["capacity"], 4);
    let read = known(&reconciler, &store).map(|(_, read)| read);
    assert_eq!(read, Some(None), "an answer without a date is no proof");
}

#[tokio::test]
async fn a_put_that_azure_refused_is_none() {
    let world = World::with_group().await;
    let store = world.store(json!({"capacity": 5}));
    let put = [("x-ms-correlation-request-id", "c-1")];
    let put = armature_azure::Response {
        headers: response(400, &put, None).headers,
        ..error(400, "Weak")
    };
    world.azure.script(Method::Put, STORE, put);
    let reconciler = world.reconciler();
    reconciler.reconcile(&store).await;
    assert_eq!(known(&reconciler, &store), None);
}
