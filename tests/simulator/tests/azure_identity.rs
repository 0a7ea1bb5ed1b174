//! The operator's own ARM client, with credentials of the `azure_identity` crate, against the simulator.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test that cannot go on fails"
)]

mod common;

use std::collections::HashMap;
use std::path::Path;
use std::sync::{Arc, Mutex};

use armature_runtime::azure::credential::{
    NamespaceBounds, SecretData, SecretReader, operator_identity,
};
use armature_runtime::azure::{
    Client, ClientSettings, Cloud, CredentialKey, Method, Request, Transport, TransportError,
};
use armature_simulator::{Client as KnownClient, Options, Query, Running, Settings, Simulator};
use async_trait::async_trait;
use common::{SUBSCRIPTION, TENANT, in_group, kinds};
use serde_json::{Value, json};

/// One Secret, whose content a test can replace; none while it is empty.
#[derive(Default)]
struct Secrets(Mutex<SecretData>);

#[async_trait]
impl SecretReader for Secrets {
    async fn read_secret(&self, _: &str, _: &str) -> Result<Option<SecretData>, String> {
        let secret = self.0.lock().unwrap().clone();
        Ok((!secret.version.is_empty()).then_some(secret))
    }

    async fn bounds(&self, _: &str, _: bool) -> Result<NamespaceBounds, String> {
        Ok(NamespaceBounds::default())
    }
}

impl Secrets {
    fn set(&self, version: &str, client: &str, more: &[(&str, &str)]) {
        let common = [
            (
                "AZURE_SUBSCRIPTION_ID",
                SUBSCRIPTION.rsplit('/').next().unwrap(),
            ),
            ("AZURE_TENANT_ID", TENANT),
            ("AZURE_CLIENT_ID", client),
        ];
        let keys = common.iter().chain(more);
        *self.0.lock().unwrap() = SecretData {
            version: version.to_owned(),
            data: keys
                .map(|(key, value)| ((*key).to_owned(), value.as_bytes().to_vec()))
                .collect(),
        };
    }
}

fn client(running: &Running, folder: &Path, more: &[(&str, &str)]) -> Client {
    client_with(running, folder, more, Arc::default())
}

fn client_with(
    running: &Running,
    folder: &Path,
    more: &[(&str, &str)],
    secrets: Arc<Secrets>,
) -> Client {
    let ca_file = folder.join("ca.pem");
    std::fs::write(&ca_file, running.ca_pem()).unwrap();
    let endpoint = running.endpoint();
    let mut variables = HashMap::from([
        (
            "AZURE_SUBSCRIPTION_ID",
            SUBSCRIPTION.rsplit('/').next().unwrap(),
        ),
        ("AZURE_TENANT_ID", TENANT),
        ("AZURE_CLIENT_ID", "operator"),
    ]);
    variables.extend(more.iter().copied());
    let identity =
        operator_identity(|name| variables.get(name).map(|value| (*value).to_owned())).unwrap();
    let settings = ClientSettings {
        cloud: Cloud::new(endpoint, endpoint, endpoint).unwrap(),
        identity: identity.into(),
        ca_file: Some(ca_file),
        user_agent_suffix: None,
        token_file: None,
        other_clouds: false,
        identity_folders: Vec::new(),
        secret_bounds: Default::default(),
        metadata_endpoint: Some(endpoint.parse().unwrap()),
    };
    Client::new(settings, secrets).unwrap()
}

async fn send(client: &Client, method: Method, url: &str, body: Option<Value>) -> (u16, Value) {
    let url = match url.contains("api-version") {
        true => url.to_owned(),
        false => format!("{url}?api-version={}", kinds::API_VERSION),
    };
    let request = Request {
        method,
        url,
        body,
        if_match: None,
        credential: CredentialKey::Global,
    };
    let answer = client.send(request).await.unwrap();
    let mut shown = answer.body.clone().unwrap_or_default();
    if let Some(poll) = answer.header("azure-asyncoperation") {
        shown["poll"] = json!(poll);
    }
    (answer.status, shown)
}

async fn makes_a_widget(client: &Client) {
    let group = format!("{SUBSCRIPTION}/resourceGroups/group");
    let body = Some(json!({"location": "westus2"}));
    assert_eq!(send(client, Method::Put, &group, body.clone()).await.0, 201);
    let path = in_group("Contoso.Test/widgets/w");
    let (status, made) = send(client, Method::Put, &path, body).await;
    assert_eq!(status, 201);
    let poll = made["poll"].as_str().unwrap();
    assert_eq!(
        send(client, Method::Get, poll, None).await.1["status"],
        "Succeeded"
    );
}

async fn start() -> (Running, tempfile::TempDir) {
    start_with(Vec::new()).await
}

/// A simulator that knows these clients only.
async fn start_with(clients: Vec<KnownClient>) -> (Running, tempfile::TempDir) {
    let options = Options {
        settings: Settings {
            clients,
            ..Settings::default()
        },
        ..Options::new(kinds::KINDS)
    };
    let running = Simulator::start(options).await.unwrap();
    (running, tempfile::tempdir().unwrap())
}

/// A certificate and its key in PEM.
fn certificate() -> (String, String) {
    let key = rcgen::KeyPair::generate_rsa_for(&rcgen::PKCS_RSA_SHA256, rcgen::RsaKeySize::_2048);
    let key = key.unwrap();
    let params = rcgen::CertificateParams::new(Vec::new()).unwrap();
    (params.self_signed(&key).unwrap().pem(), key.serialize_pem())
}

/// Client ids that ARM requests came with, in order.
fn principals(running: &Running) -> Vec<String> {
    let log = running.simulator().requests(&Query::default());
    let principals = log.into_iter().map(|request| request.principal);
    principals
        .filter(|principal| !principal.is_empty())
        .collect()
}

fn of_secret() -> CredentialKey {
    CredentialKey::Secret {
        namespace: "team".into(),
        name: "aso-credential".into(),
    }
}

/// Reads a resource group that does not exist, as a reconcile does: first the credential, then Azure.
async fn probe(client: &Client, credential: CredentialKey) -> Result<u16, String> {
    let fail = |error: TransportError| error.to_string();
    client.subscription(&credential).await.map_err(fail)?;
    let request = Request {
        method: Method::Get,
        url: format!(
            "{SUBSCRIPTION}/resourceGroups/none?api-version={}",
            kinds::API_VERSION
        ),
        body: None,
        if_match: None,
        credential,
    };
    Ok(client.send(request).await.map_err(fail)?.status)
}

#[tokio::test]
async fn a_client_secret_signs_in() {
    let (running, folder) = start().await;
    let client = client(&running, folder.path(), &[("AZURE_CLIENT_SECRET", "s")]);
    makes_a_widget(&client).await;
    let sign_ins = running.simulator().requests(&Query {
        path: Some("/oauth2/v2.0/token$".into()),
        ..Query::default()
    });
    assert_eq!(sign_ins.len(), 1, "a token serves until it expires");
    assert_eq!(sign_ins[0].body, None, "secrets of clients are not kept");
    running.stop().await;
}

#[tokio::test]
async fn a_workload_identity_signs_in() {
    let (running, folder) = start().await;
    let token = folder.path().join("token");
    std::fs::write(&token, "header.claims.signature").unwrap();
    let more = [
        ("USE_WORKLOAD_IDENTITY_AUTH", "true"),
        ("AZURE_FEDERATED_TOKEN_FILE", token.to_str().unwrap()),
    ];
    makes_a_widget(&client(&running, folder.path(), &more)).await;
    running.stop().await;
}

#[tokio::test]
async fn a_client_certificate_signs_in_and_another_does_not() {
    let (public, private) = certificate();
    let known = KnownClient {
        id: "operator".into(),
        certificate: Some(public.clone()),
        ..KnownClient::default()
    };
    let (running, folder) = start_with(vec![known]).await;
    let pem = format!("{private}{public}");
    let own = [("AZURE_CLIENT_CERTIFICATE", pem.as_str())];
    makes_a_widget(&client(&running, folder.path(), &own)).await;

    let (public, private) = certificate();
    let pem = format!("{private}{public}");
    let other = [("AZURE_CLIENT_CERTIFICATE", pem.as_str())];
    let error = probe(
        &client(&running, folder.path(), &other),
        CredentialKey::Global,
    )
    .await;
    let error = error.unwrap_err();
    assert!(error.contains("AADSTS700027"), "{error}");
    assert!(error.contains("the operator's settings"), "{error}");

    let token = folder.path().join("token");
    std::fs::write(&token, "header.claims.signature").unwrap();
    let unsigned = [
        ("USE_WORKLOAD_IDENTITY_AUTH", "true"),
        ("AZURE_FEDERATED_TOKEN_FILE", token.to_str().unwrap()),
    ];
    let error = probe(
        &client(&running, folder.path(), &unsigned),
        CredentialKey::Global,
    )
    .await;
    assert!(error.unwrap_err().contains("AADSTS50027"));
    running.stop().await;
}

#[tokio::test]
async fn a_managed_identity_gets_its_token_from_the_metadata_service() {
    let known = KnownClient {
        id: "operator".into(),
        ..KnownClient::default()
    };
    let (running, folder) = start_with(vec![known]).await;
    let secrets = Arc::new(Secrets::default());
    let client = client_with(&running, folder.path(), &[], Arc::clone(&secrets));
    makes_a_widget(&client).await;
    assert!(
        principals(&running)
            .iter()
            .all(|principal| principal == "operator")
    );

    secrets.set("1", "stranger", &[("AUTH_MODE", "podidentity")]);
    let error = probe(&client, of_secret()).await.unwrap_err();
    for part in ["Secret team/aso-credential", "HTTP 400", "AZURE_CLIENT_ID"] {
        assert!(error.contains(part), "{part}: {error}");
    }
    running.stop().await;
}

/// Each state of the Secret is in use from the next reconcile on, whatever method it changes to.
#[tokio::test]
async fn a_changed_secret_changes_the_identity_without_a_restart() {
    let (public, private) = certificate();
    let known = |id: &str, secret: Option<&str>, certificate: Option<&str>| KnownClient {
        id: id.into(),
        secret: secret.map(str::to_owned),
        certificate: certificate.map(str::to_owned),
        ..KnownClient::default()
    };
    let (running, folder) = start_with(vec![
        known("by-secret", Some("hunter2"), None),
        known("by-certificate", None, Some(&public)),
        known("by-machine", None, None),
    ])
    .await;
    let secrets = Arc::new(Secrets::default());
    let client = client_with(&running, folder.path(), &[], Arc::clone(&secrets));
    let error = probe(&client, of_secret()).await.unwrap_err();
    assert!(error.contains("Secret team/aso-credential"), "{error}");

    let pem = format!("{private}{public}");
    secrets.set("1", "by-secret", &[("AZURE_CLIENT_SECRET", "wrong")]);
    let error = probe(&client, of_secret()).await.unwrap_err();
    assert!(
        error.contains("AADSTS7000215") && !error.contains("wrong"),
        "{error}"
    );
    for (version, name, key) in [
        ("2", "by-secret", ("AZURE_CLIENT_SECRET", "hunter2")),
        (
            "3",
            "by-certificate",
            ("AZURE_CLIENT_CERTIFICATE", pem.as_str()),
        ),
        ("4", "by-machine", ("AUTH_MODE", "podidentity")),
    ] {
        secrets.set(version, name, &[key]);
        for _ in 0..2 {
            assert_eq!(probe(&client, of_secret()).await, Ok(404), "{name}");
        }
    }
    assert_eq!(
        principals(&running),
        [
            "by-secret",
            "by-secret",
            "by-certificate",
            "by-certificate",
            "by-machine",
            "by-machine"
        ]
    );
    running.stop().await;
}
