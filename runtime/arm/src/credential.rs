//! Credentials as the reconciler refers to them, and as the client keeps them.

use armature_azure::CredentialKey;
use armature_reconcile::remote::CredentialRef;

/// What the client keeps a credential by.
pub(crate) fn key_of(credential: &CredentialRef) -> CredentialKey {
    match credential {
        CredentialRef::Global => CredentialKey::Global,
        CredentialRef::Secret { namespace, name } => CredentialKey::Secret {
            namespace: namespace.clone(),
            name: name.clone(),
        },
    }
}

#[cfg(test)]
mod tests {
    use armature_azure::credential::{ALLOWED_IDENTITIES, AllowedIdentities, OWN_CREDENTIAL};
    use armature_reconcile::annotations::{self, client_ids};

    use super::*;

    #[test]
    fn a_secret_is_kept_by_its_own_name() {
        assert_eq!(key_of(&CredentialRef::Global), CredentialKey::Global);
        let (namespace, name) = ("n".to_owned(), "s".to_owned());
        let secret = CredentialRef::Secret {
            namespace: namespace.clone(),
            name: name.clone(),
        };
        assert_eq!(key_of(&secret), CredentialKey::Secret { namespace, name });
    }

    /// The reconciler tells of a text that means nothing, and the client uses one that does: neither knows the other.
    #[test]
    fn bounds_of_a_namespace_are_read_alike() {
        assert_eq!(annotations::ALLOWED_IDENTITIES, ALLOWED_IDENTITIES);
        assert_eq!(annotations::CREDENTIAL, OWN_CREDENTIAL);
        const ID: &str = "00000000-aaaa-BBBB-0000-000000000000";
        for (text, expected) in [
            (ID, true),
            (&format!(" {ID},\n{ID} "), true),
            ("none", true),
            ("None", true),
            ("", false),
            (" , ", false),
            ("*", false),
            ("my-app", false),
            (&format!("none {ID}"), false),
            (&ID[1..], false),
            (&ID.replace('a', "g"), false),
            (&ID.replace('-', ""), false),
        ] {
            assert_eq!(client_ids(text).is_some(), expected, "'{text}'");
            let by_client = AllowedIdentities::parse(text);
            assert_eq!(by_client.is_some(), expected, "'{text}' by the client");
        }
    }
}
