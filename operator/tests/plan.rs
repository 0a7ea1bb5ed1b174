//! `armature plan` as people run it: the program, a real API server with the real operator, and a simulated Azure. The page
//! in `docs/` shows what it prints; `ARMATURE_WRITE_DOCS=1` writes it there.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test that cannot go on fails"
)]

mod commands;
#[path = "plan/edits.rs"]
mod edits;
#[path = "plan/moved.rs"]
mod moved;

use armature_controlplane::waiting::until_ok;
use armature_simulator::Query;
use commands::World;
use kube::api::{Api, ApiResource, DynamicObject, PostParams};
use kube::core::GroupVersionKind;
use serde_json::{Value, json};

const GROUP: &str = "/subscriptions/00000000-0000-0000-0000-000000000001/resourceGroups/shop";

fn writes(world: &World) -> usize {
    let all = world.azure().requests(&Query::default());
    let writes = all.iter().filter(|request| {
        // Sign-in is a POST, too.
        let is_arm = request.path.starts_with("/subscriptions/");
        is_arm && !["GET", "HEAD"].contains(&request.method.as_str())
    });
    writes.count()
}

/// A plan as JSON.
async fn plan(world: &World, flags: &str, code: i32) -> Value {
    let line = format!("armature plan {flags} -o json");
    serde_json::from_str(&world.run(&line, code).await).unwrap()
}

/// What would happen to each resource, by its name.
fn actions(plan: &Value) -> Vec<(&str, &str, &str)> {
    let resources = plan["resources"].as_array().unwrap().iter();
    resources
        .map(|one| {
            let text = |member: &str| one[member].as_str().unwrap_or_default();
            (text("name"), text("action"), text("reason"))
        })
        .collect()
}

/// What the PUT of the account leaves out at a path.
fn left_out(plan: &Value, path: &str) -> Value {
    let left_out = plan["resources"][1]["leftOut"].as_array();
    let mut left_out = left_out.into_iter().flatten();
    let found = left_out.find(|one| one["path"] == path);
    found.map_or(Value::Null, |one| one["value"].clone())
}

#[tokio::test(flavor = "multi_thread")]
async fn the_page_shows_what_it_prints() {
    let world = World::start("plan.md").await;
    world.shows("armature plan -f shop", 0).await;
    assert_eq!(writes(&world), 0);
    assert!(world.azure().resource(GROUP).is_none());

    world.apply_page("shop").await;
    world
        .wait_ready(
            "storage.azure.com",
            "StorageAccountsBlobService",
            "shopblobs",
        )
        .await;
    let account = format!("{GROUP}/providers/Microsoft.Storage/storageAccounts/shopdata");
    world.drift(&account, &json!({"properties": {"accessTier": "Cool"}}));
    world.edit("shop/account.yaml", "westeurope", "northeurope");
    let before = writes(&world);
    world
        .shows("armature plan -f shop --detailed-exitcode", 2)
        .await;
    world
        .shows("armature plan -f shop --cluster -n shop", 0)
        .await;
    world
        .shows(
            "armature plan -f shop/group.yaml --cluster -n shop --prune",
            0,
        )
        .await;
    world.shows("armature plan -f shop --offline", 0).await;
    world.run("armature plan -f shop --out plan.json", 0).await;
    world
        .shows("armature plan show plan.json -o markdown", 0)
        .await;
    assert_eq!(writes(&world), before, "a plan writes nothing");
    world.finish_page();
}

#[tokio::test(flavor = "multi_thread")]
async fn each_action_is_told_and_nothing_is_written() {
    let world = World::start("plan.md").await;
    world.apply_page("shop").await;
    world
        .wait_ready(
            "storage.azure.com",
            "StorageAccountsBlobService",
            "shopblobs",
        )
        .await;
    let before = writes(&world);
    let same = |action| {
        [
            ("shop", action, ""),
            ("shopdata", action, ""),
            ("shopblobs", action, ""),
        ]
    };

    // What runs is as it is desired; the records of the operator say so.
    let found = plan(&world, "--cluster --detailed-exitcode", 0).await;
    assert_eq!(actions(&found), same("unchanged"), "{found:#}");
    let found = plan(&world, "-f shop --cluster -n shop --detailed-exitcode", 0).await;
    assert_eq!(actions(&found), same("unchanged"), "{found:#}");
    // Manifests alone, where nobody knows of a PUT: taken over without a write.
    let found = plan(&world, "-f shop -n shop --detailed-exitcode", 0).await;
    assert_eq!(actions(&found), same("adopt"), "{found:#}");
    assert_eq!(left_out(&found, "properties.minimumTlsVersion"), "TLS1_2");

    // Drift, and an edit that takes something out.
    let account = format!("{GROUP}/providers/Microsoft.Storage/storageAccounts/shopdata");
    world.drift(
        &account,
        &json!({"properties": {"accessTier": "Cool"}, "tags": {"by": "portal"}}),
    );
    let found = plan(&world, "--cluster --detailed-exitcode", 2).await;
    assert_eq!(actions(&found)[1], ("shopdata", "update", ""));
    // The PUT against the drift would take along what somebody has set beside it.
    assert_eq!(left_out(&found, "tags.by"), "portal");
    assert_eq!(left_out(&found, "properties.accessTier"), Value::Null);
    let property = json!({"path": "properties.accessTier", "old": "Cool", "new": "Hot"});
    assert_eq!(found["resources"][1]["properties"], json!([property]));
    world.drift(&account, &json!({"properties": {"accessTier": "Hot"}}));
    world.edit("shop/account.yaml", "  accessTier: Hot\n", "");
    let found = plan(&world, "-f shop --cluster -n shop", 0).await;
    assert_eq!(actions(&found)[1], ("shopdata", "update", ""), "{found:#}");
    assert_eq!(found["resources"][1]["properties"][0]["old"], "Hot");

    // Another name in Azure is another resource.
    world.edit(
        "shop/account.yaml",
        "  kind: StorageV2",
        "  azureName: another\n  kind: StorageV2",
    );
    let found = plan(&world, "-f shop --cluster -n shop --detailed-exitcode", 2).await;
    assert_eq!(actions(&found)[1].1, "replace", "{found:#}");
    assert_eq!(found["resources"][1]["properties"][0]["path"], "id");

    // What no manifest has any more goes, children before owners; by label, only what has it.
    let found = plan(&world, "-f shop/group.yaml --cluster -n shop --prune", 0).await;
    let expected = [
        ("shop", "unchanged", ""),
        ("shopblobs", "delete", ""),
        ("shopdata", "delete", ""),
    ];
    assert_eq!(actions(&found), expected, "{found:#}");
    let found = plan(
        &world,
        "-f shop/group.yaml --cluster -n shop --prune -l a=b",
        0,
    )
    .await;
    assert_eq!(actions(&found), [("shop", "unchanged", "")]);

    // A missing Secret is only assumed where there is no cluster to look in.
    world.write("vm.yaml", SERVER);
    let found = plan(&world, "-f shop/group.yaml -f vm.yaml -n shop", 0).await;
    assert_eq!(
        found["resources"][1]["assumed"],
        json!(["Secret shop/login"])
    );
    let found = plan(&world, "-f vm.yaml --cluster -n shop", 1).await;
    assert_eq!(actions(&found), [("server", "blocked", "SecretNotFound")]);

    // Who may not read is told so.
    let refusal = armature_simulator::FaultRule {
        path: Some("/storageAccounts/*".to_owned()),
        status: Some(403),
        ..Default::default()
    };
    world.azure().add_fault(refusal);
    let found = plan(&world, "--cluster", 1).await;
    assert_eq!(actions(&found)[1].1, "blocked", "{found:#}");
    assert_eq!(writes(&world), before, "a plan writes nothing");
}

const SERVER: &str = "
apiVersion: sql.azure.com/v1api20211101
kind: Server
metadata: {name: server}
spec:
  location: westeurope
  owner: {name: shop}
  administratorLogin: admin1
  administratorLoginPassword: {name: login, key: password}
";

const TEXT: &str = "
apiVersion: resources.azure.com/v1api20200601
kind: ResourceGroup
metadata: {name: team}
spec:
  location: westeurope
  tags: {see: /subscriptions/00000000-0000-0000-0000-000000000001/resourceGroups/others}
";

/// What the operator has for namespaces that say nothing counts against a cluster, as strictly as it does.
#[tokio::test(flavor = "multi_thread")]
async fn scopes_of_the_operator_count_against_a_cluster() {
    let world = World::start("plan.md").await;
    // The kinds are there.
    world.apply_page("shop").await;
    world.write("text.yaml", TEXT);
    let scopes = GROUP.replace("shop", "team");
    let flags = [
        format!("--allowed-scopes={scopes}"),
        "--allowed-scopes-mode=warn".to_owned(),
    ];
    let flags: Vec<&str> = flags.iter().map(String::as_str).collect();
    for (flags, action, reason, part) in [
        (&[][..], "create", "", None),
        (&flags[..1], "blocked", "ScopeNotAllowed", None),
        (&flags[..], "create", "", Some("tags.see: ")),
    ] {
        world
            .apply_deployment("armature-system", &json!([]), flags)
            .await;
        let code = i32::from(action == "blocked");
        let found = plan(&world, "-f text.yaml --cluster -n shop", code).await;
        assert_eq!(actions(&found), [("team", action, reason)], "{found:#}");
        let told = found["resources"][0]["warnings"].to_string();
        match part {
            Some(part) => assert!(
                told.contains(part) && told.contains("it is sent all the same"),
                "{told}"
            ),
            None => assert_eq!(told, "null"),
        }
    }
}

async fn create(world: &World, (group, version, kind): (&str, &str, &str), object: &Value) {
    let gvk = GroupVersionKind::gvk(group, version, kind);
    let api: Api<DynamicObject> =
        Api::all_with(world.client().clone(), &ApiResource::from_gvk(&gvk));
    let object = serde_json::from_value(object.clone()).unwrap();
    api.create(&PostParams::default(), &object).await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn what_the_api_server_would_refuse_is_blocked_and_nothing_is_stored() {
    let world = World::start("plan.md").await;
    world.apply_page("shop").await;
    let storage = "storage.azure.com";
    world
        .wait_ready(storage, "StorageAccountsBlobService", "shopblobs")
        .await;
    let of = (
        "admissionregistration.k8s.io",
        "v1",
        "ValidatingAdmissionPolicy",
    );
    let policy = json!({
        "metadata": {"name": "tiers"},
        "spec": {
            "matchConstraints": {"resourceRules": [{
                "apiGroups": [storage], "apiVersions": ["*"], "operations": ["CREATE", "UPDATE"], "resources": ["storageaccounts"],
            }]},
            "validations": [{"expression": "object.spec.accessTier == 'Cool'", "message": "this team keeps its data cool"}],
        },
    });
    create(&world, of, &policy).await;
    let binding = json!({"metadata": {"name": "tiers"}, "spec": {"policyName": "tiers", "validationActions": ["Deny"]}});
    let of = (of.0, of.1, "ValidatingAdmissionPolicyBinding");
    create(&world, of, &binding).await;
    world.edit(
        "shop/account.yaml",
        "name: shopdata}\nspec:\n  location",
        "name: moredata}\nspec:\n  location",
    );
    let line = "-f shop/account.yaml --cluster -n shop";
    // The API server takes some seconds until a policy counts.
    let found = until_ok("a policy to count", async || {
        let text = world
            .run_any(&format!("armature plan {line} -o json"))
            .await;
        let found: Value = serde_json::from_str(&text).unwrap();
        match actions(&found)[0].1 {
            "blocked" => Ok(found),
            _ => Err(format!("{found:#}")),
        }
    })
    .await;
    assert_eq!(
        actions(&found)[0],
        ("moredata", "blocked", "Refused"),
        "{found:#}"
    );
    let message = found["resources"][0]["message"].as_str().unwrap();
    assert!(
        message.contains("this team keeps its data cool"),
        "{message}"
    );
    world.edit("shop/account.yaml", "accessTier: Hot", "accessTier: Cool");
    let found = plan(&world, line, 0).await;
    assert_eq!(actions(&found)[0], ("moredata", "create", ""), "{found:#}");
    assert_eq!(found.get("notes"), None);

    // Who may only read gets the plan all the same.
    let all = ["get", "list", "watch"];
    let of = ("rbac.authorization.k8s.io", "v1", "ClusterRole");
    let role = json!({"metadata": {"name": "look"}, "rules": [{"apiGroups": ["*"], "resources": ["*"], "verbs": all}]});
    create(&world, of, &role).await;
    let bound = json!({
        "metadata": {"name": "look"}, "roleRef": {"apiGroup": of.0, "kind": of.2, "name": "look"},
        "subjects": [{"apiGroup": of.0, "kind": "User", "name": "eve"}],
    });
    create(&world, (of.0, of.1, "ClusterRoleBinding"), &bound).await;
    let found = plan(&world, &format!("{line} --as eve"), 0).await;
    assert_eq!(actions(&found)[0], ("moredata", "create", ""), "{found:#}");
    let note = found["notes"][0].as_str().unwrap();
    assert!(
        note.contains("User \"eve\" cannot patch resource"),
        "{note}"
    );

    // Nothing of all that was stored.
    let status = world.run("armature status -n shop -o json", 0).await;
    assert!(!status.contains("moredata"), "{status}");
}

#[tokio::test(flavor = "multi_thread")]
async fn five_hundred_objects_take_a_request_each() {
    let world = World::start("plan.md").await;
    let mut manifests = String::new();
    for number in 0..499 {
        manifests.push_str(&format!(
            "---
apiVersion: storage.azure.com/v1api20230101
kind: StorageAccount
metadata: {{name: account{number}}}
spec: {{location: westeurope, kind: StorageV2, sku: {{name: Standard_LRS}}, owner: {{name: shop}}}}
"
        ));
    }
    world.write("shop/many.yaml", &manifests);
    // In a group that is made, too, nothing is there to ask for, and nothing to wait for.
    let line = "-f shop/group.yaml shop/many.yaml --arm-budget reads=10/0.1";
    let found = plan(&world, line, 0).await;
    let created = actions(&found)
        .iter()
        .filter(|one| one.1 == "create")
        .count();
    assert_eq!((created, &found["requests"]), (500, &json!(1)));
    let group = json!({"location": "westeurope", "properties": {}});
    world.azure().place(GROUP, group).unwrap();
    let started = std::time::Instant::now();
    let found = plan(&world, "-f shop/group.yaml shop/many.yaml", 0).await;
    println!(
        "500 objects: {:.1} s, {} requests",
        started.elapsed().as_secs_f64(),
        found["requests"]
    );
    let created = actions(&found)
        .iter()
        .filter(|one| one.1 == "create")
        .count();
    assert_eq!(created, 499);
    assert!(
        found["requests"].as_u64().unwrap() <= 500,
        "{}",
        found["requests"]
    );
    assert_eq!(writes(&world), 0);
}

/// Variables that give the program a credential, taken out.
const NO_IDENTITY: [(&str, &str); 4] = [
    ("AZURE_SUBSCRIPTION_ID", ""),
    ("AZURE_TENANT_ID", ""),
    ("AZURE_CLIENT_ID", ""),
    ("AZURE_CLIENT_SECRET", ""),
];

#[tokio::test(flavor = "multi_thread")]
async fn what_is_wrong_with_the_way_to_azure_is_told_with_what_to_do() {
    let world = World::start_without_operator("plan.md").await;
    let line = "armature plan -f shop";
    let (shown, _) = world.run_with(line, &NO_IDENTITY, 1).await;
    assert_eq!(shown.matches("az login").count(), 1, "told once: {shown}");
    assert!(!shown.contains("the operator's settings"), "{shown}");

    let (shown, _) = world
        .run_with(line, &[("ARMATURE_ARM_CA_FILE", "")], 1)
        .await;
    for part in ["an authority that is not trusted; ", "--arm-ca-file"] {
        assert!(shown.contains(part), "{shown}");
    }
    let refused = [("AZURE_AUTHORITY_HOST", "https://127.0.0.1:1")];
    let (shown, _) = world.run_with(line, &refused, 1).await;
    for part in ["the connection is refused; ", "AZURE_AUTHORITY_HOST"] {
        assert!(shown.contains(part), "{shown}");
    }
    let folder = [("ARMATURE_CREDENTIAL_FOLDER", "nowhere")];
    let (_, errors) = world.run_with(line, &folder, 1).await;
    assert!(errors.contains("no credential folder nowhere"), "{errors}");

    // The subscription may be named on the command line, whoever the identity is.
    let line = "armature plan -f shop --subscription 00000000-0000-0000-0000-000000000001";
    let (shown, _) = world.run_with(line, &NO_IDENTITY[..1], 0).await;
    assert!(shown.contains("3 to create"), "{shown}");
}

#[cfg(unix)]
#[tokio::test(flavor = "multi_thread")]
async fn who_is_signed_in_with_the_azure_cli_may_plan() {
    let world = World::start("plan.md").await;
    let token = world.token().await;
    let found = world
        .run_with_azure_cli("armature plan -f shop -o json", &token, 0)
        .await;
    let found: Value = serde_json::from_str(&found).unwrap();
    assert_eq!(actions(&found)[0], ("shop", "create", ""));
    let found = world
        .run_with_azure_cli("armature plan -f shop -o json", "", 1)
        .await;
    let found: Value = serde_json::from_str(&found).unwrap();
    assert_eq!(actions(&found)[0].1, "blocked", "{found:#}");

    // A Secret among the manifests is a credential, whoever is signed in.
    let settings = armature_simulator::Settings::default();
    let secret = json!({
        "apiVersion": "v1", "kind": "Secret",
        "metadata": {"name": "aso-credential", "namespace": "shop"},
        "stringData": {
            "AZURE_SUBSCRIPTION_ID": settings.subscriptions[0], "AZURE_TENANT_ID": settings.tenant,
            "AZURE_CLIENT_ID": "00000000-0000-0000-0000-00000000000a", "AZURE_CLIENT_SECRET": "for the simulator",
        },
    });
    world.write("credential.json", &secret.to_string());
    let line = "armature plan -f shop credential.json -n shop -o json";
    let found = world.run_with_azure_cli(line, "", 0).await;
    let found: Value = serde_json::from_str(&found).unwrap();
    assert_eq!(actions(&found)[0], ("shop", "create", ""), "{found:#}");
}

/// What Azure answers in other words needs no write: a role by any subscription's id, an address by its /32.
#[tokio::test(flavor = "multi_thread")]
async fn what_azure_says_in_other_words_is_adopted_without_a_write() {
    const READER: &str =
        "providers/Microsoft.Authorization/roleDefinitions/acdd72a7-3385-48ef-bd42-f606fba81ae7";
    let world = World::start_without_operator("plan.md").await;
    let subscription = "/subscriptions/00000000-0000-0000-0000-000000000001";
    let place = |id: &str, body: Value| world.azure().place(id, body).unwrap();
    let group = json!({"location": "westeurope", "properties": {"provisioningState": "Succeeded"}});
    place(GROUP, group);
    let spec = json!({"location": "westeurope"});
    let mut manifests = vec![json!({
        "apiVersion": "resources.azure.com/v1api20200601", "kind": "ResourceGroup",
        "metadata": {"name": "shop"}, "spec": spec,
    })];
    let owner = json!({"group": "resources.azure.com", "kind": "ResourceGroup", "name": "shop"});
    let scopes = ["", "/subscriptions/99999999-9999-9999-9999-999999999999"];
    for (number, scope) in scopes.into_iter().enumerate() {
        let name = format!("0a4ddb1a-0001-4c0a-9a51-7a3a6d0a000{number}");
        let principal = "3f1c9c52-2f8a-4a6e-9f3a-0d5f6f3b7a11";
        let id = format!("{GROUP}/providers/Microsoft.Authorization/roleAssignments/{name}");
        let properties = json!({
            "roleDefinitionId": format!("{subscription}/{READER}"), "principalId": principal,
            "principalType": "ServicePrincipal", "scope": GROUP, "condition": null,
        });
        place(&id, json!({ "properties": properties }));
        manifests.push(json!({
            "apiVersion": "authorization.azure.com/v1api20220401", "kind": "RoleAssignment",
            "metadata": {"name": format!("reader-{number}")},
            "spec": {
                "azureName": name, "owner": owner, "principalId": principal, "principalType": "ServicePrincipal",
                "roleDefinitionReference": {"armId": format!("{scope}/{READER}")},
            },
        }));
    }
    let rules = |value: &str| json!({"defaultAction": "Deny", "ipRules": [{"action": "Allow", "value": value}]});
    let sku = json!({"name": "Premium"});
    let id = format!("{GROUP}/providers/Microsoft.ContainerRegistry/registries/shopimages");
    let properties =
        json!({"networkRuleSet": rules("203.0.113.7"), "provisioningState": "Succeeded"});
    place(
        &id,
        json!({"location": "westeurope", "sku": sku, "properties": properties}),
    );
    manifests.push(json!({
        "apiVersion": "containerregistry.azure.com/v1api20230701", "kind": "Registry",
        "metadata": {"name": "shopimages"},
        "spec": {
            "owner": {"name": "shop"}, "location": "westeurope", "sku": sku,
            "networkRuleSet": rules("203.0.113.7/32"),
        },
    }));
    let list = json!({"apiVersion": "v1", "kind": "List", "items": manifests});
    world.write("words.json", &list.to_string());
    for _ in 0..2 {
        let found = plan(&world, "-f words.json -n shop --detailed-exitcode", 0).await;
        let all: Vec<_> = actions(&found).iter().map(|one| one.1).collect();
        assert_eq!(all, ["adopt"; 4], "{found:#}");
    }
    // Another role, and another address, are others.
    let other = list
        .to_string()
        .replace("acdd72a7-3385", "acdd72a7-3386")
        .replace("203.0.113.7/32", "203.0.113.8/32");
    world.write("words.json", &other);
    let found = plan(&world, "-f words.json -n shop --detailed-exitcode", 2).await;
    let all: Vec<_> = actions(&found).iter().map(|one| one.1).collect();
    assert_eq!(all[0], "adopt", "{found:#}");
    assert!(!all[1..].contains(&"adopt"), "{found:#}");
    assert_eq!(writes(&world), 0);
}
