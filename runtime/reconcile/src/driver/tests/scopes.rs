//! Namespaces whose objects may not be everywhere.

use crate::allowed_scopes::AllowedScopes;

use super::*;

const OTHER: &str = "/subscriptions/s-1/resourceGroups/other";

fn allow(world: &World, scopes: Option<&str>) {
    let said = scopes.map(|scopes| (names::ALLOWED_SCOPES.to_owned(), scopes.to_owned()));
    world
        .cluster
        .annotate_namespace("default", said.into_iter().collect());
}

fn is_refused(world: &World, key: &ObjectKey, what: &str) {
    assert_eq!(world.ready(key), "False/Error/ScopeNotAllowed", "{what}");
    let message = world.cluster.message(key);
    for part in [what, "namespace default", "detach-on-delete"] {
        assert!(message.contains(part), "{part}: {message}");
    }
    assert_eq!(world.requests(), [""; 0], "{what}");
}

#[tokio::test]
async fn nothing_is_sent_for_what_is_outside() {
    let peer = json!({"group": "toys.azure.com", "kind": "Store", "name": "peer"});
    for (scopes, spec, what) in [
        (OTHER, json!({"owner": {"name": "g"}}), "the resource: "),
        (
            STORE,
            json!({"owner": {"armId": GROUP}}),
            "spec.owner.armId: ",
        ),
        (STORE, json!({"owner": {"name": "g"}}), "spec.owner: "),
        (
            GROUP,
            json!({"owner": {"name": "g"}, "peerReference": {"armId": OTHER}}),
            "spec.peerReference: ",
        ),
        (
            GROUP,
            json!({"owner": {"name": "g"}, "peerId": OTHER}),
            "spec.peerId: ",
        ),
    ] {
        let world = World::with_group().await;
        allow(&world, Some(scopes));
        let store = world.cluster.apply(&kinds::STORE, "s", &spec);
        assert_eq!(world.pass(&store).await, Requeue::Never, "{what}");
        is_refused(&world, &store, what);
        let metadata = world.cluster.object(&store).unwrap().metadata;
        assert_eq!(metadata.finalizers, None, "{what}: it is not claimed");
        allow(&world, Some("/SUBSCRIPTIONS/s-1, /subscriptions/s-2"));
        assert_eq!(world.pass(&store).await, Requeue::Sync, "{what}");
    }

    // What a name stands for counts as well.
    let world = World::with_group().await;
    let elsewhere = json!({"owner": {"armId": OTHER}});
    let other = world.cluster.apply(&kinds::STORE, "peer", &elsewhere);
    assert_eq!(world.pass(&other).await, Requeue::Sync);
    world.forget();
    allow(&world, Some(GROUP));
    let store = world.store(json!({"peerReference": peer}));
    assert_eq!(world.pass(&store).await, Requeue::Never);
    is_refused(&world, &store, "spec.peerReference: ");
}

#[tokio::test]
async fn what_is_there_is_neither_read_nor_written_nor_deleted_any_more() {
    let (world, store) = World::with_store().await;
    allow(&world, Some(OTHER));
    assert_eq!(world.pass(&store).await, Requeue::Never);
    is_refused(&world, &store, STORE);
    for policy in ["skip", "manage"] {
        let cluster = &world.cluster;
        cluster.annotate(&store, names::RECONCILE_POLICY, Some(policy));
        world.pass(&store).await;
        is_refused(&world, &store, STORE);
    }
    world.cluster.delete(&store);
    world.pass(&store).await;
    assert_eq!(world.requests(), [""; 0]);
    assert_eq!(world.ready(&store), "False/Warning/ScopeNotAllowed");

    // The watch is late: a DELETE asks the server.
    allow(&world, None);
    let unseen = [(names::ALLOWED_SCOPES.to_owned(), OTHER.to_owned())];
    world
        .cluster
        .annotate_namespace_unseen("default", unseen.into());
    world.pass(&store).await;
    let requests = world.requests();
    assert!(
        requests.iter().all(|line| !line.starts_with("DELETE")),
        "{requests:?}"
    );

    let cluster = &world.cluster;
    cluster.annotate(&store, names::RECONCILE_POLICY, Some("detach-on-delete"));
    world.pass(&store).await;
    assert!(world.cluster.object(&store).is_none(), "it may go");
    assert!(world.azure.get(STORE).is_some(), "the resource stays");
}

#[tokio::test]
async fn an_empty_text_allows_nothing() {
    let (world, store) = World::with_store().await;
    for nothing in ["", "/", "*"] {
        allow(&world, Some(nothing));
        assert_eq!(world.pass(&store).await, Requeue::Never);
        assert_eq!(world.ready(&store), "False/Error/InvalidAnnotation");
        assert_eq!(world.requests(), [""; 0], "'{nothing}'");
    }
}

#[tokio::test]
async fn the_operators_default_holds_where_the_namespace_says_nothing() {
    let world = World::with_group().await;
    let mut reconciler = world.reconciler();
    reconciler.settings.default_scopes = Some(AllowedScopes::parse(OTHER).unwrap());
    let store = world.store(json!({}));
    assert_eq!(reconciler.reconcile(&store).await, Requeue::Never);
    is_refused(&world, &store, "the operator's setting allowed-scopes");
    allow(&world, Some(GROUP));
    assert_eq!(reconciler.reconcile(&store).await, Requeue::Sync);
}

/// Whoever was there first and may not be there any more does not keep others out.
#[tokio::test]
async fn who_is_refused_holds_nothing() {
    for (scopes, is_held) in [(GROUP, true), (OTHER, false)] {
        let (world, key) = World::with_store().await;
        let mut first = world.cluster.object(&key).unwrap();
        world.cluster.forget(&key);
        first.metadata.namespace = Some("elsewhere".to_owned());
        world.cluster.store(first);
        let said = [(names::ALLOWED_SCOPES.to_owned(), scopes.to_owned())];
        world.cluster.annotate_namespace("elsewhere", said.into());

        let same = json!({"owner": {"armId": GROUP}, "azureName": "s", "capacity": 7});
        let second = world.cluster.apply(&kinds::STORE, "second", &same);
        world.pass(&second).await;
        let told = world.cluster.take_events();
        let told = told
            .iter()
            .any(|(reason, _)| reason == "HeldByAnotherObject");
        assert_eq!(told, is_held, "{scopes}");
        assert_eq!(world.azure.take_bodies().is_empty(), is_held, "{scopes}");
    }
}
