//! Whether a Secret names the identity that is the operator's own, whatever it proves it with.

use std::path::PathBuf;

use super::identity_file::client_in;
use super::settings::{CLIENT, IDENTITY_FILE};
use super::{
    CredentialError, Identity, NamespaceBounds, OWN_CREDENTIAL, Place, Proof, client_borrowed,
    mounted,
};

/// Who an identity stands for, as far as its settings tell.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Who {
    /// A client.
    Client(String),
    /// An identity of the operator's machine: the one of a client id, or, where that is empty, the machine's own.
    Machine(String),
    /// Whom a file names.
    File {
        /// Path of the file.
        path: PathBuf,
        /// Folders that it must be below, where a Secret names it.
        folders: Option<Vec<PathBuf>>,
    },
    /// A person at the Azure CLI.
    Person,
}

/// What is known of two identities.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Same {
    /// They are the same.
    Yes,
    /// They are not.
    No,
    /// Both are the machine's, and which of them is the operator's only the machine knows.
    Unknown,
    /// A file says whom it names.
    Look,
}

impl Who {
    pub(crate) fn of(identity: &Identity) -> Self {
        let client = identity.client.clone();
        match &identity.proof {
            Proof::ManagedIdentity => Self::Machine(client),
            Proof::AzureCli => Self::Person,
            Proof::IdentityFile { path, folders } => Self::File {
                path: path.clone(),
                folders: folders.clone(),
            },
            Proof::ClientSecret(_)
            | Proof::ClientCertificate(_)
            | Proof::WorkloadIdentity { .. } => Self::Client(client),
        }
    }

    /// Whether the operator's own is the same one.
    pub(crate) fn is(&self, own: &Self) -> Same {
        match (self, own) {
            (Self::Person, _) | (_, Self::Person) => Same::No,
            (Self::File { .. }, _) | (_, Self::File { .. }) => Same::Look,
            (Self::Machine(_), Self::Machine(own)) if own.is_empty() => Same::Unknown,
            (
                Self::Client(client) | Self::Machine(client),
                Self::Client(own) | Self::Machine(own),
            ) => match client.eq_ignore_ascii_case(own) {
                true => Same::Yes,
                false => Same::No,
            },
        }
    }

    /// The same with what its file says now.
    ///
    /// # Errors
    /// When the file cannot be used.
    pub(crate) async fn read(&self, place: Place) -> Result<Self, CredentialError> {
        let Self::File { path, folders } = self else {
            return Ok(self.clone());
        };
        let content = mounted::read(path, folders.as_deref()).await;
        let client = content.and_then(|content| client_in(&content));
        let client = client.map_err(|message| CredentialError::File {
            place,
            path: path.clone(),
            method: mounted::IDENTITY_FILE,
            message,
        });
        client.map(Self::Client)
    }

    fn has_path_of(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::File { path, .. }, Self::File { path: other, .. }) => path == other,
            _ => false,
        }
    }

    /// The key of a Secret that names it.
    fn key(&self) -> &'static str {
        match self {
            Self::File { .. } => IDENTITY_FILE,
            _ => CLIENT,
        }
    }

    /// Why a Secret may not name it in a namespace that keeps off the operator's own; nothing where it may. `is_named` is
    /// whether the namespace itself allows its client id.
    pub(crate) fn refusal(
        &self,
        same: Same,
        is_named: bool,
        place: Place,
    ) -> Option<CredentialError> {
        let message = match same {
            Same::No => return None,
            Same::Unknown if is_named => return None,
            Same::Yes | Same::Look => format!(
                "it names the operator's own identity, which its namespace may not use (annotation {OWN_CREDENTIAL}); name another one"
            ),
            Same::Unknown => format!(
                "it names an identity of the operator's machine, as the operator's own is, whose client id is not known, and which its \
                 namespace may not use (annotation {OWN_CREDENTIAL}); have an administrator set AZURE_CLIENT_ID of the operator, or \
                 name the client id of the Secret in the annotation {} of the namespace",
                super::ALLOWED_IDENTITIES
            ),
        };
        Some(CredentialError::Value {
            place,
            key: self.key(),
            message,
        })
    }
}

/// What a namespace says against an identity of its Secrets: one that needs no proof (`borrowed` is its client) must be allowed, and
/// where the namespace keeps off the operator's own, none may be the same.
///
/// # Errors
/// What is wrong with it.
pub(crate) fn check(
    (who, same): (&Who, Same),
    borrowed: Option<&str>,
    bounds: &NamespaceBounds,
    place: Place,
) -> Result<(), CredentialError> {
    let is_named = borrowed.is_some_and(|client| bounds.name(client));
    if bounds.needs_own
        && let Some(error) = who.refusal(same, is_named, place.clone())
    {
        return Err(error);
    }
    match borrowed.is_none_or(|client| bounds.allow(client)) {
        true => Ok(()),
        false => Err(CredentialError::Identity { place, key: CLIENT }),
    }
}

/// The same as far as settings show it, without a file being read.
///
/// # Errors
/// What is wrong with the identity.
pub fn check_bounds(
    identity: &Identity,
    own: Option<&Identity>,
    bounds: &NamespaceBounds,
    place: Place,
) -> Result<(), CredentialError> {
    let who = Who::of(identity);
    let own = own.map(Who::of);
    let same = match own.as_ref().map(|own| who.is(own)) {
        None => Same::No,
        Some(Same::Look) if own.as_ref().is_some_and(|own| who.has_path_of(own)) => Same::Yes,
        Some(Same::Look) => Same::No,
        Some(same) => same,
    };
    check((&who, same), client_borrowed(identity), bounds, place)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_is_the_operator() {
        let client = |id: &str| Who::Client(id.to_owned());
        let machine = |id: &str| Who::Machine(id.to_owned());
        let file = Who::File {
            path: "/mnt/identity.json".into(),
            folders: None,
        };
        for (secret, own, expected) in [
            (client("A"), client("a"), Same::Yes),
            (client("a"), client("b"), Same::No),
            (machine("a"), client("a"), Same::Yes),
            (client("a"), machine("a"), Same::Yes),
            (machine("a"), machine("b"), Same::No),
            (machine("a"), machine(""), Same::Unknown),
            // No service account can stand for what is the machine's own.
            (client("a"), machine(""), Same::No),
            (client("a"), Who::Person, Same::No),
            (machine("a"), Who::Person, Same::No),
            (file.clone(), client("a"), Same::Look),
            (client("a"), file.clone(), Same::Look),
        ] {
            assert_eq!(secret.is(&own), expected, "{secret:?} {own:?}");
        }
        for (same, is_named, is_refused) in [
            (Same::Yes, true, true),
            (Same::Yes, false, true),
            (Same::Look, true, true),
            (Same::Unknown, false, true),
            (Same::Unknown, true, false),
            (Same::No, false, false),
        ] {
            let refusal = client("a").refusal(same, is_named, Place::Operator);
            assert_eq!(refusal.is_some(), is_refused, "{same:?} {is_named}");
        }
    }
}
