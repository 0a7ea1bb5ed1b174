//! Which credential an object is reconciled with, and how it is read (ASO behaviour §1.8 and §5.2).
//!
//! Order: the Secret that the object names, then the Secret `aso-credential` of its namespace, then the
//! operator's own. Tokens are the business of [`super::Client`].

use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;

use async_trait::async_trait;
use azure_core::credentials::Secret;

use super::CredentialKey;

/// Name of the Secret that holds a namespace's credential.
pub const NAMESPACE_SECRET: &str = "aso-credential";
/// Where the token of a workload identity is mounted, unless `AZURE_FEDERATED_TOKEN_FILE` says otherwise.
const TOKEN_FILE: &str = "/var/run/secrets/tokens/azure-identity";

const SUBSCRIPTION: &str = "AZURE_SUBSCRIPTION_ID";
const TENANT: &str = "AZURE_TENANT_ID";
const CLIENT: &str = "AZURE_CLIENT_ID";
const CLIENT_SECRET: &str = "AZURE_CLIENT_SECRET";
const CERTIFICATE: &str = "AZURE_CLIENT_CERTIFICATE";
const IDENTITY_FILE: &str = "AZURE_USER_ASSIGNED_IDENTITY_CREDENTIALS";
const AUTH_MODE: &str = "AUTH_MODE";
const WORKLOAD_IDENTITY: &str = "USE_WORKLOAD_IDENTITY_AUTH";
const FEDERATED_TOKEN_FILE: &str = "AZURE_FEDERATED_TOKEN_FILE";

/// A Secret that holds a credential. Values are never printed.
#[derive(Clone, Default)]
pub struct SecretData {
    /// Changes whenever the data does: uid and resourceVersion.
    pub version: String,
    /// Decoded data.
    pub data: BTreeMap<String, Vec<u8>>,
}

/// Reads credential Secrets; implemented by the Kubernetes side.
#[async_trait]
pub trait SecretReader: Send + Sync {
    /// The Secret, or `None` when there is none. The error is a sentence for people.
    async fn read_secret(&self, namespace: &str, name: &str) -> Result<Option<SecretData>, String>;
}

/// Where a credential was looked for, for messages.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Place {
    /// Settings of the operator.
    Operator,
    /// A Secret.
    Secret {
        /// Namespace.
        namespace: String,
        /// Name.
        name: String,
    },
}

impl fmt::Display for Place {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Operator => formatter.write_str("the operator's settings"),
            Self::Secret { namespace, name } => write!(formatter, "Secret {namespace}/{name}"),
        }
    }
}

/// Why there is no usable credential.
#[derive(Debug, thiserror::Error)]
pub enum CredentialError {
    /// No credential anywhere.
    #[error(
        "there is no Azure credential: set {SUBSCRIPTION} and an identity in the operator's settings, create \
         the Secret {NAMESPACE_SECRET} in the object's namespace, or name a Secret in the annotation \
         serviceoperator.azure.com/credential-from"
    )]
    None,
    /// The Secret does not exist.
    #[error("{0} with the Azure credential does not exist")]
    Missing(Place),
    /// The Secret cannot be read.
    #[error("{place} with the Azure credential cannot be read: {message}")]
    Unreadable {
        /// Where.
        place: Place,
        /// What the API server said.
        message: String,
    },
    /// A key is missing or empty.
    #[error("key {key} is missing in {place}: {needed}")]
    Key {
        /// Where.
        place: Place,
        /// The key.
        key: &'static str,
        /// What it is for.
        needed: &'static str,
    },
    /// A value cannot be used.
    #[error("key {key} of {place} cannot be used: {message}")]
    Value {
        /// Where.
        place: Place,
        /// The key.
        key: &'static str,
        /// What is wrong and what to do.
        message: String,
    },
    /// The annotation points to another namespace.
    #[error(
        "'{value}' cannot be used as credential: the Secret must be in the object's namespace, so name it \
         without a '/'"
    )]
    OtherNamespace {
        /// Value of the annotation.
        value: String,
    },
}

/// Proof of the identity.
#[derive(Clone, PartialEq, Eq)]
pub enum Proof {
    /// A client secret.
    ClientSecret(Secret),
    /// The service account's token in this file (workload identity).
    WorkloadIdentity {
        /// Path of the mounted token.
        token_file: PathBuf,
    },
}

impl fmt::Debug for Proof {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::ClientSecret(_) => formatter.write_str("ClientSecret"),
            Self::WorkloadIdentity { token_file } => {
                write!(formatter, "WorkloadIdentity({})", token_file.display())
            }
        }
    }
}

/// An identity and the subscription it works in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Identity {
    /// Subscription id.
    pub subscription: String,
    /// Entra tenant id.
    pub tenant: String,
    /// Client (application) id.
    pub client: String,
    /// Proof.
    pub proof: Proof,
}

/// The credential that an object is reconciled with. `credential_from` is the value of its annotation.
///
/// # Errors
/// When the annotation points to another namespace, or the API server does not answer.
pub async fn select(
    reader: &dyn SecretReader,
    namespace: &str,
    credential_from: Option<&str>,
) -> Result<CredentialKey, CredentialError> {
    let key = |name: &str| CredentialKey::Secret {
        namespace: namespace.to_owned(),
        name: name.to_owned(),
    };
    if let Some(value) = credential_from.filter(|value| !value.is_empty()) {
        if value.contains('/') {
            return Err(CredentialError::OtherNamespace {
                value: value.to_owned(),
            });
        }
        return Ok(key(value));
    }
    match reader.read_secret(namespace, NAMESPACE_SECRET).await {
        Ok(Some(_)) => Ok(key(NAMESPACE_SECRET)),
        Ok(None) => Ok(CredentialKey::Global),
        Err(message) => Err(CredentialError::Unreadable {
            place: Place::Secret {
                namespace: namespace.to_owned(),
                name: NAMESPACE_SECRET.to_owned(),
            },
            message,
        }),
    }
}

/// The operator's own identity; `None` when it has no subscription, and so works with Secrets alone.
///
/// # Errors
/// When a variable that the identity needs is missing.
pub fn operator_identity(
    variable: impl Fn(&str) -> Option<String>,
) -> Result<Option<Identity>, CredentialError> {
    let keys = Keys {
        place: Place::Operator,
        get: &variable,
    };
    let Some(subscription) = keys.optional(SUBSCRIPTION) else {
        return Ok(None);
    };
    let workload = keys
        .optional(WORKLOAD_IDENTITY)
        .is_some_and(|value| value.eq_ignore_ascii_case("true"));
    let proof = if workload {
        keys.workload_identity(keys.optional(FEDERATED_TOKEN_FILE))
    } else if let Some(secret) = keys.optional(CLIENT_SECRET) {
        Proof::ClientSecret(Secret::new(secret))
    } else {
        keys.refuse_unsupported()?;
        return Err(keys.missing(
            CLIENT_SECRET,
            "set it, or USE_WORKLOAD_IDENTITY_AUTH=true to use a workload identity",
        ));
    };
    keys.identity(subscription, proof).map(Some)
}

/// The identity in a Secret. `token_file` is the operator's own setting of the mounted token.
///
/// # Errors
/// When a key that the identity needs is missing or cannot be used; names the Secret and the key.
pub fn secret_identity(
    namespace: &str,
    name: &str,
    secret: &SecretData,
    token_file: Option<&str>,
) -> Result<Identity, CredentialError> {
    let get = |key: &str| {
        let value = secret.data.get(key)?;
        Some(String::from_utf8_lossy(value).into_owned())
    };
    let keys = Keys {
        place: Place::Secret {
            namespace: namespace.to_owned(),
            name: name.to_owned(),
        },
        get: &get,
    };
    let subscription = keys.required(SUBSCRIPTION, "it is the subscription to work in")?;
    let proof = if let Some(client_secret) = keys.optional(CLIENT_SECRET) {
        Proof::ClientSecret(Secret::new(client_secret))
    } else {
        keys.refuse_unsupported()?;
        let mode = keys.optional(AUTH_MODE);
        if let Some(mode) = mode.filter(|mode| !mode.eq_ignore_ascii_case("workloadidentity")) {
            return Err(keys.unusable(
                AUTH_MODE,
                format!("'{mode}' is not supported, use 'workloadidentity' or set {CLIENT_SECRET}"),
            ));
        }
        keys.workload_identity(token_file.map(str::to_owned))
    };
    keys.identity(subscription, proof)
}

/// Settings under their names, and where they are from.
struct Keys<'a> {
    place: Place,
    get: &'a dyn Fn(&str) -> Option<String>,
}

impl Keys<'_> {
    fn optional(&self, key: &str) -> Option<String> {
        (self.get)(key)
            .map(|value| value.trim().to_owned())
            .filter(|value| !value.is_empty())
    }

    fn required(&self, key: &'static str, needed: &'static str) -> Result<String, CredentialError> {
        self.optional(key).ok_or_else(|| self.missing(key, needed))
    }

    fn identity(&self, subscription: String, proof: Proof) -> Result<Identity, CredentialError> {
        Ok(Identity {
            subscription,
            tenant: self.required(TENANT, "it is the Entra tenant of the identity")?,
            client: self.required(CLIENT, "it is the client (application) id of the identity")?,
            proof,
        })
    }

    fn workload_identity(&self, token_file: Option<String>) -> Proof {
        Proof::WorkloadIdentity {
            token_file: token_file.unwrap_or_else(|| TOKEN_FILE.to_owned()).into(),
        }
    }

    fn refuse_unsupported(&self) -> Result<(), CredentialError> {
        for key in [CERTIFICATE, IDENTITY_FILE] {
            if self.optional(key).is_some() {
                return Err(self.unusable(
                    key,
                    format!("this kind of credential is not supported, use {CLIENT_SECRET} or a workload identity"),
                ));
            }
        }
        Ok(())
    }

    fn missing(&self, key: &'static str, needed: &'static str) -> CredentialError {
        CredentialError::Key {
            place: self.place.clone(),
            key,
            needed,
        }
    }

    fn unusable(&self, key: &'static str, message: String) -> CredentialError {
        CredentialError::Value {
            place: self.place.clone(),
            key,
            message,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Secrets(Vec<(&'static str, &'static str)>);

    #[async_trait]
    impl SecretReader for Secrets {
        async fn read_secret(
            &self,
            namespace: &str,
            name: &str,
        ) -> Result<Option<SecretData>, String> {
            if namespace == "broken" {
                return Err("forbidden".to_owned());
            }
            Ok(self
                .0
                .contains(&(namespace, name))
                .then(SecretData::default))
        }
    }

    #[tokio::test]
    async fn the_nearest_credential_is_selected() {
        let secrets = Secrets(vec![("team", NAMESPACE_SECRET)]);
        let secret = |namespace: &str, name: &str| CredentialKey::Secret {
            namespace: namespace.to_owned(),
            name: name.to_owned(),
        };
        for (namespace, annotation, expected) in [
            ("team", Some("own"), secret("team", "own")),
            ("team", None, secret("team", NAMESPACE_SECRET)),
            ("team", Some(""), secret("team", NAMESPACE_SECRET)),
            ("other", None, CredentialKey::Global),
        ] {
            let key = select(&secrets, namespace, annotation).await;
            assert_eq!(key.expect("a credential"), expected);
        }
        let error = select(&secrets, "team", Some("other/own")).await;
        assert!(
            error
                .expect_err("refused")
                .to_string()
                .contains("other/own")
        );
        let error = select(&secrets, "broken", None).await;
        assert!(
            error
                .expect_err("refused")
                .to_string()
                .contains("Secret broken/aso-credential")
        );
    }

    fn data(pairs: &[(&str, &str)]) -> SecretData {
        SecretData {
            version: "1".to_owned(),
            data: pairs
                .iter()
                .map(|(key, value)| ((*key).to_owned(), value.as_bytes().to_vec()))
                .collect(),
        }
    }

    const COMMON: [(&str, &str); 3] = [(SUBSCRIPTION, "s"), (TENANT, "t"), (CLIENT, "c\n")];

    #[test]
    fn secrets_hold_identities() {
        let read = |more: &[(&str, &str)]| {
            let pairs = [&COMMON, more].concat();
            secret_identity("n", "x", &data(&pairs), None)
        };
        let identity = read(&[(CLIENT_SECRET, "hunter2")]).expect("an identity");
        assert_eq!(identity.client, "c");
        assert!(!format!("{identity:?}").contains("hunter2"));
        let workload = Proof::WorkloadIdentity {
            token_file: TOKEN_FILE.into(),
        };
        assert_eq!(read(&[]).expect("an identity").proof, workload);
        assert_eq!(
            read(&[(AUTH_MODE, "workloadIdentity")])
                .expect("an identity")
                .proof,
            workload
        );
    }

    #[test]
    fn errors_name_the_secret_and_the_key() {
        let table: [(&[(&str, &str)], &str); 6] = [
            (&[], "key AZURE_SUBSCRIPTION_ID is missing in Secret n/x"),
            (
                &[(SUBSCRIPTION, " ")],
                "key AZURE_SUBSCRIPTION_ID is missing in Secret n/x",
            ),
            (
                &[(SUBSCRIPTION, "s")],
                "key AZURE_TENANT_ID is missing in Secret n/x",
            ),
            (
                &[(SUBSCRIPTION, "s"), (TENANT, "t")],
                "key AZURE_CLIENT_ID is missing in Secret n/x",
            ),
            (
                &[(SUBSCRIPTION, "s"), (AUTH_MODE, "podidentity")],
                "key AUTH_MODE of Secret n/x",
            ),
            (
                &[(SUBSCRIPTION, "s"), (CERTIFICATE, "x")],
                "key AZURE_CLIENT_CERTIFICATE of Secret n/x",
            ),
        ];
        for (pairs, expected) in table {
            let error = secret_identity("n", "x", &data(pairs), None).expect_err(expected);
            assert!(error.to_string().starts_with(expected), "{error}");
        }
    }

    #[test]
    fn the_operators_identity_is_optional() {
        let read = |pairs: &[(&str, &str)]| {
            operator_identity(|name| {
                let pair = pairs.iter().find(|(key, _)| *key == name);
                pair.map(|(_, value)| (*value).to_owned())
            })
        };
        assert_eq!(read(&[]).expect("no identity"), None);
        let with = |pair| [&COMMON[..], &[pair]].concat();
        assert!(
            read(&with((CLIENT_SECRET, "x")))
                .expect("an identity")
                .is_some()
        );
        let identity = read(
            &[
                &with((WORKLOAD_IDENTITY, "true"))[..],
                &[(FEDERATED_TOKEN_FILE, "/t")],
            ]
            .concat(),
        );
        let proof = Proof::WorkloadIdentity {
            token_file: "/t".into(),
        };
        assert_eq!(
            identity
                .expect("an identity")
                .map(|identity| identity.proof),
            Some(proof)
        );
        let error = read(&COMMON).expect_err("no proof").to_string();
        assert!(
            error.starts_with("key AZURE_CLIENT_SECRET is missing in the operator's settings"),
            "{error}"
        );
    }
}
