//! An API server that says what a test has it say.

use std::convert::Infallible;

use http::{Request, Response};
use kube::Client;
use kube::client::Body;

/// A client of an API server that answers each request with a code and a text.
pub fn client<F>(answer: F) -> Client
where
    F: Fn(&Request<Body>) -> (u16, String) + Send + 'static,
{
    let service = tower::service_fn(move |request: Request<Body>| {
        let (code, text) = answer(&request);
        let mut response = Response::new(Body::from(text.into_bytes()));
        *response.status_mut() = code.try_into().unwrap();
        std::future::ready(Ok::<_, Infallible>(response))
    });
    Client::new(service, "default")
}

/// What an API server says that refuses.
pub fn failure(code: u16, message: &str) -> (u16, String) {
    let reason = match code {
        403 => "Forbidden",
        404 => "NotFound",
        409 => "Conflict",
        _ => "Unknown",
    };
    let text = serde_json::json!({
        "kind": "Status", "apiVersion": "v1", "status": "Failure", "code": code, "message": message, "metadata": {},
        "reason": reason,
    });
    (code, text.to_string())
}
