//! Services that quote the secrets that they are sent.

use armature_azure::{Method, Response};
use armature_reconcile::port::DataKind;
use armature_shapes::testing::shown::shows;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;

use super::*;

const OPERATION: &str = "/subscriptions/s-1/providers/Microsoft.Toys/locations/westus/operations/1";

/// A password that is written in another way wherever it is quoted.
const PASSWORD: &str = "hunter \"2\" \\ \u{e9}+/=%41";

/// How services quote it: alone, in the request that they could not read, in a URL, in base64, and cut off.
fn quotes() -> Vec<String> {
    let request = json!({"properties": {"password": PASSWORD, "other": 1}}).to_string();
    let inner = json!({ "request": request }).to_string();
    let half = request.floor_char_boundary(request.find("hunter").unwrap() + 12);
    vec![
        PASSWORD.to_owned(),
        request.replace('/', "\\/").replace('\u{e9}', "\\u00E9"),
        request[..half].to_owned(),
        inner,
        "?password=hunter+%222%22+%5C+%c3%a9%2B%2F%3D%2541".to_owned(),
        STANDARD.encode(PASSWORD),
        STANDARD.encode(&request),
    ]
}

/// An error that quotes the password in this way.
fn quoting(status: u16, code: &str, quote: &str) -> Response {
    let error = json!({"code": code, "message": format!("the password '{quote}' is weak"), "target": quote,
        "details": [{"code": "Why", "message": quote}]});
    let headers = [("x-ms-request-id", "r-1")];
    response(
        status,
        &headers,
        Some(json!({"status": "Failed", "error": error})),
    )
}

/// A store with a password, and everything that is shown of it.
struct Shown {
    world: World,
    store: armature_shapes::resource::ObjectKey,
}

impl Shown {
    async fn new() -> Self {
        let world = World::with_group().await;
        let password = [("password", PASSWORD)];
        world
            .cluster
            .put_data(DataKind::Secret, "secret", &password);
        let store = world.store(json!({"password": {"name": "secret", "key": "password"}}));
        Self { world, store }
    }

    fn assert_covered(&self) {
        let cluster = &self.world.cluster;
        let status = cluster.status(&self.store);
        let message = cluster.message(&self.store);
        let shown = format!("{message} {:?} {status}", cluster.take_events());
        assert!(message.contains("(secret)"), "{shown}");
        assert!(!shows(&shown, PASSWORD), "{shown}");
    }
}

#[tokio::test]
async fn a_refusal_that_quotes_a_secret_is_covered() {
    for quote in quotes() {
        let shown = Shown::new().await;
        let azure = &shown.world.azure;
        azure.script(Method::Put, STORE, quoting(400, "Weak", &quote));
        shown.world.pass(&shown.store).await;
        shown.assert_covered();
    }
}

#[tokio::test]
async fn an_operation_whose_error_quotes_a_secret_is_covered_in_a_later_pass() {
    for quote in quotes() {
        // One that failed, and one of which an answer says that it may be somewhere else.
        for (status, code) in [(200, "Weak"), (404, "SubscriptionNotFound")] {
            let shown = Shown::new().await;
            let azure = &shown.world.azure;
            let headers = [("azure-asyncoperation", OPERATION)];
            azure.script(Method::Put, STORE, response(201, &headers, Some(json!({}))));
            shown.world.pass(&shown.store).await;
            azure.script(Method::Get, OPERATION, quoting(status, code, &quote));
            shown.world.pass(&shown.store).await;
            shown.assert_covered();
        }
    }
}
