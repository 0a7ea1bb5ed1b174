//! Sources of tokens. `azure_identity` asks for tokens and caches them; the assertions are ours, because a rotated
//! file counts at once, errors name where the credential is, and its own client certificates need OpenSSL.

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

use async_trait::async_trait;
use azure_core::cloud::{CloudConfiguration, CustomConfiguration};
use azure_core::credentials::{AccessToken, TokenCredential, TokenRequestOptions};
use azure_core::error::ErrorKind;
use azure_core::http::{ClientMethodOptions, ClientOptions, RetryOptions, Transport};
use azure_identity::{
    AzureCliCredential, AzureCliCredentialOptions, ClientAssertion, ClientAssertionCredential,
    ClientAssertionCredentialOptions, ClientSecretCredential, ClientSecretCredentialOptions,
    ManagedIdentityCredential, ManagedIdentityCredentialOptions, UserAssignedId,
};
use jiff::Timestamp;
use sha2::{Digest, Sha256};
use tokio::sync::Mutex;
use url::Url;

use super::identity_file::IdentityFile;
use super::mounted;
use super::settings::{ADDITIONAL_TENANTS, CERTIFICATE, TENANT};
use super::sign_in::SignIn;
use super::{ClientCertificate, CredentialError, Identity, MetadataService, Place, Proof};

/// What asks for a token, and caches it.
type Tokens = Arc<dyn TokenCredential>;

/// Makes sources of tokens.
#[derive(Clone, Debug)]
pub(crate) struct TokenSources {
    /// Connections to the authority.
    pub(crate) http: reqwest::Client,
    /// For managed identities.
    pub(crate) metadata: MetadataService,
}

impl TokenSources {
    /// The source of an identity's tokens of one tenant, its own or an additional one.
    ///
    /// # Errors
    /// When the tenant or the client is no valid id; names the place and the key.
    pub(crate) fn source(
        &self,
        identity: &Identity,
        tenant: &str,
        authority: &Url,
        place: &Place,
    ) -> Result<Tokens, CredentialError> {
        let invalid = |error: azure_core::Error| CredentialError::Value {
            place: place.clone(),
            key: TENANT,
            message: error.to_string(),
        };
        check_tenant(identity, tenant, place)?;
        let client = &identity.client;
        let place = place.clone();
        match &identity.proof {
            Proof::ClientSecret(secret) => {
                let client_options = self.options(authority);
                let options = ClientSecretCredentialOptions { client_options };
                let secret = secret.clone();
                ClientSecretCredential::new(tenant, client.clone(), secret, Some(options))
                    .map(|made| made as Tokens)
            }
            Proof::ClientCertificate(certificate) => {
                let assertion = SignedAssertion {
                    certificate: Arc::clone(certificate),
                    client: client.clone(),
                    endpoint: token_endpoint(authority, tenant),
                    chain: false,
                    place,
                    file: None,
                };
                self.asserted(tenant, client, authority, assertion)
            }
            Proof::WorkloadIdentity { token_file } => {
                let path = token_file.clone();
                self.asserted(tenant, client, authority, FederatedToken { path, place })
            }
            Proof::ManagedIdentity => self.managed(client, place),
            Proof::AzureCli => {
                let options = AzureCliCredentialOptions {
                    subscription: Some(identity.subscription.clone()),
                    tenant_id: Some(tenant.to_owned()).filter(|tenant| !tenant.is_empty()),
                    executor: None,
                };
                AzureCliCredential::new(Some(options)).map(|made| made as Tokens)
            }
            Proof::IdentityFile { path, folders } => Ok(Arc::new(FileTokens {
                sources: self.clone(),
                path: path.clone(),
                folders: folders.clone(),
                place,
                read: Mutex::default(),
            }) as Tokens),
        }
        .map_err(invalid)
    }

    /// Options of the token endpoint: our HTTP client, this authority, no retry of its own.
    fn options(&self, authority: &Url) -> ClientOptions {
        let mut cloud = CustomConfiguration::default();
        cloud.authority_host = authority.to_string();
        ClientOptions {
            transport: Some(Transport::new(Arc::new(SignIn(self.http.clone())))),
            retry: RetryOptions::none(),
            cloud: Some(Arc::new(CloudConfiguration::Custom(cloud))),
            ..ClientOptions::default()
        }
    }

    fn asserted(
        &self,
        tenant: &str,
        client: &str,
        authority: &Url,
        assertion: impl ClientAssertion + 'static,
    ) -> azure_core::Result<Tokens> {
        let client_options = self.options(authority);
        let options = ClientAssertionCredentialOptions { client_options };
        let (tenant, client) = (tenant.to_owned(), client.to_owned());
        let made = ClientAssertionCredential::new(tenant, client, assertion, Some(options))?;
        Ok(made)
    }

    fn managed(&self, client: &str, place: Place) -> azure_core::Result<Tokens> {
        let id = (!client.is_empty()).then(|| UserAssignedId::ClientId(client.to_owned()));
        let options = ManagedIdentityCredentialOptions {
            user_assigned_id: id,
            client_options: ClientOptions {
                transport: Some(Transport::new(self.metadata.transport(place))),
                ..ClientOptions::default()
            },
        };
        let made = ManagedIdentityCredential::new(Some(options))?;
        Ok(made)
    }
}

/// The tenant becomes a part of the token endpoint's path, and the library's own error would repeat it.
fn check_tenant(identity: &Identity, tenant: &str, place: &Place) -> Result<(), CredentialError> {
    let is_of_machine = matches!(
        identity.proof,
        Proof::ManagedIdentity | Proof::IdentityFile { .. } | Proof::AzureCli
    );
    let is_sign = |sign: char| sign.is_ascii_alphanumeric() || matches!(sign, '.' | '-');
    if is_of_machine || (!tenant.is_empty() && tenant.chars().all(is_sign)) {
        return Ok(());
    }
    Err(CredentialError::Value {
        place: place.clone(),
        key: match tenant == identity.tenant {
            true => TENANT,
            false => ADDITIONAL_TENANTS,
        },
        message: "it is no tenant; expected its id or one of its domains".to_owned(),
    })
}

/// The URL that assertions are for.
fn token_endpoint(authority: &Url, tenant: &str) -> String {
    let authority = authority.as_str().trim_end_matches('/');
    format!("{authority}/{tenant}/oauth2/v2.0/token")
}

fn credential_error(error: CredentialError) -> azure_core::Error {
    azure_core::Error::new(ErrorKind::Credential, error)
}

/// Assertions by the key of a certificate.
#[derive(Debug)]
struct SignedAssertion {
    certificate: Arc<ClientCertificate>,
    client: String,
    endpoint: String,
    chain: bool,
    place: Place,
    /// The credential file that holds the certificate, if one does.
    file: Option<PathBuf>,
}

impl SignedAssertion {
    fn error(&self, message: String) -> CredentialError {
        let place = self.place.clone();
        match &self.file {
            Some(path) => CredentialError::File {
                place,
                path: path.clone(),
                method: mounted::IDENTITY_FILE,
                message,
            },
            None => CredentialError::Value {
                place,
                key: CERTIFICATE,
                message,
            },
        }
    }
}

#[async_trait]
impl ClientAssertion for SignedAssertion {
    async fn secret(&self, _: Option<ClientMethodOptions<'_>>) -> azure_core::Result<String> {
        let (client, endpoint) = (&self.client, &self.endpoint);
        let now = Timestamp::now();
        let assertion = self
            .certificate
            .assertion(client, endpoint, self.chain, now);
        assertion.map_err(|error| credential_error(self.error(error.to_string())))
    }
}

/// The mounted token of a service account as assertion.
#[derive(Debug)]
struct FederatedToken {
    path: PathBuf,
    place: Place,
}

#[async_trait]
impl ClientAssertion for FederatedToken {
    async fn secret(&self, _: Option<ClientMethodOptions<'_>>) -> azure_core::Result<String> {
        let fail = |message: String| {
            credential_error(CredentialError::File {
                place: self.place.clone(),
                path: self.path.clone(),
                method: "workload identity",
                message: format!(
                    "{message}. Mount the service account's token there, name it in AZURE_FEDERATED_TOKEN_FILE, or \
                     use AZURE_CLIENT_SECRET"
                ),
            })
        };
        let token = mounted::read(&self.path, None).await.map_err(fail)?;
        let token = String::from_utf8(token);
        let token = token.map_err(|_| fail("the file is no UTF-8 text".to_owned()))?;
        match token.trim() {
            "" => Err(fail("the file is empty".to_owned())),
            token => Ok(token.to_owned()),
        }
    }
}

/// Tokens by a credential file: whatever is in the file now counts.
struct FileTokens {
    sources: TokenSources,
    path: PathBuf,
    /// Folders that it must be below.
    folders: Option<Vec<PathBuf>>,
    place: Place,
    /// Digest of the content that was read last, and its source.
    read: Mutex<Option<([u8; 32], Tokens)>>,
}

impl fmt::Debug for FileTokens {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "FileTokens({})", self.path.display())
    }
}

impl FileTokens {
    async fn current(&self) -> azure_core::Result<Tokens> {
        let fail = |message: String| {
            credential_error(CredentialError::File {
                place: self.place.clone(),
                path: self.path.clone(),
                method: mounted::IDENTITY_FILE,
                message,
            })
        };
        let content = mounted::read(&self.path, self.folders.as_deref()).await;
        let content = content.map_err(fail)?;
        let digest: [u8; 32] = Sha256::digest(&content).into();
        let mut read = self.read.lock().await;
        if let Some((known, tokens)) = &*read
            && *known == digest
        {
            return Ok(Arc::clone(tokens));
        }
        let file = IdentityFile::read(&content).map_err(fail)?;
        let assertion = SignedAssertion {
            certificate: Arc::new(file.certificate),
            client: file.client.clone(),
            endpoint: token_endpoint(&file.authority, &file.tenant),
            // Entra ID knows these identities by the issuer of their certificates.
            chain: true,
            place: self.place.clone(),
            file: Some(self.path.clone()),
        };
        let (sources, authority) = (&self.sources, &file.authority);
        let made = sources.asserted(&file.tenant, &file.client, authority, assertion);
        let tokens = made.map_err(|error| fail(error.to_string()))?;
        *read = Some((digest, Arc::clone(&tokens)));
        Ok(tokens)
    }
}

#[async_trait]
impl TokenCredential for FileTokens {
    async fn get_token(
        &self,
        scopes: &[&str],
        options: Option<TokenRequestOptions<'_>>,
    ) -> azure_core::Result<AccessToken> {
        self.current().await?.get_token(scopes, options).await
    }
}
