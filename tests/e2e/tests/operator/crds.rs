//! CRDs on a real API server: installed by the operator, converted by its webhook.

use armature_e2e::World;
use armature_runtime::kubernetes::InstalledCrd;
use kube::api::{Api, ListParams};

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
