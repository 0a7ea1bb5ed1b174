//! Identities: how they are read from variables and Secrets, and how they prove themselves to get tokens
//! (ASO behaviour §1.8, §5.2).
//!
//! | module | what |
//! |---|---|
//! | `secret` | Secrets with credentials, and who reads them |
//! | `identity` | an identity and its proof |
//! | `settings` | which keys make an identity, and the order of methods |
//! | `bounds` | which of that Secrets may name |
//! | `own` | whether a Secret names the operator's own identity |
//! | `operator` | where the operator's own identity is from |
//! | `certificate` | client certificates in PEM and PKCS#12, and the assertions they sign |
//! | `pkcs12` | PKCS#12 files, and what opening one may take |
//! | `identity_file` | credential files of user-assigned identities |
//! | `mounted` | reading files that Secrets may name |
//! | `metadata_service` | the endpoint that gives managed identities their tokens |
//! | `token` | the source of tokens of an identity |
//! | `sign_in` | the server that gives out tokens, and what of its answers counts |
//! | `refusal` | which key to look at when Entra ID refuses an identity |
//! | `error` | what can be wrong with a credential, as sentences that name the Secret and the key |
//!
//! What does not live here: the choice between the object's, the namespace's and the operator's credential, which
//! is a step of `armature_reconcile`, and the cache of credentials that are in use (`super::credentials`).

mod bounds;
mod certificate;
mod error;
mod identity;
mod identity_file;
mod metadata_service;
mod mounted;
mod operator;
mod own;
mod pkcs12;
mod refusal;
mod secret;
mod settings;
mod sign_in;
mod token;

pub(super) use bounds::client_borrowed;
pub use bounds::{
    ALLOWED_IDENTITIES, AllowedIdentities, BoundsError, NamespaceBounds, OWN_CREDENTIAL, ProofKind,
    SecretBounds,
};
pub use certificate::{CertificateError, ClientCertificate};
pub use error::{CredentialError, Place};
pub use identity::{Identity, Proof};
pub(super) use metadata_service::MetadataService;
pub use operator::OperatorIdentity;
pub use own::check_bounds;
pub(super) use own::{Same, Who, check as check_identity};
pub(super) use refusal::{proof_key, refused_key};
pub use secret::{SecretData, SecretReader, SecretUser};
pub(super) use settings::has_certificate;
pub use settings::{
    OPERATOR_VARIABLES, SecretRules, identity_folders, is_true, operator_identity, secret_identity,
};
pub(super) use sign_in::{LONGEST_TOKEN, asked_to_wait};
pub(super) use token::TokenSources;
