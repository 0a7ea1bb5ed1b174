//! Logs of the ARM client. A program of its own, because it watches the logs of a whole process.

use std::sync::{Arc, Mutex};

use armature_runtime::arm::credential::{SecretData, SecretReader, operator_identity};
use armature_runtime::arm::{
    Client, ClientSettings, Cloud, CredentialKey, Method, Request, Transport,
};
use async_trait::async_trait;
use serde_json::json;

#[allow(dead_code, reason = "shared with other tests")]
#[path = "../src/arm/test_server.rs"]
mod test_server;

use test_server::server;

struct NoSecrets;

#[async_trait]
impl SecretReader for NoSecrets {
    async fn read_secret(&self, _: &str, _: &str) -> Result<Option<SecretData>, String> {
        Ok(None)
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
    let identity = operator_identity(|name| {
        let value = match name {
            "AZURE_SUBSCRIPTION_ID" => "sub-1",
            "AZURE_TENANT_ID" => "tenant",
            "AZURE_CLIENT_ID" => "operator",
            "AZURE_CLIENT_SECRET" => "hunter2",
            _ => return None,
        };
        Some(value.to_owned())
    });
    let settings = ClientSettings {
        cloud: Cloud::new(&server.endpoint, &server.endpoint, "https://arm.test").expect("a cloud"),
        identity: identity.expect("an identity"),
        ca_file: Some(server.ca.path().to_owned()),
        user_agent_suffix: None,
        token_file: None,
        other_clouds: false,
        metadata_endpoint: None,
    };
    let client = Client::new(settings, Arc::new(NoSecrets)).expect("a client");
    let request = Request {
        method: Method::Put,
        url: "/good?api-version=1&sig=s1gn4tur3".to_owned(),
        body: Some(json!({"secret": "s3cr3t"})),
        credential: CredentialKey::Global,
    };
    let response = client.send(request).await.expect("an answer");
    assert_eq!(response.status, 200);
    let seen = server.log.all();
    assert!(seen[1].authorization == "Bearer token-operator" && seen[1].body.contains("s3cr3t"));

    let text = String::from_utf8(lines.0.lock().expect("the lines").clone()).expect("text");
    let ours = text
        .lines()
        .find(|line| line.contains("armature_runtime::arm"));
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
    for secret in ["hunter2", "s3cr3t", "token-operator", "s1gn4tur3"] {
        let line = text.lines().find(|line| line.contains(secret));
        assert_eq!(line, None, "{secret}");
    }
}
