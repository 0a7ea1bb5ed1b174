//! A client over TLS, as any Azure SDK is one.

use armature_simulator::{Options, Running, Settings, Simulator};
use reqwest::{Client, Response};
use serde_json::{Value, json};

use super::{TENANT, kinds};

/// A simulator that listens, and a client that trusts it and has signed in.
pub struct Session {
    pub running: Running,
    pub client: Client,
    token: String,
}

impl Session {
    pub async fn start(settings: Settings) -> Self {
        // Another test of the same process may have installed it already.
        let _ = rustls::crypto::aws_lc_rs::default_provider().install_default();
        let running = Simulator::start(Options {
            settings,
            ..Options::new(kinds::KINDS)
        })
        .await
        .unwrap();
        let authority = reqwest::Certificate::from_pem(running.ca_pem().as_bytes()).unwrap();
        let client = Client::builder()
            .tls_certs_only([authority])
            .build()
            .unwrap();
        let mut session = Self {
            running,
            client,
            token: String::new(),
        };
        session.token = session.sign_in().await;
        session
    }

    async fn sign_in(&self) -> String {
        let endpoint = self.running.endpoint();
        let form = format!(
            "grant_type=client_credentials&client_id=tester&client_secret=s&scope={endpoint}/.default"
        );
        let answer = self
            .client
            .post(format!("{endpoint}/{TENANT}/oauth2/v2.0/token"))
            .header("content-type", "application/x-www-form-urlencoded")
            .body(form)
            .send()
            .await
            .unwrap();
        assert_eq!(answer.status(), 200);
        let answer: Value = answer.json().await.unwrap();
        answer["access_token"].as_str().unwrap().to_owned()
    }

    /// An absolute URL; paths get the endpoint and the api-version.
    pub fn url(&self, path: &str) -> String {
        if path.starts_with("https://") {
            return path.to_owned();
        }
        let endpoint = self.running.endpoint();
        if path.starts_with("/simulator") || path.contains("api-version") {
            return format!("{endpoint}{path}");
        }
        format!("{endpoint}{path}?api-version={}", kinds::API_VERSION)
    }

    pub async fn try_send(
        &self,
        method: &str,
        path: &str,
        body: Option<Value>,
    ) -> reqwest::Result<Response> {
        let mut request = self
            .client
            .request(method.parse().unwrap(), self.url(path))
            .bearer_auth(&self.token);
        if let Some(body) = body {
            request = request.json(&body);
        }
        request.send().await
    }

    pub async fn send(&self, method: &str, path: &str, body: Option<Value>) -> Response {
        self.try_send(method, path, body).await.unwrap()
    }

    /// Sends and reads the JSON answer; null when it has no body.
    pub async fn json(&self, method: &str, path: &str, body: Option<Value>) -> (u16, Value) {
        let answer = self.send(method, path, body).await;
        let status = answer.status().as_u16();
        let text = answer.text().await.unwrap();
        (status, serde_json::from_str(&text).unwrap_or(Value::Null))
    }

    pub async fn make_group(&self) {
        let path = format!("{}/resourceGroups/group", super::SUBSCRIPTION);
        let body = json!({"location": "westus2"});
        assert_eq!(self.json("PUT", &path, Some(body)).await.0, 201);
    }
}

/// A header as text.
pub fn header(answer: &Response, name: &str) -> Option<String> {
    let value = answer.headers().get(name)?;
    Some(value.to_str().unwrap().to_owned())
}
