//! `armature export operator` prints what the chart makes of the same values. `ARMATURE_WRITE_DOCS=1` writes the files that it
//! is made of, after a change of the chart.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use armature::export::{
    CRDS_TOKEN, DEPRECATIONS, GROUPS_TOKEN, Installation, NAMESPACE_TOKEN, TOKENS, crds, groups,
    identity,
};
use armature_controlplane::KUBERNETES_VERSION;
use serde_json::{Value, json};

use crate::chart::{NAMESPACE, helm, manifests};
use crate::cluster::Cluster;

fn file(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("src/export")
        .join(name)
}

/// The chart with tokens in the place of values, and lists of kinds and groups as tokens, too.
async fn with_tokens(more: &[&str]) -> Vec<Value> {
    let arguments = [
        "template",
        "armature",
        "--namespace",
        NAMESPACE_TOKEN,
        "--kube-version",
        KUBERNETES_VERSION,
        "--skip-schema-validation",
    ];
    let settings = TOKENS.map(|(value, token)| format!("{value}={token}"));
    let flag = format!("{}=true", DEPRECATIONS.0);
    let settings = settings.iter().chain([&flag]).map(String::as_str);
    let settings: Vec<&str> = settings.collect();
    let output = helm(&arguments, &[settings.as_slice(), more].concat()).await;
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{errors}");
    let text = String::from_utf8(output.stdout).unwrap();
    let mut documents: Vec<Value> = serde_saphyr::from_multiple(&text).unwrap();
    let kinds = armature_generated::KINDS;
    let lists = [
        (Value::from(crds(kinds)), CRDS_TOKEN),
        (Value::from(groups(kinds)), GROUPS_TOKEN),
    ];
    for document in &mut documents {
        shorten(document, &lists);
    }
    documents
}

fn shorten(value: &mut Value, lists: &[(Value, &str)]) {
    if let Some((_, token)) = lists.iter().find(|(list, _)| list == value) {
        *value = json!([token]);
    }
    match value {
        Value::Array(items) => items.iter_mut().for_each(|item| shorten(item, lists)),
        Value::Object(members) => members.values_mut().for_each(|one| shorten(one, lists)),
        _ => {}
    }
}

fn text(documents: &[Value]) -> String {
    let mut text = String::from(
        "# What helm makes of deploy/chart with tokens as values; operator/tests/chart/export.rs writes it.\n",
    );
    for document in documents {
        text.push_str("---\n");
        text.push_str(&serde_saphyr::to_string(document).unwrap());
    }
    text
}

#[tokio::test]
async fn the_files_are_what_helm_makes_of_the_chart() {
    let base = with_tokens(&[]).await;
    let mut others = with_tokens(&["useWorkloadIdentityAuth=true"]).await;
    let names: BTreeSet<_> = base.iter().map(identity).collect();
    assert_eq!(
        names.len(),
        base.len(),
        "documents are told by kind and name"
    );
    assert_eq!(names, others.iter().map(identity).collect());
    others.retain(|other| !base.contains(other));
    assert!(!others.is_empty());
    for (name, documents) in [
        ("installation.yaml", &base),
        ("workload-identity.yaml", &others),
    ] {
        let expected = text(documents);
        if std::env::var_os("ARMATURE_WRITE_DOCS").is_some() {
            std::fs::write(file(name), expected).unwrap();
        } else {
            let known = std::fs::read_to_string(file(name)).unwrap();
            assert!(
                known == expected,
                "{name} is not what helm makes of the chart; ARMATURE_WRITE_DOCS=1 writes it, and build anew"
            );
        }
    }
}

/// Nothing, whether it is said by `null` or by an empty map.
fn plain(value: &Value) -> Value {
    match value {
        Value::Object(members) if members.is_empty() => Value::Null,
        Value::Object(members) => members
            .iter()
            .map(|(name, one)| (name.clone(), plain(one)))
            .collect(),
        Value::Array(items) => items.iter().map(plain).collect(),
        other => other.clone(),
    }
}

fn program(line: &[&str]) -> Vec<Value> {
    let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_armature"));
    let output = command.args(["export", "operator"]).args(line).output();
    let output = output.unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{errors}");
    serde_saphyr::from_multiple(&String::from_utf8(output.stdout).unwrap()).unwrap()
}

#[tokio::test]
async fn what_is_printed_is_what_helm_renders() {
    let folder = tempfile::tempdir().unwrap();
    let secret = folder.path().join("secret");
    std::fs::write(&secret, "s3cret: \"quoted\" {x}\n").unwrap();
    let secret = secret.to_str().unwrap();
    let rows: [(&[&str], &[&str]); 7] = [
        (&[], &[]),
        (&["--crd-deprecations"], &["crdDeprecations=true"]),
        (
            &["--crd-pattern", "resources.azure.com/*;storage.azure.com/*"],
            &["crdPattern=resources.azure.com/*;storage.azure.com/*"],
        ),
        (
            &[
                "--crd-pattern",
                "resources.azure.com/*",
                "--crd-pattern",
                "sql.azure.com/*",
                "--crd-versions",
                "latest",
            ],
            &[
                "crdPattern=resources.azure.com/*;sql.azure.com/*",
                "crdVersions=latest",
            ],
        ),
        (
            &["--image", "localhost:5000/team/armature:1.2.3"],
            &[
                "image.repository=localhost:5000/team/armature",
                "image.tag=1.2.3",
            ],
        ),
        (
            &[
                "--subscription",
                "a",
                "--tenant",
                "b",
                "--client",
                "c",
                "--client-secret-file",
                secret,
            ],
            &[
                "azureSubscriptionID=a",
                "azureTenantID=b",
                "azureClientID=c",
                "azureClientSecret=s3cret: \"quoted\" {x}",
            ],
        ),
        (
            &[
                "--workload-identity",
                "--subscription",
                "a",
                "--tenant",
                "b",
                "--client",
                "c",
            ],
            &[
                "useWorkloadIdentityAuth=true",
                "azureSubscriptionID=a",
                "azureTenantID=b",
                "azureClientID=c",
            ],
        ),
    ];
    for (flags, values) in rows {
        let printed = program(flags);
        let rendered = manifests(values).await;
        assert_eq!(printed[0]["kind"], "Namespace");
        assert_eq!(printed[0]["metadata"]["name"], NAMESPACE);
        assert_eq!(printed.len() - 1, rendered.len(), "{flags:?}");
        for (printed, rendered) in printed[1..].iter().zip(&rendered) {
            assert_eq!(plain(printed), plain(rendered), "{flags:?}");
        }
    }
}

#[test]
fn a_pattern_that_names_nothing_is_told() {
    let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_armature"));
    command.args(["export", "operator", "--crd-pattern", "storag.azure.com/*"]);
    let output = command.output().unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(
        !output.status.success() && errors.contains("storag.azure.com"),
        "{errors}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn the_api_server_takes_it_as_it_is() {
    let cluster = Cluster::start().await;
    let flags = [
        "--namespace",
        "platform",
        "--workload-identity",
        "--client",
        "c",
    ];
    let installation = program(&flags);
    for manifest in &installation {
        cluster.apply(manifest).await;
    }
    let same = Installation {
        namespace: Some("platform".to_owned()),
        has_workload_identity: true,
        client: Some("c".to_owned()),
        ..Installation::default()
    };
    let same = same.manifests(armature_generated::KINDS).unwrap();
    assert_eq!(
        installation.iter().map(plain).collect::<Vec<_>>(),
        same.iter().map(plain).collect::<Vec<_>>()
    );
}
