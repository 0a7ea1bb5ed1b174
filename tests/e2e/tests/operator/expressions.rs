//! Exports by CEL expression, and whose Secrets and ConfigMaps may be written.

use std::collections::BTreeMap;

use armature_e2e::World;
use k8s_openapi::api::core::v1::{ConfigMap, Secret};
use kube::api::{Api, Patch, PatchParams};
use serde_json::{Value, json};

use crate::{SUBSCRIPTION, has_reason, is_ready, resource_group};

const ACCOUNT: &str = "
apiVersion: storage.azure.com/v1api20230101
kind: StorageAccount
metadata: {name: expressionssa, namespace: expressions}
spec:
  location: westeurope
  kind: StorageV2
  sku: {name: Standard_LRS}
  tags: {tag one: hello, three: four}
  owner: {name: expressions-rg}
  operatorSpec:
    secretExpressions:
    - name: connection
      key: string
      value: '\"AccountName=%s;AccountKey=%s\".format([self.metadata.name, secret.key1])'
      labels: {app: self.metadata.namespace}
    configMapExpressions:
    - name: facts
      key: blob
      value: self.status.primaryEndpoints.blob
    - name: facts
      key: subscription
      value: aso.parseResourceId(self.status.id).subscriptionId
    - name: facts
      value: 'self.spec.tags.transformMapEntry(k, v, {\"tag-\" + k.replace(\" \", \"-\"): v})'
";

const WRONG: &str = "
apiVersion: managedidentity.azure.com/v1api20230131
kind: UserAssignedIdentity
metadata: {name: expressions-wrong, namespace: expressions}
spec:
  location: westeurope
  owner: {name: expressions-rg}
  operatorSpec:
    configMapExpressions:
    - {name: wrong, key: a, value: self.status.clientIdd}
";

const GREEDY: &str = "
apiVersion: managedidentity.azure.com/v1api20230131
kind: UserAssignedIdentity
metadata: {name: expressions-greedy, namespace: expressions}
spec:
  location: westeurope
  owner: {name: expressions-rg}
  operatorSpec:
    configMapExpressions:
    - {name: facts, key: client, value: self.status.clientId}
";

#[test]
fn expressions_are_exported_and_what_is_not_ours_is_left_alone() {
    World::shared().run("expressions", async |world, objects| {
        let group = resource_group("expressions-rg", "expressions");
        for manifest in [group.as_str(), ACCOUNT, WRONG] {
            objects.apply(manifest).await.unwrap();
        }
        let account = ("StorageAccount", "expressionssa");
        objects.wait_ready(account.0, account.1, is_ready).await;

        let secrets: Api<Secret> = Api::namespaced(world.client().clone(), "expressions");
        let connection = secrets.get("connection").await.unwrap();
        assert_eq!(connection.metadata.labels.unwrap()["app"], "expressions");
        let text = &connection.data.unwrap()["string"].0;
        let text = String::from_utf8(text.clone()).unwrap();
        let key = text.strip_prefix("AccountName=expressionssa;AccountKey=");
        // 64 bytes in base64.
        assert_eq!(key.map(str::len), Some(88));

        let maps: Api<ConfigMap> = Api::namespaced(world.client().clone(), "expressions");
        let facts = maps.get("facts").await.unwrap();
        let owners = facts.metadata.owner_references.unwrap();
        assert_eq!(owners[0].name, "expressionssa");
        let blob = "https://expressionssa.blob.core.windows.net/";
        let subscription = SUBSCRIPTION.trim_start_matches("/subscriptions/");
        let expected = [
            ("blob", blob),
            ("subscription", subscription),
            ("tag-tag-one", "hello"),
            ("tag-three", "four"),
        ];
        let expected = expected.map(|(key, value)| (key.to_owned(), value.to_owned()));
        assert_eq!(facts.data.unwrap(), BTreeMap::from(expected));

        // An expression that does not fit the kind is told with its place.
        let reason = "FailedWritingAdditionalKubernetesObjects";
        let wrong = ("UserAssignedIdentity", "expressions-wrong");
        let (condition, _) = objects
            .wait_ready(wrong.0, wrong.1, has_reason(reason))
            .await;
        let message = condition["message"].as_str().unwrap();
        let place = "spec.operatorSpec.configMapExpressions[0].value: line 1, column 12: ";
        assert!(message.starts_with(place), "{message}");
        assert!(message.ends_with("did you mean clientId?"), "{message}");

        // A ConfigMap of another object is not touched.
        objects.apply(GREEDY).await.unwrap();
        let greedy = ("UserAssignedIdentity", "expressions-greedy");
        let (condition, _) = objects
            .wait_ready(greedy.0, greedy.1, has_reason(reason))
            .await;
        let message = condition["message"].as_str().unwrap();
        assert!(
            message.contains("belongs to StorageAccount expressionssa"),
            "{message}"
        );

        // A key that somebody adds to our ConfigMap stays when the expressions change.
        let added = Patch::Merge(json!({"data": {"mine": "kept"}}));
        let patched = maps.patch("facts", &PatchParams::default(), &added).await;
        patched.unwrap();
        let changed = ACCOUNT.replace("key: blob", "key: address");
        let generation = objects.apply(&changed).await.unwrap().metadata.generation;
        let is_current = |condition: &Value| {
            is_ready(condition) && condition["observedGeneration"] == json!(generation)
        };
        objects.wait_ready(account.0, account.1, is_current).await;
        let data = maps.get("facts").await.unwrap().data.unwrap();
        assert!(data.contains_key("address"), "{data:?}");
        assert_eq!(data["mine"], "kept");
        assert!(!data.contains_key("blob"), "{data:?}");
    });
}
