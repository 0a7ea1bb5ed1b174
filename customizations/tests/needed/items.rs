//! Items that are resources of their own move between the list of a parent and an object, whichever is applied first.

use serde_json::{Value, json};

use crate::world::World;

const CLUSTER: &str = "containerservice ManagedCluster";
const POOL: &str = "containerservice ManagedClustersAgentPool";

fn pool(name: &str) -> Value {
    json!({"name": name, "mode": "User", "count": 1, "vmSize": "Standard_D2s_v5", "osType": "Linux"})
}

fn cluster(pools: &[Value]) -> Value {
    json!({"location": "westeurope", "owner": {"name": "shop"}, "dnsPrefix": "kube", "agentPoolProfiles": pools})
}

async fn world() -> World {
    let world = World::new(armature_customizations::registry().unwrap());
    world.group().await;
    world
}

/// Whether the object has an id by then, or waits for a credential.
#[tokio::test]
async fn a_pool_moves_into_an_object_of_its_own() {
    for is_claimed in [true, false] {
        moves_into_an_object(is_claimed).await;
    }
}

async fn moves_into_an_object(is_claimed: bool) {
    let world = world().await;
    let (system, user) = (pool("system"), pool("user"));
    let key = world
        .settle(CLUSTER, "kube", cluster(&[system.clone(), user.clone()]))
        .await;
    let mut spec = user.clone();
    spec["owner"] = json!({"name": "kube"});
    match is_claimed {
        true => world.settle(POOL, "user", spec).await,
        false => world.apply(POOL, "user", spec),
    };
    world.apply(CLUSTER, "kube", cluster(&[system]));
    let said = world.look(&key).await;
    assert!(said.ends_with("True//Succeeded: "), "{said}");
    let azure = world.azure.get(&world.id(&key)).unwrap();
    let pools = azure["properties"]["agentPoolProfiles"].as_array().unwrap();
    let names: Vec<_> = pools.iter().map(|pool| pool["name"].as_str()).collect();
    assert_eq!(names, [Some("system"), Some("user")]);
}

#[tokio::test]
async fn a_pool_moves_back_into_the_list_of_its_cluster() {
    let world = world().await;
    let (system, user) = (pool("system"), pool("user"));
    world
        .settle(CLUSTER, "kube", cluster(std::slice::from_ref(&system)))
        .await;
    let mut spec = user.clone();
    spec["owner"] = json!({"name": "kube"});
    let key = world.settle(POOL, "user", spec).await;
    world
        .settle(CLUSTER, "kube", cluster(&[system.clone(), user]))
        .await;
    world.cluster.delete(&key);
    assert_eq!(world.look(&key).await, "; gone: ");
    let events = world.cluster.take_events();
    let told = events.iter().any(|(_, text)| {
        text == "the resource is not deleted: ManagedCluster default/kube names it in properties.agentPoolProfiles, \
                 and manages it from now on"
    });
    assert!(told, "{events:?}");

    // What the cluster does not name is deleted.
    let mut spec = pool("other");
    spec["owner"] = json!({"name": "kube"});
    let key = world.settle(POOL, "other", spec).await;
    world.cluster.delete(&key);
    let said = world.look(&key).await;
    assert!(said.starts_with("DELETE "), "{said}");
}
