//! Manifests with ARM ids that their namespace may not use: the API server refuses them by itself, without an operator.

use k8s_openapi::api::apps::v1::Deployment;
use kube::api::{Api, DynamicObject, Patch, PatchParams};
use kube::core::{ApiResource, GroupVersionKind};
use serde_json::{Value, json};

use crate::chart::{NAMESPACE, deployment, manifests, policy, template};
use crate::cluster::{Cluster, namespace};
use crate::protection::crd;

const SCOPES: &str = "armature.azure.com/allowed-scopes";
const OWN: &str = "/subscriptions/S/resourceGroups/team/, /subscriptions/b";
const MODE: &str = "armature.azure.com/allowed-scopes-mode";
const OUTSIDE: &str = "/subscriptions/other/x";

fn object(namespace: &str, name: &str, spec: Value) -> Value {
    json!({
        "apiVersion": "resources.azure.com/v1",
        "kind": "ResourceGroup",
        "metadata": {"name": name, "namespace": namespace},
        "spec": spec,
    })
}

fn bound(name: &str, scopes: Option<&str>) -> Value {
    let mut manifest = namespace(name);
    if let Some(scopes) = scopes {
        manifest["metadata"]["annotations"] = json!({ SCOPES: scopes });
    }
    manifest
}

/// What the API server says to a manifest; nothing where it is taken.
async fn refusal(cluster: &Cluster, manifest: &Value) -> Option<String> {
    let how = PatchParams {
        dry_run: true,
        ..PatchParams::apply("tests").force()
    };
    let applied = cluster.request(manifest, &how).await;
    applied.err().map(|error| error.to_string())
}

/// The policy, in force; and the kind.
async fn bounded_cluster(settings: &[&str]) -> Cluster {
    let cluster = Cluster::start().await;
    cluster.apply(&bound("bounded", Some(OWN))).await;
    cluster.apply(&crd()).await;
    let manifests = cluster.render(settings).await;
    let policies = policy(&manifests, "armature-allowed-scopes");
    assert_eq!(policies.len(), 2, "a policy and its binding");
    for policy in policies {
        cluster.apply(policy).await;
    }
    let outside = object("bounded", "probe", json!({"owner": {"armId": OUTSIDE}}));
    cluster
        .until("the policy to be in force", async |cluster| {
            let told = refusal(cluster, &outside).await;
            told.is_some_and(|told| told.contains(OUTSIDE))
        })
        .await;
    cluster
}

#[tokio::test(flavor = "multi_thread")]
async fn a_manifest_may_only_name_what_is_allowed() {
    let cluster = bounded_cluster(&[]).await;
    let inside = "/subscriptions/s/resourcegroups/TEAM/providers/Microsoft.Toys/toys/a";
    // As deep as the deepest reference of any kind.
    let mut deep = json!({"reference": {"armId": OUTSIDE}});
    for _ in 0..4 {
        deep = json!({"items": [deep]});
    }
    for (what, spec, is_allowed) in [
        ("nothing", json!({"location": "westus"}), true),
        (
            "the owner, inside",
            json!({"owner": {"armId": inside}}),
            true,
        ),
        (
            "the owner, outside",
            json!({"owner": {"armId": OUTSIDE}}),
            false,
        ),
        ("a name", json!({"owner": {"name": "group"}}), true),
        (
            "a reference, inside",
            json!({"a": [{"b": {"armId": inside}}]}),
            true,
        ),
        ("a deep reference", deep, false),
        ("a role", json!({"role": {"wellKnownName": "Reader"}}), true),
        (
            "an id as a well-known name",
            json!({"role": {"wellKnownName": OUTSIDE}}),
            false,
        ),
        (
            "a name that begins alike",
            json!({"owner": {"armId": "/subscriptions/s/resourceGroups/team2"}}),
            false,
        ),
        ("an id in other text", json!({"description": OUTSIDE}), true),
        (
            "an id as text in place of a reference",
            json!({"actions": [{"actionGroupId": OUTSIDE}]}),
            false,
        ),
        (
            "the same, inside",
            json!({"actions": [{"actionGroupId": inside}]}),
            true,
        ),
        (
            "a name in place of a reference",
            json!({"identity": {"userAssignedIdentity": "a-name"}}),
            true,
        ),
    ] {
        let refused = refusal(&cluster, &object("bounded", "a", spec)).await;
        assert_eq!(refused.is_none(), is_allowed, "{what}: {refused:?}");
        let told = "namespace bounded may only use what is below /subscriptions/s/resourcegroups/team, /subscriptions/b";
        assert!(
            refused.is_none_or(|refused| refused.contains(told)),
            "{what}"
        );
    }
    let mut noted = object("bounded", "a", json!({}));
    noted["metadata"]["annotations"] = json!({"serviceoperator.azure.com/resource-id": OUTSIDE});
    assert!(refusal(&cluster, &noted).await.is_some(), "an annotation");
}

#[tokio::test(flavor = "multi_thread")]
async fn namespaces_differ_and_what_is_there_can_go() {
    let cluster = bounded_cluster(&["allowedScopes={/subscriptions/default}"]).await;
    let nothing = "may use nothing: the text of its annotation armature.azure.com/allowed-scopes";
    for (name, scopes, told) in [
        (
            "unbound",
            None,
            Some("(the operator's setting allowed-scopes)"),
        ),
        ("empty", Some(""), Some(nothing)),
        ("all", Some("/"), Some(nothing)),
        ("wide", Some("/subscriptions/other"), None),
    ] {
        cluster.apply(&bound(name, scopes)).await;
        let manifest = object(name, "a", json!({"owner": {"armId": OUTSIDE}}));
        let refused = refusal(&cluster, &manifest).await;
        assert_eq!(refused.is_some(), told.is_some(), "{name}: {refused:?}");
        let told = told.unwrap_or_default();
        assert!(
            refused.is_none_or(|refused| refused.contains(told)),
            "{name}"
        );
    }

    let there = object("wide", "there", json!({"owner": {"armId": OUTSIDE}}));
    cluster.apply(&there).await;
    cluster
        .apply(&bound("wide", Some("/subscriptions/b")))
        .await;
    let edited = object(
        "wide",
        "there",
        json!({"owner": {"armId": OUTSIDE}, "tags": {}}),
    );
    cluster
        .until("the namespace's annotation counts", async |cluster| {
            refusal(cluster, &edited).await.is_some()
        })
        .await;
    let kind = GroupVersionKind::gvk("resources.azure.com", "v1", "ResourceGroup");
    let resource = ApiResource::from_gvk(&kind);
    let objects: Api<DynamicObject> =
        Api::namespaced_with(cluster.client.clone(), "wide", &resource);
    for finalizers in [json!(["serviceoperator.azure.com/finalizer"]), json!([])] {
        let patch = Patch::Merge(json!({"metadata": {"finalizers": finalizers}}));
        let how = PatchParams::default();
        objects.patch("there", &how, &patch).await.unwrap();
    }
    objects.delete("there", &Default::default()).await.unwrap();
}

/// The word allows nothing, on a namespace and as the value where a namespace says nothing; an annotation opens it.
#[tokio::test(flavor = "multi_thread")]
async fn where_none_is_allowed_nothing_is() {
    let cluster = bounded_cluster(&["allowedScopes={none}"]).await;
    for (name, scopes, told) in [
        (
            "silent",
            None,
            Some("may use no ARM id (the operator's setting allowed-scopes)"),
        ),
        (
            "closed",
            Some("none"),
            Some(
                "may use no ARM id (annotation armature.azure.com/allowed-scopes of the namespace)",
            ),
        ),
        // As the operator reads it.
        (
            "comma",
            Some("none,"),
            Some("may use no ARM id (annotation"),
        ),
        ("capital", Some("None"), Some("may use nothing")),
        ("slash", Some("none/"), Some("may use nothing")),
        (
            "both",
            Some("none /subscriptions/other"),
            Some("may use nothing"),
        ),
        ("open", Some("/subscriptions/other"), None),
    ] {
        cluster.apply(&bound(name, scopes)).await;
        let manifest = object(name, "a", json!({"owner": {"armId": OUTSIDE}}));
        let refused = refusal(&cluster, &manifest).await;
        assert_eq!(refused.is_some(), told.is_some(), "{name}: {refused:?}");
        let told = told.unwrap_or_default();
        assert!(
            refused.is_none_or(|refused| refused.contains(told)),
            "{name}"
        );
        let named = object(name, "b", json!({"owner": {"name": "group"}}));
        let is_understood = told != "may use nothing";
        let taken = refusal(&cluster, &named).await.is_none();
        assert_eq!(taken, is_understood, "{name}: the operator refuses its id");
    }
}

#[tokio::test]
async fn policies_are_made_where_crds_are_kept_and_can_be_left_out() {
    for (setting, protect, scopes, stored) in [
        ("azureOperatorMode=watchers-and-webhooks", 2, 2, 2),
        ("azureOperatorMode=webhooks", 2, 2, 2),
        ("azureOperatorMode=watchers", 0, 0, 0),
        ("deletionProtection=false", 0, 2, 2),
        ("allowedScopesAdmission=false", 2, 0, 2),
        ("storageVersionPolicy=false", 2, 2, 0),
    ] {
        let manifests = manifests(&[setting]).await;
        let count = |name| policy(&manifests, name).len();
        assert_eq!(count("armature-protect"), protect, "{setting}");
        assert_eq!(count("armature-allowed-scopes"), scopes, "{setting}");
        assert_eq!(count("armature-storage-version"), stored, "{setting}");
    }
    let bound = manifests(&["allowedScopes={/subscriptions/a,/subscriptions/b}"]).await;
    let deployment = deployment(&bound);
    let environment = &deployment["spec"]["template"]["spec"]["containers"][0]["env"];
    let set = json!({"name": "ALLOWED_SCOPES", "value": "/subscriptions/a,/subscriptions/b"});
    let environment = environment.as_array().unwrap();
    assert!(environment.contains(&set), "{environment:?}");
}

/// The mode that the Deployment would have.
async fn mode(more: &[&str], settings: &[&str]) -> String {
    let manifests = template("armature", more, settings).await;
    let environment = &deployment(&manifests)["spec"]["template"]["spec"]["containers"][0]["env"];
    let mut environment = environment.as_array().unwrap().iter();
    let mode = environment.find(|one| one["name"] == "ALLOWED_SCOPES_MODE");
    mode.unwrap()["value"].as_str().unwrap().to_owned()
}

/// Whoever upgrades is refused nothing that was sent before, until the value is set; whoever had it set, or began with it,
/// keeps it.
#[tokio::test]
async fn an_upgrade_refuses_no_more_than_before_until_it_is_asked_to() {
    assert_eq!(mode(&[], &[]).await, "enforce");
    assert_eq!(mode(&["--is-upgrade"], &[]).await, "warn");
    let set = ["allowedScopesMode=enforce"];
    assert_eq!(mode(&["--is-upgrade"], &set).await, "enforce");

    let cluster = Cluster::start().await;
    cluster.apply(&namespace(NAMESPACE)).await;
    let kubeconfig = cluster.admin_kubeconfig();
    let upgrade = [
        "--is-upgrade",
        "--dry-run=server",
        "--kubeconfig",
        kubeconfig.to_str().unwrap(),
    ];
    assert_eq!(mode(&upgrade, &[]).await, "warn", "nothing is there");
    let new = cluster.render(&[]).await;
    let mut old = deployment(&new).clone();
    let environment = &mut old["spec"]["template"]["spec"]["containers"][0]["env"];
    let environment = environment.as_array_mut().unwrap();
    environment.retain(|one| one["name"] != "ALLOWED_SCOPES_MODE");
    cluster.apply(&old).await;
    assert_eq!(mode(&upgrade, &[]).await, "warn", "an earlier release");
    cluster.apply(deployment(&new)).await;
    assert_eq!(mode(&upgrade, &[]).await, "enforce", "it began with it");
    let set = ["allowedScopesMode=warn"];
    assert_eq!(mode(&upgrade, &set).await, "warn");

    // Somebody deletes the Deployment, as for a change of its selector.
    let role = |mode: Option<&str>| {
        let mut roles = new.iter().filter(|one| one["kind"] == "Role");
        let mut role = roles.next().unwrap().clone();
        assert_eq!(role["metadata"]["annotations"][MODE], "enforce");
        role["metadata"]["annotations"] = mode.map_or(json!({}), |mode| json!({ MODE: mode }));
        role
    };
    for (recorded, expected) in [
        (None, "warn"),
        (Some("warn"), "warn"),
        (Some("enforce"), "enforce"),
    ] {
        cluster.apply(&role(recorded)).await;
        assert_eq!(
            mode(&upgrade, &[]).await,
            "enforce",
            "the Deployment's word counts"
        );
        let deployments: Api<Deployment> = Api::namespaced(cluster.client.clone(), NAMESPACE);
        let name = deployment(&new)["metadata"]["name"].as_str().unwrap();
        deployments.delete(name, &Default::default()).await.unwrap();
        assert_eq!(mode(&upgrade, &[]).await, expected, "{recorded:?}");
        cluster.apply(deployment(&new)).await;
    }
}
