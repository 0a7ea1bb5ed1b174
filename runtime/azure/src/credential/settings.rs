//! Which keys make an identity. The keys of a Secret are the names of the operator's variables; the order of methods
//! differs between the two (ASO behaviour §5.2).

use std::path::{Path, PathBuf};
use std::sync::Arc;

use azure_core::credentials::Secret;

use super::{
    CertificateError, ClientCertificate, CredentialError, Identity, Place, Proof, ProofKind,
    SecretBounds, SecretData,
};
use crate::Cloud;

/// Where the token of a workload identity is mounted, unless `AZURE_FEDERATED_TOKEN_FILE` says otherwise.
const TOKEN_FILE: &str = "/var/run/secrets/tokens/azure-identity";

const SUBSCRIPTION: &str = "AZURE_SUBSCRIPTION_ID";
pub(super) const TENANT: &str = "AZURE_TENANT_ID";
pub(super) const CLIENT: &str = "AZURE_CLIENT_ID";
pub(super) const CLIENT_SECRET: &str = "AZURE_CLIENT_SECRET";
pub(super) const CERTIFICATE: &str = "AZURE_CLIENT_CERTIFICATE";
const CERTIFICATE_PASSWORD: &str = "AZURE_CLIENT_CERTIFICATE_PASSWORD";
pub(super) const IDENTITY_FILE: &str = "AZURE_USER_ASSIGNED_IDENTITY_CREDENTIALS";
const IDENTITY_FOLDERS: &str = "ARMATURE_IDENTITY_FILE_FOLDERS";
const AUTH_MODE: &str = "AUTH_MODE";
const WORKLOAD_IDENTITY: &str = "USE_WORKLOAD_IDENTITY_AUTH";
const FEDERATED_TOKEN_FILE: &str = "AZURE_FEDERATED_TOKEN_FILE";
pub(super) const ADDITIONAL_TENANTS: &str = "AZURE_ADDITIONAL_TENANTS";

/// Bytes of the longest value of each key in a Secret. What is longer is none of Azure's, and would be kept, sent and asked for with
/// every token. What opening a certificate takes is bounded by itself.
const LONGEST: [(&str, usize); 12] = [
    (SUBSCRIPTION, 256),
    (TENANT, 256),
    (CLIENT, 256),
    (CLIENT_SECRET, 4096),
    (CERTIFICATE, 256 << 10),
    (CERTIFICATE_PASSWORD, 1024),
    (IDENTITY_FILE, 4096),
    (AUTH_MODE, 64),
    (ADDITIONAL_TENANTS, 1024),
    (Cloud::VARIABLES[0], 1024),
    (Cloud::VARIABLES[1], 1024),
    (Cloud::VARIABLES[2], 1024),
];

/// Additional tenants of a Secret: Azure Resource Manager takes as many tokens beside the first one.
const MOST_TENANTS: usize = 3;

/// Variables that make the operator's own identity.
pub const OPERATOR_VARIABLES: [&str; 10] = [
    SUBSCRIPTION,
    TENANT,
    CLIENT,
    CLIENT_SECRET,
    CERTIFICATE,
    CERTIFICATE_PASSWORD,
    IDENTITY_FILE,
    ADDITIONAL_TENANTS,
    WORKLOAD_IDENTITY,
    FEDERATED_TOKEN_FILE,
];

/// What the operator's settings say about Secrets.
#[derive(Clone, Copy, Debug)]
pub struct SecretRules<'a> {
    /// Mounted token for workload identities (`AZURE_FEDERATED_TOKEN_FILE`).
    pub token_file: Option<&'a str>,
    /// The operator's own cloud.
    pub cloud: &'a Cloud,
    /// Whether a Secret may name another cloud (`ALLOW_MULTI_ENV_MANAGEMENT`).
    pub other_clouds: bool,
    /// Folders with files that a Secret may name, beside that of the token (`ARMATURE_IDENTITY_FILE_FOLDERS`).
    pub identity_folders: &'a [PathBuf],
    /// Kinds of proof and clouds that Secrets may name.
    pub bounds: &'a SecretBounds,
}

impl SecretRules<'_> {
    /// The folders below which a file must be that a Secret names.
    fn folders(&self) -> Vec<PathBuf> {
        let token = Path::new(self.token_file.unwrap_or(TOKEN_FILE)).parent();
        // The root would be everything.
        let token = token.filter(|folder| folder.parent().is_some());
        let named = self.identity_folders.iter().map(PathBuf::as_path);
        token.into_iter().chain(named).map(Path::to_owned).collect()
    }
}

/// The operator's own identity; `None` when it has no subscription, and so works with Secrets alone.
///
/// The first of: workload identity, client certificate, identity file, client secret, managed identity.
///
/// # Errors
/// When a variable that the identity needs is missing or cannot be used.
pub fn operator_identity(
    variable: impl Fn(&str) -> Option<String>,
) -> Result<Option<Identity>, CredentialError> {
    identity_of_operator(&|name| variable(name).map(String::into_bytes))
}

/// The same of variables whose values are bytes, as those of files are.
pub(super) fn identity_of_operator(
    get: &dyn Fn(&str) -> Option<Vec<u8>>,
) -> Result<Option<Identity>, CredentialError> {
    let keys = Keys {
        place: Place::Operator,
        get,
    };
    let Some(subscription) = keys.optional(SUBSCRIPTION) else {
        return Ok(None);
    };
    let is_workload = keys
        .optional(WORKLOAD_IDENTITY)
        .is_some_and(|value| is_true(&value));
    let proof = if is_workload {
        workload_identity(keys.optional(FEDERATED_TOKEN_FILE))
    } else if let Some(proof) = keys.certificate()? {
        proof
    } else if let Some(proof) = keys.identity_file(None) {
        proof
    } else {
        keys.client_secret().unwrap_or(Proof::ManagedIdentity)
    };
    let (tenant, client) = match proof {
        // The machine and the file know the tenant; a client id says which identity of the machine.
        Proof::ManagedIdentity | Proof::IdentityFile { .. } => (
            keys.optional(TENANT).unwrap_or_default(),
            keys.optional(CLIENT).unwrap_or_default(),
        ),
        _ => (keys.tenant()?, keys.client()?),
    };
    let identity = Identity::new(&subscription, &tenant, &client, proof);
    keys.with_additional_tenants(identity).map(Some)
}

/// Whether a variable is true, in the words that Azure Service Operator takes: those of Go's `strconv.ParseBool`, in any case. What is
/// none of these is false there, and here.
pub fn is_true(text: &str) -> bool {
    let text = text.trim();
    ["1", "t", "true"]
        .iter()
        .any(|word| text.eq_ignore_ascii_case(word))
}

/// Folders with identity files that Secrets may name: that of the operator's own, and those that its administrator names.
pub fn identity_folders(variable: impl Fn(&str) -> Option<String>) -> Vec<PathBuf> {
    let own = variable(IDENTITY_FILE).map(PathBuf::from);
    let own = own.and_then(|file| file.parent().map(Path::to_owned));
    let own = own.filter(|folder| folder.parent().is_some());
    let named = variable(IDENTITY_FOLDERS).unwrap_or_default();
    let named = named.split(':').filter(|folder| !folder.is_empty());
    own.into_iter().chain(named.map(PathBuf::from)).collect()
}

/// Whether a Secret holds a certificate, which takes time to read: one with a password is made to.
pub fn has_certificate(secret: &SecretData) -> bool {
    secret.data.contains_key(CERTIFICATE)
}

/// The identity in a Secret.
///
/// The first of: client secret, client certificate, identity file, what `AUTH_MODE` says, workload identity.
///
/// # Errors
/// When a key that the identity needs is missing or cannot be used; names the Secret and the key.
pub fn secret_identity(
    namespace: &str,
    name: &str,
    secret: &SecretData,
    rules: SecretRules<'_>,
) -> Result<Identity, CredentialError> {
    let keys = Keys {
        place: Place::Secret {
            namespace: namespace.to_owned(),
            name: name.to_owned(),
        },
        get: &|key| secret.data.get(key).cloned(),
    };
    keys.check_lengths(secret)?;
    let subscription = keys.required(SUBSCRIPTION, "it is the subscription to work in")?;
    let (tenant, client) = (keys.tenant()?, keys.client()?);
    let proof = keys.proof_of_secret(rules)?;
    let mut identity = Identity::new(&subscription, &tenant, &client, proof);
    identity.cloud = keys.cloud(rules)?;
    keys.with_additional_tenants(identity)
}

fn workload_identity(token_file: Option<String>) -> Proof {
    Proof::WorkloadIdentity {
        token_file: token_file.unwrap_or_else(|| TOKEN_FILE.to_owned()).into(),
    }
}

/// Settings under their names, and where they are from.
struct Keys<'a> {
    place: Place,
    get: &'a dyn Fn(&str) -> Option<Vec<u8>>,
}

impl Keys<'_> {
    /// Before anything is read: a tenant writes Secrets, and pays for nothing that is done with them.
    fn check_lengths(&self, secret: &SecretData) -> Result<(), CredentialError> {
        for (key, longest) in LONGEST {
            let length = secret.data.get(key).map_or(0, Vec::len);
            if length > longest {
                let message = format!("it has {length} bytes, expected {longest} at most");
                return Err(self.unusable(key, message));
            }
        }
        Ok(())
    }

    fn optional(&self, key: &str) -> Option<String> {
        (self.get)(key)
            .map(|value| String::from_utf8_lossy(&value).trim().to_owned())
            .filter(|value| !value.is_empty())
    }

    fn required(&self, key: &'static str, needed: &'static str) -> Result<String, CredentialError> {
        self.optional(key).ok_or_else(|| CredentialError::Key {
            place: self.place.clone(),
            key,
            needed,
        })
    }

    fn tenant(&self) -> Result<String, CredentialError> {
        self.required(TENANT, "it is the Entra tenant of the identity")
    }

    fn client(&self) -> Result<String, CredentialError> {
        self.required(CLIENT, "it is the client (application) id of the identity")
    }

    /// What the identity of a Secret proves itself with. What it may not use is neither read nor passed over for another one.
    fn proof_of_secret(&self, rules: SecretRules<'_>) -> Result<Proof, CredentialError> {
        let check = |kind: ProofKind, key: &'static str| match rules.bounds.refusal(kind) {
            Some(message) => Err(self.unusable(key, message)),
            None => Ok(()),
        };
        if let Some(proof) = self.client_secret() {
            check(ProofKind::ClientSecret, CLIENT_SECRET)?;
            return Ok(proof);
        }
        if self.optional(CERTIFICATE).is_some() {
            check(ProofKind::ClientCertificate, CERTIFICATE)?;
        }
        if let Some(proof) = self.certificate()? {
            return Ok(proof);
        }
        if let Some(proof) = self.identity_file(Some(rules.folders())) {
            check(ProofKind::IdentityFile, IDENTITY_FILE)?;
            return Ok(proof);
        }
        let proof = self.auth_mode(rules.token_file)?;
        let key = match self.optional(AUTH_MODE) {
            Some(_) => AUTH_MODE,
            None => CLIENT,
        };
        match proof {
            Proof::ManagedIdentity => check(ProofKind::ManagedIdentity, key)?,
            _ => check(ProofKind::WorkloadIdentity, key)?,
        }
        Ok(proof)
    }

    fn client_secret(&self) -> Option<Proof> {
        self.optional(CLIENT_SECRET)
            .map(|secret| Proof::ClientSecret(Secret::new(secret)))
    }

    fn certificate(&self) -> Result<Option<Proof>, CredentialError> {
        let Some(data) = (self.get)(CERTIFICATE).filter(|data| !data.trim_ascii().is_empty())
        else {
            return Ok(None);
        };
        let password = self.optional(CERTIFICATE_PASSWORD);
        match ClientCertificate::read(&data, password.as_deref()) {
            Ok(certificate) => Ok(Some(Proof::ClientCertificate(Arc::new(certificate)))),
            Err(CertificateError::Password) if password.is_none() => Err(CredentialError::Key {
                place: self.place.clone(),
                key: CERTIFICATE_PASSWORD,
                needed: "the PKCS#12 file in AZURE_CLIENT_CERTIFICATE has a password",
            }),
            Err(error @ CertificateError::Password) => {
                Err(self.unusable(CERTIFICATE_PASSWORD, error.to_string()))
            }
            Err(error) => Err(self.unusable(CERTIFICATE, error.to_string())),
        }
    }

    fn identity_file(&self, folders: Option<Vec<PathBuf>>) -> Option<Proof> {
        let path = self.optional(IDENTITY_FILE)?.into();
        Some(Proof::IdentityFile { path, folders })
    }

    fn auth_mode(&self, token_file: Option<&str>) -> Result<Proof, CredentialError> {
        let mode = self.optional(AUTH_MODE).unwrap_or_default();
        match mode.to_ascii_lowercase().as_str() {
            "" | "workloadidentity" => Ok(workload_identity(token_file.map(str::to_owned))),
            "podidentity" => Ok(Proof::ManagedIdentity),
            _ => Err(self.unusable(
                AUTH_MODE,
                "expected 'workloadidentity' or 'podidentity' (managed identity)".to_owned(),
            )),
        }
    }

    /// The cloud that a Secret names, when it is another one than the operator's.
    fn cloud(&self, rules: SecretRules<'_>) -> Result<Option<Cloud>, CredentialError> {
        if !Cloud::VARIABLES
            .iter()
            .any(|key| self.optional(key).is_some())
        {
            return Ok(None);
        }
        let cloud = Cloud::from_variables(|key| self.optional(key))
            .map_err(|error| self.unusable(error.variable(), error.to_string()))?;
        if cloud == *rules.cloud {
            return Ok(None);
        }
        if !rules.other_clouds && !rules.bounds.allow_cloud(&cloud) {
            return Err(self.unusable(
                Cloud::VARIABLES[0],
                "it names another cloud than the operator's, and one that its setting ARMATURE_ALLOWED_CLOUDS does not list; \
                 have an administrator add it (ALLOW_MULTI_ENV_MANAGEMENT=true would allow any host)"
                    .to_owned(),
            ));
        }
        Ok(Some(cloud))
    }

    fn with_additional_tenants(&self, mut identity: Identity) -> Result<Identity, CredentialError> {
        let named = self.optional(ADDITIONAL_TENANTS).unwrap_or_default();
        let named = named.split(',').map(str::trim);
        let mut tenants: Vec<String> = Vec::new();
        for tenant in named.filter(|tenant| !tenant.is_empty()) {
            let is_it = |known: &String| known.eq_ignore_ascii_case(tenant);
            if !is_it(&identity.tenant) && !tenants.iter().any(is_it) {
                tenants.push(tenant.to_owned());
            }
        }
        identity.additional_tenants = tenants;
        if self.place != Place::Operator && identity.additional_tenants.len() > MOST_TENANTS {
            return Err(self.unusable(
                ADDITIONAL_TENANTS,
                format!(
                    "it names {} tenants beside that of the identity, expected {MOST_TENANTS} at most: Azure Resource Manager \
                     takes no more tokens with a request",
                    identity.additional_tenants.len()
                ),
            ));
        }
        let has_one_tenant = matches!(
            identity.proof,
            Proof::ManagedIdentity | Proof::IdentityFile { .. }
        );
        if has_one_tenant && !identity.additional_tenants.is_empty() {
            return Err(self.unusable(
                ADDITIONAL_TENANTS,
                "a managed identity gets tokens of its own tenant only; use a client secret, a client certificate \
                 or a workload identity"
                    .to_owned(),
            ));
        }
        Ok(identity)
    }

    fn unusable(&self, key: &'static str, message: String) -> CredentialError {
        CredentialError::Value {
            place: self.place.clone(),
            key,
            message,
        }
    }
}

#[cfg(test)]
mod tests;
