//! Watches: which kinds are installed, their objects, namespaces, and the Secrets and ConfigMaps they use.
//!
//! What a change means is decided in `filter` and `cache`; here is only the plumbing.

use std::collections::{HashMap, HashSet};
use std::fmt::Debug;
use std::sync::Arc;

use armature_reconcile::port::DataKind;
use armature_shapes::names::NAMESPACE_CREDENTIAL;
use armature_shapes::resource::{Kind, Object, ObjectKey};
use k8s_openapi::api::core::v1::{ConfigMap, Namespace, Secret};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kube::api::Api;
use kube::core::NamespaceResourceScope;
use kube::runtime::watcher::{Config, Event};
use serde::de::DeserializeOwned;
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::fails_alone::FailsAlone;
use super::follow::{ItemEvent, Watched, follow, readable};
use super::listed_secrets::ListedSecrets;
use crate::cache::exports::{self, ListedTargets};
use crate::cache::filter::{changes_of_namespace, is_settled, waits_for_namespace_credential};
use crate::cluster::port::Cluster;
use crate::crds::installed::InstalledCrd;
use crate::stored::item::{Item, MetadataOf};
use crate::stored::object::StoredObject;

/// Lists of kinds that run at the same time, so that a start does not crowd out the cluster's other clients. One that fails
/// gives its place back until it is tried again.
const CONCURRENT_LISTS: usize = 20;

/// Times that the API server refuses a list in a row before it counts as refused for good. kube's watcher tries again after a
/// second, and then after twice as long each time, 30 s at most.
const REFUSALS: u32 = 4;

/// Objects in one page of a list, which is in memory as a whole: whoever may create objects may make each of them 1.5 MB long.
const PAGE: u32 = 50;

/// CRDs in one page: they are large, and only a few bytes of each are kept.
const CRD_PAGE: u32 = 20;

/// A watch that begins with a list in pages. A list of any age would spare the API server a question to etcd, and comes in
/// one piece whatever page is asked for: the memory that it takes here is not given back.
fn paged() -> Config {
    Config::default().page_size(PAGE)
}

/// All watches of one operator.
pub struct Watches {
    cluster: Cluster,
    /// Watched namespaces; all when empty.
    namespaces: Vec<String>,
    lists: Arc<Semaphore>,
    tasks: TaskTracker,
    running: HashMap<Kind, CancellationToken>,
    /// Fires when a watch ended that was not told to.
    broken: CancellationToken,
}

/// A watch ended that was not told to: changes would be missed for ever.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "a watch of the Kubernetes API ended by itself, which is a defect of the operator; the log says above why"
)]
pub struct WatchEnded;

impl Watches {
    /// Watches for a cluster, limited to these namespaces when there are any.
    pub fn new(cluster: Cluster, namespaces: Vec<String>) -> Self {
        Self {
            cluster,
            namespaces,
            lists: Arc::new(Semaphore::new(CONCURRENT_LISTS)),
            tasks: TaskTracker::new(),
            running: HashMap::new(),
            broken: CancellationToken::new(),
        }
    }

    /// How many watches run at most, for so many kinds and these namespaces: CRDs, namespaces, and in each
    /// namespace (or once, when there is none) every kind, Secrets and ConfigMaps.
    pub fn count(kinds: usize, namespaces: usize) -> usize {
        2 + (kinds + 2) * namespaces.max(1)
    }

    /// Watches until told to stop.
    ///
    /// # Errors
    /// When a watch ended by itself.
    pub async fn run(mut self, stop: CancellationToken) -> Result<(), WatchEnded> {
        self.spawn(&stop, watch_namespaces(self.cluster.clone(), stop.clone()));
        for namespace in self.scopes() {
            let cluster = &self.cluster;
            let secrets = watch_data::<Secret>(
                cluster.clone(),
                DataKind::Secret,
                namespace.clone(),
                stop.clone(),
            );
            let config_maps = watch_data::<ConfigMap>(
                cluster.clone(),
                DataKind::ConfigMap,
                namespace,
                stop.clone(),
            );
            self.spawn(&stop, secrets);
            self.spawn(&stop, config_maps);
        }
        let broken = self.broken.clone();
        let ended = broken.run_until_cancelled(self.watch_crds(&stop)).await;
        if ended.is_none() || !stop.is_cancelled() {
            return Err(WatchEnded);
        }
        self.tasks.close();
        self.tasks.wait().await;
        Ok(())
    }

    /// Runs a watch, which ends when told to and never by itself: a panic in it would go unseen otherwise.
    fn spawn(&self, stop: &CancellationToken, watch: impl Future<Output = ()> + Send + 'static) {
        let (stop, broken) = (stop.clone(), self.broken.clone().drop_guard());
        self.tasks.spawn(async move {
            watch.await;
            if stop.is_cancelled() {
                broken.disarm();
            }
        });
    }

    /// Starts and stops the watches of kinds as their CRDs come and go.
    async fn watch_crds(&mut self, stop: &CancellationToken) {
        let place = self.cluster.clients.watch();
        let config = Config::default().page_size(CRD_PAGE);
        let mut listed = HashSet::new();
        let in_step = self.cluster.in_step.clone();
        follow(
            Watched::all("CustomResourceDefinition", &in_step, &place),
            Api::<Item<InstalledCrd>>::all,
            config,
            stop,
            readable(|event| match event {
                Event::Init => listed.clear(),
                Event::InitApply(crd) | Event::Apply(crd) => {
                    if let Some(kind) = self.kind_of(&crd) {
                        listed.insert(kind);
                        if crd.serves(kind.0) {
                            self.start(kind, stop);
                        } else {
                            self.stop(kind);
                        }
                    }
                }
                Event::Delete(crd) => {
                    if let Some(kind) = self.kind_of(&crd) {
                        self.stop(kind);
                    }
                }
                Event::InitDone => {
                    let gone: Vec<Kind> = self
                        .running
                        .keys()
                        .filter(|kind| !listed.contains(*kind))
                        .copied()
                        .collect();
                    for kind in gone {
                        self.stop(kind);
                    }
                    self.cluster.cache.mark_kinds_known();
                }
            }),
        )
        .await;
    }

    fn kind_of(&self, crd: &InstalledCrd) -> Option<Kind> {
        let key = (crd.spec.group.as_str(), crd.spec.names.kind.as_str());
        self.cluster.kinds.get(&key).map(|info| Kind(info))
    }

    fn start(&mut self, kind: Kind, stop: &CancellationToken) {
        if self.running.contains_key(&kind) {
            return;
        }
        tracing::info!(?kind, "watching");
        let stop = stop.child_token();
        self.running.insert(kind, stop.clone());
        let scopes = self.scopes();
        self.cluster.cache.mark_awaited(kind, &scopes);
        for namespace in scopes {
            let watch = KindWatch {
                cluster: self.cluster.clone(),
                kind,
                namespace,
                lists: Arc::clone(&self.lists),
            };
            self.spawn(&stop, watch.run(stop.clone()));
        }
    }

    fn stop(&mut self, kind: Kind) {
        if let Some(stop) = self.running.remove(&kind) {
            tracing::info!(?kind, "no longer installed");
            stop.cancel();
            self.cluster.cache.forget_kind(kind);
        }
    }

    fn scopes(&self) -> Vec<Option<String>> {
        if self.namespaces.is_empty() {
            vec![None]
        } else {
            self.namespaces.iter().cloned().map(Some).collect()
        }
    }
}

/// The watch of one kind in one namespace, or in all.
struct KindWatch {
    cluster: Cluster,
    kind: Kind,
    namespace: Option<String>,
    lists: Arc<Semaphore>,
}

impl KindWatch {
    async fn run(self, stop: CancellationToken) {
        let place = self.cluster.clients.watch();
        let api = |client| match &self.namespace {
            Some(namespace) => Api::namespaced_with(client, namespace, &self.kind),
            None => Api::all_with(client, &self.kind),
        };
        let watched = Watched {
            what: self.kind.0.kind,
            namespace: self.namespace.as_deref(),
            in_step: &self.cluster.in_step,
            place: &place,
            lists: Some(&self.lists),
        };
        let (failed, failures) = tokio::sync::watch::channel(String::new());
        let mut events = KindEvents {
            watch: &self,
            listed: HashSet::new(),
            refusals: 0,
            failed,
        };
        let is_stopped = stop.clone();
        let watching = follow(watched, api, paged(), &stop, move |item| {
            // A stopped watch must not bring objects back that were forgotten with their kind.
            if !is_stopped.is_cancelled() {
                events.item(item);
            }
        });
        let Some(namespace) = &self.namespace else {
            return watching.await;
        };
        let alone = FailsAlone {
            cache: &self.cluster.cache,
            client: place.client(),
            kind: self.kind,
            namespace,
            page: PAGE,
        };
        // The watch ends when it is told to, and what tells the other of failures with it.
        tokio::join!(watching, alone.note(failures));
    }

    fn end_list(&self, listed: &HashSet<ObjectKey>) {
        let (cache, namespace) = (&self.cluster.cache, self.namespace.as_deref());
        let woken = cache.finish_list(self.kind, namespace, listed);
        cache.mark_listed(self.kind, namespace);
        self.cluster.wake_all(woken);
    }

    fn remove(&self, key: &ObjectKey) {
        let heirs = self.cluster.cache.remove(key);
        for woken in heirs.into_iter().chain([key.clone()]) {
            self.cluster.wake.wake(woken);
        }
    }

    fn apply(&self, object: StoredObject) -> ObjectKey {
        let object = object.into_object(self.kind);
        let key = object.key();
        let is_idle = self.cluster.cache.get(&key).is_none() && is_settled(&object);
        for woken in self.cluster.cache.apply(object) {
            if is_idle && woken == key {
                self.cluster.wake.wake_idle(woken);
            } else {
                self.cluster.wake.wake(woken);
            }
        }
        key
    }
}

/// What the watch of one kind in one scope has told so far, and what becomes of each event.
struct KindEvents<'a> {
    watch: &'a KindWatch,
    /// What the list that is being read has shown.
    listed: HashSet<ObjectKey>,
    /// Refusals in a row.
    refusals: u32,
    /// Takes why the first list failed, each time that it does.
    failed: tokio::sync::watch::Sender<String>,
}

impl KindEvents<'_> {
    fn item(&mut self, item: ItemEvent<StoredObject>) {
        let watch = self.watch;
        match item {
            ItemEvent::Event(event) => self.event(event),
            // What was known of it stays, until it is gone.
            ItemEvent::Unreadable { one, is_gone } => {
                let object = StoredObject::of(one.metadata).into_object(watch.kind);
                match is_gone {
                    true => watch.remove(&object.key()),
                    false => drop(self.listed.insert(object.key())),
                }
            }
            ItemEvent::Refused(why) => {
                self.refusals += 1;
                if self.refusals >= REFUSALS {
                    let namespace = watch.namespace.as_deref();
                    watch
                        .cluster
                        .cache
                        .mark_refused(watch.kind, namespace, &why);
                }
            }
            ItemEvent::Failed(why) => drop(self.failed.send_replace(why)),
        }
    }

    fn event(&mut self, event: Event<StoredObject>) {
        let watch = self.watch;
        match event {
            Event::Init => self.listed.clear(),
            Event::InitApply(object) => drop(self.listed.insert(watch.apply(object))),
            Event::Apply(object) => drop(watch.apply(object)),
            Event::Delete(object) => watch.remove(&object.into_object(watch.kind).key()),
            Event::InitDone => {
                self.refusals = 0;
                watch.end_list(&std::mem::take(&mut self.listed));
            }
        }
    }
}

/// Keeps the annotations of namespaces; a change of what they ask for wakes the objects that follow it.
async fn watch_namespaces(cluster: Cluster, stop: CancellationToken) {
    let place = cluster.clients.watch();
    let api = Api::<Item<MetadataOf<Namespace>>>::all;
    let config = paged();
    let mut listed = HashSet::new();
    follow(
        Watched::all("Namespace", &cluster.in_step, &place),
        api,
        config,
        &stop,
        readable(|event: Event<MetadataOf<Namespace>>| match event {
            Event::InitApply(namespace) | Event::Apply(namespace) => {
                let name = namespace.metadata.name.unwrap_or_default();
                let annotations = namespace.metadata.annotations.unwrap_or_default();
                listed.insert(name.clone());
                let before = cluster.namespaces.insert(name.clone(), annotations.clone());
                let changes = before.map(|before| changes_of_namespace(&before, &annotations));
                if let Some(changes) = changes.filter(|changes| !changes.are_none()) {
                    let followers = |object: &Object| changes.concern(object);
                    for key in cluster.cache.in_namespace(&name, followers) {
                        cluster.wake.wake(key);
                    }
                }
            }
            Event::Delete(namespace) => {
                cluster
                    .namespaces
                    .remove(&namespace.metadata.name.unwrap_or_default());
            }
            Event::Init => listed.clear(),
            Event::InitDone => cluster.namespaces.keep(&std::mem::take(&mut listed)),
        }),
    )
    .await;
}

/// Wakes the objects that read a Secret or ConfigMap when it changes, and those that write it when it is gone or robbed of
/// what they wrote. Nothing of it is kept.
async fn watch_data<K>(
    cluster: Cluster,
    kind: DataKind,
    namespace: Option<String>,
    stop: CancellationToken,
) where
    K: kube::Resource<Scope = NamespaceResourceScope, DynamicType = ()>,
    MetadataOf<K>: kube::Resource + Clone + DeserializeOwned + Debug + Send + 'static,
{
    let config = paged();
    let mut first = true;
    let mut listed = ListedSecrets::default();
    let mut targets = ListedTargets::default();
    let label = match kind {
        DataKind::Secret => "Secret",
        DataKind::ConfigMap => "ConfigMap",
    };
    let place = cluster.clients.watch();
    let api = |client| data_api::<K>(client, namespace.as_deref());
    let watched = Watched {
        namespace: namespace.as_deref(),
        ..Watched::all(label, &cluster.in_step, &place)
    };
    let on_event = readable(|event| {
        if kind == DataKind::Secret {
            listed.note(&cluster, namespace.as_deref(), &event);
        }
        let (data, writers) = match event {
            Event::Delete(data) => {
                let writers = exports::writers(&cluster.cache, kind, &data.metadata);
                (data, writers)
            }
            Event::Apply(data) => {
                let writers = exports::robbed(&cluster.cache, kind, &data.metadata);
                (data, writers)
            }
            // After an interruption any of them may have changed; in the first list nobody missed anything.
            Event::InitApply(data) if !first => {
                targets.add(&cluster.cache, kind, &data.metadata);
                let writers = exports::robbed(&cluster.cache, kind, &data.metadata);
                (data, writers)
            }
            Event::InitDone => {
                if !std::mem::take(&mut first) {
                    cluster.wake_all(targets.end(&cluster.cache, kind, namespace.as_deref()));
                }
                return;
            }
            Event::Init => return targets.begin(),
            Event::InitApply(_) => return,
        };
        cluster.wake_all(writers);
        wake_readers(&cluster, kind, data.metadata);
    });
    follow(watched, api, config, &stop, on_event).await;
}

/// Wakes the objects that read a Secret or ConfigMap, and those that wait for what it is as a credential.
fn wake_readers(cluster: &Cluster, kind: DataKind, metadata: ObjectMeta) {
    let namespace = metadata.namespace.unwrap_or_default();
    let name = metadata.name.unwrap_or_default();
    cluster.wake_all(cluster.cache.users_of_data(kind, &namespace, &name));
    if kind == DataKind::Secret && name == NAMESPACE_CREDENTIAL {
        let waiting = waits_for_namespace_credential;
        cluster.wake_all(cluster.cache.in_namespace(&namespace, waiting));
    }
}

fn data_api<K>(client: kube::Client, namespace: Option<&str>) -> Api<Item<MetadataOf<K>>>
where
    K: kube::Resource<Scope = NamespaceResourceScope, DynamicType = ()>,
{
    match namespace {
        Some(namespace) => Api::namespaced(client, namespace),
        None => Api::all(client),
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::testing::mock;

    fn watches() -> Watches {
        let client = mock::client(|_| mock::failure(503, "away"));
        let wake = Arc::new(|_: ObjectKey| ());
        Watches::new(
            Cluster::new(client.into(), "operators", &[], wake),
            Vec::new(),
        )
    }

    /// What it watches would be missed for ever, and nobody would know.
    #[tokio::test]
    async fn a_watch_that_panics_or_ends_by_itself_ends_all() {
        let odd: fn() = || panic!("an odd object");
        for end in [odd, || ()] {
            let watches = watches();
            let stop = CancellationToken::new();
            watches.spawn(&stop, async move { end() });
            let ended = tokio::time::timeout(Duration::from_secs(20), watches.run(stop)).await;
            assert_eq!(ended, Ok(Err(WatchEnded)));
        }
    }

    #[tokio::test]
    async fn watches_that_are_told_to_stop_end_well() {
        let stop = CancellationToken::new();
        let watches = watches();
        let kind = stop.child_token();
        let told = kind.clone();
        // The watch of one kind, whose CRD is gone.
        watches.spawn(&kind, async move { told.cancelled().await });
        kind.cancel();
        let running = tokio::spawn(watches.run(stop.clone()));
        tokio::time::sleep(Duration::from_millis(50)).await;
        assert!(!running.is_finished());
        stop.cancel();
        assert_eq!(running.await.unwrap(), Ok(()));
    }
}
