//! `armature check` against a real API server with the real operator: what it foretells is what the operator then says.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test that cannot go on fails"
)]

mod commands;

use armature_controlplane::waiting::until_ok;
use commands::World;
use k8s_openapi::api::apps::v1::Deployment;
use k8s_openapi::api::core::v1::{ConfigMap, Namespace, Secret};
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::api::{Api, Patch, PatchParams, PostParams};
use serde_json::{Value, json};

const RESOURCES: &str = "resources.azure.com";
const GROUP: &str = "resources.azure.com/v1api20200601";
const OPERATOR: &str = "armature-system";
/// Part of a value that nobody may be shown.
const LONG: &str = "hunter2";
const SUBSCRIPTION: &str = "/subscriptions/00000000-0000-0000-0000-000000000001";

async fn secret(world: &World, name: &str, values: &Value) {
    let mut data = json!({
        "AZURE_SUBSCRIPTION_ID": "00000000-0000-0000-0000-000000000001",
        "AZURE_TENANT_ID": "00000000-0000-0000-0000-00000000000a",
        "AZURE_CLIENT_ID": "00000000-0000-0000-0000-00000000000b",
    });
    for (key, value) in values.as_object().unwrap() {
        data[key] = value.clone();
    }
    let secret = json!({"metadata": {"name": name}, "stringData": data});
    let secrets: Api<Secret> = Api::namespaced(world.client().clone(), "shop");
    let secret = serde_json::from_value(secret).unwrap();
    secrets
        .create(&PostParams::default(), &secret)
        .await
        .unwrap();
}

async fn annotate_namespace(world: &World, scopes: &str) {
    let namespaces: Api<Namespace> = Api::all(world.client().clone());
    let patch = json!({"metadata": {"annotations": {"armature.azure.com/allowed-scopes": scopes}}});
    let parameters = PatchParams::default();
    namespaces
        .patch("shop", &parameters, &Patch::Merge(&patch))
        .await
        .unwrap();
}

fn group(name: &str, annotations: Value, spec: Value) -> Value {
    let mut all = json!({"location": "westeurope"});
    for (member, value) in spec.as_object().unwrap() {
        all[member] = value.clone();
    }
    json!({
        "apiVersion": GROUP, "kind": "ResourceGroup",
        "metadata": {"name": name, "annotations": annotations}, "spec": all,
    })
}

/// The message of an object's `Ready`, once it has this reason.
async fn said(world: &World, kind: (&str, &str), name: &str, reason: &str) -> String {
    world.wait_for(kind.0, kind.1, name, reason).await;
    let object = world.objects(kind.0, kind.1).get(name).await.unwrap();
    let conditions = object.data["status"]["conditions"].as_array().unwrap();
    let ready = conditions.iter().find(|one| one["type"] == "Ready");
    ready.unwrap()["message"]
        .as_str()
        .unwrap_or_default()
        .to_owned()
}

async fn checked(world: &World, line: &str, code: i32) -> Value {
    let shown = world
        .run(&format!("armature check {line} -o json"), code)
        .await;
    serde_json::from_str(&shown).unwrap()
}

/// What was found of something, as reason, path and message.
fn of<'a>(checked: &'a Value, kind: &str, name: &str) -> Vec<[&'a str; 3]> {
    let findings = checked["findings"].as_array().unwrap().iter();
    let its = findings.filter(|one| one["kind"] == kind && one["name"] == name);
    its.map(|one| ["reason", "path", "message"].map(|member| one[member].as_str().unwrap_or("")))
        .collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn the_page_shows_what_is_printed() {
    let world = World::start("check.md").await;
    annotate_namespace(
        &world,
        &format!("{SUBSCRIPTION}/resourceGroups/shop {SUBSCRIPTION}/resourceGroups/paused"),
    )
    .await;
    let file = json!({"AZURE_USER_ASSIGNED_IDENTITY_CREDENTIALS": "/dev/zero"});
    secret(&world, "by-file", &file).await;
    world.apply_page("refused").await;
    world.shows("armature check -n shop", 1).await;
    world.finish_page();
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_foretold_is_what_the_operator_says() {
    let mut world = World::start("check.md").await;
    world.apply(&group("sound", json!({}), json!({}))).await;
    world.wait_ready(RESOURCES, "ResourceGroup", "sound").await;
    let clean = world.run("armature check", 0).await;
    assert!(
        clean.ends_with(
            "1 object and 0 Secrets with credentials: nothing is refused by this release.\n"
        ),
        "{clean}"
    );

    // One object of each form.
    let allowed = [
        "sound",
        "text",
        "paused",
        "word",
        "many",
        "unknown",
        "a-file",
        "a-certificate",
        "a-cloud",
        "a-tenants",
        "a-long",
        "expressions",
        "paths",
    ];
    let allowed = allowed.map(|name| format!("{SUBSCRIPTION}/resourceGroups/{name}"));
    annotate_namespace(&world, &allowed.join(" ")).await;
    let from = |secret: &str| json!({"serviceoperator.azure.com/credential-from": secret});
    for (name, values) in [
        (
            "file",
            json!({"AZURE_USER_ASSIGNED_IDENTITY_CREDENTIALS": "/dev/zero"}),
        ),
        (
            "certificate",
            json!({"AZURE_CLIENT_CERTIFICATE": "no certificate"}),
        ),
        (
            "cloud",
            json!({
                "AZURE_CLIENT_SECRET": "x",
                "AZURE_RESOURCE_MANAGER_ENDPOINT": "https://management.chinacloudapi.cn",
                "AZURE_AUTHORITY_HOST": "https://login.chinacloudapi.cn",
                "AZURE_RESOURCE_MANAGER_AUDIENCE": "https://management.chinacloudapi.cn",
            }),
        ),
        (
            "tenants",
            json!({"AZURE_CLIENT_SECRET": "x", "AZURE_ADDITIONAL_TENANTS": "t-1,t-2,t-3,t-4"}),
        ),
        ("long", json!({"AZURE_CLIENT_SECRET": LONG.repeat(1000)})),
    ] {
        secret(&world, name, &values).await;
        world
            .apply(&group(&format!("a-{name}"), from(name), json!({})))
            .await;
    }
    let tags: serde_json::Map<String, Value> = (0..4001)
        .map(|tag| (format!("t{tag}"), json!("x")))
        .collect();
    let text = format!("{SUBSCRIPTION}/resourceGroups/others");
    let expressions =
        (0..201).map(|at| json!({"name": "out", "key": format!("k{at}"), "value": "'x'"}));
    let expressions: Vec<Value> = expressions.collect();
    let paths = vec!["tags.x"; 101].join(",");
    let objects = [
        group(
            "expressions",
            json!({}),
            json!({"operatorSpec": {"configMapExpressions": expressions}}),
        ),
        group(
            "paths",
            json!({"armature.azure.com/ignore-paths": paths}),
            json!({}),
        ),
        group("outside", json!({}), json!({})),
        group("text", json!({}), json!({"tags": {"see": text}})),
        group(
            "paused",
            json!({"armature.azure.com/paused": "true"}),
            json!({"tags": {"see": text}}),
        ),
        group(
            "word",
            json!({"armature.azure.com/protect": "yes"}),
            json!({}),
        ),
        group(
            "many",
            json!({"armature.azure.com/keep-unknown": "tags"}),
            json!({"tags": tags}),
        ),
    ];
    for object in &objects {
        world.apply(object).await;
    }
    let mut unknown = group(
        "unknown",
        json!({}),
        json!({"originalVersion": "v19990101"}),
    );
    unknown["apiVersion"] = json!(format!("{GROUP}storage"));
    world.apply(&unknown).await;

    let checked_now = checked(&world, "-n shop", 1).await;
    let kind = (RESOURCES, "ResourceGroup");
    for (name, reason, path) in [
        ("outside", "ScopeNotAllowed", ""),
        ("text", "ScopeNotAllowed", "tags.see"),
        (
            "word",
            "InvalidAnnotation",
            "metadata.annotations[armature.azure.com/protect]",
        ),
        ("many", "Failed", ""),
        ("unknown", "Failed", ""),
        (
            "expressions",
            "FailedWritingAdditionalKubernetesObjects",
            "spec.operatorSpec",
        ),
        (
            "paths",
            "InvalidAnnotation",
            "metadata.annotations[armature.azure.com/ignore-paths]",
        ),
    ] {
        let said = said(&world, kind, name, reason).await;
        let found = of(&checked_now, "ResourceGroup", name);
        assert_eq!(found, [[reason, path, said.as_str()]], "{name}");
    }
    // What it says today is that it is paused.
    let paused = of(&checked_now, "ResourceGroup", "paused");
    assert_eq!(
        paused[0][..2],
        ["ScopeNotAllowed", "tags.see"],
        "{paused:?}"
    );
    assert_eq!(of(&checked_now, "ResourceGroup", "sound"), [[""; 3]; 0]);
    for (name, key) in [
        ("file", "AZURE_USER_ASSIGNED_IDENTITY_CREDENTIALS"),
        ("certificate", "AZURE_CLIENT_CERTIFICATE"),
        ("cloud", "AZURE_RESOURCE_MANAGER_ENDPOINT"),
        ("tenants", "AZURE_ADDITIONAL_TENANTS"),
        ("long", "AZURE_CLIENT_SECRET"),
    ] {
        let said = said(&world, kind, &format!("a-{name}"), "Failed").await;
        let found = of(&checked_now, "Secret", name);
        assert_eq!(found[0][1], format!("data.{key}"), "{found:?}");
        assert!(said.contains(found[0][2]), "{name}: {said}\n{found:?}");
    }
    assert!(!checked_now.to_string().contains(LONG), "{checked_now}");
    // A default for namespaces without scopes, and one for those that have some.
    annotate_namespace(&world, SUBSCRIPTION).await;
    let wide = checked(&world, "", 1).await;
    assert_eq!(of(&wide, "ResourceGroup", "outside"), [[""; 3]; 0]);

    as_the_operator_is_told(&world).await;
    served_by_another_release(&mut world).await;
    stored_at_another_version(&world).await;
}

/// Settings of the operator count wherever its Deployment is, and whatever way they take.
async fn as_the_operator_is_told(world: &World) {
    let namespaces: Api<Namespace> = Api::all(world.client().clone());
    for name in ["elsewhere", "bound"] {
        let namespace = serde_json::from_value(json!({"metadata": {"name": name}})).unwrap();
        let how = PostParams::default();
        namespaces.create(&how, &namespace).await.unwrap();
    }
    let maps: Api<ConfigMap> = Api::namespaced(world.client().clone(), OPERATOR);
    let map = json!({"metadata": {"name": "settings"}, "data": {"proofs": "client-secret"}});
    let map = serde_json::from_value(map).unwrap();
    maps.create(&PostParams::default(), &map).await.unwrap();
    let from = |kind: &str, name: &str| json!({kind: {"name": name, "key": "proofs"}});
    let variable = |name: &str, from: Value| json!({"name": name, "valueFrom": from});
    let own = json!({"name": "AZURE_CLIENT_ID", "value": "00000000-0000-0000-0000-00000000000b"});
    let subscription =
        json!({"name": "AZURE_SUBSCRIPTION_ID", "value": "00000000-0000-0000-0000-000000000001"});
    let proofs = variable(
        "ARMATURE_SECRET_PROOFS",
        from("configMapKeyRef", "settings"),
    );
    let env = json!([own, subscription, proofs]);
    let flags = ["--target-namespaces=shop"];
    world.apply_deployment(OPERATOR, &env, &flags).await;
    secret(world, "borrows", &json!({})).await;
    let borrows = json!({"serviceoperator.azure.com/credential-from": "borrows"});
    world.apply(&group("borrows", borrows, json!({}))).await;
    let told = checked(world, "", 1).await;
    let found = of(&told, "Secret", "borrows");
    assert!(found[0][2].contains("ARMATURE_SECRET_PROOFS"), "{found:?}");

    // What its namespace says of identities, and that it keeps off the operator's own.
    let env = json!([own, subscription]);
    world.apply_deployment(OPERATOR, &env, &[]).await;
    let annotate = async |annotations: Value| {
        let patch = json!({"metadata": {"annotations": annotations}});
        let patch = Patch::Merge(&patch);
        let how = PatchParams::default();
        namespaces.patch("shop", &how, &patch).await.unwrap();
    };
    const IDENTITIES: &str = "armature.azure.com/allowed-identities";
    const OWN: &str = "armature.azure.com/credential";
    for (annotations, part) in [
        (json!({IDENTITIES: "none"}), IDENTITIES),
        (
            json!({IDENTITIES: null, OWN: "own"}),
            "the operator's own identity",
        ),
    ] {
        annotate(annotations).await;
        let told = checked(world, "-n shop", 1).await;
        let found = of(&told, "Secret", "borrows");
        assert_eq!(found[0][1], "data.AZURE_CLIENT_ID", "{found:?}");
        assert!(found[0][2].contains(part), "{found:?}");
    }
    let told = checked(world, "-n shop", 1).await;
    let sound = of(&told, "ResourceGroup", "sound");
    assert_eq!(sound[0][0], "CredentialNotFound", "{sound:?}");
    annotate(json!({OWN: null})).await;

    // A namespace that the operator does not manage, and a setting that nobody can read.
    let scopes = variable(
        "ALLOWED_SCOPES",
        json!({"fieldRef": {"fieldPath": "metadata.name"}}),
    );
    let flags = ["--target-namespaces=bound"];
    world
        .apply_deployment(OPERATOR, &json!([scopes]), &flags)
        .await;
    let told = checked(world, "-n shop", 0).await;
    assert_eq!(told["objects"], 0);
    let notes = told["notes"].to_string();
    for part in [
        "the operator manages namespaces bound only",
        "ALLOWED_SCOPES of the pod itself",
    ] {
        assert!(notes.contains(part), "{notes}");
    }

    // Where it is somewhere else, what it claimed from here is another operator's.
    remove_deployment(world, OPERATOR).await;
    world.apply_deployment("elsewhere", &json!([]), &[]).await;
    let told = checked(world, "-n shop", 1).await;
    let notes = told["notes"].to_string();
    let part = "objects of the operator in namespace armature-system were left out";
    assert!(notes.contains(part), "{notes}");
    remove_deployment(world, "elsewhere").await;
}

async fn remove_deployment(world: &World, namespace: &str) {
    let deployments: Api<Deployment> = Api::namespaced(world.client().clone(), namespace);
    let how = Default::default();
    deployments.delete("armature", &how).await.unwrap();
}

/// An earlier release stores objects at another version, which is the one that the cluster serves.
async fn stored_at_another_version(world: &World) {
    let before = checked(world, "", 1).await;
    let crds: Api<CustomResourceDefinition> = Api::all(world.client().clone());
    let name = "resourcegroups.resources.azure.com";
    let crd = crds.get(name).await.unwrap();
    let mut versions = crd.spec.versions;
    for version in &mut versions {
        version.storage = version.name == "v1api20200601";
        version.served &= version.name != "v1api20200601storage";
    }
    // Nobody is there who converts.
    let patch = json!({"spec": {"versions": versions, "conversion": {"strategy": "None", "webhook": null}}});
    let parameters = PatchParams::default();
    until_ok("the CRD stores at another version", async || {
        crds.patch(name, &parameters, &Patch::Merge(&patch)).await
    })
    .await;
    until_ok("objects are read at that version", async || {
        let now = checked(world, "", 1).await;
        let is_same = now["objects"] == before["objects"]
            && of(&now, "ResourceGroup", "text") == of(&before, "ResourceGroup", "text");
        is_same.then_some(()).ok_or(now)
    })
    .await;
}

/// A CRD that serves a version which this release does not have is named.
async fn served_by_another_release(world: &mut World) {
    world.stop_operator().await;
    let crds: Api<CustomResourceDefinition> = Api::all(world.client().clone());
    let name = "resourcegroups.resources.azure.com";
    let crd = crds.get(name).await.unwrap();
    let mut versions = crd.spec.versions;
    let mut newer = versions[0].clone();
    newer.name = "v20990101".to_owned();
    newer.storage = false;
    versions.push(newer);
    let patch = json!({"spec": {"versions": versions}});
    let parameters = PatchParams::default();
    until_ok("the CRD takes a version more", async || {
        crds.patch(name, &parameters, &Patch::Merge(&patch)).await
    })
    .await;
    let checked = checked(world, "", 1).await;
    let found = of(&checked, "CustomResourceDefinition", name);
    assert_eq!(
        found[0][..2],
        ["UnknownVersion", "spec.versions"],
        "{found:?}"
    );
    assert!(found[0][2].contains("v20990101"), "{found:?}");
}
