//! Who else serves conversion: each replica keeps a Lease that says what it can convert.
//!
//! CRDs may only name versions that every replica behind the webhook's Service can convert. So a replica that
//! wants to change CRDs looks here whether others know other versions, and waits until they are gone: until their
//! Leases are deleted, or have not changed for long.

use std::collections::{BTreeMap, HashMap};
use std::time::Duration;

use armature_shapes::digest::short_digest;
use armature_shapes::kind::KindInfo;
use k8s_openapi::api::coordination::v1::{Lease, LeaseSpec};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kube::Client;
use kube::api::{Api, DeleteParams, ListParams};
use serde_json::json;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::lease::{Change, now, parameters};
use crate::error::message;

/// Label of these Leases.
const LABEL: &str = "armature.azure.com/serves";
const LABEL_VALUE: &str = "conversion";

/// Annotation with a digest of the versions that the replica converts.
const VERSIONS: &str = "armature.azure.com/versions";

/// A replica whose Lease has not changed for this long is gone.
const GONE_AFTER: Duration = Duration::from_secs(30);
const RENEW_EVERY: Duration = Duration::from_secs(10);

/// A replica cannot say that it is there.
#[derive(Debug, thiserror::Error)]
#[error("cannot announce this replica by Lease {lease}: {message}")]
pub struct AnnounceError {
    /// Namespace and name.
    lease: String,
    /// What the server said.
    message: String,
}

/// This replica among those that serve conversion.
#[derive(Clone)]
pub struct Replica {
    leases: Api<Lease>,
    namespace: String,
    name: String,
    versions: String,
}

impl Replica {
    /// A replica that converts these kinds. `host` is the start of its name.
    pub fn new(client: Client, namespace: &str, host: &str, kinds: &[&'static KindInfo]) -> Self {
        let id = uuid::Uuid::new_v4();
        Self {
            leases: Api::namespaced(client, namespace),
            namespace: namespace.to_owned(),
            name: format!("{}-conversion-{id}", host.to_lowercase()),
            versions: versions_digest(kinds),
        }
    }

    /// Says that this replica is there. To be called before anybody sends it objects.
    pub async fn announce(&self) -> Result<(), AnnounceError> {
        self.create().await.map_err(|error| AnnounceError {
            lease: format!("{}/{}", self.namespace, self.name),
            message: message(&error),
        })
    }

    /// Says so again and again until told to stop.
    pub async fn stay(&self, stop: CancellationToken) {
        let pause = || stop.run_until_cancelled(tokio::time::sleep(RENEW_EVERY));
        while pause().await.is_some() {
            if let Err(error) = self.renew().await {
                tracing::warn!(lease = self.name, %error, "the replica's Lease was not renewed");
            }
        }
    }

    /// Says that this replica is gone.
    pub async fn leave(&self) {
        if let Err(error) = delete(&self.leases, &self.name).await {
            tracing::warn!(lease = self.name, %error, "the replica's Lease was not deleted");
        }
    }

    async fn create(&self) -> kube::Result<()> {
        let created = self.leases.create(&parameters(), &self.lease()).await;
        created.map(drop)
    }

    async fn renew(&self) -> kube::Result<()> {
        let Some(mut lease) = self.leases.get_opt(&self.name).await? else {
            // Somebody took us for gone.
            return self.create().await;
        };
        lease.spec.get_or_insert_default().renew_time = Some(now());
        self.leases
            .replace(&self.name, &parameters(), &lease)
            .await
            .map(drop)
    }

    fn lease(&self) -> Lease {
        Lease {
            metadata: ObjectMeta {
                name: Some(self.name.clone()),
                labels: Some(BTreeMap::from([(LABEL.into(), LABEL_VALUE.into())])),
                annotations: Some(BTreeMap::from([(VERSIONS.into(), self.versions.clone())])),
                ..ObjectMeta::default()
            },
            spec: Some(LeaseSpec {
                holder_identity: Some(self.name.clone()),
                lease_duration_seconds: i32::try_from(GONE_AFTER.as_secs()).ok(),
                renew_time: Some(now()),
                ..LeaseSpec::default()
            }),
        }
    }
}

/// Replicas that convert other versions than this one, as seen over time.
#[derive(Default)]
pub struct Strangers {
    seen: HashMap<String, Change>,
}

impl Strangers {
    /// Names of the replicas that are there and convert other versions. The Leases of those that are gone
    /// without a word are removed.
    pub async fn present(&mut self, replica: &Replica) -> kube::Result<Vec<String>> {
        let labelled = ListParams::default().labels(&format!("{LABEL}={LABEL_VALUE}"));
        let leases = replica.leases.list(&labelled).await?.items;
        let mut present = Vec::new();
        for lease in leases {
            let name = lease.metadata.name.unwrap_or_default();
            let annotations = lease.metadata.annotations.unwrap_or_default();
            if annotations.get(VERSIONS) == Some(&replica.versions) {
                continue;
            }
            if self.is_gone(&name, lease.metadata.resource_version, Instant::now()) {
                tracing::info!(lease = name, "a replica is gone without a word");
                delete(&replica.leases, &name).await?;
            } else {
                present.push(name);
            }
        }
        Ok(present)
    }

    fn is_gone(&mut self, name: &str, version: Option<String>, now: Instant) -> bool {
        match self.seen.get(name) {
            Some(change) if change.led_to(version.as_ref()) => change.age(now) >= GONE_AFTER,
            _ => {
                self.seen
                    .insert(name.to_owned(), Change::seen(version, now));
                false
            }
        }
    }
}

async fn delete(leases: &Api<Lease>, name: &str) -> kube::Result<()> {
    leases
        .delete(name, &DeleteParams::default())
        .await
        .map(drop)
}

/// Digest of what is converted: the same for programs between which objects can go back and forth.
fn versions_digest(kinds: &[&'static KindInfo]) -> String {
    let mut kinds: Vec<_> = kinds
        .iter()
        .map(|kind| {
            let versions: Vec<_> = kind.versions.iter().map(|version| version.name).collect();
            json!([kind.group, kind.kind, kind.hub.storage_version, versions])
        })
        .collect();
    kinds.sort_by_key(ToString::to_string);
    short_digest(&json!(kinds))
}

#[cfg(test)]
mod tests {
    use armature_shapes::testing::gadget::MODEL;

    use super::*;

    #[test]
    fn a_replica_is_gone_when_its_lease_does_not_change_for_long() {
        let mut strangers = Strangers::default();
        let start = Instant::now();
        let rows = [
            (0, "1", false),
            (29, "1", false),
            (29, "2", false),
            (58, "2", false),
            (59, "2", true),
        ];
        for (seconds, version, expected) in rows {
            let now = start + Duration::from_secs(seconds);
            let gone = strangers.is_gone("a", Some(version.to_owned()), now);
            assert_eq!(gone, expected, "{seconds} s, version {version}");
        }
    }

    #[test]
    fn replicas_with_other_versions_are_told_apart() {
        assert_eq!(versions_digest(&[&MODEL]), versions_digest(&[&MODEL]));
        assert_ne!(versions_digest(&[&MODEL]), versions_digest(&[]));
    }
}
