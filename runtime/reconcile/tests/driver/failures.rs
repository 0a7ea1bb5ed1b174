//! Answers that do not come, that mean something else than they look like, and operations that fail.

use armature_azure::Method;
use armature_reconcile::port::DataKind;

use super::*;

const OPERATION: &str = "/subscriptions/s-1/providers/Microsoft.Toys/locations/westus/operations/1";

/// A proxy's page: no JSON, and none of ARM's headers.
fn page() -> armature_azure::Response {
    response(404, &[("content-type", "text/html")], None)
}

#[tokio::test]
async fn a_404_that_is_not_about_the_resource_ends_no_deletion() {
    for answer in [
        page(),
        error(404, "SubscriptionNotFound"),
        error(410, "InvalidResourceType"),
    ] {
        let (world, store) = World::with_store().await;
        world.cluster.delete(&store);
        for _ in 0..2 {
            world.azure.script(Method::Get, STORE, answer.clone());
            world.azure.script(Method::Delete, STORE, answer.clone());
            world.pass(&store).await;
            let ready = world.ready(&store);
            assert!(ready.starts_with("False/Warning/"), "{ready}: {answer:?}");
        }
        assert!(world.azure.get(STORE).is_some());
        assert_eq!(world.pass(&store).await, Requeue::Never);
        assert!(
            world.azure.get(STORE).is_none(),
            "deleted once Azure is itself again"
        );
        assert!(world.cluster.object(&store).is_none());
    }
}

/// A cancelled subscription says so for ever, and its objects would be Terminating for as long.
#[tokio::test]
async fn a_subscription_that_is_gone_says_how_its_objects_go() {
    let (world, store) = World::with_store().await;
    world.cluster.delete(&store);
    let answer = error(404, "SubscriptionNotFound");
    world.azure.script(Method::Get, STORE, answer.clone());
    world.azure.script(Method::Delete, STORE, answer);
    world.pass(&store).await;
    let message = world.message(&store);
    let way_out =
        "serviceoperator.azure.com/reconcile-policy: detach-on-delete, and the object goes";
    assert!(message.ends_with(way_out), "{message}");
    let policy = Some("detach-on-delete");
    world
        .cluster
        .annotate(&store, names::RECONCILE_POLICY, policy);
    world.pass(&store).await;
    assert!(world.cluster.object(&store).is_none());
}

/// Nor does it make the operator create what is there, or give up.
#[tokio::test]
async fn a_404_that_is_not_about_the_resource_is_looked_at_again() {
    for answer in [
        page(),
        error(404, "SubscriptionNotFound"),
        error(404, "InvalidResourceType"),
    ] {
        let (world, store) = World::with_store().await;
        world.azure.script(Method::Get, STORE, answer.clone());
        let requeue = world.pass(&store).await;
        assert!(
            matches!(requeue, Requeue::Backoff(_)),
            "{requeue:?}: {answer:?}"
        );
        assert_eq!(world.requests(), [format!("GET {STORE}")], "{answer:?}");
        let ready = world.ready(&store);
        assert!(ready.starts_with("False/Warning/"), "{ready}: {answer:?}");
    }
}

#[tokio::test]
async fn a_404_of_arms_own_ends_a_deletion_whatever_its_code() {
    let empty = response(404, &[("x-ms-request-id", "r-1")], None);
    for answer in [
        empty,
        error(404, "RoleAssignmentNotFound"),
        error(410, "Gone"),
    ] {
        let (world, store) = World::with_store().await;
        world.cluster.delete(&store);
        world.azure.script(Method::Get, STORE, answer.clone());
        assert_eq!(world.pass(&store).await, Requeue::Never, "{answer:?}");
        assert!(world.cluster.object(&store).is_none(), "{answer:?}");
    }
}

/// An operator that has run all the while, whose first PUT of a store got no answer.
async fn without_an_answer(lose: fn(&World)) -> (World, Reconciler, ObjectKey) {
    let world = World::with_group().await;
    let operator = world.reconciler();
    world.clock.advance(10);
    let store = world.store(json!({"capacity": 5}));
    lose(&world);
    operator.reconcile(&store).await;
    assert!(world.ready(&store).starts_with("False/Warning/"));
    world.forget();
    world.clock.advance(10);
    (world, operator, store)
}

const LOST: [fn(&World); 6] = [
    |world| world.azure.lose_answer(Method::Put, STORE),
    |world| {
        world
            .azure
            .script(Method::Put, STORE, response(502, &[], None))
    },
    |world| {
        world
            .azure
            .script(Method::Put, STORE, response(504, &[], None))
    },
    // The service failed, was busy or gave up while it worked on it: so it may have made it.
    |world| {
        world
            .azure
            .script(Method::Put, STORE, error(500, "InternalServerError"))
    },
    |world| {
        world
            .azure
            .script(Method::Put, STORE, error(503, "ServiceUnavailable"))
    },
    |world| {
        world
            .azure
            .script(Method::Put, STORE, response(408, &[], None))
    },
];

#[tokio::test]
async fn what_a_put_without_an_answer_makes_is_deleted_with_its_object() {
    for lose in LOST {
        for restarts in [false, true] {
            let (world, mut operator, store) = without_an_answer(lose).await;
            world.cluster.delete(&store);
            if restarts {
                operator = world.reconciler();
            }
            let look = Requeue::Backoff(RetryClass::Poll);
            assert_eq!(operator.reconcile(&store).await, look);
            assert_eq!(world.ready(&store), "False/Info/Deleting");
            world.clock.advance(60);
            world.azure.set(STORE, json!({"id": STORE}));
            assert_eq!(operator.reconcile(&store).await, Requeue::Never);
            assert!(world.azure.get(STORE).is_none(), "nothing is left behind");
            assert!(world.cluster.object(&store).is_none());
        }
    }
}

/// A GET that fails says nothing, and a DELETE of what is not there yet would end the deletion.
#[tokio::test]
async fn nothing_is_deleted_blindly_while_a_put_may_run() {
    let (world, operator, store) = without_an_answer(LOST[0]).await;
    world.cluster.delete(&store);
    world
        .azure
        .script(Method::Get, STORE, response(503, &[], None));
    operator.reconcile(&store).await;
    assert_eq!(world.requests(), [format!("GET {STORE}")]);
    assert!(world.cluster.object(&store).is_some());
}

#[tokio::test]
async fn what_does_not_appear_within_two_minutes_does_not_exist() {
    let (world, operator, store) = without_an_answer(LOST[0]).await;
    world.cluster.delete(&store);
    operator.reconcile(&store).await;
    world.clock.advance(120);
    assert_eq!(operator.reconcile(&store).await, Requeue::Never);
    assert!(world.cluster.object(&store).is_none());
}

#[tokio::test]
async fn what_has_appeared_is_no_longer_waited_for() {
    let (world, operator, store) = without_an_answer(LOST[0]).await;
    let noted = || world.cluster.annotation(&store, names::UNANSWERED_PUT);
    assert!(noted().is_some());
    assert_eq!(operator.reconcile(&store).await, Requeue::Sync);
    assert_eq!(noted(), None);
    world.azure.remove(STORE);
    world.cluster.delete(&store);
    assert_eq!(operator.reconcile(&store).await, Requeue::Never);
}

/// A refusal is an answer: nothing came of the PUT.
#[tokio::test]
async fn a_put_that_was_refused_is_not_waited_for() {
    let (world, operator, store) = without_an_answer(|world| {
        world
            .azure
            .script(Method::Put, STORE, error(409, "Conflict"))
    })
    .await;
    world.cluster.delete(&store);
    assert_eq!(operator.reconcile(&store).await, Requeue::Never);
}

/// Azure accepts each PUT, and each operation fails.
struct Failing {
    world: World,
    store: ObjectKey,
}

impl Failing {
    async fn new() -> Self {
        let world = World::with_group().await;
        let store = world.store(json!({"capacity": 5}));
        Self { world, store }
    }

    /// Runs passes for so many seconds, each when it is wanted, as a queue does.
    async fn run(&self, total: u64) {
        let mut left = total;
        loop {
            let headers = [("azure-asyncoperation", OPERATION), ("retry-after", "2")];
            let accepted = response(201, &headers, None);
            let failed = json!({"status": "Failed", "error": {"code": "AllocationFailed", "message": "full"}});
            self.world
                .azure
                .replace_script(Method::Put, STORE, accepted.clone());
            self.world
                .azure
                .replace_script(Method::Delete, STORE, accepted);
            let answer = response(200, &[], Some(failed));
            self.world
                .azure
                .replace_script(Method::Get, OPERATION, answer);
            let wait = match self.world.pass(&self.store).await {
                Requeue::After(wait) | Requeue::BackoffAtLeast(_, wait) => wait,
                other => panic!("{other:?}"),
            };
            // The class's own delay has its tests.
            let wait = wait.as_secs().max(1);
            if wait > left {
                break;
            }
            left -= wait;
            self.world.clock.advance(wait.cast_signed());
        }
        self.world.clock.advance(left.cast_signed());
    }

    fn count(&self, method: &str) -> usize {
        let requests = self.world.requests();
        requests
            .iter()
            .filter(|line| line.starts_with(method))
            .count()
    }
}

const HOUR: u64 = 3600;

#[tokio::test]
async fn operations_that_fail_are_sent_again_with_growing_pauses_up_to_an_hour() {
    let failing = Failing::new().await;
    failing.run(HOUR).await;
    let in_the_first_hour = failing.count("PUT");
    assert!(
        (10..=13).contains(&in_the_first_hour),
        "{in_the_first_hour}"
    );
    failing.run(9 * HOUR).await;
    let later = failing.count("PUT");
    assert!((8..=10).contains(&later), "{later}");
    assert_eq!(
        failing.world.ready(&failing.store),
        "False/Warning/AllocationFailed"
    );
}

/// Whatever wakes the object: only an edit is a reason to try at once.
#[tokio::test]
async fn an_edit_starts_over_and_nothing_else_does() {
    let failing = Failing::new().await;
    let put = |value| {
        failing
            .world
            .cluster
            .put_data(DataKind::Secret, "secret", &[("password", value)])
    };
    put("hunter2");
    let secret = json!({"name": "secret", "key": "password"});
    failing
        .world
        .store(json!({"capacity": 5, "password": secret}));
    failing.run(HOUR).await;
    failing.world.forget();

    let requeue = failing.world.pass(&failing.store).await;
    assert!(matches!(requeue, Requeue::After(_)), "{requeue:?}");
    assert_eq!(failing.world.requests(), [format!("GET {STORE}")]);
    assert_eq!(
        failing.world.ready(&failing.store),
        "False/Warning/AllocationFailed"
    );

    failing
        .world
        .store(json!({"capacity": 6, "password": secret}));
    failing.world.pass(&failing.store).await;
    assert_eq!(failing.count("PUT"), 1, "the spec was edited");
    failing.run(60).await;
    let after_the_edit = failing.count("PUT");
    assert!((3..=6).contains(&after_the_edit), "{after_the_edit}");

    put("hunter3");
    failing.world.pass(&failing.store).await;
    assert_eq!(failing.count("PUT"), 1, "an input was edited");
}

#[tokio::test]
async fn an_operation_that_ends_well_is_the_end_of_it() {
    let failing = Failing::new().await;
    failing.run(60).await;
    let counted = || {
        failing
            .world
            .cluster
            .annotation(&failing.store, names::FAILED_OPERATIONS)
    };
    assert!(counted().is_some());
    failing.world.azure.clear_script();
    failing.world.clock.advance(600);
    assert_eq!(failing.world.pass(&failing.store).await, Requeue::Sync);
    assert_eq!(counted(), None);
}

#[tokio::test]
async fn deletions_that_fail_are_sent_again_with_growing_pauses() {
    let (world, store) = World::with_store().await;
    world.cluster.delete(&store);
    let failing = Failing { world, store };
    failing.run(HOUR).await;
    let count = failing.count("DELETE");
    assert!((10..=13).contains(&count), "{count}");
}

/// Another version lacks what only that one can say: Azure would take it out.
#[tokio::test]
async fn an_object_of_a_version_that_this_release_lacks_is_not_sent_in_another_one() {
    let (world, store) = World::with_store().await;
    let spec = json!({"originalVersion": "v20991231", "owner": {"name": "g"}, "capacity": 6});
    world.cluster.apply(&kinds::STORE, "s", &spec);
    world.forget();
    world.pass(&store).await;
    assert_eq!(world.requests(), [""; 0]);
    assert_eq!(world.ready(&store), "False/Error/Failed");
    let message = world.message(&store);
    assert!(message.contains("has no version `v20991231`"), "{message}");
    world.store(json!({"capacity": 7}));
    world.pass(&store).await;
    assert_eq!(world.ready(&store), "True//Succeeded");
}

/// Beside others' members it must be known which are ours, and a condition says where that has its end.
#[tokio::test]
async fn more_members_beside_those_of_others_than_can_be_told_apart_are_refused() {
    let world = World::new();
    let tags: serde_json::Map<String, Value> =
        (0..4001).map(|at| (format!("t{at}"), json!("x"))).collect();
    let spec = json!({"location": "westus", "tags": tags});
    let group = world.cluster.apply(&kinds::GROUP, "g", &spec);
    world
        .cluster
        .annotate(&group, names::KEEP_UNKNOWN, Some("tags"));
    world.pass(&group).await;
    assert_eq!(world.ready(&group), "False/Error/Failed");
    assert!(world.message(&group).contains("4000"));
    assert_eq!(world.azure.take_bodies(), [Value::Null; 0]);
}

/// A policy that refuses the claim: without a condition the object would be current for Flux, for ever.
#[tokio::test]
async fn what_kubernetes_refuses_is_said_in_the_conditions() {
    let world = World::new();
    let group = world.group();
    world.cluster.refuse_metadata(true);
    assert_eq!(world.pass(&group).await, Requeue::Backoff(RetryClass::Slow));
    assert_eq!(world.ready(&group), "False/Warning/Failed");
    let refused =
        "the Kubernetes API refused to change the metadata of ResourceGroup default/g: a rule";
    assert_eq!(world.message(&group), refused);
    assert_eq!(world.cluster.take_events()[0].1, refused);
    assert_eq!(
        world.requests(),
        [""; 0],
        "nothing is sent for what is not claimed"
    );
    world.cluster.refuse_metadata(false);
    world.pass(&group).await;
    assert_eq!(world.ready(&group), "True//Succeeded");
}

/// What the object says of itself fits, whatever Azure has of the resource.
#[tokio::test]
async fn a_status_that_is_too_large_says_how_the_object_is() {
    let (world, store) = World::with_store().await;
    let mut azure = world.azure.get(STORE).unwrap();
    azure["properties"]["endpoint"] = json!("x".repeat(3000));
    world.azure.set(STORE, azure);
    world.cluster.limit_status(2000);
    world.pass(&store).await;
    assert_eq!(world.ready(&store), "True//Succeeded");
    let status = world.cluster.status(&store);
    let members: Vec<&String> = status.as_object().unwrap().keys().collect();
    assert_eq!(members, ["conditions", "observedGeneration"]);
    assert!(
        world
            .message(&store)
            .ends_with("which Kubernetes refused: a rule")
    );
}
