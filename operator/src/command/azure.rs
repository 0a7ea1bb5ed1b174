//! How Azure is reached: by the environment, the files of a credential, or who is signed in to the Azure CLI.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::Command;

use anyhow::Context;
use armature_runtime::azure::credential::{
    Identity, OperatorIdentity, Proof, identity_folders, is_true, operator_identity,
};
use armature_runtime::azure::{ClientSettings, Cloud};

use crate::secret_bounds::secret_bounds;

/// Variables that say that the environment has an identity of its own.
const IDENTITY: [&str; 5] = [
    "AZURE_CLIENT_ID",
    "AZURE_CLIENT_SECRET",
    "AZURE_CLIENT_CERTIFICATE",
    "AZURE_USER_ASSIGNED_IDENTITY_CREDENTIALS",
    "USE_WORKLOAD_IDENTITY_AUTH",
];

/// The variable with the subscription to work in.
const SUBSCRIPTION: &str = "AZURE_SUBSCRIPTION_ID";

/// What is told where Secrets may name any cloud.
pub const ANY_CLOUD: &str = "ALLOW_MULTI_ENV_MANAGEMENT is true: whoever writes a Secret with a credential names any host that is sent \
                             tokens and, for a workload identity, the assertion of the operator's service account; list the clouds in \
                             ARMATURE_ALLOWED_CLOUDS instead";

/// Files beside a credential that must stay as they were read, each as a text.
pub type Beside = BTreeMap<String, Option<String>>;

/// How an operator reaches Azure: by its variables or by the files of a credential, which counts with the settings beside it.
pub fn of_operator(
    (credential_folder, beside): (Option<PathBuf>, Beside),
    ca_file: Option<PathBuf>,
    variable: impl Fn(&str) -> Option<String>,
) -> anyhow::Result<ClientSettings> {
    let own = own(credential_folder, beside, &variable)?;
    settings(own, ca_file, &variable)
}

fn own(
    credential_folder: Option<PathBuf>,
    beside: Beside,
    variable: impl Fn(&str) -> Option<String>,
) -> anyhow::Result<OperatorIdentity> {
    Ok(match credential_folder {
        Some(folder) => OperatorIdentity::folder(folder, variable, beside),
        None => operator_identity(variable)?.into(),
    })
}

/// Whether there is an identity beside those in Secrets.
pub fn is_signed_in(settings: &ClientSettings) -> bool {
    !matches!(settings.identity, OperatorIdentity::Fixed(None))
}

/// How somebody at a terminal or a pipeline reaches Azure: as the operator does where the environment has an identity, else
/// as who is signed in to the Azure CLI. Without either, Secrets alone have credentials.
pub fn of_person(
    subscription: Option<&str>,
    credential_folder: Option<PathBuf>,
    ca_file: Option<PathBuf>,
) -> anyhow::Result<ClientSettings> {
    // The operator waits for a folder that is mounted later; here nobody mounts one.
    if let Some(folder) = credential_folder.as_ref().filter(|folder| !folder.is_dir()) {
        anyhow::bail!(
            "there is no credential folder {}; --credential-folder or ARMATURE_CREDENTIAL_FOLDER names it",
            folder.display()
        );
    }
    let has_own = IDENTITY.iter().any(|name| set(name).is_some());
    if credential_folder.is_some() || has_own {
        let with_subscription = |name: &str| match subscription {
            Some(subscription) if name == SUBSCRIPTION => Some(subscription.to_owned()),
            _ => variable(name),
        };
        return settings(
            own(credential_folder, Beside::new(), with_subscription)?,
            ca_file,
            &variable,
        );
    }
    let subscription = subscription.map(str::to_owned).or_else(signed_in);
    let identity =
        subscription.map(|subscription| Identity::new(&subscription, "", "", Proof::AzureCli));
    settings(identity.into(), ca_file, &variable)
}

/// The subscription that the Azure CLI works in, where somebody is signed in.
fn signed_in() -> Option<String> {
    let mut az = Command::new("az");
    az.args(["account", "show", "--query", "id", "--output", "tsv"]);
    let answer = az.output().ok().filter(|answer| answer.status.success())?;
    let text = String::from_utf8(answer.stdout).ok()?;
    Some(text.trim().to_owned()).filter(|text| !text.is_empty())
}

fn settings(
    identity: OperatorIdentity,
    ca_file: Option<PathBuf>,
    variable: &dyn Fn(&str) -> Option<String>,
) -> anyhow::Result<ClientSettings> {
    Ok(ClientSettings {
        cloud: Cloud::of_operator(variable)?,
        identity,
        ca_file,
        user_agent_suffix: variable("AZURE_USER_AGENT_SUFFIX"),
        token_file: variable("AZURE_FEDERATED_TOKEN_FILE"),
        other_clouds: variable("ALLOW_MULTI_ENV_MANAGEMENT").is_some_and(|value| is_true(&value)),
        identity_folders: identity_folders(variable),
        secret_bounds: secret_bounds(variable)?,
        metadata_endpoint: metadata_endpoint(variable)?,
    })
}

fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok()
}

/// A variable that is set to nothing is not set.
fn set(name: &str) -> Option<String> {
    variable(name).filter(|value| !value.trim().is_empty())
}

/// The service that gives managed identities their tokens, when it is not at Azure's address.
fn metadata_endpoint(
    variable: impl Fn(&str) -> Option<String>,
) -> anyhow::Result<Option<url::Url>> {
    const NAME: &str = "AZURE_POD_IDENTITY_AUTHORITY_HOST";
    let set = variable(NAME).filter(|value| !value.is_empty());
    set.map(|value| {
        let url = value.parse::<url::Url>();
        let url = url.with_context(|| format!("{NAME} is '{value}', which is no URL"))?;
        anyhow::ensure!(
            matches!(url.scheme(), "http" | "https") && url.has_host(),
            "{NAME} is '{value}'; expected a URL such as http://169.254.169.254"
        );
        Ok(url)
    })
    .transpose()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bounds_of_secrets_that_are_not_understood_are_told() {
        for (name, value, expected) in [
            ("ARMATURE_SECRET_PROOFS", "client-secret", ""),
            (
                "ARMATURE_SECRET_PROOFS",
                "password",
                "'password' is no kind of proof",
            ),
            (
                "ARMATURE_ALLOWED_CLOUDS",
                "https://arm.test",
                "'https://arm.test' is no cloud",
            ),
        ] {
            let read = secret_bounds(|asked| (asked == name).then(|| value.to_owned()));
            let told = read
                .err()
                .map(|error| format!("{error:#}"))
                .unwrap_or_default();
            assert!(told.contains(expected), "{told}");
            assert!(
                expected.is_empty() == told.is_empty() && (told.is_empty() || told.contains(name))
            );
        }
    }

    #[test]
    fn metadata_endpoints() {
        let read = |value: &str| metadata_endpoint(|_| Some(value.to_owned()));
        assert!(read("").unwrap().is_none());
        assert!(read("http://127.0.0.1:5000").unwrap().is_some());
        for wrong in ["127.0.0.1:5000", "metadata", "file:///x"] {
            let error = read(wrong).unwrap_err().to_string();
            assert!(
                error.contains("AZURE_POD_IDENTITY_AUTHORITY_HOST"),
                "{error}"
            );
        }
    }
}
