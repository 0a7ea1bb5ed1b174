//! Many clients list many objects at an old version: all of them are answered, within the memory that the chart names.

use futures::future::{join_all, try_join_all};
use kube::api::{DynamicObject, ListParams, PostParams};
use serde_json::json;

use crate::chart::NAMESPACE;
use crate::cluster::{Cluster, namespace};
use crate::upgrade::objects;

/// Objects, unless `ARMATURE_LIST_OBJECTS` says otherwise.
const OBJECTS: usize = 2_000;

/// Clients that list at the same time.
const CLIENTS: usize = 8;

/// Bytes of an object, most of them as managedFields are: passed on and not looked at.
const SIZE: usize = 6_000;

/// What is not conversion and may grow meanwhile, in bytes: connections, caches of TLS, the allocator's.
const SLACK: u64 = 16 << 20;

/// Objects that one client creates at a time.
const AT_ONCE: usize = 32;

fn count() -> usize {
    let wanted = std::env::var("ARMATURE_LIST_OBJECTS").ok();
    wanted.map_or(OBJECTS, |text| text.parse().unwrap())
}

/// Creates objects as they are stored, which needs no conversion.
async fn create(cluster: &Cluster, count: usize) {
    let stored = objects(
        cluster,
        "resources.azure.com",
        "v1api20200601storage",
        "ResourceGroup",
    );
    let note = "x".repeat(SIZE);
    let object = |number: usize| -> DynamicObject {
        let object = json!({
            "apiVersion": "resources.azure.com/v1api20200601storage",
            "kind": "ResourceGroup",
            "metadata": {
                "name": format!("group-{number}"),
                "namespace": "team",
                "annotations": {
                    "serviceoperator.azure.com/reconcile-policy": "skip",
                    "note": note,
                },
            },
            "spec": {"originalVersion": "v1api20200601", "location": "westeurope"},
        });
        serde_json::from_value(object).unwrap()
    };
    let workers = (0..AT_ONCE).map(async |worker| {
        for number in (worker..count).step_by(AT_ONCE) {
            let parameters = PostParams::default();
            stored.create(&parameters, &object(number)).await?;
        }
        Ok::<_, kube::Error>(())
    });
    try_join_all(workers).await.unwrap();
}

async fn list_at_once(cluster: &Cluster, count: usize) {
    let served = objects(
        cluster,
        "resources.azure.com",
        "v1api20200601",
        "ResourceGroup",
    );
    let lists = (0..CLIENTS).map(async |_| {
        let listed = served.list(&ListParams::default()).await;
        listed.map(|listed| listed.items.len())
    });
    for listed in join_all(lists).await {
        assert_eq!(listed.unwrap(), count);
    }
}

fn mebibytes(bytes: u64) -> u64 {
    bytes >> 20
}

#[tokio::test(flavor = "multi_thread")]
async fn lists_at_an_old_version_end_well_within_the_memory_for_them() {
    let cluster = Cluster::start().await;
    for name in [NAMESPACE, "team"] {
        cluster.apply(&namespace(name)).await;
    }
    let count = count();
    // Room for one of the lists, and not for two.
    let memory = (count * SIZE * 3 / 2 + (8 << 20)) as u64;
    let setting = format!("webhook.conversionMemory={}Ki", memory >> 10);
    // Nothing but conversion, so that nothing else takes memory meanwhile.
    let settings = ["azureOperatorMode=webhooks", &setting];
    let manifests = cluster.render(&settings).await;
    for manifest in &manifests {
        cluster.apply(manifest).await;
    }
    let pod = cluster.run(&manifests, "armature-0", "127.0.0.1").await;
    create(&cluster, count).await;
    let before = pod.peak_memory();
    list_at_once(&cluster, count).await;
    let after = pod.peak_memory();
    println!(
        "{count} objects, {CLIENTS} lists at once: {} MiB before, {} MiB at most, {} MiB for conversion",
        mebibytes(before),
        mebibytes(after),
        mebibytes(memory)
    );
    assert!(
        after < before + memory + SLACK,
        "{} MiB grew to {} MiB",
        mebibytes(before),
        mebibytes(after)
    );
}
