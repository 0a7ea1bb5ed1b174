//! Errors of Azure, each with the place where it was seen.

use armature_runtime::azure::CloudError;
use armature_runtime::kind::ErrorClass::{self, Fatal, RetrySlow};

/// Where an error can be read.
#[derive(Clone, Copy, Debug)]
pub enum Seen {
    /// In this recording, with this status; the message is a part of it.
    Recorded(&'static str),
    /// In this document, or in answers of this kind that people have published.
    Told(&'static str),
    /// The code and the words of the message are what Azure Service Operator looks for (ASO behaviour §2.2). Nobody has
    /// written the rest down.
    LookedFor,
}

/// An error that rows of a group are about.
#[derive(Clone, Copy, Debug)]
pub struct Case {
    /// The group.
    pub group: &'static str,
    /// Kinds that get it; all of the group where none is named.
    pub kinds: &'static [&'static str],
    /// Azure's code.
    pub code: &'static str,
    /// HTTP status; `None` for the outcome of an operation.
    pub status: Option<u16>,
    /// Azure's message, or the part of it that tells.
    pub message: &'static str,
    /// What is to become of the object.
    pub class: ErrorClass,
    /// Where it can be read.
    pub seen: Seen,
    /// With this status the rules for all kinds come to the same; the row is for the others.
    pub holds_anyway: bool,
}

impl Seen {
    /// The place in words.
    pub fn place(self) -> String {
        match self {
            Self::Recorded(name) => format!("recording {name}"),
            Self::Told(place) => place.to_owned(),
            Self::LookedFor => "Azure Service Operator, which looks for it".to_owned(),
        }
    }
}

impl Case {
    /// The error as the client reads it.
    pub fn error(&self) -> CloudError {
        CloudError {
            status: self.status,
            code: Some(self.code.to_owned()),
            message: Some(self.message.to_owned()),
            ..CloudError::default()
        }
    }
}

const LATER: Case = Case {
    group: "",
    kinds: &[],
    code: "BadRequest",
    status: Some(400),
    message: "",
    class: RetrySlow,
    seen: Seen::LookedFor,
    holds_anyway: false,
};

const NEVER: Case = Case {
    class: Fatal,
    ..LATER
};

const DEPLOYMENT_ERRORS: Seen = Seen::Told(
    "https://learn.microsoft.com/azure/azure-resource-manager/troubleshooting/common-deployment-errors",
);

/// Every error that a row is for.
pub const CASES: &[Case] = &[
    Case {
        group: "app",
        kinds: &["ContainerApp", "Job"],
        code: "ManagedEnvironmentNotProvisioned",
        message: "has not been provisioned successfully.",
        seen: Seen::Recorded("app-v20240301"),
        ..LATER
    },
    Case {
        group: "cdn",
        kinds: &["AfdCustomDomain"],
        message: "This resource is still associated with a route. Please delete the association with the route first \
                  before deleting this resource",
        seen: Seen::Told(
            "https://registry.terraform.io/providers/hashicorp/azurerm/latest/docs/resources/cdn_frontdoor_custom_domain_association",
        ),
        ..LATER
    },
    Case {
        group: "cdn",
        kinds: &["Route", "Rule"],
        message: "Please make sure that the originGroup is created successfully and at least one enabled origin is \
                  created under the origin group.",
        seen: Seen::Told("https://github.com/hashicorp/terraform-provider-azurerm/issues/31647"),
        ..LATER
    },
    Case {
        group: "cdn",
        kinds: &["SecurityPolicy"],
        message: "shop.example is not associated with the AFDX profile or is in a invalid provisioning state",
        ..LATER
    },
    Case {
        group: "compute",
        kinds: &["Disk"],
        message: "The value of parameter diskAccessId is invalid.",
        ..LATER
    },
    Case {
        group: "compute",
        kinds: &["VirtualMachine", "VirtualMachineScaleSet"],
        code: "OperationNotAllowed",
        status: Some(409),
        message: "Operation could not be completed as it results in exceeding approved Total Regional Cores quota.",
        seen: DEPLOYMENT_ERRORS,
        holds_anyway: true,
        ..LATER
    },
    Case {
        group: "compute",
        kinds: &["VirtualMachine", "VirtualMachineScaleSet"],
        code: "OperationNotAllowed",
        message: "The operation is not allowed now.",
        ..LATER
    },
    Case {
        group: "containerservice",
        kinds: &["FleetsMember"],
        code: "DependentResourceNotFound",
        message: "The managed cluster was not found.",
        ..LATER
    },
    Case {
        group: "containerservice",
        kinds: &["ManagedCluster"],
        code: "CustomKubeletIdentityMissingPermissionError",
        message: "The cluster using user-assigned managed identity must be granted 'Managed Identity Operator' role to \
                  assign kubelet identity.",
        seen: Seen::Told("answers to Terraform's `azurerm_kubernetes_cluster`"),
        ..LATER
    },
    Case {
        group: "containerservice",
        kinds: &["ManagedClustersAgentPool"],
        code: "NodePoolMcVersionIncompatible",
        message: "Node pool version 1.24.9 and control plane version 1.29.15 is incompatible. Minor version of node \
                  pool cannot be more than 3 versions less than control plane's version.",
        seen: Seen::Told(
            "https://learn.microsoft.com/troubleshoot/azure/azure-kubernetes/create-upgrade-delete/nodepoolmcversionincompatible-error",
        ),
        ..LATER
    },
    Case {
        group: "documentdb",
        kinds: &["CassandraCluster"],
        message: "The Azure Cosmos DB service principal has no permission to use the delegated subnet.",
        ..LATER
    },
    Case {
        group: "documentdb",
        kinds: &["DatabaseAccount"],
        code: "ServiceUnavailable",
        status: Some(503),
        message: "Sorry, we are currently experiencing high demand in this region, and cannot fulfill your request at \
                  this time.",
        ..NEVER
    },
    Case {
        group: "documentdb",
        kinds: &["MongodbDatabase", "SqlDatabase"],
        message: "The account is still being made.",
        ..LATER
    },
    Case {
        group: "documentdb",
        kinds: &["SqlRoleAssignment"],
        message: "The provided principal ID [00000000-0000-0000-0000-000000000001] was not found in the AAD tenant(s).",
        ..LATER
    },
    Case {
        group: "insights",
        kinds: &["DataCollectionRule"],
        code: "WorkspaceNotFound",
        message: "The workspace could not be found.",
        ..LATER
    },
    Case {
        group: "insights",
        kinds: &["ScheduledQueryRule"],
        message: "The scope of the rule does not exist.",
        ..LATER
    },
    Case {
        group: "insights",
        kinds: &["ScheduledQueryRule"],
        message: "The identity has insufficient access to the workspace.",
        ..LATER
    },
    Case {
        group: "machinelearningservices",
        kinds: &["Workspace"],
        message: "StorageAccountIsNotProvisioned: The storage account provisioning state must be 'Succeeded' before \
                  executing the operation.",
        ..LATER
    },
    Case {
        group: "network",
        code: "InvalidGatewaySize",
        message: "The gateway cannot have this size.",
        ..NEVER
    },
    Case {
        group: "network",
        code: "InvalidGatewaySkuProvidedForGatewayVpnType",
        message: "A gateway of this SKU cannot have this type of VPN.",
        ..NEVER
    },
    Case {
        group: "network",
        code: "PrivateIPAddressInReservedRange",
        message: "The specified IP address includes an address range required by Azure.",
        seen: DEPLOYMENT_ERRORS,
        ..NEVER
    },
    Case {
        group: "network",
        code: "PrivateIPAddressNotInSubnet",
        message: "The specified IP address is outside of the subnet range.",
        seen: DEPLOYMENT_ERRORS,
        ..NEVER
    },
    Case {
        group: "network",
        code: "PublicIpForGatewayIsRequired",
        message: "The gateway needs a public IP address.",
        ..NEVER
    },
    Case {
        group: "network",
        kinds: &["AzureFirewall"],
        code: "AzfwAddToFirewallPolicyFailed",
        message: "Azure Firewall failed to reference Firewall Policy",
        ..LATER
    },
    Case {
        group: "network",
        kinds: &["DnsForwardingRuleset"],
        message: "The outbound endpoint was not found.",
        ..LATER
    },
    Case {
        group: "network",
        kinds: &[
            "DnsZonesARecord",
            "DnsZonesAAAARecord",
            "DnsZonesCNAMERecord",
        ],
        message: "The referenced resource does not exist.",
        ..LATER
    },
    Case {
        group: "network",
        kinds: &["NetworkWatchersFlowLog"],
        code: "NetworkSecurityGroupNotFoundForFlowLog",
        message: "The network security group was not found.",
        ..LATER
    },
    Case {
        group: "network",
        kinds: &["NetworkWatchersFlowLog"],
        code: "StorageProvisioningStateNotSucceeded",
        message: "is not Succeeded.",
        seen: Seen::Recorded("network-v1api20241001"),
        ..LATER
    },
    Case {
        group: "network",
        kinds: &["PublicIPAddress", "VirtualNetworksVirtualNetworkPeering"],
        code: "ReferencedResourceNotProvisioned",
        message: "Cannot proceed with operation because resource",
        seen: Seen::Recorded("network-v1api20240301"),
        ..LATER
    },
    Case {
        group: "network",
        kinds: &["VirtualNetworksSubnet"],
        code: "NetcfgSubnetRangeOutsideVnet",
        message: "Subnet 'subnet-alb' is not valid because its IP address range is outside the IP address range of \
                  virtual network 'aks-vnet-34152116'.",
        seen: Seen::Told("answers to `az network vnet subnet create`"),
        ..LATER
    },
    Case {
        group: "servicebus",
        kinds: &["NamespacesTopicsSubscription"],
        code: "MessagingGatewayBadRequest",
        message: "The entity that messages are forwarded to does not exist.",
        ..LATER
    },
    Case {
        group: "sql",
        kinds: &["Server"],
        code: "PasswordNotComplex",
        message: "Password validation failed. The password does not meet policy requirements because it is not complex \
                  enough.",
        ..NEVER
    },
    Case {
        group: "sql",
        kinds: &["ServersAzureADOnlyAuthentication"],
        code: "InvalidServerAADOnlyAuthNoAADAdminPropertyName",
        message: "AAD Admin is not configured, AAD Admin must be set before enabling/disabling AAD Only Authentication.",
        seen: Seen::Told("the source of Terraform's `azurerm_mssql_server`, which quotes it"),
        ..LATER
    },
    Case {
        group: "sql",
        kinds: &[
            "ServersDatabasesVulnerabilityAssessment",
            "ServersVulnerabilityAssessment",
        ],
        code: "VulnerabilityAssessmentADSIsDisabled",
        message: "Advanced Data Security should be enabled in order to use Vulnerability Assessment.",
        seen: Seen::Told("answers to deployments with Bicep"),
        ..LATER
    },
];
