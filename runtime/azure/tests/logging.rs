//! Logs of the ARM client. A program of its own, because it watches the logs of a whole process.

use std::sync::{Arc, Mutex};

use armature_azure::credential::{NamespaceBounds, SecretData, SecretReader, operator_identity};
use armature_azure::{Client, ClientSettings, Cloud, CredentialKey, Method, Request, Transport};
use async_trait::async_trait;
use serde_json::json;

#[allow(dead_code, reason = "shared with other tests")]
#[path = "../src/client/test_server.rs"]
mod test_server;

use test_server::{Server, server};

struct NoSecrets;

#[async_trait]
impl SecretReader for NoSecrets {
    async fn read_secret(&self, _: &str, _: &str) -> Result<Option<SecretData>, String> {
        Ok(None)
    }

    async fn bounds(&self, _: &str, _: bool) -> Result<NamespaceBounds, String> {
        Ok(NamespaceBounds::default())
    }
}

/// Collects log lines.
#[derive(Clone, Default)]
struct Lines(Arc<Mutex<Vec<u8>>>);

impl std::io::Write for Lines {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().expect("the lines").extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

/// A certificate and its key in PEM.
fn certificate() -> String {
    let key = rcgen::KeyPair::generate_rsa_for(&rcgen::PKCS_RSA_SHA256, rcgen::RsaKeySize::_2048);
    let key = key.expect("a key");
    let params = rcgen::CertificateParams::new(Vec::new()).expect("parameters");
    let certificate = params.self_signed(&key).expect("a certificate");
    certificate.pem() + &key.serialize_pem()
}

/// Sends one request with the operator's identity, which proves itself with the value of this variable.
async fn send(server: &Server, variable: &str, value: &str) {
    let identity = operator_identity(|name| {
        let value = match name {
            "AZURE_SUBSCRIPTION_ID" => "sub-1",
            "AZURE_TENANT_ID" => "tenant",
            "AZURE_CLIENT_ID" => "operator",
            name if name == variable => value,
            _ => return None,
        };
        Some(value.to_owned())
    });
    let settings = ClientSettings {
        cloud: Cloud::new(&server.endpoint, &server.endpoint, "https://arm.test").expect("a cloud"),
        identity: identity.expect("an identity").into(),
        ca_file: Some(server.ca.path().to_owned()),
        user_agent_suffix: None,
        token_file: None,
        other_clouds: false,
        identity_folders: Vec::new(),
        secret_bounds: Default::default(),
        metadata_endpoint: None,
    };
    tracing::debug!(?settings, "debug output is a log, too");
    let client = Client::new(settings, Arc::new(NoSecrets)).expect("a client");
    let request = Request {
        method: Method::Put,
        url: "/good?api-version=1&sig=s1gn4tur3".to_owned(),
        body: Some(json!({"secret": "s3cr3t"})),
        if_match: None,
        credential: CredentialKey::Global,
    };
    let response = client.send(request).await.expect("an answer");
    assert_eq!(response.status, 200);
}

#[tokio::test]
async fn logs_name_the_request_and_never_secrets() {
    let lines = Lines::default();
    let writer = lines.clone();
    let subscriber = tracing_subscriber::fmt()
        .with_max_level(tracing::Level::DEBUG)
        .with_ansi(false)
        .with_writer(move || writer.clone())
        .finish();
    tracing::subscriber::set_global_default(subscriber).expect("the only subscriber");
    let server = server().await;
    let certificate = certificate();
    send(&server, "AZURE_CLIENT_SECRET", "hunter2").await;
    send(&server, "AZURE_CLIENT_CERTIFICATE", &certificate).await;
    let seen = server.log.all();
    assert!(seen[1].authorization == "Bearer token-operator" && seen[1].body.contains("s3cr3t"));

    let text = String::from_utf8(lines.0.lock().expect("the lines").clone()).expect("text");
    let ours = text.lines().find(|line| line.contains("armature_azure"));
    let ours = ours.unwrap_or_else(|| panic!("no line of ours in {text}"));
    for part in [
        "method=PUT",
        "path=\"/good?api-version=1\"",
        "status=200",
        "request_id=\"r-1\"",
        "correlation_id=",
    ] {
        assert!(ours.contains(part), "{part}: {ours}");
    }
    let key: Vec<&str> = certificate.lines().rev().skip(1).take(20).collect();
    let (_, assertion) = seen[2].body.split_once("client_assertion=").expect("one");
    let (assertion, _) = assertion.split_once('&').expect("more");
    let secrets = [
        "hunter2",
        "s3cr3t",
        "token-operator",
        "s1gn4tur3",
        assertion,
    ];
    for secret in secrets.into_iter().chain(key) {
        let line = text.lines().find(|line| line.contains(secret));
        assert_eq!(line, None, "{secret}");
    }
}
