//! What the API server accepts and refuses by the CRDs alone.

use armature_e2e::{Objects, World, kind_info};
use armature_runtime::engine::crd::{CrdOptions, custom_resource_definition};
use armature_runtime::kind::{KindInfo, OwnerRule, VersionInfo};
use armature_runtime::testing::arbitrary::Arbitrary;
use kube::api::{Api, DynamicObject, Patch, PatchParams, PostParams};
use kube::client::Body;
use serde_json::{Value, json};

/// Sends a request and returns status, warnings and body.
async fn send(client: &kube::Client, path: &str, body: &Value) -> (u16, Vec<String>, String) {
    let request = http::Request::post(path)
        .header("content-type", "application/json")
        .body(Body::from(body.to_string().into_bytes()))
        .unwrap();
    let response = client.send(request).await.unwrap();
    let status = response.status().as_u16();
    let warnings = response.headers().get_all("warning").iter();
    let warnings = warnings
        .map(|warning| warning.to_str().unwrap().to_owned())
        .collect();
    let bytes = response.into_body().collect_bytes().await.unwrap();
    (
        status,
        warnings,
        String::from_utf8_lossy(&bytes).into_owned(),
    )
}

#[test]
fn every_crd_is_accepted_without_a_warning() {
    let world = World::shared();
    for kind in armature_generated::KINDS {
        let mut crd = custom_resource_definition(kind, &CrdOptions::default());
        // Under another group, so that the API server checks it as new beside the one that is installed.
        let group = format!("check.{}", kind.group);
        crd["metadata"]["name"] = json!(format!("{}.{group}", kind.plural));
        crd["spec"]["group"] = json!(group);
        let path = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions?dryRun=All";
        let (status, warnings, body) = world.block_on(send(world.client(), path, &crd));
        assert_eq!(status, 201, "{}: {body}", kind.kind);
        assert!(warnings.is_empty(), "{}: {warnings:?}", kind.kind);
    }
}

/// The smallest object of a kind's newest version that keeps to its rules.
pub(crate) fn least(kind: &KindInfo, version: &VersionInfo, name: &str) -> DynamicObject {
    let object = json!({
        "apiVersion": format!("{}/{}", kind.group, version.name),
        "kind": kind.kind,
        "metadata": {
            "name": name,
            // Another operator's: ours leaves it alone.
            "annotations": {"serviceoperator.azure.com/operator-namespace": "elsewhere"},
        },
        "spec": Arbitrary::valid(1, 0).object(version.spec),
    });
    serde_json::from_value(object).unwrap()
}

pub(crate) fn newest(kind: &'static KindInfo) -> &'static VersionInfo {
    kind.served_unasked().next_back().unwrap()
}

pub(crate) fn dry_run() -> PostParams {
    PostParams {
        dry_run: true,
        ..PostParams::default()
    }
}

#[test]
fn every_kind_accepts_a_sound_object_and_refuses_two_owners_and_no_variant() {
    World::shared().run("owner-forms", async |_, objects| {
        for kind in armature_generated::KINDS {
            let version = newest(kind);
            let api = objects.api(&format!("{}/{}", kind.category, kind.kind), version.name);
            let sound = least(kind, version, "sound");
            let accepted = api.create(&dry_run(), &sound).await;
            assert!(accepted.is_ok(), "{}: {accepted:?} {sound:?}", kind.kind);
            if let Some(one_of) = version.spec.one_of {
                let mut none = sound.clone();
                let members = none.data["spec"].as_object_mut().unwrap();
                members.retain(|name, _| one_of.variants.iter().all(|one| one.field != name));
                let refused = api.create(&dry_run(), &none).await.unwrap_err().to_string();
                let message = "set exactly one of";
                assert!(refused.contains(message), "{}: {refused}", kind.kind);
            }
            if version.spec.field("owner").is_none() {
                continue;
            }
            let mut two = sound;
            two.data["spec"]["owner"]["armId"] = json!("/subscriptions/s/resourceGroups/r");
            let refused = api.create(&dry_run(), &two).await.unwrap_err().to_string();
            let message = match kind.owner {
                OwnerRule::Any => "set either armId, or group, kind and name together",
                OwnerRule::Kind { .. } | OwnerRule::None => "set exactly one of name and armId",
            };
            assert!(refused.contains(message), "{}: {refused}", kind.kind);
        }
    });
}

/// What Azure takes, and what it never could.
#[test]
fn names_and_values_are_taken_as_azure_takes_them() {
    const GROUP: &str = "/subscriptions/00000000-0000-0000-0000-000000000001/resourceGroups/g";
    let server = |version: &str| {
        json!({
            "owner": {"armId": GROUP}, "location": "westeurope", "version": version,
            "sku": {"name": "Standard_B1ms", "tier": "Burstable"},
        })
    };
    let named = |name: &str, owner: String| json!({"azureName": name, "owner": {"armId": owner}});
    let hub = |name: &str| {
        let mut spec = named(name, GROUP.to_owned());
        spec["location"] = json!("westeurope");
        spec
    };
    let of_bus = |name: &str| {
        named(
            name,
            format!("{GROUP}/providers/Microsoft.ServiceBus/namespaces/n"),
        )
    };
    let of_hub = |name: &str| {
        named(
            name,
            format!("{GROUP}/providers/Microsoft.EventHub/namespaces/n"),
        )
    };
    let of_store = |name: &str| {
        named(
            name,
            format!("{GROUP}/providers/Microsoft.AppConfiguration/configurationStores/n"),
        )
    };
    let tilde = "ARM has no '/' in a name, and writes '~' for it";
    let rows = [
        (
            "dbforpostgresql/FlexibleServer",
            "v1api20221201",
            server("15"),
            "",
        ),
        (
            "dbformysql/FlexibleServer",
            "v1api20230630",
            server("8.4"),
            "",
        ),
        ("eventhub/Namespace", "v1api20240101", hub("tel-01"), ""),
        ("eventhub/Namespace", "v1api20240101", hub("tel-eu1"), ""),
        (
            "eventhub/Namespace",
            "v1api20240101",
            hub(&format!("a{}z", "-".repeat(48))),
            "",
        ),
        (
            "eventhub/Namespace",
            "v1api20240101",
            hub("tel-1"),
            "spec.azureName",
        ),
        (
            "eventhub/Namespace",
            "v1api20240101",
            hub("1-tel-eu"),
            "spec.azureName",
        ),
        (
            "servicebus/NamespacesQueue",
            "v1api20240101",
            of_bus("desk~in"),
            "",
        ),
        (
            "servicebus/NamespacesQueue",
            "v1api20240101",
            of_bus("desk/in"),
            tilde,
        ),
        (
            "servicebus/NamespacesTopic",
            "v1api20240101",
            of_bus("desk/in"),
            tilde,
        ),
        (
            "eventhub/NamespacesEventhub",
            "v1api20240101",
            of_hub("desk/in"),
            tilde,
        ),
        (
            "appconfiguration/KeyValue",
            "v20240601",
            of_store("desk/in"),
            "and writes '~2F' for it",
        ),
    ];
    World::shared().run("as-azure", async |_, objects| {
        for (kind, version, spec, refused) in rows {
            let info = kind_info(kind);
            let object = json!({
                "apiVersion": format!("{}/{version}", info.group),
                "kind": info.kind,
                "metadata": {"name": "one"},
                "spec": spec,
            });
            let object: DynamicObject = serde_json::from_value(object).unwrap();
            let answer = objects.api(kind, version).create(&dry_run(), &object).await;
            match answer {
                Ok(_) => assert_eq!(refused, "", "{kind} {object:?}"),
                Err(error) => {
                    let error = error.to_string();
                    assert!(
                        !refused.is_empty() && error.contains(refused),
                        "{kind}: {error}"
                    );
                }
            }
        }
    });
}

#[test]
fn what_made_the_azure_resource_cannot_change_once_it_exists() {
    World::shared().run("immutable", async |_, objects| {
        for kind in armature_generated::KINDS {
            // What cannot be read has no id that a rule could see: there the operator alone refuses, and tells it.
            let status = newest(kind).status;
            if status.fields.iter().all(|field| field.name == "conditions") {
                continue;
            }
            check_immutable(&objects, kind).await;
        }
    });
}

async fn check_immutable(objects: &Objects, kind: &'static KindInfo) {
    let version = newest(kind);
    let api = objects.api(&format!("{}/{}", kind.category, kind.kind), version.name);
    let mut object = least(kind, version, "kept12345");
    let has = |name: &str| version.spec.field(name).is_some();
    let names: Vec<&str> = ["azureName", "owner"]
        .into_iter()
        .filter(|name| has(name))
        .collect();
    assert!(
        !names.is_empty(),
        "{} has neither name nor owner",
        kind.kind
    );
    if let Some(spec) = object.data["spec"].as_object_mut() {
        // Then the name is that of the object.
        spec.shift_remove("azureName");
    }
    api.create(&PostParams::default(), &object).await.unwrap();
    for name in &names {
        let other = change(name);
        assert!(
            patch(&api, &other).await.is_ok(),
            "{} {name}: nothing exists yet",
            kind.kind
        );
    }
    let id = json!({"id": "/subscriptions/s/x/KEPT12345"});
    let status = match &version.status.one_of {
        Some(one_of) => json!({"status": {one_of.variants[0].field: id}}),
        None => json!({"status": id}),
    };
    api.patch_status("kept12345", &PatchParams::default(), &Patch::Merge(&status))
        .await
        .unwrap();
    for name in &names {
        let refused = patch(&api, &change(name)).await.unwrap_err().to_string();
        let message = format!("{name} cannot change once the resource exists");
        assert!(
            refused.contains(&message),
            "{} {name}: {refused}",
            kind.kind
        );
    }
    if has("azureName") {
        let same = json!({"spec": {"azureName": "kept12345"}});
        assert!(
            patch(&api, &same).await.is_ok(),
            "{}: the name it has",
            kind.kind
        );
    }
}

fn change(name: &str) -> Value {
    match name {
        "owner" => json!({"spec": {"owner": {"name": "another"}}}),
        name => json!({"spec": {name: "another1"}}),
    }
}

async fn patch(api: &Api<DynamicObject>, patch: &Value) -> kube::Result<DynamicObject> {
    let parameters = PatchParams {
        dry_run: true,
        ..PatchParams::default()
    };
    api.patch("kept12345", &parameters, &Patch::Merge(patch))
        .await
}
