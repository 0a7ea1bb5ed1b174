//! Many conversions at the same time end well, within the memory that the chart names for them.
//!
//! The API server asks for the conversion of single objects and of whole lists, as its version and its caches have it. So
//! objects are listed through it, and lists are sent to the webhook as it would send them.

use std::time::Duration;

use axum::body::Bytes;
use futures::future::{join_all, try_join_all};
use k8s_openapi::ByteString;
use kube::api::{DynamicObject, ListParams, PostParams};
use serde_json::{Value, json};

use crate::chart::NAMESPACE;
use crate::cluster::{Cluster, namespace};
use crate::pod::Pod;
use crate::upgrade::objects;

/// Objects of a list that is sent to the webhook, unless `ARMATURE_LIST_OBJECTS` says otherwise.
const OBJECTS: usize = 2_000;

/// Objects that are listed through the API server.
const STORED: usize = 200;

/// Clients that list at the same time.
const CLIENTS: usize = 8;

/// Bytes of an object, most of them as managedFields are: passed on and not looked at.
const SIZE: usize = 6_000;

/// What is not conversion and may grow meanwhile, in bytes: connections, caches of TLS, the allocator's.
const SLACK: u64 = 16 << 20;

/// Objects that are created at the same time.
const AT_ONCE: usize = 16;

/// How often the API server sends a review again that was turned away.
const AGAIN: usize = 10;

const STORED_VERSION: &str = "v1api20200601storage";
const SERVED_VERSION: &str = "v1api20200601";

fn count() -> usize {
    let wanted = std::env::var("ARMATURE_LIST_OBJECTS").ok();
    wanted.map_or(OBJECTS, |text| text.parse().unwrap())
}

/// A resource group as it is stored.
fn group(number: usize) -> Value {
    json!({
        "apiVersion": format!("resources.azure.com/{STORED_VERSION}"),
        "kind": "ResourceGroup",
        "metadata": {
            "name": format!("group-{number}"),
            "namespace": "team",
            "annotations": {"serviceoperator.azure.com/reconcile-policy": "skip"},
            "labels": {"note": "x".repeat(60)},
        },
        "spec": {"originalVersion": SERVED_VERSION, "location": "westeurope"},
    })
}

/// Creates objects as they are stored, which needs no conversion.
async fn create(cluster: &Cluster) {
    let stored = objects(
        cluster,
        "resources.azure.com",
        STORED_VERSION,
        "ResourceGroup",
    );
    let workers = (0..AT_ONCE).map(async |worker| {
        for number in (worker..STORED).step_by(AT_ONCE) {
            let object: DynamicObject = serde_json::from_value(group(number)).unwrap();
            stored.create(&PostParams::default(), &object).await?;
        }
        Ok::<_, kube::Error>(())
    });
    try_join_all(workers).await.unwrap();
}

async fn list_at_once(cluster: &Cluster) {
    let served = objects(
        cluster,
        "resources.azure.com",
        SERVED_VERSION,
        "ResourceGroup",
    );
    let lists = (0..CLIENTS).map(async |_| {
        let listed = served.list(&ListParams::default()).await;
        listed.map(|listed| listed.items.len())
    });
    for listed in join_all(lists).await {
        assert_eq!(listed.unwrap(), STORED);
    }
}

/// The review of a list.
fn review(count: usize) -> Bytes {
    let mut object = group(0);
    object["metadata"]["managedFields"] = json!([{"manager": "x".repeat(SIZE)}]);
    let object = object.to_string();
    let version = format!("resources.azure.com/{SERVED_VERSION}");
    let begin = format!(r#"{{"request":{{"uid":"u","desiredAPIVersion":"{version}","objects":["#);
    let mut text = String::with_capacity(begin.len() + count * (object.len() + 1) + 3);
    text.push_str(&begin);
    for number in 0..count {
        if number > 0 {
            text.push(',');
        }
        text.push_str(&object);
    }
    text.push_str("]}}");
    Bytes::from(text)
}

/// Sends a review as the API server does, again when it is told to come back; how often it was sent, and the end of the
/// answer.
async fn convert(client: &reqwest::Client, pod: &Pod, review: Bytes) -> (usize, Vec<u8>) {
    let url = format!("https://127.0.0.1:{}/convert", pod.ports().webhook);
    for sent in 1..=AGAIN + 1 {
        let mut answer = client.post(&url).body(review.clone()).send().await.unwrap();
        if answer.status() == 503 {
            let seconds = answer.headers()["retry-after"].to_str().unwrap();
            tokio::time::sleep(Duration::from_secs(seconds.parse().unwrap())).await;
            continue;
        }
        assert!(answer.status().is_success(), "{}", answer.status());
        let mut end = Vec::new();
        while let Some(piece) = answer.chunk().await.unwrap() {
            end.extend_from_slice(&piece);
            end.drain(..end.len().saturating_sub(100));
        }
        return (sent, end);
    }
    panic!("turned away {AGAIN} times");
}

/// A client that trusts the authority of the webhook's certificate, and speaks as the API server does.
async fn client(cluster: &Cluster) -> reqwest::Client {
    let data = cluster.certificate().await.data.unwrap();
    let ByteString(authority) = &data["ca.crt"];
    let authorities = reqwest::Certificate::from_pem_bundle(authority).unwrap();
    let builder = reqwest::Client::builder().tls_certs_only(authorities);
    builder.http1_only().build().unwrap()
}

fn mebibytes(bytes: u64) -> u64 {
    bytes >> 20
}

#[tokio::test(flavor = "multi_thread")]
async fn lists_end_well_within_the_memory_for_conversion() {
    let cluster = Cluster::start().await;
    for name in [NAMESPACE, "team"] {
        cluster.apply(&namespace(name)).await;
    }
    let review = review(count());
    // Room for one of the lists, and not for two.
    let memory = review.len() as u64 * 3 / 2 + (8 << 20);
    let setting = format!("webhook.conversionMemory={}Ki", memory >> 10);
    // Nothing but conversion, so that nothing else takes memory meanwhile.
    let settings = ["azureOperatorMode=webhooks", &setting];
    let manifests = cluster.render(&settings).await;
    for manifest in &manifests {
        cluster.apply(manifest).await;
    }
    let pod = cluster.run(&manifests, "armature-0", "127.0.0.1").await;
    create(&cluster).await;
    list_at_once(&cluster).await;

    let client = client(&cluster).await;
    let before = pod.peak_memory();
    let converted = (0..CLIENTS).map(|_| convert(&client, &pod, review.clone()));
    let mut most = 0;
    for (sent, end) in join_all(converted).await {
        most = most.max(sent);
        let end = String::from_utf8_lossy(&end);
        assert!(end.ends_with(r#""result":{"status":"Success"}}}"#), "{end}");
    }
    let after = pod.peak_memory();
    println!(
        "{CLIENTS} lists of {} MiB at once: {} MiB before, {} MiB at most with {} MiB for conversion; sent {most} times",
        mebibytes(review.len() as u64),
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
