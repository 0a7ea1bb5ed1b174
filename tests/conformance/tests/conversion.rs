//! Properties that hold for every kind and version: conversion loses nothing.
#![allow(
    clippy::panic,
    clippy::unwrap_used,
    reason = "helpers of tests may panic as tests do"
)]

use armature_conformance::properties::{for_all, pruned, same, versions, with_one_variant};
use armature_generated::KINDS;
use armature_runtime::conversion::{
    from_hub, hub_to_stored, is_stash_annotation, stored_to_hub, to_hub,
};
use armature_runtime::kind::{KindInfo, VersionInfo};
use armature_runtime::shape::StructShape;
use armature_runtime::testing::arbitrary::Arbitrary;
use serde_json::{Value, json};

/// Values per version.
const CASES: u32 = 24;
/// Values per version for detours, which the other versions share: the number of pairs grows with its square.
const DETOURS: usize = 48;

fn object(
    kind: &KindInfo,
    version: &str,
    shapes: (&'static StructShape, &'static StructShape),
    seed: u64,
    size: usize,
) -> Value {
    let mut values = Arbitrary::loose(seed, size);
    // A version that does not know a variant cannot tell two of them from a choice of its user.
    let mut part = |shape| {
        let mut part = values.object(shape);
        with_one_variant(shape, &mut part);
        part
    };
    json!({
        "apiVersion": format!("{}/{version}", kind.group),
        "kind": kind.kind,
        "metadata": {"name": "n", "namespace": "ns", "annotations": {"mine": "1"}},
        "spec": part(shapes.0),
        "status": part(shapes.1),
    })
}

fn served(kind: &KindInfo, version: &VersionInfo, seed: u64, size: usize) -> Value {
    object(
        kind,
        version.name,
        (version.spec, version.status),
        seed,
        size,
    )
}

fn stored(kind: &KindInfo, seed: u64, size: usize) -> Value {
    let shapes = (kind.hub.spec, kind.hub.status);
    let hub = object(kind, kind.hub.storage_version, shapes, seed, size);
    hub_to_stored(kind, hub.clone()).unwrap()
}

/// A served object as the API server returns it: unknown members are gone, whatever the webhook answered.
/// What is known and was not expressed is in the stash, and the stash is there for nothing else.
fn returned(version: &VersionInfo, object: &Value) -> Value {
    let mut object = object.clone();
    object["spec"] = pruned(version.spec, &object["spec"]);
    object["status"] = pruned(version.status, &object["status"]);
    object
}

fn without_stash(object: &Value) -> Value {
    let mut object = object.clone();
    if let Some(annotations) = object["metadata"]["annotations"].as_object_mut() {
        annotations.retain(|key, _| !is_stash_annotation(key));
    }
    object
}

#[test]
fn spoke_to_hub_to_spoke_is_the_same_object() {
    for (kind, version) in versions() {
        for_all(
            &format!("{} {}", kind.kind, version.name),
            CASES,
            |seed, size| {
                let before = served(kind, version, seed, size);
                let stored = to_hub(kind, version.name, before.clone()).unwrap();
                assert_eq!(stored["spec"]["originalVersion"], version.name);
                let after = from_hub(kind, version.name, stored.clone()).unwrap();
                let known = returned(version, &before);
                same(&known, &without_stash(&after))?;
                if known == before {
                    same(&before, &after)?;
                }
                same(&stored, &to_hub(kind, version.name, after.clone()).unwrap())
            },
        );
    }
}

#[test]
fn hub_to_spoke_to_hub_is_the_same_object() {
    for (kind, version) in versions() {
        for_all(
            &format!("{} {}", kind.kind, version.name),
            CASES,
            |seed, size| {
                let mut before = stored(kind, seed, size);
                let served = returned(
                    version,
                    &from_hub(kind, version.name, before.clone()).unwrap(),
                );
                // The version last written through is the original one.
                before["spec"]["originalVersion"] = json!(version.name);
                same(
                    &before,
                    &to_hub(kind, version.name, served.clone()).unwrap(),
                )
            },
        );
    }
}

#[test]
fn a_detour_through_any_other_version_changes_nothing() {
    for (kind, version) in versions() {
        let cases = u32::try_from(DETOURS / kind.versions.len()).unwrap().max(2);
        for other in kind.versions {
            let what = format!("{} {} via {}", kind.kind, version.name, other.name);
            for_all(&what, cases, |seed, size| {
                let before = served(kind, version, seed, size);
                let stored = to_hub(kind, version.name, before.clone()).unwrap();
                let detour = returned(other, &from_hub(kind, other.name, stored.clone()).unwrap());
                let back = to_hub(kind, other.name, detour.clone()).unwrap();
                let after = from_hub(kind, version.name, back.clone()).unwrap();
                same(&returned(version, &before), &without_stash(&after))?;
                same(&stored, &to_hub(kind, version.name, after.clone()).unwrap())
            });
        }
    }
}

#[test]
fn hub_and_stored_form_say_the_same() {
    for kind in KINDS {
        for_all(kind.kind, CASES, |seed, size| {
            let stored = stored(kind, seed, size);
            let hub = stored_to_hub(kind, stored.clone()).unwrap();
            same(&stored, &hub_to_stored(kind, hub.clone()).unwrap())
        });
    }
}

#[test]
fn every_plan_names_fields_that_exist() {
    for (kind, version) in versions() {
        let place = format!("{} {}", kind.kind, version.name);
        check_plan(&place, version.spec, kind.hub.spec, version.spec_plan);
        check_plan(&place, version.status, kind.hub.status, version.status_plan);
    }
}

fn check_plan(
    place: &str,
    version: &'static StructShape,
    hub: &'static StructShape,
    plan: &armature_runtime::kind::Plan,
) {
    use armature_runtime::kind::Step;
    for step in plan.steps {
        let (Step::Rename {
            version: from,
            hub: to,
        }
        | Step::Retype {
            version: from,
            hub: to,
        }) = step;
        assert!(
            version.field(from).is_some(),
            "{place}: no `{from}` in the version"
        );
        assert!(hub.field(to).is_some(), "{place}: no `{to}` in the hub");
    }
    for (name, _) in plan.nested {
        assert!(
            version.field(name).is_some(),
            "{place}: no `{name}` in the version"
        );
    }
}
