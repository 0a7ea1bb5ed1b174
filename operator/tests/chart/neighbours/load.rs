//! What the other tenant does all the time, and how long it takes.

use std::collections::HashSet;
use std::time::{Duration, Instant};

use armature_controlplane::waiting::until;
use armature_runtime::names::FINALIZER;
use futures::future::join_all;
use futures::{Stream, StreamExt};
use k8s_openapi::api::core::v1::ConfigMap;
use kube::api::{Api, DeleteParams, DynamicObject};
use serde::Deserialize;
use serde_json::json;
use tokio_util::sync::CancellationToken;

use super::tenants::Tenant;
use crate::cluster::Cluster;

/// A version that is converted.
const SERVED: &str = "resources.azure.com/v1api20200601";
/// Reads of an object that is converted.
const READS: usize = 100;
/// Objects that are created, looked at and deleted.
const OBJECTS: usize = 10;
/// Time between two looks at something.
const PAUSE: Duration = Duration::from_millis(10);
/// Objects that are listed at once.
const PAGE: usize = 20;

/// How long the slowest but one of a hundred took, beyond what the API server takes for what the operator has no part in.
#[derive(Clone, Copy, Debug)]
pub struct Took {
    /// Reading an object at a version that is converted.
    conversion: Duration,
    /// From the creation of an object to its claim.
    first_look: Duration,
}

impl Took {
    /// Whether neither took longer than the other's, by more than this.
    pub fn is_at_most(self, other: Self, more: Duration) -> bool {
        self.conversion <= other.conversion + more && self.first_look <= other.first_look + more
    }
}

/// The load of one tenant.
pub struct Load<'a> {
    tenant: &'a Tenant,
    probe: Api<ConfigMap>,
    round: usize,
}

impl<'a> Load<'a> {
    /// Begins with an object that is read.
    pub async fn begin(cluster: &Cluster, tenant: &'a Tenant) -> Self {
        tenant.create(group("read")).await;
        tenant
            .create(json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "probe"}}))
            .await;
        Self {
            tenant,
            probe: cluster.api(&tenant.namespace),
            round: 0,
        }
    }

    /// Does all of it once.
    pub async fn take(&mut self) -> Took {
        self.round += 1;
        let groups = self.tenant.api(SERVED, "ResourceGroup");
        let work = async {
            let conversion = self.reads(&groups).await;
            let looks = join_all((0..OBJECTS).map(|number| self.lives(&groups, number))).await;
            (conversion, looks)
        };
        let (done, stalls) = (CancellationToken::new(), self.stalls());
        let stalls = async {
            let mut found = Vec::new();
            let mut stalls = std::pin::pin!(stalls);
            while let Some(Some(stall)) = done.run_until_cancelled(stalls.next()).await {
                found.push(stall);
            }
            found
        };
        let work = async {
            let took = work.await;
            done.cancel();
            took
        };
        let ((conversion, looks), stalls) = tokio::join!(work, stalls);
        let stall = nearly_slowest(stalls);
        let without = |times: Vec<Duration>| nearly_slowest(times).saturating_sub(stall);
        Took {
            conversion: without(conversion),
            first_look: without(looks),
        }
    }

    /// How long the API server takes for what the operator has no part in, again and again.
    fn stalls(&self) -> impl Stream<Item = Duration> + '_ {
        futures::stream::unfold((), async |()| {
            tokio::time::sleep(PAUSE).await;
            let began = Instant::now();
            self.probe.get("probe").await.unwrap();
            Some((began.elapsed(), ()))
        })
    }

    async fn reads(&self, groups: &Api<DynamicObject>) -> Vec<Duration> {
        let mut times = Vec::new();
        for _ in 0..READS {
            let began = Instant::now();
            groups.get("read").await.unwrap();
            times.push(began.elapsed());
        }
        times
    }

    /// The life of one object; how long it took until the operator had claimed it.
    async fn lives(&self, groups: &Api<DynamicObject>, number: usize) -> Duration {
        let name = format!("look-{}-{number}", self.round);
        let began = Instant::now();
        self.tenant.create(group(&name)).await;
        let is_claimed = |found: &DynamicObject| {
            let mut finalizers = found.metadata.finalizers.iter().flatten();
            finalizers.any(|finalizer| finalizer == FINALIZER)
        };
        until(&format!("{name} is claimed"), async || {
            tokio::time::sleep(PAUSE).await;
            groups
                .get(&name)
                .await
                .is_ok_and(|found| is_claimed(&found))
        })
        .await;
        let took = began.elapsed();
        groups
            .delete(&name, &DeleteParams::default())
            .await
            .unwrap();
        until(&format!("{name} is gone"), async || {
            groups.get_opt(&name).await.unwrap().is_none()
        })
        .await;
        took
    }
}

fn group(name: &str) -> serde_json::Value {
    json!({
        "apiVersion": SERVED, "kind": "ResourceGroup",
        "metadata": {"name": name}, "spec": {"location": "westeurope"},
    })
}

/// Reads the groups of all namespaces at a served version, and says how long that took.
pub async fn lists_all(cluster: &Cluster) -> Duration {
    let began = Instant::now();
    let (mut token, mut found) = (String::new(), HashSet::new());
    loop {
        let url = format!("/apis/{SERVED}/resourcegroups?limit={PAGE}&continue={token}");
        let request = http::Request::get(url).body(Vec::new()).unwrap();
        // Metadata are too deep for what kube makes of them.
        let page = cluster.client.request_text(request).await.unwrap();
        let page: Page = serde_json::from_str(&page).unwrap();
        found.extend(page.items.into_iter().map(|item| item.metadata.name));
        match page.metadata.next {
            Some(next) if !next.is_empty() => token = next,
            _ => break,
        }
    }
    assert!(found.contains("read"), "{found:?}");
    began.elapsed()
}

#[derive(Deserialize)]
struct Page {
    metadata: PageMetadata,
    items: Vec<PageItem>,
}

#[derive(Deserialize)]
struct PageMetadata {
    #[serde(rename = "continue")]
    next: Option<String>,
}

#[derive(Deserialize)]
struct PageItem {
    metadata: PageItemMetadata,
}

#[derive(Deserialize)]
struct PageItemMetadata {
    name: String,
}

/// The 99th of a hundred, or the slowest of few.
fn nearly_slowest(mut times: Vec<Duration>) -> Duration {
    times.sort();
    let at = (times.len() * 99).div_ceil(100);
    times.get(at.saturating_sub(1)).copied().unwrap_or_default()
}
