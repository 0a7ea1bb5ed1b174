//! Storage version migration: what earlier releases stored is written once more, unchanged, so that the API server
//! stores it at the storage version of now. Then the CRD forgets the versions of before.
//!
//! The write is an empty patch. The API server reads the object, whatever version it is stored at, and stores it at
//! the version of now; where that makes no difference it writes nothing and tells nobody. Generation, labels and
//! annotations stay, so whoever manages the object does not reconcile it for that. What somebody writes in the
//! meantime is stored at the version of now anyway, so no object is missed and none is overwritten.

use std::future::ready;
use std::time::Duration;

use armature_engine::crd::name;
use armature_reconcile::port::KubernetesError;
use armature_shapes::resource::{Kind, ObjectKey};
use futures::{StreamExt, stream};
use kube::api::{Api, ListParams, Patch};
use kube::core::{ObjectList, Request};
use kube::{Client, Resource};
use serde_json::json;
use tokio::time::{Instant, sleep, sleep_until};

use super::installed::InstalledCrd;
use crate::cluster::port::patch_parameters;
use crate::error::{message, request};
use crate::stored::item::Item;
use crate::stored::object::StoredObject;

/// Objects in one page, of which only names are kept.
const PAGE: u32 = 100;

/// Shortest time for a page: 50 objects per second, so that the API server has time for others.
const PAGE_TIME: Duration = Duration::from_secs(2);

/// Objects that are written at the same time.
const CONCURRENT_WRITES: usize = 4;

/// How often a request is sent. What keeps it from succeeding is often short: a webhook that restarts, or an API server
/// that has just taken in the CRD.
const ATTEMPTS: usize = 5;
const ATTEMPT_PAUSE: Duration = Duration::from_secs(2);

/// Objects that could not be written after which the others are left for the next time: older versions stay anyway.
const MOST_REFUSED: usize = 10;

/// What became of the versions of before.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Migrated {
    /// The CRD names the storage version alone.
    Done {
        /// Objects that were written.
        objects: usize,
        /// Versions that the CRD no longer names.
        dropped: Vec<String>,
    },
    /// There is nothing to do, or it is not ours to do.
    NotNeeded,
    /// We may not list the objects of the whole cluster, so nobody can know that none is left.
    NotAllowed,
}

/// Why a CRD goes on to name older versions.
#[derive(Debug, thiserror::Error)]
pub enum MigrationError {
    /// The CRD cannot be read.
    #[error("cannot read CRD {name}: {message}")]
    Read {
        /// Name of the CRD.
        name: String,
        /// What the server said.
        message: String,
    },
    /// Objects cannot be listed, maybe because one of them cannot be converted.
    #[error("cannot list the objects of CRD {name} at {version}: {message}")]
    List {
        /// Name of the CRD.
        name: String,
        /// Storage version.
        version: &'static str,
        /// What the server said.
        message: String,
    },
    /// Some objects cannot be written.
    #[error(
        "CRD {name} goes on to name older versions in status.storedVersions, because not all objects can be written \
         at {version}; change or delete these, or change what refuses them: {}",
        list(refused)
    )]
    Objects {
        /// Name of the CRD.
        name: String,
        /// Storage version.
        version: &'static str,
        /// Which objects, and what the server said; the first ones if there are many.
        refused: Vec<KubernetesError>,
    },
    /// The CRD was changed, so objects that were written before may be stored at another version.
    #[error("CRD {name} was changed while its objects were written; they must be written again")]
    Changed {
        /// Name of the CRD.
        name: String,
    },
    /// The status of the CRD cannot be written.
    #[error("cannot write status.storedVersions of CRD {name}: {message}")]
    Prune {
        /// Name of the CRD.
        name: String,
        /// What the server said.
        message: String,
    },
}

fn list(refused: &[KubernetesError]) -> String {
    let texts: Vec<_> = refused.iter().map(ToString::to_string).collect();
    texts.join("; ")
}

/// Migrates the objects of one API server.
#[derive(Clone)]
pub struct StorageMigration {
    client: Client,
    crds: Api<InstalledCrd>,
}

impl StorageMigration {
    /// A migration through this client.
    pub fn new(client: Client) -> Self {
        Self {
            crds: Api::all(client.clone()),
            client,
        }
    }

    /// Writes the objects of a kind at the storage version of now if some may be stored at another one, and makes the
    /// CRD name no other. It may be cut off at any point and begun again: what has been written is not stored again.
    ///
    /// # Errors
    /// [`MigrationError`] when older versions must stay.
    pub async fn migrate(&self, kind: Kind) -> Result<Migrated, MigrationError> {
        let crd = self.crd(kind).await?;
        let Some(crd) = crd.filter(|crd| crd.needs_migration(kind.0)) else {
            return Ok(Migrated::NotNeeded);
        };
        let dropped: Vec<_> = crd.old_versions(kind.0).cloned().collect();
        tracing::info!(
            ?kind,
            ?dropped,
            "writing objects that may be stored at older versions"
        );
        let Some(objects) = self.rewrite_all(kind).await? else {
            return Ok(Migrated::NotAllowed);
        };
        self.prune(kind, &crd).await?;
        Ok(Migrated::Done { objects, dropped })
    }

    async fn crd(&self, kind: Kind) -> Result<Option<InstalledCrd>, MigrationError> {
        let name = name(kind.0);
        let found = self.crds.get_opt(&name).await;
        found.map_err(|error| MigrationError::Read {
            name,
            message: message(&error),
        })
    }

    /// Writes all objects and returns how many there are; nothing where we may not list them.
    async fn rewrite_all(&self, kind: Kind) -> Result<Option<usize>, MigrationError> {
        let mut page = ListParams::default().limit(PAGE);
        let (mut count, mut refused) = (0, Vec::new());
        loop {
            let began = Instant::now();
            let listed = match persist(|| self.names(kind, &page)).await {
                Ok(listed) => listed,
                Err(kube::Error::Api(status)) if status.is_forbidden() => return Ok(None),
                Err(error) => match rest_of_list(&error) {
                    Some(token) => {
                        page = page.continue_token(token);
                        continue;
                    }
                    None => {
                        return Err(MigrationError::List {
                            name: name(kind.0),
                            version: kind.hub.storage_version,
                            message: message(&error),
                        });
                    }
                },
            };
            count += listed.items.len();
            let keys = listed.items.into_iter().map(|object| ObjectKey {
                kind,
                namespace: object.meta().namespace.clone().unwrap_or_default(),
                name: object.meta().name.clone().unwrap_or_default(),
            });
            refused.extend(self.rewrite(keys).await);
            let next = listed.metadata.continue_.filter(|token| !token.is_empty());
            match next.filter(|_| refused.len() < MOST_REFUSED) {
                Some(token) => page = page.continue_token(&token),
                None => break,
            }
            sleep_until(began + PAGE_TIME).await;
        }
        if refused.is_empty() {
            return Ok(Some(count));
        }
        Err(MigrationError::Objects {
            name: name(kind.0),
            version: kind.hub.storage_version,
            refused,
        })
    }

    /// A page of objects, by their metadata. Each is read by itself: one that is nested deeply must not keep all others from
    /// being written.
    async fn names(
        &self,
        kind: Kind,
        page: &ListParams,
    ) -> kube::Result<ObjectList<Item<StoredObject>>> {
        let request = Request::new(StoredObject::url_path(&kind, None)).list_metadata(page);
        let request = request.map_err(kube::Error::BuildRequest)?;
        self.client.request(request).await
    }

    /// Writes some objects. Returns what could not be written.
    async fn rewrite(&self, keys: impl Iterator<Item = ObjectKey>) -> Vec<KubernetesError> {
        stream::iter(keys)
            .map(|key| self.rewrite_one(key))
            .buffer_unordered(CONCURRENT_WRITES)
            .filter_map(|written| ready(written.err()))
            .collect()
            .await
    }

    async fn write_once(&self, key: &ObjectKey) -> kube::Result<()> {
        let (parameters, nothing) = (patch_parameters(), Patch::Merge(json!({})));
        let url = StoredObject::url_path(&key.kind, Some(&key.namespace));
        let request = Request::new(url).patch_metadata(&key.name, &parameters, &nothing);
        let request = request.map_err(kube::Error::BuildRequest)?;
        // The answer is not read: whatever the object is, it is written.
        self.client.request_text(request).await.map(drop)
    }

    async fn rewrite_one(&self, key: ObjectKey) -> Result<(), KubernetesError> {
        let call = persist(|| self.write_once(&key));
        match request("rewrite", || key.to_string(), call).await {
            Ok(_) | Err(KubernetesError::Gone { .. }) => Ok(()),
            Err(error) => Err(error),
        }
    }

    /// Makes the CRD name the storage version alone, if it stores objects as it did before they were written.
    async fn prune(&self, kind: Kind, before: &InstalledCrd) -> Result<(), MigrationError> {
        let name = name(kind.0);
        for _ in 0..ATTEMPTS {
            let now = self.crd(kind).await?;
            let Some(now) = now.filter(|now| now.stores_as(before)) else {
                break;
            };
            let patch = json!({
                "metadata": {"uid": now.metadata.uid, "resourceVersion": now.metadata.resource_version},
                "status": {"storedVersions": [kind.hub.storage_version]},
            });
            let (parameters, patch) = (patch_parameters(), Patch::Merge(patch));
            match self.crds.patch_status(&name, &parameters, &patch).await {
                Ok(_) => return Ok(()),
                // Somebody wrote the CRD in between; whether that matters, the next look says.
                Err(kube::Error::Api(status)) if status.is_conflict() => {}
                Err(error) => {
                    let message = message(&error);
                    return Err(MigrationError::Prune { name, message });
                }
            }
        }
        Err(MigrationError::Changed { name })
    }
}

/// Sends a request until it is answered for good, or was sent often enough.
async fn persist<T, F>(send: impl Fn() -> F) -> kube::Result<T>
where
    F: Future<Output = kube::Result<T>>,
{
    for _ in 1..ATTEMPTS {
        match send().await {
            Err(error) if may_pass(&error) => sleep(ATTEMPT_PAUSE).await,
            answer => return answer,
        }
    }
    send().await
}

/// Whether the same request may succeed a moment later.
fn may_pass(error: &kube::Error) -> bool {
    match error {
        kube::Error::Api(status) => matches!(status.code, 409 | 429 | 500..),
        _ => true,
    }
}

/// Where a list goes on whose pages have expired: behind what was listed, among the objects of now (Kubernetes API
/// concepts, "410 Gone" of a list in chunks).
fn rest_of_list(error: &kube::Error) -> Option<&str> {
    let kube::Error::Api(status) = error else {
        return None;
    };
    let token = status.metadata.as_ref()?.continue_.as_deref()?;
    (status.code == 410 && !token.is_empty()).then_some(token)
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex};

    use armature_shapes::testing::gadget::MODEL;
    use serde_json::{Value, json};

    use super::*;
    use crate::testing::mock;

    #[tokio::test]
    async fn an_object_of_any_depth_keeps_no_other_from_being_written() {
        let deep = format!("{}1{}", r#"{"f:a":"#.repeat(200), "}".repeat(200));
        let object = move |name: &str| {
            format!(
                r#"{{"metadata":{{"name":"{name}","namespace":"n","managedFields":[{{"manager":"x","fieldsV1":{deep}}}]}}}}"#
            )
        };
        let written = Arc::new(Mutex::new(Vec::new()));
        let paths = Arc::clone(&written);
        let client = mock::client(move |request| {
            let path = request.uri().path().to_owned();
            if request.method() == http::Method::GET {
                let items = format!("{},{}", object("a"), object("b"));
                let list = format!(
                    r#"{{"apiVersion":"v1","kind":"L","metadata":{{}},"items":[{items}]}}"#
                );
                return (200, list);
            }
            paths.lock().unwrap().push(path);
            (200, object("a"))
        });
        let migration = StorageMigration::new(client);
        let count = migration.rewrite_all(Kind(&MODEL)).await.unwrap();
        assert_eq!(count, Some(2));
        let mut written = written.lock().unwrap().clone();
        written.sort();
        let path = |name: &str| {
            format!("/apis/toys.azure.com/v20210101storage/namespaces/n/gadgets/{name}")
        };
        assert_eq!(written, [path("a"), path("b")]);
    }

    #[test]
    fn which_answers_are_final() {
        let rows = [
            (403, false),
            (404, false),
            (409, true),
            (410, false),
            (422, false),
            (429, true),
            (500, true),
            (503, true),
        ];
        for (code, expected) in rows {
            let status = serde_json::from_value(json!({"code": code})).unwrap();
            assert_eq!(may_pass(&kube::Error::Api(status)), expected, "{code}");
        }
    }

    #[test]
    fn a_list_goes_on_where_its_pages_have_expired() {
        let rows: [(Value, Option<&str>); 4] = [
            (
                json!({"code": 410, "metadata": {"continue": "t"}}),
                Some("t"),
            ),
            (json!({"code": 410, "metadata": {"continue": ""}}), None),
            (json!({"code": 410}), None),
            (json!({"code": 500, "metadata": {"continue": "t"}}), None),
        ];
        for (status, expected) in rows {
            let error = kube::Error::Api(serde_json::from_value(status.clone()).unwrap());
            assert_eq!(rest_of_list(&error), expected, "{status}");
        }
    }

    #[test]
    fn who_is_in_the_way_is_told_by_name() {
        let refused = |object: &str| KubernetesError::Other {
            operation: "rewrite",
            object: object.to_owned(),
            message: "frozen".to_owned(),
        };
        let error = MigrationError::Objects {
            name: "gadgets.toys.azure.com".to_owned(),
            version: "v20210101storage",
            refused: vec![refused("Gadget team/a"), refused("Gadget team/b")],
        };
        assert_eq!(
            error.to_string(),
            "CRD gadgets.toys.azure.com goes on to name older versions in status.storedVersions, because not all \
             objects can be written at v20210101storage; change or delete these, or change what refuses them: the \
             Kubernetes API refused to rewrite Gadget team/a: frozen; the Kubernetes API refused to rewrite Gadget \
             team/b: frozen"
        );
    }
}
