//! The whole simulator over HTTPS, as a client that knows nothing about it sees it.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test that cannot go on fails"
)]

mod common;

use std::time::{Duration, Instant};

use armature_simulator::{
    Client, ClusterState, ConnectionDecision, FaultRule, Limits, OperationRule, Options, Query,
    Settings, Simulator,
};
use common::client::{Session, header};
use common::{SUBSCRIPTION, TENANT, in_group, kinds};
use serde_json::{Value, json};

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

#[tokio::test]
async fn requests_without_a_good_token_are_refused() {
    let session = Session::start(Settings::default()).await;
    let url = session.url(SUBSCRIPTION);
    let bare = session.client.get(&url).send().await.unwrap();
    assert_eq!(bare.status(), 401);
    let challenge = header(&bare, "www-authenticate").unwrap();
    assert!(
        challenge.starts_with("Bearer authorization_uri="),
        "{challenge}"
    );
    let body: Value = bare.json().await.unwrap();
    assert_eq!(body["error"]["code"], "AuthenticationFailed");
    for (token, code) in [
        ("nonsense".to_owned(), "InvalidAuthenticationToken"),
        (
            foreign_audience(&session).await,
            "InvalidAuthenticationTokenAudience",
        ),
    ] {
        let answer = session
            .client
            .get(&url)
            .bearer_auth(token)
            .send()
            .await
            .unwrap();
        assert_eq!(answer.status(), 401);
        let body: Value = answer.json().await.unwrap();
        assert_eq!(body["error"]["code"], code);
    }
    session.running.stop().await;
}

async fn foreign_audience(session: &Session) -> String {
    let form = "grant_type=client_credentials&client_id=a&client_secret=b&\
                scope=https://graph.microsoft.com/.default";
    let (_, body) = sign_in(session, form, "oauth2/v2.0/token").await;
    body["access_token"].as_str().unwrap().to_owned()
}

async fn sign_in(session: &Session, form: &str, path: &str) -> (u16, Value) {
    let answer = session
        .client
        .post(format!("{}/{TENANT}/{path}", session.running.endpoint()))
        .body(form.to_owned())
        .send()
        .await
        .unwrap();
    (answer.status().as_u16(), answer.json().await.unwrap())
}

#[tokio::test]
async fn clients_sign_in_with_secrets_assertions_and_managed_identity() {
    let session = Session::start(Settings {
        clients: vec![Client {
            id: "tester".into(),
            secret: Some("s".into()),
        }],
        ..Settings::default()
    })
    .await;
    let scope = "scope=https://management.azure.com/.default";
    let grant = "grant_type=client_credentials";
    for (form, status, error) in [
        (
            format!("{grant}&{scope}&client_id=tester&client_secret=s"),
            200,
            None,
        ),
        (
            format!("{grant}&{scope}&client_id=tester&client_assertion=a.b.c"),
            200,
            None,
        ),
        (
            format!("{grant}&{scope}&client_id=tester&client_secret=x"),
            401,
            Some(7_000_215),
        ),
        (
            format!("{grant}&{scope}&client_id=other&client_secret=s"),
            401,
            Some(700_016),
        ),
        (
            format!("{grant}&{scope}&client_id=tester"),
            401,
            Some(7_000_218),
        ),
        (
            format!("{grant}&client_id=tester&client_secret=s"),
            400,
            Some(900_144),
        ),
        (
            format!("grant_type=password&{scope}&client_id=tester"),
            400,
            Some(70003),
        ),
    ] {
        let (found, body) = sign_in(&session, &form, "oauth2/v2.0/token").await;
        assert_eq!(found, status, "{form}: {body}");
        assert_eq!(body["error_codes"][0].as_u64(), error, "{form}");
    }
    let form =
        format!("{grant}&client_id=tester&client_secret=s&resource=https://management.azure.com/");
    let (status, body) = sign_in(&session, &form, "oauth2/token").await;
    assert_eq!(
        (status, &body["expires_in"]),
        (200, &json!("3599")),
        "the old form has text"
    );

    let endpoint = session.running.endpoint();
    let url = format!(
        "{endpoint}/metadata/identity/oauth2/token?api-version=2018-02-01&resource={endpoint}"
    );
    let bare = session.client.get(&url).send().await.unwrap();
    assert_eq!(bare.status(), 400);
    let answer = session
        .client
        .get(&url)
        .header("Metadata", "true")
        .send()
        .await
        .unwrap();
    assert_eq!(answer.status(), 200);
    session.running.stop().await;
}

#[tokio::test]
async fn metadata_leads_a_client_to_this_host() {
    let session = Session::start(Settings::default()).await;
    let endpoint = session.running.endpoint().to_owned();
    let get = async |path: &str| -> Value {
        let answer = session
            .client
            .get(format!("{endpoint}{path}"))
            .send()
            .await
            .unwrap();
        assert_eq!(answer.status(), 200, "{path}");
        answer.json().await.unwrap()
    };
    let cloud = get("/metadata/endpoints?api-version=2022-09-01").await;
    assert_eq!(cloud["resourceManager"], format!("{endpoint}/"));
    assert_eq!(
        cloud["authentication"]["loginEndpoint"],
        format!("{endpoint}/")
    );
    assert!(
        get("/metadata/endpoints?api-version=2019-05-01")
            .await
            .is_array()
    );
    let openid = get(&format!("/{TENANT}/v2.0/.well-known/openid-configuration")).await;
    assert_eq!(
        openid["token_endpoint"],
        format!("{endpoint}/{TENANT}/oauth2/v2.0/token")
    );
    let discovery = get(&format!(
        "/common/discovery/instance?api-version=1.1&authorization_endpoint={endpoint}/{TENANT}/oauth2/v2.0/authorize"
    ))
    .await;
    assert_eq!(
        discovery["tenant_discovery_endpoint"],
        format!("{endpoint}/{TENANT}/v2.0/.well-known/openid-configuration")
    );
    session.running.stop().await;
}

#[tokio::test]
async fn the_log_tells_what_was_sent_and_what_was_not() {
    let session = Session::start(Settings::default()).await;
    session.make_group().await;
    let path = in_group("Microsoft.Kusto/clusters/cluster");
    session
        .json("PUT", &path, Some(json!({"location": "westus2"})))
        .await;
    let simulator = session.running.simulator();
    let puts = simulator.requests(&Query {
        method: Some("put".into()),
        path: Some("/clusters/cluster$".into()),
        ..Query::default()
    });
    assert_eq!(puts.len(), 1);
    assert_eq!(puts[0].status, 201);
    assert_eq!(puts[0].principal, "tester");
    assert_eq!(puts[0].body, Some(json!({"location": "westus2"})));
    let below = Query {
        path: Some("/clusters/cluster/databases".into()),
        ..Query::default()
    };
    assert_eq!(simulator.requests(&below), []);
    session
        .json("GET", &format!("{path}/databases/db"), None)
        .await;
    let (_, found) = session
        .json(
            "GET",
            "/simulator/requests?path=/databases/&method=GET&status=404",
            None,
        )
        .await;
    assert_eq!(found["value"][0]["code"], "ResourceNotFound");
    assert_eq!(
        session.json("DELETE", "/simulator/requests", None).await.0,
        204
    );
    assert_eq!(simulator.requests(&Query::default()), []);
    let (status, body) = session.json("GET", "/simulator/requests?pth=x", None).await;
    assert_eq!(status, 400, "{body}");
    session.running.stop().await;
}

#[tokio::test]
async fn faults_hit_as_they_are_told() {
    let session = Session::start(Settings::default()).await;
    session.make_group().await;
    let path = in_group("Contoso.Test/widgets/w");
    let body = Some(json!({"location": "westus2"}));
    let rule =
        json!({"method": "PUT", "path": "/widgets/*", "count": 1, "status": 429, "retryAfter": 7});
    let (status, rule) = session.json("POST", "/simulator/faults", Some(rule)).await;
    assert_eq!((status, &rule["id"]), (201, &json!(1)));
    let answer = session.send("PUT", &path, body.clone()).await;
    assert_eq!(answer.status(), 429);
    assert_eq!(header(&answer, "retry-after").as_deref(), Some("7"));
    let error: Value = answer.json().await.unwrap();
    assert_eq!(error["error"]["code"], "TooManyRequests");
    assert_eq!(
        session.json("GET", &path, None).await.0,
        404,
        "the fault came first"
    );

    let nothing = Some(json!({"method": "PUT"}));
    let (status, _) = session.json("POST", "/simulator/faults", nothing).await;
    assert_eq!(status, 400, "a rule without effect");

    let simulator = session.running.simulator();
    simulator.add_fault(FaultRule {
        method: Some("PUT".into()),
        reset: true,
        count: Some(1),
        ..FaultRule::default()
    });
    assert!(session.try_send("PUT", &path, body.clone()).await.is_err());
    let cut = simulator.requests(&Query {
        method: Some("PUT".into()),
        status: Some(0),
        ..Query::default()
    });
    assert_eq!(cut[0].fault, Some(2));
    simulator.add_fault(FaultRule {
        delay: Some(Duration::from_millis(120)),
        count: Some(1),
        ..FaultRule::default()
    });
    let started = Instant::now();
    assert_eq!(session.json("PUT", &path, body).await.0, 201);
    assert!(started.elapsed() >= Duration::from_millis(120));
    assert_eq!(
        session.json("DELETE", "/simulator/faults/1", None).await.0,
        204
    );
    assert_eq!(
        session.json("DELETE", "/simulator/faults/1", None).await.0,
        404
    );
    session.running.stop().await;
}

#[tokio::test]
async fn stopping_does_not_wait_for_ever() {
    let session = Session::start(Settings::default()).await;
    session.running.simulator().add_fault(FaultRule {
        delay: Some(Duration::from_secs(600)),
        ..FaultRule::default()
    });
    let request = session.client.get(session.url(SUBSCRIPTION)).send();
    let (answer, ()) = tokio::join!(request, async {
        tokio::time::sleep(Duration::from_millis(200)).await;
        session.running.stop().await;
    });
    assert!(answer.is_err());
}

#[tokio::test]
async fn limits_refuse_when_enforced() {
    let session = Session::start(Settings {
        limits: Limits {
            enforce: true,
            reads: 2.0,
            reads_per_second: 0.001,
            ..Limits::default()
        },
        ..Settings::default()
    })
    .await;
    for expected in [200, 200, 429] {
        assert_eq!(session.json("GET", SUBSCRIPTION, None).await.0, expected);
    }
    session.running.stop().await;
}

#[tokio::test]
async fn manual_connections_wait_for_approval() {
    let session = Session::start(Settings::default()).await;
    session.make_group().await;
    let path = in_group("Microsoft.Network/privateEndpoints/endpoint");
    let connection =
        |name: &str| json!({"name": name, "properties": {"privateLinkServiceId": "/x"}});
    let body = json!({
        "location": "westus2",
        "properties": {
            "privateLinkServiceConnections": [connection("own")],
            "manualPrivateLinkServiceConnections": [connection("first"), connection("second")],
        },
    });
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
    assert_eq!(
        session
            .json("POST", &format!("{cluster}/stop"), None)
            .await
            .0,
        200
    );
    let (status, error) = session.json("PUT", &database, Some(wanted.clone())).await;
    assert_eq!(
        (status, &error["error"]["code"]),
        (409, &json!("ClusterNotRunning"))
    );
    session
        .json("POST", &format!("{cluster}/start"), None)
        .await;
    assert_eq!(session.json("PUT", &database, Some(wanted)).await.0, 201);
    session.running.stop().await;
}

#[tokio::test]
async fn the_hand_of_somebody_else_shows() {
    let session = Session::start(Settings::default()).await;
    session.make_group().await;
    let path = in_group("Contoso.Test/widgets/w");
    let control = format!("/simulator/resources{path}");
    let (_, placed) = session
        .json("PUT", &control, Some(json!({"location": "eastus"})))
        .await;
    assert_eq!(placed["type"], "Contoso.Test/widgets");
    assert_eq!(
        session.json("GET", &path, None).await.1["location"],
        "eastus"
    );
    session
        .json("PATCH", &control, Some(json!({"tags": {"by": "hand"}})))
        .await;
    assert_eq!(
        session.json("GET", &path, None).await.1["tags"]["by"],
        "hand"
    );
    let (_, listed) = session
        .json(
            "GET",
            "/simulator/resources?type=contoso.test/widgets",
            None,
        )
        .await;
    assert_eq!(listed["value"][0]["name"], "w");
    assert_eq!(session.json("DELETE", &control, None).await.0, 204);
    assert_eq!(session.json("GET", &path, None).await.0, 404);
    session.running.stop().await;
}

#[tokio::test]
async fn operations_can_be_ended_from_outside() {
    let session = Session::start(Settings {
        operations: OperationRule {
            latency: Some(Duration::from_secs(3600)),
            ..OperationRule::default()
        },
        ..Settings::default()
    })
    .await;
    session.make_group().await;
    let path = in_group("Contoso.Test/widgets/w");
    let answer = session
        .send("PUT", &path, Some(json!({"location": "westus2"})))
        .await;
    let poll = header(&answer, "azure-asyncoperation").unwrap();
    assert_eq!(
        session.json("GET", &poll, None).await.1["status"],
        "InProgress"
    );
    let (_, all) = session.json("GET", "/simulator/operations", None).await;
    let name = all["value"][0]["id"].as_str().unwrap();
    assert_eq!(
        session.json("GET", "/simulator/stats", None).await.1["operationsRunning"],
        1
    );
    let end = format!("/simulator/operations/{name}");
    let failure = json!({"failure": {"code": "Conflict", "message": "No."}});
    assert_eq!(session.json("POST", &end, Some(failure)).await.0, 204);
    assert_eq!(
        session.json("GET", &poll, None).await.1["error"]["code"],
        "Conflict"
    );
    assert_eq!(session.json("POST", "/simulator/reset", None).await.0, 204);
    assert_eq!(session.running.simulator().ids(), Vec::<String>::new());
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

#[tokio::test]
async fn a_stopped_simulator_lets_its_port_go() {
    let session = Session::start(Settings::default()).await;
    assert_eq!(session.json("GET", SUBSCRIPTION, None).await.0, 200);
    let address = session
        .running
        .endpoint()
        .trim_start_matches("https://")
        .to_owned();
    session.running.stop().await;
    tokio::net::TcpListener::bind(address).await.unwrap();
}

#[tokio::test]
async fn a_rule_for_an_unknown_type_is_refused() {
    let settings = Settings {
        operations_of: [("Contoso.Test/widget".to_owned(), OperationRule::default())].into(),
        ..Settings::default()
    };
    let options = Options {
        settings,
        ..Options::new(kinds::KINDS)
    };
    let error = Simulator::start(options).await.err().unwrap().to_string();
    assert!(
        error.contains("did you mean 'Contoso.Test/widgets'?"),
        "{error}"
    );
}

#[tokio::test]
async fn an_address_in_use_is_named() {
    let session = Session::start(Settings::default()).await;
    let options = Options {
        listen: session
            .running
            .endpoint()
            .trim_start_matches("https://")
            .to_owned(),
        ..Options::new(kinds::KINDS)
    };
    let listen = options.listen.clone();
    let error = Simulator::start(options).await.err().unwrap().to_string();
    assert!(
        error.starts_with(&format!("cannot listen on {listen}")),
        "{error}"
    );
    session.running.stop().await;
}
