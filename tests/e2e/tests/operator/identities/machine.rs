//! The metadata service of a virtual machine: plain HTTP, and tokens for the machine's identities alone. What it
//! wants of a request and what it answers is the simulated Azure's.

use std::collections::BTreeMap;
use std::net::Ipv4Addr;
use std::sync::{Arc, Mutex, PoisonError};

use armature_simulator::{Request, Simulator};
use axum::Json;
use axum::extract::{Query, State};
use axum::http::{HeaderMap, Method, StatusCode};
use serde_json::{Value, json};
use tokio::net::TcpListener;

/// Where machines have tokens.
const PATH: &str = "/metadata/identity/oauth2/token";

/// A machine with identities.
#[derive(Clone)]
pub struct Machine {
    azure: Simulator,
    identities: &'static [&'static str],
    asked: Arc<Mutex<Vec<Parameters>>>,
}

/// Query parameters of a request.
pub type Parameters = BTreeMap<String, String>;

impl Machine {
    /// Starts the service of a machine with these identities, beside its own. Returns its URL too.
    pub async fn start(
        azure: &Simulator,
        identities: &'static [&'static str],
    ) -> (Machine, url::Url) {
        let machine = Machine {
            azure: azure.clone(),
            identities,
            asked: Arc::default(),
        };
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
        let address = listener.local_addr().unwrap();
        let service = axum::routing::get(token).with_state(machine.clone());
        let router = axum::Router::new().route(PATH, service);
        tokio::spawn(async move { axum::serve(listener, router).await });
        (machine, format!("http://{address}").parse().unwrap())
    }

    /// Parameters of the requests that were answered with a token, in order.
    pub fn asked(&self) -> Vec<Parameters> {
        let asked = self.asked.lock().unwrap_or_else(PoisonError::into_inner);
        asked.clone()
    }
}

async fn token(
    State(machine): State<Machine>,
    Query(parameters): Query<Parameters>,
    headers: HeaderMap,
) -> (StatusCode, Json<Value>) {
    let client = parameters.get("client_id").map(String::as_str);
    if client.is_some_and(|client| !machine.identities.contains(&client)) {
        let refusal =
            json!({"error": "invalid_request", "error_description": "Identity not found"});
        return (StatusCode::BAD_REQUEST, Json(refusal));
    }
    let request = Request {
        method: Method::GET,
        path: PATH.to_owned(),
        query: parameters.clone().into_iter().collect(),
        headers,
        body: Vec::new(),
        origin: machine.azure.endpoint().to_owned(),
    };
    let answer = machine.azure.handle(&request).answer.unwrap();
    let status = StatusCode::from_u16(answer.status).unwrap();
    if status.is_success() {
        let mut asked = machine.asked.lock().unwrap_or_else(PoisonError::into_inner);
        asked.push(parameters);
    }
    (status, Json(answer.body.unwrap_or_default()))
}
