//! Creating: claim, owners, inputs, errors, policies.

use armature_azure::Method;
use armature_reconcile::port::DataKind;

use super::*;

/// ASO behaviour §1.3 step 4e: everything that the object needs to say is written before the PUT.
#[tokio::test]
async fn a_group_is_claimed_then_created_then_ready() {
    let world = World::new();
    let group = world.group();
    assert_eq!(world.pass(&group).await, Requeue::Sync);
    assert_eq!(
        world.journal.take(),
        [
            "metadata ResourceGroup default/g".to_owned(),
            format!("GET {GROUP}"),
            format!("PUT {GROUP}"),
            format!("GET {GROUP}"),
            "status ResourceGroup default/g".to_owned(),
        ]
    );
    assert_eq!(
        world.azure.take_bodies(),
        [json!({"name": "g", "location": "westus"})]
    );
    assert_eq!(world.ready(&group), "True//Succeeded");
    let status = world.cluster.status(&group);
    assert_eq!(status["id"], GROUP);
    assert_eq!(status["provisioningState"], "Succeeded");
    assert_eq!(status["observedGeneration"], 1);
    let annotation = |name| world.cluster.annotation(&group, name);
    assert_eq!(annotation(names::RESOURCE_ID).as_deref(), Some(GROUP));
    assert_eq!(
        annotation(names::OPERATOR_NAMESPACE).as_deref(),
        Some("armature-system")
    );
    // The claim foretold what Azure answered: there is nothing to be written about it.
    assert_eq!(annotation(names::BASELINE), None);
}

#[tokio::test]
async fn an_idle_pass_reads_once_and_writes_nothing() {
    let (world, store) = World::with_store().await;
    let data_reads = world.cluster.data_reads();
    assert_eq!(world.pass(&store).await, Requeue::Sync);
    assert_eq!(world.journal.take(), [format!("GET {STORE}")]);
    assert_eq!(world.cluster.take_events(), []);
    assert_eq!(world.cluster.data_reads(), data_reads);
}

#[tokio::test]
async fn a_child_waits_for_its_owner_and_belongs_to_it() {
    let world = World::new();
    let store = world.store(json!({"capacity": 5}));
    let fast = Requeue::Backoff(RetryClass::Fast);
    assert_eq!(world.pass(&store).await, fast);
    assert_eq!(world.ready(&store), "False/Warning/WaitingForOwner");
    let manager = world.cluster.annotation(&store, names::OPERATOR_NAMESPACE);
    assert_eq!(manager.as_deref(), Some("armature-system"));
    assert_eq!(
        world.cluster.condition(&store, "Reconciling"),
        "True//WaitingForOwner"
    );
    assert!(world.cluster.message(&store).contains("does not exist"));

    let group = world.group();
    assert_eq!(world.pass(&store).await, fast);
    assert!(world.cluster.message(&store).contains("not ready"));
    assert_eq!(world.requests(), Vec::<String>::new());

    world.pass(&group).await;
    assert_eq!(world.pass(&store).await, Requeue::Sync);
    let metadata = world.cluster.object(&store).unwrap().metadata;
    let owner = &metadata.owner_references.unwrap()[0];
    assert_eq!(
        (
            owner.kind.as_str(),
            owner.api_version.as_str(),
            owner.uid.as_str()
        ),
        (
            "ResourceGroup",
            "resources.azure.com/v20200101storage",
            "uid-g"
        )
    );
    let labels = metadata.labels.unwrap();
    assert_eq!(
        labels[names::OWNER_GROUP_KIND],
        "ResourceGroup.resources.azure.com"
    );
    assert_eq!(world.cluster.condition(&store, "Reconciling"), "");
}

/// ASO behaviour §3.2: nothing in the cluster to wait for, and no owner reference.
#[tokio::test]
async fn an_owner_by_arm_id_needs_no_object() {
    let world = World::new();
    let spec = json!({"owner": {"armId": GROUP}, "capacity": 5});
    let store = world.cluster.apply(&kinds::STORE, "s", &spec);
    assert_eq!(world.pass(&store).await, Requeue::Sync);
    assert!(world.azure.get(STORE).is_some());
    let metadata = world.cluster.object(&store).unwrap().metadata;
    assert_eq!(metadata.owner_references, None);

    let elsewhere = GROUP.replace("s-1", "s-2");
    let spec = json!({"owner": {"armId": elsewhere}});
    let other = world.cluster.apply(&kinds::STORE, "o", &spec);
    assert_eq!(world.pass(&other).await, Requeue::Never);
    assert_eq!(world.ready(&other), "False/Error/SubscriptionMismatch");
    assert_eq!(
        world.cluster.condition(&other, "Stalled"),
        "True//SubscriptionMismatch"
    );
}

#[tokio::test]
async fn inputs_must_exist_before_anything_is_claimed() {
    let world = World::with_group().await;
    let store = world.store(json!({
        "peerReference": {"group": "toys.azure.com", "kind": "Store", "name": "peer"},
        "password": {"name": "secret", "key": "password"},
        "nicknameFromConfig": {"name": "config", "key": "nickname"},
    }));
    let fast = Requeue::Backoff(RetryClass::Fast);
    for (reason, provide) in [
        ("ReferenceNotFound", "peer"),
        ("SecretNotFound", "secret"),
        ("SecretNotFound", "key"),
        ("ConfigMapNotFound", "config"),
    ] {
        assert_eq!(world.pass(&store).await, fast, "{provide}");
        assert_eq!(
            world.ready(&store),
            format!("False/Warning/{reason}"),
            "{provide}"
        );
        let finalizers = world.cluster.object(&store).unwrap().metadata.finalizers;
        assert_eq!(finalizers, None, "{provide}");
        match provide {
            "peer" => {
                let spec = json!({"owner": {"name": "g"}});
                let peer = world.cluster.apply(&kinds::STORE, "peer", &spec);
                assert_eq!(world.pass(&peer).await, Requeue::Sync);
                world.forget();
            }
            "secret" => world
                .cluster
                .put_data(DataKind::Secret, "secret", &[("other", "x")]),
            "key" => world
                .cluster
                .put_data(DataKind::Secret, "secret", &[("password", "hunter2")]),
            _ => world
                .cluster
                .put_data(DataKind::ConfigMap, "config", &[("nickname", "nick")]),
        }
    }
    assert_eq!(world.pass(&store).await, Requeue::Sync);
    let properties = &world.azure.take_bodies()[0]["properties"];
    assert_eq!(
        properties["peerId"],
        STORE.replace("stores/s", "stores/peer")
    );
    assert_eq!(properties["password"], "hunter2");
    assert_eq!(properties["nickname"], "nick");
}

/// ASO behaviour §1.7: codes and HTTP status decide, Azure's request id is in the message.
#[tokio::test]
async fn errors_are_classified_and_named() {
    let rows = [
        (
            error(409, "Conflict"),
            "False/Warning/Conflict",
            Requeue::Backoff(RetryClass::Slow),
        ),
        (
            error(400, "BadRequest"),
            "False/Warning/BadRequest",
            Requeue::Backoff(RetryClass::VerySlow),
        ),
        (
            error(400, "LocationRequired"),
            "False/Error/LocationRequired",
            Requeue::Never,
        ),
        (
            response(
                429,
                &[("retry-after", "17")],
                Some(json!({"error": {"code": "TooManyRequests", "message": "slow down"}})),
            ),
            "False/Warning/TooManyRequests",
            Requeue::BackoffAtLeast(RetryClass::Slow, Duration::from_secs(17)),
        ),
        (
            error(404, "ResourceGroupNotFound"),
            "False/Warning/ResourceGroupNotFound",
            Requeue::Backoff(RetryClass::Slow),
        ),
    ];
    for (answer, ready, requeue) in rows {
        let world = World::with_group().await;
        let store = world.store(json!({"capacity": 5}));
        let named = answer.header("x-ms-request-id").is_some();
        world.azure.script(Method::Put, STORE, answer);
        assert_eq!(world.pass(&store).await, requeue, "{ready}");
        assert_eq!(world.ready(&store), ready);
        assert_eq!(
            world.cluster.message(&store).contains("request-1"),
            named,
            "{ready}"
        );
        let events = world.cluster.take_events();
        assert_eq!(events.last().unwrap().0, "CreateOrUpdateActionError");
        if requeue != Requeue::Never {
            assert_eq!(world.pass(&store).await, Requeue::Sync, "{ready}");
            assert_eq!(world.ready(&store), "True//Succeeded");
        }
    }
}

#[tokio::test]
async fn skip_reads_and_leaves_azure_alone() {
    let world = World::with_group().await;
    let store = world.store(json!({"capacity": 5}));
    world
        .cluster
        .annotate(&store, names::RECONCILE_POLICY, Some("skip"));
    assert_eq!(world.pass(&store).await, Requeue::Backoff(RetryClass::Slow));
    assert_eq!(world.ready(&store), "False/Warning/AzureResourceNotFound");
    world
        .azure
        .set(STORE, json!({"id": STORE, "properties": {"capacity": 9}}));
    assert_eq!(world.pass(&store).await, Requeue::Sync);
    assert_eq!(world.ready(&store), "True//Succeeded");
    assert_eq!(world.cluster.status(&store)["capacity"], 9);
    assert_eq!(world.azure.take_bodies(), Vec::<Value>::new());
}

#[tokio::test]
async fn a_namespace_can_set_the_policy() {
    let world = World::with_group().await;
    let store = world.store(json!({"capacity": 5}));
    let policy = [(names::RECONCILE_POLICY.to_owned(), "skip".to_owned())];
    world.cluster.annotate_namespace("default", policy.into());
    assert_eq!(world.pass(&store).await, Requeue::Backoff(RetryClass::Slow));
    world
        .cluster
        .annotate(&store, names::RECONCILE_POLICY, Some("manage"));
    assert_eq!(world.pass(&store).await, Requeue::Sync);
}

#[tokio::test]
async fn another_operators_object_is_left_alone() {
    let world = World::with_group().await;
    let store = world.store(json!({"capacity": 5}));
    world
        .cluster
        .annotate(&store, names::OPERATOR_NAMESPACE, Some("elsewhere"));
    assert_eq!(world.pass(&store).await, Requeue::Never);
    assert_eq!(world.journal.take(), Vec::<String>::new());
    assert_eq!(world.cluster.take_events()[0].0, "Overlap");
}

#[tokio::test]
async fn status_values_are_exported() {
    let world = World::with_group().await;
    let destination = json!({"name": "config", "key": "endpoint"});
    let spec = json!({"operatorSpec": {"configMaps": {"endpoint": destination}}});
    let store = world.store(spec);
    let azure = json!({"id": STORE, "properties": {"endpoint": "https://s"}});
    world.azure.set(STORE, azure);
    assert_eq!(world.pass(&store).await, Requeue::Sync);
    let value = world
        .cluster
        .data(DataKind::ConfigMap, "config", "endpoint");
    assert_eq!(value.as_deref(), Some("https://s"));
}

#[tokio::test]
async fn a_credential_can_be_named_but_only_in_the_namespace() {
    let world = World::with_group().await;
    let store = world.store(json!({"capacity": 5}));
    for name in ["other/secret", "", "..", "a?x", "a%2fb", "Secret", "-a"] {
        world
            .cluster
            .annotate(&store, names::CREDENTIAL_FROM, Some(name));
        assert_eq!(world.pass(&store).await, Requeue::Never, "{name}");
        assert_eq!(world.ready(&store), "False/Error/Failed", "{name}");
    }
    world
        .cluster
        .annotate(&store, names::CREDENTIAL_FROM, Some("secret"));
    assert_eq!(world.pass(&store).await, Requeue::Sync);
    let events = world.cluster.take_events();
    assert!(events.iter().any(|(reason, _)| reason == "CredentialFrom"));
}

/// Two events for the life of an object are enough: what is made, and with what.
#[tokio::test]
async fn the_event_of_a_first_put_names_the_credential_of_the_namespace() {
    let world = World::new();
    let secret = names::NAMESPACE_CREDENTIAL;
    world.cluster.put_data(DataKind::Secret, secret, &[]);
    let told = |events: Vec<(String, String)>| {
        let named = events.into_iter();
        let named = named.filter(|(_, message)| message.contains(secret));
        named.map(|(reason, _)| reason).collect::<Vec<_>>()
    };
    let group = world.group();
    assert_eq!(world.pass(&group).await, Requeue::Sync);
    let events = world.cluster.take_events();
    assert_eq!(events.len(), 1, "{events:?}");
    assert_eq!(told(events), ["BeginCreateOrUpdate"]);

    // Nothing is sent, and the credential is told of all the same.
    let body = json!({"id": STORE, "properties": {"capacity": 5}});
    world.azure.set(STORE, body);
    let store = world.store(json!({"capacity": 5}));
    assert_eq!(world.pass(&store).await, Requeue::Sync);
    assert_eq!(told(world.cluster.take_events()), ["CredentialFrom"]);
    world.store(json!({"capacity": 6}));
    assert_eq!(world.pass(&store).await, Requeue::Sync);
    assert_eq!(told(world.cluster.take_events()), [""; 0]);
}

/// ASO behaviour §1.7.
#[tokio::test]
async fn a_provider_that_the_subscription_lacks_is_registered() {
    let world = World::with_group().await;
    let store = world.store(json!({"capacity": 5}));
    let refusal = error(409, "MissingSubscriptionRegistration");
    world.azure.script(Method::Put, STORE, refusal);
    let register = "/subscriptions/s-1/providers/Microsoft.Toys/register";
    world
        .azure
        .script(Method::Post, register, response(200, &[], Some(json!({}))));
    assert_eq!(world.pass(&store).await, Requeue::Backoff(RetryClass::Slow));
    assert_eq!(
        world.requests().last().unwrap(),
        &format!("POST {register}")
    );
    assert_eq!(world.pass(&store).await, Requeue::Sync);
}

/// Nothing may be asked of Azure, and nothing given up, on an object that makes no sense.
#[tokio::test]
async fn an_object_that_cannot_be_read_says_so() {
    let (world, store) = World::with_store().await;
    world
        .cluster
        .annotate(&store, names::RESOURCE_ID, Some("nonsense"));
    world.cluster.delete(&store);
    assert_eq!(world.pass(&store).await, Requeue::Never);
    assert_eq!(world.ready(&store), "False/Error/Failed");
    assert!(world.cluster.message(&store).contains(names::RESOURCE_ID));
    assert_eq!(world.requests(), Vec::<String>::new());
    assert!(world.cluster.object(&store).is_some());
}
