//! Where the operator's own identity is from: fixed when it starts, or a folder that is read again.

use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use sha2::{Digest, Sha256};

use super::settings::identity_of_operator;
use super::{CredentialError, Identity, OPERATOR_VARIABLES, Place, Same, Who};

/// The operator's own identity, or where to read it.
#[derive(Clone)]
pub enum OperatorIdentity {
    /// Known when the operator starts; `None` when it works with Secrets alone.
    Fixed(Option<Box<Identity>>),
    /// One file for each variable, under its name: a mounted Secret. It is read again for every pass, so that a
    /// change counts without a restart.
    Folder {
        /// The folder.
        folder: PathBuf,
        /// Variables of the environment, for those that have no file.
        variables: BTreeMap<String, String>,
    },
}

impl From<Option<Identity>> for OperatorIdentity {
    fn from(identity: Option<Identity>) -> Self {
        Self::Fixed(identity.map(Box::new))
    }
}

impl fmt::Debug for OperatorIdentity {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Fixed(identity) => write!(formatter, "Fixed({identity:?})"),
            Self::Folder { folder, variables } => {
                let names = variables.keys();
                write!(formatter, "Folder({}, {names:?})", folder.display())
            }
        }
    }
}

impl OperatorIdentity {
    /// A folder, and what the environment says beside it.
    pub fn folder(folder: PathBuf, variable: impl Fn(&str) -> Option<String>) -> Self {
        let names = OPERATOR_VARIABLES.iter();
        let variables = names.filter_map(|name| Some(((*name).to_owned(), variable(name)?)));
        Self::Folder {
            folder,
            variables: variables.collect(),
        }
    }

    /// Whether it may be the one that a Secret names, as far as that is known without reading a file.
    pub(crate) fn may_be(&self, who: &Who) -> bool {
        match self {
            Self::Fixed(None) => false,
            Self::Fixed(Some(own)) => who.is(&Who::of(own)) != Same::No,
            Self::Folder { .. } => true,
        }
    }

    /// The identity now, and a text that changes whenever it does.
    ///
    /// # Errors
    /// When a file cannot be read, or a variable is missing or cannot be used.
    pub(crate) async fn read(&self) -> Result<(Identity, String), CredentialError> {
        let (identity, version) = match self {
            Self::Fixed(identity) => (identity.as_deref().cloned(), String::new()),
            Self::Folder { folder, variables } => {
                let files = read_files(folder).await?;
                let identity = identity_of_operator(&|name| {
                    let file = files.get(name).cloned();
                    file.or_else(|| Some(variables.get(name)?.clone().into_bytes()))
                })?;
                (identity, version(&files))
            }
        };
        Ok((identity.ok_or(CredentialError::None)?, version))
    }
}

/// The files that are there; a variable without file is none, and so is a folder that is not there yet.
async fn read_files(folder: &Path) -> Result<BTreeMap<&'static str, Vec<u8>>, CredentialError> {
    let mut files = BTreeMap::new();
    for name in OPERATOR_VARIABLES {
        let path = folder.join(name);
        match tokio::fs::read(&path).await {
            Ok(content) => {
                files.insert(name, content);
            }
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
            Err(error) => {
                return Err(CredentialError::File {
                    place: Place::Operator,
                    path,
                    method: "credential",
                    message: error.to_string(),
                });
            }
        }
    }
    Ok(files)
}

/// Digest of names and contents.
fn version(files: &BTreeMap<&'static str, Vec<u8>>) -> String {
    let mut digest = Sha256::new();
    for (name, content) in files {
        digest.update(name);
        digest.update(content.len().to_be_bytes());
        digest.update(content);
    }
    URL_SAFE_NO_PAD.encode(digest.finalize())
}
