//! The operator's own ARM client, with credentials of the `azure_identity` crate, against the simulator.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test that cannot go on fails"
)]

mod common;

use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;

use armature_runtime::arm::credential::{SecretData, SecretReader, operator_identity};
use armature_runtime::arm::{
    Client, ClientSettings, Cloud, CredentialKey, Method, Request, Transport,
};
use armature_simulator::{Options, Query, Running, Simulator};
use async_trait::async_trait;
use common::{SUBSCRIPTION, TENANT, in_group, kinds};
use serde_json::{Value, json};

struct NoSecrets;

#[async_trait]
impl SecretReader for NoSecrets {
    async fn read_secret(&self, _: &str, _: &str) -> Result<Option<SecretData>, String> {
        Ok(None)
    }
}

fn client(running: &Running, folder: &Path, more: &[(&str, &str)]) -> Client {
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
        identity,
        ca_file: Some(ca_file),
        user_agent_suffix: None,
        token_file: None,
    };
    Client::new(settings, Arc::new(NoSecrets)).unwrap()
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
    let running = Simulator::start(Options::new(kinds::KINDS)).await.unwrap();
    (running, tempfile::tempdir().unwrap())
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
