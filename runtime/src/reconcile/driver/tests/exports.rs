//! Values that objects want written to Secrets and config maps.

use super::*;
use crate::arm::Method;
use crate::reconcile::port::DataKind;

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
    assert_eq!(world.pass(&store).await, Requeue::Never);
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
    assert_eq!(world.pass(&store).await, Requeue::Never);
    let reason = "False/Error/FailedWritingAdditionalKubernetesObjects";
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
    assert_eq!(world.pass(&other).await, Requeue::Never);
    assert_eq!(world.ready(&other), reason);
    let message = world.cluster.message(&other);
    assert!(message.contains("belongs to Store s;"), "{message}");
    let kept = world.cluster.data(kind, "shared", "endpoint");
    assert_eq!(kept.as_deref(), Some("https://s"));
}
