//! Names in Azure that the operator makes up.

use armature_azure::Method;
use armature_reconcile::azure_name;
use armature_shapes::kind::{HubInfo, KindInfo, NameRule, OwnerRule, Remote, Scope, UuidText};
use armature_shapes::shape::Rules;

use super::*;

static GRANT: KindInfo = KindInfo {
    group: "toys.azure.com",
    kind: "Grant",
    plural: "grants",
    category: "toys",
    remote: Remote::Arm {
        arm_type: "Microsoft.Toys/grants",
        scope: Scope::Extension,
    },
    owner: OwnerRule::Any,
    name: NameRule::Uuid {
        rules: &Rules::NONE,
        text: UuidText::WithOwnerId,
    },
    versions: kinds::BOX.versions,
    hub: HubInfo {
        storage_version: kinds::BOX.hub.storage_version,
        spec: kinds::BOX.hub.spec,
        status: kinds::BOX.hub.status,
    },
    secrets: &[],
    config_maps: &[],
    errors: &[],
    azure_owned: &[],
    equal_values: &[],
};

fn text() -> String {
    format!("{GROUP}:Grant/toys.azure.com:default/a")
}

fn id(name: &str) -> String {
    format!("{GROUP}/providers/Microsoft.Toys/grants/{name}")
}

fn world(convention: Option<&str>, azure_name: Option<&str>) -> (World, ObjectKey) {
    let mut world = World::new();
    let journal = world.journal.clone();
    world.cluster = Arc::new(MemoryCluster::with_kinds(journal, &[&GRANT]));
    let grant = apply(&world, convention, azure_name);
    (world, grant)
}

fn apply(world: &World, convention: Option<&str>, azure_name: Option<&str>) -> ObjectKey {
    let mut spec = json!({"owner": {"armId": GROUP}, "size": 3});
    if let Some(convention) = convention {
        spec["operatorSpec"] = json!({"namingConvention": convention});
    }
    if let Some(name) = azure_name {
        spec["azureName"] = json!(name);
    }
    world.cluster.apply(&GRANT, "a", &spec)
}

fn written(world: &World, grant: &ObjectKey) -> Option<String> {
    let spec = world.cluster.object(grant)?.spec?;
    let spec: Value = serde_json::from_str(spec.get()).ok()?;
    spec["azureName"].as_str().map(str::to_owned)
}

#[tokio::test]
async fn the_name_is_in_the_object_before_anything_is_sent() {
    let stable = azure_name::stable("a", &text());
    let random = azure_name::pretended(&text());
    for (convention, azure_name, expected) in [
        (None, None, stable.as_str()),
        (Some("stable"), None, &stable),
        (Some("random"), None, &random),
        (None, Some("given"), "given"),
        (Some("random"), Some("given"), "given"),
    ] {
        let (world, grant) = world(convention, azure_name);
        world
            .azure
            .script(Method::Get, &id(expected), error(500, "Broken"));
        world.pass(&grant).await;
        assert_eq!(written(&world, &grant).as_deref(), Some(expected));
        assert_eq!(world.requests(), [format!("GET {}", id(expected))]);
        world.azure.clear_script();
        assert_eq!(world.pass(&grant).await, Requeue::Sync);
        assert_eq!(world.azure.take_bodies().len(), 1);
        assert!(world.azure.get(&id(expected)).is_some(), "{convention:?}");
        world.forget();
        assert_eq!(world.pass(&grant).await, Requeue::Sync);
        assert_eq!(world.requests(), [format!("GET {}", id(expected))]);
    }
}

/// A claim that writes the name is part of the pass that sends it: nothing is sent twice.
#[tokio::test]
async fn one_pass_is_enough() {
    let (world, grant) = world(None, None);
    assert_eq!(world.pass(&grant).await, Requeue::Sync);
    let object = world.cluster.object(&grant).unwrap();
    let observed = world.cluster.status(&grant)["observedGeneration"].clone();
    assert_eq!(observed, json!(object.metadata.generation.unwrap()));
    assert_eq!(
        world.azure.take_bodies(),
        [json!({
            "name": azure_name::stable("a", &text()), "properties": {"size": 3},
        })]
    );
}

/// A manifest that replaces the object has no name, and may ask for another convention.
#[tokio::test]
async fn a_name_that_goes_from_the_spec_stays_the_name() {
    let (world, grant) = world(None, Some("by-another-operator"));
    assert_eq!(world.pass(&grant).await, Requeue::Sync);
    for convention in [None, Some("random")] {
        apply(&world, convention, None);
        world.forget();
        assert_eq!(world.pass(&grant).await, Requeue::Sync, "{convention:?}");
        let get = format!("GET {}", id("by-another-operator"));
        assert_eq!(world.requests(), [get], "{convention:?}");
    }
    world.cluster.delete(&grant);
    world.pass(&grant).await;
    assert!(world.azure.get(&id("by-another-operator")).is_none());
}

#[test]
fn random_names_differ() {
    assert_ne!(azure_name::random("a"), azure_name::random("a"));
}
