//! Kinds that Azure answers by HEAD alone: it says that something is there, and nothing of what it is like. So what is sent
//! goes by the object.

use armature_azure::Method;
use armature_shapes::kind::{
    HubInfo, KindInfo, NameRule, OwnerRule, Remote, Scope, Verbs, VersionInfo,
};
use armature_shapes::resource::Condition;
use armature_shapes::shape::{Rules, Shaped};
use armature_shapes::shaped;

use super::*;

shaped! {
    /// Status of what shows nothing.
    BadgeStatus {
        /// Conditions.
        conditions: Vec<Condition> = "conditions";
    }
}

static BADGE: KindInfo = KindInfo {
    group: "toys.azure.com",
    kind: "Badge",
    plural: "badges",
    category: "toys",
    remote: Remote::Arm {
        arm_type: "Microsoft.Toys/badges",
        scope: Scope::Extension,
    },
    owner: OwnerRule::Any,
    name: NameRule::Free(&Rules::NONE),
    versions: &[VersionInfo {
        verbs: Verbs {
            get: false,
            head: true,
            ..kinds::BOX.versions[0].verbs
        },
        status: BadgeStatus::SHAPE,
        ..kinds::BOX.versions[0]
    }],
    hub: HubInfo {
        storage_version: kinds::BOX.hub.storage_version,
        spec: kinds::BOX.hub.spec,
        status: BadgeStatus::SHAPE,
    },
    secrets: &[],
    config_maps: &[],
    errors: &[],
    azure_owned: &[],
    equal_values: &[],
};

const ID: &str = "/subscriptions/s-1/resourceGroups/g/providers/Microsoft.Toys/badges/a";

fn world() -> World {
    let mut world = World::new();
    let journal = world.journal.clone();
    world.cluster = Arc::new(MemoryCluster::with_kinds(journal, &[&BADGE]));
    world
}

fn apply(world: &World, size: i64) -> ObjectKey {
    let spec = json!({"owner": {"armId": GROUP}, "size": size});
    world.cluster.apply(&BADGE, "a", &spec)
}

/// Sizes that the next pass sends.
async fn sent(world: &World, badge: &ObjectKey) -> Vec<Value> {
    world.forget();
    assert_eq!(world.pass(badge).await, Requeue::Sync);
    assert_eq!(world.ready(badge), "True//Succeeded");
    let bodies = world.azure.take_bodies().into_iter();
    bodies
        .map(|mut body| body["properties"]["size"].take())
        .collect()
}

#[tokio::test]
async fn each_state_of_the_object_is_sent_once() {
    for is_there in [false, true] {
        let world = world();
        if is_there {
            world.azure.set(ID, json!({"id": ID}));
        }
        let badge = apply(&world, 3);
        assert_eq!(sent(&world, &badge).await, [3], "{is_there}");
        for _ in 0..2 {
            assert!(sent(&world, &badge).await.is_empty(), "{is_there}");
            assert_eq!(world.requests(), [format!("HEAD {ID}")]);
        }
        apply(&world, 4);
        assert_eq!(sent(&world, &badge).await, [4], "{is_there}");
        assert!(sent(&world, &badge).await.is_empty(), "{is_there}");
        // Somebody takes it away.
        world.azure.remove(ID);
        assert_eq!(sent(&world, &badge).await, [4], "{is_there}");
        // Another release, or a restored cluster: digests say nothing any more.
        world.cluster.lose_digest_key();
        assert!(sent(&world, &badge).await.is_empty(), "{is_there}");
        world.cluster.delete(&badge);
        assert_eq!(world.pass(&badge).await, Requeue::Never);
        assert!(world.azure.get(ID).is_none());
    }
}

/// Nothing that Azure shows tells whether a PUT without an answer arrived: it is sent until one is answered.
#[tokio::test]
async fn what_got_no_answer_is_sent_again_however_often() {
    for lost in 1..5 {
        let world = world();
        let badge = apply(&world, 3);
        assert_eq!(sent(&world, &badge).await, [3]);
        apply(&world, 4);
        for time in 0..lost {
            world.azure.lose_answer(Method::Put, ID);
            world.forget();
            world.pass(&badge).await;
            let puts = world.requests();
            let puts = puts.iter().filter(|line| line.starts_with("PUT"));
            assert_eq!(puts.count(), 1, "time {time} of {lost}");
            assert!(
                world.ready(&badge).starts_with("False/"),
                "time {time} of {lost}"
            );
            world.clock.advance(3600);
        }
        world.azure.take_bodies();
        assert_eq!(sent(&world, &badge).await, [4], "{lost}");
    }
}

/// A `provisioningState` is followed by GETs of the resource, and there are none.
#[tokio::test]
async fn a_state_that_no_get_could_follow_ends_with_the_put() {
    let world = world();
    let badge = apply(&world, 3);
    assert_eq!(sent(&world, &badge).await, [3]);
    let body = json!({"id": ID, "properties": {"size": 4, "provisioningState": "Creating"}});
    let answer = response(200, &[], Some(body));
    world.azure.script(Method::Put, ID, answer);
    world
        .azure
        .script(Method::Get, ID, error(405, "MethodNotAllowed"));
    apply(&world, 4);
    assert_eq!(sent(&world, &badge).await, [4]);
    for _ in 0..3 {
        assert!(sent(&world, &badge).await.is_empty());
    }
}
