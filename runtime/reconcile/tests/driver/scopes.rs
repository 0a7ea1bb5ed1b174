//! Namespaces whose objects may not be everywhere.

use armature_azure::Method;
use armature_reconcile::allowed_scopes::{AllowedScopes, Enforcement};
use armature_reconcile::extension::*;
use armature_reconcile::port::DataKind;
use armature_reconcile::signature::SIGNATURE;
use armature_shapes::resource::TypedObject;
use armature_shapes::testing::kinds::HubStore;
use async_trait::async_trait;

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

/// Where none is allowed, a namespace that says nothing may use no id; its own word opens it.
#[tokio::test]
async fn where_none_is_allowed_nothing_is_sent() {
    for on_namespace in [false, true] {
        let world = World::with_group().await;
        let mut reconciler = world.reconciler();
        match on_namespace {
            true => allow(&world, Some("none")),
            false => reconciler.settings.default_scopes = AllowedScopes::parse("none").ok(),
        }
        let store = world.store(json!({}));
        assert_eq!(reconciler.reconcile(&store).await, Requeue::Never);
        is_refused(&world, &store, "the resource: ");
        let message = world.cluster.message(&store);
        assert!(message.contains("may use no id at all"), "{message}");
        allow(&world, Some(GROUP));
        assert_eq!(reconciler.reconcile(&store).await, Requeue::Sync);
    }
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

/// An id as Azure writes it, of another team.
const PAYROLL: &str = "/subscriptions/00000000-0000-0000-0000-000000000001/resourceGroups/prod/providers/Microsoft.Toys/stores/payroll";

const BUILT_IN: &str =
    "/providers/Microsoft.Authorization/roleDefinitions/acdd72a7-3385-48ef-bd42-f606fba81ae7";

/// Nothing but the finished body shows these.
fn hidden_ids() -> Vec<(&'static str, Value)> {
    let config = json!({"name": "m", "key": "nickname"});
    let secret = json!({"name": "secret", "key": "password"});
    vec![
        ("properties.tier", json!({"tier": PAYROLL})),
        (
            "properties.tier",
            json!({"tier": format!(" ResourceId={PAYROLL};Database=x")}),
        ),
        ("zones[1]", json!({"zones": ["1", PAYROLL]})),
        ("properties.nickname", json!({"nicknameFromConfig": config})),
        ("properties.password", json!({"password": secret})),
    ]
}

async fn bounded() -> World {
    let world = World::with_group().await;
    let cluster = &world.cluster;
    cluster.put_data(DataKind::ConfigMap, "m", &[("nickname", PAYROLL)]);
    cluster.put_data(DataKind::Secret, "secret", &[("password", PAYROLL)]);
    allow(&world, Some(GROUP));
    world
}

#[tokio::test]
async fn an_id_anywhere_in_the_body_is_refused_before_it_is_sent() {
    for (path, spec) in hidden_ids() {
        let world = bounded().await;
        let store = world.store(spec.clone());
        assert_eq!(world.pass(&store).await, Requeue::Never, "{spec}");
        assert_eq!(world.ready(&store), "False/Error/ScopeNotAllowed", "{spec}");
        let message = world.cluster.message(&store);
        assert!(message.starts_with(&format!("{path}: ")), "{message}");
        let shows_it = message.contains("payroll");
        assert_eq!(shows_it, path != "properties.password", "{message}");
        assert!(world.azure.take_bodies().is_empty(), "{spec}");
        // Allowed, and built in.
        let team = format!("{GROUP}, {}", PAYROLL.trim_end_matches("/stores/payroll"));
        allow(&world, Some(&team));
        assert_eq!(world.pass(&store).await, Requeue::Sync, "{spec}");
    }
    for spec in [
        json!({"tier": BUILT_IN}),
        json!({"peerReference": {"armId": BUILT_IN}}),
    ] {
        let world = bounded().await;
        let store = world.store(spec);
        assert_eq!(world.pass(&store).await, Requeue::Sync);
    }
    // All places are told, and an id that only begins with the own one is none of ours.
    let world = bounded().await;
    let store = world.store(json!({"tier": PAYROLL, "zones": [PAYROLL, PAYROLL]}));
    world.pass(&store).await;
    let message = world.cluster.message(&store);
    assert!(message.contains("as well as what is at "), "{message}");
    let group = "/subscriptions/00000000-0000-0000-0000-000000000001/resourceGroups/g";
    for id in [
        format!("{group}/../prod/providers/Microsoft.Toys/stores/payroll"),
        format!("{group}/%2e%2e/prod"),
        format!("{BUILT_IN}\\..\\..\\..\\..{PAYROLL}"),
    ] {
        let world = bounded().await;
        allow(&world, Some(&format!("{GROUP}, {group}")));
        let store = world.store(json!({"tier": id}));
        world.pass(&store).await;
        assert_eq!(world.ready(&store), "False/Error/ScopeNotAllowed", "{id}");
    }
}

/// What the ids of children begin with is a note in the owner, which whoever edits the owner may write.
#[tokio::test]
async fn an_owner_lends_its_children_no_other_place() {
    let world = World::with_group().await;
    let group = world.group();
    let store = |id: &str| {
        let of_type = format!("{id}/providers/Microsoft.Toys/stores");
        format!("{GROUP}, {of_type}")
    };
    allow(&world, Some(&store(OTHER)));
    let cluster = &world.cluster;
    cluster.annotate(&group, names::CHILD_RESOURCE_ID_OVERRIDE, Some(OTHER));
    let store = world.store(json!({}));
    assert_eq!(world.pass(&store).await, Requeue::Never);
    is_refused(&world, &store, "spec.owner: ");
}

#[tokio::test]
async fn where_scopes_only_warn_an_id_in_the_body_is_sent_and_told() {
    for (path, spec) in hidden_ids() {
        let world = bounded().await;
        let mut reconciler = world.reconciler();
        reconciler.settings.scopes_enforcement = Enforcement::Warn;
        let store = world.store(spec);
        assert_eq!(reconciler.reconcile(&store).await, Requeue::Sync, "{path}");
        let events = world.cluster.take_events();
        let told = events
            .iter()
            .find(|(reason, _)| reason == "OutsideAllowedScopes");
        let (_, message) = told.unwrap_or_else(|| panic!("{path}: {events:?}"));
        assert!(message.contains("it is sent all the same"), "{message}");
        assert!(!message.contains("nothing is sent"), "{message}");
        // A look that sends nothing tells of nothing that was sent.
        world.clock.advance(3600);
        assert_eq!(reconciler.reconcile(&store).await, Requeue::Sync, "{path}");
        assert_eq!(world.cluster.take_events(), [], "{path}");
    }
    // A reference is refused as ever.
    let world = bounded().await;
    let mut reconciler = world.reconciler();
    reconciler.settings.scopes_enforcement = Enforcement::Warn;
    let store = world.store(json!({"peerReference": {"armId": OTHER}}));
    assert_eq!(reconciler.reconcile(&store).await, Requeue::Never);
}

/// Whoever writes the notes of an object may name any URL below the endpoint.
#[tokio::test]
async fn a_forged_operation_asks_for_nothing_outside() {
    for enforcement in [Enforcement::Enforce, Enforcement::Warn] {
        let (world, store) = World::with_store().await;
        allow(&world, Some(GROUP));
        let mut reconciler = world.reconciler();
        reconciler.settings.scopes_enforcement = enforcement;
        let url = format!("{OTHER}?api-version=2024-01-01");
        let token =
            json!({"type": "x", "token": {"type": "loc", "pollURL": url, "state": "InProgress"}});
        let token = token.to_string();
        for (name, value) in [
            (
                names::POLLER_RESUME_ID,
                Some("GenericClient.CreateOrUpdateByID"),
            ),
            (names::POLLER_RESUME_TOKEN, Some(token.as_str())),
            // Of an object that was there before signatures.
            (SIGNATURE, None),
        ] {
            world.cluster.annotate(&store, name, value);
        }
        reconciler.reconcile(&store).await;
        let asked = world.requests().iter().any(|line| line.contains(OTHER));
        assert_eq!(asked, enforcement == Enforcement::Warn, "{enforcement:?}");
    }
}

/// What an extension asks for is bound as well, unless it vouches for it.
#[tokio::test]
async fn extensions_ask_for_nothing_outside() {
    let url = "/subscriptions/s-1/providers/Microsoft.Toys/locations/w/deletedStores/s";
    for admits in [false, true] {
        let mut world = World::with_group().await;
        allow(&world, Some(GROUP));
        world.extensions = Registry::builder()
            .register_modifier(Asks { url, admits })
            .build()
            .unwrap();
        let store = world.store(json!({}));
        let requeue = world.pass(&store).await;
        let asked = world.requests().iter().any(|line| line.contains(url));
        assert_eq!(asked, admits);
        if !admits {
            assert_eq!(requeue, Requeue::Never);
            assert_eq!(world.ready(&store), "False/Error/ScopeNotAllowed");
        }
    }
}

struct Asks {
    url: &'static str,
    admits: bool,
}

#[async_trait]
impl ArmResourceModifier for Asks {
    type Hub = HubStore;

    async fn modify(
        &self,
        context: &Context,
        _: &TypedObject<HubStore>,
        body: Value,
        next: Next<'_, Value, Value>,
    ) -> Result<Value, ExtensionError> {
        if self.admits {
            context.arm().admit_path(Method::Get, self.url);
        }
        context.arm().get(self.url).await?;
        next.call_with(body).await
    }
}
