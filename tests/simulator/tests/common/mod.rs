//! What the tests share: handwritten kinds small enough to read, and ways to talk to a simulator.
#![allow(
    dead_code,
    missing_docs,
    reason = "each test file uses its own part of the common ground"
)]

pub mod client;
pub mod kinds;

use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, Mutex};

use armature_runtime::kind::KindInfo;
use armature_simulator::{Answer, Clock, Request, Settings, Simulator};
use jiff::Timestamp;
use serde_json::{Value, json};

pub const SUBSCRIPTION: &str = "/subscriptions/00000000-0000-0000-0000-000000000001";
pub const TENANT: &str = "00000000-0000-0000-0000-000000000002";

/// The id of something in the test's resource group.
pub fn in_group(path: &str) -> String {
    format!("{SUBSCRIPTION}/resourceGroups/group/providers/{path}")
}

/// A simulator without a socket, whose clock a test sets.
pub struct Bench {
    pub simulator: Simulator,
    seconds: Arc<AtomicI64>,
    token: Mutex<String>,
}

impl Bench {
    pub fn new(settings: Settings) -> Self {
        Self::serving(kinds::KINDS, settings)
    }

    pub fn serving(kinds: &'static [&'static KindInfo], settings: Settings) -> Self {
        let seconds = Arc::new(AtomicI64::new(1_000_000));
        let shared = seconds.clone();
        let clock: Clock =
            Arc::new(move || Timestamp::from_second(shared.load(Ordering::SeqCst)).unwrap());
        let bench = Self {
            simulator: Simulator::new(kinds, settings, clock),
            seconds,
            token: Mutex::default(),
        };
        bench.sign_in_as("tester");
        bench
    }

    /// A simulator that already has the test's resource group.
    pub fn with_group(settings: Settings) -> Self {
        let bench = Self::new(settings);
        let group = format!("{SUBSCRIPTION}/resourceGroups/group");
        let answer = bench.put(&group, json!({"location": "westus2"}));
        assert_eq!(answer.status, 201);
        bench
    }

    pub fn pass(&self, seconds: i64) {
        self.seconds.fetch_add(seconds, Ordering::SeqCst);
    }

    pub fn sign_in_as(&self, client: &str) {
        let form = format!(
            "grant_type=client_credentials&client_id={client}&client_secret=s&\
             scope=https://management.azure.com/.default"
        );
        let path = format!("/{TENANT}/oauth2/v2.0/token");
        let answer = self.exchange(request("POST", &path, form.as_bytes().to_vec()));
        let token = answer.body.unwrap()["access_token"]
            .as_str()
            .unwrap()
            .to_owned();
        *self.token.lock().unwrap() = token;
    }

    pub fn exchange(&self, request: Request) -> Answer {
        self.simulator.handle(&request).answer.expect("an answer")
    }

    /// Sends with a token. The api-version is the one that all handwritten kinds have, unless the path names
    /// one.
    pub fn send(&self, method: &str, url: &str, body: Option<Value>) -> Answer {
        let body = body
            .map(|body| body.to_string().into_bytes())
            .unwrap_or_default();
        self.authorised(request(method, url, body))
    }

    pub fn send_with(
        &self,
        method: &str,
        url: &str,
        body: Value,
        headers: &[(&'static str, &str)],
    ) -> Answer {
        let mut request = request(method, url, body.to_string().into_bytes());
        for (name, value) in headers {
            request.headers.insert(*name, value.parse().unwrap());
        }
        self.authorised(request)
    }

    fn authorised(&self, mut request: Request) -> Answer {
        if request.parameter("api-version").is_none() {
            request
                .query
                .push(("api-version".into(), kinds::API_VERSION.into()));
        }
        let token = format!("Bearer {}", self.token.lock().unwrap());
        request
            .headers
            .insert("authorization", token.parse().unwrap());
        self.exchange(request)
    }

    pub fn put(&self, path: &str, body: Value) -> Answer {
        self.send("PUT", path, Some(body))
    }

    pub fn get(&self, path: &str) -> Answer {
        self.send("GET", path, None)
    }

    pub fn delete(&self, path: &str) -> Answer {
        self.send("DELETE", path, None)
    }
}

/// A request as the edge would hand it on.
pub fn request(method: &str, url: &str, body: Vec<u8>) -> Request {
    let url = url.strip_prefix("https://localhost").unwrap_or(url);
    let (path, query) = url.split_once('?').unwrap_or((url, ""));
    Request {
        method: method.parse().unwrap(),
        path: path.to_owned(),
        query: query
            .split('&')
            .filter_map(|pair| pair.split_once('='))
            .map(|(name, value)| (name.to_owned(), value.to_owned()))
            .collect(),
        headers: Default::default(),
        body,
        origin: "https://localhost".to_owned(),
    }
}

/// The ARM error code of an answer.
pub fn code(answer: &Answer) -> &str {
    answer
        .body
        .as_ref()
        .and_then(|body| body["error"]["code"].as_str())
        .unwrap_or("")
}

/// The ARM error message of an answer.
pub fn message(answer: &Answer) -> &str {
    answer
        .body
        .as_ref()
        .and_then(|body| body["error"]["message"].as_str())
        .unwrap_or("")
}
