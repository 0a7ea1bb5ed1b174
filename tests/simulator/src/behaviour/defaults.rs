//! Values that providers fill in where a request leaves them out.
//!
//! A row applies only where the api-version of the request has the place in its status.
//!
//! Source: what resources show in recordings and was not sent: `containerservice-v1api20240901`, `containerinstance-v1api`,
//! `cache-v20250701`, `containerregistry-v1api20230701`, `keyvault-v1api20230701`, `kusto-v1api20240413`,
//! `managedidentity-v1api20230131`, `network-v1api20201101`, `network-v1api20220701`, `storage-v1api20230101`; ports of a
//! Redis cache of https://learn.microsoft.com/azure/azure-cache-for-redis/cache-configure.

use serde_json::Value;

use super::{Behaviour, Scene};
use crate::json;
use crate::schema::has_status_path;

/// ARM type, place in the body, value as JSON.
type Row = (&'static str, &'static [&'static str], &'static str);

const AGENT_POOL: &str = "Microsoft.ContainerService/managedClusters/agentPools";
const CONTAINER_GROUP: &str = "Microsoft.ContainerInstance/containerGroups";
const KUBERNETES: &str = "Microsoft.ContainerService/managedClusters";
const REDIS: &str = "Microsoft.Cache/redis";
const REDIS_ENTERPRISE: &str = "Microsoft.Cache/redisEnterprise";
const REDIS_DATABASE: &str = "Microsoft.Cache/redisEnterprise/databases";
const REGISTRY: &str = "Microsoft.ContainerRegistry/registries";
const VAULT: &str = "Microsoft.KeyVault/vaults";
const CLUSTER: &str = "Microsoft.Kusto/clusters";
const DATABASE: &str = "Microsoft.Kusto/clusters/databases";
const CONNECTION: &str = "Microsoft.Kusto/clusters/databases/dataConnections";
const IDENTITY: &str = "Microsoft.ManagedIdentity/userAssignedIdentities";
const RULE: &str = "Microsoft.Network/networkSecurityGroups/securityRules";
const ENDPOINT: &str = "Microsoft.Network/privateEndpoints";
const LINK_SERVICE: &str = "Microsoft.Network/privateLinkServices";
const ADDRESS: &str = "Microsoft.Network/publicIPAddresses";
const NETWORK: &str = "Microsoft.Network/virtualNetworks";
const SUBNET: &str = "Microsoft.Network/virtualNetworks/subnets";
const ACCOUNT: &str = "Microsoft.Storage/storageAccounts";
const BLOBS: &str = "Microsoft.Storage/storageAccounts/blobServices";
const CONTAINER: &str = "Microsoft.Storage/storageAccounts/blobServices/containers";
const FILES: &str = "Microsoft.Storage/storageAccounts/fileServices";
const QUEUES: &str = "Microsoft.Storage/storageAccounts/queueServices";
const TABLES: &str = "Microsoft.Storage/storageAccounts/tableServices";

#[rustfmt::skip]
const ROWS: &[Row] = &[
    (AGENT_POOL, &["properties", "kubeletDiskType"], r#""OS""#),
    (AGENT_POOL, &["properties", "maxPods"], "250"),
    (AGENT_POOL, &["properties", "osDiskSizeGB"], "128"),
    (AGENT_POOL, &["properties", "osDiskType"], r#""Managed""#),
    (AGENT_POOL, &["properties", "powerState"], r#"{"code": "Running"}"#),
    (AGENT_POOL, &["properties", "type"], r#""VirtualMachineScaleSets""#),
    (CONTAINER_GROUP, &["properties", "instanceView"], r#"{"events": [], "state": "Running"}"#),
    (CONTAINER_GROUP, &["properties", "sku"], r#""Standard""#),
    (KUBERNETES, &["properties", "enableRBAC"], "true"),
    (KUBERNETES, &["properties", "kubernetesVersion"], r#""1.33""#),
    (KUBERNETES, &["properties", "maxAgentPools"], "100"),
    (KUBERNETES, &["properties", "powerState"], r#"{"code": "Running"}"#),
    (KUBERNETES, &["properties", "supportPlan"], r#""KubernetesOfficial""#),
    (REDIS, &["properties", "port"], "6379"),
    (REDIS, &["properties", "sslPort"], "6380"),
    (REDIS_ENTERPRISE, &["properties", "privateEndpointConnections"], "[]"),
    (REDIS_DATABASE, &["properties", "deferUpgrade"], r#""NotDeferred""#),
    (REDIS_DATABASE, &["properties", "port"], "10000"),
    (REGISTRY, &["properties", "adminUserEnabled"], "false"),
    (REGISTRY, &["properties", "anonymousPullEnabled"], "false"),
    (REGISTRY, &["properties", "dataEndpointEnabled"], "false"),
    (REGISTRY, &["properties", "dataEndpointHostNames"], "[]"),
    (REGISTRY, &["properties", "networkRuleBypassOptions"], r#""AzureServices""#),
    (REGISTRY, &["properties", "privateEndpointConnections"], "[]"),
    (VAULT, &["tags"], "{}"),
    (VAULT, &["properties", "enabledForDeployment"], "false"),
    (VAULT, &["properties", "enableSoftDelete"], "true"),
    (VAULT, &["properties", "softDeleteRetentionInDays"], "90"),
    (VAULT, &["properties", "publicNetworkAccess"], r#""Enabled""#),
    (CLUSTER, &["tags"], "{}"),
    (CLUSTER, &["properties", "stateReason"], r#""""#),
    (CLUSTER, &["properties", "trustedExternalTenants"], r#"[{"value": "*"}]"#),
    (CLUSTER, &["properties", "enableDiskEncryption"], "false"),
    (CLUSTER, &["properties", "enableStreamingIngest"], "false"),
    (CLUSTER, &["properties", "enableDoubleEncryption"], "false"),
    (CLUSTER, &["properties", "enableAutoStop"], "true"),
    (CLUSTER, &["properties", "engineType"], r#""V3""#),
    (CLUSTER, &["properties", "acceptedAudiences"], "[]"),
    (CLUSTER, &["properties", "allowedFqdnList"], "[]"),
    (CLUSTER, &["properties", "allowedIpRangeList"], "[]"),
    (CLUSTER, &["properties", "privateEndpointConnections"], "[]"),
    (CLUSTER, &["properties", "restrictOutboundNetworkAccess"], r#""Disabled""#),
    (CLUSTER, &["properties", "publicNetworkAccess"], r#""Enabled""#),
    (CLUSTER, &["properties", "publicIPType"], r#""IPv4""#),
    (DATABASE, &["properties", "statistics"], r#"{"size": 0.0}"#),
    (DATABASE, &["properties", "isFollowed"], "false"),
    (CONNECTION, &["properties", "compression"], r#""None""#),
    (CONNECTION, &["properties", "databaseRouting"], r#""Single""#),
    (CONNECTION, &["properties", "eventSystemProperties"], "[]"),
    (IDENTITY, &["tags"], "{}"),
    (RULE, &["properties", "sourcePortRanges"], "[]"),
    (RULE, &["properties", "destinationPortRanges"], "[]"),
    (RULE, &["properties", "sourceAddressPrefixes"], "[]"),
    (RULE, &["properties", "destinationAddressPrefixes"], "[]"),
    (ENDPOINT, &["properties", "customDnsConfigs"], "[]"),
    (ENDPOINT, &["properties", "customNetworkInterfaceName"], r#""""#),
    (ENDPOINT, &["properties", "ipConfigurations"], "[]"),
    (LINK_SERVICE, &["properties", "fqdns"], "[]"),
    (LINK_SERVICE, &["properties", "enableProxyProtocol"], "false"),
    (LINK_SERVICE, &["properties", "privateEndpointConnections"], "[]"),
    (ADDRESS, &["sku", "tier"], r#""Regional""#),
    (ADDRESS, &["properties", "publicIPAllocationMethod"], r#""Dynamic""#),
    (ADDRESS, &["properties", "publicIPAddressVersion"], r#""IPv4""#),
    (ADDRESS, &["properties", "idleTimeoutInMinutes"], "4"),
    (ADDRESS, &["properties", "ipTags"], "[]"),
    (ADDRESS, &["properties", "ddosSettings"], r#"{"protectionMode": "VirtualNetworkInherited"}"#),
    (NETWORK, &["properties", "virtualNetworkPeerings"], "[]"),
    (NETWORK, &["properties", "enableDdosProtection"], "false"),
    (NETWORK, &["properties", "privateEndpointVNetPolicies"], r#""Disabled""#),
    (SUBNET, &["properties", "delegations"], "[]"),
    (SUBNET, &["properties", "privateEndpointNetworkPolicies"], r#""Disabled""#),
    (SUBNET, &["properties", "privateLinkServiceNetworkPolicies"], r#""Enabled""#),
    (ACCOUNT, &["tags"], "{}"),
    (ACCOUNT, &["properties", "supportsHttpsTrafficOnly"], "true"),
    (ACCOUNT, &["properties", "allowBlobPublicAccess"], "false"),
    (ACCOUNT, &["properties", "allowCrossTenantReplication"], "false"),
    (ACCOUNT, &["properties", "minimumTlsVersion"], r#""TLS1_2""#),
    (ACCOUNT, &["properties", "privateEndpointConnections"], "[]"),
    (
        ACCOUNT,
        &["properties", "networkAcls"],
        r#"{"bypass": "AzureServices", "virtualNetworkRules": [], "ipRules": [], "defaultAction": "Allow"}"#,
    ),
    (BLOBS, &["properties", "cors"], r#"{"corsRules": []}"#),
    (BLOBS, &["properties", "deleteRetentionPolicy"], r#"{"allowPermanentDelete": false, "enabled": false}"#),
    (CONTAINER, &["properties", "publicAccess"], r#""None""#),
    (CONTAINER, &["properties", "defaultEncryptionScope"], r#""$account-encryption-key""#),
    (CONTAINER, &["properties", "denyEncryptionScopeOverride"], "false"),
    (CONTAINER, &["properties", "leaseState"], r#""Available""#),
    (CONTAINER, &["properties", "leaseStatus"], r#""Unlocked""#),
    (FILES, &["properties", "cors"], r#"{"corsRules": []}"#),
    (FILES, &["properties", "shareDeleteRetentionPolicy"], r#"{"enabled": true, "days": 7}"#),
    (QUEUES, &["properties", "cors"], r#"{"corsRules": []}"#),
    (TABLES, &["properties", "cors"], r#"{"corsRules": []}"#),
];

/// Fills in what a request leaves out.
#[derive(Debug)]
pub struct Defaults;

impl Behaviour for Defaults {
    fn applies_to(&self, arm_type: &str) -> bool {
        ROWS.iter()
            .any(|(name, _, _)| name.eq_ignore_ascii_case(arm_type))
    }

    fn stored(&self, scene: &Scene<'_>, _previous: Option<&Value>, body: &mut Value) {
        let arm_type = scene.id.arm_type();
        for (name, path, text) in ROWS {
            if name.eq_ignore_ascii_case(&arm_type)
                && has_status_path(scene.version, path)
                && let Ok(value) = serde_json::from_str(text)
            {
                json::set_default(body, path, value);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_is_json_and_stands_once() {
        let mut seen = Vec::new();
        for (name, path, text) in ROWS {
            assert!(
                serde_json::from_str::<Value>(text).is_ok(),
                "{name} {path:?}: {text}"
            );
            assert!(
                !seen.contains(&(name, path)),
                "{name} {path:?} stands twice"
            );
            seen.push((name, path));
        }
    }
}
