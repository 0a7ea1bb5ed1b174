//! What an answer says about whether a resource exists.
//!
//! A deletion ends when Azure says that the resource is gone, so a 404 that says something else must not be taken for that:
//! one of a proxy, or one about the subscription, the provider or the token.

use super::{CloudError, Response, UNREAD};

/// Header of every answer that Azure Resource Manager gives (ARM RPC, "response headers").
const REQUEST_ID: &str = "x-ms-request-id";

/// Codes of a 404 that is not about the resource.
const ABOUT_SOMETHING_ELSE: [&str; 9] = [
    "SubscriptionNotFound",
    "InvalidSubscriptionId",
    "InvalidResourceType",
    "NoRegisteredProviderFound",
    "AuthorizationFailed",
    "ExpiredAuthenticationToken",
    "MissingAuthenticationToken",
    "TenantNotFound",
    UNREAD,
];

/// Beginnings of the codes about tokens: `InvalidAuthenticationTokenTenant`, `AuthenticationFailedMissingToken`.
const ABOUT_TOKENS: [&str; 2] = ["InvalidAuthenticationToken", "AuthenticationFailed"];

/// Whether the answer is a 404 or 410, whatever it means.
pub fn is_not_found(response: &Response) -> bool {
    matches!(response.status, 404 | 410)
}

/// Whether the answer says that what was asked for does not exist: a 404 or 410 of Azure Resource Manager's own, whatever its
/// code, unless the code is about something else.
pub fn is_gone(response: &Response) -> bool {
    is_not_found(response)
        && response
            .header(REQUEST_ID)
            .is_some_and(|id| !id.trim().is_empty())
        && is_about_the_resource(&CloudError::from_response(response))
}

/// Why a 404 or 410 is not believed, as a part of a sentence.
pub fn doubt(response: &Response) -> &'static str {
    if response.header(REQUEST_ID).is_none() {
        "the answer has no x-ms-request-id, so it is not Azure Resource Manager's own but that of something on the way"
    } else {
        "this does not say that the resource is gone"
    }
}

/// What was not kept of an error could say that it is about something else.
fn is_about_the_resource(error: &CloudError) -> bool {
    !error.is_cut() && !is_about_something_else(error)
}

fn is_about_something_else(error: &CloudError) -> bool {
    let code = error.code();
    let begins = |beginning: &str| {
        let start = code.get(..beginning.len());
        start.is_some_and(|start| start.eq_ignore_ascii_case(beginning))
    };
    ABOUT_SOMETHING_ELSE
        .iter()
        .any(|known| code.eq_ignore_ascii_case(known))
        || ABOUT_TOKENS.iter().any(|beginning| begins(beginning))
        || error.details.iter().any(is_about_something_else)
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn answer(status: u16, own: bool, body: Value) -> Response {
        let header = own.then(|| (REQUEST_ID.to_owned(), "r-1".to_owned()));
        Response {
            status,
            headers: header.into_iter().collect(),
            body: (!body.is_null()).then_some(body),
        }
    }

    fn code(code: &str) -> Value {
        json!({"error": {"code": code, "message": "m"}})
    }

    #[test]
    fn only_arms_own_word_about_the_resource_means_gone() {
        let behind = json!({"error": {"code": "NotFound", "message": "m", "details": [
            {"code": "SubscriptionNotFound", "message": "m"}]}});
        let rows = [
            (404, true, code("ResourceNotFound"), true),
            (404, true, code("ResourceGroupNotFound"), true),
            (404, true, code("ParentResourceNotFound"), true),
            (404, true, code("RoleAssignmentNotFound"), true),
            (404, true, code("NobodyKnowsThisCode"), true),
            (410, true, code("Gone"), true),
            (404, true, Value::Null, true),
            (404, true, json!({"properties": {}}), true),
            (404, true, code("SubscriptionNotFound"), false),
            (404, true, code("subscriptionnotfound"), false),
            (404, true, behind, false),
            (404, true, code("InvalidSubscriptionId"), false),
            (404, true, code("InvalidResourceType"), false),
            (404, true, code("NoRegisteredProviderFound"), false),
            (404, true, code("InvalidAuthenticationTokenTenant"), false),
            (404, true, code("AuthenticationFailedMissingToken"), false),
            (404, true, code("ExpiredAuthenticationToken"), false),
            // A proxy's page, whatever it looks like.
            (404, false, Value::Null, false),
            (404, false, code("ResourceNotFound"), false),
            (200, true, Value::Null, false),
            (403, true, code("ResourceNotFound"), false),
        ];
        for (status, own, body, expected) in rows {
            let response = answer(status, own, body);
            assert_eq!(is_gone(&response), expected, "{response:?}");
        }
    }
}
