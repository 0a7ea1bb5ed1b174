//! The profile of `docs/tenants.md`, installed as it stands there and attacked by tenants who may do what an editor of their namespace
//! may, Secrets included. The operator has a credential of its own here, which the page advises against: so it is the namespace's word
//! that keeps tenants off it.

use std::path::Path;

use armature_controlplane::waiting::until_ok;
use armature_simulator::{Query, Settings};
use k8s_openapi::api::core::v1::Secret;
use kube::api::{DeleteParams, Patch, PatchParams};
use serde_json::{Value, json};

use crate::chart::{NAMESPACE, manifests};
use crate::cluster::{Cluster, namespace};
use crate::neighbours::tenants::Tenant;

const SUBSCRIPTION: &str = "/subscriptions/00000000-0000-0000-0000-000000000001";
/// The identity that the page allows its namespace, and one of somebody else.
const OWN: &str = "00000000-0000-0000-0000-00000000000b";
const FOREIGN: &str = "00000000-0000-0000-0000-00000000000c";
/// The operator's.
const OPERATORS: &str = "00000000-0000-0000-0000-00000000000a";
const GROUPS: &str = "resources.azure.com/v1api20200601";
const IDENTITIES: &str = "managedidentity.azure.com/v1api20230131";
const SCOPES_POLICY: &str = "armature-allowed-scopes";

/// The documents of the YAML blocks of the page, block by block.
fn blocks() -> Vec<Vec<Value>> {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/tenants.md");
    let page = std::fs::read_to_string(page).unwrap();
    let blocks = page.split("```yaml\n").skip(1);
    blocks
        .map(|block| serde_saphyr::from_multiple(block.split("```").next().unwrap()).unwrap())
        .collect()
}

/// Values as `helm --set` takes them.
fn settings(values: &Value, path: &str, into: &mut Vec<String>) {
    match values {
        Value::Object(members) => {
            for (name, value) in members {
                let dot = if path.is_empty() { "" } else { "." };
                settings(value, &format!("{path}{dot}{name}"), into);
            }
        }
        Value::Array(items) => {
            let items: Vec<&str> = items.iter().map(|item| item.as_str().unwrap()).collect();
            into.push(format!("{path}={{{}}}", items.join(",")));
        }
        Value::String(text) => into.push(format!("{path}={text}")),
        other => into.push(format!("{path}={other}")),
    }
}

fn group(name: &str, annotations: Value) -> Value {
    json!({
        "apiVersion": GROUPS, "kind": "ResourceGroup",
        "metadata": {"name": name, "annotations": annotations},
        "spec": {"location": "westeurope"},
    })
}

fn identity(name: &str, owner: Value, annotations: Value) -> Value {
    json!({
        "apiVersion": IDENTITIES, "kind": "UserAssignedIdentity",
        "metadata": {"name": name, "annotations": annotations},
        "spec": {
            "location": "westeurope", "owner": owner,
            "operatorSpec": {"secrets": {"clientId": {"name": "stolen", "key": "id"}}},
        },
    })
}

fn credential(client: &str, more: &[(&str, &str)]) -> Value {
    let tenant = Settings::default().tenant;
    let common = [
        (
            "AZURE_SUBSCRIPTION_ID",
            "00000000-0000-0000-0000-000000000001",
        ),
        ("AZURE_TENANT_ID", tenant.as_str()),
        ("AZURE_CLIENT_ID", client),
    ];
    let keys = common.iter().chain(more);
    let keys = keys.map(|(key, value)| ((*key).to_owned(), json!(value)));
    json!({
        "apiVersion": "v1", "kind": "Secret",
        "metadata": {"name": "aso-credential"},
        "stringData": Value::Object(keys.collect()),
    })
}

/// What a condition of an object says; empty where it is not there.
async fn told(
    tenant: &Tenant,
    (version, kind): (&str, &str),
    name: &str,
    condition: &str,
) -> String {
    let found = tenant.api(version, kind).get_opt(name).await.unwrap();
    let status = found
        .map(|object| object.data["status"].clone())
        .unwrap_or_default();
    let mut conditions = status["conditions"].as_array().into_iter().flatten();
    let found = conditions.find(|item| item["type"] == condition);
    found.map_or_else(String::new, |item| {
        format!(
            "{}: {}",
            item["reason"].as_str().unwrap(),
            item["message"].as_str().unwrap_or_default()
        )
    })
}

/// Waits until a condition of an object says all of this.
async fn until_told(
    tenant: &Tenant,
    of: (&str, &str),
    name: &str,
    condition: &str,
    parts: &[&str],
) {
    let what = format!("{condition} of {name} to say {parts:?}");
    until_ok(&what, async || {
        let told = told(tenant, of, name, condition).await;
        match parts.iter().all(|part| told.contains(part)) {
            true => Ok(()),
            false => Err(told),
        }
    })
    .await;
}

const GROUP: (&str, &str) = (GROUPS, "ResourceGroup");
const IDENTITY: (&str, &str) = (IDENTITIES, "UserAssignedIdentity");

/// Replaces the credential of the tenant's namespace.
async fn sign_in(tenant: &Tenant, secret: Value) {
    let secrets = tenant.api("v1", "Secret");
    if secrets.get_opt("aso-credential").await.unwrap().is_some() {
        let how = DeleteParams::default();
        secrets.delete("aso-credential", &how).await.unwrap();
    }
    tenant.create(secret).await;
}

/// Requests that changed something in Azure so far, or asked for more than a token.
fn requests(cluster: &Cluster) -> usize {
    let all = cluster.azure.simulator().requests(&Query::default());
    let to_arm = all
        .iter()
        .filter(|one| one.path.starts_with("/subscriptions"));
    to_arm.count()
}

/// Without a Secret, and with ones that name what is not the tenant's, nothing is sent.
async fn credentials_of_others_are_not_used(cluster: &Cluster, team: &Tenant) {
    let lifted = json!({"armature.azure.com/credential": "operator", "armature.azure.com/claimed-with": "operator"});
    team.create(group("team", lifted)).await;
    let missing = [
        "CredentialNotFound",
        "namespace team may not use the operator's own",
    ];
    until_told(team, GROUP, "team", "Ready", &missing).await;
    let other_cloud = [
        ("AZURE_CLIENT_SECRET", "x"),
        ("AZURE_RESOURCE_MANAGER_ENDPOINT", "https://evil.test"),
        ("AZURE_AUTHORITY_HOST", "https://evil.test"),
        ("AZURE_RESOURCE_MANAGER_AUDIENCE", "https://evil.test"),
    ];
    let file = [(
        "AZURE_USER_ASSIGNED_IDENTITY_CREDENTIALS",
        "/var/run/secrets/x",
    )];
    for (client, more, parts) in [
        (
            FOREIGN,
            &[][..],
            ["AZURE_CLIENT_ID", "armature.azure.com/allowed-identities"],
        ),
        (
            OPERATORS,
            &[("AZURE_CLIENT_SECRET", "x")],
            ["AZURE_CLIENT_ID", "it names the operator's own identity"],
        ),
        (
            OWN,
            &[("AUTH_MODE", "podidentity")],
            ["AUTH_MODE", "it stands for managed-identity"],
        ),
        (
            OWN,
            &file,
            [
                "AZURE_USER_ASSIGNED_IDENTITY_CREDENTIALS",
                "it stands for identity-file",
            ],
        ),
        (
            OWN,
            &other_cloud,
            ["AZURE_RESOURCE_MANAGER_ENDPOINT", "ARMATURE_ALLOWED_CLOUDS"],
        ),
    ] {
        sign_in(team, credential(client, more)).await;
        until_told(team, GROUP, "team", "Ready", &parts).await;
        let told = told(team, GROUP, "team", "Ready").await;
        assert!(!told.contains("evil") && !told.contains(client), "{told}");
    }
    assert_eq!(requests(cluster), 0);
}

/// Ids outside are neither read nor written nor exported: the operator refuses them where the API server has no policy.
async fn what_is_outside_is_not_reached(cluster: &Cluster, team: &Tenant, silent: &Tenant) {
    let prod = format!("{SUBSCRIPTION}/resourceGroups/prod");
    let vault = format!("{prod}/providers/Microsoft.ManagedIdentity/userAssignedIdentities/admin");
    let azure = cluster.azure.simulator();
    azure
        .place(&prod, json!({"location": "westeurope"}))
        .unwrap();
    let keys = json!({"location": "westeurope", "properties": {"clientId": FOREIGN}});
    azure.place(&vault, keys).unwrap();
    let skip = json!({"serviceoperator.azure.com/reconcile-policy": "skip"});
    team.create(identity("admin", json!({"armId": prod}), skip))
        .await;
    until_told(
        team,
        IDENTITY,
        "admin",
        "Ready",
        &["ScopeNotAllowed", "is outside of what"],
    )
    .await;
    // A namespace that somebody forgot to annotate; it may use the operator's credential, but no id.
    silent.create(group("anything", json!({}))).await;
    until_told(
        silent,
        GROUP,
        "anything",
        "Ready",
        &["ScopeNotAllowed", "may use no id at all"],
    )
    .await;
    assert_eq!(
        azure.resource(&format!("{SUBSCRIPTION}/resourceGroups/anything")),
        None
    );
    let stolen = cluster
        .api::<Secret>("team")
        .get_opt("stolen")
        .await
        .unwrap();
    assert!(stolen.is_none(), "nothing of others is exported");
    let all = azure.requests(&Query::default());
    let prod = prod.to_ascii_lowercase();
    let mut paths = all.iter().map(|one| one.path.to_ascii_lowercase());
    assert_eq!(paths.find(|path| path.starts_with(&prod)), None);
}

/// The namespace's words hold against those of its objects.
async fn words_of_objects_lift_nothing(cluster: &Cluster, team: &Tenant) {
    let there = format!(
        "{SUBSCRIPTION}/resourceGroups/team/providers/Microsoft.ManagedIdentity/userAssignedIdentities/there"
    );
    let azure = cluster.azure.simulator();
    let body = json!({"location": "westeurope", "tags": {"of": "somebody"}, "properties": {}});
    azure.place(&there, body).unwrap();
    let contrary =
        json!({"armature.azure.com/adopt": "always", "armature.azure.com/protect": "none"});
    team.create(identity("there", json!({"name": "team"}), contrary.clone()))
        .await;
    until_told(team, IDENTITY, "there", "Ready", &["AdoptionRefused"]).await;
    let overruled = [
        "BoundByNamespace",
        "armature.azure.com/adopt: 'always' does not count",
    ];
    until_told(team, IDENTITY, "there", "Overruled", &overruled).await;
    assert_eq!(azure.resource(&there).unwrap()["tags"]["of"], "somebody");

    let protect = json!({"metadata": {"annotations": {"armature.azure.com/protect": "delete"}}});
    let namespaces: kube::Api<k8s_openapi::api::core::v1::Namespace> =
        kube::Api::all(cluster.client.clone());
    let how = PatchParams::default();
    namespaces
        .patch("team", &how, &Patch::Merge(protect))
        .await
        .unwrap();
    let groups = team.api(GROUPS, "ResourceGroup");
    let none = Patch::Merge(json!({"metadata": {"annotations": contrary}}));
    groups.patch("team", &how, &none).await.unwrap();
    let overruled = ["armature.azure.com/protect: 'none' does not count"];
    until_told(team, GROUP, "team", "Overruled", &overruled).await;
    let dry = DeleteParams {
        dry_run: true,
        ..DeleteParams::default()
    };
    until_ok(
        "the API server to refuse the deletion",
        async || match groups.delete("team", &dry).await {
            Err(error)
                if error
                    .to_string()
                    .contains("its namespace is protected from deletion") =>
            {
                Ok(())
            }
            other => Err(format!("{other:?}")),
        },
    )
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn tenants_of_the_profile_reach_nothing_that_is_not_theirs() {
    let [values, of_namespace]: [Vec<Value>; 2] = blocks().try_into().unwrap();
    let mut told = Vec::new();
    settings(&values[0], "", &mut told);
    let told: Vec<&str> = told.iter().map(String::as_str).collect();
    assert!(
        !manifests(&told).await.is_empty(),
        "the page's values alone are a release"
    );

    let cluster = Cluster::start().await;
    for name in [NAMESPACE, "silent"] {
        cluster.apply(&namespace(name)).await;
    }
    let installed = cluster.render(&told).await;
    let is_policy = |manifest: &&Value| manifest["metadata"]["name"] == SCOPES_POLICY;
    for manifest in installed.iter().filter(|manifest| !is_policy(manifest)) {
        cluster.apply(manifest).await;
    }
    for manifest in &of_namespace {
        cluster.apply(manifest).await;
    }
    let team = Tenant::admit(&cluster, "team").await;
    let silent = Tenant::admit(&cluster, "silent").await;
    let pod = cluster.run(&installed, "armature-0", "127.0.0.1").await;

    credentials_of_others_are_not_used(&cluster, &team).await;
    let own = [("AZURE_CLIENT_SECRET", "the tenant's")];
    sign_in(&team, credential(OWN, &own)).await;
    until_told(&team, GROUP, "team", "Ready", &["Succeeded"]).await;
    what_is_outside_is_not_reached(&cluster, &team, &silent).await;
    words_of_objects_lift_nothing(&cluster, &team).await;
    the_api_server_refuses_as_well(&cluster, &installed).await;
    pod.terminate().await;
}

/// With the policy that the test left out so far, the manifest is not even taken.
async fn the_api_server_refuses_as_well(cluster: &Cluster, installed: &[Value]) {
    let is_policy = |manifest: &&Value| manifest["metadata"]["name"] == SCOPES_POLICY;
    for manifest in installed.iter().filter(is_policy) {
        cluster.apply(manifest).await;
    }
    let prod = json!({"armId": format!("{SUBSCRIPTION}/resourceGroups/prod")});
    for (name, part) in [
        ("team", "may only use what is below"),
        ("silent", "may use no ARM id"),
    ] {
        let mut manifest = identity("again", prod.clone(), json!({}));
        manifest["metadata"]["namespace"] = json!(name);
        let how = PatchParams {
            dry_run: true,
            ..PatchParams::apply("tests").force()
        };
        until_ok("the API server to refuse the id", async || {
            match cluster.request(&manifest, &how).await {
                Err(error) if error.to_string().contains(part) => Ok(()),
                other => Err(format!("{other:?}")),
            }
        })
        .await;
    }
}
