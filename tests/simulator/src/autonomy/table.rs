//! Which value of which type moves, while what, and how. Found in Terraform's provider for Azure (facts alone) and in
//! Azure's documents; written down once more where an operator has it too, so that the one can be tested by the other.

use crate::acts::Act;

/// Something that must hold; `[]` in its path is the same item as in the row's.
#[derive(Clone, Copy, Debug)]
pub enum When {
    /// It is there, and neither false, zero nor empty.
    On(&'static str),
    /// It is one of these words.
    Is(&'static str, &'static [&'static str]),
    /// An autoscale setting has the resource as its target.
    Scaled,
}

/// An end of a range.
#[derive(Clone, Copy, Debug)]
pub enum Bound {
    /// The number at a path.
    At(&'static str),
    /// A number.
    Fixed(i64),
    /// That of the autoscale setting.
    Scaled,
}

/// How a value moves.
#[derive(Clone, Copy, Debug)]
pub enum How {
    /// To a number between two others.
    Within(Bound, Bound),
    /// To a larger number.
    Upward(Bound),
    /// To twice as much.
    Larger,
    /// To the next version.
    Later,
    /// To another text behind the last slash.
    Tail,
    /// To another text of the same stem.
    Anew,
    /// With the value at another path.
    Swapped(&'static str),
    /// The values of a member among the items of the list.
    Turned(&'static str),
    /// To another word.
    Becomes(&'static [(&'static str, &'static str)]),
    /// A list gets an item; `{n}` is a digit.
    Item(&'static str),
    /// A map gets the first of these entries that it does not have.
    Entry(&'static str),
}

/// One value that moves.
#[derive(Clone, Copy, Debug)]
pub struct Row {
    /// Type.
    pub arm_type: &'static str,
    /// What moves it.
    pub act: Act,
    /// Where.
    pub path: &'static str,
    /// While all of these hold.
    pub when: &'static [When],
    /// How.
    pub how: How,
}

impl Row {
    /// The path that moves, that with which it changes places, and those of conditions and bounds.
    pub fn paths(&self) -> impl Iterator<Item = &'static str> {
        let of_bound = |bound: Bound| match bound {
            Bound::At(path) => Some(path),
            Bound::Fixed(_) | Bound::Scaled => None,
        };
        let of_how = match self.how {
            How::Within(least, most) => [of_bound(least), of_bound(most)],
            How::Upward(most) => [of_bound(most), None],
            How::Swapped(other) => [Some(other), None],
            _ => [None, None],
        };
        let of_when = self.when.iter().filter_map(|when| match when {
            When::On(path) | When::Is(path, _) => Some(*path),
            When::Scaled => None,
        });
        let own = std::iter::once(self.path);
        own.chain(of_how.into_iter().flatten()).chain(of_when)
    }

    /// For people.
    pub fn in_words(&self) -> String {
        let terms: Vec<String> = self.when.iter().map(|when| when.in_words()).collect();
        match terms.is_empty() {
            true => format!("{}{}", self.path, self.how.in_words()),
            false => format!(
                "{}{} while {}",
                self.path,
                self.how.in_words(),
                terms.join(" and ")
            ),
        }
    }
}

impl When {
    fn in_words(&self) -> String {
        match self {
            Self::On(path) => format!("{path} is on"),
            Self::Is(path, words) => format!("{path} is {}", words.join(" or ")),
            Self::Scaled => "an autoscale setting has it as its target".to_owned(),
        }
    }
}

impl Bound {
    fn in_words(self) -> String {
        match self {
            Self::At(path) => path.to_owned(),
            Self::Fixed(number) => number.to_string(),
            Self::Scaled => "the setting's bound".to_owned(),
        }
    }
}

impl How {
    fn in_words(&self) -> String {
        match self {
            Self::Within(least, most) => {
                format!(" from {} to {}", least.in_words(), most.in_words())
            }
            Self::Upward(most) => format!(" up to {}", most.in_words()),
            Self::Swapped(other) => format!(" with {other}"),
            _ => String::new(),
        }
    }
}

const fn row(
    arm_type: &'static str,
    act: Act,
    path: &'static str,
    when: &'static [When],
    how: How,
) -> Row {
    Row {
        arm_type,
        act,
        path,
        when,
        how,
    }
}

use Act::{AddItem, Autoscale, Failover, Grow, Inflate, Rotate, Upgrade};
use Bound::{At, Fixed};
use How::{Anew, Becomes, Entry, Item, Larger, Later, Swapped, Tail, Turned, Upward, Within};
use When::{Is, On};

const CHANNELS: &[&str] = &["patch", "stable", "rapid"];
const BY_SETTING: How = Within(Bound::Scaled, Bound::Scaled);
const TARGETED: &[When] = &[When::Scaled];
const LOST_REGION: &[(&str, &str)] = &[
    ("Standard_GRS", "Standard_LRS"),
    ("Standard_RAGRS", "Standard_LRS"),
    ("Standard_GZRS", "Standard_ZRS"),
    ("Standard_RAGZRS", "Standard_ZRS"),
];
const ELASTIC: &[When] = &[On("properties.elasticScaleEnabled")];
const ZONES: &[When] = &[Is("properties.highAvailability.mode", &["ZoneRedundant"])];
const GROWS: &[When] = &[Is("properties.storage.autoGrow", &["Enabled"])];
const MANAGED: &str = "Microsoft.ContainerService/managedClusters";
const POOL: &str = "Microsoft.ContainerService/managedClusters/agentPools";
const MACHINES: &str = "Microsoft.Compute/virtualMachineScaleSets";
const MACHINE: &str = "Microsoft.Compute/virtualMachines";
/// One that somebody assigns to a machine. It has neither a name nor an id.
const GALLERY_APPLICATION: &str = r#"{"order": 9, "packageReferenceId": "/subscriptions/00000000-0000-0000-0000-000000000000/resourceGroups/others/providers/Microsoft.Compute/galleries/others/applications/other{n}/versions/1.0.0"}"#;
const MYSQL: &str = "Microsoft.DBforMySQL/flexibleServers";
const NETWORK: &str = "Microsoft.Network/virtualNetworks";
const SUBNET: &str = "Microsoft.Network/virtualNetworks/subnets";
const ALLOTTED: &[When] = &[On("properties.ipamPoolPrefixAllocations")];
const POSTGRES: &str = "Microsoft.DBforPostgreSQL/flexibleServers";

/// The table.
#[rustfmt::skip]
pub const ROWS: &[Row] = &[
    row("Microsoft.ApiManagement/service", Autoscale, "sku.capacity", TARGETED, BY_SETTING),
    row("Microsoft.ServiceBus/namespaces", Autoscale, "sku.capacity", TARGETED, BY_SETTING),
    row("Microsoft.SignalRService/signalR", Autoscale, "sku.capacity", TARGETED, BY_SETTING),
    row("Microsoft.Web/serverfarms", Autoscale, "sku.capacity", TARGETED, BY_SETTING),
    row("Microsoft.Web/serverfarms", Autoscale, "sku.capacity", ELASTIC, Within(Fixed(1), At("properties.maximumElasticWorkerCount"))),
    row(MACHINES, Autoscale, "sku.capacity", TARGETED, BY_SETTING),
    row(MACHINES, Autoscale, "sku.capacity", &[On("tags.cluster-autoscaler-enabled")], Within(Fixed(1), Fixed(20))),
    row(MANAGED, Autoscale, "properties.agentPoolProfiles[].count", &[On("properties.agentPoolProfiles[].enableAutoScaling")],
        Within(At("properties.agentPoolProfiles[].minCount"), At("properties.agentPoolProfiles[].maxCount"))),
    row(POOL, Autoscale, "properties.count", &[On("properties.enableAutoScaling")],
        Within(At("properties.minCount"), At("properties.maxCount"))),
    row("Microsoft.Kusto/clusters", Autoscale, "sku.capacity", &[On("properties.optimizedAutoscale.isEnabled")],
        Within(At("properties.optimizedAutoscale.minimum"), At("properties.optimizedAutoscale.maximum"))),
    row("Microsoft.Synapse/workspaces/bigDataPools", Autoscale, "properties.nodeCount", &[On("properties.autoScale.enabled")],
        Within(At("properties.autoScale.minNodeCount"), At("properties.autoScale.maxNodeCount"))),
    row(MYSQL, Autoscale, "properties.storage.iops", &[Is("properties.storage.autoIoScaling", &["Enabled"])],
        Within(Fixed(360), Fixed(48000))),
    row("Microsoft.EventHub/namespaces", Inflate, "sku.capacity", &[On("properties.isAutoInflateEnabled")],
        Upward(At("properties.maximumThroughputUnits"))),
    row(MYSQL, Failover, "properties.availabilityZone", ZONES, Swapped("properties.highAvailability.standbyAvailabilityZone")),
    row(POSTGRES, Failover, "properties.availabilityZone", ZONES, Swapped("properties.highAvailability.standbyAvailabilityZone")),
    row(POSTGRES, Failover, "properties.replicationRole", &[], Becomes(&[("AsyncReplica", "None"), ("GeoAsyncReplica", "None")])),
    row(MYSQL, Failover, "properties.replicationRole", &[], Becomes(&[("Replica", "None")])),
    row("Microsoft.DocumentDB/databaseAccounts", Failover, "properties.locations", &[], Turned("failoverPriority")),
    row("Microsoft.Storage/storageAccounts", Failover, "sku.name", &[], Becomes(LOST_REGION)),
    row(MYSQL, Grow, "properties.storage.storageSizeGB", GROWS, Larger),
    row(POSTGRES, Grow, "properties.storage.storageSizeGB", GROWS, Larger),
    row("Microsoft.Sql/servers/databases", Grow, "properties.maxSizeBytes", &[On("properties.secondaryType")], Larger),
    row("Microsoft.Compute/diskEncryptionSets", Rotate, "properties.activeKey.keyUrl",
        &[On("properties.rotationToLatestKeyVersionEnabled")], Tail),
    row("Microsoft.Cdn/profiles/secrets", Rotate, "properties.parameters.secretVersion",
        &[On("properties.parameters.useLatestVersion")], Anew),
    row("Microsoft.DataFactory/factories", Rotate, "properties.repoConfiguration.lastCommitId",
        &[On("properties.repoConfiguration.type")], Anew),
    row("Microsoft.Synapse/workspaces", Rotate, "properties.workspaceRepositoryConfiguration.lastCommitId",
        &[On("properties.workspaceRepositoryConfiguration.type")], Anew),
    row(MANAGED, Rotate, "properties.agentPoolProfiles[].nodeImageVersion", &[], Anew),
    row(POOL, Rotate, "properties.nodeImageVersion", &[], Anew),
    row(MANAGED, Upgrade, "properties.kubernetesVersion", &[Is("properties.autoUpgradeProfile.upgradeChannel", CHANNELS)], Later),
    row(MANAGED, Upgrade, "properties.agentPoolProfiles[].orchestratorVersion",
        &[Is("properties.autoUpgradeProfile.upgradeChannel", CHANNELS)], Later),
    row("Microsoft.Compute/virtualMachines/extensions", Upgrade, "properties.typeHandlerVersion",
        &[On("properties.enableAutomaticUpgrade")], Later),
    row("Microsoft.Compute/virtualMachineScaleSets/extensions", Upgrade, "properties.typeHandlerVersion",
        &[On("properties.enableAutomaticUpgrade")], Later),
    row(MACHINES, Upgrade, "properties.virtualMachineProfile.extensionProfile.extensions[].properties.typeHandlerVersion",
        &[On("properties.virtualMachineProfile.extensionProfile.extensions[].properties.enableAutomaticUpgrade")], Later),
    row("Microsoft.KubernetesConfiguration/extensions", Upgrade, "properties.version",
        &[On("properties.autoUpgradeMinorVersion")], Later),
    row("Microsoft.RedHatOpenShift/openShiftClusters", Upgrade, "properties.clusterProfile.version", &[], Later),
    row(MANAGED, AddItem, "properties.httpProxyConfig.noProxy[]", &[], Item(r#""10.{n}.0.0/16""#)),
    row(MANAGED, AddItem, "properties.agentPoolProfiles[]", &[On("properties.agentPoolProfiles")],
        Item(r#"{"name": "other{n}", "count": 1, "mode": "User"}"#)),
    row(MANAGED, AddItem, "properties.agentPoolProfiles[].nodeLabels", &[],
        Entry(r#"{"kubernetes.azure.com/scalesetpriority": "spot"}"#)),
    row(POOL, AddItem, "properties.nodeLabels", &[], Entry(r#"{"kubernetes.azure.com/scalesetpriority": "spot"}"#)),
    row(POOL, AddItem, "properties.nodeTaints[]", &[], Item(r#""kubernetes.azure.com/scalesetpriority=spot:NoSchedule""#)),
    row(MACHINE, AddItem, "properties.storageProfile.dataDisks[]", &[],
        Item(r#"{"name": "pvc-{n}", "lun": 4{n}, "createOption": "Attach"}"#)),
    row(MACHINE, AddItem, "properties.applicationProfile.galleryApplications[]", &[], Item(GALLERY_APPLICATION)),
    row("Microsoft.Network/loadBalancers", AddItem, "properties.backendAddressPools[].properties.loadBalancerBackendAddresses[]", &[],
        Item(r#"{"name": "other{n}", "properties": {"ipAddress": "10.9.0.{n}"}}"#)),
    row("Microsoft.MachineLearningServices/workspaces", AddItem, "properties.managedNetwork.outboundRules", &[],
        Entry(r#"{"other": {"type": "FQDN", "destination": "other.example.com"}}"#)),
    row("Microsoft.Web/sites", AddItem, "properties.hostNameSslStates[]", &[],
        Item(r#"{"name": "other{n}.example.com", "hostType": "Standard", "sslState": "Disabled"}"#)),
    row("Microsoft.App/managedEnvironments", AddItem, "properties.workloadProfiles[]", &[On("properties.workloadProfiles")],
        Item(r#"{"name": "Consumption", "workloadProfileType": "Consumption"}"#)),
    row("Microsoft.DocumentDB/databaseAccounts", AddItem, "properties.capabilities[]", &[], Item(r#"{"name": "EnableOfSupport{n}"}"#)),
    row("Microsoft.DocumentDB/databaseAccounts/sqlDatabases/containers", AddItem, "properties.resource.indexingPolicy.excludedPaths[]",
        &[On("properties.resource.indexingPolicy.excludedPaths")], Item(r#"{"path": "/\"_etag\"/?"}"#)),
    row(NETWORK, AddItem, "properties.addressSpace.addressPrefixes[]", &[On("properties.addressSpace.ipamPoolPrefixAllocations")],
        Item(r#""10.{n}.0.0/16""#)),
    row(SUBNET, AddItem, "properties.addressPrefixes[]", ALLOTTED, Item(r#""10.{n}.1.0/24""#)),
    row(SUBNET, Rotate, "properties.addressPrefix", ALLOTTED, Anew),
    row("Microsoft.Network/loadBalancers", Rotate, "properties.frontendIPConfigurations[].properties.privateIPAddress",
        &[Is("properties.frontendIPConfigurations[].properties.privateIPAllocationMethod", &["Dynamic"])], Anew),
    row("Microsoft.Network/networkInterfaces", Rotate, "properties.ipConfigurations[].properties.privateIPAddress",
        &[Is("properties.ipConfigurations[].properties.privateIPAllocationMethod", &["Dynamic"])], Anew),
    row("Microsoft.Insights/workbooks", AddItem, "tags", &[], Entry(r#"{"hidden-title": "of Azure"}"#)),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_is_in_words_and_every_item_is_json() {
        for row in ROWS {
            assert!(row.in_words().starts_with(row.path));
            if let How::Item(text) | How::Entry(text) = row.how {
                let text = text.replace("{n}", "1");
                serde_json::from_str::<serde_json::Value>(&text).expect(row.path);
            }
        }
        for act in Act::ALL {
            assert_eq!(serde_json::to_value(act).unwrap(), act.name());
        }
    }
}
