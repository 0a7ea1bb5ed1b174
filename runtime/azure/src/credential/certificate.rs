//! Client certificates: what ASO accepts in `AZURE_CLIENT_CERTIFICATE` (PEM or PKCS#12), and the assertions that
//! Entra ID takes for them (RFC 7523, signed with RS256).

use std::fmt;

use aws_lc_rs::digest::{SHA1_FOR_LEGACY_USE_ONLY, digest};
use aws_lc_rs::rand::SystemRandom;
use aws_lc_rs::rsa;
use aws_lc_rs::signature::{KeyPair, RSA_PKCS1_SHA256};
use base64::Engine;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use jiff::{SignedDuration, Timestamp};
use rustls_pki_types::pem::PemObject;
use rustls_pki_types::{CertificateDer, PrivateKeyDer};
use serde_json::json;
use x509_parser::prelude::{FromDer, X509Certificate};

use super::pkcs12::{Archive, Pkcs12Error};

/// How long an assertion is valid; it is used at once.
const ASSERTION_LIFETIME: SignedDuration = SignedDuration::from_mins(5);

/// Why a client certificate cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum CertificateError {
    /// Neither PEM nor PKCS#12.
    #[error("it is neither PEM nor PKCS#12 ({0}); expected a certificate with its private key")]
    Format(String),
    /// No certificate.
    #[error(
        "it holds no certificate; expected a certificate with its private key, in PEM or PKCS#12"
    )]
    NoCertificate,
    /// No private key.
    #[error("it holds no private key; put the key beside the certificate")]
    NoKey,
    /// The private key in PEM has a password.
    #[error(
        "its private key is encrypted PEM, which is not supported; use PKCS#12 with \
         AZURE_CLIENT_CERTIFICATE_PASSWORD, or a key without password"
    )]
    EncryptedKey,
    /// The password does not open the PKCS#12 file.
    #[error("it does not open the PKCS#12 file in AZURE_CLIENT_CERTIFICATE")]
    Password,
    /// Opening it would take more time or memory than one of many tenants may take.
    #[error(
        "opening the PKCS#12 file would take too long: it asks for {0}; write it with fewer, as openssl pkcs12 -export does \
         by default"
    )]
    TooCostly(String),
    /// Not an RSA key.
    #[error("its private key is no RSA key of 2048 bits or more, and Entra ID takes no other")]
    NotRsa,
    /// The key belongs to another certificate.
    #[error("its private key belongs to none of its certificates")]
    OtherKey,
    /// Too old.
    #[error("the certificate expired at {0}; put a new one into its place")]
    Expired(Timestamp),
    /// Too young.
    #[error("the certificate is not valid before {0}")]
    NotYetValid(Timestamp),
    /// The key cannot sign.
    #[error("its private key cannot sign")]
    Signature,
}

impl From<Pkcs12Error> for CertificateError {
    fn from(error: Pkcs12Error) -> Self {
        match error {
            Pkcs12Error::Format(message) => Self::Format(message),
            Pkcs12Error::Password => Self::Password,
            Pkcs12Error::TooCostly(what) => Self::TooCostly(what),
        }
    }
}

/// A certificate with its RSA key.
pub struct ClientCertificate {
    /// The certificate first, then those of its issuers, in DER.
    chain: Vec<Vec<u8>>,
    key: rsa::KeyPair,
    not_before: Timestamp,
    not_after: Timestamp,
}

/// The same certificate has the same key.
impl PartialEq for ClientCertificate {
    fn eq(&self, other: &Self) -> bool {
        self.chain == other.chain
    }
}

impl Eq for ClientCertificate {}

impl fmt::Debug for ClientCertificate {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "ClientCertificate({})", self.thumbprint())
    }
}

impl ClientCertificate {
    /// About how many bytes it takes.
    pub(super) fn bytes(&self) -> usize {
        let chain: usize = self.chain.iter().map(Vec::len).sum();
        chain + 4 * self.key.public_modulus_len()
    }

    /// Reads PEM, PKCS#12 or either of them in base64. The password is of PKCS#12.
    ///
    /// # Errors
    /// When the data is something else, or the certificate and its RSA key are not both in it. Whether the
    /// certificate is valid now is asked when it signs.
    pub fn read(data: &[u8], password: Option<&str>) -> Result<Self, CertificateError> {
        match Encoding::of(data) {
            Some(Encoding::Pem) => Self::from_pem(data),
            Some(Encoding::Der) => Self::from_pkcs12(data, password),
            None => {
                let data = decoded(data)
                    .ok_or_else(|| CertificateError::Format("and no base64 either".to_owned()))?;
                match Encoding::of(&data) {
                    Some(Encoding::Pem) => Self::from_pem(&data),
                    _ => Self::from_pkcs12(&data, password),
                }
            }
        }
    }

    fn from_pem(pem: &[u8]) -> Result<Self, CertificateError> {
        let format =
            |error: rustls_pki_types::pem::Error| CertificateError::Format(error.to_string());
        let certificates = CertificateDer::pem_slice_iter(pem)
            .map(|certificate| Ok(certificate.map_err(format)?.to_vec()))
            .collect::<Result<Vec<_>, CertificateError>>()?;
        let key = match PrivateKeyDer::from_pem_slice(pem) {
            Ok(key) => key,
            Err(rustls_pki_types::pem::Error::NoItemsFound) => {
                let encrypted = b"BEGIN ENCRYPTED PRIVATE KEY";
                let is_encrypted = pem.windows(encrypted.len()).any(|part| part == encrypted);
                return Err(match is_encrypted {
                    true => CertificateError::EncryptedKey,
                    false => CertificateError::NoKey,
                });
            }
            Err(error) => return Err(format(error)),
        };
        let key = match &key {
            PrivateKeyDer::Pkcs1(key) => rsa::KeyPair::from_der(key.secret_pkcs1_der()),
            PrivateKeyDer::Pkcs8(key) => rsa::KeyPair::from_pkcs8(key.secret_pkcs8_der()),
            _ => return Err(CertificateError::NotRsa),
        };
        Self::new(certificates, key.map_err(|_| CertificateError::NotRsa)?)
    }

    fn from_pkcs12(der: &[u8], password: Option<&str>) -> Result<Self, CertificateError> {
        let archive = Archive::open(der, password.unwrap_or_default())?;
        let key = archive.keys.first().ok_or(CertificateError::NoKey)?;
        let key = rsa::KeyPair::from_pkcs8(key).map_err(|_| CertificateError::NotRsa)?;
        Self::new(archive.certificates, key)
    }

    fn new(mut certificates: Vec<Vec<u8>>, key: rsa::KeyPair) -> Result<Self, CertificateError> {
        if certificates.is_empty() {
            return Err(CertificateError::NoCertificate);
        }
        let mut own = None;
        for (at, der) in certificates.iter().enumerate() {
            let (_, certificate) = X509Certificate::from_der(der)
                .map_err(|error| CertificateError::Format(error.to_string()))?;
            if *certificate.public_key().subject_public_key.data == *key.public_key().as_ref() {
                let validity = certificate.validity();
                own = Some((at, time(validity.not_before), time(validity.not_after)));
                break;
            }
        }
        let (at, not_before, not_after) = own.ok_or(CertificateError::OtherKey)?;
        certificates.swap(0, at);
        Ok(Self {
            chain: certificates,
            key,
            not_before,
            not_after,
        })
    }

    /// SHA-1 of the certificate, which is how Entra ID finds it, in base64 for URLs.
    pub fn thumbprint(&self) -> String {
        let own = self.chain.first().map_or(&[][..], Vec::as_slice);
        URL_SAFE_NO_PAD.encode(digest(&SHA1_FOR_LEGACY_USE_ONLY, own))
    }

    /// A signed assertion that the client wants a token from the endpoint. With `chain` the certificates go along,
    /// for identities that trust an issuer and a name instead of one certificate.
    ///
    /// # Errors
    /// When the certificate is not valid now.
    pub fn assertion(
        &self,
        client: &str,
        endpoint: &str,
        chain: bool,
        now: Timestamp,
    ) -> Result<String, CertificateError> {
        if now > self.not_after {
            return Err(CertificateError::Expired(self.not_after));
        }
        if now < self.not_before {
            return Err(CertificateError::NotYetValid(self.not_before));
        }
        let mut head = json!({"alg": "RS256", "typ": "JWT", "x5t": self.thumbprint()});
        if chain {
            let certificates = self.chain.iter().map(|der| STANDARD.encode(der));
            head["x5c"] = certificates.collect();
        }
        let claims = json!({
            "aud": endpoint,
            "iss": client,
            "sub": client,
            "jti": uuid::Uuid::new_v4().to_string(),
            "nbf": now.as_second(),
            "exp": (now + ASSERTION_LIFETIME).as_second(),
        });
        let part = |json: &serde_json::Value| URL_SAFE_NO_PAD.encode(json.to_string());
        let signed = format!("{}.{}", part(&head), part(&claims));
        let mut signature = vec![0; self.key.public_modulus_len()];
        self.key
            .sign(
                &RSA_PKCS1_SHA256,
                &SystemRandom::new(),
                signed.as_bytes(),
                &mut signature,
            )
            .map_err(|_| CertificateError::Signature)?;
        Ok(format!("{signed}.{}", URL_SAFE_NO_PAD.encode(signature)))
    }
}

enum Encoding {
    Pem,
    Der,
}

impl Encoding {
    fn of(data: &[u8]) -> Option<Self> {
        let begin = b"-----BEGIN";
        if data.windows(begin.len()).any(|part| part == begin) {
            return Some(Self::Pem);
        }
        // A DER sequence of more than 127 bytes; text never starts so.
        (data.len() > 1 && data[0] == 0x30 && data[1] & 0x80 != 0).then_some(Self::Der)
    }
}

fn decoded(text: &[u8]) -> Option<Vec<u8>> {
    let text: Vec<u8> = text
        .iter()
        .copied()
        .filter(|byte| !byte.is_ascii_whitespace())
        .collect();
    let decoded = STANDARD.decode(text).ok()?;
    (!decoded.is_empty()).then_some(decoded)
}

fn time(time: x509_parser::time::ASN1Time) -> Timestamp {
    // Years beyond what can be told apart from "never".
    Timestamp::from_second(time.timestamp()).unwrap_or(Timestamp::MAX)
}

#[cfg(test)]
mod tests;
