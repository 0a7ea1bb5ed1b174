//! Long-running operations. Every pass is that of a fresh reconciler, so each one is a restart too.

use armature_azure::Method;
use armature_reconcile::port::DataKind;
use futures::FutureExt;

use super::*;

const OPERATION: &str = "/subscriptions/s-1/providers/Microsoft.Toys/locations/westus/operations/1";

fn body(state: &str) -> Value {
    json!({"id": STORE, "properties": {"capacity": 5, "provisioningState": state}})
}

/// Runs a store whose PUT gets this answer through its operation: polled at `poll`, running once, then done.
async fn runs_through(put: armature_azure::Response, poll: &str, done: armature_azure::Response) {
    let world = World::with_group().await;
    let store = world.store(json!({"capacity": 5}));
    world.azure.script(Method::Put, STORE, put);
    assert_eq!(world.pass(&store).await, seconds(15));
    assert_eq!(world.ready(&store), "False/Info/Reconciling");
    let annotation = |name| world.cluster.annotation(&store, name);
    assert_eq!(
        annotation(names::POLLER_RESUME_ID).as_deref(),
        Some("GenericClient.CreateOrUpdateByID")
    );
    assert_eq!(
        annotation(names::LATEST_RECONCILED_GENERATION).as_deref(),
        Some("1")
    );
    world.forget();

    let running = match poll {
        STORE => response(200, &[("retry-after", "7")], Some(body("Creating"))),
        _ => response(202, &[("retry-after", "7")], None),
    };
    world.azure.script(Method::Get, poll, running);
    assert_eq!(world.pass(&store).await, seconds(7));
    assert_eq!(
        world.requests(),
        [format!("GET {poll}")],
        "one look per pass"
    );

    world.azure.set(STORE, body("Succeeded"));
    world.azure.script(Method::Get, poll, done);
    assert_eq!(world.pass(&store).await, Requeue::Sync);
    assert_eq!(
        world.requests(),
        [format!("GET {poll}"), format!("GET {STORE}")]
    );
    assert_eq!(world.ready(&store), "True//Succeeded");
    assert_eq!(annotation(names::POLLER_RESUME_ID), None);
    assert_eq!(annotation(names::POLLER_RESUME_TOKEN), None);
    assert_eq!(world.cluster.status(&store)["capacity"], 5);
}

#[tokio::test]
async fn by_azure_async_operation() {
    let headers = [("azure-asyncoperation", OPERATION), ("retry-after", "15")];
    let put = response(201, &headers, Some(body("Creating")));
    let done = response(200, &[], Some(json!({"status": "Succeeded"})));
    runs_through(put, OPERATION, done).await;
}

#[tokio::test]
async fn by_location() {
    let headers = [("location", OPERATION), ("retry-after", "15")];
    let put = response(202, &headers, None);
    runs_through(put, OPERATION, response(200, &[], Some(body("Succeeded")))).await;
}

#[tokio::test]
async fn by_provisioning_state() {
    let put = response(201, &[("retry-after", "15")], Some(body("Creating")));
    runs_through(put, STORE, response(200, &[], Some(body("Succeeded")))).await;
}

/// The answer of the PUT is final unless a header or its state says otherwise; Azure is read once, for the status.
#[tokio::test]
async fn a_final_answer_is_not_polled() {
    let location = ("location", OPERATION);
    let stateless = json!({"id": STORE, "properties": {"capacity": 5}});
    let rows = [
        (response(200, &[], Some(body("Succeeded"))), true),
        (response(201, &[], Some(body("Succeeded"))), true),
        (response(200, &[], Some(stateless.clone())), true),
        (response(201, &[], Some(stateless.clone())), true),
        // HTTP's own header of a created resource.
        (response(201, &[location], Some(body("Succeeded"))), true),
        (response(201, &[location], Some(stateless)), true),
        // Whatever the body says, the operation is followed to its end.
        (
            response(
                201,
                &[("azure-asyncoperation", OPERATION)],
                Some(body("Succeeded")),
            ),
            false,
        ),
    ];
    for (answer, is_final) in rows {
        let world = World::with_group().await;
        let store = world.store(json!({"capacity": 5}));
        let what = format!("{answer:?}");
        world
            .azure
            .script(Method::Get, STORE, error(404, "ResourceNotFound"));
        world.azure.script(Method::Put, STORE, answer);
        world.azure.set(STORE, body("Succeeded"));
        let requeue = world.pass(&store).await;
        let mut expected = vec![format!("GET {STORE}"), format!("PUT {STORE}")];
        if is_final {
            expected.push(format!("GET {STORE}"));
        }
        assert_eq!(world.requests(), expected, "{what}");
        assert_eq!(requeue == Requeue::Sync, is_final, "{what}");
        let stored = world.cluster.annotation(&store, names::POLLER_RESUME_TOKEN);
        assert_eq!(stored.is_none(), is_final, "{what}");
    }
}

/// Each answer of ARM has the URL with another signature, and another time to wait: nothing that a restart needs.
#[tokio::test]
async fn polls_that_find_an_operation_running_write_nothing() {
    let world = World::with_group().await;
    let store = world.store(json!({"capacity": 5}));
    let signed =
        |number| format!("{OPERATION}?api-version=1&t={number}&c=A&s=B{number}&h=C{number}");
    let accepted = response(
        202,
        &[("location", &signed(0)), ("retry-after", "15")],
        None,
    );
    world.azure.script(Method::Put, STORE, accepted);
    world.pass(&store).await;
    let writes = || {
        let lines = world.journal.take();
        let is_write = |line: &&String| line.starts_with("metadata") || line.starts_with("status");
        lines.iter().filter(is_write).count()
    };
    assert_eq!(writes(), 3, "claim, operation, Reconciling");
    for number in 2..=11 {
        let (url, wait) = (signed(number), number.to_string());
        let headers = [("location", url.as_str()), ("retry-after", wait.as_str())];
        let running = response(202, &headers, None);
        world.azure.script(Method::Get, OPERATION, running);
        assert_eq!(world.pass(&store).await, seconds(number));
    }
    assert_eq!(writes(), 0);
    // What a restart does need.
    let elsewhere = OPERATION.replace("operations/1", "operations/2");
    let moved = response(202, &[("location", &elsewhere)], None);
    world.azure.script(Method::Get, OPERATION, moved);
    world.pass(&store).await;
    assert_eq!(writes(), 1);
    let done = response(200, &[], Some(body("Succeeded")));
    world.azure.set(STORE, body("Succeeded"));
    world.azure.script(Method::Get, &elsewhere, done);
    assert_eq!(world.pass(&store).await, Requeue::Sync);
    assert_eq!(writes(), 2, "baseline without the operation, Ready");
}

#[tokio::test]
async fn a_failed_operation_is_reported_and_tried_again() {
    let world = World::with_group().await;
    let store = world.store(json!({"capacity": 5}));
    let headers = [("azure-asyncoperation", OPERATION)];
    world
        .azure
        .script(Method::Put, STORE, response(201, &headers, None));
    assert_eq!(world.pass(&store).await, Requeue::Backoff(RetryClass::Poll));
    let failed =
        json!({"status": "Failed", "error": {"code": "AllocationFailed", "message": "full"}});
    world
        .azure
        .script(Method::Get, OPERATION, response(200, &[], Some(failed)));
    let pause = Duration::from_secs(1);
    assert_eq!(
        world.pass(&store).await,
        Requeue::BackoffAtLeast(RetryClass::Slow, pause)
    );
    assert_eq!(world.ready(&store), "False/Warning/AllocationFailed");
    assert_eq!(
        world.cluster.annotation(&store, names::POLLER_RESUME_ID),
        None
    );
    world.clock.advance(1);
    assert_eq!(world.pass(&store).await, Requeue::Sync);
    assert_eq!(world.ready(&store), "True//Succeeded");
}

/// ASO behaviour §1.3 step 14g.
#[tokio::test]
async fn a_spec_that_changed_meanwhile_is_sent_again() {
    let world = World::with_group().await;
    let store = world.store(json!({"capacity": 5}));
    let headers = [("azure-asyncoperation", OPERATION)];
    world
        .azure
        .script(Method::Put, STORE, response(201, &headers, None));
    world.pass(&store).await;
    world.store(json!({"capacity": 6}));
    let done = response(200, &[], Some(json!({"status": "Succeeded"})));
    world.azure.script(Method::Get, OPERATION, done);
    world.azure.set(STORE, body("Succeeded"));
    assert_eq!(world.pass(&store).await, Requeue::Now);
    world.azure.take_bodies();
    assert_eq!(world.pass(&store).await, Requeue::Sync);
    assert_eq!(world.azure.take_bodies()[0]["properties"]["capacity"], 6);
    assert_eq!(world.cluster.status(&store)["observedGeneration"], 2);
}

#[tokio::test]
async fn an_operation_that_azure_forgot_is_read_from_the_resource() {
    let world = World::with_group().await;
    let store = world.store(json!({"capacity": 5}));
    let headers = [("azure-asyncoperation", OPERATION)];
    world
        .azure
        .script(Method::Put, STORE, response(201, &headers, None));
    world.pass(&store).await;
    world.azure.set(STORE, body("Creating"));
    world.forget();
    assert_eq!(world.pass(&store).await, Requeue::Backoff(RetryClass::Poll));
    assert_eq!(world.ready(&store), "False/Info/Reconciling");
    world.azure.set(STORE, body("Succeeded"));
    assert_eq!(world.pass(&store).await, Requeue::Sync);
    assert_eq!(world.azure.take_bodies(), Vec::<Value>::new());
}

#[tokio::test]
async fn a_token_that_makes_no_sense_is_dropped() {
    let (world, store) = World::with_store().await;
    world
        .cluster
        .annotate(&store, names::POLLER_RESUME_ID, Some("Something.Else"));
    world
        .cluster
        .annotate(&store, names::POLLER_RESUME_TOKEN, Some("{}"));
    assert_eq!(world.pass(&store).await, Requeue::Sync);
    assert_eq!(
        world.cluster.annotation(&store, names::POLLER_RESUME_TOKEN),
        None
    );
    assert_eq!(world.requests(), [format!("GET {STORE}")]);
}

#[tokio::test]
async fn a_resource_that_vanished_after_its_put_is_an_error() {
    let world = World::with_group().await;
    let store = world.store(json!({"capacity": 5}));
    let missing = || error(404, "ResourceNotFound");
    world.azure.script(Method::Get, STORE, missing());
    world.azure.script(Method::Get, STORE, missing());
    assert_eq!(world.pass(&store).await, Requeue::Backoff(RetryClass::Slow));
    assert_eq!(world.ready(&store), "False/Warning/AzureResourceNotFound");
}

/// A secret that changes while Azure works on the old one must be sent too.
#[tokio::test]
async fn a_secret_that_changed_meanwhile_is_sent_again() {
    let world = World::with_group().await;
    let put = |value| {
        world
            .cluster
            .put_data(DataKind::Secret, "secret", &[("password", value)])
    };
    put("hunter2");
    let store = world.store(json!({"password": {"name": "secret", "key": "password"}}));
    let headers = [("azure-asyncoperation", OPERATION)];
    world
        .azure
        .script(Method::Put, STORE, response(201, &headers, None));
    world.pass(&store).await;
    put("hunter3");
    let done = response(200, &[], Some(json!({"status": "Succeeded"})));
    world.azure.script(Method::Get, OPERATION, done);
    world.azure.set(STORE, body("Succeeded"));
    assert_eq!(world.pass(&store).await, Requeue::Now);
    world.azure.take_bodies();
    assert_eq!(world.pass(&store).await, Requeue::Sync);
    assert_eq!(
        world.azure.take_bodies()[0]["properties"]["password"],
        "hunter3"
    );
}

/// What Azure is doing for the object must be known after the pass, whoever else writes the object.
#[tokio::test]
async fn the_state_of_an_operation_survives_a_conflict() {
    let (world, store) = World::with_store().await;
    let headers = [("azure-asyncoperation", OPERATION), ("retry-after", "15")];
    world
        .azure
        .script(Method::Put, STORE, response(200, &headers, None));
    world.store(json!({"capacity": 6}));
    world.cluster.interfere(2);
    assert_eq!(world.pass(&store).await, seconds(15));
    let id = world.cluster.annotation(&store, names::POLLER_RESUME_ID);
    assert_eq!(id.as_deref(), Some("GenericClient.CreateOrUpdateByID"));
}

#[tokio::test]
async fn any_other_conflict_starts_the_pass_again() {
    let world = World::new();
    let group = world.group();
    world.cluster.interfere(1);
    assert_eq!(world.pass(&group).await, Requeue::Backoff(RetryClass::Poll));
    assert_eq!(world.pass(&group).await, Requeue::Sync);
}

/// The cache may be behind: what it has would meet the same conflict again and again.
#[tokio::test]
async fn after_a_conflict_the_object_is_read_from_the_server() {
    let world = World::with_group().await;
    let store = world.store(json!({"capacity": 6}));
    world.cluster.lag(&store);
    world.store(json!({"capacity": 7}));
    let first = world.pass(&store).await;
    assert_eq!(first, Requeue::Backoff(RetryClass::Poll));
    assert_eq!(world.pass(&store).await, Requeue::Sync);
    let bodies = world.azure.take_bodies();
    let sent: Vec<&Value> = bodies
        .iter()
        .map(|body| &body["properties"]["capacity"])
        .collect();
    assert_eq!(sent, [7]);
}

/// The same where the write must not be lost.
#[tokio::test]
async fn the_state_of_an_operation_is_written_into_what_the_server_has() {
    let (world, store) = World::with_store().await;
    // Of a process that has just begun, the PUT itself would look first.
    let operator = world.reconciler();
    world.clock.advance(180);
    let headers = [("azure-asyncoperation", OPERATION), ("retry-after", "15")];
    world
        .azure
        .script(Method::Put, STORE, response(200, &headers, None));
    world.store(json!({"capacity": 6}));
    world.cluster.lag(&store);
    world
        .cluster
        .annotate(&store, "note", Some("by somebody else"));
    assert_eq!(operator.reconcile(&store).await, seconds(15));
    let annotation = |name| world.cluster.annotation(&store, name);
    let operation = annotation(names::POLLER_RESUME_ID);
    assert_eq!(
        operation.as_deref(),
        Some("GenericClient.CreateOrUpdateByID")
    );
    assert_eq!(annotation("note").as_deref(), Some("by somebody else"));
}

/// An object whose first PUT reached Azure, which accepted it only, and whose operator was killed then.
async fn killed_in_its_first_put() -> (World, ObjectKey) {
    let world = World::with_group().await;
    let store = world.store(json!({"capacity": 5}));
    world.azure.fall_silent(Method::Put, STORE);
    assert_eq!(world.pass(&store).now_or_never(), None);
    assert_eq!(
        world.requests(),
        [format!("GET {STORE}"), format!("PUT {STORE}")]
    );
    world.clock.advance(5);
    (world, store)
}

/// Azure does not show the resource, so it is sent again; Azure knows that it is at work.
#[tokio::test]
async fn a_put_that_was_cut_is_found_again() {
    let (world, store) = killed_in_its_first_put().await;
    let refused = error(409, "AnotherOperationInProgress");
    world.azure.script(Method::Put, STORE, refused);
    assert_eq!(world.pass(&store).await, Requeue::Backoff(RetryClass::Slow));
    world.forget();
    let mut made = body("Succeeded");
    made["location"] = json!("westus");
    world.azure.set(STORE, made);
    assert_eq!(world.pass(&store).await, Requeue::Sync);
    assert_eq!(world.requests(), [format!("GET {STORE}")]);
}

/// The cut PUT left nothing in the object, and the resource has more than the edited spec names.
#[tokio::test]
async fn an_edit_after_a_put_that_was_cut_is_sent() {
    let (world, store) = killed_in_its_first_put().await;
    let mut made = body("Succeeded");
    made["location"] = json!("westus");
    made["properties"]["tier"] = json!("standard");
    world.azure.set(STORE, made);
    world.store(json!({"location": "westus"}));
    assert_eq!(world.pass(&store).await, Requeue::Sync);
    let azure = world.azure.get(STORE).unwrap();
    assert_eq!(azure["properties"]["tier"], Value::Null, "taken out");
    let note = world.cluster.annotation(&store, names::CLAIMED_SPEC);
    assert_eq!(note, None, "gone with the record");
}

#[tokio::test]
async fn what_a_put_that_was_cut_makes_is_deleted_with_its_object() {
    let (world, store) = killed_in_its_first_put().await;
    world.cluster.delete(&store);
    let restarted = world.reconciler();
    let look = Requeue::Backoff(RetryClass::Poll);
    assert_eq!(restarted.reconcile(&store).await, look);
    assert_eq!(world.ready(&store), "False/Info/Deleting");
    world.clock.advance(60);
    world.azure.set(STORE, body("Creating"));
    assert_eq!(restarted.reconcile(&store).await, look);
    world.azure.set(STORE, body("Succeeded"));
    assert_eq!(restarted.reconcile(&store).await, Requeue::Never);
    assert!(world.azure.get(STORE).is_none(), "nothing is left behind");
    assert!(world.cluster.object(&store).is_none());
}

#[tokio::test]
async fn what_azure_does_not_show_in_the_end_does_not_exist() {
    let (world, store) = killed_in_its_first_put().await;
    world.cluster.delete(&store);
    let restarted = world.reconciler();
    restarted.reconcile(&store).await;
    world.clock.advance(120);
    assert_eq!(restarted.reconcile(&store).await, Requeue::Never);
    assert!(world.cluster.object(&store).is_none());
}

/// The PUT was carried out before anybody noted it. What is gone later is gone.
#[tokio::test]
async fn what_azure_has_shown_since_is_not_waited_for() {
    let (world, store) = killed_in_its_first_put().await;
    world.azure.set(STORE, body("Succeeded"));
    assert_eq!(world.pass(&store).await, Requeue::Sync);
    world.azure.remove(STORE);
    world.cluster.delete(&store);
    let restarted = world.reconciler();
    assert_eq!(restarted.reconcile(&store).await, Requeue::Never);
    assert!(world.cluster.object(&store).is_none());
}

/// Nobody but a process that was killed sends a PUT and does not note its answer.
#[tokio::test]
async fn an_object_that_is_younger_than_the_operator_goes_at_once() {
    let world = World::with_group().await;
    let operator = world.reconciler();
    let store = world.store(json!({"capacity": 5}));
    world
        .azure
        .script(Method::Put, STORE, error(409, "Conflict"));
    operator.reconcile(&store).await;
    world.cluster.delete(&store);
    assert_eq!(operator.reconcile(&store).await, Requeue::Never);
    assert!(world.cluster.object(&store).is_none());
}

/// A resource never has two writes in flight, whatever the user does meanwhile.
#[tokio::test]
async fn while_a_put_runs_nothing_else_is_written() {
    let world = World::with_group().await;
    let store = world.store(json!({"capacity": 5}));
    // Accepted only: Azure does not show the resource before the end.
    let headers = [("location", OPERATION)];
    let accepted = response(202, &headers, None);
    world.azure.script(Method::Put, STORE, accepted);
    world.pass(&store).await;
    world.forget();
    let running = || response(202, &[("retry-after", "7")], None);
    let look = [format!("GET {OPERATION}")];

    world.store(json!({"capacity": 6}));
    world.azure.script(Method::Get, OPERATION, running());
    assert_eq!(world.pass(&store).await, seconds(7));
    assert_eq!(world.requests(), look, "the spec was edited");

    world.cluster.delete(&store);
    world.azure.script(Method::Get, OPERATION, running());
    assert_eq!(world.pass(&store).await, seconds(7));
    assert_eq!(world.requests(), look, "the object was deleted");
    assert_eq!(world.ready(&store), "False/Info/Deleting");

    world.azure.set(STORE, body("Succeeded"));
    let done = response(200, &[], Some(body("Succeeded")));
    world.azure.script(Method::Get, OPERATION, done);
    assert_eq!(world.pass(&store).await, Requeue::Never);
    let rest = [format!("GET {STORE}"), format!("DELETE {STORE}")];
    assert_eq!(world.requests(), [&look[..], &rest[..]].concat());
    assert!(world.azure.get(STORE).is_none(), "nothing is left behind");
    assert!(world.cluster.object(&store).is_none());
}

/// The API server is away, or refuses, after Azure has taken a PUT: the next pass follows the operation all the same.
#[tokio::test]
async fn the_operation_of_an_edit_is_followed_though_it_could_not_be_written() {
    let (world, store) = World::with_store().await;
    let headers = [("azure-asyncoperation", OPERATION), ("retry-after", "15")];
    let accepted = response(200, &headers, None);
    world.azure.script(Method::Put, STORE, accepted);
    for _ in 0..2 {
        let running = response(200, &[], Some(body("InProgress")));
        world.azure.script(Method::Get, OPERATION, running);
    }
    world.store(json!({"capacity": 6}));
    let operator = world.reconciler();
    world.cluster.refuse_metadata(true);
    operator.reconcile(&store).await;
    assert_eq!(world.azure.take_bodies().len(), 1);
    operator.reconcile(&store).await;
    world.cluster.refuse_metadata(false);
    operator.reconcile(&store).await;
    assert!(world.azure.take_bodies().is_empty(), "no second PUT");
    let asked = world.requests();
    assert!(
        asked.iter().any(|line| line.contains("operations")),
        "{asked:?}"
    );
}
