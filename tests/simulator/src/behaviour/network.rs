//! Networking: states while working, resource GUIDs, addresses of public IPs, servers and names of zones, profiles and
//! private links.
//!
//! Source: recordings `network-v1api20201101`, `network-v1api20180501` for zones, `network-v1api20220401` for profiles and
//! `network-v20250301` for private links.

use serde_json::{Value, json};

use super::{Behaviour, Scene, provisioning};
use crate::json;
use crate::operation::{OperationRule, Style};
use crate::schema::has_status_path;
use crate::store::{stable_bytes, stable_uuid};

/// Everything of `Microsoft.Network`.
#[derive(Debug)]
pub struct Network;

const GUID: [&str; 2] = ["properties", "resourceGuid"];

impl Behaviour for Network {
    fn applies_to(&self, arm_type: &str) -> bool {
        arm_type
            .to_ascii_lowercase()
            .starts_with("microsoft.network/")
    }

    fn stored(&self, scene: &Scene<'_>, _previous: Option<&Value>, body: &mut Value) {
        // The provider says Updating for new resources too.
        if json::text(body, &provisioning::PATH) == Some("Creating") {
            json::set(body, &provisioning::PATH, json!("Updating"));
        }
        if has_status_path(scene.version, &GUID) {
            let guid = stable_uuid(&format!("{}#guid", scene.id.key()));
            json::set_default(body, &GUID, json!(guid));
        }
    }

    fn operations(&self) -> OperationRule {
        OperationRule {
            delete: Some(Style::Both),
            ..OperationRule::default()
        }
    }
}

/// `Microsoft.Network/publicIPAddresses`.
#[derive(Debug)]
pub struct PublicIpAddress;

impl Behaviour for PublicIpAddress {
    fn applies_to(&self, arm_type: &str) -> bool {
        arm_type.eq_ignore_ascii_case("Microsoft.Network/publicIPAddresses")
    }

    fn stored(&self, scene: &Scene<'_>, _previous: Option<&Value>, body: &mut Value) {
        if json::text(body, &["properties", "publicIPAllocationMethod"]) == Some("Static") {
            // From 203.0.113.0/24, which is reserved for documentation (RFC 5737).
            let last = stable_bytes(&scene.id.key())[0];
            json::set_default(
                body,
                &["properties", "ipAddress"],
                json!(format!("203.0.113.{last}")),
            );
        }
    }
}

/// `Microsoft.Network/dnsZones`.
#[derive(Debug)]
pub struct DnsZone;

impl Behaviour for DnsZone {
    fn applies_to(&self, arm_type: &str) -> bool {
        arm_type.eq_ignore_ascii_case("Microsoft.Network/dnsZones")
    }

    fn stored(&self, scene: &Scene<'_>, _previous: Option<&Value>, body: &mut Value) {
        let pool = stable_bytes(&scene.id.key())[0] % 10;
        let servers: Vec<String> = ["com", "net", "org", "info"]
            .iter()
            .zip(1..)
            .map(|(domain, number)| format!("ns{number}-0{pool}.azure-dns.{domain}."))
            .collect();
        json::set_default(body, &["properties", "nameServers"], json!(servers));
        json::set_default(body, &["properties", "zoneType"], json!("Public"));
    }
}

/// `Microsoft.Network/trafficManagerProfiles`.
#[derive(Debug)]
pub struct TrafficManagerProfile;

impl Behaviour for TrafficManagerProfile {
    fn applies_to(&self, arm_type: &str) -> bool {
        arm_type.eq_ignore_ascii_case("Microsoft.Network/trafficManagerProfiles")
    }

    fn stored(&self, _scene: &Scene<'_>, _previous: Option<&Value>, body: &mut Value) {
        let name = json::text(body, &["properties", "dnsConfig", "relativeName"]);
        if let Some(name) = name.map(|name| format!("{name}.trafficmanager.net")) {
            json::set(body, &["properties", "dnsConfig", "fqdn"], json!(name));
        }
    }
}

/// `Microsoft.Network/privateLinkServices`.
#[derive(Debug)]
pub struct PrivateLinkService;

impl Behaviour for PrivateLinkService {
    fn applies_to(&self, arm_type: &str) -> bool {
        arm_type.eq_ignore_ascii_case("Microsoft.Network/privateLinkServices")
    }

    fn stored(&self, scene: &Scene<'_>, _previous: Option<&Value>, body: &mut Value) {
        let location = json::text(body, &["location"]).unwrap_or_default();
        let guid = stable_uuid(&format!("{}#alias", scene.id.key()));
        let alias = format!(
            "{}.{guid}.{location}.azure.privatelinkservice",
            scene.id.name()
        );
        json::set_default(body, &["properties", "alias"], json!(alias));
    }
}
