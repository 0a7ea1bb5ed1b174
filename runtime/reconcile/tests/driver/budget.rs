//! Passes that find the budget of requests used up.

use armature_azure::Method;
use armature_azure::budget::{Account, Call, Limit, Limits, Sent, Sort, Urgency};

use super::*;

/// A budget with so many reads and writes, which come back slowly.
fn budget(reads: f64, writes: f64) -> Budget {
    let limit = |size| Limit {
        size,
        per_second: 0.1,
    };
    Budget::new(Limits {
        reads: limit(reads),
        writes: limit(writes),
        deletes: limit(1.0),
    })
}

fn is_put_off(requeue: Requeue) -> bool {
    matches!(requeue, Requeue::PutOff(_))
}

/// Somebody else takes what is left.
fn drain(world: &World, urgency: Urgency, sort: Sort) {
    let group = world
        .cluster
        .apply(&kinds::GROUP, "other", &json!({"location": "westus"}));
    let account = Account {
        subscription: "s-1".to_owned(),
        principal: format!("{:?}", armature_azure::CredentialKey::Global),
    };
    let call = Call {
        account: &account,
        object: &group,
        urgency,
        sort,
        sent: &Sent::default(),
    };
    while world.budget.take(&call, world.clock.now()).is_ok() {}
}

#[tokio::test]
async fn a_periodic_look_that_is_put_off_leaves_no_trace() {
    let (world, store) = World::with_store().await;
    drain(&world, Urgency::Foreground, Sort::Reads);
    let requeue = world.pass(&store).await;
    assert!(is_put_off(requeue), "{requeue:?}");
    assert_eq!(world.ready(&store), "True//Succeeded");
    assert_eq!(
        world.journal.take(),
        Vec::<String>::new(),
        "nothing is sent or written"
    );
    assert_eq!(world.cluster.take_events(), []);
}

#[tokio::test]
async fn where_somebody_waits_the_condition_says_why() {
    let mut world = World::with_group().await;
    world.budget = Arc::new(budget(20.0, 1.0));
    drain(&world, Urgency::Foreground, Sort::Writes);
    let store = world.store(json!({"capacity": 5}));
    let requeue = world.pass(&store).await;
    let Requeue::PutOff(wait) = requeue else {
        panic!("{requeue:?}");
    };
    assert_eq!(world.requests(), [format!("GET {STORE}")], "no PUT");
    assert_eq!(world.cluster.take_events(), [], "nothing has begun");
    assert_eq!(world.ready(&store), "False/Info/Reconciling");
    assert_eq!(
        world.cluster.message(&store),
        "waiting for the subscription's limit of requests to Azure"
    );
    world.clock.advance(wait.as_secs() as i64 + 1);
    assert_eq!(world.pass(&store).await, Requeue::Sync);
    assert_eq!(world.ready(&store), "True//Succeeded");
}

#[tokio::test]
async fn a_deletion_that_is_put_off_is_done_later() {
    let (mut world, store) = World::with_store().await;
    world.budget = Arc::new(budget(20.0, 5.0));
    drain(&world, Urgency::Foreground, Sort::Deletes);
    world.cluster.delete(&store);
    let requeue = world.pass(&store).await;
    let Requeue::PutOff(wait) = requeue else {
        panic!("{requeue:?}");
    };
    assert_eq!(world.ready(&store), "False/Info/Deleting");
    assert_eq!(world.cluster.take_events(), []);
    world.clock.advance(wait.as_secs() as i64 + 1);
    world.pass(&store).await;
    assert_eq!(
        world.cluster.object(&store).map(|object| object.key()),
        None
    );
}

#[tokio::test]
async fn what_a_write_made_is_always_read_and_recorded() {
    let mut world = World::with_group().await;
    // One read is for the look before the PUT; the one after it is sent though nothing is left.
    world.budget = Arc::new(budget(3.0, 1.0));
    drain(&world, Urgency::Background, Sort::Reads);
    let store = world.store(json!({"capacity": 5}));
    assert_eq!(world.pass(&store).await, Requeue::Sync);
    let requests = [
        format!("GET {STORE}"),
        format!("PUT {STORE}"),
        format!("GET {STORE}"),
    ];
    assert_eq!(world.requests(), requests);
    assert!(claim::came_true(&world.cluster.object(&store).unwrap()));
    let left = world.budget.headroom(world.clock.now());
    assert!(
        left.iter()
            .all(|one| one.sort == Sort::Deletes || one.left == 0),
        "{left:?}"
    );
}

#[tokio::test]
async fn arms_refusal_holds_back_every_object_of_the_subscription() {
    let (world, store) = World::with_store().await;
    let body = json!({"error": {"code": "SubscriptionRequestsThrottled", "message": "slow down"}});
    let refusal = response(429, &[("retry-after", "60")], Some(body));
    world.azure.script(Method::Get, STORE, refusal);
    let requeue = world.pass(&store).await;
    let Requeue::PutOff(wait) = requeue else {
        panic!("{requeue:?}");
    };
    assert_eq!(wait.as_secs(), 60);
    assert_eq!(world.ready(&store), "True//Succeeded");
    world.requests();
    let group = world.group();
    assert!(is_put_off(world.pass(&group).await));
    assert_eq!(world.requests(), Vec::<String>::new());
    world.clock.advance(61);
    assert_eq!(world.pass(&store).await, Requeue::Sync);
    assert_eq!(world.pass(&group).await, Requeue::Sync);
}
