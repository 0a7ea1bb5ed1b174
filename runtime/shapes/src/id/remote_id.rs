//! What a remote calls a resource.

use std::fmt;

use super::resource_id::TOO_LONG;
use super::{IdError, LONGEST_ID, ResourceId};
use crate::kind::{KindInfo, Remote};

/// What a remote calls a resource: the text of the annotation `resource-id`. Two are equal when they are of one remote, which
/// means the same by them.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum RemoteId {
    /// An ARM id.
    Arm(ResourceId),
    /// The id of another remote, as it gave it.
    Other {
        /// Name of the remote.
        remote: &'static str,
        /// Its id.
        id: String,
    },
}

impl RemoteId {
    /// Reads the id of a resource of this kind.
    ///
    /// # Errors
    /// Those of [`ResourceId::parse`]; other remotes take any text up to [`LONGEST_ID`].
    pub fn parse(kind: &KindInfo, text: &str) -> Result<Self, IdError> {
        Ok(match kind.remote {
            Remote::Arm { .. } => Self::Arm(ResourceId::parse(text)?),
            Remote::Other(_) if text.len() > LONGEST_ID => {
                return Err(IdError::Malformed {
                    id: text.to_owned(),
                    reason: TOO_LONG,
                });
            }
            Remote::Other(remote) => Self::Other {
                remote,
                id: text.to_owned(),
            },
        })
    }

    /// The id as text.
    pub fn as_str(&self) -> &str {
        match self {
            Self::Arm(id) => id.as_str(),
            Self::Other { id, .. } => id,
        }
    }

    /// The last segment: the name of the resource.
    pub fn name(&self) -> &str {
        self.as_str().rsplit('/').next().unwrap_or_default()
    }

    /// The ARM id, where it is one.
    pub fn arm(&self) -> Option<&ResourceId> {
        match self {
            Self::Arm(id) => Some(id),
            Self::Other { .. } => None,
        }
    }
}

impl From<ResourceId> for RemoteId {
    fn from(id: ResourceId) -> Self {
        Self::Arm(id)
    }
}

impl fmt::Display for RemoteId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.as_str())
    }
}
