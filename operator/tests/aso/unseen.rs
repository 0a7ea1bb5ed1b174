//! Objects that no operator has looked at, made before, during and after a way back, and each touched once by somebody else: a
//! write has the API server store whatever the CRD says of the status then.

use std::collections::BTreeMap;

use kube::Client;
use kube::api::{Api, DynamicObject, Patch, PatchParams, PostParams};
use serde_json::{Value, json};

use super::{KINDS, api, dynamic, info};

/// Objects that no operator has looked at.
pub struct Unseen {
    client: Client,
    /// Their names, and the reason of the `Ready` that each has stored.
    made: BTreeMap<&'static str, Option<&'static str>>,
}

impl Unseen {
    /// None yet.
    pub fn new(client: &Client) -> Self {
        Self {
            client: client.clone(),
            made: BTreeMap::new(),
        }
    }

    fn api(&self) -> Api<DynamicObject> {
        api(&self.client, 1)
    }

    /// Makes one while no operator runs, and has it touched. `reason` is what the CRD has it say then.
    pub async fn make(&mut self, name: &'static str, reason: Option<&'static str>) {
        self.create(name).await;
        self.made.insert(name, reason);
    }

    async fn create(&self, name: &str) {
        let (kind, group, _) = KINDS[1];
        let object = json!({
            "apiVersion": format!("{group}/{}", info(1).hub.storage_version), "kind": kind,
            "metadata": {"name": name, "namespace": "shop"},
            "spec": {"azureName": name, "location": "westeurope", "originalVersion": "v20230101", "owner": {"name": "taken"}},
        });
        let api = self.api();
        api.create(&PostParams::default(), &dynamic(&object))
            .await
            .unwrap();
        let patch = json!({"metadata": {"annotations": {"somebody-else": "was here"}}});
        let patched = api
            .patch(name, &PatchParams::default(), &Patch::Merge(&patch))
            .await;
        patched.unwrap();
    }

    /// Reads the reason of each `Ready` as it is now: what was stored while the CRD gave it stays, and no more comes.
    pub async fn check(&self) {
        for (name, expected) in &self.made {
            let object = self.api().get(name).await.unwrap();
            let reason = object.data.pointer("/status/conditions/0/reason");
            assert_eq!(reason.and_then(Value::as_str), *expected, "{name}");
        }
    }

    /// Makes objects for as long as this goes on; what they say depends on the moment.
    pub async fn make_during<T>(&self, work: impl Future<Output = T>) -> T {
        let mut work = std::pin::pin!(work);
        for count in 0.. {
            let name = format!("during{count}");
            let make = async { self.create(&name).await };
            tokio::select! {
                done = &mut work => return done,
                () = make => {}
            }
        }
        unreachable!("the loop has no end")
    }
}
