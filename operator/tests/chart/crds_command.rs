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
    // As `asoctl` has it, and what it says comes true below.
    shows(&cluster, "armature clean crds --dry-run").await;
    let again = run(&cluster, "armature crds migrate --dry-run", 0).await;
    assert!(again.contains("would be written anew"), "{again}");
    assert_eq!(crd(&cluster).await.status.stored_versions, [OLD, NEW]);
    let nobody = run(&cluster, "armature clean crds --dry-run --as nobody", 1).await;
    assert!(
        nobody.contains("cannot list the installed CRDs"),
        "{nobody}"
    );
    shows(&cluster, "armature crds migrate").await;
    assert_eq!(crd(&cluster).await.status.stored_versions, [NEW]);
    for line in [
        "armature crds migrate",
        "armature clean crds",
        "armature clean crds --dry-run",
    ] {
        let again = run(&cluster, line, 0).await;
        assert_eq!(
            again, "No object is stored at an older version.\n",
            "{line}"
        );
    }
    assert_eq!(run(&cluster, "armature clean crds --quiet", 0).await, "");
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

/// What the API server warns of when vaults are listed at a version.
async fn warnings(cluster: &Cluster, version: &str) -> Vec<String> {
    let path = format!("/apis/keyvault.azure.com/{version}/vaults");
    let request = http::Request::get(path)
        .body(kube::client::Body::empty())
        .unwrap();
    let answer = cluster.client.send(request).await.unwrap();
    assert!(
        answer.status().is_success(),
        "{version}: {}",
        answer.status()
    );
    let warnings = answer.headers().get_all("warning").iter();
    let texts = warnings.map(|warning| warning.to_str().unwrap().to_owned());
    texts.collect()
}

/// What kubectl prints when it applies a vault.
async fn applied(cluster: &Cluster, manifest: &str) -> String {
    let progress = armature_progress::Progress::default();
    let program = armature_controlplane::locate_or_build_kubectl(&progress)
        .await
        .unwrap();
    let file = cluster.path("vault.yaml");
    std::fs::write(&file, manifest).unwrap();
    let output = Command::new(program)
        .args(["apply", "--server-side", "-f"])
        .arg(&file)
        .env("KUBECONFIG", cluster.plane.kubeconfig())
        .output()
        .await
        .unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    let printed = text(output.stdout) + &text(output.stderr);
    assert!(output.status.success(), "{printed}");
    printed
}

const VAULT: &str = "\
apiVersion: keyvault.azure.com/v1api20230701
kind: Vault
metadata: {name: payments-keys, namespace: team}
spec:
  location: westeurope
  owner: {name: payments}
  properties: {tenantId: 00000000-0000-0000-0000-000000000021, sku: {family: A, name: standard}}
";

/// The same program with and without the setting, so that nothing else is another reason to apply CRDs.
#[tokio::test(flavor = "multi_thread")]
async fn who_uses_a_version_that_azure_retires_is_warned_where_the_operator_is_told_to() {
    let cluster = Cluster::start().await;
    for name in [NAMESPACE, "team"] {
        cluster.apply(&namespace(name)).await;
    }
    let retired = "v1api20230701";
    let begin = "Vault: Azure retires API version 2023-07-01 on 2027-02-27; use keyvault.azure.com/v20260201";
    for (pattern, is_told, further) in [
        ("keyvault.azure.com/Vault", false, None),
        (
            "keyvault.azure.com/Vault",
            true,
            Some(", which crdPattern must name (https://"),
        ),
        (
            "keyvault.azure.com/Vault;keyvault.azure.com/v20260201/Vault",
            true,
            Some(" (https://"),
        ),
        (
            "keyvault.azure.com/Vault;keyvault.azure.com/v20260201/Vault",
            false,
            None,
        ),
    ] {
        let config = OperatorConfig {
            crd_pattern: pattern.parse().unwrap(),
            crd_deprecations: is_told,
            shutdown_delay: Duration::ZERO,
            ..config(&cluster).await
        };
        let operator = Operator::start(config).await.unwrap();
        cluster
            .until("the API server warns as it is asked to", async |cluster| {
                let told = warnings(cluster, retired).await;
                let expected = further.map(|further| format!("299 - \"{begin}{further}"));
                match (&expected, &told[..]) {
                    (None, []) => true,
                    (Some(expected), [told]) => told.starts_with(expected),
                    _ => false,
                }
            })
            .await;
        for quiet in ["v1api20230701storage", "v20260201"] {
            if quiet == "v20260201" && !pattern.contains(quiet) {
                continue;
            }
            assert_eq!(
                warnings(&cluster, quiet).await,
                Vec::<String>::new(),
                "{quiet}"
            );
        }
        let printed = applied(&cluster, VAULT).await;
        assert_eq!(
            printed.contains(&format!("Warning: {begin}")),
            is_told,
            "{printed}"
        );
        operator.stop().await;
    }
}
