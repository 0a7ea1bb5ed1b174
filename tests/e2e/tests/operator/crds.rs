//! CRDs on a real API server: installed by the operator, converted by its webhook.

use std::path::Path;

use armature_e2e::World;
use armature_runtime::engine::crd::{CrdOptions, custom_resource_definition, name};
use armature_runtime::kind::NameRule;
use armature_runtime::kubernetes::InstalledCrd;
use kube::api::{Api, ListParams};
use kube::client::Body;
use serde_json::{Value, json};

#[test]
fn every_kind_is_served_and_stored_at_its_storage_version() {
    let world = World::shared();
    let crds: Api<InstalledCrd> = Api::all(world.client().clone());
    let installed = world.block_on(crds.list(&ListParams::default())).unwrap();
    for kind in armature_generated::KINDS {
        let crd = installed.items.iter().find(|crd| crd.is_of(kind));
        let crd = crd.unwrap_or_else(|| panic!("{} is not installed", kind.kind));
        assert!(crd.serves(kind), "{} is not served", kind.kind);
        assert_eq!(crd.status.stored_versions, [kind.hub.storage_version]);
    }
}

#[test]
fn an_object_is_read_back_in_the_version_it_was_written_in() {
    World::shared().run("conversion", async |_, objects| {
        let applied = objects
            .apply(
                r"
apiVersion: resources.azure.com/v1api20200601
kind: ResourceGroup
metadata: {name: conversion, namespace: conversion, annotations: {serviceoperator.azure.com/reconcile-policy: skip}}
spec: {location: westeurope, tags: {team: web}}
",
            )
            .await
            .unwrap();
        assert_eq!(applied.data["spec"]["tags"]["team"], "web");
        let stored = objects
            .get("ResourceGroup", "v1api20200601storage", "conversion")
            .await
            .unwrap();
        assert_eq!(stored["spec"]["originalVersion"], "v1api20200601");
        assert_eq!(stored["spec"]["location"], "westeurope");
        let read = objects
            .get("ResourceGroup", "v1api20200601", "conversion")
            .await
            .unwrap();
        assert!(read["spec"].get("originalVersion").is_none(), "{read:#}");
        assert_eq!(read["spec"]["location"], "westeurope");
    });
}

#[test]
fn the_api_server_accepts_every_crd_without_a_warning() {
    let world = World::shared();
    let options = CrdOptions::default();
    for kind in armature_generated::KINDS {
        let crd = custom_resource_definition(kind, &options);
        let path = format!(
            "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/{}?dryRun=All&force=true&fieldManager=test",
            name(kind)
        );
        let request = http::Request::patch(path)
            .header("content-type", "application/apply-patch+yaml")
            .body(Body::from(serde_json::to_vec(&crd).unwrap()))
            .unwrap();
        let answer = world.block_on(world.client().send(request)).unwrap();
        assert!(
            answer.status().is_success(),
            "{}: {:?}",
            kind.kind,
            answer.status()
        );
        let warnings: Vec<_> = answer.headers().get_all("warning").iter().collect();
        assert!(warnings.is_empty(), "{}: {warnings:?}", kind.kind);
    }
}

/// For every kind: an object that exists in Azure may change its tags or annotations, but not its name there.
#[test]
fn the_name_in_azure_cannot_change_once_the_resource_exists() {
    World::shared().run("immutable", async |_, objects| {
        let mut checked = 0;
        for mut manifest in samples() {
            manifest["metadata"]["namespace"] = objects.namespace().into();
            // Left alone by the operator, so that the status is ours.
            manifest["metadata"]["annotations"]["serviceoperator.azure.com/reconcile-policy"] =
                "skip".into();
            let object = objects.apply_value(&manifest).await.unwrap();
            let kind = manifest["kind"].as_str().unwrap();
            let azure_name = manifest
                .pointer("/spec/azureName")
                .unwrap_or(&manifest["metadata"]["name"])
                .clone();
            objects
                .patch_stored_status(
                    kind,
                    &object,
                    json!({ "id": format!("/x/{}", azure_name.as_str().unwrap()) }),
                )
                .await
                .unwrap();

            manifest["metadata"]["annotations"]["note"] = "changed".into();
            manifest["spec"]["azureName"] = azure_name.clone();
            objects
                .apply_value(&manifest)
                .await
                .unwrap_or_else(|error| panic!("{kind}: {error}"));

            let Some(other) = other_name(kind, &azure_name) else {
                continue;
            };
            manifest["spec"]["azureName"] = other;
            let refused = objects.apply_value(&manifest).await;
            let Err(kube::Error::Api(status)) = refused else {
                panic!("{kind}: another name was accepted");
            };
            assert!(
                status
                    .message
                    .contains("azureName cannot change once the resource exists"),
                "{kind}: {}",
                status.message
            );
            checked += 1;
        }
        assert!(checked >= 15, "only {checked} kinds were checked");
    });
}

/// Another valid name, where a kind has more than one.
fn other_name(kind: &str, name: &Value) -> Option<Value> {
    let info = armature_generated::KINDS
        .iter()
        .find(|info| info.kind == kind)?;
    match info.name {
        NameRule::Free(_) => Some(format!("{}2", name.as_str()?).into()),
        NameRule::OneOf(_) | NameRule::Fixed(_) => None,
    }
}

/// Our own sample manifests: at least one per kind.
fn samples() -> Vec<Value> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../samples");
    let mut files: Vec<_> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| {
            path.extension()
                .is_some_and(|extension| extension == "yaml")
        })
        .collect();
    files.sort();
    files
        .iter()
        .flat_map(|file| {
            let text = std::fs::read_to_string(file).unwrap();
            serde_saphyr::from_multiple::<Value>(&text).unwrap()
        })
        .collect()
}
