//! Values that objects want written to Secrets and config maps.

use armature_azure::Method;
use armature_reconcile::port::DataKind;

use super::*;

const LATER: Requeue = Requeue::Backoff(RetryClass::Slow);

#[tokio::test]
async fn secrets_of_rows_need_no_extension_and_one_call() {
    let world = World::with_group().await;
    let place = |key: &str| json!({"name": "secret", "key": key});
    let store = world.store(json!({"operatorSpec": {"secrets": {
        "primary": place("a"), "endpoint": place("b"), "subscription": place("c"),
    }}}));
    let azure = json!({"id": STORE, "properties": {"endpoint": "https://s"}});
    world.azure.set(STORE, azure);
    let list_keys = format!("{STORE}/listKeys");
    let keys = json!({"keys": [{"keyName": "primary", "value": "hunter2"}]});
    let answer = response(200, &[], Some(keys));
    world.azure.script(Method::Post, &list_keys, answer);
    assert_eq!(world.pass(&store).await, Requeue::Sync);
    for (key, value) in [("a", "hunter2"), ("b", "https://s"), ("c", "s-1")] {
        let written = world.cluster.data(DataKind::Secret, "secret", key);
        assert_eq!(written.as_deref(), Some(value), "{key}");
    }
    let requests = world.requests();
    let posts = requests.iter().filter(|line| line.starts_with("POST"));
    assert_eq!(posts.count(), 1, "{requests:?}");
}

#[tokio::test]
async fn no_action_is_called_when_no_key_needs_it() {
    let world = World::with_group().await;
    let place = json!({"name": "secret", "key": "endpoint"});
    let store = world.store(json!({"operatorSpec": {"secrets": {"endpoint": place}}}));
    let azure = json!({"id": STORE, "properties": {"endpoint": "https://s"}});
    world.azure.set(STORE, azure);
    assert_eq!(world.pass(&store).await, Requeue::Sync);
    let requests = world.requests();
    assert!(
        !requests.iter().any(|line| line.starts_with("POST")),
        "{requests:?}"
    );
}

#[tokio::test]
async fn secrets_that_cannot_be_had_are_named_without_their_values() {
    let world = World::with_group().await;
    let place = json!({"name": "secret", "key": "primary"});
    let store = world.store(json!({"operatorSpec": {"secrets": {"primary": place}}}));
    world.azure.set(STORE, json!({"id": STORE}));
    let list_keys = format!("{STORE}/listKeys");
    let keys = json!({"keys": [{"keyName": "secondary", "value": "hunter2"}]});
    let answer = response(200, &[], Some(keys));
    world.azure.script(Method::Post, &list_keys, answer);
    assert_eq!(world.pass(&store).await, LATER);
    let message = world.cluster.message(&store);
    assert!(
        message.contains("spec.operatorSpec.secrets.primary: Azure gives no value"),
        "{message}"
    );
    assert!(!message.contains("hunter2"), "{message}");

    let place = json!({"name": "secret", "key": "key"});
    world.store(json!({"operatorSpec": {"secrets": {"key": place}}}));
    assert_eq!(world.pass(&store).await, Requeue::Never);
    let message = world.cluster.message(&store);
    assert!(
        message.contains("cannot read some of the secrets"),
        "{message}"
    );
}

#[tokio::test]
async fn what_belongs_to_others_is_never_overwritten() {
    let world = World::with_group().await;
    let azure = json!({"id": STORE, "properties": {"endpoint": "https://s"}});
    world.azure.set(STORE, azure);
    let place = json!({"name": "shared", "key": "endpoint"});
    let spec = json!({"operatorSpec": {"configMaps": {"endpoint": place}}});
    let (kind, mine) = (DataKind::ConfigMap, [("endpoint", "mine")]);

    // Made by a user.
    world.cluster.put_data(kind, "shared", &mine);
    let store = world.store(spec.clone());
    assert_eq!(world.pass(&store).await, LATER);
    let reason = "False/Warning/FailedWritingAdditionalKubernetesObjects";
    assert_eq!(world.ready(&store), reason);
    assert_eq!(
        world.cluster.message(&store),
        "spec.operatorSpec.configMaps.endpoint: the ConfigMap shared exists and was not made for this object; \
         choose another name, or delete it"
    );
    let kept = world.cluster.data(kind, "shared", "endpoint");
    assert_eq!(kept.as_deref(), Some("mine"));

    // Made for another object.
    world.cluster.remove_data(kind, "shared");
    assert_eq!(world.pass(&store).await, Requeue::Sync);
    let mut other = spec;
    other["owner"] = json!({"name": "g"});
    let other = world.cluster.apply(&kinds::STORE, "t", &other);
    let id = format!("{GROUP}/providers/Microsoft.Toys/stores/t");
    let azure = json!({"id": id, "properties": {"endpoint": "https://t"}});
    world.azure.set(&id, azure);
    assert_eq!(world.pass(&other).await, LATER);
    assert_eq!(world.ready(&other), reason);
    let message = world.cluster.message(&other);
    assert!(message.contains("belongs to Store s;"), "{message}");
    let kept = world.cluster.data(kind, "shared", "endpoint");
    assert_eq!(kept.as_deref(), Some("https://s"));
}

/// A store that Azure has without an endpoint, and that wants it written.
async fn without_endpoint(operator_spec: Value) -> (World, ObjectKey) {
    let world = World::with_group().await;
    world.azure.set(STORE, json!({"id": STORE}));
    let store = world.store(json!({"operatorSpec": operator_spec}));
    (world, store)
}

fn has_endpoint(world: &World, endpoint: &str) {
    let azure = json!({"id": STORE, "properties": {"endpoint": endpoint}});
    world.azure.set(STORE, azure);
}

#[tokio::test]
async fn one_that_cannot_be_written_does_not_hold_up_the_others() {
    let place = |name: &str, key: &str| json!({"name": name, "key": key});
    let (world, store) = without_endpoint(json!({
        "secrets": {"endpoint": place("missing", "e"), "subscription": place("fine", "s")},
        "configMaps": {"endpoint": place("missing", "e")},
        "configMapExpressions": [
            {"name": "theirs", "key": "k", "value": "'x'"},
            {"name": "fine", "key": "k", "value": "'y'"},
        ],
    }))
    .await;
    world
        .cluster
        .put_data(DataKind::ConfigMap, "theirs", &[("k", "theirs")]);
    assert_eq!(world.pass(&store).await, LATER);
    for (kind, name, key, expected) in [
        (DataKind::Secret, "fine", "s", Some("s-1")),
        (DataKind::ConfigMap, "fine", "k", Some("y")),
        (DataKind::ConfigMap, "theirs", "k", Some("theirs")),
        (DataKind::Secret, "missing", "e", None),
    ] {
        let found = world.cluster.data(kind, name, key);
        assert_eq!(found.as_deref(), expected, "{kind} {name}");
    }
    let message = world.cluster.message(&store);
    for part in [
        "spec.operatorSpec.secrets.endpoint: Azure gives no value for it",
        "spec.operatorSpec.configMaps.endpoint: Azure gives no value for it",
        "spec.operatorSpec.configMapExpressions[0]: the ConfigMap theirs exists",
    ] {
        assert!(message.contains(part), "{part} in {message}");
    }

    // What stood in the way goes.
    world.cluster.remove_data(DataKind::ConfigMap, "theirs");
    has_endpoint(&world, "https://s");
    assert_eq!(world.pass(&store).await, Requeue::Sync);
    assert_eq!(world.ready(&store), "True//Succeeded");
    let written = world.cluster.data(DataKind::ConfigMap, "theirs", "k");
    assert_eq!(written.as_deref(), Some("x"));
}

/// What was written before stays while Azure does not have it: somebody may use it.
#[tokio::test]
async fn a_value_that_azure_does_not_have_now_is_not_taken_away() {
    let place = |key: &str| json!({"name": "all", "key": key});
    let (world, store) = without_endpoint(json!({
        "configMaps": {"endpoint": place("e")},
        "configMapExpressions": [
            {"name": "all", "key": "size", "value": "string(self.spec.capacity)"},
            {"name": "all", "value": "{'host': self.status.endpoint}"},
        ],
    }))
    .await;
    let data = |key: &str| world.cluster.data(DataKind::ConfigMap, "all", key);
    has_endpoint(&world, "https://s");
    assert_eq!(world.pass(&store).await, Requeue::Sync);
    assert_eq!(data("host").as_deref(), Some("https://s"));

    world
        .azure
        .set(STORE, json!({"id": STORE, "properties": {"capacity": 7}}));
    assert_eq!(world.pass(&store).await, LATER);
    for (key, expected) in [("e", "https://s"), ("host", "https://s"), ("size", "0")] {
        assert_eq!(data(key).as_deref(), Some(expected), "{key}");
    }
}

/// An answer of Azure about one value does not hold up those that need no such answer.
#[tokio::test]
async fn where_azure_refuses_the_keys_the_rest_is_written() {
    let place = |name: &str| json!({"name": name, "key": "k"});
    let (world, store) = without_endpoint(json!({
        "secrets": {"primary": place("keys")},
        "configMapExpressions": [{"name": "facts", "key": "k", "value": "self.metadata.name"}],
    }))
    .await;
    let list_keys = format!("{STORE}/listKeys");
    let refused = error(403, "AuthorizationFailed");
    world.azure.script(Method::Post, &list_keys, refused);
    assert_eq!(world.pass(&store).await, LATER);
    assert_eq!(world.ready(&store), "False/Warning/AuthorizationFailed");
    let written = world.cluster.data(DataKind::ConfigMap, "facts", "k");
    assert_eq!(written.as_deref(), Some("s"));
    assert_eq!(world.cluster.data(DataKind::Secret, "keys", "k"), None);
}
