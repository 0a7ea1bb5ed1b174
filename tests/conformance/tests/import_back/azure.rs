//! The simulated Azure of one manifest.

use std::sync::Arc;

use armature_generated::KINDS;
use armature_runtime::id::ResourceId;
use armature_runtime::kind::VersionInfo;
use armature_simulator::{OperationRule, Request, Settings, Simulator};
use http::{HeaderMap, Method};
use jiff::Timestamp;
use serde_json::{Value, json};

/// The simulated Azure, asked without a socket.
pub struct Azure {
    simulator: Simulator,
    token: String,
}

/// What an answer was.
pub type Answer = Result<Value, (u16, String)>;

impl Azure {
    /// An Azure with the subscription and the groups of the ids above.
    pub fn new() -> Self {
        let simulator = Simulator::new(KINDS, Settings::default(), Arc::new(Timestamp::now));
        simulator.set_operation_rule(None, OperationRule::default());
        simulator.add_subscription("s");
        let mut azure = Self {
            simulator,
            token: String::new(),
        };
        let tenant = Settings::default().tenant;
        let form = "grant_type=client_credentials&client_id=tester&client_secret=x\
                    &scope=https://management.azure.com/.default";
        let path = format!("/{tenant}/oauth2/v2.0/token");
        let signed_in = azure.send(Method::POST, &path, "", form.as_bytes().to_vec());
        azure.token = signed_in.unwrap()["access_token"]
            .as_str()
            .unwrap()
            .to_owned();
        azure
    }

    fn send(&self, method: Method, path: &str, api_version: &str, body: Vec<u8>) -> Answer {
        let mut headers = HeaderMap::new();
        let token = format!("Bearer {}", self.token);
        headers.insert("authorization", token.parse().unwrap());
        let reply = self.simulator.handle(&Request {
            method,
            path: path.to_owned(),
            query: vec![("api-version".to_owned(), api_version.to_owned())],
            headers,
            body,
            origin: "https://localhost".to_owned(),
        });
        let answer = reply.answer.unwrap();
        let body = answer.body.unwrap_or_default();
        match answer.status {
            200..300 => Ok(body),
            status => Err((status, body.to_string())),
        }
    }

    /// Makes what a resource is in and on, which nobody checks.
    fn prepare(&self, id: &ResourceId) {
        let segments: Vec<&str> = id.as_str().split('/').collect();
        for end in 3..segments.len() {
            let above = segments[..end].join("/");
            let Ok(above) = ResourceId::parse(&above) else {
                continue;
            };
            let is_made = self.simulator.resource(above.as_str()).is_some();
            if above.arm_type().contains('/') && !is_made && above != *id {
                let body = json!({"location": "westeurope", "properties": {"provisioningState": "Succeeded"}});
                // What is no resource cannot be placed.
                let _ = self.simulator.place(above.as_str(), body);
            }
        }
    }

    /// Makes what a body refers to, without which services refuse it.
    fn prepare_references(&self, id: &ResourceId, body: &Value) {
        match body {
            Value::String(text) if text.contains("/providers/") => {
                let is_made = self.simulator.resource(text).is_some();
                if !text.eq_ignore_ascii_case(id.as_str()) && !is_made {
                    let body = json!({"properties": {"provisioningState": "Succeeded"}});
                    // What is no resource cannot be placed.
                    let _ = self.simulator.place(text, body);
                }
            }
            Value::Array(items) => items
                .iter()
                .for_each(|item| self.prepare_references(id, item)),
            Value::Object(members) => members
                .values()
                .for_each(|member| self.prepare_references(id, member)),
            _ => {}
        }
    }

    /// What Azure shows of a resource after it was made.
    pub fn made(&self, id: &ResourceId, version: &VersionInfo, body: &Value) -> Answer {
        self.prepare(id);
        self.prepare_references(id, body);
        let body = body.to_string().into_bytes();
        self.send(Method::PUT, id.as_str(), version.api_version, body)?;
        self.send(Method::GET, id.as_str(), version.api_version, Vec::new())
    }
}
