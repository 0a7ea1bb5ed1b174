//! Properties that hold for every kind and version: the codec keeps documents, conversion loses nothing.
#![allow(
    clippy::panic,
    clippy::unwrap_used,
    reason = "helpers of tests may panic as tests do"
)]

use armature_generated::KINDS;
use armature_runtime::engine::conversion::{
    STASH_ANNOTATION, from_hub, hub_to_stored, stored_to_hub, to_hub,
};
use armature_runtime::kind::{KindInfo, VersionInfo};
use armature_runtime::shape::arbitrary::Arbitrary;
use armature_runtime::shape::{StructShape, UnknownFields, recode};
use proptest::test_runner::{Config, TestCaseError, TestRunner};
use serde_json::{Value, json};

/// Runs a property over values of every size, each from a seed.
fn for_all(what: &str, property: impl Fn(u64, usize) -> Result<(), String>) {
    let config = Config {
        cases: 24,
        // The seeds of failures are in the message; nothing is to be written beside the sources.
        failure_persistence: None,
        ..Config::default()
    };
    let inputs = (proptest::num::u64::ANY, 0..120_usize);
    let result = TestRunner::new(config).run(&inputs, |(seed, size)| {
        property(seed, size).map_err(TestCaseError::fail)
    });
    if let Err(error) = result {
        panic!("{what}: {error}");
    }
}

fn versions() -> impl Iterator<Item = (&'static KindInfo, &'static VersionInfo)> {
    let kinds = KINDS.iter();
    kinds.flat_map(|kind| kind.versions.iter().map(move |version| (*kind, version)))
}

fn object(
    kind: &KindInfo,
    version: &str,
    shapes: (&'static StructShape, &'static StructShape),
    seed: u64,
    size: usize,
) -> Value {
    let mut values = Arbitrary::typed(seed, size);
    json!({
        "apiVersion": format!("{}/{version}", kind.group),
        "kind": kind.kind,
        "metadata": {"name": "n", "namespace": "ns", "annotations": {"mine": "1"}},
        "spec": values.object(shapes.0),
        "status": values.object(shapes.1),
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
    hub_to_stored(kind, &hub).unwrap()
}

fn same(expected: &Value, found: &Value) -> Result<(), String> {
    if expected == found {
        return Ok(());
    }
    Err(format!("expected {expected:#}\nfound {found:#}"))
}

#[test]
fn the_codec_keeps_every_document() {
    let mut seen: Vec<*const StructShape> = Vec::new();
    let hubs = KINDS
        .iter()
        .flat_map(|kind| [kind.hub.spec, kind.hub.status]);
    let served = versions().flat_map(|(_, version)| [version.spec, version.status]);
    for shape in hubs.chain(served) {
        if seen.contains(&std::ptr::from_ref(shape)) {
            continue;
        }
        seen.push(shape);
        for_all(shape.name, |seed, size| {
            let document = Arbitrary::typed(seed, size).object(shape);
            let recoded = recode(shape, &document, UnknownFields::Deny);
            same(&document, &recoded.map_err(|error| error.to_string())?)
        });
    }
}

#[test]
fn spoke_to_hub_to_spoke_is_the_same_object() {
    for (kind, version) in versions() {
        for_all(&format!("{} {}", kind.kind, version.name), |seed, size| {
            let before = served(kind, version, seed, size);
            let stored = to_hub(kind, version.name, &before).unwrap();
            assert_eq!(stored["spec"]["originalVersion"], version.name);
            same(&before, &from_hub(kind, version.name, &stored).unwrap())
        });
    }
}

#[test]
fn hub_to_spoke_to_hub_is_the_same_object() {
    for (kind, version) in versions() {
        for_all(&format!("{} {}", kind.kind, version.name), |seed, size| {
            let mut before = stored(kind, seed, size);
            let served = from_hub(kind, version.name, &before).unwrap();
            // The version last written through is the original one.
            before["spec"]["originalVersion"] = json!(version.name);
            same(&before, &to_hub(kind, version.name, &served).unwrap())
        });
    }
}

#[test]
fn a_detour_through_any_other_version_changes_nothing() {
    for (kind, version) in versions() {
        for other in kind.versions {
            let what = format!("{} {} via {}", kind.kind, version.name, other.name);
            for_all(&what, |seed, size| {
                let before = served(kind, version, seed, size);
                let stored = to_hub(kind, version.name, &before).unwrap();
                let detour = from_hub(kind, other.name, &stored).unwrap();
                let back = to_hub(kind, other.name, &detour).unwrap();
                let after = from_hub(kind, version.name, &back).unwrap();
                assert!(
                    after["metadata"]["annotations"]
                        .get(STASH_ANNOTATION)
                        .is_none()
                );
                same(&before, &after)
            });
        }
    }
}

#[test]
fn hub_and_stored_form_say_the_same() {
    for kind in KINDS {
        for_all(kind.kind, |seed, size| {
            let stored = stored(kind, seed, size);
            let hub = stored_to_hub(kind, &stored).unwrap();
            same(&stored, &hub_to_stored(kind, &hub).unwrap())
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
        let (from, to) = match step {
            Step::Rename { version, hub } | Step::Retype { version, hub } => (*version, *hub),
            Step::Move { version, hub } => (version[0], *hub),
        };
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
