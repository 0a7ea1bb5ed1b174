//! What can be wrong with a credential. Messages name the Secret and the key, never a value.

use std::fmt;
use std::path::PathBuf;

use armature_shapes::names::{CREDENTIAL_FROM, NAMESPACE_CREDENTIAL};

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
#[derive(Clone, Debug, thiserror::Error)]
pub enum CredentialError {
    /// No credential anywhere.
    #[error(
        "there is no Azure credential: set AZURE_SUBSCRIPTION_ID and an identity in the operator's settings, create \
         the Secret {NAMESPACE_CREDENTIAL} in the object's namespace, or name a Secret in the annotation \
         {CREDENTIAL_FROM}"
    )]
    None,
    /// A setting beside the operator's own credential is not what it was.
    #[error(
        "the setting {} is not what it was when the operator started: the operator ends and starts anew with it before it uses the credential \
         beside it",
        .0.display()
    )]
    Beside(PathBuf),
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
    /// Its certificate is being read, which takes time.
    #[error("the certificate in {0} is being read, or waits until others are: one after the other")]
    BeingRead(Place),
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
    /// The namespace may not use an identity that proves itself by the operator's service account or machine.
    #[error(
        "key {key} of {place} cannot be used: it names an identity that is not among those which the annotation {} of its namespace \
         allows; name one that it allows, give the identity a client secret or a certificate, or have an administrator add its \
         client id",
        super::ALLOWED_IDENTITIES
    )]
    Identity {
        /// Where.
        place: Place,
        /// The key.
        key: &'static str,
    },
    /// The namespace keeps off the operator's own identity, and nobody knows which that is.
    #[error("whether {place} names the operator's own identity is not known: {message}")]
    Undecided {
        /// Where.
        place: Place,
        /// What is wrong with the operator's own.
        message: String,
    },
    /// A file of the operator's pod cannot be used.
    #[error("{} of the {method} in {place} cannot be used: {message}", path.display())]
    File {
        /// Where the credential is.
        place: Place,
        /// The file.
        path: PathBuf,
        /// What the file is for.
        method: &'static str,
        /// What is wrong and what to do.
        message: String,
    },
    /// The metadata service gives the managed identity no token.
    #[error("no token for the managed identity in {place}: {endpoint} {message}")]
    ManagedIdentity {
        /// Where the identity is named.
        place: Place,
        /// The metadata service that was asked, without path.
        endpoint: String,
        /// What it did and what to do.
        message: String,
        /// The identity is refused, so that waiting alone does not help.
        refused: bool,
    },
}

impl CredentialError {
    /// Whether the error may pass without a change of the credential: a server did not answer.
    pub fn may_pass(&self) -> bool {
        match self {
            Self::Unreadable { .. } | Self::Undecided { .. } | Self::Beside(_) => true,
            Self::ManagedIdentity { refused, .. } => !refused,
            _ => false,
        }
    }

    /// The credential error that caused another one, if one did.
    pub(crate) fn behind<'a>(error: &'a (dyn std::error::Error + 'static)) -> Option<&'a Self> {
        let mut current = Some(error);
        while let Some(error) = current {
            if let Some(found) = error.downcast_ref() {
                return Some(found);
            }
            current = error.source();
        }
        None
    }
}
