//! The webhook's certificate: issued by the operator itself, kept in a Secret that all replicas share,
//! renewed in time.
//!
//! Pure issuing is in [`Material`]; [`CertificateStore`] keeps it in the cluster; [`ServingCertificate`] hands
//! the current one to TLS. Who checks it reads its authorities in a ConfigMap of the Secret's name, and no keys.

use std::fmt;
use std::net::IpAddr;
use std::sync::{Arc, PoisonError, RwLock};

use jiff::civil::Date;
use jiff::{Timestamp, ToSpan, tz::TimeZone};
use k8s_openapi::ByteString;
use k8s_openapi::api::core::v1::{ConfigMap, Secret};
use kube::api::{Api, PostParams};
use rcgen::{
    BasicConstraints, CertificateParams, DnType, ExtendedKeyUsagePurpose, IsCa, Issuer, KeyPair,
    KeyUsagePurpose, SanType,
};
use rustls::crypto::aws_lc_rs::default_provider;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::server::{ClientHello, ResolvesServerCert};
use rustls::sign::CertifiedKey;

use super::authorities::publish;
use crate::error::message;
use crate::names::FIELD_MANAGER;

const AUTHORITY_NAME: &str = "Armature webhook authority";
const AUTHORITY_YEARS: i32 = 2;
const AUTHORITY_RENEWED_DAYS_AHEAD: i32 = 180;
const LEAF_DAYS: i32 = 90;
const LEAF_RENEWED_DAYS_AHEAD: i32 = 30;

const AUTHORITY_EXPIRES: &str = "armature.azure.com/authority-expires";
const LEAF_EXPIRES: &str = "armature.azure.com/certificate-expires";
const LEAF_NAMES: &str = "armature.azure.com/certificate-names";

const AUTHORITY_KEY: &str = "ca.key";
const AUTHORITY_BUNDLE: &str = "ca.crt";
const LEAF_KEY: &str = "tls.key";
const LEAF: &str = "tls.crt";

/// How an authority ends in a bundle (RFC 7468).
const AUTHORITY_END: &str = "-----END CERTIFICATE-----";

/// Authorities that stay trusted after the Secret was deleted, newest first.
const FORMER_AUTHORITIES: usize = 2;

/// Writers that may meet at the Secret before we give up: each loser reads what the winner wrote.
const WRITE_ATTEMPTS: usize = 5;

/// Why there is no usable certificate.
#[derive(Debug, thiserror::Error)]
pub enum CertificateError {
    /// Key or certificate could not be made.
    #[error("cannot issue the webhook's certificate for {names}: {source}")]
    Issue {
        /// Names it is for.
        names: String,
        /// What is wrong with them.
        source: rcgen::Error,
    },
    /// The Secret does not hold what it should.
    #[error(
        "Secret {secret} with the webhook's certificate is unusable: {problem}; delete it to have a new one issued"
    )]
    Secret {
        /// Name of the Secret.
        secret: String,
        /// What is wrong.
        problem: String,
    },
    /// The API server refused.
    #[error("cannot keep the webhook's certificate in Secret {secret}: {message}")]
    Kubernetes {
        /// Name of the Secret.
        secret: String,
        /// What the server said.
        message: String,
    },
    /// Others write the Secret all the time.
    #[error("Secret {secret} with the webhook's certificate changes faster than it can be written")]
    Contended {
        /// Name of the Secret.
        secret: String,
    },
}

/// An authority and a certificate that it issued, all PEM.
#[derive(Clone, PartialEq, Eq)]
pub struct Material {
    /// Authorities that clients must trust, newest first.
    pub bundle: String,
    /// The serving certificate.
    pub certificate: String,
    /// Key of the serving certificate.
    key: String,
    authority_key: String,
    authority_expires: Date,
    expires: Date,
    names: Vec<String>,
}

impl fmt::Debug for Material {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Material")
            .field("names", &self.names)
            .field("expires", &self.expires)
            .field("authority_expires", &self.authority_expires)
            .finish_non_exhaustive()
    }
}

impl Material {
    /// A new authority and certificate for these host names and addresses.
    pub fn issue(names: &[String], today: Date) -> Result<Self, CertificateError> {
        let authority = Authority::new(today).map_err(|source| issue_error(names, source))?;
        authority
            .issue(names, today)
            .map_err(|source| issue_error(names, source))
    }

    /// What replaces this, when it expires soon or is for other names; `None` while it is good. An authority that expires soon, or was
    /// issued for longer than one is now, is replaced first and stays trusted: its certificates remain valid until clients know the
    /// new one.
    pub fn renewed(&self, names: &[String], today: Date) -> Result<Option<Self>, CertificateError> {
        let failed = |source| issue_error(names, source);
        let longest = today + AUTHORITY_YEARS.years() + 1.day();
        let expires = self.authority_expires;
        if expires <= today + AUTHORITY_RENEWED_DAYS_AHEAD.days() || expires > longest {
            let authority = Authority::new(today).map_err(failed)?;
            return Ok(Some(Self {
                bundle: format!("{}{}", authority.bundle, self.bundle),
                authority_key: authority.key.serialize_pem(),
                authority_expires: authority.expires,
                ..self.clone()
            }));
        }
        let same_names = self.names == names;
        if same_names && self.expires > today + LEAF_RENEWED_DAYS_AHEAD.days() {
            return Ok(None);
        }
        let authority = Authority {
            key: KeyPair::from_pem(&self.authority_key).map_err(failed)?,
            bundle: self.bundle.clone(),
            expires: self.authority_expires,
        };
        authority.issue(names, today).map(Some).map_err(failed)
    }

    fn from_secret(secret: &Secret) -> Result<Self, String> {
        let text = |key: &str| {
            let data = secret.data.as_ref().and_then(|data| data.get(key));
            let bytes = data.ok_or_else(|| format!("key `{key}` is missing"))?;
            String::from_utf8(bytes.0.clone()).map_err(|_| format!("key `{key}` is no PEM text"))
        };
        let annotation = |name: &str| {
            let annotations = secret.metadata.annotations.as_ref();
            annotations
                .and_then(|annotations| annotations.get(name))
                .ok_or_else(|| format!("annotation `{name}` is missing"))
        };
        let date = |name: &str| {
            annotation(name)?
                .parse::<Date>()
                .map_err(|error| format!("annotation `{name}`: {error}"))
        };
        Ok(Self {
            bundle: text(AUTHORITY_BUNDLE)?,
            certificate: text(LEAF)?,
            key: text(LEAF_KEY)?,
            authority_key: text(AUTHORITY_KEY)?,
            authority_expires: date(AUTHORITY_EXPIRES)?,
            expires: date(LEAF_EXPIRES)?,
            names: annotation(LEAF_NAMES)?
                .split(',')
                .map(str::to_owned)
                .collect(),
        })
    }

    /// The same, whose authority clients may come to know later than those that they trust now: all are trusted.
    fn after(mut self, trusted: &str) -> Self {
        let known = trusted.split_inclusive(AUTHORITY_END);
        let known = known.filter(|text| text.ends_with(AUTHORITY_END));
        for authority in known.take(FORMER_AUTHORITIES) {
            self.bundle.push_str(authority.trim_start());
            self.bundle.push('\n');
        }
        self
    }

    /// Puts it into a Secret. What others have put there stays.
    fn put_into(&self, secret: &mut Secret) {
        let text = |text: &str| ByteString(text.as_bytes().to_vec());
        let annotations = secret.metadata.annotations.get_or_insert_default();
        annotations.extend([
            (AUTHORITY_EXPIRES.into(), self.authority_expires.to_string()),
            (LEAF_EXPIRES.into(), self.expires.to_string()),
            (LEAF_NAMES.into(), self.names.join(",")),
        ]);
        secret.data.get_or_insert_default().extend([
            (AUTHORITY_BUNDLE.into(), text(&self.bundle)),
            (AUTHORITY_KEY.into(), text(&self.authority_key)),
            (LEAF.into(), text(&self.certificate)),
            (LEAF_KEY.into(), text(&self.key)),
        ]);
    }

    fn certified_key(&self) -> Result<CertifiedKey, String> {
        let chain = CertificateDer::pem_slice_iter(self.certificate.as_bytes())
            .collect::<Result<Vec<_>, _>>()
            .map_err(|error| format!("`{LEAF}`: {error}"))?;
        let key = PrivateKeyDer::from_pem_slice(self.key.as_bytes())
            .map_err(|error| format!("`{LEAF_KEY}`: {error}"))?;
        CertifiedKey::from_der(chain, key, &default_provider())
            .map_err(|error| format!("certificate and key: {error}"))
    }
}

fn issue_error(names: &[String], source: rcgen::Error) -> CertificateError {
    CertificateError::Issue {
        names: names.join(", "),
        source,
    }
}

/// A certificate authority that can issue.
struct Authority {
    key: KeyPair,
    bundle: String,
    expires: Date,
}

impl Authority {
    fn new(today: Date) -> Result<Self, rcgen::Error> {
        let key = KeyPair::generate()?;
        let expires = today + AUTHORITY_YEARS.years();
        let mut params = authority_params();
        set_validity(&mut params, today, expires);
        let bundle = params.self_signed(&key)?.pem();
        Ok(Self {
            key,
            bundle,
            expires,
        })
    }

    fn issue(self, names: &[String], today: Date) -> Result<Material, rcgen::Error> {
        let expires = today + LEAF_DAYS.days();
        let key = KeyPair::generate()?;
        let mut params = CertificateParams::default();
        params.distinguished_name = rcgen::DistinguishedName::new();
        params
            .distinguished_name
            .push(DnType::CommonName, "Armature webhook");
        params.subject_alt_names = names
            .iter()
            .map(|name| alternative_name(name))
            .collect::<Result<_, _>>()?;
        params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ServerAuth];
        params.use_authority_key_identifier_extension = true;
        set_validity(&mut params, today, expires);
        let authority_key = self.key.serialize_pem();
        let issuer = Issuer::new(authority_params(), self.key);
        Ok(Material {
            certificate: params.signed_by(&key, &issuer)?.pem(),
            key: key.serialize_pem(),
            bundle: self.bundle,
            authority_key,
            authority_expires: self.expires,
            expires,
            names: names.to_vec(),
        })
    }
}

fn authority_params() -> CertificateParams {
    let mut params = CertificateParams::default();
    params.distinguished_name = rcgen::DistinguishedName::new();
    params
        .distinguished_name
        .push(DnType::CommonName, AUTHORITY_NAME);
    params.is_ca = IsCa::Ca(BasicConstraints::Constrained(0));
    params.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::CrlSign];
    params
}

fn alternative_name(name: &str) -> Result<SanType, rcgen::Error> {
    match name.parse::<IpAddr>() {
        Ok(address) => Ok(SanType::IpAddress(address)),
        Err(_) => Ok(SanType::DnsName(name.try_into()?)),
    }
}

/// Valid from the day before, for clocks that run behind.
fn set_validity(params: &mut CertificateParams, today: Date, expires: Date) {
    let part = |part: i8| u8::try_from(part).unwrap_or(1);
    let moment = |date: Date| {
        rcgen::date_time_ymd(i32::from(date.year()), part(date.month()), part(date.day()))
    };
    params.not_before = moment(today - 1.day());
    params.not_after = moment(expires);
}

/// Today in UTC.
pub fn today() -> Date {
    Timestamp::now().to_zoned(TimeZone::UTC).date()
}

/// The Secret that all replicas share.
pub struct CertificateStore {
    secrets: Api<Secret>,
    config_maps: Api<ConfigMap>,
    secret: String,
    names: Vec<String>,
}

impl CertificateStore {
    /// A store in the Secret of this name, for a certificate with these host names and addresses.
    pub fn new(client: kube::Client, namespace: &str, secret: &str, names: Vec<String>) -> Self {
        Self {
            secrets: Api::namespaced(client.clone(), namespace),
            config_maps: Api::namespaced(client, namespace),
            secret: secret.to_owned(),
            names,
        }
    }

    /// Whether there is one.
    ///
    /// # Errors
    /// When the Secret cannot be read.
    pub async fn exists(&self) -> Result<bool, CertificateError> {
        let stored = self.secrets.get_opt(&self.secret).await;
        stored
            .map(|stored| stored.is_some())
            .map_err(|source| self.refused(source))
    }

    /// The current material; issued or renewed when needed. Replicas that meet agree on the first one written. Where the
    /// Secret is gone, the authorities that are `trusted` stay so beside the new one: the API server gets to know the new one CRD
    /// by CRD, and other replicas serve the former certificate for a moment.
    ///
    /// # Errors
    /// When the Secret can be neither read nor written, or holds something else.
    pub async fn ensure(
        &self,
        today: Date,
        trusted: Option<&str>,
    ) -> Result<Material, CertificateError> {
        let material = self.agree(today, trusted).await?;
        let bundle = (AUTHORITY_BUNDLE, material.bundle.as_str());
        publish(&self.config_maps, &self.secret, bundle).await;
        Ok(material)
    }

    async fn agree(
        &self,
        today: Date,
        trusted: Option<&str>,
    ) -> Result<Material, CertificateError> {
        for _ in 0..WRITE_ATTEMPTS {
            let stored = self.secrets.get_opt(&self.secret).await;
            let stored = stored.map_err(|source| self.refused(source))?;
            let wanted = match &stored {
                None => {
                    let issued = Material::issue(&self.names, today)?;
                    issued.after(trusted.unwrap_or_default())
                }
                Some(secret) => {
                    let material =
                        Material::from_secret(secret).map_err(|problem| self.unusable(problem))?;
                    match material.renewed(&self.names, today)? {
                        None => return Ok(material),
                        Some(renewed) => renewed,
                    }
                }
            };
            match self.write(&wanted, stored).await {
                Err(kube::Error::Api(status))
                    if status.is_conflict() || status.is_already_exists() => {}
                Err(source) => return Err(self.refused(source)),
                Ok(()) => return Ok(wanted),
            }
        }
        Err(CertificateError::Contended {
            secret: self.secret.clone(),
        })
    }

    async fn write(&self, material: &Material, stored: Option<Secret>) -> kube::Result<()> {
        let parameters = PostParams {
            field_manager: Some(FIELD_MANAGER.to_owned()),
            ..PostParams::default()
        };
        match stored {
            Some(mut secret) => {
                material.put_into(&mut secret);
                self.secrets
                    .replace(&self.secret, &parameters, &secret)
                    .await?;
            }
            None => {
                let mut secret = Secret {
                    type_: Some("Opaque".into()),
                    ..Secret::default()
                };
                secret.metadata.name = Some(self.secret.clone());
                material.put_into(&mut secret);
                self.secrets.create(&parameters, &secret).await?;
            }
        }
        Ok(())
    }

    fn refused(&self, source: kube::Error) -> CertificateError {
        CertificateError::Kubernetes {
            secret: self.secret.clone(),
            message: message(&source),
        }
    }

    fn unusable(&self, problem: String) -> CertificateError {
        CertificateError::Secret {
            secret: self.secret.clone(),
            problem,
        }
    }
}

/// The certificate that TLS serves now; replaced without closing connections.
#[derive(Debug)]
pub struct ServingCertificate {
    current: RwLock<Arc<CertifiedKey>>,
}

impl ServingCertificate {
    /// Serves this material.
    pub fn new(material: &Material) -> Result<Self, CertificateError> {
        Ok(Self {
            current: RwLock::new(Arc::new(usable(material)?)),
        })
    }

    /// Serves this material from now on.
    pub fn replace(&self, material: &Material) -> Result<(), CertificateError> {
        let key = Arc::new(usable(material)?);
        *self.current.write().unwrap_or_else(PoisonError::into_inner) = key;
        Ok(())
    }
}

fn usable(material: &Material) -> Result<CertifiedKey, CertificateError> {
    material
        .certified_key()
        .map_err(|problem| CertificateError::Secret {
            secret: material.names.join(", "),
            problem,
        })
}

impl ResolvesServerCert for ServingCertificate {
    fn resolve(&self, _: ClientHello<'_>) -> Option<Arc<CertifiedKey>> {
        let current = self.current.read().unwrap_or_else(PoisonError::into_inner);
        Some(Arc::clone(&current))
    }
}

#[cfg(test)]
mod tests {
    use jiff::civil::date;

    use super::*;

    fn names() -> Vec<String> {
        vec!["armature-webhook.armature.svc".into(), "127.0.0.1".into()]
    }

    #[test]
    fn survives_the_secret() {
        let material = Material::issue(&names(), date(2026, 1, 31)).unwrap();
        let mut secret = Secret::default();
        secret.metadata.annotations = Some([("theirs".to_owned(), "1".to_owned())].into());
        secret.metadata.labels = Some([("team".to_owned(), "platform".to_owned())].into());
        let before = secret.metadata.clone();
        material.put_into(&mut secret);
        assert_eq!(secret.metadata.labels, before.labels);
        let annotations = secret.metadata.annotations.clone().unwrap();
        assert_eq!(
            annotations["theirs"], "1",
            "what others have put there stays"
        );
        assert!(Material::from_secret(&secret).unwrap() == material);
        material.certified_key().unwrap();
    }

    #[test]
    fn the_certificate_is_renewed_by_the_same_authority() {
        let material = Material::issue(&names(), date(2026, 1, 1)).unwrap();
        assert!(
            material
                .renewed(&names(), date(2026, 2, 1))
                .unwrap()
                .is_none()
        );
        let renewed = material
            .renewed(&names(), date(2026, 3, 10))
            .unwrap()
            .unwrap();
        assert_eq!(renewed.bundle, material.bundle);
        assert_ne!(renewed.certificate, material.certificate);
        renewed.certified_key().unwrap();
    }

    #[test]
    fn other_names_need_another_certificate() {
        let material = Material::issue(&names(), date(2026, 1, 1)).unwrap();
        let other = vec!["localhost".to_owned()];
        let renewed = material.renewed(&other, date(2026, 1, 1)).unwrap().unwrap();
        assert_eq!(renewed.names, other);
    }

    #[test]
    fn a_new_authority_leaves_the_old_one_trusted() {
        let material = Material::issue(&names(), date(2026, 1, 1)).unwrap();
        let renewed = material
            .renewed(&names(), date(2035, 6, 1))
            .unwrap()
            .unwrap();
        assert!(renewed.bundle.ends_with(&material.bundle));
        assert_eq!(renewed.certificate, material.certificate);
    }

    #[test]
    fn an_authority_that_was_issued_for_ten_years_is_replaced_and_stays_trusted() {
        let today = date(2026, 1, 1);
        let mut long = Material::issue(&names(), today).unwrap();
        assert_eq!(long.authority_expires, date(2028, 1, 1));
        long.authority_expires = date(2036, 1, 1);
        let renewed = long.renewed(&names(), today).unwrap().unwrap();
        assert_eq!(renewed.authority_expires, date(2028, 1, 1));
        assert!(renewed.bundle.ends_with(&long.bundle));
        assert_eq!(renewed.certificate, long.certificate);
        assert!(renewed.renewed(&names(), today).unwrap().is_none());
    }

    #[test]
    fn after_a_lost_secret_what_is_served_stays_trusted() {
        let issue = || Material::issue(&names(), date(2026, 1, 1)).unwrap();
        let authorities = |material: &Material| {
            let bundle = CertificateDer::pem_slice_iter(material.bundle.as_bytes());
            bundle.collect::<Result<Vec<_>, _>>().unwrap()
        };
        let mut served = issue();
        // However often it is lost, the bundle does not grow for ever.
        for expected in [2, 3, 3] {
            let issued = issue();
            let own = authorities(&issued);
            let next = issued.after(&served.bundle);
            let (trusted, before) = (authorities(&next), authorities(&served));
            assert_eq!(trusted.len(), expected);
            assert_eq!(trusted[0], own[0]);
            assert_eq!(trusted[1..], before[..expected - 1]);
            served = next;
        }
    }

    #[test]
    fn a_broken_secret_says_what_is_missing() {
        let problem = Material::from_secret(&Secret::default()).unwrap_err();
        assert_eq!(problem, "key `ca.crt` is missing");
    }
}
