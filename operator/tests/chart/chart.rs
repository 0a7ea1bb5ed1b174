//! What helm makes of the chart.

use std::path::{Path, PathBuf};
use std::process::Output;

use armature_controlplane::{KUBERNETES_VERSION, locate_or_build_helm};
use armature_progress::Progress;
use serde_json::Value;

pub const NAMESPACE: &str = "armature-system";

pub fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../deploy/chart")
}

pub async fn helm(arguments: &[&str], settings: &[&str]) -> Output {
    let helm = locate_or_build_helm(&Progress::default()).await.unwrap();
    let mut command = tokio::process::Command::new(helm);
    command.args(arguments).arg(folder());
    for setting in settings {
        command.args(["--set", setting]);
    }
    command.output().await.unwrap()
}

/// The manifests that helm would apply.
pub async fn manifests(settings: &[&str]) -> Vec<Value> {
    release("armature", settings).await
}

/// The manifests that helm would apply for a release of this name.
pub async fn release(name: &str, settings: &[&str]) -> Vec<Value> {
    template(name, &[], settings).await
}

/// The same with further arguments.
pub async fn template(name: &str, more: &[&str], settings: &[&str]) -> Vec<Value> {
    let arguments = [
        "template",
        name,
        "--namespace",
        NAMESPACE,
        "--kube-version",
        KUBERNETES_VERSION,
    ];
    let output = helm(&[&arguments, more].concat(), settings).await;
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && errors.is_empty(), "{errors}");
    serde_saphyr::from_multiple(&String::from_utf8(output.stdout).unwrap()).unwrap()
}

/// The manifest of a kind and name.
pub fn find<'m>(manifests: &'m [Value], kind: &str, name: &str) -> &'m Value {
    manifests
        .iter()
        .find(|manifest| manifest["kind"] == kind && manifest["metadata"]["name"] == name)
        .unwrap_or_else(|| panic!("the chart has no {kind} {name}"))
}

/// An admission policy and its binding, where the chart makes them.
pub fn policy<'m>(manifests: &'m [Value], name: &str) -> Vec<&'m Value> {
    let is_of_policy = |manifest: &&Value| {
        let kind = manifest["kind"].as_str().unwrap_or_default();
        kind.starts_with("ValidatingAdmissionPolicy") && manifest["metadata"]["name"] == name
    };
    manifests.iter().filter(is_of_policy).collect()
}

/// The Deployment, whatever the release is called.
pub fn deployment(manifests: &[Value]) -> &Value {
    let mut manifests = manifests.iter();
    let found = manifests.find(|manifest| manifest["kind"] == "Deployment");
    found.expect("the chart has a Deployment")
}

/// The namespace of a manifest.
pub fn namespace_of(manifest: &Value) -> &str {
    let namespace = manifest["metadata"]["namespace"].as_str();
    namespace.expect("the chart says where it is")
}

/// Adds an argument to the operator's command line.
pub fn add_argument(manifests: &mut [Value], argument: &str) {
    let deployment = manifests
        .iter_mut()
        .find(|manifest| manifest["kind"] == "Deployment")
        .expect("the chart has a Deployment");
    let arguments = &mut deployment["spec"]["template"]["spec"]["containers"][0]["args"];
    let arguments = arguments.as_array_mut().expect("a list");
    arguments.push(argument.into());
}
