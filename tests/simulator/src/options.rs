//! How a simulator is set up: from code, from a configuration file, from flags.

use std::collections::BTreeMap;
use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::acts::Autonomy;
use crate::fault::{Chaos, FaultRule};
use crate::graph::GraphSettings;
use crate::operation::OperationRule;
use crate::throttle::Limits;

/// Everything about the simulated Azure. All of it has defaults; a configuration file has the same names.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", default, deny_unknown_fields)]
pub struct Settings {
    /// Subscriptions that exist.
    pub subscriptions: Vec<String>,
    /// The tenant that they belong to.
    pub tenant: String,
    /// Clients that get tokens. When empty, every client id with any secret or assertion does.
    pub clients: Vec<Client>,
    /// Whether further clients get tokens too, as if there were none of these.
    pub other_clients: bool,
    /// How long-running operations run, for every type that has no rule of its own.
    pub operations: OperationRule,
    /// How long-running operations run, by ARM type.
    pub operations_of: BTreeMap<String, OperationRule>,
    /// What services rewrite.
    pub normalise: Normalise,
    /// ARM types whose PUT leaves in place what it does not name, as that of some services does. Lists are replaced.
    pub keeps: Vec<String>,
    /// Request limits.
    pub limits: Limits,
    /// Azure Resource Graph.
    pub graph: GraphSettings,
    /// What Azure does by itself.
    pub autonomy: Autonomy,
    /// Faults from a seed.
    pub chaos: Option<Chaos>,
    /// Faults by rule.
    pub faults: Vec<FaultRule>,
    /// Requests that the log keeps.
    pub log_limit: usize,
    /// Items on one page of a list.
    pub page_size: usize,
}

/// Which values services rewrite.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", default, deny_unknown_fields)]
pub struct Normalise {
    /// `westus2` comes back as `West US 2`, `West US 2` as `westus2`.
    pub locations: bool,
    /// Ids come back with `resourcegroups` in lower case.
    pub ids: bool,
    /// Names of resources come back as the provider has them: a Kusto database's as `cluster/database`.
    pub names: bool,
    /// Lists of strings come back sorted.
    pub order: bool,
    /// Absent tags come back as an empty object.
    pub tags: bool,
}

impl Normalise {
    /// Everything is rewritten.
    pub const ALL: Self = Self {
        locations: true,
        ids: true,
        names: true,
        order: true,
        tags: true,
    };
}

/// A client (service principal) and what it proves itself with.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Client {
    /// Client id.
    pub id: String,
    /// Client secret; without it the client can only use assertions.
    pub secret: Option<String>,
    /// Certificate in PEM whose key may sign assertions.
    pub certificate: Option<String>,
    /// Whose tokens are assertions too. With no certificate and none of these, any JSON web token is one.
    #[serde(default)]
    pub federated: Vec<Federation>,
}

/// Trust in tokens that somebody else issues: a federated identity credential.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Federation {
    /// Issuer (`iss`), such as that of a cluster's service accounts.
    pub issuer: String,
    /// Subject (`sub`), such as `system:serviceaccount:NAMESPACE:NAME`.
    pub subject: String,
    /// Audience (`aud`).
    #[serde(default = "audience")]
    pub audience: String,
    /// The keys that the issuer publishes, as a JSON Web Key Set. Azure asks the issuer for them.
    pub keys: String,
}

/// What Azure recommends for all federated identity credentials.
fn audience() -> String {
    "api://AzureADTokenExchange".to_owned()
}

impl Federation {
    /// Trust in a subject's tokens for Azure's recommended audience.
    pub fn new(issuer: &str, subject: &str, keys: &str) -> Self {
        Self {
            issuer: issuer.to_owned(),
            subject: subject.to_owned(),
            audience: audience(),
            keys: keys.to_owned(),
        }
    }
}

/// A client that gets no tokens.
#[derive(Debug)]
pub struct UnknownClient;

impl Default for Settings {
    fn default() -> Self {
        Self {
            subscriptions: vec!["00000000-0000-0000-0000-000000000001".to_owned()],
            tenant: "00000000-0000-0000-0000-000000000002".to_owned(),
            clients: Vec::new(),
            other_clients: false,
            operations: OperationRule::default(),
            operations_of: BTreeMap::new(),
            normalise: Normalise::default(),
            keeps: Vec::new(),
            limits: Limits::default(),
            graph: GraphSettings::default(),
            autonomy: Autonomy::default(),
            chaos: None,
            faults: Vec::new(),
            log_limit: 100_000,
            page_size: 500,
        }
    }
}

/// A configuration file that cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum SettingsError {
    /// The file cannot be read.
    #[error("cannot read the configuration {path}: {source}")]
    Read {
        /// The file.
        path: String,
        /// Why.
        source: std::io::Error,
    },
    /// The file is not what is expected.
    #[error("the configuration {path} is not valid: {message}")]
    Parse {
        /// The file.
        path: String,
        /// Where and why.
        message: String,
    },
}

impl Settings {
    /// Reads a TOML file.
    pub fn from_file(path: &Path) -> Result<Self, SettingsError> {
        let shown = path.display().to_string();
        let text = std::fs::read_to_string(path).map_err(|source| SettingsError::Read {
            path: shown.clone(),
            source,
        })?;
        toml::from_str(&text).map_err(|error| SettingsError::Parse {
            path: shown,
            message: error.to_string(),
        })
    }

    /// The rule for a type: its own, completed from the one for all.
    pub fn operation_rule(&self, arm_type: &str) -> OperationRule {
        let own = self
            .operations_of
            .iter()
            .find(|(name, _)| name.eq_ignore_ascii_case(arm_type))
            .map(|(_, rule)| rule.clone())
            .unwrap_or_default();
        own.or(&self.operations)
    }

    /// Whether a PUT of this type leaves in place what it does not name.
    pub fn keeps(&self, arm_type: &str) -> bool {
        let mut keeps = self.keeps.iter();
        keeps.any(|name| name.eq_ignore_ascii_case(arm_type))
    }

    /// What is known of a client.
    ///
    /// # Errors
    /// When it gets no tokens.
    pub fn client(&self, id: &str) -> Result<Option<&Client>, UnknownClient> {
        let mut clients = self.clients.iter();
        match clients.find(|known| known.id.eq_ignore_ascii_case(id)) {
            None if !self.clients.is_empty() && !self.other_clients => Err(UnknownClient),
            found => Ok(found),
        }
    }

    /// Whether a subscription exists.
    pub fn has_subscription(&self, subscription: &str) -> bool {
        self.subscriptions
            .iter()
            .any(|known| known.eq_ignore_ascii_case(subscription))
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::operation::Style;

    #[test]
    fn a_file_sets_rules_by_type() {
        let settings: Settings = toml::from_str(
            r#"
            tenant = "t"
            [operations]
            latency = "250ms"
            [operations-of."Microsoft.Storage/storageAccounts"]
            put = "async-operation"
            polls = 2
            [[faults]]
            method = "PUT"
            status = 429
            retryAfter = 3
            "#,
        )
        .unwrap();
        let rule = settings.operation_rule("microsoft.storage/STORAGEACCOUNTS");
        assert_eq!(rule.put, Some(Style::AsyncOperation));
        assert_eq!(rule.latency, Some(Duration::from_millis(250)));
        assert_eq!(rule.polls, Some(2));
        assert_eq!(settings.faults[0].retry_after, Some(3));
        assert_eq!(settings.page_size, 500);
    }

    #[test]
    fn a_file_with_an_unknown_name_is_refused_by_that_name() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("simulator.toml");
        std::fs::write(&path, "tennant = 't'\n").unwrap();
        let message = Settings::from_file(&path).unwrap_err().to_string();
        assert!(message.contains("tennant"), "{message}");
        assert!(message.contains("simulator.toml"), "{message}");
    }
}
