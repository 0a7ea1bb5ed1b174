//! Watches: which kinds are installed, their objects, namespaces, and the Secrets and ConfigMaps they use.
//!
//! What a change means is decided in `filter` and `cache`; here is only the plumbing.

use std::collections::{HashMap, HashSet};
use std::fmt::Debug;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use armature_reconcile::port::DataKind;
use armature_shapes::names::NAMESPACE_CREDENTIAL;
use armature_shapes::resource::{Kind, Object, ObjectKey};
use futures::StreamExt;
use k8s_openapi::api::core::v1::{ConfigMap, Namespace, Secret};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kube::api::Api;
use kube::core::NamespaceResourceScope;
use kube::runtime::WatchStreamExt;
use kube::runtime::watcher::{Config, Event, watcher};
use serde::de::DeserializeOwned;
use tokio::sync::Semaphore;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::client::WatchClient;
use super::cluster::Cluster;
use super::export_watch::{self, ListedTargets};
use super::filter::{changes_of_namespace, is_settled, waits_for_namespace_credential};
use super::in_step::InStep;
use super::installed::InstalledCrd;
use super::item::{Item, MetadataOf, Unreadable};
use super::listed_secrets::ListedSecrets;
use super::stored::StoredObject;

/// First lists that run at the same time, so that a start does not crowd out the cluster's other clients.
const CONCURRENT_LISTS: usize = 20;

/// Objects in one page of a list.
const PAGE: u32 = 500;

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
}

impl Watches {
    /// Watches for a cluster, limited to these namespaces when there are any.
    pub fn new(cluster: Cluster, namespaces: Vec<String>) -> Self {
        Self {
            cluster,
            namespaces,
            lists: Arc::new(Semaphore::new(CONCURRENT_LISTS)),
            tasks: TaskTracker::new(),
            running: HashMap::new(),
        }
    }

    /// How many watches run at most, for so many kinds and these namespaces: CRDs, namespaces, and in each
    /// namespace (or once, when there is none) every kind, Secrets and ConfigMaps.
    pub fn count(kinds: usize, namespaces: usize) -> usize {
        2 + (kinds + 2) * namespaces.max(1)
    }

    /// Watches until told to stop.
    pub async fn run(mut self, stop: CancellationToken) {
        self.tasks
            .spawn(watch_namespaces(self.cluster.clone(), stop.clone()));
        for namespace in self.scopes() {
            let cluster = &self.cluster;
            self.tasks.spawn(watch_data::<Secret>(
                cluster.clone(),
                DataKind::Secret,
                namespace.clone(),
                stop.clone(),
            ));
            self.tasks.spawn(watch_data::<ConfigMap>(
                cluster.clone(),
                DataKind::ConfigMap,
                namespace,
                stop.clone(),
            ));
        }
        self.watch_crds(&stop).await;
        self.tasks.close();
        self.tasks.wait().await;
    }

    /// Starts and stops the watches of kinds as their CRDs come and go.
    async fn watch_crds(&mut self, stop: &CancellationToken) {
        let place = self.cluster.clients.watch();
        let config = Config::default().page_size(CRD_PAGE);
        let mut listed = HashSet::new();
        follow(
            "CustomResourceDefinition",
            (&self.cluster.in_step.clone(), &place),
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
        self.cluster.cache.mark_awaited(kind);
        let scopes = self.scopes();
        let unfinished = Arc::new(AtomicUsize::new(scopes.len()));
        for namespace in scopes {
            let watch = KindWatch {
                cluster: self.cluster.clone(),
                kind,
                namespace,
                lists: Arc::clone(&self.lists),
                unfinished: Arc::clone(&unfinished),
            };
            self.tasks.spawn(watch.run(stop.clone()));
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
    /// Namespaces whose first list is not complete.
    unfinished: Arc<AtomicUsize>,
}

impl KindWatch {
    async fn run(self, stop: CancellationToken) {
        // Held until the first list is complete. The semaphore is never closed.
        let mut permit = Arc::clone(&self.lists).acquire_owned().await.ok();
        let config = paged();
        let mut listed = HashSet::new();
        let mut first = true;
        let place = self.cluster.clients.watch();
        let api = |client| match &self.namespace {
            Some(namespace) => Api::namespaced_with(client, namespace, &self.kind),
            None => Api::all_with(client, &self.kind),
        };
        let (what, place) = (self.kind.0.kind, (&*self.cluster.in_step, &place));
        follow(what, place, api, config, &stop, |item| {
            // A stopped watch must not bring objects back that were forgotten with their kind.
            if stop.is_cancelled() {
                return;
            }
            let event = match item {
                ItemEvent::Event(event) => event,
                // What was known of it stays, until it is gone.
                ItemEvent::Unreadable { one, is_gone } => {
                    let object = StoredObject::of(one.metadata).into_object(self.kind);
                    match is_gone {
                        true => self.remove(&object.key()),
                        false => drop(listed.insert(object.key())),
                    }
                    return;
                }
            };
            match event {
                Event::Init => listed.clear(),
                Event::InitApply(object) => {
                    listed.insert(self.apply(object));
                }
                Event::Apply(object) => {
                    self.apply(object);
                }
                Event::Delete(object) => {
                    self.remove(&object.into_object(self.kind).key());
                }
                Event::InitDone => {
                    let namespace = self.namespace.as_deref();
                    let cache = &self.cluster.cache;
                    for woken in cache.finish_list(self.kind, namespace, &listed) {
                        self.cluster.wake.wake(woken);
                    }
                    listed = HashSet::new();
                    permit = None;
                    if std::mem::take(&mut first)
                        && self.unfinished.fetch_sub(1, Ordering::AcqRel) == 1
                    {
                        self.cluster.cache.mark_synced(self.kind);
                    }
                }
            }
        })
        .await;
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

/// Keeps the annotations of namespaces; a change of what they ask for wakes the objects that follow it.
async fn watch_namespaces(cluster: Cluster, stop: CancellationToken) {
    let place = cluster.clients.watch();
    let api = Api::<Item<MetadataOf<Namespace>>>::all;
    let config = paged();
    let mut listed = HashSet::new();
    follow(
        "Namespace",
        (&cluster.in_step, &place),
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
    let place = (&*cluster.in_step, &place);
    let on_event = readable(|event| {
        if kind == DataKind::Secret {
            listed.note(&cluster, namespace.as_deref(), &event);
        }
        let (data, writers) = match event {
            Event::Delete(data) => {
                let writers = export_watch::writers(&cluster.cache, kind, &data.metadata);
                (data, writers)
            }
            Event::Apply(data) => {
                let writers = export_watch::robbed(&cluster.cache, kind, &data.metadata);
                (data, writers)
            }
            // After an interruption any of them may have changed; in the first list nobody missed anything.
            Event::InitApply(data) if !first => {
                targets.add(&cluster.cache, kind, &data.metadata);
                let writers = export_watch::robbed(&cluster.cache, kind, &data.metadata);
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
    follow(label, place, api, config, &stop, on_event).await;
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

/// What a watch tells.
enum ItemEvent<K> {
    Event(Event<K>),
    /// An object that cannot be read has come, changed, or gone.
    Unreadable {
        one: Box<Unreadable>,
        is_gone: bool,
    },
}

impl<K> ItemEvent<K> {
    fn of(event: Event<Item<K>>) -> Result<Event<K>, (Box<Unreadable>, bool)> {
        let object = |item, is_gone| match item {
            Item::Read(object) => Ok(object),
            Item::Unreadable(one) => Err((one, is_gone)),
        };
        Ok(match event {
            Event::Init => Event::Init,
            Event::InitDone => Event::InitDone,
            Event::InitApply(item) => Event::InitApply(object(item, false)?),
            Event::Apply(item) => Event::Apply(object(item, false)?),
            Event::Delete(item) => Event::Delete(object(item, true)?),
        })
    }
}

/// For watches to which an object that cannot be read says nothing.
fn readable<K>(mut on_event: impl FnMut(Event<K>)) -> impl FnMut(ItemEvent<K>) {
    move |item| {
        if let ItemEvent::Event(event) = item {
            on_event(event);
        }
    }
}

/// Hands everything that a watch tells to `on_item` until told to stop. Interruptions are retried with backoff.
async fn follow<K>(
    what: &str,
    (in_step, place): (&InStep, &WatchClient),
    api: impl FnOnce(kube::Client) -> Api<Item<K>>,
    config: Config,
    stop: &CancellationToken,
    mut on_item: impl FnMut(ItemEvent<K>),
) where
    K: kube::Resource + Clone + DeserializeOwned + Debug + Send + 'static,
{
    let api = api(place.client().clone());
    let mut events = pin!(watcher(api, config).default_backoff());
    while let Some(Some(event)) = stop.run_until_cancelled(events.next()).await {
        match event.map(ItemEvent::of) {
            Ok(Ok(event)) => {
                in_step.told(what);
                on_item(ItemEvent::Event(event));
            }
            Ok(Err((one, is_gone))) => {
                in_step.unreadable(what);
                let (namespace, name) = (&one.metadata.namespace, &one.metadata.name);
                let why = &one.why;
                tracing::warn!(what, ?namespace, ?name, why, "an object cannot be read");
                on_item(ItemEvent::Unreadable { one, is_gone });
            }
            Err(error) => {
                tracing::debug!(what, %error, "a watch was interrupted");
                if let Some(lasts) = in_step.failed(what, Instant::now()) {
                    let seconds = lasts.as_secs();
                    tracing::warn!(what, seconds, %error, "a watch is interrupted, and changes are missed");
                }
            }
        }
    }
}
