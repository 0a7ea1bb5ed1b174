//! What Azure does not say the end of holds writes back for a while, over restarts: every pass is that of a fresh reconciler.

use armature_azure::Method;

use super::*;

const OPERATION: &str = "/subscriptions/s-1/providers/Microsoft.Toys/locations/westus/operations/1";
const MINUTE: i64 = 60;

fn body(state: &str) -> Value {
    json!({"id": STORE, "location": "westus", "properties": {"capacity": 5, "provisioningState": state}})
}

impl World {
    /// A store whose first PUT got this answer.
    async fn with_answer(answer: armature_azure::Response) -> (Self, ObjectKey) {
        let world = Self::with_group().await;
        let store = world.store(json!({"capacity": 5}));
        world.azure.script(Method::Put, STORE, answer);
        world.pass(&store).await;
        world.forget();
        (world, store)
    }

    /// Looks every half minute until something is written, or for so many minutes. The write, and after how many seconds.
    async fn first_write(&self, key: &ObjectKey, minutes: i64) -> Option<(String, i64)> {
        for half in 0..=minutes * 2 {
            self.pass(key).await;
            let mut requests = self.requests().into_iter();
            if let Some(write) = requests.find(|line| !line.starts_with("GET")) {
                return Some((write, half * 30));
            }
            if self.cluster.object(key).is_none() {
                return Some(("gone".to_owned(), half * 30));
            }
            self.clock.advance(30);
        }
        None
    }

    pub(super) fn message(&self, key: &ObjectKey) -> String {
        let status = self.cluster.status(key);
        status["conditions"][0]["message"]
            .as_str()
            .unwrap_or_default()
            .to_owned()
    }
}

/// The group was deleted meanwhile, say.
#[tokio::test]
async fn a_put_whose_resource_never_appears_does_not_keep_the_object() {
    let (world, store) = World::with_answer(response(202, &[], None)).await;
    world.pass(&store).await;
    world.cluster.delete(&store);
    let end = world.first_write(&store, 10).await;
    assert_eq!(end, Some(("gone".to_owned(), 5 * MINUTE)));
}

#[tokio::test]
async fn a_put_whose_resource_never_appears_is_sent_again_after_an_hour() {
    let (world, store) = World::with_answer(response(202, &[], None)).await;
    let again = world.first_write(&store, 90).await;
    assert_eq!(again, Some((format!("PUT {STORE}"), 60 * MINUTE)));
    assert_eq!(world.cluster.annotation(&store, names::HELD_SINCE), None);
}

#[tokio::test]
async fn what_updates_without_an_end_is_deleted_after_five_minutes_and_a_409_backs_off() {
    let (world, store) = World::with_store().await;
    world.azure.set(STORE, body("Updating"));
    world.cluster.delete(&store);
    for _ in 0..2 {
        world
            .azure
            .script(Method::Delete, STORE, error(409, "Conflict"));
    }
    world.pass(&store).await;
    assert_eq!(world.ready(&store), "False/Info/Deleting");
    assert!(!world.message(&store).contains("all the same"));
    world.clock.advance(MINUTE);
    world.pass(&store).await;
    let message = world.message(&store);
    assert!(
        message.ends_with(
            "; the DELETE is sent all the same at 1970-01-01T00:05:00Z (longest-hold-before-delete: 5m)"
        ),
        "{message}"
    );
    let first = world.first_write(&store, 10).await;
    assert_eq!(first, Some((format!("DELETE {STORE}"), 4 * MINUTE)));
    assert_eq!(world.ready(&store), "False/Warning/Conflict");
    assert_eq!(world.pass(&store).await, Requeue::Backoff(RetryClass::Slow));
    assert_eq!(world.pass(&store).await, Requeue::Never);
    assert!(world.cluster.object(&store).is_none());
}

#[tokio::test]
async fn what_updates_without_an_end_is_sent_an_edit_after_an_hour() {
    let (world, store) = World::with_store().await;
    world.azure.set(STORE, body("Updating"));
    world.store(json!({"capacity": 6}));
    let write = world.first_write(&store, 90).await;
    assert_eq!(write, Some((format!("PUT {STORE}"), 60 * MINUTE)));
    assert_eq!(world.ready(&store), "True//Succeeded");
    assert_eq!(world.cluster.annotation(&store, names::HELD_SINCE), None);
}

/// A hold that ended says nothing about the next one.
#[tokio::test]
async fn each_hold_is_as_long_as_the_first() {
    let (world, store) = World::with_store().await;
    let advance = |minutes: i64| world.clock.advance(minutes * MINUTE);
    world.azure.set(STORE, body("Updating"));
    world.pass(&store).await;
    assert!(
        world
            .cluster
            .annotation(&store, names::HELD_SINCE)
            .is_some()
    );
    advance(50);
    world.azure.set(STORE, body("Succeeded"));
    assert_eq!(world.pass(&store).await, Requeue::Sync);
    assert_eq!(world.cluster.annotation(&store, names::HELD_SINCE), None);
    advance(50);
    world.azure.set(STORE, body("Updating"));
    world.store(json!({"capacity": 6}));
    world.forget();
    let write = world.first_write(&store, 90).await;
    assert_eq!(write, Some((format!("PUT {STORE}"), 60 * MINUTE)));
}

/// No token goes there, so nothing will ever be known of it.
#[tokio::test]
async fn an_operation_on_another_host_ends_with_the_hold() {
    let elsewhere = "https://westus3.rp.toys.azure.com/subscriptions/s-1/operations/1";
    let headers = [("location", elsewhere)];
    for (deletes, minutes) in [(true, 5), (false, 60)] {
        let (world, store) = World::with_answer(response(202, &headers, None)).await;
        world.azure.set(STORE, body("Succeeded"));
        world.store(json!({"capacity": 6}));
        if deletes {
            world.cluster.delete(&store);
        }
        world.pass(&store).await;
        assert_eq!(world.ready(&store), "False/Warning/UnknownError");
        let message = world.message(&store);
        assert!(message.contains("not below the ARM endpoint"), "{message}");
        let write = world.first_write(&store, 90).await;
        let method = if deletes { "DELETE" } else { "PUT" };
        assert_eq!(write, Some((format!("{method} {STORE}"), minutes * MINUTE)));
    }
}

/// Gateways take hours.
#[tokio::test]
async fn what_azure_itself_reports_as_running_is_waited_for() {
    let status = response(200, &[], Some(json!({"status": "InProgress"})));
    let accepted = response(202, &[], None);
    for (header, running) in [("azure-asyncoperation", status), ("location", accepted)] {
        let (world, store) = World::with_answer(response(202, &[(header, OPERATION)], None)).await;
        world.cluster.delete(&store);
        for _ in 0..500 {
            world.azure.script(Method::Get, OPERATION, running.clone());
        }
        assert_eq!(world.first_write(&store, 4 * 60).await, None, "{header}");
        assert_eq!(world.cluster.annotation(&store, names::HELD_SINCE), None);
    }
}

/// Azure can be ill in between.
#[tokio::test]
async fn a_look_that_fails_holds_until_the_next_one_that_does_not() {
    let accepted = response(202, &[("location", OPERATION)], None);
    let (world, store) = World::with_answer(accepted).await;
    let look = |status| {
        world
            .azure
            .script(Method::Get, OPERATION, response(status, &[], None))
    };
    look(503);
    assert_eq!(world.pass(&store).await, Requeue::Backoff(RetryClass::Poll));
    assert!(
        world
            .cluster
            .annotation(&store, names::HELD_SINCE)
            .is_some()
    );
    look(202);
    world.pass(&store).await;
    assert_eq!(world.cluster.annotation(&store, names::HELD_SINCE), None);
}

#[tokio::test]
async fn polls_are_never_faster_than_every_two_seconds() {
    for (retry_after, wait) in [
        ("0", 2),
        ("1", 2),
        ("Wed, 31 Dec 1969 00:00:00 GMT", 2),
        ("3", 3),
    ] {
        let headers = [("location", OPERATION), ("retry-after", retry_after)];
        let world = World::with_group().await;
        let store = world.store(json!({"capacity": 5}));
        world
            .azure
            .script(Method::Put, STORE, response(202, &headers, None));
        assert_eq!(world.pass(&store).await, seconds(wait), "PUT {retry_after}");
        world
            .azure
            .script(Method::Get, OPERATION, response(202, &headers, None));
        assert_eq!(
            world.pass(&store).await,
            seconds(wait),
            "poll {retry_after}"
        );
    }
}
