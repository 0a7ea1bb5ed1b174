//! `armature crds status` and `armature crds migrate` on a cluster with objects of an older release, as the page in `docs/` shows
//! them; `ARMATURE_WRITE_DOCS=1` writes it.

use std::path::Path;
use std::time::Duration;

use armature::{Operator, OperatorConfig};
use serde_json::Value;
use tokio::process::Command;

use crate::chart::NAMESPACE;
use crate::cluster::{Cluster, namespace};
use crate::versions::{ACCOUNT, config, crd, manifest, older};

const OLD: &str = "v1api20230101storage";
const NEW: &str = "v20250601storage";

/// Runs a line, and returns what it prints to both streams.
async fn run(cluster: &Cluster, line: &str, code: i32) -> String {
    let output = Command::new(env!("CARGO_BIN_EXE_armature"))
        .args(line.split_whitespace().skip(1))
        .env("KUBECONFIG", cluster.plane.kubeconfig())
        .output()
        .await
        .unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    let printed = text(output.stdout) + &text(output.stderr);
    assert_eq!(output.status.code(), Some(code), "{line}: {printed}");
    printed
}

/// Runs a line that the page shows with what it prints.
async fn shows(cluster: &Cluster, line: &str) {
    let printed = run(cluster, line, 0).await;
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/installed-crds.md");
    let text = std::fs::read_to_string(&page).unwrap();
    let (before, rest) = text.split_once(&format!("```console\n$ {line}\n")).unwrap();
    let rest = format!("\n{rest}");
    let (_, after) = rest.split_once("\n```\n").unwrap();
    let expected = format!("{before}```console\n$ {line}\n{printed}```\n{after}");
    if std::env::var_os("ARMATURE_WRITE_DOCS").is_some() {
        std::fs::write(&page, expected).unwrap();
    } else {
        assert_eq!(text, expected, "ARMATURE_WRITE_DOCS=1 writes the page");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_older_release_is_shown_and_tidied_up() {
    let cluster = Cluster::start().await;
    for name in [NAMESPACE, "team"] {
        cluster.apply(&namespace(name)).await;
    }
    run(&cluster, "armature crds status", 1).await;
    let base = OperatorConfig {
        shutdown_delay: Duration::ZERO,
        ..config(&cluster).await
    };
    let old = OperatorConfig {
        kinds: older(),
        ..base.clone()
    };
    let old = Operator::start(old).await.unwrap();
    cluster
        .until("the CRD converts", async |cluster| {
            let how = kube::api::PatchParams::apply("test");
            cluster.request(&manifest(ACCOUNT), &how).await.is_ok()
        })
        .await;

    // Before the upgrade: what it will do.
    let status = run(&cluster, "armature crds status -o json", 0).await;
    let status: Value = serde_json::from_str(&status).unwrap();
    assert_eq!(status[0]["objects"], 1, "{status:#}");
    assert_eq!(
        status[0]["writtenBy"],
        serde_json::json!({"v1api20210401": 1})
    );
    assert_eq!(status[0]["upgrade"]["storesAt"], NEW);
    old.stop().await;

    let new = Operator::start(base).await.unwrap();
    cluster
        .until("the CRD is the newer operator's", async |cluster| {
            crd(cluster).await.status.stored_versions == [OLD, NEW]
        })
        .await;
    shows(&cluster, "armature crds status storageaccount").await;
    cluster
        .until("the CRD converts at the new address", async |cluster| {
            let how = kube::api::PatchParams::apply("test");
            cluster.request(&manifest(ACCOUNT), &how).await.is_ok()
        })
        .await;
    shows(&cluster, "armature crds migrate").await;
    assert_eq!(crd(&cluster).await.status.stored_versions, [NEW]);
    let again = run(&cluster, "armature crds migrate", 0).await;
    assert_eq!(again, "No object is stored at an older version.\n");
    let nobody = run(&cluster, "armature crds migrate --as nobody", 1).await;
    assert!(
        nobody.contains("cannot list the installed CRDs"),
        "{nobody}"
    );
    new.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_operator_installs_descriptions_where_it_is_told_to() {
    use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;

    let cluster = Cluster::start().await;
    cluster.apply(&namespace(NAMESPACE)).await;
    let crds: kube::api::Api<CustomResourceDefinition> =
        kube::api::Api::all(cluster.client.clone());
    for is_described in [true, false] {
        let config = OperatorConfig {
            crd_descriptions: is_described,
            shutdown_delay: Duration::ZERO,
            ..config(&cluster).await
        };
        let operator = Operator::start(config).await.unwrap();
        cluster
            .until("the CRD is as it was asked for", async |_| {
                let found = crds.get("storageaccounts.storage.azure.com").await;
                let found = found.map(|crd| serde_json::to_string(&crd).unwrap());
                found.is_ok_and(|text| text.contains("where kind = BlobStorage") == is_described)
            })
            .await;
        operator.stop().await;
    }
}
