//! What a pass would write, told before it is written.

use armature_reconcile::driver::foresight::Next;

use super::*;

async fn foreseen(world: &World, key: &ObjectKey) -> Next {
    let foresight = world.reconciler().foresee(key).await;
    foresight.expect("the port answers").next
}

fn assert_nothing_was_written(world: &World) {
    let requests = world.requests();
    assert!(
        requests.iter().all(|line| line.starts_with("GET")),
        "{requests:?}"
    );
}

#[tokio::test]
async fn each_step_is_told_and_none_is_taken() {
    let world = World::with_group().await;
    let spec = |capacity: i64| json!({"location": "westus", "capacity": capacity});
    let store = world.store(spec(5));
    let next = foreseen(&world, &store).await;
    let Next::Put {
        exists: false,
        changes,
        ..
    } = next
    else {
        panic!("{next:?}");
    };
    let paths: Vec<&str> = changes
        .differences
        .iter()
        .map(|one| one.path.as_str())
        .collect();
    assert!(paths.contains(&"properties.capacity"), "{paths:?}");
    assert_nothing_was_written(&world);

    world.pass(&store).await;
    world.forget();
    let next = foreseen(&world, &store).await;
    assert_eq!(
        next,
        Next::Nothing {
            adopts: false,
            only_reads: false
        }
    );

    world.store(spec(7));
    let next = foreseen(&world, &store).await;
    let Next::Put {
        exists: true,
        changes,
        ..
    } = next
    else {
        panic!("{next:?}");
    };
    assert_eq!(changes.differences.len(), 1, "{changes:?}");

    world.cluster.delete(&store);
    assert_eq!(foreseen(&world, &store).await, Next::Delete);
    assert_nothing_was_written(&world);
    assert!(world.azure.get(STORE).is_some());
}

#[tokio::test]
async fn what_exists_as_it_is_desired_is_adopted() {
    let world = World::with_group().await;
    let azure = json!({"id": STORE, "location": "westus", "properties": {"capacity": 5}});
    world.azure.set(STORE, azure);
    let store = world.store(json!({"location": "westus", "capacity": 5}));
    let next = foreseen(&world, &store).await;
    assert_eq!(
        next,
        Next::Nothing {
            adopts: true,
            only_reads: false
        }
    );
    assert_nothing_was_written(&world);
}
