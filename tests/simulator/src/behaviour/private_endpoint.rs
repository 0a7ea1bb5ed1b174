//! Private endpoints: connections that approve themselves, and connections that somebody must approve.
//!
//! Source: recordings `scenario-networking_privateendpoint_20240301_crud` and `network-v1api20220701`; manual connections of
//! https://learn.microsoft.com/azure/private-link/manage-private-endpoint.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::{Behaviour, Scene};
use crate::id::ResourceId;
use crate::json;
use crate::store::{Resource, Store, stable_bytes, stable_uuid};

/// ARM type of private endpoints.
pub const PRIVATE_ENDPOINT: &str = "Microsoft.Network/privateEndpoints";

const AUTOMATIC: &str = "privateLinkServiceConnections";
const MANUAL: &str = "manualPrivateLinkServiceConnections";
const STATE: [&str; 2] = ["properties", "privateLinkServiceConnectionState"];

/// `Microsoft.Network/privateEndpoints`.
#[derive(Debug)]
pub struct PrivateEndpoint;

impl Behaviour for PrivateEndpoint {
    fn applies_to(&self, arm_type: &str) -> bool {
        arm_type.eq_ignore_ascii_case(PRIVATE_ENDPOINT)
    }

    fn stored(&self, scene: &Scene<'_>, previous: Option<&Value>, body: &mut Value) {
        let approved = json!({
            "status": "Approved",
            "description": "Auto-Approved",
            "actionsRequired": "None",
        });
        let pending = json!({
            "status": "Pending",
            "description": "",
            "actionsRequired": "None",
        });
        for (list, state) in [(AUTOMATIC, approved), (MANUAL, pending)] {
            let path = ["properties", list];
            json::set_default(body, &path, json!([]));
            let before = previous.and_then(|body| json::at(body, &path));
            let Some(Value::Array(connections)) = body
                .get_mut("properties")
                .and_then(|properties| properties.get_mut(list))
            else {
                continue;
            };
            for connection in connections {
                complete(scene, connection, before, &state);
            }
        }
        if let Some(nic) = interface_id(scene.id) {
            let nics = json!([{ "id": nic.to_string() }]);
            json::set_default(body, &["properties", "networkInterfaces"], nics);
        }
    }

    fn written(&self, store: &mut Store, id: &ResourceId) {
        if let (Some(endpoint), Some(nic)) = (store.get(id).cloned(), interface_id(id)) {
            store.insert(interface(&endpoint, nic));
        }
    }

    fn removed(&self, store: &mut Store, endpoint: &Resource, _now: Timestamp) {
        if let Some(nic) = interface_id(&endpoint.id) {
            store.remove_tree(&nic);
        }
    }
}

/// Id of the network interface that Azure makes for an endpoint.
fn interface_id(endpoint: &ResourceId) -> Option<ResourceId> {
    let (subscription, group) = (endpoint.subscription()?, endpoint.resource_group()?);
    let guid = stable_uuid(&format!("{}#nic", endpoint.key()));
    ResourceId::parse(&format!(
        "/subscriptions/{subscription}/resourceGroups/{group}/providers/Microsoft.Network/networkInterfaces/{}.nic.{guid}",
        endpoint.name()
    ))
}

/// The network interface of an endpoint, with an address of its own.
fn interface(endpoint: &Resource, id: ResourceId) -> Resource {
    let last = 4 + stable_bytes(&id.key())[0] % 250;
    let body = json!({
        "id": id.to_string(),
        "name": id.name(),
        "type": "Microsoft.Network/networkInterfaces",
        "location": endpoint.body["location"],
        "properties": {
            "provisioningState": "Succeeded",
            "nicType": "Standard",
            "ipConfigurations": [{
                "name": "privateEndpointIpConfig",
                "id": format!("{id}/ipConfigurations/privateEndpointIpConfig"),
                "type": "Microsoft.Network/networkInterfaces/ipConfigurations",
                "properties": {
                    "provisioningState": "Succeeded",
                    "privateIPAddress": format!("10.0.0.{last}"),
                    "privateIPAllocationMethod": "Dynamic",
                    "privateIPAddressVersion": "IPv4",
                    "primary": true,
                    "subnet": endpoint.body["properties"]["subnet"],
                },
            }],
        },
    });
    Resource {
        id,
        body,
        operation: None,
        ..endpoint.clone()
    }
}

/// Adds what Azure adds to a connection. Its state survives updates; a connection is known by its name.
fn complete(scene: &Scene<'_>, connection: &mut Value, before: Option<&Value>, initial: &Value) {
    let name = json::text(connection, &["name"])
        .unwrap_or_default()
        .to_owned();
    let old = before
        .and_then(Value::as_array)
        .and_then(|list| list.iter().find(|old| is_named(old, &name)));
    let state = old
        .and_then(|old| json::at(old, &STATE))
        .cloned()
        .unwrap_or_else(|| initial.clone());
    // The state in a request is the owner's wish at most; Azure keeps its own.
    json::set(connection, &STATE, state);
    json::set(
        connection,
        &["id"],
        json!(format!("{}/{AUTOMATIC}/{name}", scene.id)),
    );
    json::set(
        connection,
        &["type"],
        json!(format!("{PRIVATE_ENDPOINT}/{AUTOMATIC}")),
    );
    json::set(
        connection,
        &["properties", "provisioningState"],
        json!("Succeeded"),
    );
}

fn is_named(connection: &Value, name: &str) -> bool {
    json::text(connection, &["name"]).is_some_and(|found| found.eq_ignore_ascii_case(name))
}

/// A decision about the connections of one private endpoint, as the owner of the service at the other end
/// makes it.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ConnectionDecision {
    /// Id of the private endpoint, or its name where that is unique.
    pub endpoint: String,
    /// Name of one connection; without it, every connection.
    pub connection: Option<String>,
    /// `Approved`, `Rejected`, `Disconnected` or `Pending`.
    pub status: String,
    /// Text that the decision comes with.
    pub description: Option<String>,
}

/// Applies a decision to a private endpoint's body; returns how many connections it changed.
pub fn decide(body: &mut Value, decision: &ConnectionDecision) -> usize {
    let mut changed = 0;
    let Some(properties) = body.get_mut("properties") else {
        return 0;
    };
    for list in [AUTOMATIC, MANUAL] {
        let Some(Value::Array(connections)) = properties.get_mut(list) else {
            continue;
        };
        for connection in connections {
            let wanted = decision
                .connection
                .as_ref()
                .is_none_or(|name| is_named(connection, name));
            if wanted {
                let state = json!({
                    "status": decision.status,
                    "description": decision.description.clone().unwrap_or_default(),
                    "actionsRequired": "None",
                });
                json::set(connection, &STATE, state);
                changed += 1;
            }
        }
    }
    changed
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_decision_reaches_the_named_connection_only() {
        let mut body = json!({"properties": {MANUAL: [{"name": "a"}, {"name": "b"}]}});
        let decision = ConnectionDecision {
            endpoint: String::new(),
            connection: Some("B".into()),
            status: "Approved".into(),
            description: Some("welcome".into()),
        };
        assert_eq!(decide(&mut body, &decision), 1);
        let list = &body["properties"][MANUAL];
        assert_eq!(list[0], json!({"name": "a"}));
        assert_eq!(
            json::text(
                &list[1],
                &["properties", "privateLinkServiceConnectionState", "status"]
            ),
            Some("Approved")
        );
    }
}
