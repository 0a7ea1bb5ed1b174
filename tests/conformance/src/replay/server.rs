//! The edge: all recordings over HTTPS, told apart by the credential that a request comes with.
//!
//! Each recording has a client id of its own. The token that it gets is that id.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use armature_simulator::{Reply, Request, Service};
use serde_json::{Value, json};

use super::azure::{Counts, RecordedAzure};
use super::timeline;
use crate::data::Recording;

/// The header by which the answers of Azure Resource Manager are known.
const REQUEST_ID: &str = "x-ms-request-id";

/// Headers that are answered; others say nothing to a client.
const HEADERS: [&str; 7] = [
    "azure-asyncoperation",
    "etag",
    "location",
    "retry-after",
    "x-ms-failure-cause",
    "x-ms-ratelimit-remaining-subscription-global-reads",
    "x-ms-ratelimit-remaining-subscription-global-writes",
];

/// All recordings, listening.
#[derive(Clone)]
pub struct Recordings {
    azures: Arc<Vec<Mutex<RecordedAzure>>>,
    endpoint: Arc<str>,
}

impl Recordings {
    /// Recordings at an endpoint.
    pub fn new(recordings: &[Recording], endpoint: String) -> Self {
        let azures = recordings.iter();
        let azures =
            azures.map(|recording| Mutex::new(RecordedAzure::new(&recording.exchanges, &endpoint)));
        Self {
            azures: Arc::new(azures.collect()),
            endpoint: endpoint.into(),
        }
    }

    /// Client id of the recording at this index.
    pub fn client(index: usize) -> String {
        format!("00000000-0000-0000-0000-{index:012}")
    }

    /// Writes that the recording at this index had taken from the peer, and has taken here.
    pub fn writes(&self, index: usize) -> (Counts, Counts) {
        let azure = self.azure(index);
        azure.map_or_else(Default::default, |azure| (azure.recorded(), azure.sent()))
    }

    /// What was wrong with the requests to the recording at this index.
    pub fn problems(&self, index: usize) -> Vec<String> {
        let azure = self.azure(index);
        azure.map(|azure| azure.problems()).unwrap_or_default()
    }

    fn azure(&self, index: usize) -> Option<MutexGuard<'_, RecordedAzure>> {
        let azure = self.azures.get(index)?;
        Some(azure.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn of(&self, request: &Request) -> Option<MutexGuard<'_, RecordedAzure>> {
        let token = request.header("authorization")?.strip_prefix("Bearer ")?;
        let index = token.rsplit('-').next()?.parse().ok()?;
        self.azure(index)
    }
}

impl Service for Recordings {
    fn handle(&self, request: &Request) -> Reply {
        if request.path.ends_with("/oauth2/v2.0/token") {
            return token(request).into();
        }
        let Some(mut azure) = self.of(request) else {
            let body = json!({"error": {"code": "InvalidAuthenticationToken",
                "message": "The token is of no recording."}});
            return armature_simulator::Answer::json(401, body).into();
        };
        let body = serde_json::from_slice(&request.body).unwrap_or(Value::Null);
        let (method, path) = (request.method.as_str(), &request.path);
        encode(azure.answer(method, path, &request.query, &body)).into()
    }

    fn endpoint(&self) -> &str {
        &self.endpoint
    }
}

fn token(request: &Request) -> armature_simulator::Answer {
    let mut form = url::form_urlencoded::parse(&request.body);
    let client = form.find(|(name, _)| name == "client_id");
    let client = client.map(|(_, value)| value.into_owned());
    let body = json!({"token_type": "Bearer", "expires_in": 86_400, "access_token": client});
    armature_simulator::Answer::json(200, body)
}

fn encode(answer: timeline::Answer) -> armature_simulator::Answer {
    // Recordings leave it out, because it is another one each time.
    let mut encoded = armature_simulator::Answer::empty(answer.status).with(REQUEST_ID, "recorded");
    encoded.body = (!answer.body.is_null()).then_some(answer.body);
    for (name, value) in answer.headers {
        if let Some(known) = HEADERS.iter().find(|known| **known == name) {
            encoded = encoded.with(known, value);
        }
    }
    encoded
}
