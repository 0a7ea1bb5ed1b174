//! PrivateEndpoint: Azure takes it at once, but a manual connection works only after somebody approved it.

use armature_generated::network::hub::{PrivateEndpoint, PrivateEndpointKind};
use armature_runtime::extension::{
    Context, ExtensionError, Next, PostCheck, PostReconciliationChecker,
};
use async_trait::async_trait;

/// Fails unless every manual private-link connection in the status is Approved; names each that is not. Reads
/// the status alone. An endpoint without manual connections needs nobody's approval.
#[derive(Debug)]
pub struct PrivateEndpointApproval;

#[async_trait]
impl PostReconciliationChecker for PrivateEndpointApproval {
    type Hub = PrivateEndpointKind;

    async fn check(
        &self,
        _context: &Context,
        endpoint: &PrivateEndpoint,
        next: Next<'_, PostCheck>,
    ) -> Result<PostCheck, ExtensionError> {
        let open = open_connections(endpoint);
        if open.is_empty() {
            return next.call().await;
        }
        Ok(PostCheck::Failure(format!(
            "private link connections are not approved by the owner of their target: {}",
            open.join("; ")
        )))
    }
}

/// A sentence for each manual connection that is not approved.
fn open_connections(endpoint: &PrivateEndpoint) -> Vec<String> {
    let status = endpoint.status.as_ref();
    let connections =
        status.and_then(|status| status.manual_private_link_service_connections.as_deref());
    let mut open = Vec::new();
    for connection in connections.unwrap_or_default() {
        let state = connection.private_link_service_connection_state.as_deref();
        let name = connection.name.as_deref().unwrap_or("without a name");
        let word = state.and_then(|state| state.status.as_deref());
        let more = state.and_then(|state| state.description.as_deref());
        if let Some(sentence) = sentence(name, word, more) {
            open.push(sentence);
        }
    }
    open
}

/// What is to be said about a connection; nothing when it is approved.
fn sentence(name: &str, state: Option<&str>, description: Option<&str>) -> Option<String> {
    let is = |text: &str| state.is_some_and(|state| state.eq_ignore_ascii_case(text));
    if is("Approved") {
        return None;
    }
    let text = match state {
        Some(state) if is("Rejected") => {
            format!("connection '{name}' is {state}: it was refused and must be requested again")
        }
        Some(state) if is("Disconnected") => {
            format!(
                "connection '{name}' is {state}: its target removed it, so the endpoint must be made again"
            )
        }
        Some(state) => format!("connection '{name}' needs approval, it is {state}"),
        None => format!("connection '{name}' needs approval, Azure reports no state"),
    };
    let description = description.map(str::trim).filter(|text| !text.is_empty());
    Some(match description {
        Some(description) => format!("{text} ({description})"),
        None => text,
    })
}

#[cfg(test)]
mod tests {
    use armature_generated::network;
    use armature_runtime::extension::typed;
    use armature_runtime::shape::decode;
    use serde_json::{Value, json};

    use super::*;
    use crate::testing::{Doubles, failing, object, succeed};

    /// Through JSON, as the status comes from Azure: absent fields are really absent.
    fn endpoint(connections: Value) -> PrivateEndpoint {
        let status = json!({"manualPrivateLinkServiceConnections": connections});
        PrivateEndpoint {
            status: Some(decode(&status).expect("a status")),
            ..PrivateEndpoint::default()
        }
    }

    fn connection(name: &str, state: &str) -> Value {
        json!({"name": name, "privateLinkServiceConnectionState": {"status": state}})
    }

    async fn check(endpoint: &PrivateEndpoint) -> PostCheck {
        let doubles = Doubles::default();
        let result = PrivateEndpointApproval
            .check(&doubles.context(), endpoint, succeed())
            .await;
        doubles.assert_untouched();
        result.expect("a result")
    }

    #[tokio::test]
    async fn approved_connections_succeed() {
        for connections in [
            json!([]),
            Value::Null,
            json!([connection("a", "Approved")]),
            json!([connection("a", "approved"), connection("b", "APPROVED")]),
        ] {
            let result = check(&endpoint(connections.clone())).await;
            assert_eq!(result, PostCheck::Success, "{connections}");
        }
    }

    #[tokio::test]
    async fn each_open_connection_is_named_with_its_state() {
        let table = [
            (
                json!([connection("a", "Pending")]),
                vec!["'a' needs approval, it is Pending"],
            ),
            (
                json!([connection("a", "Rejected")]),
                vec!["'a' is Rejected"],
            ),
            (
                json!([connection("a", "Disconnected")]),
                vec!["'a' is Disconnected"],
            ),
            (
                json!([connection("a", "Timeout")]),
                vec!["'a' needs approval, it is Timeout"],
            ),
            (
                json!([
                    connection("a", "Pending"),
                    connection("b", "Approved"),
                    connection("c", "Rejected")
                ]),
                vec!["'a' needs approval, it is Pending", "'c' is Rejected"],
            ),
            (
                json!([{"name": "a", "privateLinkServiceConnectionState": {"status": "Pending", "description": " Please "}}]),
                vec!["it is Pending (Please)"],
            ),
            // Absent fields.
            (
                json!([{"name": "a"}]),
                vec!["'a' needs approval, Azure reports no state"],
            ),
            (
                json!([{"name": "a", "privateLinkServiceConnectionState": {}}]),
                vec!["'a' needs approval, Azure reports no state"],
            ),
            (json!([{}]), vec!["'without a name' needs approval"]),
        ];
        for (connections, expected) in table {
            match check(&endpoint(connections.clone())).await {
                PostCheck::Failure(reason) => {
                    for text in expected {
                        assert!(reason.contains(text), "{reason}");
                    }
                    assert!(!reason.contains("'b'"), "{reason}");
                }
                PostCheck::Success => panic!("{connections}"),
            }
        }
    }

    #[tokio::test]
    async fn an_absent_status_needs_no_approval() {
        assert_eq!(check(&PrivateEndpoint::default()).await, PostCheck::Success);
    }

    #[tokio::test]
    async fn succeeds_on_a_retry_after_the_approval() {
        let pending = check(&endpoint(json!([connection("a", "Pending")]))).await;
        assert!(matches!(pending, PostCheck::Failure(_)));
        let approved = check(&endpoint(json!([connection("a", "Approved")]))).await;
        assert_eq!(approved, PostCheck::Success);
    }

    #[tokio::test]
    async fn errors_of_the_default_are_passed_on() {
        let context = Doubles::default().context();
        let ready = endpoint(json!([connection("a", "Approved")]));
        assert!(
            PrivateEndpointApproval
                .check(&context, &ready, failing())
                .await
                .is_err()
        );
    }

    #[test]
    fn an_object_of_another_kind_is_an_error() {
        let other = object(&network::kinds::VIRTUAL_NETWORK, "net");
        let result = typed::<<PrivateEndpointApproval as PostReconciliationChecker>::Hub>(&other);
        assert!(matches!(result, Err(ExtensionError::WrongKind { .. })));
    }
}
