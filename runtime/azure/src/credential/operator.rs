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
        /// Other files that must say what they said when the operator started, each as a text; nothing for one that was not there.
        /// The credential counts with them: whoever writes both into one Secret means both.
        beside: BTreeMap<String, Option<String>>,
    },
}

/// Says by which proof the identity signs in. Unlike the others, which workload identity's webhook puts into pods, a variable of this
/// name was set by somebody: it comes before the file.
const WORKLOAD_IDENTITY: &str = "USE_WORKLOAD_IDENTITY_AUTH";

impl From<Option<Identity>> for OperatorIdentity {
    fn from(identity: Option<Identity>) -> Self {
        Self::Fixed(identity.map(Box::new))
    }
}

impl fmt::Debug for OperatorIdentity {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Fixed(identity) => write!(formatter, "Fixed({identity:?})"),
            Self::Folder {
                folder, variables, ..
            } => {
                let names = variables.keys();
                write!(formatter, "Folder({}, {names:?})", folder.display())
            }
        }
    }
}

impl OperatorIdentity {
    /// A folder, what the environment says, and the other files of the folder that must stay as they are.
    pub fn folder(
        folder: PathBuf,
        variable: impl Fn(&str) -> Option<String>,
        beside: BTreeMap<String, Option<String>>,
    ) -> Self {
        let names = OPERATOR_VARIABLES.iter();
        let variables = names.filter_map(|name| Some(((*name).to_owned(), variable(name)?)));
        Self::Folder {
            folder,
            variables: variables.collect(),
            beside,
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
    /// When a file cannot be read, a variable is missing or cannot be used, or what is beside the credential has changed.
    pub(crate) async fn read(&self) -> Result<(Identity, String), CredentialError> {
        let (identity, version) = match self {
            Self::Fixed(identity) => (identity.as_deref().cloned(), String::new()),
            Self::Folder {
                folder,
                variables,
                beside,
            } => {
                let files = read_files(folder, OPERATOR_VARIABLES).await?;
                let others = read_files(folder, beside.keys().map(String::as_str)).await?;
                let is_there = !files.is_empty() || !others.is_empty();
                if is_there
                    && let Some((name, _)) = beside.iter().find(|(name, text)| {
                        others.get(name.as_str()).and_then(|it| text_of(it)) != **text
                    })
                {
                    return Err(CredentialError::Beside(folder.join(name)));
                }
                let identity = identity_of_operator(&|name| {
                    let file = files.get(name).cloned();
                    let variable = variables.get(name).map(|text| text.clone().into_bytes());
                    match name == WORKLOAD_IDENTITY {
                        true => variable.filter(|text| !text.is_empty()).or(file),
                        false => file.or(variable),
                    }
                })?;
                (identity, version(&files))
            }
        };
        Ok((identity.ok_or(CredentialError::None)?, version))
    }
}

/// The files that are there; a variable without file is none, and so is a folder that is not there yet.
async fn read_files<'n>(
    folder: &Path,
    names: impl IntoIterator<Item = &'n str>,
) -> Result<BTreeMap<&'n str, Vec<u8>>, CredentialError> {
    let mut files = BTreeMap::new();
    for name in names {
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

/// What a file says, without the space around it; nothing where that is nothing.
fn text_of(content: &[u8]) -> Option<String> {
    let text = String::from_utf8_lossy(content).trim().to_owned();
    (!text.is_empty()).then_some(text)
}

/// Digest of names and contents.
fn version(files: &BTreeMap<&str, Vec<u8>>) -> String {
    let mut digest = Sha256::new();
    for (name, content) in files {
        digest.update(name);
        digest.update(content.len().to_be_bytes());
        digest.update(content);
    }
    URL_SAFE_NO_PAD.encode(digest.finalize())
}
