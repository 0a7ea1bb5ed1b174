//! Roles that Azure has from the beginning, in every scope.
//!
//! Source: https://learn.microsoft.com/azure/role-based-access-control/built-in-roles.

use serde_json::{Value, json};

use super::Behaviour;

/// `Microsoft.Authorization/roleDefinitions`.
#[derive(Debug)]
pub struct BuiltInRoles;

const ROLE_DEFINITION: &str = "Microsoft.Authorization/roleDefinitions";

/// Some of Azure's, with the ids that they have everywhere, and what they allow.
const ROLES: [(&str, &str, &str); 6] = [
    ("Owner", "8e3af657-a8ff-443c-a75c-2fe8c4bcb635", "*"),
    ("Contributor", "b24988ac-6180-42a0-ab88-20f7382dd24c", "*"),
    ("Reader", "acdd72a7-3385-48ef-bd42-f606fba81ae7", "*/read"),
    (
        "User Access Administrator",
        "18d7d88d-d35e-4fb5-a5c3-7773c20a72d9",
        "Microsoft.Authorization/*",
    ),
    (
        "AcrPull",
        "7f951dda-4ed3-4680-a7ca-43fe172d538d",
        "Microsoft.ContainerRegistry/registries/pull/read",
    ),
    (
        "Network Contributor",
        "4d97b98b-1d4f-4787-a291-c67834d212e7",
        "Microsoft.Network/*",
    ),
];

impl Behaviour for BuiltInRoles {
    fn applies_to(&self, arm_type: &str) -> bool {
        arm_type.eq_ignore_ascii_case(ROLE_DEFINITION)
    }

    fn built_in(&self) -> Vec<Value> {
        let role = |(name, id, action): &(&str, &str, &str)| {
            json!({
                "id": format!("/providers/{ROLE_DEFINITION}/{id}"),
                "name": id,
                "type": ROLE_DEFINITION,
                "properties": {
                    "roleName": name,
                    "type": "BuiltInRole",
                    "assignableScopes": ["/"],
                    "permissions": [
                        {"actions": [action], "notActions": [], "dataActions": [], "notDataActions": []},
                    ],
                },
            })
        };
        ROLES.iter().map(role).collect()
    }
}
