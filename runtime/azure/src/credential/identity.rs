//! An identity and how it proves itself.

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

use azure_core::credentials::Secret;

use super::{ClientCertificate, CredentialError, Place, mounted};
use crate::Cloud;

/// Proof of the identity.
#[derive(Clone, PartialEq, Eq)]
pub enum Proof {
    /// A client secret.
    ClientSecret(Secret),
    /// Assertions signed with the key of a client certificate.
    ClientCertificate(Arc<ClientCertificate>),
    /// A file with the credential of a user-assigned identity, which also names client and tenant. Read again
    /// whenever it changes.
    IdentityFile {
        /// Path of the file.
        path: PathBuf,
        /// Folders that it must be below; it may be anywhere where the operator's own settings name it.
        folders: Option<Vec<PathBuf>>,
    },
    /// The identity of the machine, or the one of the client id; the metadata service knows it.
    ManagedIdentity,
    /// Who is signed in to the Azure CLI (`az login`).
    AzureCli,
    /// The service account's token in this file (workload identity). Read for every token.
    WorkloadIdentity {
        /// Path of the mounted token.
        token_file: PathBuf,
    },
}

impl fmt::Debug for Proof {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::ClientSecret(_) => formatter.write_str("ClientSecret"),
            Self::ClientCertificate(certificate) => certificate.fmt(formatter),
            Self::IdentityFile { path, .. } => {
                write!(formatter, "IdentityFile({})", path.display())
            }
            Self::ManagedIdentity => formatter.write_str("ManagedIdentity"),
            Self::AzureCli => formatter.write_str("AzureCli"),
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
    /// Entra tenant id. Empty for the operator's managed identity or identity file, which need none.
    pub tenant: String,
    /// Client (application) id. Empty for the operator's identity file, and for a managed identity of the machine.
    pub client: String,
    /// Proof.
    pub proof: Proof,
    /// Other tenants whose tokens go along, for resources that refer to theirs.
    pub additional_tenants: Vec<String>,
    /// Another cloud than the operator's.
    pub cloud: Option<Cloud>,
}

impl Identity {
    /// An identity of the operator's cloud and one tenant.
    pub fn new(subscription: &str, tenant: &str, client: &str, proof: Proof) -> Self {
        Self {
            subscription: subscription.to_owned(),
            tenant: tenant.to_owned(),
            client: client.to_owned(),
            proof,
            additional_tenants: Vec::new(),
            cloud: None,
        }
    }

    /// About how many bytes its words take, which whoever wrote them chose.
    pub(crate) fn bytes(&self) -> usize {
        let of_proof = match &self.proof {
            Proof::ClientSecret(secret) => secret.secret().len(),
            Proof::ClientCertificate(certificate) => certificate.bytes(),
            Proof::IdentityFile { path, .. } => path.as_os_str().len(),
            Proof::WorkloadIdentity { token_file } => token_file.as_os_str().len(),
            Proof::ManagedIdentity | Proof::AzureCli => 0,
        };
        let words = [&self.subscription, &self.tenant, &self.client];
        words.into_iter().map(String::len).sum::<usize>() + of_proof
    }

    /// Whether a file that it names may be read, as far as its path shows: who asks need not run where the file is.
    ///
    /// # Errors
    /// When the file is outside of the folders for such files.
    pub fn check_path(&self, place: Place) -> Result<(), CredentialError> {
        let Proof::IdentityFile {
            path,
            folders: Some(folders),
        } = &self.proof
        else {
            return Ok(());
        };
        mounted::check_path(path, folders).map_err(|message| CredentialError::File {
            place,
            path: path.clone(),
            method: mounted::IDENTITY_FILE,
            message,
        })
    }
}
