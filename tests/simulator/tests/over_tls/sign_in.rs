//! Tokens, and the metadata that leads clients to them.

use armature_simulator::{Client, Settings};
use serde_json::{Value, json};

use crate::common::client::{Session, header};
use crate::common::{SUBSCRIPTION, TENANT};

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

const GRANT: &str = "grant_type=client_credentials";
const SCOPE: &str = "scope=https://management.azure.com/.default";

/// A session of a simulator that knows one client only.
async fn with_one_client() -> Session {
    Session::start(Settings {
        clients: vec![Client {
            id: "tester".into(),
            secret: Some("s".into()),
            ..Client::default()
        }],
        ..Settings::default()
    })
    .await
}

#[tokio::test]
async fn clients_sign_in_with_secrets_and_assertions() {
    let session = with_one_client().await;
    for (client, status, error) in [
        ("client_id=tester&client_secret=s", 200, None),
        ("client_id=tester&client_assertion=a.b.c", 200, None),
        ("client_id=tester&client_secret=x", 401, Some(7_000_215)),
        ("client_id=other&client_secret=s", 401, Some(700_016)),
        ("client_id=tester", 401, Some(7_000_218)),
    ] {
        let form = format!("{GRANT}&{SCOPE}&{client}");
        let (found, body) = sign_in(&session, &form, "oauth2/v2.0/token").await;
        assert_eq!(found, status, "{form}: {body}");
        assert_eq!(body["error_codes"][0].as_u64(), error, "{form}");
    }
    for (form, error) in [
        (format!("{GRANT}&client_id=tester&client_secret=s"), 900_144),
        (
            format!("grant_type=password&{SCOPE}&client_id=tester"),
            70_003,
        ),
    ] {
        let (status, body) = sign_in(&session, &form, "oauth2/v2.0/token").await;
        assert_eq!(
            (status, &body["error_codes"][0]),
            (400, &json!(error)),
            "{form}"
        );
    }
    session.running.stop().await;
}

#[tokio::test]
async fn the_old_form_of_signing_in_has_text_for_numbers() {
    let session = with_one_client().await;
    let form =
        format!("{GRANT}&client_id=tester&client_secret=s&resource=https://management.azure.com/");
    let (status, body) = sign_in(&session, &form, "oauth2/token").await;
    assert_eq!((status, &body["expires_in"]), (200, &json!("3599")));
    session.running.stop().await;
}

#[tokio::test]
async fn managed_identity_needs_its_header() {
    let session = with_one_client().await;
    let endpoint = session.running.endpoint();
    let url = format!(
        "{endpoint}/metadata/identity/oauth2/token?api-version=2018-02-01&resource={endpoint}"
    );
    let bare = session.client.get(&url).send().await.unwrap();
    assert_eq!(bare.status(), 400);
    let ask = async |url: &str, header: (&str, &str)| {
        let request = session.client.get(url).header(header.0, header.1);
        request.send().await.unwrap().status().as_u16()
    };
    for (client, status) in [("", 200), ("&client_id=tester", 200), ("&client_id=x", 400)] {
        let url = format!("{url}{client}");
        assert_eq!(ask(&url, ("Metadata", "true")).await, status, "{url}");
    }
    assert_eq!(ask(&url, ("Metadata", "false")).await, 400);
    for parameter in ["api-version=2018-02-01", "resource="] {
        let without = url.replace(parameter, "other=");
        assert_eq!(ask(&without, ("Metadata", "true")).await, 400, "{without}");
    }
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
