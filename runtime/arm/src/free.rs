//! Requests that are allowed without asking: they show nothing of anybody's resources, and change none.

use armature_azure::Method;
use armature_reconcile::allowed_scopes::AllowedScopes;
use armature_shapes::id::segment;

/// Whether a request may be sent: its path is below a scope, or it is one that shows and changes nobody's resources.
pub fn may_send(scopes: &AllowedScopes, method: Method, url: &str) -> bool {
    let path = segment::path_from_root(url);
    scopes.allow(&path) || is_free_request(method, &path)
}

/// Whether a request needs no scope: the list of roles, the registration of a provider, and a look at an operation, which Azure
/// keeps beside the subscription's resources (ARM RPC, asynchronous operations).
fn is_free_request(method: Method, path: &str) -> bool {
    let path = path.to_ascii_lowercase();
    let segments: Vec<&str> = path.trim_end_matches('/').split('/').collect();
    match (method, segments.as_slice()) {
        (Method::Get, ["", "providers", _, "roledefinitions"]) => true,
        (Method::Post, ["", "subscriptions", _, "providers", _, "register"]) => true,
        (Method::Get, ["", segments @ ..]) => {
            is_operation(segments) && segment::check_path(&path).is_ok()
        }
        _ => false,
    }
}

/// Whether a look at a path tells no more than how an operation went.
pub(super) fn tells_of_an_operation(path: &str) -> bool {
    path.to_ascii_lowercase().contains("operation") && is_free_request(Method::Get, path)
}

/// Whether a path is that of an operation or of its result: beside the resources of a tenant, a subscription or a resource
/// group, and not one of them or below one. Its last segments are drawn by Azure.
fn is_operation(segments: &[&str]) -> bool {
    let says_so = |segment: &str| segment.contains("operation");
    let (is_in_group, rest) = match segments {
        ["subscriptions", _, "resourcegroups", _, rest @ ..] => (true, rest),
        ["subscriptions", _, rest @ ..] => (false, rest),
        rest => (false, rest),
    };
    match rest {
        ["providers", _, "locations", _, operation, id @ ..]
        | ["providers", _, operation, id @ ..] => {
            says_so(operation) && !id.is_empty() && (!is_in_group || id.len() == 1)
        }
        [operation, id @ ..] => {
            segments.len() > rest.len() && !is_in_group && says_so(operation) && !id.is_empty()
        }
        [] => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_that_ask_for_no_scope() {
        use Method::{Delete, Get, Post, Put};
        let free = [
            (Get, "/providers/Microsoft.Authorization/roleDefinitions"),
            (Post, "/subscriptions/s/providers/Microsoft.Web/register"),
            (Get, "/subscriptions/s/operationresults/eyJqb2JJZ"),
            (
                Get,
                "/subscriptions/s/providers/Microsoft.Storage/locations/westus3/asyncoperations/1",
            ),
            (
                Get,
                "/subscriptions/s/providers/Microsoft.App/locations/westus2/containerappOperationStatuses/1",
            ),
            (
                Get,
                "/providers/Microsoft.Management/operationResults/create/managementGroups/m",
            ),
            (
                Get,
                "/subscriptions/s/resourceGroups/g/providers/Microsoft.Network/privateDnsOperationStatuses/1",
            ),
            (
                Get,
                "/subscriptions/s/resourceGroups/g/providers/Microsoft.Network/locations/w/dnsResolverOperationStatuses/1",
            ),
        ];
        let others = [
            (
                Get,
                "/subscriptions/s/providers/Microsoft.OperationalInsights/workspaces",
            ),
            (
                Get,
                "/subscriptions/s/providers/Microsoft.OperationalInsights/locations/w/deletedWorkspaces",
            ),
            (
                Get,
                "/providers/Microsoft.Management/managementGroups/operations-prod",
            ),
            (Get, "/providers/Microsoft.Management/operationResults"),
            (Get, "/operationresults/1"),
            (
                Get,
                "/subscriptions/s/resourceGroups/prod/operationresults/1",
            ),
            (
                Get,
                "/subscriptions/s/resourceGroups/prod/providers/Microsoft.A/operations/o/bs/c",
            ),
            (
                Get,
                "/subscriptions/s/resourceGroups/prod/providers/Microsoft.A/bs/operations",
            ),
            (Get, "/subscriptions/s/resourceGroups/operations"),
            (Get, "/subscriptions/operations"),
            (Get, "/subscriptions/s"),
            (
                Get,
                "/subscriptions/s/providers/Microsoft.KeyVault/locations/w/deletedVaults/v",
            ),
            (
                Post,
                "/subscriptions/s/providers/Microsoft.KeyVault/locations/w/deletedVaults/v/purge",
            ),
            (
                Post,
                "/subscriptions/s/providers/Microsoft.Subscription/cancel",
            ),
            (Put, "/subscriptions/s/operationresults/1"),
            (Delete, "/subscriptions/s/operationresults/1"),
            (
                Get,
                "/subscriptions/s/operationresults/%2e%2e/resourceGroups/prod",
            ),
        ];
        for (is_free, rows) in [(true, &free[..]), (false, &others[..])] {
            for (method, path) in rows {
                assert_eq!(is_free_request(*method, path), is_free, "{method} {path}");
            }
        }
    }
}
