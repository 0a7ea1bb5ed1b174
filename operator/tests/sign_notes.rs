//! Signed notes on a real API server: an upgrade writes nothing, `armature sign-notes` signs all, and what a tenant writes into an object
//! asks for nothing.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test that cannot go on fails"
)]

mod commands;

use armature_controlplane::waiting::until_ok;
use commands::World;
use k8s_openapi::api::core::v1::Secret;
use kube::api::{Api, ApiResource, DynamicObject, Patch, PatchParams};
use kube::core::GroupVersionKind;
use serde_json::{Value, json};

const OPERATOR: &str = "armature-system";
const CRDS: &str = "resources.azure.com/*";
const GROUP: &str = "resources.azure.com";
const SIGNATURE: &str = "armature.azure.com/notes-signature";
const POLLER_ID: &str = "serviceoperator.azure.com/poller-resume-id";
const POLLER_TOKEN: &str = "serviceoperator.azure.com/poller-resume-token";
const ELSEWHERE: &str =
    "/subscriptions/00000000-0000-0000-0000-000000000000/resourceGroups/elsewhere";

struct Notes {
    world: World,
    groups: Api<DynamicObject>,
    secrets: Api<Secret>,
}

impl Notes {
    async fn start() -> Self {
        let world = World::start("status.md").await;
        Self {
            groups: stored_groups(world.client()),
            secrets: Api::namespaced(world.client().clone(), OPERATOR),
            world,
        }
    }

    async fn make(&self, name: &str) {
        self.world
            .apply(&json!({
                "apiVersion": "resources.azure.com/v1api20200601", "kind": "ResourceGroup",
                "metadata": {"name": name}, "spec": {"location": "westeurope"},
            }))
            .await;
        self.world.wait_ready(GROUP, "ResourceGroup", name).await;
    }

    async fn group(&self, name: &str) -> DynamicObject {
        self.groups.get(name).await.unwrap()
    }

    async fn annotation(&self, name: &str, annotation: &str) -> Option<String> {
        let annotations = self.group(name).await.metadata.annotations?;
        annotations.get(annotation).cloned()
    }

    async fn annotate(&self, name: &str, annotations: Value) {
        let patch = Patch::Merge(json!({"metadata": {"annotations": annotations}}));
        let parameters = PatchParams::default();
        self.groups.patch(name, &parameters, &patch).await.unwrap();
    }

    /// Whether the Secret with the keys has an entry.
    async fn has(&self, name: &str) -> bool {
        let secret = self.secrets.get("armature-digest-key").await.unwrap();
        secret.data.unwrap_or_default().contains_key(name)
    }

    async fn run(&self, line: &str) -> Value {
        let shown = self.world.run(line, 0).await;
        serde_json::from_str(&shown).unwrap()
    }
}

/// Groups at the version that they are stored at: they can be read and written while no operator converts.
fn stored_groups(client: &kube::Client) -> Api<DynamicObject> {
    let mut kinds = armature_generated::KINDS.iter();
    let kind = kinds.find(|kind| kind.kind == "ResourceGroup").unwrap();
    let gvk = GroupVersionKind::gvk(kind.group, kind.hub.storage_version, kind.kind);
    let resource = ApiResource::from_gvk_with_plural(&gvk, kind.plural);
    Api::namespaced_with(client.clone(), "shop", &resource)
}

#[tokio::test(flavor = "multi_thread")]
async fn objects_of_before_are_signed_by_the_command_and_forged_notes_ask_for_nothing() {
    let mut notes = Notes::start().await;
    notes.make("before").await;
    assert!(notes.annotation("before", SIGNATURE).await.is_some());
    assert!(notes.has("signing-since").await);
    upgrade(&mut notes).await;
    signs_all(&notes).await;
    forges(&mut notes).await;
}

/// An operator comes in place of one that signed nothing: the object of before stays as it is.
async fn upgrade(notes: &mut Notes) {
    notes.world.stop_operator().await;
    notes.annotate("before", json!({SIGNATURE: null})).await;
    let patch = Patch::Merge(json!({"data": {"signing-since": null}}));
    let parameters = PatchParams::default();
    let patched = notes
        .secrets
        .patch("armature-digest-key", &parameters, &patch);
    patched.await.unwrap();
    let before = notes.group("before").await.metadata.resource_version;
    notes.world.start_operator(OPERATOR, CRDS);
    notes.make("after").await;
    assert!(notes.has("signing-since").await);
    assert!(notes.annotation("after", SIGNATURE).await.is_some());
    assert_eq!(
        notes.group("before").await.metadata.resource_version,
        before
    );
}

async fn signs_all(notes: &Notes) {
    let before = notes.group("before").await.metadata;
    let dry = notes.run("armature sign-notes --dry-run -o json").await;
    assert_eq!(
        dry["signed"],
        json!([line("before", "missing", true)]),
        "{dry}"
    );
    assert_eq!(
        (&dry["signedBefore"], &dry["allSigned"]),
        (&json!(1), &json!(false))
    );
    let unchanged = notes.group("before").await.metadata;
    assert_eq!(unchanged.resource_version, before.resource_version);
    assert!(!notes.has("all-signed-since").await);

    let told = notes.world.run("armature sign-notes", 0).await;
    assert!(
        told.contains("1 signed, 0 left out, 1 signed before"),
        "{told}"
    );
    assert!(told.contains("Within a minute"), "{told}");
    assert!(notes.annotation("before", SIGNATURE).await.is_some());
    assert!(notes.has("all-signed-since").await);
    let again = notes.run("armature sign-notes -o json").await;
    assert_eq!(
        (&again["signed"], &again["signedBefore"]),
        (&json!([]), &json!(2))
    );

    leaves_out_what_does_not_fit(notes).await;
    rotates(notes).await;

    let told = notes.world.errors("armature sign-notes -n shop", 1).await;
    assert!(told.contains("all namespaces"), "{told}");
    let line = "armature sign-notes --operator-namespace elsewhere";
    let told = notes.world.errors(line, 1).await;
    assert!(told.contains("--operator-namespace says"), "{told}");
}

fn line(name: &str, cause: &str, is_believed: bool) -> Value {
    let object = format!("ResourceGroup shop/{name}");
    json!({"object": object, "cause": cause, "isBelieved": is_believed})
}

/// Somebody has to say that what he may have written is right.
async fn leaves_out_what_does_not_fit(notes: &Notes) {
    notes.annotate("after", json!({SIGNATURE: "v1.AAAA"})).await;
    let report = notes.run("armature sign-notes -o json").await;
    assert_eq!(
        report["leftOut"],
        json!([line("after", "doesNotFit", false)])
    );
    let signature = notes.annotation("after", SIGNATURE).await;
    assert_eq!(signature.as_deref(), Some("v1.AAAA"));
    let report = notes.run("armature sign-notes --vouch -o json").await;
    assert_eq!(
        report["signed"],
        json!([line("after", "doesNotFit", false)])
    );
    assert_eq!(report["leftOut"], json!([]));
}

/// Another key takes the place of the one before: what that has signed counts, and all are signed as before.
async fn rotates(notes: &Notes) {
    let before = notes.secrets.get("armature-digest-key").await.unwrap();
    let before = before.data.unwrap();
    let rotated = json!({"data": {
        "key": k8s_openapi::ByteString(vec![7; before["key"].0.len()]),
        "previous": before["key"],
    }});
    let (patch, parameters) = (Patch::Merge(rotated), PatchParams::default());
    let patched = notes
        .secrets
        .patch("armature-digest-key", &parameters, &patch);
    patched.await.unwrap();
    let report = notes.run("armature sign-notes -o json").await;
    let lines = ["after", "before"].map(|name| line(name, "previousKey", true));
    assert_eq!(report["signed"], json!(lines));
    let after = notes.secrets.get("armature-digest-key").await.unwrap();
    let after = after.data.unwrap();
    assert_eq!(after["all-signed-since"], before["all-signed-since"]);
}

/// A tenant has the operator follow an operation of his choice, and takes the signature away or keeps it.
async fn forges(notes: &mut Notes) {
    notes.world.stop_operator().await;
    let url = format!("{ELSEWHERE}?api-version=2020-06-01");
    let token =
        json!({"type": "x", "token": {"type": "loc", "pollURL": url, "state": "InProgress"}});
    let forged = json!({
        POLLER_ID: "GenericClient.CreateOrUpdateByID",
        POLLER_TOKEN: token.to_string(),
    });
    notes.annotate("before", forged.clone()).await;
    notes.annotate("after", forged).await;
    notes.annotate("after", json!({SIGNATURE: null})).await;
    notes.world.azure().clear_requests();
    notes.world.start_operator(OPERATOR, CRDS);
    for name in ["before", "after"] {
        until_ok("the forged notes to be gone", async || {
            match notes.annotation(name, POLLER_TOKEN).await {
                None => Ok(()),
                Some(_) => Err(notes.world.log()),
            }
        })
        .await;
        assert!(notes.annotation(name, SIGNATURE).await.is_some(), "{name}");
        notes.world.wait_ready(GROUP, "ResourceGroup", name).await;
    }
    let requests = notes.world.azure().requests(&Default::default());
    for request in requests {
        let line = format!("{} {}", request.method, request.path);
        assert!(
            !line.to_lowercase().ends_with("/resourcegroups/elsewhere"),
            "{line}"
        );
        assert_ne!(request.method, "PUT", "{line}");
    }
    let clean = notes.run("armature sign-notes --dry-run -o json").await;
    assert_eq!(clean["signed"], json!([]));
}
