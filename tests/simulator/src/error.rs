//! ARM's error answers: status, code and text as the real service words them.

use serde_json::{Value, json};

use crate::id::ResourceId;

/// One error answer of ARM: `{"error": {"code", "message", "target", "details"}}` under an HTTP status.
#[derive(Clone, Debug, PartialEq)]
pub struct ArmError {
    /// HTTP status.
    pub status: u16,
    /// ARM error code, for example `ResourceNotFound`.
    pub code: String,
    /// Text for people.
    pub message: String,
    /// What the error is about.
    pub target: Option<String>,
    /// Errors that this one is made of.
    pub details: Vec<Value>,
    /// Seconds after which a client should try again.
    pub retry_after: Option<u64>,
    /// Said by ARM itself (`x-ms-failure-cause: gateway`), not by the resource provider behind it.
    pub from_gateway: bool,
}

impl ArmError {
    /// An error of a resource provider.
    pub fn new(status: u16, code: impl Into<String>, message: impl Into<String>) -> Self {
        Self {
            status,
            code: code.into(),
            message: message.into(),
            target: None,
            details: Vec::new(),
            retry_after: None,
            from_gateway: false,
        }
    }

    /// An error of ARM itself.
    pub fn gateway(status: u16, code: impl Into<String>, message: impl Into<String>) -> Self {
        Self {
            from_gateway: true,
            ..Self::new(status, code, message)
        }
    }

    /// The JSON body.
    pub fn body(&self) -> Value {
        let mut error = json!({"code": self.code, "message": self.message});
        if let Some(target) = &self.target {
            error["target"] = json!(target);
        }
        if !self.details.is_empty() {
            error["details"] = json!(self.details);
        }
        json!({ "error": error })
    }

    /// GET of a resource that is not there.
    pub fn resource_not_found(id: &ResourceId) -> Self {
        let message = match id.resource_group() {
            Some(group) => format!(
                "The Resource '{}' under resource group '{group}' was not found. \
                 For more details please go to https://aka.ms/ARMResourceNotFoundFix",
                id.type_and_names()
            ),
            None => format!("The Resource '{id}' was not found."),
        };
        Self::gateway(404, "ResourceNotFound", message)
    }

    /// Anything in a resource group that is not there.
    pub fn group_not_found(group: &str) -> Self {
        Self::gateway(
            404,
            "ResourceGroupNotFound",
            format!("Resource group '{group}' could not be found."),
        )
    }

    /// Anything below a resource that is not there. `action` is `read`, `write` or `delete`; `child_type` is
    /// relative to the provider.
    pub fn parent_not_found(action: &str, child_type: &str, parent: &ResourceId) -> Self {
        Self::gateway(
            404,
            "ParentResourceNotFound",
            format!(
                "Failed to perform '{action}' on resource(s) of type '{child_type}', because the parent \
                 resource '{parent}' could not be found."
            ),
        )
    }

    /// A subscription that the simulator does not hold.
    pub fn subscription_not_found(subscription: &str) -> Self {
        Self::gateway(
            404,
            "SubscriptionNotFound",
            format!("The subscription '{subscription}' could not be found."),
        )
    }

    /// No `api-version` in the query.
    pub fn missing_api_version() -> Self {
        Self::gateway(
            400,
            "MissingApiVersionParameter",
            "The api-version query parameter (?api-version=) is required for all requests.",
        )
    }

    /// A namespace that no kind belongs to.
    pub fn unknown_namespace(namespace: &str) -> Self {
        Self::gateway(
            404,
            "InvalidResourceNamespace",
            format!("The resource namespace '{namespace}' is invalid."),
        )
    }

    /// A type that no kind has, in a namespace that some kind has.
    pub fn unknown_type(namespace: &str, arm_type: &str, api_version: &str) -> Self {
        Self::gateway(
            404,
            "InvalidResourceType",
            format!(
                "The resource type '{arm_type}' could not be found in the namespace '{namespace}' for api \
                 version '{api_version}'."
            ),
        )
    }

    /// An api-version that the type does not have.
    pub fn unsupported_api_version(arm_type: &str, api_version: &str, supported: &[&str]) -> Self {
        Self::gateway(
            400,
            "NoRegisteredProviderFound",
            format!(
                "No registered resource provider found for API version '{api_version}' for type \
                 '{arm_type}'. The supported api-versions are '{}'.",
                supported.join(", ")
            ),
        )
    }

    /// A method that the path does not offer.
    pub fn method_not_allowed(method: &str, target: &str) -> Self {
        Self::gateway(
            405,
            "MethodNotAllowed",
            format!("The HTTP method '{method}' is not supported at '{target}'."),
        )
    }

    /// A path that is no ARM path.
    pub fn invalid_path(path: &str) -> Self {
        Self::gateway(
            404,
            "InvalidRequestUri",
            format!("The request URI '{path}' is not a path of Azure Resource Manager."),
        )
    }

    /// A resource group that is on its way out.
    pub fn group_being_deleted(group: &str) -> Self {
        Self::gateway(
            409,
            "ResourceGroupBeingDeleted",
            format!(
                "The resource group '{group}' is in deprovisioning state and cannot perform this operation."
            ),
        )
    }

    /// A write while an operation on the resource runs.
    pub fn operation_in_progress(url: &str) -> Self {
        Self::new(
            409,
            "AnotherOperationInProgress",
            format!(
                "Another operation on this or dependent resource is in progress. To retrieve status of the \
                 operation use uri: {url}."
            ),
        )
    }

    /// `If-Match` or `If-None-Match` that does not hold.
    pub fn precondition_failed(condition: &str, etag: Option<&str>) -> Self {
        let current = match etag {
            Some(etag) => format!("the current etag is '{etag}'"),
            None => "the resource does not exist".to_owned(),
        };
        Self::new(
            412,
            "PreconditionFailed",
            format!("The condition '{condition}' does not hold: {current}."),
        )
    }
}
