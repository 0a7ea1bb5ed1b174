//! The life of resources, with what the simulator knows of single kinds.

use armature_simulator::{ClusterState, ConnectionDecision, Settings};
use serde_json::{Value, json};

use crate::common::client::{Session, header};
use crate::common::{TENANT, in_group};

fn account() -> Value {
    json!({"location": "westus2", "kind": "StorageV2", "sku": {"name": "Standard_LRS"}})
}

#[tokio::test]
async fn an_account_is_made_polled_listed_and_removed() {
    let session = Session::start(Settings::default()).await;
    session.make_group().await;
    let path = in_group("Microsoft.Storage/storageAccounts/account");
    assert_eq!(session.json("GET", &path, None).await.0, 404);
    let answer = session.send("PUT", &path, Some(account())).await;
    assert_eq!(answer.status(), 202);
    let poll = header(&answer, "location").unwrap();
    assert!(poll.starts_with(session.running.endpoint()), "{poll}");
    assert!(header(&answer, "x-ms-request-id").is_some());
    assert!(header(&answer, "x-ms-correlation-request-id").is_some());
    let left = header(&answer, "x-ms-ratelimit-remaining-subscription-writes").unwrap();
    assert_eq!(left, "198");

    let (status, body) = session.json("GET", &poll, None).await;
    assert_eq!(status, 200);
    assert_eq!(body["properties"]["provisioningState"], "Succeeded");
    let blob = &body["properties"]["primaryEndpoints"]["blob"];
    assert_eq!(blob, "https://account.blob.core.windows.net/");
    let service = format!("{path}/blobServices/default");
    assert_eq!(session.json("GET", &service, None).await.0, 200);
    let container = format!("{service}/containers/box");
    assert_eq!(
        session.json("PUT", &container, Some(json!({}))).await.0,
        201
    );

    let (status, keys) = session
        .json("POST", &format!("{path}/listKeys"), None)
        .await;
    assert_eq!(status, 200);
    assert_eq!(keys["keys"][0]["keyName"], "key1");
    let (_, again) = session
        .json("POST", &format!("{path}/listKeys"), None)
        .await;
    assert_eq!(keys, again, "keys stay what they are");

    assert_eq!(session.json("DELETE", &path, None).await.0, 200);
    assert_eq!(session.json("GET", &container, None).await.0, 404);
    session.running.stop().await;
}

/// A private endpoint with a connection `own` and these manual ones.
fn endpoint(manual: &[&str]) -> Value {
    let connection =
        |name: &str| json!({"name": name, "properties": {"privateLinkServiceId": "/x"}});
    let manual: Vec<_> = manual.iter().map(|name| connection(name)).collect();
    json!({
        "location": "westus2",
        "properties": {
            "privateLinkServiceConnections": [connection("own")],
            "manualPrivateLinkServiceConnections": manual,
        },
    })
}

#[tokio::test]
async fn manual_connections_wait_for_approval() {
    let session = Session::start(Settings::default()).await;
    session.make_group().await;
    let path = in_group("Microsoft.Network/privateEndpoints/endpoint");
    let body = endpoint(&["first", "second"]);
    session.json("PUT", &path, Some(body.clone())).await;
    let states = async || -> Vec<String> {
        let (_, body) = session.json("GET", &path, None).await;
        [
            "privateLinkServiceConnections",
            "manualPrivateLinkServiceConnections",
        ]
        .iter()
        .flat_map(|list| body["properties"][list].as_array().unwrap().clone())
        .map(|item| item["properties"]["privateLinkServiceConnectionState"]["status"].clone())
        .map(|status| status.as_str().unwrap().to_owned())
        .collect()
    };
    assert_eq!(states().await, ["Approved", "Pending", "Pending"]);
    let decision = json!({"endpoint": "endpoint", "connection": "first", "status": "Approved"});
    let control = "/simulator/private-endpoint-connections";
    assert_eq!(session.json("POST", control, Some(decision)).await.0, 200);
    assert_eq!(states().await, ["Approved", "Approved", "Pending"]);
    let decision = ConnectionDecision {
        endpoint: path.clone(),
        connection: Some("second".into()),
        status: "Rejected".into(),
        description: Some("No.".into()),
    };
    session
        .running
        .simulator()
        .decide_connections(&decision)
        .unwrap();
    assert_eq!(states().await, ["Approved", "Approved", "Rejected"]);
    // Another PUT does not undo what was decided.
    session.json("PUT", &path, Some(body)).await;
    assert_eq!(states().await, ["Approved", "Approved", "Rejected"]);
    session.running.stop().await;
}

#[tokio::test]
async fn decisions_about_nothing_are_refused() {
    let session = Session::start(Settings::default()).await;
    session.make_group().await;
    let path = in_group("Microsoft.Network/privateEndpoints/endpoint");
    session.json("PUT", &path, Some(endpoint(&["first"]))).await;
    let control = "/simulator/private-endpoint-connections";
    for (decision, status) in [
        (json!({"endpoint": "none", "status": "Approved"}), 404),
        (
            json!({"endpoint": "endpoint", "connection": "none", "status": "Approved"}),
            404,
        ),
        (json!({"endpoint": "endpoint", "status": "Maybe"}), 400),
    ] {
        assert_eq!(
            session.json("POST", control, Some(decision)).await.0,
            status
        );
    }
    session.running.stop().await;
}

#[tokio::test]
async fn databases_wait_for_their_cluster() {
    let session = Session::start(Settings::default()).await;
    session.make_group().await;
    let cluster = in_group("Microsoft.Kusto/clusters/cluster");
    session
        .json("PUT", &cluster, Some(json!({"location": "westus2"})))
        .await;
    let (_, body) = session.json("GET", &cluster, None).await;
    assert_eq!(body["properties"]["state"], "Running");
    assert_eq!(
        body["properties"]["uri"],
        "https://cluster.westus2.kusto.windows.net"
    );

    let database = format!("{cluster}/databases/db");
    let wanted = json!({"kind": "ReadWrite", "properties": {"softDeletePeriod": "P1D"}});
    let busy = json!({"cluster": "cluster", "provisioningState": "Updating"});
    session
        .json("POST", "/simulator/kusto-clusters", Some(busy))
        .await;
    let (status, error) = session.json("PUT", &database, Some(wanted.clone())).await;
    assert_eq!(
        (status, &error["error"]["code"]),
        (409, &json!("ServiceIsInMaintenance"))
    );
    let (status, _) = session
        .json("PUT", &cluster, Some(json!({"location": "westus2"})))
        .await;
    assert_eq!(status, 409, "nor can the cluster itself be changed");

    let simulator = session.running.simulator();
    let done = ClusterState {
        cluster: cluster.clone(),
        provisioning_state: Some("Succeeded".into()),
        state: None,
    };
    simulator.set_cluster_state(&done).unwrap();
    for (action, state) in [("stop", "Stopped"), ("start", "Running")] {
        let url = format!("{cluster}/{action}");
        assert_eq!(session.json("POST", &url, None).await.0, 200);
        let (_, body) = session.json("GET", &cluster, None).await;
        assert_eq!(body["properties"]["state"], state);
    }
    assert_eq!(session.json("PUT", &database, Some(wanted)).await.0, 201);
    session.running.stop().await;
}

#[tokio::test]
async fn identities_have_their_ids() {
    let session = Session::start(Settings::default()).await;
    session.make_group().await;
    let path = in_group("Microsoft.ManagedIdentity/userAssignedIdentities/me");
    let (_, made) = session
        .json("PUT", &path, Some(json!({"location": "westus2"})))
        .await;
    let properties = &made["properties"];
    assert_eq!(properties["tenantId"], TENANT);
    assert_ne!(properties["clientId"], properties["principalId"]);
    let (_, shown) = session
        .json("PUT", &path, Some(json!({"location": "westus2"})))
        .await;
    assert_eq!(shown["properties"], *properties, "ids are for life");
    session.running.stop().await;
}
