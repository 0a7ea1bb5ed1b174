//! Objects that stand for something else than a resource of Azure.

use armature_reconcile::port::DataKind;
use armature_reconcile::testing::{KEY_VALUE, KeyValue};

use super::*;

const KEY: &str = "team/e";

struct Values {
    world: World,
    remote: KeyValue,
    entry: ObjectKey,
}

impl Values {
    fn new(spec: &Value) -> Self {
        let world = World::new();
        let remote = KeyValue::new(world.journal.clone());
        let entry = world.cluster.apply(&kinds::ENTRY, "e", spec);
        world.forget();
        Self {
            world,
            remote,
            entry,
        }
    }

    fn edit(&self, spec: &Value) {
        self.world.cluster.apply(&kinds::ENTRY, "e", spec);
    }

    /// One pass of an operator that has just started.
    async fn pass(&self) -> Requeue {
        let reconciler = Reconciler {
            remotes: self
                .world
                .remotes()
                .with(KEY_VALUE, Arc::new(self.remote.clone())),
            ..self.world.reconciler()
        };
        reconciler.reconcile(&self.entry).await
    }

    /// What was asked of the remote so far, which is forgotten here. Of Azure nothing was.
    fn requests(&self) -> Vec<String> {
        let mut lines = self.world.journal.take();
        assert!(!lines.iter().any(|line| line.contains(" /")), "{lines:?}");
        lines.retain(|line| line.ends_with(KEY));
        lines
    }

    fn annotation(&self, name: &str) -> Option<String> {
        self.world.cluster.annotation(&self.entry, name)
    }
}

fn spec(capacity: i64) -> Value {
    let destination = json!({"name": "told", "key": "where"});
    json!({
        "capacity": capacity, "tier": "standard",
        "operatorSpec": {"configMaps": {"endpoint": destination}},
    })
}

#[tokio::test]
async fn a_remote_goes_through_claim_write_drift_edit_export_and_deletion_like_azure() {
    let values = Values::new(&spec(5));
    values.remote.take_looks(2);
    let again = seconds(3);
    assert_eq!(values.pass().await, again);
    assert_eq!(values.requests(), ["read team/e", "write team/e"]);
    assert_eq!(values.annotation(names::RESOURCE_ID).unwrap(), KEY);
    assert_eq!(values.pass().await, again);
    assert_eq!(values.requests(), ["follow team/e"]);
    assert_eq!(values.pass().await, Requeue::Sync);
    assert_eq!(values.requests(), ["follow team/e", "read team/e"]);
    assert_eq!(values.world.ready(&values.entry), "True//Succeeded");
    assert_eq!(values.annotation(names::POLLER_RESUME_TOKEN), None);
    let told = values
        .world
        .cluster
        .data(DataKind::ConfigMap, "told", "where");
    assert_eq!(told.unwrap(), "at team/e");

    // At rest it is read, and nothing else.
    assert_eq!(values.pass().await, Requeue::Sync);
    assert_eq!(values.requests(), ["read team/e"]);

    values.remote.take_looks(0);
    let mut changed = values.remote.get(KEY).unwrap();
    changed["properties"]["capacity"] = json!(7);
    values.remote.set(KEY, changed);
    values.world.cluster.take_events();
    assert_eq!(values.pass().await, Requeue::Sync);
    let events = values.world.cluster.take_events();
    assert!(
        events.iter().any(|(reason, _)| reason == "Drifted"),
        "{events:?}"
    );
    assert_eq!(values.remote.get(KEY).unwrap()["properties"]["capacity"], 5);

    let mut edited = spec(6);
    edited.as_object_mut().unwrap().shift_remove("tier");
    values.edit(&edited);
    assert_eq!(values.pass().await, Requeue::Sync);
    let value = values.remote.get(KEY).unwrap();
    assert_eq!(
        (
            &value["properties"]["capacity"],
            value["properties"].get("tier")
        ),
        (&json!(6), None)
    );

    values.remote.take_looks(1);
    values.world.cluster.delete(&values.entry);
    values.requests();
    assert_eq!(values.pass().await, again);
    assert_eq!(values.requests(), ["read team/e", "remove team/e"]);
    values.pass().await;
    assert!(values.world.cluster.object(&values.entry).is_none());
    assert_eq!(values.remote.get(KEY), None);
}

#[tokio::test]
async fn what_a_remote_says_is_what_the_condition_says() {
    let values = Values::new(&spec(5));
    values.remote.refuse(true);
    values.pass().await;
    assert_eq!(values.world.ready(&values.entry), "False/Warning/Full");
    values.remote.refuse(false);
    assert_eq!(values.pass().await, Requeue::Sync);
    assert_eq!(values.world.ready(&values.entry), "True//Succeeded");

    let mut named = spec(5);
    named["azureName"] = json!("no name");
    let refused = Values::new(&named);
    refused.pass().await;
    let message = refused.world.cluster.message(&refused.entry);
    assert_eq!(message, "spec.azureName: 'no name' must not have spaces");
}

#[tokio::test]
async fn a_remote_that_the_operator_does_not_know_is_named() {
    let values = Values::new(&spec(5));
    values.world.pass(&values.entry).await;
    let message = values.world.cluster.message(&values.entry);
    assert!(message.contains("Entry lives in 'key-value'"), "{message}");
    assert_eq!(values.requests(), [""; 0]);
}
