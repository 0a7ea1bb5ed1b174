//! `docs/tutorial-gitops.md` and `samples/tutorial-gitops`: with Flux's own library and the Lua of Argo CD.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use armature::render::manifest;
use armature_controlplane::waiting::until_ok;
use armature_controlplane::{Flux, argo_health};
use armature_progress::Progress;
use kube::api::{Api, ApiResource, DynamicObject};
use kube::core::GroupVersionKind;
use serde_json::{Value, json};

use super::stage::{SUBSCRIPTION, Stage};

const NAMESPACE: &str = "shop";
/// The subscription of nobody, in whose place readers put their own.
const OF_NOBODY: &str = "00000000-0000-0000-0000-000000000000";

fn folder(name: &str) -> PathBuf {
    let samples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../samples/tutorial-gitops");
    samples.join(name)
}

/// The manifests of a folder, with the reader's subscription, in the order of files.
fn manifests(name: &str) -> Vec<Value> {
    let (documents, errors) = manifest::read(&[folder(name)]);
    assert!(errors.is_empty(), "{errors:?}");
    let own = |value: Value| {
        let text = value.to_string().replace(OF_NOBODY, SUBSCRIPTION);
        serde_json::from_str(&text).unwrap()
    };
    let all = documents.into_iter().map(|one| own(one.value));
    // Read by kustomize alone.
    let is_applied = |one: &Value| one["apiVersion"] != "kustomize.config.k8s.io/v1beta1";
    all.filter(is_applied).collect()
}

/// The manifests of Azure's kinds, and the namespace before them.
fn of_azure() -> (Value, Vec<Value>) {
    let (mut namespaces, objects): (Vec<_>, Vec<_>) = manifests("azure")
        .into_iter()
        .partition(|one| one["kind"] == "Namespace");
    assert_eq!(namespaces.len(), 1);
    (namespaces.remove(0), objects)
}

fn api(stage: &Stage, object: &Value) -> Api<DynamicObject> {
    let version = object["apiVersion"].as_str().unwrap();
    let (group, version) = version.split_once('/').unwrap();
    let kind = GroupVersionKind::gvk(group, version, object["kind"].as_str().unwrap());
    let resource = ApiResource::from_gvk(&kind);
    Api::namespaced_with(stage.cluster.client.clone(), NAMESPACE, &resource)
}

async fn live(stage: &Stage, object: &Value) -> Value {
    let name = object["metadata"]["name"].as_str().unwrap();
    serde_json::to_value(api(stage, object).get(name).await.unwrap()).unwrap()
}

/// The script of the page's ConfigMap.
fn health_script() -> String {
    let maps = manifests("argocd");
    let is_map = |one: &&Value| one["kind"] == "ConfigMap";
    let map = maps.iter().find(is_map).unwrap();
    let text = map["data"]["resource.customizations"].as_str().unwrap();
    let customizations: Value = serde_saphyr::from_str(text).unwrap();
    customizations["*.azure.com/*"]["health.lua"]
        .as_str()
        .unwrap()
        .to_owned()
}

#[tokio::test(flavor = "multi_thread")]
async fn flux_and_argo_cd_see_what_the_page_says() {
    let groups = "resources.azure.com/*;storage.azure.com/*";
    let stage = Stage::with_operator("tutorial-gitops.md", groups).await;
    let kubeconfig = stage.cluster.admin_kubeconfig();
    let mut flux = Flux::start(&kubeconfig, &Progress::default())
        .await
        .unwrap();
    let (namespace, objects) = of_azure();
    flux.apply(&namespace).await.unwrap();
    for object in &objects {
        let script = health_script();
        until_ok("Flux to apply an object", async || flux.apply(object).await).await;
        let (health, _) = argo_health(&script, &without_status(object)).await.unwrap();
        assert_eq!(health, "Progressing", "nobody has looked at it");
    }
    for object in &objects {
        until_ok("Flux to find an object current", async || {
            let status = flux.status(&live(&stage, object).await).await?;
            (status == "Current").then_some(()).ok_or(status)
        })
        .await;
        let live = live(&stage, object).await;
        let (health, message) = argo_health(&health_script(), &live).await.unwrap();
        assert_eq!(health, "Healthy", "{message}: {live:#}");
        // What the operator has written is no drift of git.
        let (action, answer) = flux.diff(object).await.unwrap();
        assert_eq!(action, "unchanged", "{answer:#}");
    }
    for object in manifests("app") {
        flux.apply(&object).await.unwrap();
    }
    waiting_is_not_failing(&mut flux).await;
    prune(&stage, &objects).await;
}

/// The rows of the page's table that the objects of the folder do not come to.
async fn waiting_is_not_failing(flux: &mut Flux) {
    for (condition, status, expected) in [
        ("Ready", "Unknown", "InProgress"),
        ("Ready", "False", "InProgress"),
        ("Reconciling", "True", "InProgress"),
        ("Stalled", "True", "Failed"),
    ] {
        let object = json!({
            "apiVersion": "storage.azure.com/v1api20230101", "kind": "StorageAccount",
            "metadata": {"name": "x", "namespace": NAMESPACE, "generation": 1},
            "status": {
                "observedGeneration": 1,
                "conditions": [{"type": condition, "status": status, "reason": "x", "message": ""}],
            },
        });
        let found = flux.status(&object).await.unwrap();
        assert_eq!(found, expected, "{condition} {status}");
    }
}

fn without_status(object: &Value) -> Value {
    let mut object = object.clone();
    object["metadata"]["generation"] = json!(1);
    object
}

/// What becomes of objects whose manifests are taken out of git: Flux leaves alone what says so, and deletes the rest.
async fn prune(stage: &Stage, objects: &[Value]) {
    let mut kept = BTreeSet::new();
    for object in objects {
        let name = object["metadata"]["name"].as_str().unwrap();
        let annotations = &object["metadata"]["annotations"];
        if annotations["kustomize.toolkit.fluxcd.io/prune"] == "disabled" {
            let argo = annotations["argocd.argoproj.io/sync-options"].as_str();
            assert_eq!(
                argo,
                Some("Prune=false,Delete=false"),
                "Argo CD is told as well"
            );
            let refused = api(stage, object).delete(name, &Default::default()).await;
            let refused = refused.unwrap_err().to_string();
            assert!(refused.contains("is protected from deletion"), "{refused}");
            kept.insert(name);
            continue;
        }
        let all = api(stage, object);
        all.delete(name, &Default::default()).await.unwrap();
        until_ok(&format!("{name} to be gone"), async || {
            match all.get_opt(name).await.unwrap() {
                None => Ok(()),
                Some(object) => Err(format!("{:#}", object.data)),
            }
        })
        .await;
    }
    assert_eq!(kept.into_iter().collect::<Vec<_>>(), ["shop"]);
    let group = format!("/subscriptions/{SUBSCRIPTION}/resourceGroups/shop");
    let storage = format!("{group}/providers/Microsoft.Storage/storageAccounts");
    let left = [group, format!("{storage}/shopgitopsdata")];
    assert_eq!(stage.resources(), left, "`data` says detach-on-delete");
}

/// Objects as the operator leaves them, and what Argo CD is to think of them.
#[tokio::test]
async fn argo_cd_tells_waiting_from_failed() {
    let script = health_script();
    let object = |generation: u32, ready: Value| {
        json!({
            "metadata": {"name": "x", "generation": generation},
            "status": {"conditions": [{"type": "Other", "status": "False"}, ready], "observedGeneration": 1},
        })
    };
    let ready = |status: &str, severity: &str, reason: &str, message: &str| json!({"type": "Ready", "status": status, "severity": severity, "reason": reason, "message": message, "observedGeneration": 1});
    for (generation, condition, health, told) in [
        (
            1,
            ready("True", "", "Succeeded", ""),
            "Healthy",
            "Succeeded",
        ),
        (
            1,
            ready("Unknown", "", "Pending", "nobody"),
            "Progressing",
            "nobody",
        ),
        (
            2,
            ready("True", "", "Succeeded", ""),
            "Progressing",
            "an edit",
        ),
        (
            1,
            ready("False", "Info", "Reconciling", "at work"),
            "Progressing",
            "at work",
        ),
        (
            1,
            ready("False", "Warning", "WaitingForOwner", "no owner"),
            "Progressing",
            "no owner",
        ),
        (
            1,
            ready("False", "Error", "BadRequest", "no such sku"),
            "Degraded",
            "no such sku",
        ),
        (
            2,
            ready("False", "Error", "BadRequest", "no such sku"),
            "Progressing",
            "an edit",
        ),
        (
            1,
            ready("False", "Info", "Paused", "until noon"),
            "Suspended",
            "until noon",
        ),
    ] {
        let object = object(generation, condition);
        let (status, message) = argo_health(&script, &object).await.unwrap();
        assert_eq!(status, health, "{object:#}");
        assert!(message.starts_with(told), "{message}: {object:#}");
    }
    let mut deleted = object(1, ready("True", "", "Succeeded", ""));
    deleted["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z".into();
    let (status, _) = argo_health(&script, &deleted).await.unwrap();
    assert_eq!(status, "Progressing");
}

/// Folders, charts and names that the manifests of Flux and Argo CD refer to are there.
#[test]
fn what_flux_and_argo_cd_are_pointed_at_is_there() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let is_there = |path: &Value| {
        let path = path.as_str().unwrap();
        assert!(root.join(path).is_dir(), "{path}");
    };
    let flux = manifests("flux");
    let names: BTreeMap<_, _> = flux
        .iter()
        .map(|one| ((&one["kind"], &one["metadata"]["name"]), one))
        .collect::<Vec<_>>()
        .into_iter()
        .map(|((kind, name), one)| (format!("{kind}/{name}"), one))
        .collect();
    assert_eq!(flux.len(), 4);
    for one in &flux {
        let spec = &one["spec"];
        if one["kind"] == "Kustomization" {
            is_there(&spec["path"]);
            let source = &spec["sourceRef"];
            assert!(names.contains_key(&format!("{}/{}", source["kind"], source["name"])));
            for needed in spec["dependsOn"].as_array().into_iter().flatten() {
                assert!(names.contains_key(&format!(
                    "{}/{}",
                    json!("Kustomization"),
                    needed["name"]
                )));
            }
        }
        if one["kind"] == "HelmRelease" {
            is_there(&spec["chart"]["spec"]["chart"]);
        }
    }
    let applications = manifests("argocd");
    let applications = applications
        .iter()
        .filter(|one| one["kind"] == "Application");
    assert_eq!(
        applications
            .map(|one| is_there(&one["spec"]["source"]["path"]))
            .count(),
        3
    );
    for name in ["azure", "app"] {
        let text = std::fs::read_to_string(folder(name).join("kustomization.yaml")).unwrap();
        let listed: Value = serde_saphyr::from_str(&text).unwrap();
        let listed = listed["resources"].as_array().unwrap().iter();
        let listed: BTreeSet<String> = listed.map(|one| one.as_str().unwrap().to_owned()).collect();
        let files = std::fs::read_dir(folder(name)).unwrap();
        let files = files.map(|file| file.unwrap().file_name().into_string().unwrap());
        let files: BTreeSet<String> = files.filter(|file| file != "kustomization.yaml").collect();
        assert_eq!(listed, files, "{name}/kustomization.yaml");
    }
}
