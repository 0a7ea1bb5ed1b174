//! A transport that lets reads pass to Azure and refuses whatever writes.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use armature_runtime::azure::{CredentialKey, Request, Response, Transport, TransportError};
use armature_runtime::id::ResourceId;
use async_trait::async_trait;
use serde_json::{Value, json};

use super::recording::{path, path_of};

/// Azure as it would be after what is planned so far. Reads go to Azure, but for those about what is to be made: Azure
/// cannot know it yet.
pub struct Reading {
    azure: Arc<dyn Transport>,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// What is to be made, by path in lower case.
    made: BTreeMap<String, Value>,
    /// What is to be deleted, by path in lower case.
    gone: BTreeSet<String>,
    sent: usize,
    refused: usize,
}

impl Reading {
    /// Reads go to this one.
    pub fn new(azure: Arc<dyn Transport>) -> Self {
        Self {
            azure,
            state: Mutex::default(),
        }
    }

    /// From here on the resource is taken to be there, and nothing below it that is not taken so too.
    pub fn assume(&self, id: &ResourceId) {
        let body = json!({
            "id": id.as_str(),
            "name": id.name(),
            "properties": { "provisioningState": "Succeeded" },
        });
        self.state().made.insert(path_of(id), body);
    }

    /// From here on the resource is taken to be gone, with all below it.
    pub fn assume_gone(&self, id: &ResourceId) {
        self.state().gone.insert(path_of(id));
    }

    /// How many requests were sent.
    pub fn sent(&self) -> usize {
        self.state().sent
    }

    /// How many requests were refused, because they would have written.
    pub fn refused(&self) -> usize {
        self.state().refused
    }

    fn state(&self) -> MutexGuard<'_, State> {
        // Plain values: a panic cannot leave them half changed.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The answer of a world in which what is planned has been made; nothing where Azure knows better.
    fn foreseen(&self, url: &str) -> Option<Response> {
        let path = path(url);
        let state = self.state();
        if let Some(body) = state.made.get(&path) {
            return Some(answer(200, body.clone()));
        }
        let above = |above: &String| {
            let rest = path.strip_prefix(above.as_str());
            rest.is_some_and(|rest| rest.starts_with('/'))
        };
        let is_gone = state.gone.contains(&path) || state.gone.iter().any(above);
        (is_gone || state.made.keys().any(above)).then(|| {
            let message = "by then it is not there, or not yet";
            let error = json!({"code": "ResourceNotFound", "message": message});
            answer(404, json!({ "error": error }))
        })
    }
}

fn answer(status: u16, body: Value) -> Response {
    Response {
        status,
        // Without one, no word about absence is believed.
        headers: [("x-ms-request-id".to_owned(), "plan".to_owned())].into(),
        body: Some(body),
    }
}

#[async_trait]
impl Transport for Reading {
    async fn send(&self, request: Request) -> Result<Response, TransportError> {
        if request.method.is_write() {
            self.state().refused += 1;
            return Err(TransportError {
                method: request.method,
                url: path(&request.url),
                message: "a plan writes nothing, so this was not sent".to_owned(),
                credential: false,
                is_refused: true,
                retry_after: None,
            });
        }
        if let Some(foreseen) = self.foreseen(&request.url) {
            return Ok(foreseen);
        }
        self.state().sent += 1;
        self.azure.send(request).await
    }

    async fn subscription(&self, credential: &CredentialKey) -> Result<String, TransportError> {
        self.azure.subscription(credential).await
    }

    async fn principal(&self, credential: &CredentialKey) -> String {
        self.azure.principal(credential).await
    }
}

#[cfg(test)]
mod tests {
    use armature_runtime::azure::Method;

    use super::super::recording::Recording;
    use super::*;

    async fn send(azure: &Reading, method: Method, url: &str) -> Result<u16, TransportError> {
        let request = Request {
            method,
            url: url.to_owned(),
            body: None,
            if_match: None,
            credential: CredentialKey::Global,
        };
        azure.send(request).await.map(|answer| answer.status)
    }

    #[tokio::test]
    async fn every_write_is_refused_and_reads_pass() {
        let group = "/subscriptions/s/resourceGroups/g";
        let there = [(group.to_lowercase(), json!({}))];
        let azure = Arc::new(Recording::new("s", Arc::new(there.into()), None));
        let reading = Reading::new(azure.clone());
        assert_eq!(send(&reading, Method::Get, group).await.unwrap(), 200);
        for method in [Method::Put, Method::Patch, Method::Post, Method::Delete] {
            let refused = send(&reading, method, group).await.unwrap_err();
            assert!(refused.is_refused, "{method}");
        }
        assert!(azure.put().is_none());
        assert_eq!((reading.sent(), reading.refused()), (1, 4));
    }

    #[tokio::test]
    async fn what_is_planned_is_there_and_nothing_below_it() {
        let azure = Arc::new(Recording::new("s", Arc::default(), None));
        let reading = Reading::new(azure);
        let group = ResourceId::parse("/subscriptions/s/resourceGroups/G").unwrap();
        reading.assume(&group);
        let url = group.url("2020-06-01");
        assert_eq!(send(&reading, Method::Get, &url).await.unwrap(), 200);
        let below = format!("{}/providers/P.Q/r/n", group.as_str());
        assert_eq!(send(&reading, Method::Get, &below).await.unwrap(), 404);
        assert_eq!(reading.sent(), 0);
        // Another one whose name begins alike is Azure's to tell.
        let other = format!("{}2", group.as_str());
        assert_eq!(send(&reading, Method::Get, &other).await.unwrap(), 404);
        assert_eq!(reading.sent(), 1);
        let other = ResourceId::parse("/subscriptions/s/resourceGroups/other").unwrap();
        reading.assume_gone(&other);
        let below = format!("{}/providers/P.Q/r/n", other.as_str());
        for url in [other.as_str(), &below] {
            assert_eq!(send(&reading, Method::Get, url).await.unwrap(), 404);
        }
        assert_eq!(reading.sent(), 1);
    }
}
