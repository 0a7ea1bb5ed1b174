//! A transport that keeps requests and contacts nobody.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use armature_runtime::azure::{
    CredentialKey, Method, Request, Response, Transport, TransportError,
};
use armature_runtime::id::ResourceId;
use async_trait::async_trait;
use serde_json::{Value, json};

/// What there is in Azure, by path in lower case.
pub type Resources = BTreeMap<String, Value>;

/// Keeps requests. Reads are answered from what there is, writes are accepted and never done.
pub struct Recording {
    subscription: String,
    there: Arc<Resources>,
    /// Path of the resource that is not there yet, whatever is said.
    new: Option<String>,
    kept: Mutex<Kept>,
}

#[derive(Default)]
struct Kept {
    writes: Vec<Request>,
    assumed_absent: Vec<String>,
}

impl Recording {
    /// An Azure in which every credential is for this subscription, and `new` is to be made.
    pub fn new(subscription: &str, there: Arc<Resources>, new: Option<&ResourceId>) -> Self {
        Self {
            subscription: subscription.to_owned(),
            there,
            new: new.map(path_of),
            kept: Mutex::default(),
        }
    }

    /// The last PUT.
    pub fn put(&self) -> Option<Request> {
        let kept = self.kept();
        let mut writes = kept.writes.iter();
        let put = writes.rfind(|request| request.method == Method::Put);
        put.cloned()
    }

    /// URLs of what was asked for and taken for absent, because nobody said whether it is there.
    pub fn assumed_absent(&self) -> Vec<String> {
        self.kept().assumed_absent.clone()
    }

    fn kept(&self) -> MutexGuard<'_, Kept> {
        // Plain values: a panic cannot leave them half changed.
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn read(&self, url: &str) -> Response {
        let path = path(url);
        let is_new = self.new.as_ref() == Some(&path);
        let found = self.there.get(&path).filter(|_| !is_new);
        if let Some(found) = found {
            return answer(200, Some(found.clone()));
        }
        if !is_new {
            self.kept().assumed_absent.push(url.to_owned());
        }
        let error = json!({"code": "ResourceNotFound", "message": "nothing is there"});
        answer(404, Some(json!({ "error": error })))
    }
}

/// Path of a URL, as [`Resources`] have it.
pub fn path(url: &str) -> String {
    url.split('?').next().unwrap_or(url).to_lowercase()
}

/// Path of a resource, as [`Resources`] have it.
pub fn path_of(id: &ResourceId) -> String {
    // As URLs have it, in which not every character may stand.
    path(&id.url(""))
}

fn answer(status: u16, body: Option<Value>) -> Response {
    Response {
        status,
        // Without one, no word about absence is believed.
        headers: [("x-ms-request-id".to_owned(), "recording".to_owned())].into(),
        body,
    }
}

#[async_trait]
impl Transport for Recording {
    async fn send(&self, request: Request) -> Result<Response, TransportError> {
        if !request.method.is_write() {
            return Ok(self.read(&request.url));
        }
        self.kept().writes.push(request);
        Ok(answer(202, None))
    }

    async fn subscription(&self, _: &CredentialKey) -> Result<String, TransportError> {
        Ok(self.subscription.clone())
    }
}

#[cfg(test)]
mod tests {
    use futures::FutureExt;

    use super::*;

    const GROUP: &str = "/subscriptions/s/resourceGroups/G";

    fn send(azure: &Recording, method: Method, url: &str) -> (u16, Option<Value>) {
        let request = Request {
            method,
            url: url.to_owned(),
            body: Some(json!(url)),
            if_match: None,
            credential: CredentialKey::Global,
        };
        let answer = azure.send(request).now_or_never();
        let answer = answer.expect("at once").expect("an answer");
        (answer.status, answer.body)
    }

    #[test]
    fn reads_are_answered_and_writes_kept() {
        let id = |text: &str| ResourceId::parse(text).expect("an id");
        let new = id(&format!("{GROUP}/providers/P.Q/r/new one"));
        let old = id(&format!("{GROUP}/providers/P.Q/r/old"));
        let there = [&new, &old].map(|id| (path_of(id), json!(id.name())));
        let azure = Recording::new("s", Arc::new(there.into()), Some(&new));

        let url = old.url("1").to_uppercase();
        assert_eq!(send(&azure, Method::Get, &url), (200, Some(json!("old"))));
        assert_eq!(send(&azure, Method::Get, &new.url("1")).0, 404);
        assert_eq!(azure.assumed_absent(), [""; 0]);
        let other = format!("{GROUP}?api-version=1");
        assert_eq!(send(&azure, Method::Get, &other).0, 404);
        assert_eq!(azure.assumed_absent(), [other.as_str()]);

        assert!(azure.put().is_none());
        for (method, url) in [(Method::Put, new.url("1")), (Method::Post, other)] {
            assert_eq!(send(&azure, method, &url), (202, None));
        }
        let put = azure.put().expect("a PUT");
        assert_eq!(put.body, Some(json!(new.url("1"))));
    }
}
