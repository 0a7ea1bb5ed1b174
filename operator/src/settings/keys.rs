//! The keys of the Secret that there are, and what each is for.

use armature_runtime::azure::Cloud;
use armature_runtime::azure::credential::OPERATOR_VARIABLES;
use armature_runtime::shape::nearest;

/// The Secret with the credential and settings of the whole operator.
pub const SECRET: &str = "aso-controller-settings";

/// Which parts of the operator run.
pub const MODE: &str = "AZURE_OPERATOR_MODE";
/// Namespaces whose objects are managed.
pub const NAMESPACES: &str = "AZURE_TARGET_NAMESPACES";
/// Policy of objects that have none.
pub const POLICY: &str = "DEFAULT_RECONCILE_POLICY";
/// How often a ready resource is compared with Azure.
pub const SYNC_PERIOD: &str = "AZURE_SYNC_PERIOD";
/// Objects of one kind that are reconciled at the same time.
pub const CONCURRENCY: &str = "MAX_CONCURRENT_RECONCILES";
/// Whether Secrets may name any cloud.
pub const ANY_CLOUD: &str = "ALLOW_MULTI_ENV_MANAGEMENT";
/// Appended to the User-Agent.
pub const USER_AGENT: &str = "AZURE_USER_AGENT_SUFFIX";

/// Settings that a key gives, beside the credential.
pub const SETTINGS: [&str; 10] = [
    MODE,
    NAMESPACES,
    POLICY,
    SYNC_PERIOD,
    CONCURRENCY,
    ANY_CLOUD,
    USER_AGENT,
    Cloud::VARIABLES[0],
    Cloud::VARIABLES[1],
    Cloud::VARIABLES[2],
];

/// Keys that Azure Service Operator has and that mean nothing here, each with the reason.
const UNUSED: [(&str, &str); 3] = [
    ("RATE_LIMIT_MODE", RATE_LIMIT),
    ("RATE_LIMIT_QPS", RATE_LIMIT),
    ("RATE_LIMIT_BUCKET_SIZE", RATE_LIMIT),
];

const RATE_LIMIT: &str = "it bounds passes over objects; here the requests to Azure are bounded, for each subscription and credential \
                          (chart value armBudget)";

/// What a key is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// Part of the operator's own credential.
    Credential,
    /// One of [`SETTINGS`].
    Setting,
    /// Nothing here; why.
    Unused(&'static str),
    /// Nobody knows it.
    Unknown,
}

/// What a key is for.
pub fn purpose(key: &str) -> Purpose {
    if OPERATOR_VARIABLES.contains(&key) {
        return Purpose::Credential;
    }
    if SETTINGS.contains(&key) {
        return Purpose::Setting;
    }
    let unused = UNUSED.iter().find(|(name, _)| *name == key);
    unused.map_or(Purpose::Unknown, |(_, why)| Purpose::Unused(why))
}

/// All keys, with those that mean nothing here.
pub fn all() -> impl Iterator<Item = &'static str> {
    let unused = UNUSED.iter().map(|(name, _)| *name);
    OPERATOR_VARIABLES.into_iter().chain(SETTINGS).chain(unused)
}

/// The chart's value for a key.
pub fn value_of(key: &str) -> &'static str {
    match key {
        MODE => "azureOperatorMode",
        NAMESPACES => "azureTargetNamespaces",
        POLICY => "defaultReconcilePolicy",
        SYNC_PERIOD => "azureSyncPeriod",
        CONCURRENCY => "maxConcurrentReconciles",
        ANY_CLOUD => "allowMultiEnvManagement",
        USER_AGENT => "azureUserAgentSuffix",
        "AZURE_RESOURCE_MANAGER_ENDPOINT" => "azureResourceManagerEndpoint",
        "AZURE_AUTHORITY_HOST" => "azureAuthorityHost",
        "AZURE_RESOURCE_MANAGER_AUDIENCE" => "azureResourceManagerAudience",
        "AZURE_SUBSCRIPTION_ID" => "azureSubscriptionID",
        "AZURE_TENANT_ID" => "azureTenantID",
        "AZURE_CLIENT_ID" => "azureClientID",
        "AZURE_CLIENT_SECRET" => "azureClientSecret",
        "AZURE_CLIENT_CERTIFICATE" => "azureClientCertificate",
        "AZURE_CLIENT_CERTIFICATE_PASSWORD" => "azureClientCertificatePassword",
        "AZURE_ADDITIONAL_TENANTS" => "azureAdditionalTenants",
        "USE_WORKLOAD_IDENTITY_AUTH" => "useWorkloadIdentityAuth",
        _ => "extraEnv",
    }
}

/// What is told of a key that means nothing here; nothing of others. `variables` are those of the program, which a Secret does not
/// give.
pub fn note<'v>(key: &str, mut variables: impl Iterator<Item = &'v str>) -> Option<String> {
    match purpose(key) {
        Purpose::Credential | Purpose::Setting => None,
        Purpose::Unused(why) => Some(format!("{key} has no meaning here: {why}")),
        Purpose::Unknown if variables.any(|variable| variable == key) => Some(format!(
            "{key} is not read from a Secret: set it as a variable of the Deployment, or by the chart's value"
        )),
        Purpose::Unknown => {
            let known = SETTINGS.iter().chain(&OPERATOR_VARIABLES).copied();
            let meant = nearest(key, known);
            let meant = meant.map_or_else(String::new, |meant| format!(", {meant} is meant?"));
            Some(format!(
                "{key} is no setting, and nothing is made of it{meant}"
            ))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_key_is_told_of_or_counts() {
        let note = |key: &str| note(key, ["CRD_PATTERN"].into_iter());
        for counts in SETTINGS.iter().chain(&OPERATOR_VARIABLES) {
            assert_eq!(note(counts), None);
        }
        for (key, told) in [
            ("RATE_LIMIT_MODE", "RATE_LIMIT_MODE has no meaning here: "),
            ("RATE_LIMIT_QPS", "armBudget"),
            (
                "AZURE_SYNC_PERIODS",
                "nothing is made of it, AZURE_SYNC_PERIOD is meant?",
            ),
            (
                "AZURE_CLIENTID",
                "nothing is made of it, AZURE_CLIENT_ID is meant?",
            ),
            ("NOTES", "NOTES is no setting, and nothing is made of it"),
            (
                "CRD_PATTERN",
                "CRD_PATTERN is not read from a Secret: set it as a variable",
            ),
        ] {
            let note = note(key).unwrap_or_default();
            assert!(note.contains(told), "{note}");
        }
    }

    #[test]
    fn all_keys_of_azure_service_operator_are_known() {
        // ASO behaviour §5.2.
        let keys = "AZURE_CLIENT_ID AZURE_CLIENT_SECRET AZURE_TENANT_ID AZURE_ADDITIONAL_TENANTS AZURE_SUBSCRIPTION_ID \
                    AZURE_USER_ASSIGNED_IDENTITY_CREDENTIALS AZURE_CLIENT_CERTIFICATE AZURE_CLIENT_CERTIFICATE_PASSWORD \
                    AZURE_AUTHORITY_HOST AZURE_RESOURCE_MANAGER_ENDPOINT AZURE_RESOURCE_MANAGER_AUDIENCE \
                    AZURE_TARGET_NAMESPACES AZURE_OPERATOR_MODE AZURE_SYNC_PERIOD USE_WORKLOAD_IDENTITY_AUTH \
                    AZURE_USER_AGENT_SUFFIX MAX_CONCURRENT_RECONCILES RATE_LIMIT_MODE RATE_LIMIT_QPS RATE_LIMIT_BUCKET_SIZE \
                    DEFAULT_RECONCILE_POLICY ALLOW_MULTI_ENV_MANAGEMENT";
        assert_eq!(keys.split_whitespace().count(), 22);
        for key in keys.split_whitespace() {
            assert_ne!(purpose(key), Purpose::Unknown, "{key}");
        }
    }
}
