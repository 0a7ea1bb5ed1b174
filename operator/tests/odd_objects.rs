//! One odd object in one namespace, or one odd client: the operator serves the others as before, and shows nothing of them.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test that cannot go on fails"
)]

mod commands;

use std::sync::Arc;

use armature_controlplane::waiting::{until, until_ok};
use base64::Engine as _;
use commands::World;
use futures::FutureExt;
use kube::api::{Api, ApiResource, DeleteParams, DynamicObject, PostParams};
use kube::core::GroupVersionKind;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::{ClientConfig, RootCertStore};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;

const OPERATOR: &str = "armature-system";
const CRDS: &str = "resources.azure.com/*";
/// Where the odd objects are, and where the others are.
const NAMESPACES: [&str; 2] = ["team", "other"];
/// A value of another team, as `kubectl apply` leaves it in metadata.
const VALUE: &str = "c29tZWJvZHkgZWxzZSdzIHBhc3N3b3Jk";

fn api(
    world: &World,
    group: &str,
    version: &str,
    kind: &str,
    namespace: &str,
) -> Api<DynamicObject> {
    let kind = GroupVersionKind::gvk(group, version, kind);
    let resource = ApiResource::from_gvk(&kind);
    match namespace {
        "" => Api::all_with(world.client().clone(), &resource),
        _ => Api::namespaced_with(world.client().clone(), namespace, &resource),
    }
}

fn groups(world: &World, namespace: &str) -> Api<DynamicObject> {
    api(
        world,
        "resources.azure.com",
        "v1api20200601",
        "ResourceGroup",
        namespace,
    )
}

/// Creates an object as the API server takes it, without a word of kube's types.
async fn create(api: &Api<DynamicObject>, (api_version, kind): (&str, &str), mut object: Value) {
    object["apiVersion"] = json!(api_version);
    object["kind"] = json!(kind);
    let object: DynamicObject = serde_json::from_value(object).unwrap();
    // The answer may be one that kube cannot read.
    if let Err(error @ kube::Error::Api(_)) = api.create(&PostParams::default(), &object).await {
        panic!("{error}");
    }
}

async fn create_group(world: &World, namespace: &str, name: &str, metadata: Value) {
    let mut object = json!({"metadata": metadata, "spec": {"location": "westeurope"}});
    object["metadata"]["name"] = json!(name);
    let kind = ("resources.azure.com/v1api20200601", "ResourceGroup");
    create(&groups(world, namespace), kind, object).await;
}

/// `managedFields` of somebody, nested as deep as the API server keeps them.
fn deep() -> Value {
    let mut fields = json!({});
    for _ in 0..120 {
        fields = json!({"f:a": fields});
    }
    json!([{
        "manager": "x", "operation": "Update", "apiVersion": "v1", "time": "2026-01-01T00:00:00Z",
        "fieldsType": "FieldsV1", "fieldsV1": {"f:data": fields},
    }])
}

/// Waits until groups are converted.
async fn wait_served(world: &World) {
    let groups = groups(world, "other");
    let dry_run = PostParams {
        dry_run: true,
        ..PostParams::default()
    };
    let object = json!({
        "apiVersion": "resources.azure.com/v1api20200601",
        "kind": "ResourceGroup",
        "metadata": {"name": "served"},
        "spec": {"location": "westeurope"},
    });
    let object: DynamicObject = serde_json::from_value(object).unwrap();
    until_ok("groups are converted", async || {
        groups.create(&dry_run, &object).await
    })
    .await;
}

async fn wait_ready(world: &World, namespace: &str, name: &str) {
    let groups = groups(world, namespace);
    until(&format!("{namespace}/{name} is ready"), async || {
        let found = groups.get(name).await;
        let conditions = found.map(|found| found.data["status"]["conditions"].clone());
        let conditions = conditions.unwrap_or_default();
        let mut conditions = conditions.as_array().into_iter().flatten();
        conditions.any(|one| one["type"] == "Ready" && one["status"] == "True")
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn metadata_of_any_depth_hide_nothing_and_bring_nothing_into_the_log() {
    let mut world = World::start_without_operator("render.md").await;
    for namespace in NAMESPACES {
        let object = json!({"metadata": {"name": namespace}});
        create(
            &api(&world, "", "v1", "Namespace", ""),
            ("v1", "Namespace"),
            object,
        )
        .await;
    }
    world.start_operator(OPERATOR, CRDS);
    wait_served(&world).await;
    let victim = json!({
        "metadata": {"name": "victim", "annotations": {
            "kubectl.kubernetes.io/last-applied-configuration": format!("{{\"data\":{{\"a\":\"{VALUE}\"}}}}"),
        }},
        "data": {"a": VALUE},
    });
    create(
        &api(&world, "", "v1", "Secret", "other"),
        ("v1", "Secret"),
        victim,
    )
    .await;
    for kind in ["Secret", "ConfigMap"] {
        let object =
            json!({"metadata": {"name": "deep", "managedFields": deep()}, "data": {"a": "YQ=="}});
        create(&api(&world, "", "v1", kind, "team"), ("v1", kind), object).await;
    }
    create_group(&world, "team", "deep", json!({"managedFields": deep()})).await;
    create_group(&world, "other", "before", json!({})).await;
    wait_ready(&world, "other", "before").await;
    let mut logs = world.log();

    // From now on everything comes from lists.
    world.stop_operator().await;
    world.start_operator(OPERATOR, CRDS);
    wait_served(&world).await;
    create_group(&world, "other", "after", json!({})).await;
    wait_ready(&world, "other", "after").await;
    let others = groups(&world, "other");
    for name in ["before", "after"] {
        others.delete(name, &DeleteParams::default()).await.unwrap();
        until(&format!("{name} is gone"), async || {
            others.get_opt(name).await.unwrap().is_none()
        })
        .await;
    }
    // The odd one is managed as any other.
    until("the odd group is in Azure", async || {
        let requests = world.azure().requests(&Default::default());
        let mut puts = requests.iter().filter(|request| request.method == "PUT");
        puts.any(|request| request.path.ends_with("/resourceGroups/deep"))
    })
    .await;
    logs.push_str(&world.log());
    assert!(!logs.contains(VALUE), "{logs}");
    assert!(!logs.contains("cannot be read"), "{logs}");
}

/// Where conversion is served, and who vouches for it.
async fn webhook(world: &World) -> (u16, String) {
    let group = "apiextensions.k8s.io";
    let crds = api(world, group, "v1", "CustomResourceDefinition", "");
    let crd = crds
        .get("resourcegroups.resources.azure.com")
        .await
        .unwrap();
    let client = &crd.data["spec"]["conversion"]["webhook"]["clientConfig"];
    let url: reqwest::Url = client["url"].as_str().unwrap().parse().unwrap();
    let bundle =
        base64::engine::general_purpose::STANDARD.decode(client["caBundle"].as_str().unwrap());
    (
        url.port().unwrap(),
        String::from_utf8(bundle.unwrap()).unwrap(),
    )
}

async fn connect(port: u16, bundle: &str) -> TlsStream<TcpStream> {
    let mut roots = RootCertStore::empty();
    for authority in CertificateDer::pem_slice_iter(bundle.as_bytes()) {
        roots.add(authority.unwrap()).unwrap();
    }
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let tls = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(roots)
        .with_no_client_auth();
    let stream = TcpStream::connect(("127.0.0.1", port)).await.unwrap();
    let name = ServerName::try_from("127.0.0.1").unwrap();
    TlsConnector::from(Arc::new(tls))
        .connect(name, stream)
        .await
        .unwrap()
}

/// As many clients as would take all places there are, who claim to send much, little or nothing, and send no more than a byte.
async fn silent_clients(port: u16, bundle: &str) -> Vec<TlsStream<TcpStream>> {
    let mut silent = Vec::new();
    for at in 0..120 {
        let mut client = connect(port, bundle).await;
        let head = |bytes: usize| {
            format!(
                "POST /convert?timeout=30s HTTP/1.1\r\nHost: x\r\nContent-Length: {bytes}\r\n\r\n{{"
            )
        };
        let said = match at % 4 {
            0 => head(220 << 20),
            1 => String::new(),
            _ => head(64 << 10),
        };
        client.write_all(said.as_bytes()).await.unwrap();
        client.flush().await.unwrap();
        silent.push(client);
    }
    silent
}

#[tokio::test(flavor = "multi_thread")]
async fn clients_that_say_nothing_hold_no_conversion_up() {
    let mut world = World::start_without_operator("render.md").await;
    let namespace = json!({"metadata": {"name": "other"}});
    create(
        &api(&world, "", "v1", "Namespace", ""),
        ("v1", "Namespace"),
        namespace,
    )
    .await;
    world.start_operator(OPERATOR, CRDS);
    wait_served(&world).await;
    create_group(&world, "other", "read", json!({})).await;
    let (port, bundle) = webhook(&world).await;
    let groups = groups(&world, "other");
    // Whoever waits for silent clients to be cut off is never served while they are connected, on no machine.
    let silent = until_ok("reads beside silent clients", async || {
        let mut silent = silent_clients(port, &bundle).await;
        groups.get("read").await.unwrap();
        groups.list(&Default::default()).await.unwrap();
        let waits = |client: &mut TlsStream<TcpStream>| client.read_u8().now_or_never().is_none();
        match silent.iter_mut().all(waits) {
            true => Ok(silent),
            false => Err("they had been cut off"),
        }
    })
    .await;
    // Each is told why, or is cut off.
    for mut client in silent {
        let mut answer = String::new();
        client.read_to_string(&mut answer).await.ok();
        let is_told = answer.is_empty() || answer.starts_with("HTTP/1.1 408 ");
        assert!(is_told, "{answer}");
    }
}
