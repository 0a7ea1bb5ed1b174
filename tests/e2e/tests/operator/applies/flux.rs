//! Flux applies samples, and its diff finds no change afterwards, at whatever version they are written.

use std::path::Path;

use armature::render::manifest;
use armature_controlplane::Flux;
use armature_controlplane::waiting::until;
use armature_e2e::{World, condition, kind_info};
use armature_runtime::conversion::{convert, is_stash_annotation};
use armature_runtime::kind::{KindInfo, VersionInfo};
use serde_json::Value;

use super::leave_alone;
use crate::{SUBSCRIPTION, is_ready, resource_group};

/// A sample and the versions in which it is tried.
struct Sample {
    kind: &'static KindInfo,
    value: Value,
    versions: Vec<&'static VersionInfo>,
}

/// Samples of every kind, at the newest version that is served, or at each of them with `cargo xtask test --all`.
fn samples(namespace: &str) -> Vec<Sample> {
    let all = std::env::var_os("ARMATURE_ALL_VERSIONS").is_some();
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../samples");
    let (documents, errors) = manifest::read(&[folder]);
    assert!(errors.is_empty(), "{errors:?}");
    let mut samples = Vec::new();
    for document in documents {
        let mut value = document.value;
        let api_version = value["apiVersion"].as_str().unwrap_or_default().to_owned();
        let group = api_version.split('/').next().unwrap_or_default();
        let kinds = armature_generated::KINDS.iter();
        let mut kinds = kinds.filter(|kind| kind.group == group && value["kind"] == kind.kind);
        let Some(kind) = kinds.next() else {
            continue;
        };
        value["metadata"]["namespace"] = namespace.into();
        // Samples of two folders may have one name.
        value["metadata"]["name"] = format!("sample{}", samples.len()).into();
        leave_alone(&mut value);
        let mut versions: Vec<_> = kind.served_unasked().collect();
        if !all {
            versions.drain(..versions.len() - 1);
        }
        samples.push(Sample {
            kind,
            value,
            versions,
        });
    }
    samples
}

/// The sample in the version's words, as somebody writes it who moves the manifest there: members that the version lacks
/// are left out.
fn at(sample: &Sample, version: &VersionInfo) -> Value {
    let mut moved = convert(sample.kind, sample.value.clone(), version.name).unwrap();
    if let Some(annotations) = moved["metadata"]["annotations"].as_object_mut() {
        annotations.retain(|key, _| !is_stash_annotation(key));
    }
    moved
}

#[test]
fn after_an_apply_of_any_sample_there_is_nothing_to_change() {
    const NAMESPACE: &str = "applies-samples";
    World::shared().run(NAMESPACE, async |world, _| {
        let mut flux = Flux::start(world.plane().kubeconfig(), &Default::default())
            .await
            .unwrap();
        let samples = samples(NAMESPACE);
        assert!(samples.len() >= armature_generated::KINDS.len());
        let mut problems = Vec::new();
        for sample in &samples {
            for version in &sample.versions {
                let moved = at(sample, version);
                let what = format!(
                    "{} {} {}",
                    sample.kind.group, sample.kind.kind, version.name
                );
                match applied_and_compared(&mut flux, &moved).await {
                    Ok(()) => {}
                    Err(problem) => problems.push(format!("{what}: {problem}")),
                }
            }
        }
        assert!(problems.is_empty(), "{}", problems.join("\n"));
    });
}

async fn applied_and_compared(flux: &mut Flux, object: &Value) -> Result<(), String> {
    flux.apply(object).await?;
    match flux.diff(object).await? {
        (action, _) if action == "unchanged" => Ok(()),
        (action, difference) => Err(format!("{action}: {difference}")),
    }
}

#[test]
fn an_object_that_the_operator_manages_moves_between_versions_without_drift() {
    const NAMESPACE: &str = "applies-flux";
    const KIND: &str = "network/VirtualNetwork";
    World::shared().run(NAMESPACE, async |world, objects| {
        let mut flux = Flux::start(world.plane().kubeconfig(), &Default::default())
            .await
            .unwrap();
        objects
            .apply(&resource_group("flux-rg", NAMESPACE))
            .await
            .unwrap();
        let kind = kind_info(KIND);
        let versions: Vec<_> = kind.served_unasked().map(|version| version.name).collect();
        let net = format!(
            "{SUBSCRIPTION}/resourceGroups/flux-rg/providers/Microsoft.Network/virtualNetworks/flux-net"
        );
        let back = versions.iter().rev().skip(1);
        for (round, version) in versions.iter().chain(back).enumerate() {
            let manifest = serde_json::json!({
                "apiVersion": format!("{}/{version}", kind.group),
                "kind": kind.kind,
                "metadata": {
                    "name": "flux-net", "namespace": NAMESPACE,
                    "labels": {"round": round.to_string()},
                },
                "spec": {
                    "location": "westeurope", "owner": {"name": "flux-rg"},
                    "addressSpace": {"addressPrefixes": ["10.0.0.0/16"]},
                    "tags": {"round": round.to_string()},
                },
            });
            let action = flux.apply(&manifest).await.unwrap();
            let expected = if round == 0 { "created" } else { "configured" };
            assert_eq!(action, expected, "{version}");
            // Ready for this generation: the operator has nothing more to write.
            until("the change is done", async || {
                let object = objects.get(KIND, version, "flux-net").await.unwrap();
                let ready = condition(&object, "Ready");
                let generation = &object["metadata"]["generation"];
                is_ready(&ready) && ready["observedGeneration"] == *generation
            })
            .await;
            let (action, difference) = flux.diff(&manifest).await.unwrap();
            assert_eq!(action, "unchanged", "{version}: {difference}");
            let sent = world.azure().resource(&net).unwrap();
            assert_eq!(sent["tags"]["round"], round.to_string());
        }
    });
}
