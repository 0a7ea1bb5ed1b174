//! Pods are replaced and the certificate is renewed under load, and no request fails.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use armature_runtime::kubernetes::{InstalledCrd, today};
use k8s_openapi::api::core::v1::Secret;
use kube::api::{Api, DynamicObject, ListParams, Patch, PatchParams};
use kube::core::{ApiResource, GroupVersionKind};
use serde_json::{Value, json};
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use crate::chart::{NAMESPACE, add_argument};
use crate::cluster::{Cluster, namespace};
use crate::pod::{Pod, Ports};
use crate::service::Service;

const READERS: usize = 4;

/// An object of which neither version is the storage version.
const IDENTITY: &str = "
apiVersion: managedidentity.azure.com/v1api20181130
kind: UserAssignedIdentity
metadata:
  name: web
  namespace: team
  annotations: {serviceoperator.azure.com/reconcile-policy: skip}
spec: {location: westeurope, owner: {name: shop}}
";

/// Requests that need the webhook, one after the other, until told to stop.
pub struct Load {
    stop: CancellationToken,
    readers: JoinSet<Vec<String>>,
    requests: Arc<AtomicUsize>,
}

impl Load {
    /// Reads and lists objects at a version, and writes one of them now and then.
    pub fn start(api: &Api<DynamicObject>, name: &'static str) -> Self {
        let stop = CancellationToken::new();
        let requests = Arc::<AtomicUsize>::default();
        let mut readers = JoinSet::new();
        for reader in 0..READERS {
            let (api, stop, requests) = (api.clone(), stop.clone(), Arc::clone(&requests));
            readers.spawn(async move {
                let mut failures = Vec::new();
                while !stop.is_cancelled() {
                    let count = requests.fetch_add(1, Ordering::SeqCst);
                    let label = json!({"metadata": {"labels": {"write": count.to_string()}}});
                    let done = match (reader, count % 10) {
                        (0, 0) => {
                            let (parameters, patch) = (PatchParams::default(), Patch::Merge(label));
                            api.patch(name, &parameters, &patch).await.map(drop)
                        }
                        (_, 1) => api.list(&ListParams::default()).await.map(drop),
                        _ => api.get(name).await.map(drop),
                    };
                    failures.extend(done.err().map(|error| error.to_string()));
                }
                failures
            });
        }
        Self {
            stop,
            readers,
            requests,
        }
    }

    /// Ends it: none of the requests may have failed. Returns how many there were.
    pub async fn end(self) -> usize {
        self.stop.cancel();
        let failures = self.readers.join_all().await.concat();
        let requests = self.requests.load(Ordering::SeqCst);
        assert_eq!(failures, [""; 0], "of {requests} requests");
        requests
    }
}

/// Access to objects of the namespace `team`.
pub fn objects(cluster: &Cluster, group: &str, version: &str, kind: &str) -> Api<DynamicObject> {
    let info = armature_generated::KINDS
        .iter()
        .find(|info| info.group == group && info.kind == kind)
        .unwrap();
    let kind = GroupVersionKind::gvk(group, version, kind);
    let resource = ApiResource::from_gvk_with_plural(&kind, info.plural);
    Api::namespaced_with(cluster.client.clone(), "team", &resource)
}

/// Pods of a Deployment behind a Service.
struct Rollout<'a> {
    cluster: &'a Cluster,
    manifests: &'a [Value],
    service: Service,
    started: usize,
}

impl Rollout<'_> {
    async fn add(&mut self) -> Pod {
        let ports = Ports::free();
        self.service.select(ports);
        let (name, url) = (format!("armature-{}", self.started), self.service.url());
        self.started += 1;
        let pod = self
            .cluster
            .run_at(self.manifests, &name, ports, &url)
            .await;
        self.service.wait_ready(ports).await;
        pod
    }

    /// A new pod takes the place of an old one, which is told to go when the new one is ready.
    async fn replace(&mut self, old: Pod) -> Pod {
        let new = self.add().await;
        let status = old.terminate().await;
        assert!(status.success(), "{status}");
        new
    }
}

/// Lets the stored certificate, or its authority, expire today, and waits until another is stored under `key` and
/// the CRDs trust the stored authorities.
async fn renew(cluster: &Cluster, annotation: &str, key: &str) {
    let stored = async || cluster.certificate().await.data.unwrap();
    let before = stored().await;
    let patch = json!({"metadata": {"annotations": {annotation: today().to_string()}}});
    let secrets: Api<Secret> = cluster.api(NAMESPACE);
    let (parameters, patch) = (PatchParams::default(), Patch::Merge(patch));
    secrets
        .patch("armature-webhook-certificate", &parameters, &patch)
        .await
        .unwrap();
    let crds: Api<InstalledCrd> = Api::all(cluster.client.clone());
    cluster
        .until("another certificate is stored and trusted", async |_| {
            let (now, crds) = (stored().await, crds.list(&ListParams::default()).await);
            let bundle = serde_json::to_value(&now["ca.crt"]).unwrap();
            let trusts = |crd: &InstalledCrd| {
                crd.spec.conversion["webhook"]["clientConfig"]["caBundle"] == bundle
            };
            now[key] != before[key] && crds.unwrap().items.iter().all(trusts)
        })
        .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn no_request_fails_while_pods_are_replaced_and_certificates_renewed() {
    let cluster = Cluster::start().await;
    for name in [NAMESPACE, "team"] {
        cluster.apply(&namespace(name)).await;
    }
    let mut manifests = cluster.render(&[]).await;
    for manifest in &manifests {
        cluster.apply(manifest).await;
    }
    add_argument(&mut manifests, "--certificate-check=1s");
    let mut rollout = Rollout {
        cluster: &cluster,
        manifests: &manifests,
        service: Service::start().await,
        started: 0,
    };
    let [one, two] = [rollout.add().await, rollout.add().await];
    cluster
        .apply(&serde_saphyr::from_str(IDENTITY).unwrap())
        .await;

    let identities = objects(
        &cluster,
        "managedidentity.azure.com",
        "v1api20181130",
        "UserAssignedIdentity",
    );
    let started = Instant::now();
    let load = Load::start(&identities, "web");
    renew(
        &cluster,
        "armature.azure.com/certificate-expires",
        "tls.crt",
    )
    .await;
    let one = rollout.replace(one).await;
    let two = rollout.replace(two).await;
    renew(&cluster, "armature.azure.com/authority-expires", "ca.crt").await;
    renew(
        &cluster,
        "armature.azure.com/certificate-expires",
        "tls.crt",
    )
    .await;
    let _last = [rollout.replace(one).await, rollout.replace(two).await];
    let requests = load.end().await;
    println!(
        "{requests} requests in {:?}, none failed",
        started.elapsed()
    );
    assert!(requests > 100, "{requests} requests prove too little");
}
