//! Credentials in use: made once from settings or a Secret, dropped when a watch tells that the Secret changed or is gone, and made
//! again by whoever needs it next.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use azure_core::credentials::TokenCredential;

use super::credential::{
    CredentialError, Identity, OperatorIdentity, Place, SecretReader, SecretRules, SecretUser,
    TokenSources, proof_key, secret_identity,
};
use super::{Cloud, CredentialKey};

/// Rules that do not change while the operator runs.
#[derive(Clone, Debug)]
pub(super) struct CredentialSettings {
    /// The operator's cloud.
    pub(super) cloud: Cloud,
    /// The operator's own identity.
    pub(super) identity: OperatorIdentity,
    /// Mounted token for workload identities in Secrets.
    pub(super) token_file: Option<String>,
    /// Whether Secrets may name another cloud.
    pub(super) other_clouds: bool,
    /// Folders with identity files that Secrets may name.
    pub(super) identity_folders: Vec<PathBuf>,
}

/// All credentials that are in use.
pub(super) struct Credentials {
    settings: CredentialSettings,
    sources: TokenSources,
    secrets: Arc<dyn SecretReader>,
    in_use: Mutex<HashMap<CredentialKey, Arc<Credential>>>,
}

/// A credential that is ready to give tokens; the sources cache them.
pub(super) struct Credential {
    version: String,
    pub(super) subscription: String,
    /// Tenant and client: who ARM counts requests for.
    pub(super) principal: String,
    pub(super) cloud: Cloud,
    /// The key with what it proves itself with: the value is the token source's alone.
    pub(super) proof: &'static str,
    scope: String,
    tokens: Arc<dyn TokenCredential>,
    /// One for each additional tenant.
    additional: Vec<Arc<dyn TokenCredential>>,
}

/// Tokens for one request.
pub(super) struct Tokens {
    /// For `Authorization`.
    pub(super) own: String,
    /// For the header of additional tenants, in their order.
    pub(super) additional: Vec<String>,
}

impl Credential {
    /// Tokens that are valid now.
    pub(super) async fn tokens(&self) -> azure_core::Result<Tokens> {
        let scope = [self.scope.as_str()];
        let own = self.tokens.get_token(&scope, None).await?;
        let mut additional = Vec::new();
        for source in &self.additional {
            let token = source.get_token(&scope, None).await?;
            additional.push(token.token.secret().to_owned());
        }
        Ok(Tokens {
            own: own.token.secret().to_owned(),
            additional,
        })
    }
}

impl Credentials {
    pub(super) fn new(
        settings: CredentialSettings,
        sources: TokenSources,
        secrets: Arc<dyn SecretReader>,
    ) -> Self {
        Self {
            settings,
            sources,
            secrets,
            in_use: Mutex::default(),
        }
    }

    /// The credential. `fresh` finds a changed Secret even when the credential is in use: by the version that a watch
    /// shows, or by reading it where none does.
    ///
    /// # Errors
    /// When the Secret or a key of it is missing or cannot be used.
    pub(super) async fn get(
        &self,
        key: &CredentialKey,
        fresh: bool,
    ) -> Result<Arc<Credential>, CredentialError> {
        let known = self.lock().get(key).cloned();
        let counts = |known: &Arc<Credential>| match self.shown(key) {
            Some(shown) => shown == known.version,
            None => !fresh,
        };
        if let Some(known) = known.filter(counts) {
            return Ok(known);
        }
        let (identity, version, place) = match key {
            CredentialKey::Global => {
                let (identity, version) = self.settings.identity.read().await?;
                if let Some(known) = self.current(key, &version) {
                    return Ok(known);
                }
                (identity, version, Place::Operator)
            }
            CredentialKey::Secret { namespace, name } => {
                let place = place(key);
                let secret = match self.secrets.read_secret(namespace, name).await {
                    Ok(Some(secret)) => secret,
                    Ok(None) => {
                        self.forget(key);
                        return Err(CredentialError::Missing(place));
                    }
                    Err(message) => return Err(CredentialError::Unreadable { place, message }),
                };
                if let Some(known) = self.current(key, &secret.version) {
                    return Ok(known);
                }
                let rules = SecretRules {
                    token_file: self.settings.token_file.as_deref(),
                    cloud: &self.settings.cloud,
                    other_clouds: self.settings.other_clouds,
                    identity_folders: &self.settings.identity_folders,
                };
                let identity = secret_identity(namespace, name, &secret, rules)?;
                (identity, secret.version, place)
            }
        };
        let made = Arc::new(self.make(&identity, version, &place)?);
        // Others may have read the Secret at the same time. The first one's tokens are for all of them.
        let mut in_use = self.lock();
        let kept = in_use.entry(key.clone()).or_insert(Arc::clone(&made));
        if kept.version != made.version {
            *kept = made;
        }
        Ok(Arc::clone(kept))
    }

    /// The version that a watch shows of the Secret.
    fn shown(&self, key: &CredentialKey) -> Option<String> {
        match key {
            CredentialKey::Global => None,
            CredentialKey::Secret { namespace, name } => {
                self.secrets.shown_version(namespace, name)
            }
        }
    }

    /// The credential in use, when it is of this version. One of another version is forgotten: whatever the Secret says
    /// now, it no longer says that.
    fn current(&self, key: &CredentialKey, version: &str) -> Option<Arc<Credential>> {
        let mut in_use = self.lock();
        let known = in_use.get(key)?;
        if known.version == version {
            return Some(Arc::clone(known));
        }
        in_use.remove(key);
        None
    }

    /// Forgets the credential, so that the next use reads its Secret.
    pub(super) fn forget(&self, key: &CredentialKey) {
        self.lock().remove(key);
    }

    fn make(
        &self,
        identity: &Identity,
        version: String,
        place: &Place,
    ) -> Result<Credential, CredentialError> {
        let cloud = identity.cloud.as_ref().unwrap_or(&self.settings.cloud);
        let authority = &cloud.authority_host;
        let source = |tenant: &str| self.sources.source(identity, tenant, authority, place);
        let additional = identity.additional_tenants.iter();
        // Another cloud's word on limits holds for nobody here, whatever tenant and client its Secret names.
        let elsewhere = match &identity.cloud {
            Some(cloud) => format!("{} ", cloud.endpoint),
            None => String::new(),
        };
        Ok(Credential {
            version,
            subscription: identity.subscription.clone(),
            principal: format!("{elsewhere}{}/{}", identity.tenant, identity.client),
            proof: proof_key(&identity.proof),
            scope: cloud.scope(),
            tokens: source(&identity.tenant)?,
            additional: additional
                .map(|tenant| source(tenant))
                .collect::<Result<_, _>>()?,
            cloud: cloud.clone(),
        })
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<CredentialKey, Arc<Credential>>> {
        // A panic while the map was held leaves a map that is still valid.
        self.in_use.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl SecretUser for Credentials {
    fn secret_changed(&self, namespace: &str, name: &str) {
        self.forget(&CredentialKey::Secret {
            namespace: namespace.to_owned(),
            name: name.to_owned(),
        });
    }
}

/// Where the credential is, for messages.
pub(super) fn place(key: &CredentialKey) -> Place {
    match key {
        CredentialKey::Global => Place::Operator,
        CredentialKey::Secret { namespace, name } => Place::Secret {
            namespace: namespace.clone(),
            name: name.clone(),
        },
    }
}
