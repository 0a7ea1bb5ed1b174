//! What Secrets may name: kinds of proof and clouds by settings of the operator, and identities of the operator's pod by an
//! annotation of the namespace.

use std::collections::BTreeMap;
use std::fmt;

use super::{Identity, Proof};
use crate::Cloud;

/// Annotation of a namespace: client ids of the workload and managed identities that its Secrets may name.
pub const ALLOWED_IDENTITIES: &str = "armature.azure.com/allowed-identities";

/// Annotation of a namespace: `own`, so that its objects never use the operator's credential, and its Secrets never name the
/// operator's own identity. A text that means nothing keeps them off as well.
pub const OWN_CREDENTIAL: &str = "armature.azure.com/credential";

/// The word for nothing at all.
const NONE: &str = "none";

/// How an identity of a Secret proves itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProofKind {
    /// A client secret.
    ClientSecret,
    /// A client certificate.
    ClientCertificate,
    /// A credential file in the operator's pod.
    IdentityFile,
    /// The token of the operator's service account.
    WorkloadIdentity,
    /// An identity of the operator's machine.
    ManagedIdentity,
}

impl ProofKind {
    const ALL: [Self; 5] = [
        Self::ClientSecret,
        Self::ClientCertificate,
        Self::IdentityFile,
        Self::WorkloadIdentity,
        Self::ManagedIdentity,
    ];

    /// As the setting has it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::ClientSecret => "client-secret",
            Self::ClientCertificate => "client-certificate",
            Self::IdentityFile => "identity-file",
            Self::WorkloadIdentity => "workload-identity",
            Self::ManagedIdentity => "managed-identity",
        }
    }

    fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.as_str() == text)
    }
}

impl fmt::Display for ProofKind {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.as_str())
    }
}

/// What Secrets may name, by the operator's settings.
#[derive(Clone, Debug, Default)]
pub struct SecretBounds {
    /// Kinds of proof; all where there are none.
    proofs: Vec<ProofKind>,
    /// Clouds beside the operator's own.
    clouds: Vec<Cloud>,
}

/// Why a setting of bounds cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BoundsError {
    /// No kind of proof has this name.
    #[error("'{name}' is no kind of proof, expected some of {}", list(&ProofKind::ALL))]
    Proof {
        /// As it is written.
        name: String,
    },
    /// The text names no cloud.
    #[error(
        "'{text}' is no cloud: {why}; expected the ARM endpoint, the authority host and the audience with spaces between them, such as \
         'https://management.usgovcloudapi.net https://login.microsoftonline.us https://management.usgovcloudapi.net', and ';' \
         between clouds"
    )]
    Cloud {
        /// As it is written.
        text: String,
        /// What is wrong with it.
        why: String,
    },
}

impl SecretBounds {
    /// Reads the kinds of proof, with commas or blanks between them, and clouds with semicolons between them. Where a text is
    /// empty, all kinds of proof may be used, and no other cloud.
    ///
    /// # Errors
    /// When a kind is unknown, or a text names no cloud.
    pub fn parse(proofs: &str, clouds: &str) -> Result<Self, BoundsError> {
        let proofs = words(proofs).map(|name| {
            ProofKind::parse(name).ok_or_else(|| BoundsError::Proof {
                name: name.to_owned(),
            })
        });
        let clouds = clouds.split(';').map(str::trim);
        let clouds = clouds.filter(|text| !text.is_empty()).map(cloud);
        Ok(Self {
            proofs: proofs.collect::<Result<_, _>>()?,
            clouds: clouds.collect::<Result<_, _>>()?,
        })
    }

    /// Why a kind of proof may not be used; nothing where it may.
    pub(super) fn refusal(&self, kind: ProofKind) -> Option<String> {
        let is_allowed = self.proofs.is_empty() || self.proofs.contains(&kind);
        (!is_allowed).then(|| {
            format!(
                "it stands for {kind}, and the operator takes {} from Secrets only (ARMATURE_SECRET_PROOFS)",
                list(&self.proofs)
            )
        })
    }

    /// Whether Secrets may name a cloud that is not the operator's.
    pub(super) fn allow_cloud(&self, cloud: &Cloud) -> bool {
        let is_it = |listed: &Cloud| {
            listed.endpoint == cloud.endpoint
                && listed.authority_host == cloud.authority_host
                && listed.scope() == cloud.scope()
        };
        self.clouds.iter().any(is_it)
    }
}

/// Client ids of the identities that the Secrets of a namespace may name without a proof of their own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AllowedIdentities(Vec<String>);

impl AllowedIdentities {
    /// Reads client ids with commas or blanks between them, or `none`. A text that means nothing gives nothing.
    pub fn parse(text: &str) -> Option<Self> {
        let found: Vec<String> = words(text).map(str::to_ascii_lowercase).collect();
        match found.as_slice() {
            [] => None,
            [word] if word == NONE => Some(Self(Vec::new())),
            ids => ids.iter().all(|id| is_client_id(id)).then_some(Self(found)),
        }
    }

    /// Whether the client is one of them.
    pub fn allow(&self, client: &str) -> bool {
        self.0.iter().any(|id| id.eq_ignore_ascii_case(client))
    }
}

/// What a namespace says of the identities that its Secrets name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NamespaceBounds {
    /// Its annotation [`ALLOWED_IDENTITIES`].
    allowed: Option<String>,
    /// Whether it keeps off the operator's own identity ([`OWN_CREDENTIAL`]).
    pub needs_own: bool,
}

impl NamespaceBounds {
    /// By its annotations.
    pub fn of(annotations: &BTreeMap<String, String>) -> Self {
        Self {
            allowed: annotations.get(ALLOWED_IDENTITIES).cloned(),
            needs_own: annotations.contains_key(OWN_CREDENTIAL),
        }
    }

    /// Whether the namespace itself names the client.
    pub fn name(&self, client: &str) -> bool {
        let allowed = self.allowed.as_deref().and_then(AllowedIdentities::parse);
        allowed.is_some_and(|allowed| allowed.allow(client))
    }

    /// Whether its Secrets may name the client without a proof of its own.
    pub fn allow(&self, client: &str) -> bool {
        self.allowed.is_none() || self.name(client)
    }
}

/// The client that an identity stands for by what is the operator's: its service account or its machine.
pub(crate) fn client_borrowed(identity: &Identity) -> Option<&str> {
    let is_borrowed = matches!(
        identity.proof,
        Proof::WorkloadIdentity { .. } | Proof::ManagedIdentity
    );
    is_borrowed.then_some(identity.client.as_str())
}

fn cloud(text: &str) -> Result<Cloud, BoundsError> {
    let error = |why: String| BoundsError::Cloud {
        text: text.to_owned(),
        why,
    };
    let urls: Vec<&str> = text.split_whitespace().collect();
    match urls.as_slice() {
        [endpoint, authority, audience] => {
            Cloud::new(endpoint, authority, audience).map_err(|why| error(why.to_string()))
        }
        urls => Err(error(format!("it has {} parts", urls.len()))),
    }
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    let words = text.split(|letter: char| letter == ',' || letter.is_whitespace());
    words.filter(|word| !word.is_empty())
}

/// Whether a text is a UUID, as client ids are.
fn is_client_id(text: &str) -> bool {
    let groups: Vec<&str> = text.split('-').collect();
    let is_hexadecimal = |group: &str| group.bytes().all(|byte| byte.is_ascii_hexdigit());
    groups.iter().map(|group| group.len()).eq([8, 4, 4, 4, 12])
        && groups.iter().all(|group| is_hexadecimal(group))
}

fn list(kinds: &[ProofKind]) -> String {
    let names: Vec<&str> = kinds.iter().map(|kind| kind.as_str()).collect();
    names.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    const ID: &str = "0f6A2b1c-0000-4000-8000-00000000000a";

    #[test]
    fn which_identities_a_namespace_allows() {
        let two = format!("{ID}, 11111111-2222-3333-4444-555555555555");
        for (text, expected) in [
            (ID, Some(true)),
            (&two, Some(true)),
            ("11111111-2222-3333-4444-555555555555", Some(false)),
            ("none", Some(false)),
            // What means nothing must not pass for everything.
            ("", None),
            (" , ", None),
            ("*", None),
            ("my-app", None),
            (&format!("none {ID}"), None),
        ] {
            let allowed = AllowedIdentities::parse(text);
            let found = allowed.map(|allowed| allowed.allow(&ID.to_ascii_lowercase()));
            assert_eq!(found, expected, "'{text}'");
        }
    }

    #[test]
    fn settings_that_name_no_proof_or_no_cloud_say_what_is_expected() {
        let chinese = "https://management.chinacloudapi.cn https://login.chinacloudapi.cn https://management.chinacloudapi.cn";
        let two = format!("{chinese}; https://a.test https://b.test https://c.test;");
        for (proofs, clouds, expected) in [
            ("", "", None),
            ("client-secret,client-certificate", chinese, None),
            (
                "workload-identity managed-identity identity-file",
                &two,
                None,
            ),
            (
                "secret",
                "",
                Some("'secret' is no kind of proof, expected some of client-secret, "),
            ),
            (
                "",
                "https://a.test https://b.test",
                Some("it has 2 parts; expected the ARM endpoint"),
            ),
            (
                "",
                "https://a.test http://b.test https://c.test",
                Some("the scheme must be https"),
            ),
        ] {
            let error = SecretBounds::parse(proofs, clouds).err();
            let error = error.map(|error| error.to_string());
            assert_eq!(error.is_some(), expected.is_some(), "{error:?}");
            assert!(error.is_none_or(|error| error.contains(expected.unwrap_or_default())));
        }
    }
}
