//! Many objects: resource groups with a virtual network each, applied, waited for and deleted.
//!
//! They are spread over namespaces, each with a credential for a subscription of its own, as a large company has them: in
//! one subscription there may be 980 resource groups, and the operator sends it no more than 10 writes in a second, which
//! is ARM's limit.

use std::collections::HashSet;
use std::future::Future;
use std::pin::pin;
use std::time::{Duration, Instant};

use anyhow::Context as _;
use futures::TryStreamExt;
use k8s_openapi::api::core::v1::Secret;
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition;
use kube::api::{
    Api, ApiResource, DeleteParams, DynamicObject, ListParams, ObjectMeta, Patch, PatchParams,
    PostParams,
};
use kube::core::{GroupVersionKind, NotUsed};
use kube::runtime::WatchStreamExt;
use kube::runtime::watcher::{Config, Event, watcher};
use serde::Deserialize;
use serde_json::{Value, json};

use super::scene::{POLL, Scene, subscription};
use crate::world::azure::TENANT;
use crate::world::operator::create_namespace;

const FIELD_MANAGER: &str = "xtask-bench";

/// Plurals of the two kinds.
pub const GROUPS: &str = "resourcegroups";
pub const NETWORKS: &str = "virtualnetworks";

/// How long an operator that does not say whether it serves may take until it does.
const COMES_UP: Duration = Duration::from_secs(300);

/// Namespace of objects that are tried and not stored.
const PROBE: &str = "probe";

/// Resource groups in one namespace, where nothing else is said.
const PAIRS: usize = 25;

/// Namespaces, and so subscriptions, of this many resource groups.
pub const fn namespaces(pairs: usize) -> usize {
    pairs.div_ceil(PAIRS)
}

/// Requests on their way to the API server at the same time.
const CLIENTS: usize = 16;

/// Of an object, as much as readiness needs.
type Seen = kube::core::Object<NotUsed, Status>;

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Status {
    #[serde(default)]
    conditions: Vec<Condition>,
}

/// Objects with a name of their own.
pub struct Load {
    name: String,
    pairs: usize,
    /// Resource groups in one namespace.
    each: usize,
    group: Kind,
    network: Kind,
}

/// Objects that are Ready.
#[derive(Clone, Copy, Debug)]
pub struct Up {
    /// When the last one was.
    pub at: Instant,
    /// Virtual networks that said before that they are not.
    pub waited: usize,
}

/// Objects that are gone.
#[derive(Clone, Copy, Debug)]
pub struct Down {
    /// When the last one was.
    pub at: Instant,
    /// Lists that this program asked for to see it.
    pub looks: usize,
}

/// A kind in the version that users write and in the one that is stored, which the API server returns without asking the
/// webhook.
struct Kind {
    served: ApiResource,
    stored: ApiResource,
}

impl Kind {
    async fn find(
        scene: &Scene,
        group: &str,
        version: &str,
        kind: &str,
        plural: &str,
    ) -> anyhow::Result<Self> {
        let crds = Api::<CustomResourceDefinition>::all(scene.client.clone());
        let crd = crds.get(&format!("{plural}.{group}")).await?;
        let mut versions = crd.spec.versions.iter();
        let stored = versions.clone().find(|version| version.storage);
        let stored = stored.context("a CRD without a stored version")?;
        // Where one version is served, users write that one.
        let is_served = versions.any(|it| it.served && it.name == version);
        let mut others = crd.spec.versions.iter().rev();
        let other = others.find(|it| it.served && !it.storage);
        let version = other.filter(|_| !is_served).map_or(version, |it| &it.name);
        let of = |version: &str| {
            let gvk = GroupVersionKind::gvk(group, version, kind);
            ApiResource::from_gvk_with_plural(&gvk, plural)
        };
        Ok(Self {
            served: of(version),
            stored: of(&stored.name),
        })
    }
}

/// Has the API server check and convert one object of each kind, without storing it.
async fn probe(scene: &Scene) -> anyhow::Result<()> {
    let load = Load::of(scene, "probe", (0, PAIRS)).await?;
    for (kind, mut object) in [
        (&load.group, group(PROBE, 0)),
        (&load.network, network(PROBE, 0)),
    ] {
        let api: Api<DynamicObject> =
            Api::namespaced_with(scene.client.clone(), PROBE, &kind.served);
        object["apiVersion"] = json!(kind.served.api_version);
        object["kind"] = json!(kind.served.kind);
        let parameters = PatchParams::apply(FIELD_MANAGER).dry_run();
        api.patch(&format!("{PROBE}-0"), &parameters, &Patch::Apply(&object))
            .await?;
    }
    Ok(())
}

impl Load {
    /// `pairs` resource groups with a virtual network each, in new namespaces. Nothing is applied yet.
    pub async fn new(scene: &Scene, name: &str, pairs: usize) -> anyhow::Result<Self> {
        Self::spread(scene, name, (pairs, PAIRS)).await
    }

    /// The same with so many resource groups in each namespace.
    pub async fn spread(
        scene: &Scene,
        name: &str,
        (pairs, each): (usize, usize),
    ) -> anyhow::Result<Self> {
        for number in 0..pairs.div_ceil(each) {
            let namespace = namespace_of(name, number);
            create_namespace(&scene.client, &namespace).await?;
            Api::<Secret>::namespaced(scene.client.clone(), &namespace)
                .create(&PostParams::default(), &credential(number))
                .await?;
        }
        Self::of(scene, name, (pairs, each)).await
    }

    async fn of(scene: &Scene, name: &str, (pairs, each): (usize, usize)) -> anyhow::Result<Self> {
        Ok(Self {
            name: name.to_owned(),
            pairs,
            each,
            group: Kind::find(
                scene,
                "resources.azure.com",
                "v1api20200601",
                "ResourceGroup",
                GROUPS,
            )
            .await?,
            network: Kind::find(
                scene,
                "network.azure.com",
                "v1api20201101",
                "VirtualNetwork",
                NETWORKS,
            )
            .await?,
        })
    }

    /// The first load of a scene: its operator may still be on its way, so both kinds are tried until they are served.
    pub async fn first(scene: &mut Scene, name: &str, pairs: usize) -> anyhow::Result<Self> {
        create_namespace(&scene.client, PROBE).await?;
        let started = Instant::now();
        while let Err(error) = probe(scene).await {
            scene.check(started)?;
            if started.elapsed() > COMES_UP {
                return Err(error.context("the operator does not serve its kinds"));
            }
            tokio::time::sleep(10 * POLL).await;
        }
        Self::new(scene, name, pairs).await
    }

    /// How many objects there are.
    pub fn objects(&self) -> usize {
        2 * self.pairs
    }

    /// ARM id of one of the resource groups.
    pub fn group_id(&self, number: usize) -> String {
        let namespace = number / self.each;
        let name = format!("{}-{number}", namespace_of(&self.name, namespace));
        format!(
            "/subscriptions/{}/resourceGroups/{name}",
            subscription(namespace)
        )
    }

    /// One resource group and one virtual network as users see them.
    pub async fn read(&self, scene: &Scene) -> anyhow::Result<Vec<Value>> {
        let namespace = namespace_of(&self.name, 0);
        let mut objects = Vec::new();
        for kind in [&self.group, &self.network] {
            let client = scene.client.clone();
            let api: Api<DynamicObject> = Api::namespaced_with(client, &namespace, &kind.served);
            let object = api.get(&format!("{namespace}-0")).await?;
            objects.push(serde_json::to_value(object)?);
        }
        Ok(objects)
    }

    /// Applies all objects and waits until they are Ready.
    pub async fn bring_up(&self, scene: &mut Scene) -> anyhow::Result<Up> {
        let client = scene.client.clone();
        let ready = futures::future::try_join(
            self.watch_until_ready(&client, &self.group),
            self.watch_until_ready(&client, &self.network),
        );
        let everything = futures::future::try_join(self.apply(&client), ready);
        let ((), (groups, networks)) = guarded(scene, everything).await?;
        Ok(Up {
            at: groups.at.max(networks.at),
            waited: networks.waited,
        })
    }

    /// Deletes all objects and waits until they are gone.
    pub async fn tear_down(&self, scene: &mut Scene) -> anyhow::Result<Down> {
        let client = scene.client.clone();
        let gone = async {
            let mut looks = 0;
            for number in 0..self.pairs.div_ceil(self.each) {
                let namespace = namespace_of(&self.name, number);
                for Kind { stored, .. } in [&self.network, &self.group] {
                    let api: Api<DynamicObject> =
                        Api::namespaced_with(client.clone(), &namespace, stored);
                    let (all, now) = (ListParams::default(), DeleteParams::default());
                    api.delete_collection(&now, &all).await?;
                }
            }
            for kind in [&self.network, &self.group] {
                let api = Api::<DynamicObject>::all_with(client.clone(), &kind.stored);
                while !api
                    .list_metadata(&ListParams::default().limit(1))
                    .await?
                    .items
                    .is_empty()
                {
                    looks += 1;
                    tokio::time::sleep(POLL).await;
                }
                looks += 1;
            }
            let at = Instant::now();
            Ok(Down { at, looks })
        };
        guarded(scene, gone).await
    }

    async fn apply(&self, client: &kube::Client) -> anyhow::Result<()> {
        let (groups, networks) = (&self.group.served, &self.network.served);
        let objects = (0..self.pairs).flat_map(|number| {
            let namespace = namespace_of(&self.name, number / self.each);
            [
                (groups, group(&namespace, number)),
                (networks, network(&namespace, number)),
            ]
        });
        let parameters = PatchParams::apply(FIELD_MANAGER);
        futures::stream::iter(objects.map(Ok))
            .try_for_each_concurrent(CLIENTS, async |(resource, mut object)| {
                let text = |name: &str| object["metadata"][name].as_str().unwrap_or_default();
                let (namespace, name) = (text("namespace").to_owned(), text("name").to_owned());
                let api: Api<DynamicObject> =
                    Api::namespaced_with(client.clone(), &namespace, resource);
                object["apiVersion"] = json!(resource.api_version);
                object["kind"] = json!(resource.kind);
                let patch = Patch::Apply(&object);
                let applied = api.patch(&name, &parameters, &patch).await;
                applied
                    .map(drop)
                    .with_context(|| format!("cannot apply {} {name}", resource.kind))
            })
            .await
    }

    /// Watches the stored form until every object of the kind is Ready.
    async fn watch_until_ready(&self, client: &kube::Client, kind: &Kind) -> anyhow::Result<Up> {
        let api = Api::<Seen>::all_with(client.clone(), &kind.stored);
        let mut events = pin!(watcher(api, Config::default().page_size(500)).default_backoff());
        let (mut ready, mut waited) = (HashSet::new(), HashSet::new());
        while ready.len() < self.pairs {
            let event = events.try_next().await?;
            let (Event::Apply(object) | Event::InitApply(object)) =
                event.context("the watch ended")?
            else {
                continue;
            };
            let conditions = object.status.map(|status| status.conditions);
            let said = conditions.unwrap_or_default();
            let said = said
                .iter()
                .find(|condition| condition.type_ == "Ready")
                .map(|condition| condition.status.as_str());
            match said {
                Some("True") => ready.extend(object.metadata.name),
                Some("False") => waited.extend(object.metadata.name),
                // Nobody has looked at it.
                _ => {}
            }
        }
        Ok(Up {
            at: Instant::now(),
            waited: waited.len(),
        })
    }
}

/// Ends early with an error when a program of the scene ends, or when nothing comes of it.
async fn guarded<T>(
    scene: &mut Scene,
    work: impl Future<Output = anyhow::Result<T>>,
) -> anyhow::Result<T> {
    let started = Instant::now();
    let mut work = pin!(work);
    loop {
        match tokio::time::timeout(10 * POLL, work.as_mut()).await {
            Ok(done) => return done,
            Err(_) => scene.check(started)?,
        }
    }
}

fn namespace_of(load: &str, number: usize) -> String {
    format!("{load}-{number}")
}

/// A namespace's credential.
fn credential(number: usize) -> Secret {
    let entries = [
        ("AZURE_SUBSCRIPTION_ID", subscription(number)),
        ("AZURE_TENANT_ID", TENANT.to_owned()),
        ("AZURE_CLIENT_ID", "armature".to_owned()),
        ("AZURE_CLIENT_SECRET", "any".to_owned()),
    ];
    Secret {
        metadata: ObjectMeta {
            name: Some("aso-credential".to_owned()),
            ..ObjectMeta::default()
        },
        string_data: Some(entries.map(|(key, value)| (key.to_owned(), value)).into()),
        ..Secret::default()
    }
}

fn group(namespace: &str, number: usize) -> Value {
    json!({
        "metadata": {"name": format!("{namespace}-{number}"), "namespace": namespace},
        "spec": {"location": "westeurope", "tags": {"team": "payments"}},
    })
}

fn network(namespace: &str, number: usize) -> Value {
    json!({
        "metadata": {"name": format!("{namespace}-{number}"), "namespace": namespace},
        "spec": {
            "owner": {"name": format!("{namespace}-{number}")},
            "location": "westeurope",
            "addressSpace": {"addressPrefixes": ["10.20.0.0/16"]},
        },
    })
}
