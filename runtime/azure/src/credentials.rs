//! Credentials in use: made once from settings or a Secret, dropped when a watch tells that the Secret changed or is gone, and made
//! again by whoever needs it next.

use std::panic::AssertUnwindSafe;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use azure_core::credentials::{AccessToken, TokenCredential};
use azure_core::error::ErrorKind;
use futures::FutureExt;

use super::actor;
use super::credential::{
    CredentialError, Identity, LONGEST_TOKEN, OperatorIdentity, Place, Proof, Same, SecretBounds,
    SecretData, SecretReader, SecretRules, SecretUser, TokenSources, Who, check_identity,
    client_borrowed, has_certificate, proof_key, secret_identity,
};
use super::failed_credentials::{FailedCredentials, Refusal};
use super::kept::{Kept, Weighed};
use super::readings::Readings;
use super::{Cloud, CredentialKey, Method};

/// Bytes of all credentials in use, with the longest tokens that they could have.
const MOST_BYTES: usize = 256 << 20;
/// Bytes of one source of tokens: the way to the sign-in server, and a token.
const OF_SOURCE: usize = (8 << 10) + LONGEST_TOKEN;

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
    /// Kinds of proof and clouds that Secrets may name.
    pub(super) secret_bounds: SecretBounds,
}

impl CredentialSettings {
    fn rules(&self) -> SecretRules<'_> {
        SecretRules {
            token_file: self.token_file.as_deref(),
            cloud: &self.cloud,
            other_clouds: self.other_clouds,
            identity_folders: &self.identity_folders,
            bounds: &self.secret_bounds,
        }
    }
}

/// All credentials that are in use.
pub(super) struct Credentials {
    settings: CredentialSettings,
    sources: TokenSources,
    secrets: Arc<dyn SecretReader>,
    in_use: Mutex<Kept<Arc<Credential>>>,
    failed: FailedCredentials,
    /// Certificates that are being read from Secrets.
    readings: Readings,
}

/// A credential that is ready to give tokens; the sources cache them.
pub(super) struct Credential {
    version: String,
    pub(super) subscription: String,
    /// Tenant and client: who ARM counts requests for, once that is proven.
    principal: String,
    /// Whether a token was given for it. What a Secret says of itself is no proof.
    is_proven: AtomicBool,
    /// What Azure's records call it, once a token was given for it.
    names: OnceLock<Vec<String>>,
    pub(super) cloud: Cloud,
    /// The key with what it proves itself with: the value is the token source's alone.
    pub(super) proof: &'static str,
    /// Whom it stands for.
    who: Who,
    /// The client, where it proves itself by what is the operator's.
    borrowed: Option<String>,
    scope: String,
    tokens: Arc<dyn TokenCredential>,
    /// One for each additional tenant.
    additional: Vec<Arc<dyn TokenCredential>>,
    /// What it may come to take of memory.
    bytes: usize,
}

/// What a credential is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Asked {
    /// A request, or what is known of it.
    Known,
    /// The beginning of a pass: a changed Secret is found even when the credential is in use, by the version that a watch shows,
    /// or by reading it where none does.
    Fresh,
    /// A DELETE: the namespace may allow less by now than a watch shows.
    ToDelete,
}

impl Asked {
    /// By a request.
    pub(super) fn by(method: Method) -> Self {
        match method {
            Method::Delete => Self::ToDelete,
            _ => Self::Known,
        }
    }
}

/// Tokens for one request.
pub(super) struct Tokens {
    /// For `Authorization`.
    pub(super) own: String,
    /// For the header of additional tenants, in their order.
    pub(super) additional: Vec<String>,
}

impl Credential {
    /// Who the requests of this credential count for. A Secret may name anybody's client: until a token was given for it, it
    /// shares no limits with who else has that client.
    pub(super) fn principal(&self, key: &CredentialKey) -> String {
        match self.is_proven.load(Ordering::Relaxed) {
            true => self.principal.clone(),
            false => format!("{} by {}, unproven", self.principal, place(key)),
        }
    }

    /// What Azure's records call who it stands for; nothing before a token was given for it.
    pub(super) fn names(&self) -> Vec<String> {
        self.names.get().cloned().unwrap_or_default()
    }

    /// Tokens that are valid now.
    pub(super) async fn tokens(&self) -> azure_core::Result<Tokens> {
        let scope = [self.scope.as_str()];
        let own = token(&self.tokens, &scope).await?;
        self.is_proven.store(true, Ordering::Relaxed);
        self.names.get_or_init(|| actor::names(own.token.secret()));
        let mut additional = Vec::new();
        for source in &self.additional {
            let token = token(source, &scope).await?;
            additional.push(token.token.secret().to_owned());
        }
        Ok(Tokens {
            own: own.token.secret().to_owned(),
            additional,
        })
    }
}

impl Weighed for Arc<Credential> {
    fn bytes(&self) -> usize {
        self.bytes
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
            in_use: Mutex::new(Kept::new(MOST_BYTES)),
            failed: FailedCredentials::default(),
            readings: Readings::default(),
        }
    }

    /// The credential, as it is known, or as it is asked for.
    ///
    /// # Errors
    /// When the Secret or a key of it is missing or cannot be used, or its namespace may not use the identity.
    pub(super) async fn get(
        &self,
        key: &CredentialKey,
        asked: Asked,
    ) -> Result<Arc<Credential>, CredentialError> {
        let credential = self.find(key, asked == Asked::Fresh).await?;
        self.check_bounds(key, &credential, asked).await?;
        Ok(credential)
    }

    /// Whether the namespace may use an identity that needs no proof of its own, or is the operator's. Asked each time: what the
    /// namespace says may change while the credential is in use.
    async fn check_bounds(
        &self,
        key: &CredentialKey,
        credential: &Credential,
        asked: Asked,
    ) -> Result<(), CredentialError> {
        let CredentialKey::Secret { namespace, .. } = key else {
            return Ok(());
        };
        let (who, borrowed) = (&credential.who, credential.borrowed.as_deref());
        let may_be_own = self.settings.identity.may_be(who);
        if borrowed.is_none() && !may_be_own {
            return Ok(());
        }
        let live = asked == Asked::ToDelete;
        let bounds = self.secrets.bounds(namespace, live).await;
        let bounds = bounds.map_err(|message| CredentialError::Unreadable {
            place: place(key),
            message,
        })?;
        let same = match bounds.needs_own && may_be_own {
            true => self.is_own(who, place(key)).await?,
            false => Same::No,
        };
        check_identity((who, same), borrowed, &bounds, place(key))
    }

    /// Whether a Secret names the operator's own identity, as both are now.
    async fn is_own(&self, who: &Who, place: Place) -> Result<Same, CredentialError> {
        let own = match self.settings.identity.read().await {
            Ok((own, _)) => Who::of(&own).read(Place::Operator).await,
            Err(CredentialError::None) => return Ok(Same::No),
            Err(error) => Err(error),
        };
        let own = own.map_err(|error| CredentialError::Undecided {
            place: place.clone(),
            message: error.to_string(),
        })?;
        Ok(who.read(place).await?.is(&own))
    }

    async fn find(
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
                        self.failed.forget(key);
                        self.readings.forget(key);
                        return Err(CredentialError::Missing(place));
                    }
                    Err(message) => return Err(CredentialError::Unreadable { place, message }),
                };
                if let Some(known) = self.current(key, &secret.version) {
                    return Ok(known);
                }
                let version = secret.version.clone();
                let identity = self.read(key, (namespace, name), secret).await?;
                (identity, version, place)
            }
        };
        let made = Arc::new(self.make(&identity, version, &place)?);
        // Others may have read the Secret at the same time. The first one's tokens are for all of them.
        let mut in_use = self.lock();
        let first = in_use.get(key).filter(|it| it.version == made.version);
        let kept = match first {
            Some(first) => Arc::clone(first),
            None => {
                in_use.insert(key.clone(), Arc::clone(&made));
                made
            }
        };
        self.readings.is_kept(key, &kept.version);
        Ok(kept)
    }

    /// The identity in a Secret, or why there is none, which is found out once for each version of it.
    async fn read(
        &self,
        key: &CredentialKey,
        (namespace, name): (&str, &str),
        secret: SecretData,
    ) -> Result<Identity, CredentialError> {
        let version = secret.version.clone();
        if let Some(error) = self.failed.unusable(key, &version) {
            return Err(error);
        }
        let takes_time = has_certificate(&secret);
        let (settings, namespace, name) =
            (self.settings.clone(), namespace.to_owned(), name.to_owned());
        let read = move || secret_identity(&namespace, &name, &secret, settings.rules());
        let found = match takes_time {
            true => {
                let place = place(key);
                let found = self.readings.read((key, &version), &place, read).await;
                found.ok_or(CredentialError::BeingRead(place))?
            }
            false => read(),
        };
        if let Err(error) = &found {
            self.failed.is_unusable(key, &version, error);
            self.readings.is_kept(key, &version);
        }
        found
    }

    /// Who reads a certificate.
    #[cfg(test)]
    pub(super) fn turns(&self) -> Arc<tokio::sync::Semaphore> {
        self.readings.turns()
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

    /// Notes that Entra ID refuses the credential, or wants to be asked later, so that it is not asked again at once. Where no watch shows the Secret, the
    /// next use reads it, since it may be another one.
    pub(super) fn refuse(&self, key: &CredentialKey, credential: &Credential, refusal: Refusal) {
        if refusal.wait.is_none() {
            // It speaks for nobody else any more, who may have the same client and a secret that is good.
            credential.is_proven.store(false, Ordering::Relaxed);
        }
        self.failed.is_refused(key, &credential.version, refusal);
        self.forget_unwatched(key);
    }

    /// What Entra ID has just said of the credential, where it refused it.
    pub(super) fn refusal(&self, key: &CredentialKey, credential: &Credential) -> Option<Refusal> {
        let refused = self.failed.refused(key, &credential.version)?;
        self.forget_unwatched(key);
        Some(refused)
    }

    fn forget_unwatched(&self, key: &CredentialKey) {
        if self.shown(key).is_none() {
            self.forget(key);
        }
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
        let sources = 1 + identity.additional_tenants.len();
        Ok(Credential {
            bytes: sources * (OF_SOURCE + identity.bytes()),
            version,
            subscription: identity.subscription.clone(),
            principal: format!("{elsewhere}{}", principal(identity)),
            // The operator's own settings are its administrator's word.
            is_proven: AtomicBool::new(matches!(place, Place::Operator)),
            names: OnceLock::new(),
            proof: proof_key(&identity.proof),
            who: Who::of(identity),
            borrowed: client_borrowed(identity).map(str::to_owned),
            scope: cloud.scope(),
            tokens: source(&identity.tenant)?,
            additional: additional
                .map(|tenant| source(tenant))
                .collect::<Result<_, _>>()?,
            cloud: cloud.clone(),
        })
    }

    fn lock(&self) -> MutexGuard<'_, Kept<Arc<Credential>>> {
        // A panic while the map was held leaves a map that is still valid.
        self.in_use.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl SecretUser for Credentials {
    fn secret_changed(&self, namespace: &str, name: &str) {
        let key = CredentialKey::Secret {
            namespace: namespace.to_owned(),
            name: name.to_owned(),
        };
        self.forget(&key);
        self.failed.forget(&key);
        self.readings.forget(&key);
    }
}

/// A token. A library that ends in a panic over what a server says ends nothing else.
async fn token(
    source: &Arc<dyn TokenCredential>,
    scope: &[&str],
) -> azure_core::Result<AccessToken> {
    let asked = AssertUnwindSafe(source.get_token(scope, None)).catch_unwind();
    asked.await.unwrap_or_else(|_| {
        let message = "the library that asks for tokens has failed at what the server answered";
        Err(azure_core::Error::with_message(
            ErrorKind::Credential,
            message,
        ))
    })
}

/// Who ARM counts requests for. The tenant of a managed identity is the machine's: what a Secret says of it is not asked for.
fn principal(identity: &Identity) -> String {
    match identity.proof {
        Proof::ManagedIdentity => format!("managed identity {}", identity.client),
        _ => format!("{}/{}", identity.tenant, identity.client),
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

#[cfg(test)]
mod tests {
    use azure_core::credentials::TokenRequestOptions;

    use super::*;

    /// As the library does over a number that it does not expect.
    #[derive(Debug)]
    struct Panics;

    #[async_trait::async_trait]
    impl TokenCredential for Panics {
        async fn get_token(
            &self,
            _: &[&str],
            _: Option<TokenRequestOptions<'_>>,
        ) -> azure_core::Result<AccessToken> {
            panic!("overflow when adding duration to datetime");
        }
    }

    #[tokio::test]
    async fn a_panic_of_the_library_is_an_error_in_words() {
        let source: Arc<dyn TokenCredential> = Arc::new(Panics);
        let error = token(&source, &["scope"]).await.expect_err("no token");
        let expected = "the library that asks for tokens has failed at what the server answered";
        assert_eq!(error.to_string(), expected);
    }
}
