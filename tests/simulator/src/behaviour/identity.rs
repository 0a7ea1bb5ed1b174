//! Managed identities: user-assigned ones as resources, and the ones assigned to other resources.
//!
//! Source: recordings `managedidentity-v1api20230131`, `containerservice-v1api20240901` for identities of a resource, and
//! `dbforpostgresql-v20250801` for those that it was given.

use serde_json::{Value, json};

use super::{Behaviour, Scene};
use crate::id::ResourceId;
use crate::json;
use crate::store::stable_uuid;

/// `Microsoft.ManagedIdentity/userAssignedIdentities`.
#[derive(Debug)]
pub struct UserAssignedIdentity;

const USER_ASSIGNED: &str = "Microsoft.ManagedIdentity/userAssignedIdentities";

impl Behaviour for UserAssignedIdentity {
    fn applies_to(&self, arm_type: &str) -> bool {
        arm_type.eq_ignore_ascii_case(USER_ASSIGNED)
    }

    fn stored(&self, scene: &Scene<'_>, _previous: Option<&Value>, body: &mut Value) {
        json::set(
            body,
            &["properties", "tenantId"],
            json!(scene.settings.tenant),
        );
        json::set(
            body,
            &["properties", "principalId"],
            json!(principal_id(scene.id)),
        );
        json::set(
            body,
            &["properties", "clientId"],
            json!(client_id(scene.id)),
        );
        json::set_default(body, &["tags"], json!({}));
    }
}

/// The `identity` member of any other resource.
#[derive(Debug)]
pub struct AssignedIdentity;

impl Behaviour for AssignedIdentity {
    fn applies_to(&self, arm_type: &str) -> bool {
        !arm_type.eq_ignore_ascii_case(USER_ASSIGNED)
    }

    fn stored(&self, scene: &Scene<'_>, _previous: Option<&Value>, body: &mut Value) {
        let Some(identity) = body.get_mut("identity") else {
            return;
        };
        let kind = json::text(identity, &["type"])
            .unwrap_or_default()
            .to_ascii_lowercase();
        if kind.contains("systemassigned") {
            json::set(identity, &["principalId"], json!(principal_id(scene.id)));
            json::set(identity, &["tenantId"], json!(scene.settings.tenant));
        } else {
            json::remove(identity, &["principalId"]);
            json::remove(identity, &["tenantId"]);
        }
        if let Some(Value::Object(assigned)) = identity.get_mut("userAssignedIdentities") {
            for (id, details) in assigned {
                if let Some(id) = ResourceId::parse(id) {
                    *details =
                        json!({"principalId": principal_id(&id), "clientId": client_id(&id)});
                }
            }
        }
    }
}

/// The principal of a resource's own identity.
pub(super) fn principal_id(id: &ResourceId) -> String {
    stable_uuid(&format!("{}#principal", id.key()))
}

fn client_id(id: &ResourceId) -> String {
    stable_uuid(&format!("{}#client", id.key()))
}
