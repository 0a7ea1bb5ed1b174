//! What networking refuses while something else is missing or at work, in the words that the recordings of network-* have.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test that cannot go on fails"
)]

mod common;

use std::time::Duration;

use armature_simulator::{Answer, OperationRule, Settings};
use common::{Bench, SUBSCRIPTION, code, in_group};
use serde_json::{Value, json};

/// How long operations of the network run.
const OPERATION: i64 = 60;

struct Networks(Bench);

impl Networks {
    /// Azure with the networks `near` and `far`, ready.
    fn new() -> Self {
        let bench = Bench::serving(armature_generated::KINDS, Settings::default());
        let group = format!("{SUBSCRIPTION}/resourceGroups/group?api-version=2020-06-01");
        let made = bench.put(&group, json!({"location": "westus2"}));
        assert_eq!(made.status, 201);
        let long = OperationRule {
            polls: Some(0),
            latency: Some(Duration::from_secs(OPERATION as u64)),
            ..OperationRule::default()
        };
        bench.simulator.set_operation_rule(None, long);
        let networks = Self(bench);
        for name in ["near", "far"] {
            let space = json!({"addressSpace": {"addressPrefixes": ["10.0.0.0/16"]}});
            networks.takes(&format!("virtualNetworks/{name}"), space);
        }
        networks.ends();
        networks
    }

    fn put(&self, path: &str, properties: Value) -> Answer {
        let id = id(path);
        let mut body = json!({"properties": properties});
        if path.split('/').count() == 2 {
            body["location"] = json!("westus2");
        }
        self.0.put(&format!("{id}?api-version=2025-03-01"), body)
    }

    fn takes(&self, path: &str, properties: Value) {
        let answer = self.put(path, properties);
        assert_eq!(answer.status, 201, "{path}: {answer:?}");
    }

    /// Status, code, and the first code of the details.
    fn refuses(&self, path: &str, properties: &Value) -> (u16, String, Option<String>, String) {
        let answer = self.put(path, properties.clone());
        let error = answer.body.as_ref().unwrap()["error"].clone();
        let detail = error["details"][0]["code"].as_str().map(str::to_owned);
        let message = match error["details"][0]["message"].as_str() {
            Some(detail) if answer.status == 429 => detail.to_owned(),
            _ => error["message"].to_string(),
        };
        (answer.status, code(&answer).to_owned(), detail, message)
    }

    /// Lets all operations end.
    fn ends(&self) {
        self.0.pass(OPERATION + 1);
        self.0.sign_in_as("tester");
    }
}

fn id(path: &str) -> String {
    in_group(&format!("Microsoft.Network/{path}"))
}

fn prefix(third: u8) -> Value {
    json!({"addressPrefix": format!("10.0.{third}.0/24")})
}

fn interface() -> Value {
    json!({"ipConfigurations": [{"name": "one", "properties": {
        "subnet": {"id": id("virtualNetworks/near/subnets/a")},
    }}]})
}

#[test]
fn one_subnet_of_a_network_is_written_at_a_time() {
    let networks = Networks::new();
    networks.takes("virtualNetworks/near/subnets/a", prefix(1));
    let second = "virtualNetworks/near/subnets/b";
    let (status, code, detail, message) = networks.refuses(second, &prefix(2));
    assert_eq!(
        (status, code.as_str(), detail),
        (409, "AnotherOperationInProgress", None)
    );
    assert!(message.contains("/operationStatuses/"), "{message}");
    networks.takes("virtualNetworks/far/subnets/a", prefix(1));
    networks.ends();
    networks.takes(second, prefix(2));
}

#[test]
fn a_subnet_waits_for_a_peering_of_its_network() {
    let networks = Networks::new();
    let far = json!({"remoteVirtualNetwork": {"id": id("virtualNetworks/far")}});
    networks.takes("virtualNetworks/near/virtualNetworkPeerings/to-far", far);
    let subnet = "virtualNetworks/near/subnets/a";
    let answer = networks.put(subnet, prefix(1));
    assert_eq!((answer.status, code(&answer)), (429, "RetryableError"));
    assert_eq!(answer.header("retry-after"), Some("12"));
    let (_, _, detail, _) = networks.refuses(subnet, &prefix(1));
    assert_eq!(
        detail.as_deref(),
        Some("RetryableErrorDueToAnotherOperation")
    );
    networks.ends();
    networks.takes(subnet, prefix(1));
}

#[test]
fn a_peering_waits_for_subnets_of_the_other_network() {
    let networks = Networks::new();
    networks.takes("virtualNetworks/far/subnets/gateway", prefix(1));
    let far = json!({"remoteVirtualNetwork": {"id": id("virtualNetworks/far")}});
    let peering = "virtualNetworks/near/virtualNetworkPeerings/to-far";
    let (status, code, _, message) = networks.refuses(peering, &far);
    assert_eq!(
        (status, code.as_str()),
        (400, "ReferencedResourceNotProvisioned")
    );
    assert!(message.contains("PutSubnetOperation"), "{message}");
    networks.ends();
    networks.takes(peering, far);
}

#[test]
fn an_interface_waits_for_its_subnet_and_for_all_others_of_the_network() {
    let networks = Networks::new();
    let interface_path = "networkInterfaces/card";
    let (status, code, detail, message) = networks.refuses(interface_path, &interface());
    assert_eq!(
        (status, code.as_str(), detail),
        (400, "InvalidResourceReference", None)
    );
    assert!(message.contains("/subnets/a referenced by"), "{message}");
    for subnet in ["a", "b"] {
        networks.takes(&format!("virtualNetworks/near/subnets/{subnet}"), prefix(1));
        let (status, code, detail, message) = networks.refuses(interface_path, &interface());
        assert_eq!((status, code.as_str()), (429, "RetryableError"));
        assert_eq!(detail.as_deref(), Some("ReferencedResourceNotProvisioned"));
        assert!(message.contains("/subnets/a used by"), "{message}");
        networks.ends();
    }
    networks.takes(interface_path, interface());
}

#[test]
fn a_balancer_and_what_stands_before_it_wait_for_each_other() {
    let networks = Networks::new();
    let balancer = json!({
        "frontendIPConfigurations": [{"name": "front", "properties": {
            "publicIPAddress": {"id": id("publicIPAddresses/front")},
        }}],
        "loadBalancingRules": [{"name": "all", "properties": {
            "frontendIPConfiguration": {"id": id("loadBalancers/b/frontendIPConfigurations/front")},
            "protocol": "All", "frontendPort": 0, "backendPort": 0,
        }}],
    });
    let link = json!({
        "ipConfigurations": [],
        "loadBalancerFrontendIpConfigurations": [
            {"id": id("loadBalancers/b/frontendIPConfigurations/front")},
        ],
    });
    let missing = |path: &str, properties: &Value, name: &str| {
        let (status, code, detail, message) = networks.refuses(path, properties);
        assert_eq!((status, code.as_str()), (400, "InvalidResourceReference"));
        assert_eq!(detail.as_deref(), Some("NotFound"));
        assert!(message.contains(name), "{message}");
    };
    let early = |path: &str, properties: &Value, operation: &str| {
        let (status, code, _, message) = networks.refuses(path, properties);
        assert_eq!((status, code.as_str()), (429, "RetryableError"));
        assert!(message.contains(operation), "{message}");
    };
    missing(
        "loadBalancers/b",
        &balancer,
        "GROUP/providers/Microsoft.Network/publicIPAddresses/FRONT",
    );
    missing(
        "privateLinkServices/l",
        &link,
        "GROUP/providers/Microsoft.Network/loadBalancers/B",
    );
    let address = json!({"publicIPAllocationMethod": "Static"});
    networks.takes("publicIPAddresses/front", address);
    early("loadBalancers/b", &balancer, "PutPublicIpAddressOperation");
    networks.ends();
    networks.takes("loadBalancers/b", balancer);
    early("privateLinkServices/l", &link, "PutLoadBalancerOperation");
    networks.ends();
    networks.takes("privateLinkServices/l", link);
}
