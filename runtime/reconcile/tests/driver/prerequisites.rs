//! What Azure has to do before a PUT is asked for once, followed over restarts, and blocks nobody.

use armature_azure::Method;
use armature_reconcile::extension::*;
use armature_shapes::resource::TypedObject;
use armature_shapes::testing::kinds::HubStore;
use async_trait::async_trait;

use super::*;

const REMAINS: &str = "/subscriptions/s-1/providers/Microsoft.Toys/deletedStores/s";
const PURGE: &str = "/subscriptions/s-1/providers/Microsoft.Toys/deletedStores/s/purge";
const OPERATION: &str = "/subscriptions/s-1/providers/Microsoft.Toys/operations/1";

/// A new store has its remains purged first.
struct PurgeFirst;

#[async_trait]
impl PreReconciliationChecker for PurgeFirst {
    type Hub = HubStore;
    async fn check(
        &self,
        context: &Context,
        object: &TypedObject<HubStore>,
        next: Next<'_, PreCheck>,
    ) -> Result<PreCheck, ExtensionError> {
        if object.status.is_none() && context.arm().get(REMAINS).await?.is_some() {
            return Ok(PreCheck::First(Prerequisite {
                url: PURGE.to_owned(),
                message: "purging what is left".to_owned(),
            }));
        }
        next.call().await
    }
}

#[tokio::test]
async fn it_is_asked_for_once_and_followed_by_whoever_comes_next() {
    let mut world = World::with_group().await;
    let registry = Registry::builder().register_pre_checker(PurgeFirst);
    world.extensions = registry.build().expect("one");
    world.azure.set(REMAINS, json!({}));
    let store = world.store(json!({"capacity": 5}));
    let accepted = [("location", OPERATION), ("retry-after", "9")];
    world
        .azure
        .script(Method::Post, PURGE, response(202, &accepted, None));
    assert_eq!(world.pass(&store).await, seconds(9));
    assert_eq!(world.ready(&store), "False/Info/Reconciling");
    assert_eq!(world.cluster.message(&store), "purging what is left");
    let begun = [
        format!("GET {STORE}"),
        format!("GET {REMAINS}"),
        format!("POST {PURGE}"),
    ];
    assert_eq!(world.requests(), begun);

    // Each pass is that of an operator that has just started. An edit changes nothing while it runs.
    world.store(json!({"capacity": 6}));
    let running = response(202, &[("retry-after", "4")], None);
    world.azure.script(Method::Get, OPERATION, running);
    assert_eq!(world.pass(&store).await, seconds(4));
    assert_eq!(world.requests(), [format!("GET {OPERATION}")]);

    world.azure.remove(REMAINS);
    let done = response(200, &[], None);
    world.azure.script(Method::Get, OPERATION, done);
    assert_eq!(world.pass(&store).await, Requeue::Sync);
    let rest = [
        format!("GET {OPERATION}"),
        format!("GET {STORE}"),
        format!("GET {REMAINS}"),
        format!("PUT {STORE}"),
        format!("GET {STORE}"),
    ];
    assert_eq!(world.requests(), rest);
    assert_eq!(world.ready(&store), "True//Succeeded");
    let annotation = world.cluster.annotation(&store, names::POLLER_RESUME_ID);
    assert_eq!(annotation, None);
    world.pass(&store).await;
    assert_eq!(world.requests(), [format!("GET {STORE}")], "once");
}

#[tokio::test]
async fn a_refusal_is_told_and_nothing_is_put() {
    let mut world = World::with_group().await;
    let registry = Registry::builder().register_pre_checker(PurgeFirst);
    world.extensions = registry.build().expect("one");
    world.azure.set(REMAINS, json!({}));
    let store = world.store(json!({"capacity": 5}));
    let refusal = error(403, "AuthorizationFailed");
    world.azure.script(Method::Post, PURGE, refusal);
    assert_eq!(world.pass(&store).await, Requeue::Backoff(RetryClass::Slow));
    assert_eq!(world.ready(&store), "False/Warning/AuthorizationFailed");
    assert_eq!(world.azure.take_bodies(), Vec::<Value>::new());
}

/// Azure has accepted what was asked for, and names an operation that is not followed: it is not asked for again at once, whatever
/// else happens meanwhile.
#[tokio::test]
async fn what_was_accepted_is_not_asked_for_again_where_its_operation_is_not_followed() {
    let mut world = World::with_group().await;
    let registry = Registry::builder().register_pre_checker(PurgeFirst);
    world.extensions = registry.build().expect("one");
    world.azure.set(REMAINS, json!({}));
    let store = world.store(json!({"capacity": 5}));
    let accepted = [("location", "/etc/passwd"), ("retry-after", "9")];
    world
        .azure
        .script(Method::Post, PURGE, response(202, &accepted, None));
    assert_eq!(world.pass(&store).await, seconds(9));
    assert_eq!(world.ready(&store), "False/Info/Reconciling");
    assert_eq!(world.cluster.message(&store), "purging what is left");
    world.requests();

    for capacity in 6..9 {
        world.store(json!({"capacity": capacity}));
        world.clock.advance(120);
        world.pass(&store).await;
        assert_eq!(world.ready(&store), "False/Info/Reconciling");
        assert_eq!(world.requests(), Vec::<String>::new());
    }
    let message = world.cluster.message(&store);
    assert!(message.contains("longest-hold-before-put"), "{message}");

    // Nothing tells how far it is, so in the end it is looked at.
    world.azure.remove(REMAINS);
    world.clock.advance(3600);
    assert_eq!(world.pass(&store).await, Requeue::Sync);
    let requests = world.requests();
    assert!(
        !requests.iter().any(|line| line.starts_with("POST")),
        "{requests:?}"
    );
    assert_eq!(world.ready(&store), "True//Succeeded");
}
