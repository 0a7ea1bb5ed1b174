//! The control plane against itself: it starts, stores objects, survives a crash of the API server, and never
//! leaves a process behind.

#![allow(clippy::unwrap_used, reason = "helpers of tests may panic as tests do")]

use std::{collections::BTreeMap, time::Instant};

use armature_controlplane::{ControlPlane, Options};
use k8s_openapi::api::core::v1::{ConfigMap, Namespace};
use kube::{
    Api,
    api::{ObjectMeta, PostParams},
};

fn named(name: &str) -> ObjectMeta {
    ObjectMeta {
        name: Some(name.to_owned()),
        ..ObjectMeta::default()
    }
}

async fn store(plane: &ControlPlane, value: &str) {
    let client = plane.client().await.unwrap();
    let namespace = Namespace {
        metadata: named("shop"),
        ..Namespace::default()
    };
    Api::<Namespace>::all(client.clone())
        .create(&PostParams::default(), &namespace)
        .await
        .unwrap();
    let map = ConfigMap {
        metadata: named("settings"),
        data: Some(BTreeMap::from([("key".to_owned(), value.to_owned())])),
        ..ConfigMap::default()
    };
    Api::<ConfigMap>::namespaced(client, "shop")
        .create(&PostParams::default(), &map)
        .await
        .unwrap();
}

async fn load(plane: &ControlPlane) -> Option<String> {
    let client = plane.client().await.unwrap();
    let map = Api::<ConfigMap>::namespaced(client, "shop")
        .get("settings")
        .await
        .unwrap();
    map.data.and_then(|data| data.get("key").cloned())
}

#[tokio::test(flavor = "multi_thread")]
async fn two_planes_at_once_share_nothing() {
    let started = Instant::now();
    let (one, two) = tokio::join!(
        ControlPlane::start(Options::default()),
        ControlPlane::start(Options::default())
    );
    let (one, two) = (one.unwrap(), two.unwrap());
    println!("two control planes ready after {:.1?}", started.elapsed());
    store(&one, "one").await;
    store(&two, "two").await;
    assert_eq!(load(&one).await.as_deref(), Some("one"));
    assert_eq!(load(&two).await.as_deref(), Some("two"));
    let kubeconfig = std::fs::read_to_string(one.kubeconfig()).unwrap();
    assert!(kubeconfig.contains(&one.url()), "{kubeconfig}");
}

#[tokio::test(flavor = "multi_thread")]
async fn objects_survive_a_crash_of_the_api_server_on_the_same_port() {
    let started = Instant::now();
    let mut plane = ControlPlane::start(Options {
        apiserver_flags: vec!["--event-ttl=5m".to_owned()],
        ..Options::default()
    })
    .await
    .unwrap();
    println!("one control plane ready after {:.1?}", started.elapsed());
    store(&plane, "kept").await;
    let url = plane.url();
    plane.stop_apiserver().await;
    assert!(std::net::TcpStream::connect(url.trim_start_matches("https://")).is_err());
    plane.start_apiserver().await.unwrap();
    assert_eq!(plane.url(), url);
    assert_eq!(load(&plane).await.as_deref(), Some("kept"));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_flag_that_the_api_server_refuses_is_an_error_with_its_log() {
    let error = ControlPlane::start(Options {
        apiserver_flags: vec!["--no-such-flag".to_owned()],
        ..Options::default()
    })
    .await
    .unwrap_err()
    .to_string();
    assert!(error.contains("unknown flag: --no-such-flag"), "{error}");
}
