//! Tells a list that fails in one namespace alone from an API server that does not work.
//!
//! What does not live here: what a list that fails alone means for other namespaces (`cache::lists`).

use std::time::Duration;

use armature_shapes::resource::Kind;
use kube::Client;
use kube::api::{Api, ListParams};
use tokio::sync::watch::Receiver;
use tokio::time::timeout;

use crate::cache::objects::ObjectCache;
use crate::stored::item::Item;
use crate::stored::object::StoredObject;

/// Failures in a row, each while the kind could be listed in another namespace, before nobody elsewhere waits for the list. The
/// watcher tries again after a second, and then after twice as long each time, 30 s at most: about a minute and a half.
const FAILURES: u32 = 6;

/// Limit of time for the proof.
const PROOF: Duration = Duration::from_secs(10);

/// The first list of a kind in one namespace.
pub(super) struct FailsAlone<'a> {
    /// Is told of a list that fails alone.
    pub cache: &'a ObjectCache,
    /// Asks elsewhere.
    pub client: &'a Client,
    /// The kind that is listed.
    pub kind: Kind,
    /// The namespace in which it is listed.
    pub namespace: &'a str,
    /// Objects in one page of that list.
    pub page: u32,
}

impl FailsAlone<'_> {
    /// Notes in the cache that the list fails alone, until nobody tells of failures any more.
    pub async fn note(&self, mut failures: Receiver<String>) {
        let mut alone = 0;
        while failures.changed().await.is_ok() {
            let why = failures.borrow_and_update().clone();
            alone = if self.works_elsewhere().await {
                alone + 1
            } else {
                0
            };
            if alone == FAILURES {
                let (kind, namespace) = (self.kind.0.kind, self.namespace);
                tracing::warn!(
                    kind,
                    namespace,
                    why,
                    "objects cannot be listed in this namespace, but in others: those go on, and delete nothing for which one \
                     in here may stand"
                );
                self.cache.mark_failing(self.kind, namespace, &why);
            }
        }
    }

    /// Whether the API server lists the kind now, in a namespace in which it has done so.
    async fn works_elsewhere(&self) -> bool {
        let Some(namespace) = self.cache.listed_elsewhere(self.kind, self.namespace) else {
            return false;
        };
        let api: Api<Item<StoredObject>> =
            Api::namespaced_with(self.client.clone(), &namespace, &self.kind);
        // Without a version this is answered by etcd, not from what the API server remembers; and a whole page shows that pages
        // of this kind come in time.
        let page = ListParams::default().limit(self.page);
        matches!(timeout(PROOF, api.list(&page)).await, Ok(Ok(_)))
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicBool, Ordering};

    use armature_shapes::id::{RemoteId, ResourceId};
    use armature_shapes::resource::ObjectKey;
    use armature_shapes::testing::gadget::MODEL;

    use super::*;
    use crate::testing::mock;

    const KIND: Kind = Kind(&MODEL);

    /// Fails `times` times in one of two namespaces, of which the other one can be listed or not; whether the other one still waits.
    async fn waits_after(times: u32, works: bool) -> bool {
        let is_up = Arc::new(AtomicBool::new(works));
        let client = mock::client(move |request| {
            assert!(request.uri().path().contains("/namespaces/web/"));
            let query = request.uri().query().unwrap_or_default();
            assert!(
                query.contains("limit=50"),
                "a page like those of the watch: {query}"
            );
            match is_up.load(Ordering::Relaxed) {
                true => (
                    200,
                    r#"{"apiVersion":"v1","kind":"L","metadata":{},"items":[]}"#.to_owned(),
                ),
                false => mock::failure(500, "etcd is away"),
            }
        });
        let cache = ObjectCache::default();
        cache.mark_awaited(KIND, &[Some("web".to_owned()), Some("broken".to_owned())]);
        cache.mark_listed(KIND, Some("web"));
        let alone = FailsAlone {
            cache: &cache,
            client: &client,
            kind: KIND,
            namespace: "broken",
            page: 50,
        };
        let (failed, failures) = tokio::sync::watch::channel(String::new());
        let tell = async move {
            for _ in 0..times {
                failed.send_replace("cannot be decoded".to_owned());
                tokio::time::sleep(Duration::from_secs(30)).await;
            }
        };
        tokio::join!(alone.note(failures), tell);
        let id = RemoteId::Arm(ResourceId::parse("/subscriptions/s").unwrap());
        let here = ObjectKey {
            kind: KIND,
            namespace: "web".to_owned(),
            name: "one".to_owned(),
        };
        cache.sharing(&id, &here).is_err()
    }

    #[tokio::test(start_paused = true)]
    async fn a_list_fails_alone_where_the_api_server_lists_the_kind_elsewhere() {
        for (times, works, waits) in [
            (FAILURES - 1, true, true),
            (FAILURES, true, false),
            // An outage makes nothing absent.
            (100, false, true),
        ] {
            assert_eq!(waits_after(times, works).await, waits, "{times} {works}");
        }
    }
}
