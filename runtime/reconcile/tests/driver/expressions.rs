//! Exports by expression.

use armature_azure::Method;
use armature_reconcile::port::DataKind;

use super::*;

const REFUSED: &str = "False/Error/FailedWritingAdditionalKubernetesObjects";

/// A store with these exports, whose resource Azure has.
async fn store_with(world: &World, operator_spec: Value) -> ObjectKey {
    let azure = json!({
        "id": STORE,
        "properties": {"endpoint": "https://s", "capacity": 5},
    });
    world.azure.set(STORE, azure);
    world.store(json!({"capacity": 5, "operatorSpec": operator_spec}))
}

fn keys_of(world: &World) {
    let keys = json!({"keys": [{"keyName": "primary", "value": "hunter2"}]});
    let answer = response(200, &[], Some(keys));
    let list_keys = format!("{STORE}/listKeys");
    world.azure.script(Method::Post, &list_keys, answer);
}

#[tokio::test]
async fn texts_and_maps_are_written_beside_other_exports() {
    let world = World::with_group().await;
    let store = store_with(
        &world,
        json!({
            "configMaps": {"endpoint": {"name": "config", "key": "endpoint"}},
            "configMapExpressions": [
                {"name": "config", "key": "url", "value": "self.status.endpoint + '/' + self.metadata.name"},
                {"name": "config", "value": "{'size': string(self.spec.capacity), 'kind': self.kind}"},
                {"name": "other", "key": "version", "value": "self.apiVersion"},
            ],
        }),
    )
    .await;
    assert_eq!(world.pass(&store).await, Requeue::Sync);
    for (name, key, value) in [
        ("config", "endpoint", "https://s"),
        ("config", "url", "https://s/s"),
        ("config", "size", "5"),
        ("config", "kind", "Store"),
        ("other", "version", "toys.azure.com/v20200101"),
    ] {
        let written = world.cluster.data(DataKind::ConfigMap, name, key);
        assert_eq!(written.as_deref(), Some(value), "{name} {key}");
    }
    assert!(!world.requests().iter().any(|line| line.starts_with("POST")));

    // What has not changed is not written again.
    world.forget();
    assert_eq!(world.pass(&store).await, Requeue::Sync);
    let lines = world.journal.take();
    assert!(
        !lines.iter().any(|line| line.starts_with("export")),
        "{lines:?}"
    );
}

#[tokio::test]
async fn only_the_secrets_that_an_expression_uses_are_fetched() {
    let world = World::with_group().await;
    keys_of(&world);
    let value = "'host=' + self.status.endpoint + ';key=' + secret.primary";
    let labels = json!({"tier": "'a' + 'b'"});
    let expression =
        json!({"name": "connection", "key": "string", "value": value, "labels": labels});
    let store = store_with(&world, json!({"secretExpressions": [expression]})).await;
    assert_eq!(world.pass(&store).await, Requeue::Sync);
    let written = world.cluster.data(DataKind::Secret, "connection", "string");
    assert_eq!(written.as_deref(), Some("host=https://s;key=hunter2"));
    let requests = world.requests();
    let posts = requests.iter().filter(|line| line.starts_with("POST"));
    assert_eq!(posts.count(), 1, "{requests:?}");
}

#[tokio::test]
async fn a_wrong_export_is_refused_before_azure_hears_of_the_object() {
    let entry = |key: &str, value: &str| json!({"name": "config", "key": key, "value": value});
    let place = json!({"name": "config", "key": "url"});
    for (operator_spec, expected) in [
        (
            json!({"configMapExpressions": [entry("a", "'x'"), entry("b", "self.status.endpont")]}),
            "spec.operatorSpec.configMapExpressions[1].value: line 1, column 12: there is no field of StoreStatus \
             named endpont; did you mean endpoint?",
        ),
        (
            json!({"configMapExpressions": [entry("a", "secret.primary")]}),
            "spec.operatorSpec.configMapExpressions[0].value: line 1, column 7: secret can be used in \
             secretExpressions only",
        ),
        (
            json!({"secretExpressions": [entry("a", "self.spec.capacity")]}),
            "spec.operatorSpec.secretExpressions[0].value: line 1, column 10: the expression gives int, expected \
             string or map(string, string); write string(…)",
        ),
        (
            json!({"secretExpressions": [entry("", "'a'")]}),
            "spec.operatorSpec.secretExpressions[0].key: set it, because the expression gives one text",
        ),
        (
            json!({"secretExpressions": [entry("a", "{'a': 'b'}")]}),
            "spec.operatorSpec.secretExpressions[0].key: leave it out, because the expression gives a map and its \
             keys are used",
        ),
        (
            json!({"configMapExpressions": [
                {"name": "config", "key": "a", "value": "'x'", "labels": {"app": "{}"}},
            ]}),
            "spec.operatorSpec.configMapExpressions[0].labels.app: the expression gives a map, expected string",
        ),
        (
            json!({"configMaps": {"endpoint": place}, "configMapExpressions": [entry("url", "'x'")]}),
            "spec.operatorSpec.configMapExpressions[0] and spec.operatorSpec.configMaps.endpoint: both write key \
             url of the ConfigMap config; give one of them another key",
        ),
        (
            json!({"configMaps": {"endpoint": place, "region": place}}),
            "spec.operatorSpec.configMaps.region and spec.operatorSpec.configMaps.endpoint: both write key url of \
             the ConfigMap config; give one of them another key",
        ),
    ] {
        let world = World::with_group().await;
        let store = store_with(&world, operator_spec).await;
        assert_eq!(world.pass(&store).await, Requeue::Never, "{expected}");
        assert_eq!(world.ready(&store), REFUSED, "{expected}");
        assert_eq!(world.cluster.message(&store), expected);
        assert_eq!(world.requests(), [""; 0], "{expected}");
    }
}

/// What depends on values may be otherwise later: the rest is written, and it is tried again. What the manifest gets wrong
/// is not.
#[tokio::test]
async fn a_failing_expression_holds_nothing_up_and_shows_no_secret() {
    const LATER: &str = "False/Warning/FailedWritingAdditionalKubernetesObjects";
    for (key, value, expected, ready) in [
        (
            "a",
            "string(int(secret.primary))",
            "[0].value: line 1, column 11: the text is no such number",
            LATER,
        ),
        (
            "a",
            "self.status.provisioningState",
            "[0].value: the expression gives an empty text for key a",
            LATER,
        ),
        (
            "",
            "{'a': 'x', 'b': ''}",
            "[0].value: the expression gives an empty text for key b",
            LATER,
        ),
        (
            "",
            "{'a': 'x', 'b c': 'y'}",
            "[0]: a key in a Secret consists of letters",
            REFUSED,
        ),
        (
            "a",
            "secret.endpoint + secret.key",
            "cannot read some of the secrets of a Store",
            REFUSED,
        ),
    ] {
        let world = World::with_group().await;
        keys_of(&world);
        let good = json!({"name": "fine", "key": "z", "value": "'fine'"});
        let bad = json!({"name": "secret", "key": key, "value": value});
        let store = store_with(&world, json!({"secretExpressions": [bad, good]})).await;
        let requeue = match ready {
            LATER => Requeue::Backoff(RetryClass::Slow),
            _ => Requeue::Never,
        };
        assert_eq!(world.pass(&store).await, requeue, "{value}");
        assert_eq!(world.ready(&store), ready, "{value}");
        let message = world.cluster.message(&store);
        assert!(message.contains(expected), "{message}");
        assert!(!message.contains("hunter2"), "{message}");
        let written = world.cluster.data(DataKind::Secret, "fine", "z");
        let is_wrong = expected.contains("a key in a Secret");
        assert_eq!(written.is_some(), !is_wrong, "{value}");
    }
}

#[tokio::test]
async fn keys_that_two_expressions_make_up_are_refused_too() {
    let world = World::with_group().await;
    let map = json!({"name": "config", "value": "{'a': 'x', 'b': 'y'}"});
    let text = json!({"name": "config", "key": "b", "value": "'z'"});
    let store = store_with(&world, json!({"configMapExpressions": [text, map]})).await;
    assert_eq!(world.pass(&store).await, Requeue::Never);
    assert_eq!(
        world.cluster.message(&store),
        "spec.operatorSpec.configMapExpressions[1] and spec.operatorSpec.configMapExpressions[0]: both write key b \
         of the ConfigMap config; give one of them another key"
    );
}

/// Whoever writes a manifest would have any amount of work done at each look.
#[tokio::test]
async fn expressions_of_one_object_are_counted_and_share_what_they_may_take() {
    let world = World::with_group().await;
    let long = "[0,1,2,3,4,5,6,7,8,9]";
    let work = format!(
        "{long}.map(a, {long}.map(b, {long}.map(c, {long}.map(d, {long}.map(e, a))))).size() == 0 ? 'a' : 'b'"
    );
    let entries = |count: usize, value: &str| -> Vec<Value> {
        let entry = |at: usize| json!({"name": "config", "key": format!("k{at}"), "value": value});
        (0..count).map(entry).collect()
    };
    let store = store_with(&world, json!({"configMapExpressions": entries(201, "'x'")})).await;
    world.pass(&store).await;
    assert_eq!(world.ready(&store), REFUSED);
    let message = world.message(&store);
    assert!(
        message.contains("have 201 expressions") && message.contains("may have 200"),
        "{message}"
    );

    let labelled: Vec<Value> = entries(100, "'x'")
        .into_iter()
        .map(|mut entry| {
            entry["labels"] = json!({"a": "'b'"});
            entry["annotations"] = json!({"a": "'b'"});
            entry
        })
        .collect();
    world.store(json!({"capacity": 5, "operatorSpec": {"configMapExpressions": labelled}}));
    world.pass(&store).await;
    assert!(
        world.message(&store).contains("have 300 expressions"),
        "{}",
        world.message(&store)
    );

    world.store(
        json!({"capacity": 5, "operatorSpec": {"configMapExpressions": entries(200, "'x'")}}),
    );
    assert_eq!(world.pass(&store).await, Requeue::Sync);

    world.store(
        json!({"capacity": 5, "operatorSpec": {"configMapExpressions": entries(200, &work)}}),
    );
    world.pass(&store).await;
    assert!(
        world.message(&store).contains("together"),
        "{}",
        world.message(&store)
    );
}

/// An expression that takes much takes nothing from those that take little, wherever they stand; and the condition names it.
#[tokio::test]
async fn an_expression_that_takes_much_keeps_no_other_from_what_it_needs() {
    let world = World::with_group().await;
    let long = "[0,1,2,3,4,5,6,7,8,9]";
    let inner = format!("{long}.map(a, {long}.map(b, {long}.map(c, {long}.map(d, a)))).size()");
    let work = format!("{long}.map(z, {inner}).size() + {inner} == 0 ? 'a' : 'b'");
    let entry = |key: String, value: &str| json!({"name": "config", "key": key, "value": value});
    let heavy = (0..100).map(|at| entry(format!("heavy{at}"), &work));
    let light = (0..100).map(|at| entry(format!("light{at}"), "self.metadata.name + 'x'"));
    let entries: Vec<Value> = heavy.chain(light).collect();
    let store = store_with(&world, json!({"configMapExpressions": entries})).await;
    world.pass(&store).await;
    let message = world.message(&store);
    let written = |key: &str| world.cluster.data(DataKind::ConfigMap, "config", key);
    for at in 0..100 {
        let light = written(&format!("light{at}"));
        assert_eq!(light.as_deref(), Some("sx"), "{at}: {message}");
    }
    assert_eq!(written("heavy0").as_deref(), Some("b"), "{message}");
    assert_eq!(written("heavy99"), None);
    let spender = "spec.operatorSpec.configMapExpressions[0].value takes most of them";
    assert!(
        message.contains("4000000 steps together") && message.contains(spender),
        "{message}"
    );

    // As many as fit into the whole are written, although each takes more than its part.
    let (_, steps) = message.split_once(spender).unwrap();
    let digits = steps.trim_start_matches([',', ' ']);
    let digits: String = digits.chars().take_while(char::is_ascii_digit).collect();
    let fit = 4_000_000 / digits.parse::<usize>().unwrap();
    assert!(fit > 1, "{message}");
    for (count, is_written) in [(fit, true), (fit + 1, false)] {
        let entries: Vec<Value> = (0..count)
            .map(|at| entry(format!("all{at}"), &work))
            .collect();
        world.store(json!({"capacity": 5, "operatorSpec": {"configMapExpressions": entries}}));
        let is_sync = world.pass(&store).await == Requeue::Sync;
        assert_eq!(is_sync, is_written, "{count}: {}", world.message(&store));
    }

    // One alone that takes more than its part has all the same what the others leave.
    let mut entries = vec![entry("heavy0".to_owned(), &work)];
    entries.extend((0..100).map(|at| entry(format!("light{at}"), "'x'")));
    world.store(json!({"capacity": 5, "operatorSpec": {"configMapExpressions": entries}}));
    assert_eq!(
        world.pass(&store).await,
        Requeue::Sync,
        "{}",
        world.message(&store)
    );
}
