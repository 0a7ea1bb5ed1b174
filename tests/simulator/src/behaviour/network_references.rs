//! What networking refuses while something else is missing, still being made, or at work in the same virtual network.
//!
//! Source: recordings `network-v1api20201101`, `network-v1api20220701`, `network-v1api20240301`, `network-v20250301` and
//! `compute-v1api`. They show balancers that are taken while their subnet is at work, so what refers to what is no more than
//! they refuse; and no peering to a network that is not there.

use serde_json::{Value, json};

use super::{Behaviour, Scene, provisioning};
use crate::error::ArmError;
use crate::id::ResourceId;
use crate::json;
use crate::store::{Resource, Store};

const ADDRESS: &str = "Microsoft.Network/publicIPAddresses";
const BALANCER: &str = "Microsoft.Network/loadBalancers";
const NETWORK: &str = "Microsoft.Network/virtualNetworks";
const SUBNET: &str = "Microsoft.Network/virtualNetworks/subnets";
const PEERING: &str = "Microsoft.Network/virtualNetworks/virtualNetworkPeerings";

/// Types that are refused as long as what they refer to, or to a part of, is not there or not ready; and its type.
const REFERENCES: [(&str, &str); 7] = [
    ("Microsoft.Network/applicationGateways", SUBNET),
    ("Microsoft.Network/azureFirewalls", SUBNET),
    ("Microsoft.Network/natGateways", ADDRESS),
    ("Microsoft.Network/networkInterfaces", SUBNET),
    ("Microsoft.Network/privateLinkServices", BALANCER),
    (BALANCER, ADDRESS),
    (PEERING, NETWORK),
];

/// The operation that makes one of these.
const OPERATIONS: [(&str, &str); 4] = [
    (ADDRESS, "PutPublicIpAddressOperation"),
    (BALANCER, "PutLoadBalancerOperation"),
    (NETWORK, "PutVirtualNetworkOperation"),
    (SUBNET, PUT_SUBNET),
];

const PUT_SUBNET: &str = "PutSubnetOperation";

/// Seconds after which a subnet may be written again that a peering was in the way of.
const AFTER_PEERING: u64 = 12;

/// Whatever refers to other resources of the network.
#[derive(Debug)]
pub struct Referring;

impl Behaviour for Referring {
    fn applies_to(&self, arm_type: &str) -> bool {
        referred_type(arm_type).is_some()
    }

    fn admit(&self, scene: &Scene<'_>, body: &Value) -> Result<(), ArmError> {
        let is_peering = is(scene.id, PEERING);
        let Some(arm_type) = referred_type(&scene.id.arm_type()) else {
            return Ok(());
        };
        let mut ids = Vec::new();
        collect_ids(body, &mut ids);
        let all: Vec<ResourceId> = ids.iter().filter_map(|id| referred(id, arm_type)).collect();
        let missing = all.iter().find(|id| scene.store.get(id).is_none());
        if let Some(id) = missing.filter(|_| !is_peering) {
            return Err(not_found(id, scene.id));
        }
        let busy = all.iter().find_map(|id| {
            let found = scene.store.get(id)?;
            Some((found, at_work(scene.store, found)?))
        });
        let Some((found, operation)) = busy else {
            return Ok(());
        };
        let message = not_provisioned(found, scene.id, operation);
        Err(match is_peering {
            true => ArmError::new(400, "ReferencedResourceNotProvisioned", message),
            false => retryable("ReferencedResourceNotProvisioned", message),
        })
    }
}

/// `Microsoft.Network/virtualNetworks/subnets`.
#[derive(Debug)]
pub struct Subnet;

impl Behaviour for Subnet {
    fn applies_to(&self, arm_type: &str) -> bool {
        arm_type.eq_ignore_ascii_case(SUBNET)
    }

    fn admit(&self, scene: &Scene<'_>, _body: &Value) -> Result<(), ArmError> {
        let Some(network) = scene.id.parent() else {
            return Ok(());
        };
        let peering = working_below(scene.store, &network, PEERING).next();
        let Some(operation) = peering.and_then(|peering| peering.operation.as_ref()) else {
            return Ok(());
        };
        let message = format!(
            "Operation PutVirtualNetworkPeeringOperation ({operation}) is updating resource {network}. The call can be \
             retried in {AFTER_PEERING} seconds."
        );
        Err(ArmError {
            retry_after: Some(AFTER_PEERING),
            ..retryable("RetryableErrorDueToAnotherOperation", message)
        })
    }

    fn waits_for(&self, store: &Store, id: &ResourceId) -> Option<ResourceId> {
        // One subnet of a network at a time.
        let network = id.parent()?;
        let mut others = working_below(store, &network, SUBNET);
        let other = others.find(|other| other.id.key() != id.key())?;
        Some(other.id.clone())
    }
}

fn is(id: &ResourceId, arm_type: &str) -> bool {
    id.arm_type().eq_ignore_ascii_case(arm_type)
}

/// Resources of a type below another one on which an operation runs.
fn working_below<'a>(
    store: &'a Store,
    above: &ResourceId,
    arm_type: &'a str,
) -> impl Iterator<Item = &'a Resource> {
    let below = store.below(above);
    below.filter(move |found| found.operation.is_some() && is(&found.id, arm_type))
}

/// Values of all members `id`.
fn collect_ids<'a>(body: &'a Value, ids: &mut Vec<&'a str>) {
    match body {
        Value::Object(members) => {
            ids.extend(members.get("id").and_then(Value::as_str));
            members.values().for_each(|value| collect_ids(value, ids));
        }
        Value::Array(items) => items.iter().for_each(|item| collect_ids(item, ids)),
        _ => {}
    }
}

/// Type of what resources of a type refer to.
fn referred_type(arm_type: &str) -> Option<&'static str> {
    let mut known = REFERENCES.iter();
    let found = known.find(|(referring, _)| referring.eq_ignore_ascii_case(arm_type));
    found.map(|(_, referred)| *referred)
}

/// The resource of a type that an id is of, or of a part of.
fn referred(id: &str, arm_type: &str) -> Option<ResourceId> {
    let mut at = Some(ResourceId::parse(id)?);
    while let Some(id) = at {
        if is(&id, arm_type) {
            return Some(id);
        }
        at = id.parent();
    }
    None
}

/// The operation because of which a resource is not ready. Writing one subnet holds its network, and so all the others.
fn at_work(store: &Store, resource: &Resource) -> Option<&'static str> {
    let state = json::text(&resource.body, &provisioning::PATH);
    if state.is_some_and(|state| state == "Updating" || state == "Deleting") {
        let mut known = OPERATIONS.iter();
        let own = known.find(|(arm_type, _)| is(&resource.id, arm_type));
        return own.map(|(_, operation)| *operation);
    }
    let network = match () {
        () if is(&resource.id, NETWORK) => resource.id.clone(),
        () if is(&resource.id, SUBNET) => resource.id.parent()?,
        () => return None,
    };
    let mut subnets = working_below(store, &network, SUBNET);
    subnets.next().map(|_| PUT_SUBNET)
}

/// Azure writes group and name of what it does not have in capitals, where that is no part of another resource.
fn not_found(id: &ResourceId, referring: &ResourceId) -> ArmError {
    let is_part = is(id, SUBNET);
    let spelled = match (is_part, id.subscription(), id.resource_group()) {
        (false, Some(subscription), Some(group)) => format!(
            "/subscriptions/{subscription}/resourceGroups/{}/providers/{}/{}",
            group.to_ascii_uppercase(),
            id.arm_type(),
            id.name().to_ascii_uppercase()
        ),
        _ => id.to_string(),
    };
    let message = format!(
        "Resource {spelled} referenced by resource {referring} was not found. Please make sure that the referenced resource \
         exists, and that both resources are in the same region."
    );
    let mut error = ArmError::new(400, "InvalidResourceReference", message);
    if !is_part {
        let message = format!("Resource {spelled} not found.");
        error.details = vec![json!({"code": "NotFound", "message": message})];
    }
    error
}

fn not_provisioned(referred: &Resource, referring: &ResourceId, operation: &str) -> String {
    format!(
        "Cannot proceed with operation because resource {} used by resource {referring} is not in Succeeded state. Resource \
         is in Updating state and the last operation that updated/is updating the resource is {operation}.",
        referred.id
    )
}

/// The refusal for which networking has a status of its own; what it is about stands in the details.
fn retryable(code: &str, message: String) -> ArmError {
    ArmError {
        details: vec![json!({"code": code, "message": message})],
        ..ArmError::new(429, "RetryableError", "A retryable error occurred.")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_belongs_to_what_it_is_a_part_of() {
        let group = "/subscriptions/s/resourceGroups/g/providers/Microsoft.Network";
        let front = "loadBalancers/b/frontendIPConfigurations/f";
        for (id, arm_type, expected) in [
            (front, BALANCER, Some("loadBalancers/b")),
            (front, SUBNET, None),
            (
                "VIRTUALNETWORKS/n/subnets/s",
                SUBNET,
                Some("VIRTUALNETWORKS/n/subnets/s"),
            ),
        ] {
            let found = referred(&format!("{group}/{id}"), arm_type);
            let found = found.map(|id| id.to_string());
            assert_eq!(found, expected.map(|id| format!("{group}/{id}")));
        }
        assert_eq!(referred("no id", SUBNET), None);
    }
}
