//! Credential files of user-assigned identities (`AZURE_USER_ASSIGNED_IDENTITY_CREDENTIALS`): JSON with a client
//! certificate that the managed identity data plane issued and that whoever mounts the file replaces in time.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde::Deserialize;

use super::{CertificateError, ClientCertificate};

/// What is used of the file.
#[derive(Deserialize)]
struct Members {
    client_id: Option<String>,
    tenant_id: Option<String>,
    authentication_endpoint: Option<String>,
    /// Certificate and key, PEM or PKCS#12 in base64, without password.
    client_secret: Option<String>,
}

/// The client that such a file names.
///
/// # Errors
/// What is wrong with the file; the text shows no value.
pub(super) fn client_in(content: &[u8]) -> Result<String, String> {
    needed("client_id", members(content)?.client_id)
}

fn members(content: &[u8]) -> Result<Members, String> {
    // The error's own text could repeat what it found.
    serde_json::from_slice(content).map_err(|error| {
        let (line, column) = (error.line(), error.column());
        format!("it is no JSON object with texts (line {line}, column {column})")
    })
}

fn needed(member: &str, value: Option<String>) -> Result<String, String> {
    let value = value.filter(|value| !value.is_empty());
    value.ok_or_else(|| format!("'{member}' is missing in it"))
}

/// The identity in such a file.
pub(super) struct IdentityFile {
    pub(super) client: String,
    pub(super) tenant: String,
    /// Base URL of the authority that knows the identity.
    pub(super) authority: url::Url,
    pub(super) certificate: ClientCertificate,
}

impl IdentityFile {
    /// Reads the content of a file. The error says what is wrong and shows no value.
    pub(super) fn read(content: &[u8]) -> Result<Self, String> {
        let members = members(content)?;
        let client = needed("client_id", members.client_id)?;
        let tenant = needed("tenant_id", members.tenant_id)?;
        let authority = needed("authentication_endpoint", members.authentication_endpoint)?;
        let certificate = needed("client_secret", members.client_secret)?;
        let authority = url::Url::parse(&authority)
            .ok()
            .filter(|url| url.scheme() == "https")
            .ok_or("'authentication_endpoint' is no https URL")?;
        let certificate = STANDARD
            .decode(certificate.trim())
            .map_err(|_| CertificateError::Format("and no base64 either".to_owned()))
            .and_then(|data| ClientCertificate::read(&data, None))
            .map_err(|error| format!("'client_secret': {error}"))?;
        Ok(Self {
            client,
            tenant,
            authority,
            certificate,
        })
    }
}
