//! Ids that are allowed without asking: they show nothing of anybody's resources.

/// Types of definitions of roles and policies at the tenant, which are the same for everybody. Custom ones are in a subscription
/// or below a management group.
const DEFINITIONS: [&str; 3] = [
    "roledefinitions",
    "policydefinitions",
    "policysetdefinitions",
];

/// Whether an id is a definition of a role or a policy: a built-in one, or a role as a subscription shows it. A role is a
/// list of actions; what it is granted for is another id.
pub(super) fn is_definition(id: &str) -> bool {
    let segments: Vec<String> = id.split('/').map(str::to_ascii_lowercase).collect();
    let segments: Vec<&str> = segments.iter().map(String::as_str).collect();
    match segments.as_slice() {
        ["", "providers", _, kind, name] => DEFINITIONS.contains(kind) && !name.is_empty(),
        [
            "",
            "subscriptions",
            _,
            "providers",
            _,
            "roledefinitions",
            name,
        ] => !name.is_empty(),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn definitions_are_known_by_their_whole_id() {
        for (id, expected) in [
            ("/providers/Microsoft.Authorization/roleDefinitions/r", true),
            (
                "/providers/Microsoft.Authorization/policyDefinitions/p",
                true,
            ),
            (
                "/providers/microsoft.authorization/policysetdefinitions/p",
                true,
            ),
            (
                "/subscriptions/s/providers/Microsoft.Authorization/roleDefinitions/r",
                true,
            ),
            (
                "/subscriptions/s/providers/Microsoft.Authorization/policyDefinitions/p",
                false,
            ),
            ("/providers/Microsoft.Authorization/roleDefinitions", false),
            ("/providers/Microsoft.Authorization/roleDefinitions/", false),
            (
                "/providers/Microsoft.Authorization/roleAssignments/r",
                false,
            ),
            (
                "/subscriptions/s/resourceGroups/g/providers/Microsoft.Authorization/roleDefinitions/r",
                false,
            ),
            (
                "/providers/Microsoft.Authorization/roleDefinitions/r/providers/Microsoft.A/bs/c",
                false,
            ),
        ] {
            assert_eq!(is_definition(id), expected, "{id}");
        }
    }
}
