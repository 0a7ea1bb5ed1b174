//! Passes in which something takes too long.

use std::collections::BTreeMap;

use armature_azure::Method;
use armature_reconcile::driver::LONGEST_PASS;
use armature_reconcile::extension::{Context, ExtensionError, Next, SuccessfulCreationHandler};
use armature_shapes::resource::TypedObject;
use armature_shapes::testing::kinds::HubStore;
use async_trait::async_trait;
use tokio::time::timeout;

use super::*;

const HOUR: Duration = Duration::from_secs(60 * 60);

/// Another one is tried as late as this one ended, so that what hangs has half of a worker at most.
const LATER: Requeue = Requeue::BackoffAtLeast(RetryClass::Slow, LONGEST_PASS);

/// A pass, which ends.
async fn pass(world: &World, key: &ObjectKey) -> Requeue {
    let pass = timeout(HOUR, world.pass(key)).await;
    pass.expect("the pass ends by itself")
}

#[tokio::test(start_paused = true)]
async fn what_gets_no_answer_says_so_and_leaves_its_worker_to_others() {
    let (world, store) = World::with_store().await;
    world.azure.fall_silent(Method::Get, STORE);
    assert_eq!(pass(&world, &store).await, LATER);
    assert_eq!(world.ready(&store), "False/Warning/TimedOut");
    let message = "the pass was ended after 300 s, in the step 'read from Azure': answers were late, or did not come. It is tried again";
    assert_eq!(world.message(&store), message);
    assert_eq!(world.cluster.take_events()[0].1, message);
    assert_eq!(pass(&world, &store).await, Requeue::Sync);
    assert_eq!(world.ready(&store), "True//Succeeded");
}

/// A DELETE that is not waited for may arrive all the same: the transport has a limit for it.
#[tokio::test(start_paused = true)]
async fn a_write_is_given_the_time_that_it_takes() {
    let (world, store) = World::with_store().await;
    world.cluster.delete(&store);
    world
        .azure
        .delay(Method::Delete, STORE, 0, 2 * LONGEST_PASS);
    pass(&world, &store).await;
    assert!(world.cluster.object(&store).is_none());
}

/// What Azure made of a PUT is read and recorded, however long it takes.
#[tokio::test(start_paused = true)]
async fn once_something_was_sent_nothing_is_forgotten() {
    for (slow, before) in [(Method::Put, 0), (Method::Get, 1)] {
        let world = World::with_group().await;
        let store = world.store(json!({"capacity": 5}));
        world.azure.delay(slow, STORE, before, 2 * LONGEST_PASS);
        assert_eq!(pass(&world, &store).await, Requeue::Sync, "{slow}");
        assert_eq!(world.ready(&store), "True//Succeeded", "{slow}");
        let sent = ["GET", "PUT", "GET"].map(|method| format!("{method} {STORE}"));
        assert_eq!(world.requests(), sent, "{slow}");
        assert_eq!(pass(&world, &store).await, Requeue::Sync, "{slow}");
        assert_eq!(world.requests(), [format!("GET {STORE}")], "{slow}");
    }
}

/// Writes again and again, and each answer takes two minutes.
struct Restless(Arc<MemoryAzure>);

#[async_trait]
impl SuccessfulCreationHandler for Restless {
    type Hub = HubStore;

    async fn succeeded(
        &self,
        context: &Context,
        _: &TypedObject<HubStore>,
        _: Next<'_, BTreeMap<String, String>>,
    ) -> Result<BTreeMap<String, String>, ExtensionError> {
        let url = context.action_url("restart")?;
        let path = format!("{STORE}/restart");
        loop {
            let slow = Duration::from_secs(120);
            self.0.delay(Method::Post, &path, 0, slow);
            context.arm().post(&url, None).await.ok();
        }
    }
}

#[tokio::test(start_paused = true)]
async fn an_extension_that_writes_without_an_end_is_ended_between_two_writes() {
    let (mut world, store) = World::with_store().await;
    let restless = Restless(Arc::clone(&world.azure));
    world.extensions = Registry::builder()
        .register_success_handler(restless)
        .build()
        .expect("one");
    world.requests();
    assert!(matches!(
        pass(&world, &store).await,
        Requeue::BackoffAtLeast(RetryClass::Slow, after) if after.as_secs() == 360
    ));
    assert_eq!(world.ready(&store), "False/Warning/TimedOut");
    let posts = world.requests();
    let posts = posts.iter().filter(|line| line.starts_with("POST"));
    assert_eq!(posts.count(), 3, "the third was answered after six minutes");
}
