//! An API server that says what a test has it say.

use kube::Client;
use kube::client::Body;
use serde_json::{Value, json};

/// A client of an API server that answers each path with a body, or with a code that refuses.
pub fn client<F>(answer: F) -> Client
where
    F: Fn(&str) -> Result<Value, u16> + Send + 'static,
{
    let service = tower::service_fn(move |request: http::Request<Body>| {
        let (code, body) = match answer(request.uri().path()) {
            Ok(body) => (200, body),
            Err(code) => {
                let reason = match code {
                    403 => "Forbidden",
                    404 => "NotFound",
                    _ => "InternalError",
                };
                let status = json!({
                    "kind": "Status", "apiVersion": "v1", "status": "Failure", "code": code, "reason": reason, "metadata": {},
                    "message": "refused by a test",
                });
                (code, status)
            }
        };
        let response = http::Response::builder().status(code);
        std::future::ready(response.body(Body::from(body.to_string().into_bytes())))
    });
    Client::new(service, "default")
}
