//! CRDs on a real API server: installed by the operator, converted by its webhook.

use armature_e2e::World;
use armature_runtime::kubernetes::InstalledCrd;
use kube::api::{Api, ListParams};
use serde_json::{Value, json};

#[test]
fn every_kind_is_served_and_stored_at_its_storage_version() {
    let world = World::shared();
    let crds: Api<InstalledCrd> = Api::all(world.client().clone());
    let installed = world.block_on(crds.list(&ListParams::default())).unwrap();
    for kind in armature_generated::KINDS {
        let crd = installed.items.iter().find(|crd| crd.is_of(kind));
        let crd = crd.unwrap_or_else(|| panic!("{} is not installed", kind.kind));
        let labels = crd.metadata.labels.as_ref().unwrap();
        assert_eq!(labels["tests"], "labelled", "{}", kind.kind);
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
fn a_member_that_is_no_longer_applied_is_removed() {
    World::shared().run("removal", async |_, objects| {
        let manifest = |spec: Value| {
            json!({
                "apiVersion": "kusto.azure.com/v1api20230815",
                "kind": "Cluster",
                "metadata": {
                    "name": "removal",
                    "namespace": objects.namespace(),
                    "annotations": { "serviceoperator.azure.com/reconcile-policy": "skip" },
                },
                "spec": spec,
            })
        };
        let full = json!({
            "location": "westeurope",
            "owner": { "name": "rg" },
            "sku": { "name": "Standard_D13_v2", "tier": "Standard", "capacity": 2 },
            "optimizedAutoscale": { "isEnabled": true, "minimum": 1, "maximum": 2, "version": 1 },
            "enableAutoStop": true,
            "tags": { "a": "1", "b": "2" },
        });
        let mut part = full.clone();
        let members = part.as_object_mut().unwrap();
        members.remove("optimizedAutoscale");
        members.remove("enableAutoStop");
        part["tags"] = json!({ "a": "1" });
        let applied = objects.apply_value(&manifest(full.clone())).await.unwrap();
        assert_eq!(applied.data["spec"], full);
        // The operator writes at the storage version; whose members it owns must not come back.
        let written = |condition: &Value| condition["status"].is_string();
        objects
            .wait_ready("kusto/Cluster", "removal", written)
            .await;
        let applied = objects.apply_value(&manifest(part.clone())).await.unwrap();
        assert_eq!(applied.data["spec"], part);
    });
}
