//! `armature import` as people run it: the program, a real API server with the real operator, and a simulated Azure. The page
//! in `docs/` shows what it prints; `ARMATURE_WRITE_DOCS=1` writes it there.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test that cannot go on fails"
)]

mod commands;

use armature::worlds::manifests::manifest;
use armature_simulator::Query;
use commands::World;
use k8s_openapi::api::core::v1::Secret;
use kube::api::Api;
use serde_json::{Value, json};

const GROUP: &str = "/subscriptions/00000000-0000-0000-0000-000000000001/resourceGroups/shop";

async fn shop() -> World {
    let world = World::start("import.md").await;
    world.apply_page("shop").await;
    world
        .wait_ready(
            "storage.azure.com",
            "StorageAccountsBlobService",
            "shopblobs",
        )
        .await;
    world
}

/// Methods of the requests to ARM but for reads, and but for questions to the Graph.
fn writes(world: &World) -> usize {
    let all = world.azure().requests(&Query::default());
    let writes = all.iter().filter(|request| {
        let is_arm = request.path.starts_with("/subscriptions/");
        is_arm && !["GET", "HEAD"].contains(&request.method.as_str())
    });
    writes.count()
}

fn documents(text: &str) -> Vec<Value> {
    let (mut documents, mut errors) = (Vec::new(), Vec::new());
    manifest::parse(&Default::default(), text, &mut documents, &mut errors);
    assert!(errors.is_empty(), "{errors:?}\n{text}");
    documents.into_iter().map(|one| one.value).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn the_page_shows_what_it_prints() {
    let world = shop().await;
    let before = writes(&world);
    world
        .shows("armature import --resource-group shop --namespace team", 0)
        .await;
    world
        .shows(
            "armature import --resource-group shop --type StorageAccount --label team=shop --policy skip",
            0,
        )
        .await;
    world
        .shows("armature import --resource-group shop -f imported", 0)
        .await;
    world.shows("armature plan -f imported", 0).await;
    world.run("armature render -f imported", 0).await;
    assert_eq!(writes(&world), before, "an import writes nothing");
    world.finish_page();
}

#[tokio::test(flavor = "multi_thread")]
async fn what_was_made_of_manifests_comes_back_as_them() {
    let world = shop().await;
    let text = world
        .run("armature import --resource-group shop -s", 0)
        .await;
    let found = documents(&text);
    let kinds: Vec<&str> = found
        .iter()
        .map(|one| one["kind"].as_str().unwrap())
        .collect();
    assert_eq!(
        kinds[..3],
        [
            "ResourceGroup",
            "StorageAccount",
            "StorageAccountsBlobService"
        ],
        "{text}"
    );
    for (found, made) in found.iter().zip([
        json!({"azureName": "shop", "location": "westeurope"}),
        json!({
            "azureName": "shopdata", "location": "westeurope", "kind": "StorageV2",
            "sku": {"name": "Standard_LRS"}, "accessTier": "Hot", "owner": {"name": "shop"},
        }),
        json!({"owner": {"name": "shopdata"}}),
    ]) {
        for (name, value) in made.as_object().unwrap() {
            assert_eq!(&found["spec"][name], value, "{name}: {text}");
        }
        assert!(found.get("status").is_none());
    }
    // By id, by asoctl's name for it, and by the lists of ARM, it is the same.
    let id = format!("armature import azure-resource {GROUP} -w 1");
    assert_eq!(world.run(&id, 0).await, text);
    let account = format!("{GROUP}/providers/microsoft.storage/StorageAccounts/shopdata");
    let of_account = documents(&world.run(&format!("armature import {account}"), 0).await);
    assert_eq!(of_account.len(), found.len() - 1);
    assert_eq!(of_account[0]["spec"]["owner"], json!({ "armId": GROUP }));
    assert_eq!(of_account[1]["spec"]["owner"], json!({"name": "shopdata"}));
}

#[tokio::test(flavor = "multi_thread")]
async fn flags_of_asoctl_mean_the_same() {
    let world = shop().await;
    let line = format!(
        "armature import azure-resource {GROUP} -l team=shop,tier=gold -a a=b,c=d -a e=f -w 2 -s --verbose"
    );
    for one in documents(&world.run(&line, 0).await) {
        let metadata = &one["metadata"];
        let labels = json!({"team": "shop", "tier": "gold"});
        let annotations = json!({"a": "b", "c": "d", "e": "f"});
        assert_eq!(metadata["labels"], labels, "{one:#}");
        assert_eq!(metadata["annotations"], annotations, "{one:#}");
    }
    let line = format!("armature import azure-resource {GROUP} --quiet -f quiet");
    let (shown, errors) = world.run_with(&line, &[], 0).await;
    assert_eq!((shown.as_str(), errors.as_str()), ("", ""));
    // What the API server would refuse is refused here.
    for wrong in ["-n Bad_NS", "-l a=b=c", "-l a", "-a =b"] {
        world
            .errors(&format!("armature import -g shop {wrong}"), 2)
            .await;
    }
    let told = world
        .errors("armature import -g shop --type Namespace", 1)
        .await;
    assert!(
        told.contains("several groups have a kind 'Namespace'"),
        "{told}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_folder_keeps_what_no_import_has_written() {
    let world = shop().await;
    let line = "armature import -g shop -f .";
    let told = world.errors(line, 1).await;
    assert!(told.contains("is there already"), "{told}");
    // The files of this test are in it.
    world.write("mine.txt", "mine");
    world.run(&format!("{line} --overwrite"), 0).await;
    world.run(&format!("{line} --overwrite"), 0).await;
    let line = "armature plan -f resourcegroup-shop.yaml storageaccount-shopdata.yaml -o json";
    let plan: Value = serde_json::from_str(&world.run(line, 0).await).unwrap();
    assert_eq!(plan["resources"].as_array().unwrap().len(), 2);
    world.edit("mine.txt", "mine", "still mine");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_credential_may_be_in_a_secret_of_a_cluster() {
    let world = shop().await;
    let none = [
        ("AZURE_SUBSCRIPTION_ID", ""),
        ("AZURE_TENANT_ID", ""),
        ("AZURE_CLIENT_ID", ""),
        ("AZURE_CLIENT_SECRET", ""),
    ];
    let line = "armature import -g shop";
    let (_, errors) = world.run_with(line, &none, 1).await;
    assert_eq!(errors.lines().count(), 1, "{errors}");
    for part in ["az login", "--credential-from"] {
        assert!(errors.contains(part), "{errors}");
    }
    let settings = armature_simulator::Settings::default();
    let secret = json!({
        "metadata": {"name": "login"},
        "stringData": {
            "AZURE_SUBSCRIPTION_ID": settings.subscriptions[0], "AZURE_TENANT_ID": settings.tenant,
            "AZURE_CLIENT_ID": "00000000-0000-0000-0000-00000000000a", "AZURE_CLIENT_SECRET": "for the simulator",
        },
    });
    let secrets: Api<Secret> = Api::namespaced(world.client().clone(), "shop");
    let secret = serde_json::from_value(secret).unwrap();
    secrets.create(&Default::default(), &secret).await.unwrap();
    let line = format!("{line} --credential-from shop/login");
    let (shown, _) = world.run_with(&line, &none, 0).await;
    assert_eq!(documents(&shown).len(), 6, "{shown}");
    let wrong = "armature import -g shop --credential-from shop/nobody";
    let (_, errors) = world.run_with(wrong, &none, 1).await;
    assert!(errors.contains("Secret shop/nobody"), "{errors}");
    // A variable that is set to nothing names no subscription.
    let told = world.errors("armature import --subscription=", 1).await;
    assert!(told.contains("nothing to import"), "{told}");
    // Nothing was sent, so it is one sentence and not one for each list.
    let refused = [("AZURE_AUTHORITY_HOST", "https://127.0.0.1:1")];
    let line =
        format!("armature import {GROUP}/providers/Microsoft.Storage/storageAccounts/shopdata");
    let (shown, errors) = world.run_with(&line, &refused, 1).await;
    assert_eq!(
        (shown.as_str(), errors.lines().count()),
        ("", 1),
        "{errors}"
    );
    assert!(errors.contains("the connection is refused"), "{errors}");
}

#[tokio::test(flavor = "multi_thread")]
async fn defaults_are_left_out_and_nothing_changes() {
    let mut world = World::start_without_operator("import.md").await;
    let crds =
        "resources.azure.com/ResourceGroup;storage.azure.com/StorageAccount*;keyvault.azure.com/*";
    world.start_operator("armature-system", crds);
    world.apply_page("shop").await;
    let settings = json!({
        "tenantId": "11111111-2222-3333-4444-555555555555",
        "sku": {"family": "A", "name": "standard"},
        "enableRbacAuthorization": true, "enableSoftDelete": true, "softDeleteRetentionInDays": 7,
    });
    let vault = json!({
        "apiVersion": "keyvault.azure.com/v1api20230701", "kind": "Vault",
        "metadata": {"name": "shopvault"},
        "spec": {"location": "westeurope", "owner": {"name": "shop"}, "properties": settings},
    });
    world.apply(&vault).await;
    world
        .wait_ready("keyvault.azure.com", "Vault", "shopvault")
        .await;
    let line = "armature import -g shop --type Vault";
    let whole = world.run(&format!("{line} --with-defaults"), 0).await;
    let found = documents(&whole)[0]["spec"]["properties"].clone();
    for (name, value) in settings.as_object().unwrap() {
        assert_eq!(&found[name], value, "{name}: {whole}");
    }
    // Azure's spec says that soft delete is on, and that it keeps things for 90 days.
    let short = world.run(line, 0).await;
    let found = documents(&short)[0]["spec"]["properties"].clone();
    assert_eq!(found.get("enableSoftDelete"), None, "{short}");
    assert_eq!(found["softDeleteRetentionInDays"], 7);
    assert_eq!(found["enableRbacAuthorization"], true);

    for (file, text) in [("whole.yaml", &whole), ("short.yaml", &short)] {
        world.write(file, text);
        let plan = world
            .run(&format!("armature plan -f {file} -o json"), 0)
            .await;
        let plan: Value = serde_json::from_str(&plan).unwrap();
        let vault = &plan["resources"][0];
        assert_eq!(vault["action"], "adopt", "{plan:#}");
        let left_out = vault["leftOut"].as_array().cloned().unwrap_or_default();
        let soft_delete =
            json!({"path": "properties.enableSoftDelete", "value": true, "isDefault": true});
        let is_told = left_out.contains(&soft_delete);
        assert_eq!(is_told, file == "short.yaml", "{plan:#}");
        let is_plain = left_out.iter().all(|one| one["isDefault"] == true);
        assert!(is_plain, "all that it leaves out is a default: {plan:#}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_subscription_is_read_without_lists_that_tell_nothing() {
    let world = World::start_without_operator("import.md").await;
    let azure = world.azure();
    let subscription = "/subscriptions/00000000-0000-0000-0000-000000000001";
    let placed = |id: String| {
        azure
            .place(&id, json!({"location": "westeurope", "properties": {}}))
            .unwrap();
        id
    };
    for group in 0..5 {
        let group = placed(format!("{subscription}/resourceGroups/group{group}"));
        for number in 0..3 {
            let group = format!("{group}/providers");
            placed(format!(
                "{group}/Microsoft.Network/routeTables/table{number}"
            ));
            placed(format!(
                "{group}/Microsoft.ManagedIdentity/userAssignedIdentities/who{number}"
            ));
            let network = placed(format!(
                "{group}/Microsoft.Network/virtualNetworks/net{number}"
            ));
            placed(format!("{network}/subnets/front"));
        }
    }
    let line = "armature import --subscription 00000000-0000-0000-0000-000000000001 -f all";
    let told = world.run(line, 0).await;
    assert!(
        told.starts_with("65 imported, 0 skipped, 0 failed;"),
        "{told}"
    );
    let requests = azure.requests(&Query::default());
    let reads = requests
        .iter()
        .filter(|request| !request.path.contains("/oauth2/"));
    let of_lists = |part: &str| requests.iter().filter(|it| it.path.ends_with(part)).count();
    // What there is is one page of the Graph, and lists of what stands on all are one for the subscription.
    for (list, times) in [
        ("/resourcegraph/resources", 0),
        ("/Microsoft.ResourceGraph/resources", 2),
        ("/roleAssignments", 1),
        ("/roleDefinitions", 1),
        ("/fluxConfigurations", 0),
        ("/quotas", 0),
        ("/diagnosticSettings", 66),
    ] {
        assert_eq!(of_lists(list), times, "{list}");
    }
    // Each is read, and asked what may be on it and below it.
    assert!(reads.count() < 65 * 6, "{told}");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_cannot_be_imported_is_told_and_nothing_is_half_written() {
    let world = shop().await;
    let failing = format!(
        "armature import nonsense {GROUP}/providers/No.Body/knows/it \
         {GROUP}/providers/Microsoft.Storage/storageAccounts/nobody {GROUP} -o all.yaml"
    );
    let told = world.run(&failing, 1).await;
    assert!(
        told.starts_with("6 imported, 0 skipped, 3 failed;"),
        "{told}"
    );
    for part in [
        "no ARM resource id",
        "there is no kind for the type No.Body/knows",
        "Azure has no such resource",
    ] {
        assert!(told.contains(part), "{part}: {told}");
    }
    // The file is there, and stays.
    world
        .run(&format!("armature import {GROUP} -o all.yaml"), 1)
        .await;
    world
        .run(
            &format!("armature import {GROUP} -o all.yaml --overwrite"),
            0,
        )
        .await;
    let plan = world.run("armature plan -f all.yaml -o json", 0).await;
    let plan: Value = serde_json::from_str(&plan).unwrap();
    let actions: Vec<&str> = plan["resources"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| one["action"].as_str().unwrap())
        .collect();
    assert_eq!(actions, ["adopt"; 6], "{plan:#}");
    // Nothing was imported, so nothing is written.
    let nothing = format!("armature import {GROUP}/providers/No.Body/knows/it -f none");
    world.run(&nothing, 1).await;
    world.run("armature plan -f none", 1).await;
    world.run("armature import", 1).await;
    world
        .run("armature import -g shop --type StorageAcount", 1)
        .await;
}
