//! `docs/first-hour.md`: what needs no Azure is run as it stands, and the rest is done to the simulated one.

use armature_controlplane::waiting::until;
use armature_simulator::{Query, Settings};
use serde_json::json;

use super::page::path;
use super::stage::{OPERATOR, SUBSCRIPTION, Stage};
use crate::chart::NAMESPACE;
use crate::cluster::ACCOUNT;

/// The subject that the page has Azure trust.
fn subject() -> String {
    let page = std::fs::read_to_string(path("first-hour.md")).unwrap();
    let (_, rest) = page.split_once("--subject ").unwrap();
    rest.split_whitespace().next().unwrap().to_owned()
}

#[tokio::test(flavor = "multi_thread")]
async fn the_first_hour_goes_as_the_page_says() {
    let mut stage = Stage::open("first-hour.md").await;
    stage.run("names").await;
    // What the reader makes in Azure: the group, the identity, and trust in the service account.
    let group = format!("/subscriptions/{SUBSCRIPTION}/resourceGroups/shop");
    let made = json!({"location": "westeurope", "properties": {"provisioningState": "Succeeded"}});
    stage.azure().place(&group, made).unwrap();
    stage
        .prepare(&format!(
            "export SUBSCRIPTION_ID={SUBSCRIPTION} TENANT_ID={} CLIENT_ID={OPERATOR}",
            Settings::default().tenant
        ))
        .await;
    let subject = subject();
    stage.trust(&subject).await;

    stage.run("values").await;
    stage.append("values.yaml", &stage.azure_values());
    stage.run("install").await;
    stage.start_operator().await;
    stage.run("crds").await;
    stage.run("manifests").await;
    stage.run("wait").await;
    assert_eq!(
        subject,
        format!("system:serviceaccount:{NAMESPACE}:{ACCOUNT}")
    );
    let writes = |stage: &Stage, method: &str| {
        let query = Query {
            method: Some(method.to_owned()),
            ..Query::default()
        };
        let all = stage.azure().requests(&query).into_iter();
        let all = all.filter(|request| request.principal == OPERATOR);
        all.map(|request| request.path).collect::<Vec<_>>()
    };
    let puts = writes(&stage, "PUT");
    assert_eq!(
        puts.len(),
        1,
        "the group is taken over without a write: {puts:?}"
    );
    let account = puts[0].clone();
    stage.run("exports").await;

    stage
        .azure()
        .drift(&account, &json!({"properties": {"accessTier": "Cool"}}))
        .unwrap();
    stage.run("drift").await;
    until("the account to be put right", async || {
        let shown = stage.azure().resource(&account).unwrap();
        shown["properties"]["accessTier"] == "Hot"
    })
    .await;
    until("the event of the repair", async || {
        let events = "kubectl get events --field-selector reason=Drifted --output name";
        !stage.prepare(events).await.is_empty()
    })
    .await;
    stage.run("drifted").await;
    stage.run("plan").await;
    stage.run("delete").await;
    let requests = stage.azure().requests(&Query::default());
    let of_account = requests.iter().filter(|one| one.path == account);
    let of_account: Vec<_> = of_account.map(|one| (&one.method, one.status)).collect();
    assert!(stage.azure().resource(&account).is_none(), "{of_account:?}");
    assert!(
        stage.azure().resource(&group).is_some(),
        "it says detach-on-delete"
    );
    assert_eq!(writes(&stage, "DELETE"), [account]);
    stage.stop_operator().await;
    stage.finish();
}
