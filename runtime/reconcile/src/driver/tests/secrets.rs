//! Services that quote the secrets that they are sent.

use armature_azure::{Method, Response};

use super::*;
use crate::port::DataKind;

const OPERATION: &str = "/subscriptions/s-1/providers/Microsoft.Toys/locations/westus/operations/1";

/// An error that quotes the password.
fn quoting(status: u16, member: &str) -> Response {
    let error = json!({"code": "Weak", "message": "the password 'hunter2' is weak"});
    let mut body = json!({"status": "Failed"});
    body[member] = error;
    response(status, &[], Some(body))
}

/// A store with a password, and everything that is shown of it.
struct Shown {
    world: World,
    store: armature_shapes::resource::ObjectKey,
}

impl Shown {
    async fn new() -> Self {
        let world = World::with_group().await;
        let password = [("password", "hunter2")];
        world
            .cluster
            .put_data(DataKind::Secret, "secret", &password);
        let store = world.store(json!({"password": {"name": "secret", "key": "password"}}));
        Self { world, store }
    }

    fn assert_covered(&self) {
        let cluster = &self.world.cluster;
        let shown = format!(
            "{:?} {}",
            cluster.take_events(),
            cluster.status(&self.store)
        );
        assert!(shown.contains("the password '(secret)' is weak"), "{shown}");
        assert!(!shown.contains("hunter2"), "{shown}");
    }
}

#[tokio::test]
async fn a_refusal_that_quotes_a_secret_is_covered() {
    let shown = Shown::new().await;
    let azure = &shown.world.azure;
    azure.script(Method::Put, STORE, quoting(400, "error"));
    shown.world.pass(&shown.store).await;
    shown.assert_covered();
}

#[tokio::test]
async fn an_operation_whose_error_quotes_a_secret_is_covered_in_a_later_pass() {
    let shown = Shown::new().await;
    let azure = &shown.world.azure;
    let headers = [("azure-asyncoperation", OPERATION)];
    azure.script(Method::Put, STORE, response(201, &headers, Some(json!({}))));
    shown.world.pass(&shown.store).await;
    azure.script(Method::Get, OPERATION, quoting(200, "error"));
    shown.world.pass(&shown.store).await;
    shown.assert_covered();
}
